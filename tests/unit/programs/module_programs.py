"""Programs of a module, which other processes find by their names."""

from __future__ import annotations

from typing import Any

import numpy as np

import kinetree as kt

__all__ = ["ARM", "Q", "V", "task"]

ARM = kt.zoo.load("double_pendulum")
Q, V = np.random.default_rng(2).normal(size=(2, 2))


@kt.program(q=ARM, v=2, gain=())
def task(q: Any, v: Any, gain: Any = 2.0) -> Any:
    """Gravity and a spring, and the energy."""
    return kt.gravity_forces(ARM, q) - gain * q, kt.kinetic_energy(ARM, q, v)

"""Settings of contacts for tests of closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.closed_form.scenes import Array, H

__all__ = ["ALL", "MU", "PER_STEP", "RIGID", "SETTINGS", "SHARE", "R", "moved"]

MU, R = 0.5, 0.1
"""Friction, and the radius of balls."""
SETTINGS: dict[str, dict[str, Any]] = {
    "mujoco": {"setting": "mujoco"},
    "compliant": {"setting": "compliant"},
    "rigid": {"setting": "rigid"},
    "accurate": {"setting": "rigid", "accurate": True},
}
ALL = pytest.mark.parametrize("name", SETTINGS)
PER_STEP = pytest.mark.parametrize("name", ["compliant", "rigid", "accurate"])
"""Laws of a step; tests that have a twin for MuJoCo's law in another file."""
RIGID = pytest.mark.parametrize("name", ["rigid", "accurate"])
SHARE = 1e-3
"""What a near-rigid contact gives way."""


def moved(
    robot: kt.Model, q: Any, v: Any, steps: int, name: str, more: Any = None, dt: float = H, **options: Any
) -> tuple[Array, Array]:
    """q and v after each step."""
    soft = kt.contact.soft_constraints(robot, **SETTINGS[name], **(more or {}))
    q, v = np.asarray(q, float), np.asarray(v, float)
    states = kt.rollout(robot, q, v, np.zeros((steps, robot.nv)), dt, contact=soft, **options)
    assert np.isfinite(states).all()
    return states[..., : robot.nq], states[..., robot.nq :]

"""How answers are compared with a witness's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import kinetree as kt
from tests.laws.reference import reference

__all__ = ["Ask", "agree", "compiled", "on_floats", "random_states"]

Array = NDArray[np.float64]
Ask = Callable[..., Array]
"""A public function and a robot, one batch an argument, and options: a batch of answers."""

TOLERANCE = 1e-9


def agree(actual: ArrayLike, expected: ArrayLike, what: str, scale: float = 0.0) -> None:
    """Assert that each sample's error is below 1e-9 of its largest entry (or of `scale`, where terms cancel)."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, what
    for k, (a, e) in enumerate(zip(actual, expected, strict=True)):
        assert np.isfinite(a).all(), f"{what}: sample {k} is not finite"
        size = max(float(np.abs(e).max(initial=0.0)), scale)
        error = float(np.abs(a - e).max(initial=0.0))
        assert error <= TOLERANCE * size, f"{what}: sample {k} is off by {error:.3g}, its largest entry is {size:.3g}"


def random_states(robot: kt.Model, count: int) -> tuple[Array, Array, Array, Array]:
    """Configurations within the limits, velocities, accelerations and joint forces; the same at each call."""
    rng = np.random.default_rng(7)
    q = np.array([robot.random(rng) for _ in range(count)])
    v, qdd, tau = rng.normal(size=(3, count, robot.nv)) * np.array([2.0, 5.0, 20.0])[:, None, None]
    return q, v, qdd, tau


def on_floats(function: Callable[..., Any], robot: kt.Model, *batches: Array, **options: Any) -> Array:
    """The algorithm behind a public function on floats, sample by sample."""
    return np.array([reference(function, robot, *sample, **options) for sample in zip(*batches, strict=True)])


def compiled(function: Callable[..., Any], robot: kt.Model, *batches: Array, **options: Any) -> Array:
    """The public function itself."""
    answer: Array = function(robot, *batches, **options)
    return answer

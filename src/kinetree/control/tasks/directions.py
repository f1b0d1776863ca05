"""How far a direction is from another: the rotation vector between the two, and its derivatives.

A frame's `axis` is the third of three axes at right angles; the direction d that it is to have is given in these three.
The shortest rotation from the axis to d is about (−d₂, d₁, 0), by the angle θ between them: two numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ACROSS", "angles", "angles_jacobian", "completed", "unit"]

ACROSS = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
"""`angles_jacobian` where d is the axis."""

_NEAR = 1e-3
"""Squared sine below which series are used, with an error of 1e-13."""
_OPPOSITE = 1e-24
"""Squared sine below which a direction counts as the opposite one: the rotation is about the first axis then."""
_SHORT = 1e-150


def completed(axis: Sequence[float]) -> NDArray[np.float64]:
    """Two unit vectors at right angles to a unit vector and to each other, and itself, as rows of a rotation."""
    a = np.array(axis)
    first = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(a, first), a])


def unit(x: Any) -> tuple[Any, Any]:
    """The direction of a vector (3,), and its length; zero for a vector of no length."""
    length = np.sqrt(x @ x)
    return x / np.maximum(length, _SHORT), length


def angles(d: Any) -> Any:
    """The rotation vector (2,) from the axis to a unit direction d (3,); rad."""
    first, second, c, s2 = _apart(d)
    return _angle_per_sine(s2, c) * np.stack([-second, first])


def angles_jacobian(d: Any) -> Any:
    """The derivatives (2, 3) of `angles` by d, for changes that keep its length."""
    first, second, c, s2 = _apart(d)
    g, k = _angle_per_sine(s2, c), _slope(s2, c)
    return np.stack(
        [
            np.stack([-k * first * second, -g - k * second * second, second]),
            np.stack([g + k * first * first, k * first * second, -first]),
        ]
    )


def _apart(d: Any) -> tuple[Any, Any, Any, Any]:
    """d₁, d₂, cos θ and sin² θ."""
    first, second, c = d[0], d[1], d[2]
    is_opposite = (first * first + second * second < _OPPOSITE) & (c < 0.0)
    first, second = np.where(is_opposite, 0.0, first), np.where(is_opposite, -np.sqrt(_OPPOSITE), second)
    return first, second, c, first * first + second * second


def _angle_per_sine(s2: Any, c: Any) -> Any:
    """θ / sin θ."""
    is_near = (s2 < _NEAR) & (c >= 0.0)
    s = np.sqrt(np.where(is_near, 1.0, s2))
    series = 1.0 + s2 * (1.0 / 6.0 + s2 * (3.0 / 40.0 + s2 * (5.0 / 112.0 + s2 * (35.0 / 1152.0))))
    return np.where(is_near, series, np.arctan2(s, c) / s)


def _slope(s2: Any, c: Any) -> Any:
    """(sin θ cos θ − θ) / sin³ θ."""
    is_near = (s2 < _NEAR) & (c >= 0.0)
    safe = np.where(is_near, 1.0, s2)
    s = np.sqrt(safe)
    series = -2.0 / 3.0 - s2 * (1.0 / 5.0 + s2 * (3.0 / 28.0 + s2 * (5.0 / 72.0)))
    return np.where(is_near, series, (s * c - np.arctan2(s, c)) / (s * safe))

"""Arguments of tasks, checked: weights, priorities, names of frames, points, directions and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ConfigurationError, OptionError
from kinetree.inputs import real_array, whole_number
from kinetree.lie.arguments import attitudes
from kinetree.lie.exponential_maps import refuse_other_rows

if TYPE_CHECKING:
    from kinetree.model import Model

__all__ = [
    "check_poses",
    "check_rotations",
    "checked_axes",
    "checked_direction",
    "checked_frame",
    "checked_frames",
    "checked_point",
    "checked_priority",
    "checked_weight",
    "checked_weights",
    "has_frames",
]

_ROUNDING = 2.5e-13
"""Largest sum of the squares of a rotation's errors of orthogonality; those with more are checked again."""


def check_rotations(R: Any) -> None:
    """Raise ConfigurationError if one of these matrices (…, 3, 3) is not a rotation; NaN is left in its sample."""
    if R.ndim == 2 and _is_rotation(*R.tolist()):  # fast path for one
        return
    attitudes(R, "matrix")


def check_poses(T: Any) -> None:
    """Raise ConfigurationError if one of these matrices (…, 4, 4) is not a pose; NaN is left in its sample."""
    if T.ndim == 2:  # fast path for one
        x, y, z, last = T.tolist()
        if last == [0.0, 0.0, 0.0, 1.0] and _is_rotation(x[:3], y[:3], z[:3]):
            return
    attitudes(T[..., :3, :3], "matrix")
    refuse_other_rows(T[..., 3, :])
    is_known = np.isfinite(T[..., :3, :]).all(axis=(-2, -1))
    if not np.isfinite(T[..., 3, :][is_known]).all():
        raise ConfigurationError("a pose's last row must be 0, 0, 0, 1, and one has NaN or infinity there alone")


def _is_rotation(x: list[float], y: list[float], z: list[float]) -> bool:
    (a, b, c), (d, e, f), (g, h, i) = x, y, z
    u, v, w = b * f - c * e - g, c * d - a * f - h, a * e - b * d - i
    k, m, n = a * a + b * b + c * c - 1.0, d * d + e * e + f * f - 1.0, a * d + b * e + c * f
    return u * u + v * v + w * w + k * k + m * m + n * n < _ROUNDING


def checked_weight(about: str, weight: Any) -> float | tuple[float, ...]:
    """One number or several, none of them negative."""
    w = real_array(f"{about}: weight", weight, "() or (m,)").astype(np.float64)
    if w.ndim > 1 or not w.size or not (np.isfinite(w).all() and (w >= 0.0).all()):
        raise OptionError(
            f"{about}: weight must be one number from 0 on, or one per row of the task, not {weight!r:.60}"
        )
    return float(w) if w.ndim == 0 else tuple(w.tolist())


def checked_weights(about: str, weight: Any, size: int) -> None:
    """Raise an error if these are several weights, and not one per row."""
    if isinstance(weight, tuple) and len(weight) != size:
        raise OptionError(f"{about} has {size} rows here, but {len(weight)} weights; give one number, or one per row")


def checked_priority(about: str, priority: Any) -> int:
    number = whole_number(priority)
    if number is None or number < 0:
        raise OptionError(f"{about}: priority is a whole number, 0 for what comes first, not {priority!r:.60}")
    return number


def checked_frame(about: str, field: str, frame: Any) -> str:
    """The name of a frame, which a robot is asked for later."""
    if not isinstance(frame, str):
        raise OptionError(f"{about}: {field} must be the name of a frame, such as 'tool', not {frame!r:.60}")
    return str.__str__(frame)


def checked_frames(task: Any) -> None:
    """Make the names of a task's `frame` and `relative_to` plain, or raise an error."""
    about = type(task).__name__
    object.__setattr__(task, "frame", checked_frame(about, "frame", task.frame))
    if task.relative_to is not None:
        object.__setattr__(task, "relative_to", checked_frame(about, "relative_to", task.relative_to))
        if task.relative_to == task.frame:
            raise OptionError(f"{about}: frame and relative_to are both {task.frame!r}; a frame never moves in itself")


def has_frames(robot: Model, task: Any) -> None:
    """Raise NameNotFoundError if the robot lacks one of the frames of a task."""
    robot.frames[task.frame]
    if task.relative_to is not None:
        robot.frames[task.relative_to]


def checked_point(about: str, field: str, point: Any) -> tuple[float, ...]:
    """Three finite numbers."""
    x = real_array(f"{about}: {field}", point, "(3,)").astype(np.float64)
    if x.shape != (3,) or not np.isfinite(x).all():
        raise OptionError(f"{about}: {field} must be three numbers x, y, z, not {point!r:.60}")
    return tuple(x.tolist())


def checked_direction(about: str, field: str, direction: Any) -> tuple[float, ...]:
    """A direction as a unit vector."""
    x = np.array(checked_point(about, field, direction))
    length = np.linalg.norm(x)
    if not length > 0.0:
        raise OptionError(f"{about}: {field} must be a direction x, y, z that is not zero")
    return tuple((x / length).tolist())


def checked_axes(about: str, axes: Any, available: Sequence[str]) -> tuple[str, ...]:
    """Some of the known names of rows, in their order; a text counts as its letters."""
    names = tuple(axes) if isinstance(axes, str | Sequence) else ()
    wrong = not names or any(name not in available for name in names) or len(set(names)) < len(names)
    if wrong:
        raise OptionError(
            f"{about}: axes must be one or several of {', '.join(map(repr, available))}, each once, not {axes!r:.60}"
        )
    return tuple(name for name in available if name in names)

"""Several copies of a robot in one picture: side by side, or all at one place as ghosts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import OptionError
from kinetree.pictures.framing import VIEW

__all__ = ["GHOSTS", "MOST", "SIDE_BY_SIDE", "aside", "checked_count", "checked_samples", "opacities"]

Floats = NDArray[np.float64]

SIDE_BY_SIDE, GHOSTS = "side by side", "ghosts"
MOST = 64
"""Copies in a picture; of more, none would be seen."""
_GHOST = 0.3
_APART = 1.12
"""From one copy to the next, relative to their size."""
_IN_A_ROW = 8


def checked_samples(samples: Any, count: int) -> bool:
    """Whether copies are ghosts; an `OptionError` names the values of `samples`, and their largest number."""
    if not isinstance(samples, str) or samples not in (SIDE_BY_SIDE, GHOSTS):
        raise OptionError(f"samples must be 'side by side' or 'ghosts', not {samples!r:.60}")
    checked_count(count)
    return samples == GHOSTS


def checked_count(count: int) -> None:
    """Raise an `OptionError` unless a picture shows so many copies."""
    if not 1 <= count <= MOST:
        raise OptionError(
            f"a picture shows 1 to {MOST} samples, and these are {count:,}; choose some: q[:{MOST}], or of a motion "
            f"which=range({MOST})"
        )


def opacities(count: int, *, ghosts: bool) -> list[float]:
    """The opacity of each copy: of ghosts the first is solid."""
    return [1.0] + [_GHOST if ghosts else 1.0] * (count - 1)


def aside(
    outlines: Floats,
    normal: Floats,
    *,
    stays: bool,
    in_a_row: bool = False,
    forward: Floats | None = None,
    least: float = 0.0,
) -> Floats:
    """By how much each copy is moved so that none hides another, (n, 3), m, along the plane of the ground.

    Copies that stay where they are in the world, such as arms on a table, move by equal steps. Others, such as robots
    that have walked, come to be in the middle of their own part of the floor.

    Args:
        outlines: points of each copy (n, m, 3), over all frames.
        normal: of the ground (3,).
        stays: whether part of the robot cannot move.
        in_a_row: whether all are in one row, however many there are.
        forward: the level direction from one row to the next (3,); by default that of the usual view.
        least: the shortest way from one copy to the next, m.
    """
    count = len(outlines)
    columns = count if in_a_row or count <= _IN_A_ROW // 2 else min(_IN_A_ROW, math.ceil(math.sqrt(2 * count)))
    if forward is None:
        forward = np.array([VIEW[0], VIEW[1], 0.0]) / math.hypot(*VIEW[:2])
    right = np.array([forward[1], -forward[0], 0.0])
    k = np.arange(count)
    moved = np.zeros((count, 3))
    for axis, number in ((right, k % columns), (forward, k // columns)):
        x = np.where(np.isfinite(outlines).all(axis=-1), outlines @ axis, np.nan)
        finite = np.isfinite(x).any(axis=1)
        if not finite.any():
            continue
        low, high = np.nanmin(x[finite], axis=1), np.nanmax(x[finite], axis=1)
        width = float(high.max() - low.min()) if stays else float((high - low).max())
        own = np.zeros(count)
        if not stays:
            own[finite] = 0.5 * (low + high)
        moved += np.outer(max(_APART * width, least) * (number - number.mean()) - own, axis)
    moved[:, 2] = -(moved @ normal) / normal[2]
    return moved

"""Several copies of a robot in one picture: one beside the other, or all at one place as ghosts."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import OptionError
from kinetree.pictures.framing import VIEW

__all__ = ["GHOSTS", "MOST", "SIDE_BY_SIDE", "Samples", "aside", "checked_samples", "opacities"]

Floats = NDArray[np.float64]
Samples = Literal["side by side", "ghosts"]

SIDE_BY_SIDE, GHOSTS = "side by side", "ghosts"
MOST = 64
"""Copies in a picture; of more, none would be seen."""
_GHOST = 0.3
_APART = 1.12
"""From one copy to the next, in parts of their size."""
_IN_A_ROW = 8


def checked_samples(samples: Any, count: int) -> bool:
    """Whether copies are ghosts; an `OptionError` says what `samples` may be, and how many there may be."""
    if not isinstance(samples, str) or samples not in (SIDE_BY_SIDE, GHOSTS):
        raise OptionError(f"samples must be 'side by side' or 'ghosts', not {samples!r:.60}")
    if not 1 <= count <= MOST:
        raise OptionError(
            f"a picture shows 1 to {MOST} samples, and these are {count}; choose some of them, such as [:{MOST}]"
        )
    return samples == GHOSTS


def opacities(count: int, *, ghosts: bool) -> list[float]:
    """That of each copy: of ghosts the first is solid."""
    return [1.0] + [_GHOST if ghosts else 1.0] * (count - 1)


def aside(outlines: Floats, normal: Floats, *, in_a_row: bool = False) -> Floats:
    """By how much each copy is moved so that none hides another, (n, 3), m, along the plane of the ground.

    Args:
        outlines: points of each copy (n, m, 3), over all frames.
        normal: of the ground (3,).
        in_a_row: whether all are in one row, however many there are.
    """
    count = len(outlines)
    columns = count if in_a_row or count <= _IN_A_ROW // 2 else min(_IN_A_ROW, math.ceil(math.sqrt(2 * count)))
    forward = np.array([VIEW[0], VIEW[1], 0.0]) / math.hypot(*VIEW[:2])
    right = np.array([forward[1], -forward[0], 0.0])
    pitches = [_APART * _width(outlines @ axis) for axis in (right, forward)]
    k = np.arange(count)
    moved = np.outer(k % columns, pitches[0] * right) + np.outer(k // columns, pitches[1] * forward)
    moved -= moved.mean(axis=0)
    moved[:, 2] = -(moved @ normal) / normal[2]
    return moved


def _width(x: Floats) -> float:
    """The largest of the widths of some copies, from their points (n, m)."""
    with np.errstate(all="ignore"):
        found = np.nanmax(x, axis=1) - np.nanmin(x, axis=1)
    found = found[np.isfinite(found)]
    return float(found.max()) if found.size else 1.0

"""Which lines of a picture share a panel: neighbours with similar names, a few per panel."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

__all__ = ["group_sizes"]

MOST_LINES = 8
"""Lines in a panel that can be told apart by their colours."""
_MOST_PANELS = 8
_PANEL_COST = 6
"""What another panel costs, in letters of a common beginning of the names that it separates."""


def group_sizes(names: Sequence[str]) -> list[int]:
    """The sizes of groups of neighbours: as few as are readable, parted where names have little in common.

    >>> group_sizes(["left_hip", "left_knee", "right_hip", "right_knee"])
    [4]
    >>> group_sizes([f"{leg}_{k}" for leg in ("left_leg", "right_leg") for k in range(6)])
    [6, 6]
    """
    most = max(MOST_LINES, -(-len(names) // _MOST_PANELS))
    # The least cost of the first n names, and the size of their last group.
    best: list[tuple[int, int]] = [(0, 0)]
    for end in range(1, len(names) + 1):
        starts = range(max(0, end - most), end)
        best.append(min((best[start][0] + _cost_of_parting(names, start), end - start) for start in starts))
    sizes: list[int] = []
    end = len(names)
    while end:
        sizes.append(best[end][1])
        end -= sizes[-1]
    return sizes[::-1]


def _cost_of_parting(names: Sequence[str], start: int) -> int:
    """The cost of a group that begins at `start`."""
    if not start:
        return _PANEL_COST
    letters = zip(names[start - 1], names[start], strict=False)
    return _PANEL_COST + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], letters))

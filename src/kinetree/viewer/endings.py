"""Which motions of a batch ended before the others, in words on the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.viewer.controls import Text, add_list

if TYPE_CHECKING:
    from viser import GuiApi

__all__ = ["add_endings"]

_MOST = 40
"""How many motions have a line of their own."""


def add_endings(gui: GuiApi, motions: Sequence[Any]) -> None:
    """A folder with a line for each motion that diverged or ended at an event, if there are any."""
    lines = [line for k, one in enumerate(motions) for line in _lines(one, f"{k + 1}, " if len(motions) > 1 else "")]
    if not lines:
        return
    with gui.add_folder("Ended early", expand_by_default=False):
        add_list(gui, lines[:_MOST])
        if len(lines) > _MOST:
            Text(gui, f"and {len(lines) - _MOST:,} more")


def _lines(motion: Any, before: str) -> list[tuple[str, str]]:
    """Lines about a motion; none of one that does not know what became of it."""
    if not motion.shape or not hasattr(motion, "diverged"):
        return []
    ended, numbers = motion.ended, np.arange(np.prod(motion.shape, dtype=np.int64)).reshape(motion.shape)
    told = {sample: str(one) for sample, one in motion.diverged.items()}
    for sample in map(tuple, np.argwhere(ended < motion.time[-1]).tolist()):
        told.setdefault(sample, f"ended at t = {ended[sample]:g} s")
    return [(f"{before}{numbers[sample]}", told[sample]) for sample in sorted(told)]

"""The chunks of a study computed in this process, whose kernels use all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.sweeps.folder import StudyFolder
from kinetree.sweeps.work import Work

__all__ = ["compute_here"]


def compute_here(folder: StudyFolder, work: Work, pending: Sequence[int], told: Callable[[int], None]) -> None:
    """Compute chunks one after another; `told` gets the number of each."""
    for number in pending:
        folder.write_chunk(work, number)
        told(number)

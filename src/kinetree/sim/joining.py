"""Trajectories cut and put together along their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.sim.trajectory import Trajectory
from kinetree.sim.trajectory_file import PER_MOTION

__all__ = ["joined", "rows_between"]


def rows_between(motion: Trajectory, rows: NDArray[np.intp]) -> Trajectory:
    """The trajectory of some of its rows, without its events."""
    place: Any = (*(slice(None),) * len(motion.shape), rows)
    last, is_last = motion.time[rows[-1]], rows[-1] == len(motion.time) - 1
    return replace(
        motion,
        time=motion.time[rows],
        **{name: getattr(motion, name)[place] for name in PER_MOTION},
        recorded={name: x[place] for name, x in motion.recorded.items()},
        ended=motion.ended if is_last else np.minimum(motion.ended, last),
        events=(),
        diverged={sample: one for sample, one in motion.diverged.items() if is_last or one.time <= last},
        end=motion.end if is_last else None,
    )


def joined(pieces: Sequence[Trajectory]) -> Trajectory:
    """One trajectory of pieces that follow each other."""
    first, last = pieces[0], pieces[-1]
    axis = len(first.shape)
    arrays: Any = {name: np.concatenate([getattr(piece, name) for piece in pieces], axis=axis) for name in PER_MOTION}
    return replace(
        last,
        substeps=max(piece.substeps for piece in pieces),
        time=np.concatenate([piece.time for piece in pieces]),
        **arrays,
        recorded={
            name: np.concatenate([piece.recorded[name] for piece in pieces], axis=axis) for name in first.recorded
        },
        diverged={sample: one for piece in pieces for sample, one in piece.diverged.items()},
    )

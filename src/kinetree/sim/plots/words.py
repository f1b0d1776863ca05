"""The words on a picture besides those of its panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill

from kinetree.errors import listed
from kinetree.sim.plots.series import Seen
from kinetree.sim.plots.style import plain
from kinetree.sim.trajectory_arrays import TrajectoryArrays

__all__ = ["notes_of", "title_of"]


def title_of(motion: TrajectoryArrays, seen: Seen) -> str:
    """What was simulated, and how."""
    which = ""
    if seen.shape:
        count = motion.q[..., 0, 0].size if motion.q.shape[-1] else len(seen.samples)
        if len(seen.samples) == 1:
            which = f"motion {seen.samples[0]} of {count:,}, "
        elif len(seen.samples) < count:
            which = f"{len(seen.samples):,} of {count:,} motions, "
        else:
            which = f"{count:,} motions, "
    return f"{motion.robot}: {which}{motion.time[-1]:g} s, {motion.integrator}, dt = {motion.dt:g} s"


def notes_of(idle: Mapping[str, Sequence[str]], alone: Sequence[str] = (), more: Sequence[str] = ()) -> str:
    """What is not drawn, and why, below the last panel; `idle` are names of what does not move, by word."""
    found = []
    for word, names in idle.items():
        reason = "because they do not move" if word == "positions" else f"because these {plain(word)} stay zero"
        found.append(f"not drawn, {reason}: {listed(map(plain, names), most=24)}")
    if alone:
        found.append(f"not drawn, because only one of the motions has them: {listed(map(plain, alone), most=24)}")
    return "".join(f"\n\n{fill(text, 130)}" for text in [*found, *more])

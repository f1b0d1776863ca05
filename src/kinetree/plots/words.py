"""The words on a picture outside its panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill

from kinetree.charts.style import plain
from kinetree.errors import listed
from kinetree.plots.series import Seen
from kinetree.sim.trajectory import Trajectory

__all__ = ["endings_of", "notes_of", "title_of"]


def title_of(motion: Trajectory, seen: Seen) -> str:
    """The robot and the settings of a simulation."""
    which = ""
    if seen.shape:
        if len(seen.numbers) == 1:
            which = f"motion {seen.numbers[0]} of {seen.count:,}, "
        elif len(seen.numbers) < seen.count:
            which = f"{len(seen.numbers):,} of {seen.count:,} motions, "
        else:
            which = f"{seen.count:,} motions, "
    return f"{motion.robot}: {which}{motion.time[-1]:g} s, {motion.integrator}, dt = {motion.dt:g} s"


def endings_of(motion: Trajectory, seen: Seen, name: str = "") -> list[str]:
    """Which of the motions that are drawn ended before the last row, and why."""
    numbers = dict(zip(seen.indices, seen.numbers.tolist(), strict=True))
    lost = [
        f"motion {numbers[sample]}: {one}" if motion.shape else str(one)
        for sample, one in motion.diverged.items()
        if sample in numbers
    ]
    others = sum(bool(motion.ended[sample] < motion.time[-1]) for sample in numbers.keys() - motion.diverged.keys())
    before = f"{name}: " if name else ""
    notes = [f"{before}diverged, and drawn until then: {plain(listed(lost, separator='; '))}"] if lost else []
    return notes + (
        [f"{before}ended before the others, and drawn until then: {others:,} of the motions"] if others else []
    )


def notes_of(idle: Mapping[str, Sequence[str]], alone: Sequence[str] = (), more: Sequence[str] = ()) -> str:
    """Notes below the last panel on quantities that are not drawn; `idle` are names of constant lines, by word."""
    notes = []
    for word, names in idle.items():
        reason = "because they do not move" if word == "positions" else f"because these {plain(word)} stay zero"
        notes.append(f"not drawn, {reason}: {listed(map(plain, names), most=24)}")
    if alone:
        notes.append(f"not drawn, because only one of the motions has them: {listed(map(plain, alone), most=24)}")
    return "".join(f"\n\n{fill(text, 130)}" for text in [*notes, *more])

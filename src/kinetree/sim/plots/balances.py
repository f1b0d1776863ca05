"""Panels of energies, and of the error of their balance."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinetree.errors import OptionError
from kinetree.sim.plots.choice import Choice
from kinetree.sim.plots.series import Line, Panel, Seen
from kinetree.sim.trajectory_arrays import TrajectoryArrays

__all__ = ["energy_panels"]

_FLOORS = {"energies": 1e-6, "balance": 1e-9}
"""The smallest ranges, relative to the largest energy of the motion."""


def energy_panels(motion: TrajectoryArrays, seen: Seen, choice: Choice, word: str) -> Iterator[Panel]:
    """The energies, or the error of their balance. Raises OptionError if they were not recorded."""
    if np.isnan(motion.kinetic).all():
        if choice.is_usual:
            return
        raise OptionError('plot: the energies were not recorded; simulate with record=["energies"]')
    names = ("kinetic", "potential", "total", "work", "dissipated")
    series = {name: seen.of(getattr(motion, name)) for name in names}
    largest = max(float(np.abs(x[np.isfinite(x)]).max(initial=0.0)) for x in series.values())
    floor = _FLOORS[word] * largest
    if word == "balance":
        yield Panel("balance\nerror, J", [Line(_BALANCE, seen.of(motion.balance_error), "error")], floor, word)
        return
    lines = [
        Line(name, x, name)
        for name, x in series.items()
        if name in ("kinetic", "potential", "total") or np.abs(x).max() > floor
    ]
    yield Panel("energy, J", lines, floor, word)


_BALANCE = "E − E₀ − work\n+ dissipated"

"""Panels of what was recorded besides states: contact forces, frames, sensors, and whatever a controller returned."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinetree.errors import OptionError
from kinetree.sim.plots.series import Array, Line, Panel, Seen
from kinetree.sim.trajectory_arrays import TrajectoryArrays

__all__ = ["contact_panels", "recorded_panels"]

_WRENCHES = "contact.wrench"


def contact_panels(motion: TrajectoryArrays, seen: Seen) -> Iterator[Panel]:
    """How strongly each pair of shapes pushes. Raises OptionError if it was not recorded."""
    if _WRENCHES not in motion.recorded:
        raise OptionError('plot: contact forces were not recorded; simulate with contact=True, record=["contacts"]')
    force = np.linalg.norm(seen.of(motion.recorded[_WRENCHES])[..., :3], axis=-1)
    yield Panel(
        "contact force, N", [Line(f"pair {k}", force[..., k]) for k in range(force.shape[-1])], 1e-3, "contacts"
    )


def recorded_panels(motion: TrajectoryArrays, seen: Seen, name: str) -> Iterator[Panel]:
    """An array, number by number; a frame's placement is shown as where its origin is."""
    values, unit = seen.of(motion.recorded[name]), motion.units.get(name, "")
    lines: list[Line]
    if name.startswith("frame.") and values.shape[2:] == (4, 4):
        lines = [Line(axis, values[..., k, 3]) for k, axis in enumerate("xyz")]
    else:
        lines = [Line(_name(name, place), _at(values, place)) for place in np.ndindex(values.shape[2:])]
    yield Panel(f"{name}, {unit}" if unit else name, lines, 0.0, name)


def _name(name: str, place: tuple[int, ...]) -> str:
    return f"{name.rpartition('.')[2]}{list(place)}" if place else name


def _at(values: Array, place: tuple[int, ...]) -> Array:
    found: Array = values[(..., *place)]
    return found

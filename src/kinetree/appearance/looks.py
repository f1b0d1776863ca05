"""The looks of a robot, as records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.surface import Surface
from kinetree.records import record

__all__ = ["Looks", "Part", "Unseen"]


@record(frozen=True, slots=True, eq=False)
class Part:
    """A shape of a robot that is seen."""

    name: str
    """Its own name, or its body's with its place in the body's `geometry`, such as "foot[0]"; unique in its robot."""
    body: str
    role: str
    """"visual", "collision", or "stand_in": drawn from the inertia of a body, as nothing says how it looks."""
    placement: NDArray[np.float64]
    """(4, 4), its axes in those of its body."""
    surface: Surface
    is_ground: bool = False
    """Whether it is a plane or a height field that does not move; the view of a robot is not chosen to show all of it.
    Of a plane without an end only a piece is here."""


@record(frozen=True, slots=True)
class Unseen:
    """A shape that is not drawn as its file says."""

    part: str
    reason: str
    """A sentence: what was wrong and what to do."""


@record(frozen=True, slots=True, eq=False)
class Looks:
    """All shapes of a robot that are drawn, and those that are not."""

    parts: tuple[Part, ...]
    unseen: tuple[Unseen, ...] = ()

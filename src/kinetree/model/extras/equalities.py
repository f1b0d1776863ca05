"""Equality constraints of simulations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["Equality"]


@record(frozen=True, slots=True, repr=False)
class Equality:
    """A constraint that a simulation enforces softly; it takes no coordinate away."""

    REFERS: ClassVar[Mapping[str, str]] = {"name": "own", "first": "=between", "second": "=between"}

    name: str
    kind: str
    """"connect", two points stay together; "weld", two frames do; "joint" or "tendon", a coordinate or length is a
    polynomial of another; "flex", "flexvert" or "flexstrain", a deformable body keeps its lengths or its shape."""
    between: str
    """"body", "site", "joint", "tendon" or "flex": what `first` and `second` name."""
    first: str
    second: str = ""
    """For bodies, "world" if none is given; for a joint or tendon, "" if the first is to be constant."""
    active: bool = True
    anchor: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """The point that bodies share, m: for a connection in the first body's frame, for a weld in the second's."""
    relative_position: tuple[float, float, float] | None = None
    """For a weld, the second body's origin in the first's frame, m; None: as in the reference configuration."""
    relative_rotation: tuple[float, float, float, float] | None = None
    """For a weld, the second body's attitude in the first's frame, a quaternion x y z w."""
    torque_scale: float = 1.0
    """For a weld, how much attitudes count beside positions, m."""
    coefficients: tuple[float, float, float, float, float] = (0.0, 1.0, 0.0, 0.0, 0.0)
    """For joints and tendons: the first's offset from its reference is a polynomial of the second's; constant first."""
    cell: tuple[float, ...] = ()
    """For "flexstrain", the cell of the deformable body."""
    solref: tuple[float, float] = (0.02, 1.0)
    solimp: tuple[float, ...] = (0.9, 0.95, 0.001, 0.5, 2.0)

    def __repr__(self) -> str:
        return call_text(self)

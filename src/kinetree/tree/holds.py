"""Motion constraints as the algorithms read them: on the bodies of one tree."""

from __future__ import annotations

from kinetree.expr import Scalar
from kinetree.records import record
from kinetree.spatial import Transform, Vec3

__all__ = ["Anchor", "Hold"]


@record(frozen=True, slots=True)
class Anchor:
    """A frame on a body."""

    slot: int
    placement: Transform
    """From the body's coordinates to the frame's."""


@record(frozen=True, slots=True)
class Hold:
    """A constraint on one robot."""

    frame: Anchor
    """The frame that is held, at its origin."""
    carrier: Anchor | None
    """The frame it is held to; None for the world."""
    directions: tuple[Vec3, ...]
    turns: bool
    """Whether the orientation is held as well."""
    axes: str
    """The axes of the rows: "world", "local" for those of `frame`, or "carrier"."""
    at: Transform | None
    """Where in the world `frame` is held."""
    length: Scalar | None
    """The length of the rod between the two origins, if nothing else holds them."""
    position_gain: Scalar | None
    velocity_gain: Scalar | None

    @property
    def has_place(self) -> bool:
        """Whether it holds positions: not if its directions turn with the frame, which may then go anywhere."""
        return self.axes != "local" or len(self.directions) == 3

    @property
    def size(self) -> int:
        """How many rows it has."""
        return 1 if self.length is not None else len(self.directions) + 3 * self.turns

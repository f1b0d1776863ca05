"""Equality constraints of simulations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from kinetree.model.extras.change import Change, renamed
from kinetree.record_text import call_text
from kinetree.records import record
from kinetree.spatial import Vec3
from kinetree.spatial.mirror import mirror_image, mirror_image_of_turn

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
    """"body", "site", "joint", "tendon" or "flex": the kind of `first` and `second`."""
    first: str
    second: str = ""
    """For bodies, "world" where a file gives none; for a joint or tendon, "" if the first is held constant."""
    active: bool = True
    anchor: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """The point that bodies share, m: for a connection in the first body's frame, for a weld in the second's."""
    relative_position: tuple[float, float, float] | None = None
    """For a weld, the second body's origin in the first's frame, m; None: as in the reference configuration."""
    relative_rotation: tuple[float, float, float, float] | None = None
    """For a weld, the second body's attitude in the first's frame, a quaternion x y z w."""
    torque_scale: float = 1.0
    """For a weld, how much attitudes count relative to positions, m."""
    coefficients: tuple[float, float, float, float, float] = (0.0, 1.0, 0.0, 0.0, 0.0)
    """For joints and tendons: the first's offset from its reference is a polynomial of the second's; constant first."""
    cell: tuple[float, ...] = ()
    """For "flexstrain", the cell of the deformable body."""
    solref: tuple[float, float] = (0.02, 1.0)
    solimp: tuple[float, ...] = (0.9, 0.95, 0.001, 0.5, 2.0)

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> Equality | None:
        if self.kind == "joint":
            return self._of_joints(change)
        if self.between == "body" and not change.moved.isdisjoint((self.first, self.second)):
            return None
        other: Equality | None = renamed(self, change)
        if other is None or (change.length == 1.0 and change.mirror is None):
            return other
        if self.kind not in ("connect", "weld"):
            return None
        place, turn = self.relative_position, self.relative_rotation
        return replace(
            other,
            anchor=_point(self.anchor, change),
            relative_position=None if place is None else _point(place, change),
            relative_rotation=None if turn is None else _turn(turn, change),
            torque_scale=self.torque_scale * (change.length if self.kind == "weld" else 1.0),
        )

    def _of_joints(self, change: Change) -> Equality | None:
        """y = Σ cₖ xᵏ, for f y and s x in place of y and x."""
        names = [name for name in (self.first, self.second) if name]
        factors = [change.factor(name) for name in names]
        if None in factors or any(name not in change.joints for name in names):
            return None
        f, s = (factors[0] or 1.0), (factors[-1] or 1.0)
        c0, c1, c2, c3, c4 = (c if f == s == 1.0 else c * f / s**k for k, c in enumerate(self.coefficients))
        new = [change.joints[name] for name in names]
        return replace(
            self, name=change.own(self.name) if self.name else "", first=new[0], second=new[1] if len(new) > 1 else "",
            coefficients=(c0, c1, c2, c3, c4),
        )  # fmt: skip


def _point(point: tuple[float, float, float], change: Change) -> tuple[float, float, float]:
    vector = Vec3(*point) * change.length
    x, y, z = (vector if change.mirror is None else mirror_image(vector, change.mirror)).components()
    return float(x), float(y), float(z)


def _turn(quaternion: tuple[float, float, float, float], change: Change) -> tuple[float, float, float, float]:
    if change.mirror is None:
        return quaternion
    x, y, z = mirror_image_of_turn(Vec3(*quaternion[:3]), change.mirror).components()
    return float(x), float(y), float(z), quaternion[3]

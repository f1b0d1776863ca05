"""Several degrees of freedom from a list of one-dimensional motion subspaces, as one joint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kinetree.errors import ModelError
from kinetree.inputs import is_masked
from kinetree.joints.base import JointKind
from kinetree.joints.composite import Composite, Part
from kinetree.joints.screw import Screw
from kinetree.spatial import Motion, Transform, Vec3

__all__ = ["MultiDof"]

_IDENTITY = Transform.identity()


class MultiDof(Composite):
    """Constant motions of one degree of freedom each, in series, as in RBDL's custom joints; v = q̇.

    The first motion is about the fixed side's origin, each of the others about the origin, and in the axes, as moved by
    those before it. The joint is equivalent to a chain of `Screw` joints with massless bodies between (`chain()`
    returns those), but is solved as one joint with the D matrix of RBDA.

    `MultiDof.angular_first` and `MultiDof.linear_first` take rows of six numbers in either order.

    Args:
        subspaces: one `Motion` (angular, linear) per degree of freedom.

    Raises:
        ModelError: one of them is not a motion (the message says which), or none is given.

    Source: the section on joint modelling in RBDL's manual; Featherstone, *Rigid Body Dynamics Algorithms* (2008),
    section 4.4.

    >>> import kinetree as kt
    >>> planar = kt.joints.MultiDof.angular_first([[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0]])
    >>> [kind.description for kind in planar.chain()]
    ['screw along x', 'screw along y', 'screw about z']
    """

    def __init__(self, subspaces: Sequence[Motion]) -> None:
        motions = _listed(subspaces)
        for k, motion in enumerate(motions, 1):
            if not isinstance(motion, Motion):
                raise ModelError(
                    f"MultiDof: subspace {k} must be a Motion, not {motion!r:.60}; for rows of six numbers use "
                    "MultiDof.angular_first or MultiDof.linear_first"
                )
        screws = [_screw(k, motion) for k, motion in enumerate(motions, 1)]
        self.subspaces: tuple[Motion, ...] = tuple(Motion(screw.angular, screw.linear) for screw in screws)
        """The motions, in order."""

    @classmethod
    def angular_first(cls, subspaces: Sequence[Sequence[float]]) -> MultiDof:
        """From rows [rx, ry, rz, tx, ty, tz], one per degree of freedom: RBDL's order of components (and RBDA's).

        >>> import kinetree as kt
        >>> kt.joints.MultiDof.angular_first([[0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 0, 0]]).nv
        2
        """
        return cls([Motion(first, last) for first, last in _halves(subspaces)])

    @classmethod
    def linear_first(cls, subspaces: Sequence[Sequence[float]]) -> MultiDof:
        """From rows [tx, ty, tz, rx, ry, rz], one per degree of freedom: the order of all other 6-vectors here.

        >>> import kinetree as kt
        >>> kt.joints.MultiDof.linear_first([[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]]).nv
        2
        """
        return cls([Motion(last, first) for first, last in _halves(subspaces)])

    def __repr__(self) -> str:
        return f"MultiDof.linear_first({[list(motion.linear_first()) for motion in self.subspaces]})"

    def chain(self) -> list[Screw]:
        """The equivalent chain of joints of one degree of freedom, with massless bodies between them."""
        return [Screw(angular=motion.angular, linear=motion.linear) for motion in self.subspaces]

    @property
    def parts(self) -> tuple[Part, ...]:  # type: ignore[override]
        return tuple((screw, _IDENTITY) for screw in self.chain())

    @property
    def description(self) -> str:
        return f"{self.nv} degrees of freedom: " + ", ".join(screw.description for screw in self.chain())

    def mirrored(self, normal: int) -> JointKind:
        return MultiDof([_motion(screw.mirrored(normal)) for screw in self.chain()])

    def scaled(self, length: float) -> JointKind:
        return MultiDof([_motion(screw.scaled(length)) for screw in self.chain()])


def _motion(screw: JointKind) -> Motion:
    assert isinstance(screw, Screw)
    return Motion(screw.angular, screw.linear)


def _listed(subspaces: Sequence[Any]) -> list[Any]:
    if isinstance(subspaces, str):
        raise ModelError("MultiDof: its subspaces are a list, not a string")
    try:
        given = list(subspaces)
    except TypeError:
        raise ModelError(f"MultiDof: its subspaces must be a list, not {subspaces!r:.60}") from None
    if not given:
        raise ModelError("MultiDof: there are no subspaces; give one a degree of freedom, or use Fixed")
    return given


def _screw(k: int, motion: Motion) -> Screw:
    try:
        return Screw(angular=motion.angular, linear=motion.linear)
    except ModelError as error:
        raise ModelError(f"MultiDof: subspace {k} is not a motion of one degree of freedom ({error})") from None


def _halves(subspaces: Sequence[Sequence[float]]) -> list[tuple[Vec3, Vec3]]:
    """Check rows of six finite numbers, not all zero, and split each into two vectors."""
    halves = []
    for k, row in enumerate(_listed(subspaces), 1):
        try:
            if isinstance(row, str | bytes) or is_masked(row):
                raise TypeError
            numbers = [float(x) for x in row]
        except (TypeError, ValueError, OverflowError):
            raise ModelError(f"MultiDof: row {k} must be six numbers, not {row!r:.60}") from None
        if len(numbers) != 6:
            raise ModelError(f"MultiDof: row {k} has {len(numbers)} numbers; a motion subspace has six: {row!r:.60}")
        if not all(map(math.isfinite, numbers)):
            raise ModelError(f"MultiDof: row {k} has numbers that are not finite: {numbers}")
        if not any(numbers):
            raise ModelError(f"MultiDof: row {k} is all zero, which is not a motion; leave it out")
        halves.append((Vec3(*numbers[:3]), Vec3(*numbers[3:])))
    return halves

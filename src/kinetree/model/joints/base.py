"""What a kind of joint is: the one interface that every algorithm sees."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np

from kinetree.expr import Scalar
from kinetree.spatial import Inertia, Motion, Subspace, Transform

__all__ = ["JointKind", "JointMotion", "Matrix"]

Matrix = list[list[Any]]
"""Rows of scalars."""


class JointMotion(NamedTuple):
    """What `calc` tells of a joint (RBDA section 4.4, jcalc)."""

    X_J: Transform
    """From the joint's fixed side to its moving side."""
    S: Subspace
    """The motions it allows, in the moving side's coordinates."""
    v_J: Motion
    """The velocity across it: S v."""
    c_J: Motion
    """What is left of its acceleration when v is constant: Ṡ v."""


class JointKind(ABC):
    """A kind of joint: how many coordinates, what motion, and the manifold its configurations live on.

    Coordinates are numbers of any kind: floats, symbols, or arrays with one entry a sample. A kind must give `nq`,
    `nv` and `calc`; the rest is right for coordinates that are plain numbers with v as their rates, q = 0 where the
    two sides coincide. Kinds with other coordinates say `is_flat = False` and give all that follows it here.
    """

    __slots__ = ("__dict__", "_is_frozen")

    nq: int
    nv: int
    quaternions: tuple[int, ...] = ()
    """Where in q quaternions (x, y, z, w) begin."""
    is_flat: bool = True
    """Whether q̇ = v, so that a displacement is added to q."""

    @abstractmethod
    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        """The joint's motion at coordinates q and rates v."""

    @property
    def description(self) -> str:
        """A word or two for people: `revolute about z`."""
        return type(self).__name__

    @property
    def q_names(self) -> tuple[str, ...]:
        """A short name a coordinate, `""` where the joint's own name is enough."""
        return ("",) if self.nq == 1 else tuple(f"q{k}" for k in range(self.nq))

    @property
    def v_names(self) -> tuple[str, ...]:
        """A short name a degree of freedom."""
        return self.q_names if self.is_flat else tuple(f"v{k}" for k in range(self.nv))

    @property
    def q_units(self) -> tuple[str, ...]:
        """A unit a coordinate: "rad", "m", or "" where it has none or none is known."""
        return ("",) * self.nq

    def neutral(self) -> tuple[float, ...]:
        """The coordinates at which the two sides coincide."""
        return (0.0,) * self.nq

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> tuple[float, ...]:
        """Random coordinates within the limits; where there are none, an angle within half a turn, else within 1."""
        return tuple(
            within(rng, low, high, math.pi if unit == "rad" else 1.0)
            for low, high, unit in zip(lower, upper, self.q_units, strict=True)
        )

    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        """Where q goes in unit time at the constant rates v."""
        return [q_k + v_k for q_k, v_k in zip(q, v, strict=True)]

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        """The rates that take q0 to q1 in unit time; the inverse of `integrate`."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def rates(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        """q̇, the derivatives of the coordinates, at the velocity v."""
        return list(v)

    def integrate_jacobians(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Matrix, Matrix]:
        """How a displacement of q, and a change of v, displace `integrate(q, v)`: two nv by nv matrices."""
        return scaled_identity(self.nv, 1.0), scaled_identity(self.nv, 1.0)

    def difference_jacobians(self, q0: Sequence[Any], q1: Sequence[Any]) -> tuple[Matrix, Matrix]:
        """How displacements of q0 and of q1 change `difference(q0, q1)`: two nv by nv matrices."""
        return scaled_identity(self.nv, -1.0), scaled_identity(self.nv, 1.0)

    def rechart(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The same state in coordinates far from where they end, for kinds whose coordinates do end somewhere."""
        return list(q), list(v)

    @property
    def recharts(self) -> bool:
        """Whether `rechart` ever does anything."""
        return type(self).rechart is not JointKind.rechart

    def aligned(self) -> tuple[JointKind, Transform]:
        """The same joint in axes that suit it, and the turn from the joint's axes to those."""
        return self, Transform.identity()

    def reversed(self) -> JointKind | None:
        """The kind that leads from the moving side to the fixed side: at the same coordinates, the inverse placement.

        For kinds that are not flat, at coordinates of the inverse placement. None if there is no such kind.
        """
        return None

    def mirrored(self, normal: int) -> JointKind | None:
        """The kind of the mirror image in the plane across axis 0, 1 or 2: at the same coordinates, M X_J M.

        For kinds that are not flat, at coordinates of the mirrored placement. None if there is no such kind.
        """
        return None

    def scaled(self, length: float) -> JointKind | None:
        """The kind with all its lengths times `length`; its coordinates in metres, too, are then longer by that.

        None if there is no such kind.
        """
        return None

    def unseen(self, inertia: Inertia) -> Inertia:
        """A part of the moving body's inertia that could as well sit on the other side of the joint.

        It stays constant in the fixed side's coordinates and takes no joint force, so the joint forces of the whole
        tree cannot tell (Gautier and Khalil 1990). As much of it as makes parameters zero; by default nothing.
        """
        return Inertia.zero()

    def with_attributes(self, **changes: Any) -> Self:
        """The same kind with other values of some attributes, which are taken as they are."""
        changed = copy(self)
        vars(changed).update(changes)
        return changed

    def freeze(self) -> None:
        """Refuse changes from now on, also of the kinds that it holds: a robot relies on it."""
        if getattr(self, "_is_frozen", False):
            return
        object.__setattr__(self, "_is_frozen", True)
        waiting = [*vars(self).values()]
        for value in waiting:
            if isinstance(value, JointKind):
                value.freeze()
            elif isinstance(value, tuple | list):
                waiting.extend(value)

    def __setattr__(self, name: str, value: object) -> None:
        if getattr(self, "_is_frozen", False):
            raise AttributeError(
                f"{type(self).__name__}: a joint's kind does not change once a robot has it; make another with a "
                f"different {name!r}"
            )
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        held = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({held})"

    def __eq__(self, other: object) -> bool:
        """Kinds are what they hold: two of one class with equal attributes are one kind."""
        if self is other:
            return True
        if type(other) is not type(self):
            return False
        mine, others = vars(self), vars(other)
        return mine.keys() == others.keys() and all(_same(x, others[name]) for name, x in mine.items())

    def __hash__(self) -> int:
        try:
            return hash((type(self), *vars(self).values()))
        except TypeError:  # something in it that has no hash
            return hash(type(self))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and a.dtype == b.dtype and np.array_equal(a, b)
    return bool(a == b)


def within(rng: np.random.Generator, low: float, high: float, span: float) -> float:
    """A number between the limits, each at plus or minus the span where there is none."""
    low = low if math.isfinite(low) else -span
    high = high if math.isfinite(high) else span
    return float(rng.uniform(min(low, high), max(low, high)))


def scaled_identity(n: int, s: float) -> Matrix:
    """s times the identity."""
    return [[s if i == j else 0.0 for j in range(n)] for i in range(n)]

"""The interface of a kind of joint: the only one that algorithms use."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kinetree.expr import Scalar
from kinetree.spatial import Inertia, Motion, Subspace, Transform, Vec3

__all__ = ["JointKind", "JointMotion", "Matrix"]

Matrix = list[list[Any]]
"""Rows of scalars."""


class JointMotion(NamedTuple):
    """The result of `calc` for a joint (RBDA section 4.4, jcalc)."""

    X_J: Transform
    """The transform from the joint's fixed side to its moving side."""
    S: Subspace
    """The motions the joint allows, in the moving side's coordinates."""
    v_J: Motion
    """The velocity across the joint: S v."""
    c_J: Motion
    """The acceleration across the joint at constant v: Ṡ v."""


class JointKind(ABC):
    """A kind of joint: its number of coordinates, its motion, and the manifold of its configurations.

    Coordinates are numbers of any kind: floats, symbols, or arrays with one entry per sample. A kind must define `nq`,
    `nv` and `calc`; the defaults of the rest are right for coordinates that are plain numbers with v as their rates and
    q = 0 where the two sides coincide. Kinds with other coordinates set `is_flat = False` and define everything that
    follows it here.
    """

    __slots__ = ("__dict__", "_is_frozen")

    nq: int
    nv: int
    quaternions: tuple[int, ...] = ()
    """The indices in q at which quaternions (x, y, z, w) begin."""
    is_flat: bool = True
    """Whether q̇ = v, so that a displacement is added to q."""
    can_be_singular: bool = True
    """Whether there may be coordinates at which the columns of S depend on each other (`Model.conditioning`)."""
    has_motor: bool = True
    """Whether a joint of this kind is actuated unless the robot says otherwise; nothing holds a free body's joint."""

    @abstractmethod
    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        """The joint's motion at coordinates q and rates v."""

    @property
    def description(self) -> str:
        """A short description for people: `revolute about z`."""
        return type(self).__name__

    @property
    def q_names(self) -> tuple[str, ...]:
        """A short name per coordinate, `""` where the joint's own name is enough."""
        return ("",) if self.nq == 1 else tuple(f"q{k}" for k in range(self.nq))

    @property
    def v_names(self) -> tuple[str, ...]:
        """A short name per degree of freedom."""
        return self.q_names if self.is_flat else tuple(f"v{k}" for k in range(self.nv))

    @property
    def q_units(self) -> tuple[str, ...]:
        """A unit per coordinate: "rad", "m", or "" where it has none or none is known."""
        return ("",) * self.nq

    def neutral(self) -> tuple[float, ...]:
        """The coordinates at which the two sides coincide."""
        return (0.0,) * self.nq

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> tuple[float, ...]:
        """Random coordinates within the limits; without limits, angles are within ±π and others within ±1."""
        return tuple(
            within(rng, low, high, math.pi if unit == "rad" else 1.0)
            for low, high, unit in zip(lower, upper, self.q_units, strict=True)
        )

    def random_batch(
        self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float], count: int
    ) -> NDArray[np.float64]:
        """Random coordinates (count, nq): the distribution is that of `random`."""
        batch = np.empty((count, self.nq))
        if type(self).random is JointKind.random:
            for k, (low, high, unit) in enumerate(zip(lower, upper, self.q_units, strict=True)):
                batch[:, k] = rng.uniform(*ends(low, high, math.pi if unit == "rad" else 1.0), count)
        else:
            for row in batch:
                row[:] = self.random(rng, lower, upper)
        return batch

    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        """The q reached in unit time at the constant velocity v."""
        return [q_k + v_k for q_k, v_k in zip(q, v, strict=True)]

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        """The velocity that takes q0 to q1 in unit time; the inverse of `integrate`."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def rates(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        """q̇, the derivatives of the coordinates, at the velocity v."""
        return list(v)

    def turning_rate(self, v: Sequence[Any]) -> list[Any]:
        """The rate of v in axes that do not turn, less q̈: ω x v of translations in the moving side's axes."""
        return [0.0] * self.nv

    def seen_from_fixed(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        """v with its translations in axes that do not turn, those of the fixed side."""
        return list(v)

    def seen_from_moving(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        """The inverse of `seen_from_fixed`."""
        return list(v)

    def displaced(self, q: Sequence[Any], d: Sequence[Any]) -> list[Any]:
        """The q reached by a displacement as `seen_from_fixed` has it: its translations apart from its rotations."""
        return self.integrate(q, d)

    def displacement_rate(self, q: Sequence[Any], d: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        """ḋ, where `displaced(q, d)` moves at v as `seen_from_fixed` has it."""
        if self.is_flat:
            return list(v)
        _, J = self.difference_jacobians(q, self.displaced(q, d))
        return [sum((x * y for x, y in zip(row, v, strict=True)), 0.0) for row in J]

    def in_fixed_axes(self) -> JointKind:
        """The kind with the same motion and coordinates, and the velocities of `seen_from_fixed`."""
        return self

    def integrate_jacobians(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Matrix, Matrix]:
        """Derivatives of `integrate(q, v)` with respect to a displacement of q and to v: two nv by nv matrices."""
        return scaled_identity(self.nv, 1.0), scaled_identity(self.nv, 1.0)

    def difference_jacobians(self, q0: Sequence[Any], q1: Sequence[Any]) -> tuple[Matrix, Matrix]:
        """Derivatives of `difference(q0, q1)` with respect to displacements of q0 and q1: two nv by nv matrices."""
        return scaled_identity(self.nv, -1.0), scaled_identity(self.nv, 1.0)

    def rechart(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The same state in coordinates far from the edge of their chart, for kinds whose chart has an edge."""
        return list(q), list(v)

    @property
    def recharts(self) -> bool:
        """Whether `rechart` ever does anything."""
        return type(self).rechart is not JointKind.rechart

    def aligned(self) -> tuple[JointKind, Transform]:
        """The same joint in axes that suit it, and the transform from the joint's axes to those."""
        return self, Transform.identity()

    def reversed(self) -> JointKind | None:
        """The kind that leads from the moving side to the fixed side: the same coordinates give the inverse placement.

        For kinds that are not flat, it takes the coordinates of the inverse placement. None if it does not exist.
        """
        return None

    def mirrored(self, normal: int) -> JointKind | None:
        """The mirror image in the plane normal to axis 0, 1 or 2: the same coordinates give M X_J M, M the reflection.

        For kinds that are not flat, it takes the coordinates of the mirrored placement. None if it does not exist.
        """
        return None

    def scaled(self, length: float) -> JointKind | None:
        """The kind with all its lengths, and so its coordinates in metres, multiplied by `length`.

        None if it does not exist.
        """
        return None

    @property
    def rotor_axis(self) -> Vec3 | None:
        """The axis, in the joint's fixed frame, of a rotor that has none of its own; None if it must have one."""
        return None

    def unseen(self, inertia: Inertia) -> Inertia:
        """A part of the moving body's inertia that could equally belong to the other side of the joint.

        It is constant in the fixed side's coordinates and requires no joint force, so the joint forces of the whole
        tree do not show which side it is on (Gautier and Khalil 1990). It is as much as makes parameters zero; by
        default nothing.
        """
        return Inertia.zero()

    def with_attributes(self, **changes: Any) -> Self:
        """A copy with other values of some attributes, which are not checked."""
        changed = copy(self)
        vars(changed).update(changes)
        return changed

    def freeze(self) -> None:
        """Reject changes from now on, including changes of the kinds it contains: a robot relies on this."""
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
        """Two kinds are equal if they have the same class and equal attributes."""
        if self is other:
            return True
        if type(other) is not type(self):
            return False
        ours, others = vars(self), vars(other)
        return ours.keys() == others.keys() and all(_same(x, others[name]) for name, x in ours.items())

    def __hash__(self) -> int:
        try:
            return hash((type(self), *vars(self).values()))
        except TypeError:  # an attribute is not hashable
            return hash(type(self))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and a.dtype == b.dtype and np.array_equal(a, b)
    return bool(a == b)


def within(rng: np.random.Generator, low: float, high: float, span: float) -> float:
    """A random number between the limits; plus or minus the span replaces an infinite one."""
    return float(rng.uniform(*ends(low, high, span)))


def ends(low: float, high: float, span: float) -> tuple[float, float]:
    """Where random numbers begin and end that are `within` these limits."""
    low = low if math.isfinite(low) else -span
    high = high if math.isfinite(high) else span
    return min(low, high), max(low, high)


def scaled_identity(n: int, s: float) -> Matrix:
    """s times the identity."""
    return [[s if i == j else 0.0 for j in range(n)] for i in range(n)]

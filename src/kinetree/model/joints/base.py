"""What a kind of joint is: the one interface that every algorithm sees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.expr import Scalar
from kinetree.spatial import Inertia, Motion, Subspace, Transform

__all__ = ["JointKind", "JointMotion"]


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

    Coordinates are numbers of any kind: floats, symbols, or arrays with one entry a sample.
    """

    nq: int
    nv: int
    quaternion: int | None = None
    """Where in q a quaternion (x, y, z, w) begins, if there is one."""

    @property
    @abstractmethod
    def description(self) -> str:
        """A word or two for people: `revolute about z`."""

    @property
    @abstractmethod
    def q_names(self) -> tuple[str, ...]:
        """A short name a coordinate, `""` where the joint's own name is enough."""

    @property
    @abstractmethod
    def v_names(self) -> tuple[str, ...]:
        """A short name a degree of freedom."""

    @abstractmethod
    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        """The joint's motion at coordinates q and rates v."""

    @abstractmethod
    def neutral(self) -> tuple[float, ...]:
        """The coordinates at which the two sides coincide."""

    @abstractmethod
    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> tuple[float, ...]:
        """Random coordinates within the limits; where there are none, within a unit or a turn."""

    @abstractmethod
    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        """Where q goes in unit time at the constant rates v."""

    @abstractmethod
    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        """The rates that take q0 to q1 in unit time; the inverse of `integrate`."""

    def aligned(self) -> tuple[JointKind, Transform]:
        """The same joint in axes that suit it, and the turn from the joint's axes to those."""
        return self, Transform.identity()

    def unseen(self, inertia: Inertia) -> Inertia:
        """A part of the moving body's inertia that could as well sit on the other side of the joint.

        It stays constant in the fixed side's coordinates and takes no joint force, so the joint forces of the whole
        tree cannot tell (Gautier and Khalil 1990). As much of it as makes parameters zero; by default nothing.
        """
        return Inertia.zero()

"""The base of kinds that wrap another kind: its coordinates, and all operations on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.errors import ModelError
from kinetree.joints.base import JointKind, Matrix

__all__ = ["Wrapping"]


class Wrapping(JointKind):
    """A kind with the coordinates of another one; subclasses define its motion."""

    def __init__(self, kind: JointKind) -> None:
        if not isinstance(kind, JointKind):
            name = type(self).__name__
            raise ModelError(f"{name}: give it a joint kind such as Revolute([0, 0, 1]), not {kind!r:.60}")
        self.kind = kind

    @property
    def nq(self) -> int:  # type: ignore[override]
        return self.kind.nq

    @property
    def nv(self) -> int:  # type: ignore[override]
        return self.kind.nv

    @property
    def quaternions(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.kind.quaternions

    @property
    def is_flat(self) -> bool:  # type: ignore[override]
        return self.kind.is_flat

    @property
    def can_be_singular(self) -> bool:  # type: ignore[override]
        return self.kind.can_be_singular

    @property
    def has_motor(self) -> bool:  # type: ignore[override]
        return self.kind.has_motor

    @property
    def description(self) -> str:
        return self.kind.description

    @property
    def q_names(self) -> tuple[str, ...]:
        return self.kind.q_names

    @property
    def v_names(self) -> tuple[str, ...]:
        return self.kind.v_names

    @property
    def q_units(self) -> tuple[str, ...]:
        return self.kind.q_units

    def neutral(self) -> tuple[float, ...]:
        return self.kind.neutral()

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> tuple[float, ...]:
        return self.kind.random(rng, lower, upper)

    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return self.kind.integrate(q, v)

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        return self.kind.difference(q0, q1)

    def rates(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return self.kind.rates(q, v)

    def integrate_jacobians(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Matrix, Matrix]:
        return self.kind.integrate_jacobians(q, v)

    def difference_jacobians(self, q0: Sequence[Any], q1: Sequence[Any]) -> tuple[Matrix, Matrix]:
        return self.kind.difference_jacobians(q0, q1)

    def rechart(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        return self.kind.rechart(q, v)

    @property
    def recharts(self) -> bool:
        return self.kind.recharts

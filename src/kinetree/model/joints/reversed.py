"""A joint the other way round: its moving side is held, its fixed side moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.errors import ModelError
from kinetree.expr import Scalar
from kinetree.model.joints.base import JointKind, JointMotion, Matrix
from kinetree.spatial import Motion, Subspace, Transform

__all__ = ["Reversed"]


class Reversed(JointKind):
    """Any joint the other way round: the inverse placement at the same coordinates, which keep names and limits.

    For kinds whose inverse is no kind of its own, such as `Planar`. v stays what it is for that kind, and q moves as
    it does there.

    Raises:
        ModelError: it is not given a kind of joint.

    >>> import kinetree as kt
    >>> kt.Planar().reversed()
    Reversed(Planar([0.0, 0.0, 1.0]))
    """

    def __init__(self, kind: JointKind) -> None:
        if not isinstance(kind, JointKind):
            raise ModelError(f"Reversed: give it a joint kind such as Planar(), not {kind!r:.60}")
        self.kind = kind

    def __repr__(self) -> str:
        return f"Reversed({self.kind!r})"

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
    def description(self) -> str:
        return f"reversed {self.kind.description}"

    @property
    def q_names(self) -> tuple[str, ...]:
        return self.kind.q_names

    @property
    def v_names(self) -> tuple[str, ...]:
        return self.kind.v_names

    @property
    def q_units(self) -> tuple[str, ...]:
        return self.kind.q_units

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        """-S and -c_J, seen from the side that was fixed."""
        X_J, S, v_J, c_J = self.kind.calc(q, v)

        def back(m: Motion) -> Motion:
            return -X_J.back(m)

        return JointMotion(X_J.inverse, Subspace(tuple(map(back, S.columns))), back(v_J), back(c_J))

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

    def aligned(self) -> tuple[JointKind, Transform]:
        kind, turn = self.kind.aligned()
        return Reversed(kind), turn

    def reversed(self) -> JointKind:
        return self.kind

    def mirrored(self, normal: int) -> JointKind | None:
        kind = self.kind.mirrored(normal)
        return None if kind is None else Reversed(kind)

    def scaled(self, length: float) -> JointKind | None:
        kind = self.kind.scaled(length)
        return None if kind is None else Reversed(kind)

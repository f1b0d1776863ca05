"""Fixed joints: no degree of freedom. The builder merges them, so no algorithm meets one outside the root's slot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.expr import Scalar
from kinetree.model.joints.base import JointKind, JointMotion
from kinetree.spatial import Motion, Subspace, Transform

__all__ = ["Fixed"]


class Fixed(JointKind):
    """Welds its two sides together."""

    nq = nv = 0

    def __repr__(self) -> str:
        return "Fixed()"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    @property
    def description(self) -> str:
        return "fixed"

    @property
    def q_names(self) -> tuple[str, ...]:
        return ()

    @property
    def v_names(self) -> tuple[str, ...]:
        return ()

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        return JointMotion(Transform.identity(), Subspace(()), Motion.zero(), Motion.zero())

    def neutral(self) -> tuple[float, ...]:
        return ()

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> tuple[float, ...]:
        return ()

    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return []

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        return []

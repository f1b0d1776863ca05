"""Springs along a joint: the force -∂/∂q of k/2 |q - rest|², with the difference on the joint's manifold."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from kinetree import expr
from kinetree.expr import Port, Program
from kinetree.joints.base import JointKind, Matrix

__all__ = ["spring_derivatives", "spring_forces"]


def spring_forces(kind: JointKind, q: Sequence[Any], stiffness: Sequence[Any], rest: Sequence[Any]) -> list[Any]:
    """The spring forces, one per degree of freedom."""
    moved = kind.difference(rest, q)
    _, J = kind.difference_jacobians(rest, q)
    pull = [k * d for k, d in zip(stiffness, moved, strict=True)]
    return [-sum((row[n] * p for row, p in zip(J, pull, strict=True)), 0.0) for n in range(kind.nv)]


def spring_derivatives(kind: JointKind, q: Sequence[Any], stiffness: Sequence[Any], rest: Sequence[Any]) -> Matrix:
    """Derivatives of the forces (rows) with respect to a displacement along each degree of freedom (columns)."""
    if kind.is_flat:
        return [[-k if m == n else 0.0 for m in range(kind.nv)] for n, k in enumerate(stiffness)]
    derivative = _derivative(kind)
    units = [[float(j == k) for j in range(kind.nv)] for k in range(kind.nv)]
    columns = [expr.replay(derivative, q, stiffness, rest, kind.rates(q, unit))[1] for unit in units]
    return [list(row) for row in zip(*columns, strict=True)]


@lru_cache(maxsize=256)
def _derivative(kind: JointKind) -> Program:
    def forces(q: Sequence[Any], stiffness: Sequence[Any], rest: Sequence[Any]) -> list[list[Any]]:
        return [spring_forces(kind, q, stiffness, rest)]

    ports = [Port("q", (kind.nq,)), Port("stiffness", (kind.nv,)), Port("rest", (kind.nq,))]
    return expr.forward_derivative(expr.trace(forces, ports, [Port("force", (kind.nv,))], "spring"), [0])

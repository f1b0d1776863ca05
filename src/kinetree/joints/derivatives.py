"""Derivatives of `calc`, for joints of any kind: how the motions a joint allows change with its coordinates.

They are derived from a trace of `calc`, so a kind of joint need not define them. Most joints have a subspace that is
constant in the moving side's axes, so their derivatives are zero and cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from kinetree.expr import Port, Program, forward_derivative, replay, trace
from kinetree.joints.base import JointKind
from kinetree.spatial import Motion, Subspace, Vec3

__all__ = ["bias_derivatives", "subspace_derivatives", "subspace_rate"]


def subspace_rate(kind: JointKind, q: Sequence[Any], v: Sequence[Any]) -> Subspace:
    """S̊, the time derivative of S as seen from the moving side; S̊ v = c_J.

    >>> import kinetree as kt
    >>> subspace_rate(kt.Revolute([0, 0, 1]), [0.3], [2.0]).columns == (Motion.zero(),)
    True
    """
    return _subspaces(kind, q, [kind.rates(q, v)])[0]


def subspace_derivatives(kind: JointKind, q: Sequence[Any]) -> list[Subspace]:
    """The derivatives of S with respect to a displacement along each degree of freedom."""
    return _subspaces(kind, q, [kind.rates(q, unit) for unit in _units(kind)])


def bias_derivatives(kind: JointKind, q: Sequence[Any], v: Sequence[Any]) -> tuple[list[Motion], list[Motion]]:
    """The derivatives of c_J with respect to a displacement along each degree of freedom, and to each entry of v."""
    program, derivative = _bias(kind)
    if program.results is not None and not any(isinstance(x, int) for x in program.results):
        return [Motion.zero()] * kind.nv, [Motion.zero()] * kind.nv
    still = [0.0] * kind.nq, [0.0] * kind.nv
    by_q = [replay(derivative, q, v, kind.rates(q, unit), still[1])[1] for unit in _units(kind)]
    by_v = [replay(derivative, q, v, still[0], unit)[1] for unit in _units(kind)]
    return [*map(_motion, by_q)], [*map(_motion, by_v)]


def _subspaces(kind: JointKind, q: Sequence[Any], directions: Sequence[Sequence[Any]]) -> list[Subspace]:
    program, derivative = _subspace(kind)
    if program.results is not None and not any(isinstance(x, int) for x in program.results):
        return [Subspace((Motion.zero(),) * kind.nv)] * len(directions)
    subspaces = []
    for direction in directions:
        flat = replay(derivative, q, direction)[1]
        subspaces.append(Subspace(tuple(_motion(flat[6 * k : 6 * k + 6]) for k in range(kind.nv))))
    return subspaces


@lru_cache(maxsize=256)
def _subspace(kind: JointKind) -> tuple[Program, Program]:
    def S(q: Sequence[Any]) -> list[list[Any]]:
        columns = kind.calc(q, [0.0] * kind.nv).S.columns
        return [[x for column in columns for x in _six(column)]]

    program = trace(S, [Port("q", (kind.nq,))], [Port("S", (kind.nv, 6))], "S")
    return program, forward_derivative(program)


@lru_cache(maxsize=256)
def _bias(kind: JointKind) -> tuple[Program, Program]:
    def c_J(q: Sequence[Any], v: Sequence[Any]) -> list[Sequence[Any]]:
        return [_six(kind.calc(q, v).c_J)]

    program = trace(c_J, [Port("q", (kind.nq,)), Port("v", (kind.nv,))], [Port("c_J", (6,))], "c_J")
    return program, forward_derivative(program)


def _units(kind: JointKind) -> list[list[float]]:
    return [[float(j == k) for j in range(kind.nv)] for k in range(kind.nv)]


def _six(m: Motion) -> tuple[Any, ...]:
    return (*m.angular.components(), *m.linear.components())


def _motion(six: Sequence[Any]) -> Motion:
    return Motion(Vec3(*six[:3]), Vec3(*six[3:]))

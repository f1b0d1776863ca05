"""How a joint's subspace and bias change with its coordinates: for every kind, against complex steps of `calc`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.algorithms.drives import spring_derivatives, spring_forces
from kinetree.expr import Port, Symbol, interpret, trace
from kinetree.joints import JointKind
from kinetree.joints.derivatives import bias_derivatives, subspace_derivatives, subspace_rate
from kinetree.spatial import Motion, Subspace
from tests.laws.reference import close, directional
from tests.laws.test_joints import columns, numbers, scalars, six, state_of
from tests.strategies import kinds, law

Array = NDArray[Any]

SEEDS = st.integers(0, 10**6)


def matrix(S: Subspace) -> Array:
    """(6, nv)."""
    return np.array([six(column) for column in S.columns]).T


def rates(kind: JointKind, q: Array, v: Sequence[float]) -> Array:
    return np.array(kind.rates(q.tolist(), list(v)), dtype=float)


def bias(kind: JointKind, q: Array, v: Array) -> Array:
    return six(kind.calc(scalars(q), scalars(v)).c_J)


def some_state(kind: JointKind) -> tuple[Array, Array]:
    rng = np.random.default_rng(4)
    q = kind.random(rng, (-np.inf,) * kind.nq, (np.inf,) * kind.nq)
    return np.array(q), rng.uniform(-2.0, 2.0, kind.nv)


@law(100)
@given(kind=kinds(), seed=SEEDS)
def test_the_rate_of_the_subspace_is_its_derivative_along_the_motion(kind: JointKind, seed: int) -> None:
    q, v = state_of(kind, seed)
    rate = matrix(subspace_rate(kind, q.tolist(), v.tolist()))
    close(rate, directional(lambda x: columns(kind, x), (q, rates(kind, q, v))))
    close(rate @ v, bias(kind, q, v))


@law(100)
@given(kind=kinds(), seed=SEEDS)
def test_the_subspace_has_a_derivative_along_each_degree_of_freedom(kind: JointKind, seed: int) -> None:
    q, v = state_of(kind, seed)
    found = subspace_derivatives(kind, q.tolist())
    assert len(found) == kind.nv
    for dS, unit in zip(found, np.eye(kind.nv), strict=True):
        close(matrix(dS), directional(lambda x: columns(kind, x), (q, rates(kind, q, unit))))
    combined = sum((x * matrix(dS) for x, dS in zip(v, found, strict=True)), np.zeros((6, kind.nv)))
    close(combined, matrix(subspace_rate(kind, q.tolist(), v.tolist())))


@law(100)
@given(kind=kinds(), seed=SEEDS)
def test_the_bias_has_derivatives_by_displacements_and_by_rates(kind: JointKind, seed: int) -> None:
    q, v = state_of(kind, seed)
    by_q, by_v = bias_derivatives(kind, q.tolist(), v.tolist())
    assert len(by_q) == len(by_v) == kind.nv
    for k, unit in enumerate(np.eye(kind.nv)):
        along_q = directional(lambda x: bias(kind, x, v), (q, rates(kind, q, unit)))
        close(six(by_q[k]), along_q, tolerance=1e-10)
        close(six(by_v[k]), directional(lambda x: bias(kind, q, x), (v, unit)), tolerance=1e-10)
    close(sum((x * six(c) for x, c in zip(v, by_v, strict=True)), np.zeros(6)), 2.0 * bias(kind, q, v))


CONSTANT = {
    "revolute": kt.Revolute([0, 0, 1]),
    "prismatic": kt.Prismatic([1, 2, 0]),
    "spherical": kt.joints.Spherical(),
    "free": kt.Free(),
    "translation": kt.joints.Translation(),
}


@pytest.mark.parametrize("name", CONSTANT)
def test_a_subspace_that_is_constant_leaves_no_operation(name: str) -> None:
    """Zeros are the constant, so whatever is multiplied by them is gone from a trace."""
    kind, zero = CONSTANT[name], Motion.zero()
    q, v = some_state(kind)
    assert subspace_rate(kind, q.tolist(), v.tolist()).columns == (zero,) * kind.nv
    assert all(dS.columns == (zero,) * kind.nv for dS in subspace_derivatives(kind, q.tolist()))
    assert bias_derivatives(kind, q.tolist(), v.tolist()) == ([zero] * kind.nv, [zero] * kind.nv)


def test_symbols_give_the_same_numbers() -> None:
    kind = kt.joints.Euler("ZYX")
    q, v = some_state(kind)

    def flat(q: Sequence[Any], v: Sequence[Any]) -> list[list[Any]]:
        assert isinstance(q[0], Symbol)
        by_q, by_v = bias_derivatives(kind, q, v)
        motions = [*subspace_rate(kind, q, v).columns, *by_q, *by_v]
        return [[x for m in motions for x in (*m.angular.components(), *m.linear.components())]]

    program = trace(flat, [Port("q", (3,)), Port("v", (3,))], [Port("y", (9, 6))], "derivatives")
    (found,) = interpret(program, q.tolist(), v.tolist())
    rate = subspace_rate(kind, q.tolist(), v.tolist())
    by_q, by_v = bias_derivatives(kind, q.tolist(), v.tolist())
    expected = np.concatenate([six(m) for m in (*rate.columns, *by_q, *by_v)])
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


def test_a_turn_before_a_slide_turns_the_subspace() -> None:
    """Of a composite, whose S is in its last side's axes."""
    kind = kt.joints.Composite([kt.Revolute([0, 0, 1]), (kt.Prismatic([1, 0, 0]), kt.lie.placement([0.1, 0.0, 0.2]))])
    q, v = some_state(kind)
    rate = matrix(subspace_rate(kind, q.tolist(), v.tolist()))
    assert np.abs(rate).max() > 0.1
    close(rate @ v, bias(kind, q, v))


# -- springs


@law(60)
@given(kind=kinds(), seed=SEEDS)
def test_springs_on_every_kind_have_their_forces_derivative(kind: JointKind, seed: int) -> None:
    """Against fourth-order differences: `atan2` takes no complex numbers. Half a turn from rest they jump."""
    q, v = state_of(kind, seed)
    rest, stiffness = list(kind.neutral()), [1.5] * kind.nv
    moved = [float(x) for x in kind.difference(rest, q.tolist())]
    assume(kind.is_flat or max(map(abs, moved)) < 1.6)
    found = np.array(spring_derivatives(kind, q.tolist(), stiffness, rest), dtype=float)
    step = 1e-3

    def force(h: float) -> Array:
        place = kind.integrate(q.tolist(), [h * step * x for x in v])
        return numbers(spring_forces(kind, place, stiffness, rest))

    slope = (8.0 * (force(1.0) - force(-1.0)) - force(2.0) + force(-2.0)) / (12.0 * step)
    close(found @ v, slope, float(np.abs(force(0.0)).max()), tolerance=1e-8)

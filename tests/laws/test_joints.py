"""What every kind of joint promises: its subspace and bias follow from its placement, and its relatives from it.

Derivatives are complex steps of `calc` itself, so they are as exact as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kinetree.joints import JointKind
from kinetree.spatial import Inertia, Motion, Transform
from tests.strategies import inertias, kinds, law

from .reference import close, directional

Array = NDArray[Any]


def state_of(kind: JointKind, seed: int) -> tuple[Array, Array]:
    """A random configuration, well away from singular ones, and rates."""
    rng = np.random.default_rng(seed)
    q = np.array(kind.random(rng, (-np.inf,) * kind.nq, (np.inf,) * kind.nq))
    S = columns(kind, q)
    sizes = np.linalg.svd(S, compute_uv=False)
    assume(sizes[-1] > 0.05 * sizes[0])
    return q, rng.uniform(-2.0, 2.0, kind.nv)


def scalars(x: Sequence[Any]) -> list[Any]:
    return [np.array([number]) if isinstance(number, complex) else float(number) for number in x]


def numbers(values: Sequence[Any]) -> Array:
    return np.array([x.item() if isinstance(x, np.ndarray) else x for x in values])


def six(m: Motion) -> Array:
    return numbers((*m.angular.components(), *m.linear.components()))


def columns(kind: JointKind, q: Array) -> Array:
    return np.array([six(s) for s in kind.calc(scalars(q), [0.0] * kind.nv).S.columns]).T


def placement(kind: JointKind, q: Array) -> Array:
    """E and r, twelve numbers."""
    X = kind.calc(scalars(q), [0.0] * kind.nv).X_J
    return numbers((*X.E.components(), *X.r.components()))


def velocity(x: Array, x_dot: Array) -> Array:
    """[ω; v] in the moving side's coordinates, from a placement and its derivative."""
    E, E_dot = x[:9].reshape(3, 3), x_dot[:9].reshape(3, 3)
    spin = -E_dot @ E.T
    return np.array([spin[2, 1], spin[0, 2], spin[1, 0], *(E @ x_dot[9:])])


@law(150)
@given(kind=kinds(), seed=st.integers(0, 10**6))
def test_the_subspace_is_the_derivative_of_the_placement(kind: JointKind, seed: int) -> None:
    q, v = state_of(kind, seed)
    q_dot = np.array(kind.rates(q.tolist(), v.tolist()), dtype=np.float64)
    moved = velocity(placement(kind, q), directional(lambda x: placement(kind, x), (q, q_dot)))
    close(columns(kind, q) @ v, moved, tolerance=1e-12)
    close(six(kind.calc(q.tolist(), v.tolist()).v_J), moved, tolerance=1e-12)


@law(150)
@given(kind=kinds(), seed=st.integers(0, 10**6))
def test_the_bias_is_the_derivative_of_the_subspace(kind: JointKind, seed: int) -> None:
    q, v = state_of(kind, seed)
    q_dot = np.array(kind.rates(q.tolist(), v.tolist()), dtype=np.float64)
    bias = directional(lambda x: columns(kind, x) @ v, (q, q_dot))
    close(six(kind.calc(q.tolist(), v.tolist()).c_J), bias, tolerance=1e-11)


@law(100)
@given(kind=kinds(), seed=st.integers(0, 10**6))
def test_the_aligned_kind_moves_as_it_does_in_other_axes(kind: JointKind, seed: int) -> None:
    q, v = state_of(kind, seed)
    other, turn = kind.aligned()
    own, theirs = (k.calc(q.tolist(), v.tolist()) for k in (kind, other))
    back = turn.inverse
    there: Transform = back @ theirs.X_J @ turn
    close(there.E.components(), own.X_J.E.components(), tolerance=1e-12)
    close(there.r.components(), own.X_J.r.components(), tolerance=1e-12)
    for mine, its in ((own.v_J, theirs.v_J), (own.c_J, theirs.c_J)):
        close(six(back @ its), six(mine), tolerance=1e-12)


@law(100)
@given(kind=kinds(), inertia=inertias(), seed=st.integers(0, 10**6))
def test_what_is_unseen_no_joint_force_feels_and_the_other_side_holds_as_a_constant(
    kind: JointKind, inertia: Inertia, seed: int
) -> None:
    unseen = kind.unseen(inertia)
    (q, _), (other, _) = state_of(kind, seed), state_of(kind, seed + 1)
    handed = []
    for at in (q, other):
        X_J, S, _, _ = kind.calc(at.tolist(), [0.0] * kind.nv)
        held = X_J.back(unseen)
        handed.append(numbers((held.mass, *held.h.components(), *held.I.components())))
        forces = [unseen @ s for s in S.columns]  # what the joint's own motion would take to move it
        felt = np.array([numbers((*f.angular.components(), *f.linear.components())) for f in forces])
        close(felt, np.zeros_like(felt), scale=float(inertia.mass) * 10.0, tolerance=1e-12)
    close(handed[0], handed[1], scale=float(inertia.mass) * 10.0, tolerance=1e-12)

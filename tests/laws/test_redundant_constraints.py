"""Constraints that depend on each other, against `numpy.linalg.lstsq`: any rank, any order of the list, both dtypes.

The reference works on B = J C⁻ᵀ with M = C Cᵀ. What the constraints add to the free motion is C⁻ᵀ y with the shortest y
that comes nearest to B y = what is missing, and the forces are the shortest λ with Bᵀ λ = y.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.algorithms.dependent_rows import DependentRows
from kinetree.expr import Grid, Port, Scalar, forward_derivative, interpret, trace, trace_memory
from kinetree.spatial import Sym3, Vec3
from tests.laws.reference import close, reference
from tests.strategies import State, law, moving_trees

Array = NDArray[Any]
Constraints = Sequence[kt.constraints.Contact | kt.constraints.Loop]

METHODS = ("kkt", "operational_space")
CLEAR = 1e-4
"""A singular value is either at least this part of the largest one or, but for rounding, zero: else the rank is not
clear, and the reference and the program may differ about it."""


# -- the decomposition by itself


class Rows(NamedTuple):
    """Rows with a known rank, their pseudo-inverses, and something to solve for."""

    B: Array
    b: Array
    present: list[float]

    @property
    def answers(self) -> tuple[Array, Array, Array]:
        """(B Bᵀ)⁺ b, B⁺ b and (B Bᵀ)⁺."""
        pinv = np.linalg.pinv(self.B, rcond=1e-9)
        return pinv.T @ pinv @ self.b, pinv @ self.b, pinv.T @ pinv


@st.composite
def dependent_rows(draw: st.DrawFn) -> Rows:
    """Combinations of a few random rows, zero rows among them, in any order and of different sizes."""
    m, n = draw(st.integers(1, 9)), draw(st.integers(1, 7))
    rank = draw(st.integers(0, min(m, n)))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    weights = np.vstack([np.eye(rank), rng.integers(-2, 3, size=(m - rank, rank))])
    B = (weights @ rng.normal(size=(rank, n)))[rng.permutation(m)]
    sizes = np.linalg.svd(B, compute_uv=False)
    assume(rank == 0 or sizes[rank - 1] > 0.02 * sizes[0])
    B *= draw(st.sampled_from([1e-6, 1.0, 1e6]))
    return Rows(B, rng.normal(size=m), [float(row.any()) for row in B])


def solved(flat: Sequence[Scalar], rows: Rows, recorder: Any = None) -> list[Scalar]:
    """All that the decomposition answers, from the numbers of B and b."""
    m, n = rows.B.shape
    B = [list(flat[i * n : (i + 1) * n]) for i in range(m)]
    decomposed = DependentRows(B, rows.present, 1e-10, partial(Grid, recorder=recorder))
    x, y = decomposed.solve(list(flat[m * n :]))
    return [*x, *y, *decomposed.inverse()]


@law(100)
@given(rows=dependent_rows())
def test_any_rank_in_any_order_gives_the_pseudo_inverse(rows: Rows) -> None:
    m, n = rows.B.shape
    result = np.array(solved([*rows.B.ravel().tolist(), *rows.b.tolist()], rows))
    for actual, expected in zip(np.split(result, [m, m + n]), rows.answers, strict=True):
        np.testing.assert_allclose(
            actual, expected.ravel(), rtol=0.0, atol=1e-10 * np.abs(expected).max(initial=1e-300)
        )
    inverse = result[m + n :].reshape(m, m)
    assert (inverse == inverse.T).all()


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 4), (3, 5), (5, 3), (4, 4)])
def test_loops_over_rows_are_the_rows_written_out(m: int, n: int) -> None:
    rng = np.random.default_rng(m)
    B = rng.normal(size=(m, n))
    B[-1] = B[0]
    rows = Rows(B, rng.normal(size=m), [1.0] * m)
    given = [*B.ravel().tolist(), *rows.b.tolist()]
    ports = [Port("B", (m * n + m,))], [Port("x", (m + n + m * m,))]

    def recorded(recorder: Any) -> None:
        numbers = [recorder.inputs[0][k] for k in range(len(given))]
        for k, x in enumerate(solved(numbers, rows, recorder)):
            recorder.outputs[0][k] = x

    looped = trace_memory(recorded, *ports, "looped")
    straight = trace(lambda flat: [solved(flat, rows)], *ports)
    (a,), (b,) = interpret(looped, given), interpret(straight, given)
    np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)
    d = rng.normal(size=len(given))
    d[(m - 1) * n : m * n] = d[:n]  # so that the last row stays equal to the first
    da, db = (np.ravel(interpret(forward_derivative(p, [0]), given, d.tolist())[-1]) for p in (looped, straight))
    np.testing.assert_allclose(da, db, rtol=1e-9, atol=1e-9)
    h = 1e-6
    after, before = (np.array(solved((np.array(given) + s * h * d).tolist(), rows), dtype=float) for s in (1, -1))
    np.testing.assert_allclose(db, (after - before) / (2 * h), rtol=1e-5, atol=1e-5 * np.abs(db).max())


# -- random robots


class Witness:
    """A robot under constraints by `lstsq`."""

    def __init__(self, robot: kt.Model, s: State, constraints: Constraints) -> None:
        self.J = reference(kt.constraints.constraint_jacobian, robot, s.q, constraints=constraints)
        self.bias = reference(kt.constraints.constraint_bias, robot, s.q, s.v, constraints=constraints)
        M, C = reference(kt.crba, robot, s.q), reference(kt.bias_forces, robot, s.q, s.v)
        self.root = np.linalg.cholesky(M)
        self.B = np.linalg.solve(self.root, self.J.T).T
        self.free = np.linalg.solve(M, s.tau - C)
        sizes = np.linalg.svd(self.B, compute_uv=False)
        lengths = np.linalg.norm(self.B, axis=1)
        kept = sizes > CLEAR * sizes[0]
        self.is_clear = bool((sizes[~kept] < 1e-12 * sizes[0]).all() and np.linalg.cond(self.root) < 1e3)
        self.is_clear &= bool(((lengths > CLEAR * sizes[0]) | (lengths < 1e-12 * sizes[0])).all() and sizes[0] > 1e-6)

    def answer(self, missing: Array) -> tuple[Array, Array]:
        """What the constraints add to the motion, and their forces."""
        y = np.linalg.lstsq(self.B, missing, rcond=1e-7)[0]
        return np.linalg.solve(self.root.T, y), np.linalg.lstsq(self.B.T, y, rcond=1e-7)[0]


@st.composite
def redundant(draw: st.DrawFn, robot: kt.Model) -> list[kt.constraints.Contact | kt.constraints.Loop]:
    """Up to six contacts and loops, often several on one frame, in any order."""
    frames = draw(st.lists(st.sampled_from(list(robot.frames)), min_size=1, max_size=2, unique=True))
    found: list[kt.constraints.Contact | kt.constraints.Loop] = []
    for _ in range(draw(st.integers(2, 6))):
        frame = draw(st.sampled_from(frames))
        other = draw(st.sampled_from(list(robot.frames)))
        kind = draw(st.sampled_from(["point", "fixed", (0.0, 0.6, 0.8)]))
        if frame == other or draw(st.integers(0, 2)):
            found.append(kt.constraints.Contact(frame, kind, axes=draw(st.sampled_from(["world", "local"]))))
        else:
            found.append(kt.constraints.Loop(frame, other, kind))
    return draw(st.permutations(found))


@law(20)
@given(data=st.data())
def test_many_rows_of_any_rank_are_answered_as_by_lstsq(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(max_joints=5))
    constraints = data.draw(redundant(robot))
    w = Witness(robot, s, constraints)
    assume(w.is_clear)
    missing = -w.bias - w.J @ w.free
    change, forces = w.answer(missing)
    jump, impulses = w.answer(-1.25 * w.J @ s.v)
    pinv = np.linalg.pinv(w.B, rcond=1e-7)
    size = float(np.abs(w.free).max() + np.abs(change).max())
    for method in METHODS:
        options = {"constraints": constraints, "method": method}
        found = reference(kt.constraints.constrained_dynamics, robot, s.q, s.v, s.tau, **options)
        close(found[: robot.nv], w.free + change, size, tolerance=1e-9)
        close(found[robot.nv :], forces, float(np.abs(forces).max(initial=0.0)), tolerance=1e-8)
        alone = reference(kt.constraints.constraint_forces, robot, s.q, s.v, s.tau, **options)
        assert (alone == found[robot.nv :]).all()
        struck = reference(kt.constraints.impact, robot, s.q, s.v, restitution=0.25, **options)
        close(struck[: robot.nv], s.v + jump, tolerance=1e-9)
        close(struck[robot.nv :], impulses, tolerance=1e-8)
        close(reference(kt.constraints.operational_space_inertia, robot, s.q, **options), pinv.T @ pinv, tolerance=1e-7)


# -- the quadruped on four fixed feet: 24 rows of rank 18


@cache
def quadruped() -> tuple[kt.Model, list[kt.constraints.Contact]]:
    robot = kt.zoo.load("quadruped")
    return robot, [kt.constraints.Contact(name, "fixed") for name in robot.frames if name.endswith("foot")]


SEEDS = [36, 51, 71, 109, 114, 128, 139, 152, 158, 175, *range(20)]
"""In the first ten states accelerations are wrong by up to 1e5 times their size if rows are not exchanged."""


@cache
def on_four_feet(is_moving: bool) -> tuple[list[Array], Array, Array, Array]:
    """States, one for each seed, the accelerations and forces there, and the size of what cancels."""
    robot, feet = quadruped()
    states, accelerations, forces, sizes = [], [], [], []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        q = robot.neutral()
        q[7:] += 0.3 * rng.normal(size=12)
        v, tau = rng.normal(size=(2, robot.nv))
        s = State(q, v * is_moving, v, tau)
        w = Witness(robot, s, feet)
        change, found = w.answer(-w.bias - w.J @ w.free)
        states.append((s.q, s.v, s.tau))
        accelerations.append(w.free + change)
        forces.append(found)
        sizes.append(np.abs(w.free).max() + np.abs(change).max())
    return [np.array(x) for x in zip(*states, strict=True)], np.array(accelerations), np.array(forces), np.array(sizes)


def largest_errors(
    result: kt.constraints.ConstrainedMotion, is_moving: bool, order: Sequence[int] = (0, 1, 2, 3)
) -> Array:
    """Of accelerations and of forces, relative to their size in that state."""
    _, qdd, forces, sizes = on_four_feet(is_moving)
    there = forces.reshape(-1, 4, 6)[:, list(order)].reshape(forces.shape)
    errors = np.abs(result.qdd - qdd).max(axis=1) / sizes, np.abs(result.forces - there).max(axis=1)
    return np.array([errors[0].max(), (errors[1] / np.abs(forces).max(axis=1)).max()])


@pytest.mark.parametrize("is_moving", [True, False], ids=["moving", "at rest"])
@pytest.mark.parametrize("method", METHODS)
def test_four_fixed_feet_are_held_as_by_lstsq(method: str, is_moving: bool) -> None:
    robot, feet = quadruped()
    states, *_ = on_four_feet(is_moving)
    assert (
        largest_errors(kt.constraints.constrained_dynamics(robot, *states, feet, method=method), is_moving) < 1e-9
    ).all()


def test_the_order_of_constraints_makes_no_difference() -> None:
    robot, feet = quadruped()
    states, *_ = on_four_feet(True)
    order = [2, 0, 3, 1]
    result = kt.constraints.constrained_dynamics(robot, *states, [feet[k] for k in order])
    assert (largest_errors(result, True, order) < 1e-9).all()


def test_four_fixed_feet_are_held_in_single_precision() -> None:
    """With the default tolerance: to rounding times the condition of the rows, up to 4,000 in these states."""
    robot, feet = quadruped()
    states, *_ = on_four_feet(True)
    result = kt.constraints.constrained_dynamics(robot, *(x.astype(np.float32) for x in states), feet)
    assert result.qdd.dtype == np.float32
    assert (largest_errors(result, True) < [1e-4, 1e-2]).all()


def test_a_body_held_at_four_points_is_a_body_held() -> None:
    """12 rows of rank 6 give the motion of the fixed frame, in single precision as well."""
    plate = kt.ModelBuilder("plate")
    plate.add_body("plate")
    for k, (x, y) in enumerate([(0.1, 0.05), (0.1, -0.05), (-0.1, 0.05), (-0.1, -0.05)]):
        plate.add_frame(f"corner {k}", "plate", kt.lie.placement([x, y, -0.05]))
    robot = kt.zoo.load("arm7").attach(plate.build(), "hand")
    fixed, corners = kt.constraints.Contact("plate", "fixed"), [kt.constraints.Contact(f"corner {k}") for k in range(4)]
    rng = np.random.default_rng(5)
    q = np.array([robot.random(rng) for _ in range(20)])
    tau, v = (
        rng.normal(size=(20, robot.nv)),
        np.linalg.svd(kt.constraints.constraint_jacobian(robot, q, fixed))[2][:, -1],
    )
    expected = kt.constraints.constrained_dynamics(robot, q, v, tau, fixed).qdd
    size = np.abs(expected).max(axis=1, keepdims=True)
    double = kt.constraints.constrained_dynamics(robot, q, v, tau, corners)
    assert (np.abs(double.qdd - expected) < 1e-10 * size).all()
    single = kt.constraints.constrained_dynamics(robot, *(x.astype(np.float32) for x in (q, v, tau)), corners)
    assert (np.abs(single.qdd - expected) < 1e-3 * size).all()
    assert (np.abs(single.forces - double.forces) < 1e-2 * np.abs(double.forces).max(axis=1, keepdims=True)).all()


# -- derivatives


@pytest.mark.parametrize(
    "function", [kt.constraints.constrained_dynamics, kt.constraints.impact, kt.constraints.operational_space_inertia]
)
@pytest.mark.parametrize("method", METHODS)
def test_derivatives_are_right_where_rows_are_redundant(function: Any, method: str) -> None:
    """A planar arm whose tip is held along two lines in its plane and by all of its position: 5 rows of rank 2."""
    robot = kt.zoo.load("double_pendulum").attach(kt.zoo.load("double_pendulum"), "tip", prefix="more ")
    held = [
        kt.constraints.Contact("tip", [0.6, 0.0, 0.8]),
        kt.constraints.Contact("tip"),
        kt.constraints.Contact("tip", [1.0, 0.0, 1.0], axes="local"),
    ]
    rng = np.random.default_rng(1)
    q, v, other, d = rng.normal(size=(4, robot.nv))
    arguments = {kt.constraints.constrained_dynamics: (q, v, other), kt.constraints.impact: (q, v)}.get(function, (q,))
    options: dict[str, Any] = {"constraints": held, "method": method}

    def value(at: Array) -> Array:
        result = function(robot, at, *arguments[1:], **options)
        return np.concatenate(result) if isinstance(result, tuple) else result

    h = 1e-3
    difference = (8 * (value(q + h * d) - value(q - h * d)) - (value(q + 2 * h * d) - value(q - 2 * h * d))) / (12 * h)
    _, along = kt.jvp(robot, function, arguments, {"q": d}, **options)
    close(along, difference, tolerance=1e-7)
    weights = rng.normal(size=along.shape)
    _, gradients = kt.vjp(robot, function, arguments, weights, wrt="q", **options)
    close(gradients["q"] @ d, (weights * along).sum(), float(np.abs(weights * along).sum()), tolerance=1e-10)
    close(kt.jacobian(robot, function, arguments, wrt="q", **options) @ d, along, tolerance=1e-10)


# -- units


@pytest.mark.parametrize("factor", [1e-12, 1e12])
@pytest.mark.parametrize("method", METHODS)
def test_heavier_robots_are_held_by_larger_forces_and_move_alike(method: str, factor: float) -> None:
    """Whether rows depend on each other is no question of units."""
    robot = kt.zoo.load("arm6")
    scaled = robot.scaled(1.0, mass=factor)
    held = [
        kt.constraints.Contact("tool", "fixed"),
        kt.constraints.Contact("tool", axes="local"),
        kt.constraints.Contact("upper_arm", [0, 0, 1]),
    ]
    rng = np.random.default_rng(2)
    q, (v, tau) = robot.random(rng), rng.normal(size=(2, 6))
    a = reference(kt.constraints.constrained_dynamics, robot, q, v, tau, constraints=held, method=method)
    b = reference(kt.constraints.constrained_dynamics, scaled, q, v, factor * tau, constraints=held, method=method)
    close(b[:6], a[:6], tolerance=1e-10)
    close(b[6:] / factor, a[6:], tolerance=1e-10)
    assert np.abs(a[6:]).max() > 1.0
    inertia, heavier = (
        reference(kt.constraints.operational_space_inertia, x, q, constraints=held, method=method)
        for x in (robot, scaled)
    )
    close(heavier / factor, inertia, tolerance=1e-10)


def test_rows_of_different_units_are_judged_each_relative_to_itself() -> None:
    """A body of 1e-9 m: its angular rows are 1e18 times as easily moved as its linear ones, and all six are held."""
    builder = kt.ModelBuilder("grain")
    I = 1e-18
    builder.add_body("grain", kt.model.Inertia.from_com(1.0, Vec3(0, 0, 0), Sym3(I, I, I, 0, 0, 0)))
    grain = builder.build(floating_base=True)
    for method in METHODS:
        inertia = reference(
            kt.constraints.operational_space_inertia, grain, grain.neutral(), constraints="grain", method=method
        )
        np.testing.assert_allclose(inertia, np.diag([1.0, 1.0, 1.0, I, I, I]), rtol=1e-12, atol=0.0)

"""What rollouts obey, on random robots and for long times."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.spatial import Inertia, Sym3, Vec3
from tests.closed_form.machines import free_body, hanging_body, pendulum
from tests.strategies import State, law, moving_trees

Array = np.ndarray[Any, Any]

INTEGRATORS = ["semi_implicit_euler", "rk4"]


Joints = list[tuple[Any, Any, Any, Any]]


def joints(robot: kt.Model, q: Array, v: Array, a: Array) -> Joints:
    """(kind, q, v, a) of each joint, with v and a in axes that do not turn."""
    pieces = (robot.tree.split(x.tolist(), size)[1:] for x, size in ((q, "nq"), (v, "nv"), (a, "nv")))
    found = []
    for kind, q_i, v_i, a_i in zip(robot.tree.joint[1:], *pieces, strict=True):
        rate = np.add(a_i, kind.turning_rate(v_i))
        found.append((kind, q_i, *(np.array(kind.seen_from_fixed(q_i, x)) for x in (v_i, rate))))
    return found


def state_of(robot: kt.Model, moved: list[tuple[Any, Any, Any]], *, is_end: bool = True) -> tuple[Array, Array]:
    """The state at (kind, q, v) of each joint, with v in axes that do not turn; at the end of a step in its chart."""
    pieces = [(kind, q, kind.seen_from_moving(q, v.tolist())) for kind, q, v in moved]
    states = [kind.rechart(q, v) if is_end else (q, v) for kind, q, v in pieces]
    q, v = robot.tree.joined([q for q, _ in states], "nq"), robot.tree.joined([v for _, v in states], "nv")
    return np.array(q, dtype=float), np.array(v, dtype=float)


def euler_step(robot: kt.Model, q: Array, v: Array, tau: Array, dt: float) -> Array:
    moved = []
    for kind, q_i, V, A in joints(robot, q, v, kt.aba(robot, q, v, tau)):
        moved.append((kind, kind.displaced(q_i, dt * (V + dt * A)), V + dt * A))
    return np.concatenate(state_of(robot, moved))


def rk4_step(robot: kt.Model, q: Array, v: Array, tau: Array, dt: float) -> Array:
    """The classical formula for displacements of the start, and their rates."""
    rates: list[list[Array]] = []
    at, tableau = (q, v), [[dt / 2], [0.0, dt / 2], [0.0, 0.0, dt], [dt / 6, dt / 3, dt / 3, dt / 6]]
    stages: list[Joints] = []
    for k, row in enumerate(tableau):
        stages.append(joints(robot, *at, kt.aba(robot, *at, tau)))
        rates.append([])
        moved = []
        for i, (kind, _, V, _) in enumerate(stages[k]):
            q_0, v_0 = stages[0][i][1:3]
            d = (
                sum((c * r[i] for c, r in zip(tableau[k - 1], rates, strict=False)), np.zeros(kind.nv))
                if k
                else 0.0 * V
            )
            rates[k].append(np.array(kind.displacement_rate(q_0, d, V)))
            d = sum((c * r[i] for c, r in zip(row, rates, strict=True)), np.zeros(kind.nv))
            changed = sum((c * stage[i][3] for c, stage in zip(row, stages, strict=True)), v_0)
            moved.append((kind, kind.displaced(q_0, d), changed))
        at = state_of(robot, moved, is_end=row is tableau[-1])
    return np.concatenate(at)


STEPS = dict(zip(INTEGRATORS, (euler_step, rk4_step), strict=True))


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("unroll", [True, False])
@law(4)
@given(moving_trees(max_joints=4), st.sampled_from([0.0, 1e-4, 1e-2]))
def test_each_step_is_the_formula_in_public_functions(
    integrator: str, unroll: bool, moving: tuple[kt.Model, State], dt: float
) -> None:
    robot, state = moving
    f = kt.compile(robot, kt.rollout, steps=3, integrator=integrator, unroll=unroll)
    tau = np.array([state.tau, -state.tau, state.qdd])
    q, v = state.q, state.v
    for row, after in zip(tau, f(q, v, tau, dt), strict=True):
        expected = STEPS[integrator](robot, q, v, row, dt)
        # Accelerations of a random tree are large, and rounded accordingly.
        scale = max(1.0, dt * np.abs(kt.aba(robot, q, v, row)).max(), np.abs(expected).max())
        np.testing.assert_allclose(after, expected, rtol=0, atol=1e-11 * scale)
        q, v = after[: robot.nq], after[robot.nq :]


@pytest.mark.parametrize("name", ["arm7", "quadruped"])
@pytest.mark.parametrize(("integrator", "tolerance"), [("semi_implicit_euler", 1e-13), ("rk4", 1e-13)])
def test_a_motion_is_the_formula_in_a_loop(name: str, integrator: str, tolerance: float) -> None:
    robot, rng = kt.zoo.load(name), np.random.default_rng(1)
    q, v, tau, dt = robot.random(rng), 0.5 * rng.normal(size=robot.nv), rng.normal(size=(10, robot.nv)), 1e-3
    states = kt.rollout(robot, q, v, tau, dt, integrator=integrator)  # type: ignore[call-overload]
    for row, after in zip(tau, states, strict=True):
        expected = STEPS[integrator](robot, q, v, row, dt)
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(after, expected, rtol=0, atol=tolerance * scale)
        q, v = after[: robot.nq], after[robot.nq :]


@law(4)
@given(moving_trees(max_joints=4), st.sampled_from(INTEGRATORS))
def test_in_loops_over_bodies_it_is_what_it_is_in_a_straight_line(
    moving: tuple[kt.Model, State], integrator: str
) -> None:
    robot, state = moving
    straight, rolled = (
        kt.compile(robot, kt.rollout, steps=1, integrator=integrator, unroll=unroll, f_ext=["tool"])
        for unroll in (True, False)
    )
    given_ = state.q, state.v, state.tau[None], 1e-3, np.arange(6.0)
    expected = straight(*given_)
    np.testing.assert_allclose(rolled(*given_), expected, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))


# -- order and conservation


def end(robot: kt.Model, integrator: Any, steps: int, duration: float) -> Array:
    """The state a motion arrives at."""
    rng = np.random.default_rng(5)
    q, v = robot.random(rng), rng.uniform(-1.5, 1.5, robot.nv)
    tau = np.zeros((steps, robot.nv))
    tau[:, -1] = 0.3  # the same at every step: what is held does not lower the order
    return kt.rollout(robot, q, v, tau, duration / steps, integrator=integrator)[-1]


@pytest.mark.parametrize(("integrator", "factor"), [("semi_implicit_euler", 2.0), ("rk4", 16.0)])
@pytest.mark.parametrize(("name", "steps"), [("double_pendulum", 160), ("cart_pole", 80), ("quadruped", 320)])
def test_halving_the_step_divides_the_error_by_two_or_sixteen(
    name: str, steps: int, integrator: str, factor: float
) -> None:
    robot = kt.zoo.load(name)
    nq = robot.nq
    coarse, middle, fine = (end(robot, integrator, k * steps, 0.32) for k in (1, 2, 4))

    def apart(a: Array, b: Array) -> float:
        return float(np.linalg.norm(np.append(robot.difference(a[:nq], b[:nq]), a[nq:] - b[nq:])))

    assert apart(middle, fine) > 1e-11  # well above rounding
    assert apart(coarse, middle) / apart(middle, fine) == pytest.approx(factor, rel=0.15)


def test_rk4_is_of_order_four_where_displacements_do_not_commute() -> None:
    """The classical formula, in which stages are displacements from the start, is only of order three there."""
    robot = hanging_body()

    def end(steps: int) -> Array:
        tau = np.zeros((steps, 3))
        return kt.rollout(robot, robot.neutral(), [6.0, 10.0, 4.0], tau, 0.32 / steps, integrator="rk4")[-1]

    coarse, middle, fine = (end(steps) for steps in (128, 256, 512))

    def apart(a: Array, b: Array) -> float:
        return float(np.linalg.norm(np.append(robot.difference(a[:4], b[:4]), a[4:] - b[4:])))

    assert apart(coarse, middle) / apart(middle, fine) == pytest.approx(16.0, rel=0.03)


@pytest.mark.parametrize(("integrator", "tolerance"), [("semi_implicit_euler", 0.1), ("rk4", 2e-7)])
def test_a_free_pendulum_keeps_its_energy(integrator: Any, tolerance: float) -> None:
    """For seventy swings. Semi-implicit Euler lets it vary within a swing, and does not let it drift."""
    robot = pendulum(1.0, 1.0, 0.1)
    steps, dt = 20_000, 0.01
    states = kt.rollout(robot, [2.0], [0.0], np.zeros((steps, 1)), dt, integrator=integrator)
    q, v = states[:, :1], states[:, 1:]
    energy = kt.kinetic_energy(robot, q, v) + kt.potential_energy(robot, q)
    start = float(kt.potential_energy(robot, [2.0]))
    swing = float(np.ptp(kt.potential_energy(robot, q)))
    assert swing > 10.0
    error = (energy - start) / swing
    assert np.abs(error).max() < tolerance
    half = steps // 2
    assert np.ptp(error[half:]) < 1.05 * np.ptp(error[:half])


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-14), (np.float32, 1e-6)])
def test_quaternions_keep_their_length_for_ten_thousand_steps(integrator: Any, dtype: type, tolerance: float) -> None:
    robot = free_body(Inertia.from_com(1.0, Vec3(0.1, 0.0, 0.0), Sym3(0.4, 0.5, 0.7, 0.0, 0.0, 0.0)))
    q, v = robot.neutral().astype(dtype), np.array([0.1, 0.2, 0.3, 2.0, 1.0, -3.0], dtype)
    states = kt.rollout(robot, q, v, np.zeros((10_000, 6), dtype), dtype(0.002), integrator=integrator)
    assert states.dtype == dtype
    length = np.linalg.norm(states[:, 3:7].astype(np.float64), axis=-1)
    np.testing.assert_allclose(length, 1.0, rtol=0, atol=tolerance)
    assert np.ptp(states[:, 6]) > 1.0  # it did turn


def test_a_falling_body_moves_as_galilei_says() -> None:
    """Of semi-implicit Euler the sum of a series, exactly; of order four the parabola itself."""
    robot = free_body(Inertia.from_com(2.0, Vec3(0.0, 0.0, 0.0), Sym3.scalar(1.0)), gravity=9.81)
    n, dt = 130, 0.01
    at_rest = robot.neutral(), np.zeros(6), np.zeros((n, 6)), dt
    t = dt * np.arange(1, n + 1)
    euler, rk4 = (kt.rollout(robot, *at_rest, integrator=integrator) for integrator in ("semi_implicit_euler", "rk4"))
    np.testing.assert_allclose(euler[:, 2], -9.81 * t * (t + dt) / 2.0, rtol=1e-12)
    np.testing.assert_allclose(rk4[:, 2], -9.81 * t**2 / 2.0, rtol=1e-12)
    np.testing.assert_allclose(euler[:, 9], -9.81 * t, rtol=1e-12)


def test_a_pendulum_swings_with_the_period_of_its_amplitude() -> None:
    """A quarter of the exact period, by the arithmetic-geometric mean, leads to the lowest point."""
    mass, length, inertia, amplitude = 1.3, 0.7, 0.2, 2.5
    robot = pendulum(mass, length, inertia)
    rate = math.sqrt(9.81 * mass * length / (inertia + mass * length**2))
    a, b = 1.0, math.cos(amplitude / 2.0)
    for _ in range(8):
        a, b = (a + b) / 2.0, math.sqrt(a * b)
    steps = 500
    dt = 2.0 * math.pi / (rate * a) / 4.0 / steps
    states = kt.rollout(robot, [amplitude], [0.0], np.zeros((steps, 1)), dt, integrator="rk4")
    assert abs(states[-1, 0]) < 1e-8

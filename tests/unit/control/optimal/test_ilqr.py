"""iLQR: optimality, limits, gaps, batches, manifolds, phases, and what it says when it ends."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import OptimalControl, OptimalMotion, Phase, ilqr
from kinetree.control.optimal.shooting import shooting

ARM = kt.zoo.load("double_pendulum")
GOALS = np.array([[0.6, -0.3], [-0.4, 0.9], [0.3, 0.2]])
DT, STEPS = 0.02, 25


@cache
def reaching(limits: Any = None) -> OptimalControl:
    return OptimalControl(ARM, Phase(STEPS, DT, running), at_goal, limits=limits)


@kt.program(q=ARM, v=2, u=2)
def running(q: Any, v: Any, u: Any) -> Any:
    return np.concatenate([0.05 * q, 0.05 * v, 0.01 * u])


@kt.program(q=ARM, v=2, goal=2)
def at_goal(q: Any, v: Any, goal: Any) -> Any:
    return np.concatenate([10.0 * (q - goal), v])


def total(q: Any, v: Any, u: Any, goal: Any) -> Any:
    """The cost of a motion, by kinetree's own rollout."""
    states = np.concatenate([np.concatenate([q, v])[None], kt.rollout(ARM, q, v, u, DT)])
    rows = [running(x[:2], x[2:], a) for x, a in zip(states, u, strict=False)]
    return 0.5 * (np.sum(np.square(rows)) + np.sum(np.square(at_goal(states[-1, :2], states[-1, 2:], goal))))


def test_the_gradient_of_the_whole_cost_is_zero_at_the_solution() -> None:
    found = ilqr(reaching(), np.zeros(2), arguments={"goal": GOALS[0]}, tolerance=1e-12)
    assert found.converged
    assert found.reason == "converged"
    assert found.gap == 0.0
    assert np.isclose(found.cost, total(found.q[0], found.v[0], found.u, GOALS[0]), rtol=1e-13)
    h = 1e-4
    for k in (0, STEPS // 2, STEPS - 1):
        step = np.zeros((STEPS, 2))
        step[k, 0] = h
        pair = [total(np.zeros(2), np.zeros(2), found.u + s * step, GOALS[0]) for s in (1.0, -1.0)]
        assert abs(pair[0] - pair[1]) / (2.0 * h) < 1e-5
    assert (np.diff(found.costs) < 0.0).all()


def test_batches_and_threads_change_no_bit() -> None:
    q = np.random.default_rng(0).uniform(-0.5, 0.5, (7, 1, 2))
    many = ilqr(reaching((-6.0, 6.0)), q, arguments={"goal": GOALS}, threads=2)
    assert many.cost.shape == (7, 3)
    assert many.converged.all()
    assert many.gains.shape == (7, 3, STEPS, 2, 4)
    for i, j in ((0, 0), (4, 2), (6, 1)):
        one = ilqr(reaching((-6.0, 6.0)), q[i, 0], arguments={"goal": GOALS[j]}, threads=1)
        for name in ("q", "v", "u", "gains", "cost", "iterations", "reason"):
            assert np.array_equal(getattr(one, name), getattr(many, name)[i, j]), name


def test_limits_are_kept_and_cost() -> None:
    free = ilqr(reaching(), np.zeros(2), arguments={"goal": GOALS[0]})
    most = 0.6 * abs(free.u).max()
    held = ilqr(reaching((-most, most)), np.zeros(2), arguments={"goal": GOALS[0]})
    assert held.converged
    assert held.cost > free.cost
    assert abs(held.u).max() == most


def test_gaps_are_closed_and_the_optimum_is_the_same() -> None:
    goal = GOALS[1]
    rolled = ilqr(reaching(), np.zeros(2), arguments={"goal": goal}, tolerance=1e-12)
    states = np.linspace(0.0, 1.0, STEPS + 1)[:, None] * goal, np.zeros((STEPS + 1, 2))
    shot = ilqr(reaching(), np.zeros(2), states=states, arguments={"goal": goal}, tolerance=1e-12)
    assert shot.converged
    assert shot.gap == 0.0
    assert np.isclose(shot.cost, rolled.cost, rtol=1e-9)
    assert np.allclose(shot.q, rolled.q, atol=1e-5)


def test_scalar_costs_and_residuals_have_the_same_optimum() -> None:
    @kt.program(q=ARM, v=2, u=2)
    def half_squares(q: Any, v: Any, u: Any) -> Any:
        return {"cost": 0.5 * 0.05**2 * (q @ q + v @ v), "residual": 0.01 * u}

    mixed = OptimalControl(ARM, Phase(STEPS, DT, half_squares), at_goal)
    one, two = (
        ilqr(problem, np.zeros(2), arguments={"goal": GOALS[0]}, tolerance=1e-12) for problem in (reaching(), mixed)
    )
    assert np.isclose(one.cost, two.cost, rtol=1e-10)


def test_costs_receive_the_results_of_a_phases_own_dynamics() -> None:
    @kt.program(q=ARM, v=2, u=2)
    def moved(q: Any, v: Any, u: Any) -> Any:
        qdd = kt.aba(ARM, q, v, u)
        v = v + DT * qdd
        return {"q": q + DT * v, "v": v, "qdd": qdd}

    @kt.program(u=2, qdd=2, t=(), weight=())
    def smooth(u: Any, qdd: Any, t: Any, weight: Any) -> Any:
        return np.concatenate([0.05 * u, weight * (1.0 + t) * qdd])

    phases = [Phase(10, DT, running), Phase(STEPS - 10, DT, smooth, moved)]
    problem = OptimalControl(ARM, phases, at_goal)
    weights = np.full(STEPS, 1e-3)
    found = ilqr(problem, np.zeros(2), arguments={"goal": GOALS[0]}, rows={"weight": weights})
    assert found.converged
    assert np.allclose(found.q[1:], kt.rollout(ARM, np.zeros(2), np.zeros(2), found.u, DT)[:, :2], atol=1e-12)


def test_free_bodies_move_by_displacements() -> None:
    body = free_body()
    goal = body.integrate(body.neutral(), [0.1, 0.0, 0.2, 0.4, -0.3, 0.5])

    @kt.program(q=body, v=6, u=6)
    def pushed(q: Any, v: Any, u: Any) -> Any:
        v = v + 0.1 * u
        return {"q": kt.integrate(body, q, 0.1 * v), "v": v}

    @kt.program(q=body, v=6, u=6)
    def away(q: Any, v: Any, u: Any) -> Any:
        return np.concatenate([kt.difference(body, goal, q), 0.1 * v, 0.1 * u])

    problem = OptimalControl(body, Phase(8, 0.1, away, pushed))
    rolled = ilqr(problem, body.neutral(), tolerance=1e-12)
    knots = np.tile(goal, (9, 1)), np.zeros((9, 6))
    shot = ilqr(problem, body.neutral(), states=knots, tolerance=1e-12)
    assert rolled.converged
    assert shot.converged
    assert np.isclose(rolled.cost, shot.cost, rtol=1e-9)
    assert np.allclose(np.linalg.norm(rolled.q[:, 3:], axis=-1), 1.0)
    assert abs(body.difference(goal, rolled.q[-1])).max() < 0.3 * abs(body.difference(goal, rolled.q[0])).max()


def test_impacts_join_phases() -> None:
    wall = kt.constraints.Contact("tip", [1.0, 0.0, 0.0])

    @kt.program(v=2, impulses=1, weight=())
    def soft(v: Any, impulses: Any, weight: Any = 1e-3) -> Any:
        return {"residual": 0.05 * v, "cost": weight * impulses[0] ** 2}

    phases = [Phase(8, DT, running), Phase.impact(soft, wall, restitution=0.5), Phase(8, DT, running)]
    problem = OptimalControl(ARM, phases, at_goal)
    assert np.allclose(problem.times, [*np.arange(9) * DT, *np.arange(8, 17) * DT])
    found = ilqr(problem, [0.4, 0.3], arguments={"goal": GOALS[0]}, tolerance=1e-12)
    assert found.converged
    assert np.array_equal(found.q[8], found.q[9])
    assert np.allclose(
        found.v[9], kt.constraints.impact(ARM, found.q[8], found.v[8], wall, restitution=0.5).v, atol=1e-12
    )
    assert not found.u[8].any()
    exact = ilqr(problem, [0.4, 0.3], arguments={"goal": GOALS[0]}, tolerance=1e-12, hessian="exact")
    assert np.isclose(exact.cost, found.cost, rtol=1e-10)
    assert exact.iterations <= found.iterations


def test_a_row_that_is_held_twice_changes_nothing_but_the_forces() -> None:
    @kt.program(v=2, u=2)
    def slow(v: Any, u: Any) -> Any:
        return np.concatenate([v, 0.1 * u])

    wall = kt.constraints.Contact("tip", [1.0, 0.0, 0.0], velocity_gain=10.0)
    once, twice = (
        ilqr(OptimalControl(ARM, Phase(6, DT, slow, constraints=rows)), [0.4, 0.3], [0.0, 1.0], tolerance=1e-13)
        for rows in ([wall], [wall, wall])
    )
    assert once.converged
    assert twice.converged
    assert np.allclose(twice.u, once.u, atol=1e-9)
    assert np.isclose(twice.cost, once.cost, rtol=1e-12)


@pytest.mark.parametrize("is_impact", [True, False])
def test_constraints_that_depend_on_each_other_are_reported(is_impact: bool) -> None:
    @kt.program(v=2)
    def slow(v: Any) -> Any:
        return 0.1 * v

    rows = kt.constraints.Contact("tip", [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    phase = Phase.impact(slow, rows) if is_impact else Phase(1, DT, slow, constraints=rows)
    problem = OptimalControl(ARM, phase)
    found = ilqr(problem, [[0.4, 0.3], [0.4, 0.0]])  # stretched out, the tip moves only across
    assert found.reason[0] == "converged"
    assert found.reason[1] == "dependent"
    assert not found.converged[1]
    assert not found.u[1].any()
    assert not found.gains[1].any()


def test_impacts_that_make_no_sense_are_refused() -> None:
    with pytest.raises(kt.errors.OptionError, match="an impact needs constraints"):
        Phase.impact(running, [])
    with pytest.raises(kt.errors.OptionError, match="restitution of an impact must be a number from 0 to 1"):
        Phase.impact(running, kt.constraints.Contact("tip"), restitution=1.5)
    with pytest.raises(kt.errors.OptionError, match="constraints of a Phase must be a list"):
        Phase.impact(running, "tip")  # type: ignore[arg-type]


def free_body() -> kt.Model:
    builder = kt.ModelBuilder("body")
    builder.add_body("box", kt.solids.box(0.4, 0.3, 0.2, mass=1.0))
    return builder.build(floating_base=True)


@pytest.mark.parametrize(
    ("reason", "options"),
    [
        ("iterations", {"iterations": 1}),
        ("not_finite", {"u": np.full((STEPS, 2), np.nan)}),
    ],
)
def test_reasons_for_missing_convergence_are_reported(reason: str, options: dict[str, Any]) -> None:
    found = ilqr(reaching(), np.zeros(2), arguments={"goal": GOALS[0]}, **options)
    assert not found.converged
    assert found.reason == reason
    assert reason in repr(found)


def test_one_bad_problem_leaves_the_others_alone() -> None:
    u = np.zeros((2, STEPS, 2))
    u[1, 3, 0] = np.inf
    found = ilqr(reaching(), np.zeros(2), u=u, arguments={"goal": GOALS[0]})
    alone: OptimalMotion = ilqr(reaching(), np.zeros(2), u=u[0], arguments={"goal": GOALS[0]})
    assert found.reason.tolist() == ["converged", "not_finite"]
    assert np.array_equal(found.u[0], alone.u)
    assert not found.u[1].any()
    assert not found.gains[1].any()


def test_a_start_that_is_no_number_gives_no_torques() -> None:
    found = ilqr(reaching(), [np.nan, 0.0], arguments={"goal": GOALS[0]})
    assert found.reason == "not_finite"
    assert not found.u.any()


def test_an_empty_batch_has_empty_motions() -> None:
    found = ilqr(reaching(), np.zeros((0, 2)), arguments={"goal": GOALS[0]})
    assert found.u.shape == (0, STEPS, 2)
    assert found.gains.shape == (0, STEPS, 2, 4)
    assert found.converged.shape == found.reason.shape == (0,)


def test_phases_whose_steps_are_alike_are_compiled_once() -> None:
    """A function may make each phase anew. Another length needs another motion, but no other model."""
    robot = kt.zoo.load("double_pendulum")

    def phase(steps: int, goal: float, gain: float = 5.0) -> Phase:
        aim = np.full(2, goal)

        def cost(q: Any, v: Any, u: Any) -> Any:
            return np.concatenate([q - aim, 0.1 * v, 0.1 * u])

        held = [kt.constraints.Contact("tip", velocity_gain=gain)]
        return Phase(steps, 0.01, kt.program(q=robot, v=robot.nv, u=2)(cost), constraints=held)

    given = ((4, 0.1), (5, 0.1), (4, 0.1), (4, 0.2), (4, 0.1, 6.0))
    made = shooting(OptimalControl(robot, [phase(*each) for each in given]))
    for compiled, alike in ((made._motions, [0, 1, 0, 3, 4]), (made.models._knots, [0, 0, 0, 3, 4])):
        assert [compiled.index(function) for function in compiled] == alike

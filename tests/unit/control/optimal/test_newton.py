"""Exact Hessians: those of each kind of step, the Newton step that they make, and where it leads."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import OptimalControl, Phase, ilqr
from kinetree.control.optimal.models import hessian_program, knot_program
from kinetree.control.optimal.shooting import Motions, shooting

ARM = kt.zoo.load("double_pendulum")
CART = kt.zoo.load("cart_pole")
DT, STEPS = 0.02, 12


@cache
def leg() -> kt.Model:
    """A thigh on a ball joint, and a shank on a hinge."""
    builder = kt.ModelBuilder("leg")
    builder.add_body("ground")
    builder.add_body("thigh", kt.solids.box(0.1, 0.1, 0.4, mass=1.0))
    builder.add_body("shank", kt.solids.box(0.05, 0.05, 0.4, mass=0.3))
    builder.add_joint("hip", kt.joints.Spherical(), "ground", "thigh")
    builder.add_joint("knee", kt.Revolute([0, 1, 0]), "thigh", "shank", kt.lie.placement([0.0, 0.05, -0.3]))
    builder.add_frame("foot", "shank", kt.lie.placement([0.05, 0.0, -0.4]))
    return builder.build()


def bent_arm() -> tuple[kt.Model, Phase]:
    @kt.program(q=ARM, v=2, u=2, t=())
    def cost(q: Any, v: Any, u: Any, t: Any) -> Any:
        return np.concatenate([np.sin(q) * v, (1.0 + t) * u * q])

    return ARM, Phase(2, DT, cost)


def held_arm() -> tuple[kt.Model, Phase]:
    @kt.program(q=ARM, v=2, u=2, forces=1)
    def cost(q: Any, v: Any, u: Any, forces: Any) -> Any:
        return {"cost": np.cos(q[-1]) * u[0] ** 2 + forces[0] ** 3 * v[0], "residual": forces * q[-1]}

    held = kt.constraints.Contact("tip", [0, 0, 1], at=[0.1, 0.0, 0.2], velocity_gain=50.0, position_gain=100.0)
    return ARM, Phase(2, DT, cost, constraints=held)


def struck_leg() -> tuple[kt.Model, Phase]:
    @kt.program(q=leg(), v=4, impulses=1)
    def cost(q: Any, v: Any, impulses: Any) -> Any:
        return {"cost": impulses[0] ** 3, "residual": v * q[-1]}

    return leg(), Phase.impact(cost, kt.constraints.Contact("foot", [0, 0, 1]), restitution=0.3)


def own_steps() -> tuple[kt.Model, Phase]:
    @kt.program(q=leg(), v=4, u=4)
    def pushed(q: Any, v: Any, u: Any) -> Any:
        v = v + 0.1 * np.sin(u) * v[::-1]
        return {"q": kt.integrate(leg(), q, 0.1 * v), "v": v, "power": u @ v}

    @kt.program(q=leg(), power=())
    def cost(q: Any, power: Any) -> Any:
        return power**3 + q[0] * power

    return leg(), Phase(2, 0.1, cost, pushed)


@pytest.mark.parametrize("made", [bent_arm, held_arm, struck_leg, own_steps])
def test_hessians_are_the_derivatives_of_gradients(made: Any) -> None:
    robot, phase = made()
    problem = OptimalControl(robot, phase)
    rng, nv, m = np.random.default_rng(0), robot.nv, problem.nu
    n, p = 2 * nv, 2 * nv + m
    q, v, u = robot.random(rng), rng.normal(size=nv), rng.normal(size=m)
    q_next, v_next = robot.integrate(q, 0.1 * rng.normal(size=nv)), rng.normal(size=nv)
    costate, h = rng.normal(size=n), 1e-6
    knot, rest = knot_program(problem, phase).compiled("float64"), (0.3, np.zeros(1), q_next, v_next)

    def slope(z: Any) -> Any:
        row = knot.call(robot.integrate(q, z[:nv]), v + z[nv:n], u + z[n:], *rest)
        return row[n + n * p + 1 :][:p] + row[n : n + n * p].reshape(n, p).T @ costate

    H = np.zeros((p, p))
    H[np.triu_indices(p)] = hessian_program(problem, phase).compiled("float64").call(q, v, u, *rest, costate)
    differences = np.array([slope(h * e) - slope(-h * e) for e in np.eye(p)]) / (2.0 * h)
    wanted = 0.5 * (differences + differences.T)
    assert np.allclose(np.triu(H), np.triu(wanted), rtol=1e-6, atol=1e-6 * abs(wanted).max())


@pytest.mark.parametrize(("gain", "is_impact"), [(5.0, False), (20.0, True)])
def test_forces_of_redundant_rows_have_exact_derivatives(gain: float, is_impact: bool) -> None:
    # The second contact holds a direction that the first one holds too, or pulls with another gain.
    rows = [
        kt.constraints.Contact("tip", [[1, 0, 0], [0, 0, 1]], velocity_gain=20.0),
        kt.constraints.Contact("tip", [0.6, 0.0, 0.8], velocity_gain=gain),
    ]

    @kt.program(u=2, forces=3)
    def pressing(u: Any, forces: Any) -> Any:
        return np.concatenate([forces, u])

    @kt.program(impulses=3)
    def hitting(impulses: Any) -> Any:
        return impulses

    phase = Phase.impact(hitting, rows, restitution=0.3) if is_impact else Phase(1, 0.1, pressing, constraints=rows)
    problem, rng, h, n, p = OptimalControl(ARM, phase), np.random.default_rng(1), 1e-6, 4, 6
    assert problem.is_redundant(phase)
    q, v, u, q_next = ARM.random(rng), rng.normal(size=2), rng.normal(size=2), ARM.random(rng)
    knot = knot_program(problem, phase).compiled("float64")

    def row(z: Any) -> Any:
        at = ARM.integrate(q, z[:2]), v + z[2:4], u + z[4:]
        return knot.call(*at, 0.0, np.zeros(1), q_next, np.zeros(2))

    found, cost = row(np.zeros(p)), n + n * p
    differences = np.array([row(h * e) - row(-h * e) for e in np.eye(p)]).T / (2.0 * h)
    by, slope = found[n:cost].reshape(n, p), found[cost + 1 :][:p]
    assert np.allclose(by, differences[:n], atol=1e-6)
    assert np.allclose(slope, differences[cost], atol=1e-6)
    with pytest.raises(kt.errors.OptionError, match="3 rows of which 2 are independent"):
        hessian_program(problem, phase)


@kt.program(q=ARM, v=2, u=2)
def running(q: Any, v: Any, u: Any) -> Any:
    return np.concatenate([0.3 * np.sin(q), 0.1 * v, 0.1 * u])


@kt.program(q=ARM, v=2, goal=2)
def at_goal(q: Any, v: Any, goal: Any) -> Any:
    return np.concatenate([3.0 * np.sin(q - goal), v])


def test_the_step_is_that_of_newton_for_the_whole_cost() -> None:
    problem, rng, goal, h = (
        OptimalControl(ARM, Phase(STEPS, DT, running), at_goal),
        np.random.default_rng(0),
        [0.6, -0.3],
        1e-5,
    )
    u = 0.5 * rng.normal(size=(STEPS, 2))

    def slope(u: Any) -> Any:
        """The gradient of the whole cost, by `kt.vjp` of the rollout."""
        start = np.zeros(2), np.zeros(2)
        states = np.vstack([np.zeros(4), kt.rollout(ARM, *start, u, DT)])
        by = [kt.vjp(running, (x[:2], x[2:], a), running(x[:2], x[2:], a))[1] for x, a in zip(states, u, strict=False)]
        last = states[-1, :2], states[-1, 2:], goal
        end = kt.vjp(at_goal, last, at_goal(*last))[1]
        weights = np.array([np.concatenate([s["q"], s["v"]]) for s in [*by[1:], end]])
        return (kt.vjp(ARM, kt.rollout, (*start, u, DT), weights, wrt="tau")[1]["tau"] + [s["u"] for s in by]).ravel()

    flat = u.ravel()
    H = np.array(
        [slope((flat + e).reshape(u.shape)) - slope((flat - e).reshape(u.shape)) for e in h * np.eye(flat.size)]
    )
    newton = np.linalg.solve(H / (2.0 * h), -slope(u))

    functions, given = shooting(problem), np.tile(goal, (1, STEPS + 1, 1))
    at, _ = functions.rolled_out(np.zeros((1, 2)), np.zeros((1, 2)), u[None], given)
    setting = np.array([[0.0, 0.0, 1.0]])
    step, promise = functions.direction(Motions(*at), given, setting, functions.workspace(), 1e-9, is_exact=True)
    knots, _ = functions.models.gauss_newton(*at, given)
    z, found = np.zeros(4), []
    for row, k, K in zip(knots[0], step.k[0], step.K[0], strict=True):
        found.append(k + K @ z)
        z = row[4:28].reshape(4, 6) @ np.concatenate([z, found[-1]])
    assert setting[0, 0] == 0.0
    assert np.allclose(np.ravel(found), newton, rtol=1e-6, atol=1e-8)
    assert np.isclose(promise.change[0], 0.5 * slope(u) @ newton, rtol=1e-6)


@kt.program(q=CART, v=2, u=1)
def effort(q: Any, v: Any, u: Any) -> Any:
    return np.concatenate([0.03 * u, 0.1 * q[:1], 0.03 * v])


@kt.program(q=CART, v=2)
def upright(q: Any, v: Any) -> Any:
    return 30.0 * np.stack([q[0], np.sin(0.5 * q[1]), 0.3 * v[0], 0.3 * v[1]])


@cache
def swing_up() -> OptimalControl:
    return OptimalControl(CART, Phase(150, DT, effort), upright, motors=["slider"], limits=(-8.0, 8.0))


def test_a_swing_up_converges_quadratically() -> None:
    start: dict[str, Any] = {"u": np.full((150, 1), 0.1), "iterations": 300, "tolerance": 1e-12}
    slow = ilqr(swing_up(), [0.0, np.pi], **start)
    quick = ilqr(swing_up(), [0.0, np.pi], **start, hessian="exact")
    assert quick.converged
    assert np.isclose(quick.cost, slow.cost, rtol=1e-9)
    assert quick.iterations < 0.4 * slow.iterations
    left = quick.costs[-5:-1] - quick.cost
    assert (left[1:] < 1e4 * left[:-1] ** 2 + 1e-13).all()


def test_newton_leaves_a_saddle_point_at_which_gauss_and_newton_stay() -> None:
    hanging = [0.0, np.pi]  # where, by symmetry, pushing the cart either way is equally good
    assert ilqr(swing_up(), hanging).cost > 400.0
    assert ilqr(swing_up(), hanging, hessian="exact", iterations=400).cost < 3.0


def test_batches_and_threads_change_no_bit() -> None:
    q = np.random.default_rng(0).normal([0.0, np.pi], 0.2, (19, 2))
    many = ilqr(swing_up(), q, iterations=12, hessian="exact", threads=2)
    for k in (0, 7, 18):
        one = ilqr(swing_up(), q[k], iterations=12, hessian="exact", threads=1)
        for name in ("q", "v", "u", "gains", "cost", "iterations", "reason"):
            assert np.array_equal(getattr(one, name), getattr(many, name)[k]), name


def test_other_words_are_refused() -> None:
    with pytest.raises(kt.errors.OptionError, match="hessian must be 'gauss_newton' or 'exact'"):
        ilqr(swing_up(), [0.0, np.pi], hessian="newton")  # type: ignore[arg-type]

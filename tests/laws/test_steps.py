"""One step, in every form: a rollout's, a simulation's with its stages in a loop, and stage by stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.algorithms import INTEGRATORS
from kinetree.compiler.calls import compile_function
from kinetree.functions.step_stages import HELD_STAGES, evaluation, stage_state
from kinetree.functions.steps import StepKind, steps, steps_of
from kinetree.model import Geometry
from kinetree.spatial import Transform
from tests.strategies import State, law, moving_trees

Array = np.ndarray[Any, Any]

DT = 1e-3


def rolled_out(robot: kt.Model, state: State, integrator: str, unroll: bool, **switches: Any) -> Array:
    f = compile_function(robot, kt.rollout, steps=1, integrator=integrator, unroll=unroll, **switches)
    row: Array = f(state.q, state.v, state.tau[None], np.array(DT))[0]
    return row


def in_one_kernel(robot: kt.Model, state: State, integrator: str, unroll: bool, **switches: Any) -> Array:
    f = compile_function(robot, steps, integrator=integrator, unroll=unroll, **switches)
    row: Array = f(state.q, state.v, np.zeros(2), state.tau[None], np.array(DT))[0]
    return row


def stage_by_stage(robot: kt.Model, state: State, integrator: str, unroll: bool, **switches: Any) -> Array:
    evaluate = compile_function(robot, evaluation, integrator=integrator, unroll=unroll, **switches)
    q, v, h, past, powers = state.q, state.v, np.array([DT]), [], []
    for k in range(INTEGRATORS[integrator].stages):
        found = evaluate(q, v, state.tau, h)
        past += [q, v, found[: robot.nv]]
        powers.append(found[robot.nv :])
        after = compile_function(robot, stage_state(k + 1), integrator=integrator, unroll=unroll)(h, *past)
        q, v = np.split(after, [robot.nq])
    return np.concatenate([q, v, DT * np.array(INTEGRATORS[integrator].weights) @ np.array(powers)])


def ball_on_the_ground() -> kt.Model:
    builder = kt.ModelBuilder("ball")
    shape = Geometry("collision", "sphere", (0.1,), Transform.identity())
    builder.add_body("ball", kt.solids.sphere(0.1, mass=1.0), geometry=[shape])
    return builder.build(floating_base=True).on_ground()


IN_LOOPS = ("semi_implicit_euler", "rk4")
FORMS = [(form, unroll) for form in (in_one_kernel, stage_by_stage) for unroll in (True, False)]


@pytest.mark.parametrize("integrator", INTEGRATORS)
@law(4)
@given(moving_trees(max_joints=4), st.sampled_from(FORMS))
def test_every_form_of_a_step_is_that_of_a_rollout(
    integrator: Any, moving: tuple[kt.Model, State], form: tuple[Any, bool]
) -> None:
    robot, state = moving
    step, unroll = form[0], form[1] or integrator not in IN_LOOPS
    more: dict[str, Any] = {"integrator": integrator, "passive": True, "divide": False}
    expected = kt.rollout(robot, state.q, state.v, state.tau[None], DT, **more)[0]
    found = step(robot, state, integrator, unroll, passive=True)
    scale = max(1.0, DT * np.abs(kt.aba(robot, state.q, state.v, state.tau)).max(), np.abs(expected).max())
    np.testing.assert_allclose(found[:-2], expected, rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@law(6)
@given(moving_trees(max_joints=4), st.booleans(), st.booleans(), st.booleans())
def test_what_a_step_exchanges_changes_no_bit_of_its_state(
    integrator: Any, moving: tuple[kt.Model, State], passive: bool, limits: bool, in_loops: bool
) -> None:
    robot, state = moving
    unroll = not in_loops or integrator not in IN_LOOPS
    simulated, rolled = (
        form(robot, state, integrator, unroll, passive=passive, limits=limits) for form in (in_one_kernel, rolled_out)
    )
    np.testing.assert_array_equal(simulated[:-2], rolled)


SCENES = {"pendulum": kt.zoo.load("double_pendulum"), "ball": ball_on_the_ground()}


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("scene", SCENES)
def test_contact_reports_of_a_step_change_no_bit_of_its_state(scene: str, integrator: Any) -> None:
    robot, rng = SCENES[scene], np.random.default_rng(1)
    q, v, tau = kt.contact.above_ground(robot, robot.neutral()), rng.normal(size=robot.nv), np.zeros((4, robot.nv))
    more: dict[str, Any] = {"integrator": integrator, "passive": True, "contact": True}
    motion = kt.simulate(robot, q=q, v=v, duration=4 * DT, dt=DT, **more)
    found = kt.rollout(robot, q, v, tau, DT, report=True, **more)
    alone = compile_function(robot, kt.rollout, steps=4, **more)(q, v, tau, np.array(DT))
    np.testing.assert_array_equal(np.concatenate((motion.q, motion.v), axis=-1)[1:], found.states)
    np.testing.assert_array_equal(alone, found.states)
    np.testing.assert_array_equal(motion.recorded["contact.error"][:-1], found.contact_error)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_rollouts_and_simulations_under_commands_or_a_program_have_the_same_bits(integrator: Any) -> None:
    arm, steps_taken, rng = kt.zoo.load("cart_pole"), 5, np.random.default_rng(2)
    q, v = arm.random(rng), rng.normal(size=arm.nv)

    @kt.program(q=arm, v=arm.nv)
    def damped(q: Any, v: Any) -> Any:
        return np.array([-3.0, 0.0]) * (q + v)

    more: dict[str, Any] = {"integrator": integrator, "passive": True, "parameters": {"gravity": [0.1, 0.0, -9.0]}}
    more["f_ext"] = {[*arm.frames][-1]: np.array([0.1, 0.2, -0.3, 0.4, 0.5, -0.6])}
    motion = kt.simulate(arm, q=q, v=v, tau=damped, duration=steps_taken * DT, dt=DT, **more)
    states = np.concatenate((motion.q, motion.v), axis=-1)[1:]
    closed = kt.rollout(arm, q, v, damped, DT, steps=steps_taken, **more).states
    np.testing.assert_array_equal(closed, states)
    np.testing.assert_array_equal(kt.rollout(arm, q, v, motion.tau[:-1], DT, **more), states)
    arm = kt.zoo.load("arm6").with_servos(20.0, 10.0)
    q, v, ctrl = arm.random(rng), rng.normal(size=arm.nv), rng.normal(size=(steps_taken, arm.nv))
    motion = kt.simulate(arm, q=q, v=v, ctrl=ctrl, duration=steps_taken * DT, dt=DT, integrator=integrator)
    found = kt.sim.actuated_rollout(arm, q, v, None, np.zeros_like(ctrl), ctrl, DT, integrator=integrator, passive=True)
    np.testing.assert_array_equal(np.concatenate((motion.q, motion.v), axis=-1)[1:], found)


STIFF = kt.zoo.load("arm6")
"""Its friction is too stiff for steps of a millisecond that take none of it at their end."""
RATES = ("rk4", "symplectic_euler")
BY_RK4: dict[str, Any] = {"integrator": "rk4", "passive": True}


def stiff_start(*shape: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(4)
    return 0.5 * rng.normal(size=(*shape, STIFF.nv)), rng.normal(size=(*shape, STIFF.nv))


def with_flanges(factors: Sequence[float]) -> dict[str, Array]:
    """Motions with a flange whose mass and inertia are so many times as large."""
    names = "body.flange.mass", "body.flange.inertia"
    return {name: np.multiply.outer(factors, STIFF.parameter(name)) for name in names}


def states_of(motion: Any) -> Array:
    return np.concatenate((motion.q, motion.v), axis=-1)[..., 1:, :]


@pytest.mark.filterwarnings("ignore:.* went through its stop:kinetree.errors.SimulationWarning")
@pytest.mark.parametrize("integrator", RATES)
def test_rollouts_divide_the_steps_that_simulations_divide(integrator: Any) -> None:
    """Fast motions, whose numbers of parts change every few looks; those of a batch need different ones."""
    (q, v), tau = stiff_start(), np.zeros((200, STIFF.nv))
    q, v = np.tile(q, (3, 1)), np.tile(15.0 * v, (3, 1))
    more: dict[str, Any] = {"integrator": integrator, "passive": True}
    masses = with_flanges([0.2, 1.5, 2.0])
    motion = kt.simulate(STIFF, q=q, v=v, duration=0.2, dt=DT, integrator=integrator, parameters=masses)
    assert motion.substeps > 1
    found = kt.rollout(STIFF, q, v, tau, DT, parameters=masses, **more)
    np.testing.assert_array_equal(found, states_of(motion))
    for k in range(3):
        one = {name: x[k] for name, x in masses.items()}
        alone = kt.rollout(STIFF, q[k], v[k], tau, DT, parameters=one, **more)
        np.testing.assert_array_equal(alone, found[k])
    whole = kt.rollout(STIFF, q, v, tau, DT, parameters=masses, divide=False, **more)
    assert np.abs(whole - found).max() > 1e-4


@pytest.mark.parametrize("integrator", RATES)
def test_divided_rollouts_under_programs_commands_and_forces_have_the_bits_of_simulations(integrator: Any) -> None:
    (q, v), steps_taken, rng = stiff_start(), 60, np.random.default_rng(5)

    @kt.program(q=STIFF, t=(), last=STIFF.nv, row=())
    def held(q: Any, t: Any, last: Any, row: Any) -> Any:
        return {"tau": 0.1 * np.sin(50.0 * t) - 0.03 * q + last, "last": 0.9 * last + row, "seen": q + t}

    more: dict[str, Any] = {"integrator": integrator, "f_ext": {"tool": [0.1, 0.2, -0.3, 0.0, 0.0, 0.01]}}
    rows = {"row": 1e-3 * rng.normal(size=steps_taken)}
    for control_dt in (None, 3 * DT):
        given: dict[str, Any] = {**more, "rows": rows, "control_dt": control_dt}
        motion = kt.simulate(STIFF, q=q, v=v, tau=held, duration=steps_taken * DT, dt=DT, **given)
        assert motion.substeps > 1
        closed = kt.rollout(STIFF, q, v, held, DT, passive=True, **given)
        np.testing.assert_array_equal(closed.states, states_of(motion))
        for name in ("seen", "last"):
            np.testing.assert_array_equal(closed.recorded[name], motion.recorded[name][:-1])
        again = kt.rollout(STIFF, q, v, motion.tau[:-1], DT, passive=True, **more)
        np.testing.assert_array_equal(again, closed.states)

    @kt.program(q=STIFF, t=())
    def smooth(q: Any, t: Any) -> Any:
        return {"tau": 0.1 * np.sin(300.0 * t) - 0.03 * q, "seen": q + t}

    if integrator == "rk4":
        given = {"integrator": integrator, "control_dt": "stages"}
        motion = kt.simulate(STIFF, q=q, v=v, tau=smooth, duration=steps_taken * DT, dt=DT, **given)
        closed = kt.rollout(STIFF, q, v, smooth, DT, steps=steps_taken, passive=True, **given)
        np.testing.assert_array_equal(closed.states, states_of(motion))
        np.testing.assert_array_equal(closed.recorded["seen"], motion.recorded["seen"][:-1])
    servos = STIFF.with_servos(20.0, 10.0)
    ctrl = rng.normal(size=(steps_taken, STIFF.nv))
    motion = kt.simulate(servos, q=q, v=v, ctrl=ctrl, duration=steps_taken * DT, dt=DT, integrator=integrator)
    assert motion.substeps > 1
    found = kt.rollout(servos, q, v, None, DT, ctrl=ctrl, integrator=integrator, passive=True)
    np.testing.assert_array_equal(found, states_of(motion))


def test_rollouts_with_steps_of_several_lengths_divide_each_by_itself() -> None:
    (q, v), tau = stiff_start(4), np.zeros((30, STIFF.nv))
    dt = np.array([1e-3, 1e-4, 2e-3, 1e-3])
    found = kt.rollout(STIFF, q, v, tau, dt, **BY_RK4)
    for k in range(4):
        np.testing.assert_array_equal(kt.rollout(STIFF, q[k], v[k], tau, dt[k], **BY_RK4), found[k])


def test_reports_and_single_precision_of_divided_rollouts() -> None:
    (q, v), tau = stiff_start(2), np.zeros((40, STIFF.nv))
    expected = kt.rollout(STIFF, q, v, tau, DT, **BY_RK4)
    states, error, flagged = kt.rollout(STIFF, q, v, tau, DT, report=True, **BY_RK4)
    np.testing.assert_array_equal(states, expected)
    assert error.shape == flagged.shape == (2, 40)
    assert not flagged.any()
    into = np.zeros_like(expected)
    assert kt.rollout(STIFF, q, v, tau, DT, out=into, **BY_RK4) is into
    np.testing.assert_array_equal(into, expected)
    single = kt.rollout(STIFF, *(x.astype(np.float32) for x in (q, v, tau)), DT, **BY_RK4)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=0, atol=1e-3)


def test_motions_that_need_too_many_parts_end_in_a_rollout() -> None:
    (q, v), tau = stiff_start(2), np.zeros((40, STIFF.nv))
    dt = np.array([1e-3, 0.2])
    with pytest.raises(kt.errors.StiffFrictionError, match=r"parts of each step of 0\.2 s"):
        kt.rollout(STIFF, q, v, tau, dt, **BY_RK4)
    light = with_flanges([1.0, 1e-9])
    with pytest.warns(kt.errors.SimulationWarning, match="1 of 2 motions are not numbers from where a step of 0"):
        found = kt.rollout(STIFF, q, v, tau, DT, parameters=light, **BY_RK4)
    assert np.isnan(found[1]).all()
    alone = kt.rollout(STIFF, q[0], v[0], tau, DT, parameters={name: x[0] for name, x in light.items()}, **BY_RK4)
    np.testing.assert_array_equal(found[0], alone)


def test_what_cannot_divide_steps_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "empty"))  # or the program is found, and not traced
    (q, v), tau = stiff_start(), np.zeros((2, STIFF.nv))

    @kt.program(q=STIFF, v=STIFF.nv)
    def two_steps(q: Any, v: Any) -> Any:
        return kt.rollout(STIFF, q, v, tau, DT, **BY_RK4)

    with pytest.warns(kt.errors.SimulationWarning, match=r"inside a program.* each row . times") as warned:
        two_steps(q, v)
    assert warned[0].filename == __file__
    with pytest.warns(kt.errors.SimulationWarning, match="a derivative of rollout takes steps as they are") as warned:
        kt.jvp(STIFF, kt.rollout, (q, v, tau, DT), {"v": v}, **BY_RK4)
    assert warned[0].filename == __file__
    kt.jvp(STIFF, kt.rollout, (q, v, np.repeat(tau, 4, axis=0), DT / 4), {"v": v}, **BY_RK4)  # as the warning advises
    kt.jvp(STIFF, kt.rollout, (q, v, tau, DT), {"v": v}, divide=False, **BY_RK4)
    with pytest.raises(kt.errors.OptionError, match="divide must be True or False"):
        kt.rollout(STIFF, q, v, tau, DT, divide=1, **BY_RK4)


@pytest.mark.parametrize(("integrator", "name"), [*zip(IN_LOOPS, ["quadruped", "arm7"], strict=True)])
def test_every_form_exchanges_the_same_energy(integrator: Any, name: str) -> None:
    robot = kt.zoo.load(name)
    rng = np.random.default_rng(2)
    state = State(robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv), rng.normal(size=robot.nv))
    first, *others = (form(robot, state, integrator, unroll, passive=True, limits=True) for form, unroll in FORMS)
    for other in others:
        np.testing.assert_allclose(other, first, rtol=0, atol=1e-12 * np.abs(first).max())
    assert (first[-2:] != 0.0).all()


def sharing_arm() -> kt.Model:
    """A free body with an arm, whose last joint follows the one before it."""
    builder = kt.ModelBuilder("sharing")
    for name in ("ground", "upper", "lower", "finger"):
        builder.add_body(name, kt.solids.box(0.1, 0.2, 0.1, mass=1.0))
    builder.add_joint("shoulder", kt.joints.FloatingBase(), "ground", "upper")
    builder.add_joint("elbow", kt.Revolute([0, 1, 0]), "upper", "lower", kt.lie.placement((0.5, 0.0, 0.0)))
    mimic = kt.model.Mimic("elbow", multiplier=0.5)
    builder.add_joint(
        "knuckle", kt.Revolute([0, 1, 1]), "lower", "finger", kt.lie.placement((0.4, 0.0, 0.0)), mimic=mimic
    )
    return builder.build()


HELD: dict[str, tuple[Any, ...]] = {
    "shared coordinates": (kt.constraints.Contact("finger", [0.0, 0.0, 1.0]),),
    "a rod": (kt.constraints.Loop("ground", "finger", "distance", length=0.8),),
}
ARM = sharing_arm()


def held_state(name: str) -> tuple[State, Any]:
    """A state, and constraints that are met there."""
    rng, nv = np.random.default_rng(3), ARM.nv
    state = State(ARM.random(rng), rng.normal(size=nv), rng.normal(size=nv), rng.normal(size=nv))
    (constraint,) = HELD[name]
    if isinstance(constraint, kt.constraints.Contact):
        return state, (replace(constraint, at=kt.frame_placement(ARM, state.q, constraint.frame)[:3, 3]),)
    apart = float(kt.constraints.constraint_errors(ARM, state.q, (constraint,))[0]) + 0.8
    return state, (replace(constraint, length=apart),)


@pytest.mark.parametrize(
    ("name", "integrator"),
    [pytest.param(name, which, id=f"{name}-{which}") for name in HELD for which in INTEGRATORS],
)
def test_every_form_of_a_step_under_constraints_is_the_same(name: str, integrator: Any) -> None:
    state, constraints = held_state(name)
    settings: dict[str, Any] = {"integrator": integrator, "passive": True, "constraints": constraints}
    found = []
    for unroll in (True, False) if integrator in IN_LOOPS else (True,):
        f = compile_function(ARM, steps_of(StepKind(holds=True)), unroll=unroll, **settings)
        found.append(f(state.q, state.v, np.zeros(2), state.tau[None], np.array(DT))[0])
        evaluate = compile_function(ARM, HELD_STAGES.evaluation, unroll=unroll, **settings)
        project = compile_function(ARM, HELD_STAGES.projection, unroll=unroll, constraints=constraints)
        q, v, h, past, powers = state.q, state.v, np.array([DT]), [], []
        for k in range(INTEGRATORS[integrator].stages):
            a, power = np.split(evaluate(q, v, state.tau, h), [ARM.nv])
            past += [q, v, a]
            powers.append(power)
            q, v = np.split(compile_function(ARM, stage_state(k + 1), integrator=integrator)(h, *past), [ARM.nq])
        energies = DT * np.array(INTEGRATORS[integrator].weights) @ np.array(powers)
        found.append(np.concatenate([project(q, v), energies]))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-11 * max(1.0, np.abs(found[0]).max()))


@pytest.mark.parametrize("name", HELD)
def test_the_projection_is_the_smallest_change_that_meets_the_constraints(name: str) -> None:
    """In the metric of M both changes are those of impulses along the rows; the error left is of second order."""
    state, constraints = held_state(name)
    project = compile_function(ARM, HELD_STAGES.projection, constraints=constraints)
    left = []
    for size in (1e-3, 5e-4):
        off = ARM.integrate(state.q, size * state.qdd)
        q, v = np.split(project(off, state.v), [ARM.nq])
        J, M = kt.constraints.constraint_jacobian(ARM, off, constraints), kt.crba(ARM, off)
        np.testing.assert_allclose(v, kt.constraints.impact(ARM, off, state.v, constraints).v, atol=1e-10)
        moved = M @ ARM.difference(off, q)
        np.testing.assert_allclose(moved, J.T @ np.linalg.lstsq(J.T, moved)[0], atol=1e-9)
        left.append(np.abs(kt.constraints.constraint_errors(ARM, q, constraints)).max())
        assert left[-1] < 0.05 * np.abs(kt.constraints.constraint_errors(ARM, off, constraints)).max()
    assert left[1] == pytest.approx(left[0] / 4, rel=0.1)

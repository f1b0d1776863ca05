"""Rollouts with a program as controller: against the same motion step by step in Python."""

from __future__ import annotations

from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest

import kinetree as kt
from kinetree.functions.contact_reports import MOST_ERROR

ARM = kt.zoo.load("arm7")
RNG = np.random.default_rng(6)
DT = 2e-3
KP = 60.0


def computed_torque(t: Any, q: Any, v: Any, target: Any, gain: Any) -> Any:
    return kt.rnea(ARM, q, v, gain * (target - q + 0.1 * np.sin(3.0 * t)) - 2.0 * np.sqrt(gain) * v)


CONTROLLER = kt.program(computed_torque, t=(), q=ARM, v=7, target=7, gain=())


def integral_action(q: Any, v: Any, target: Any, integral: Any, tau: Any) -> Any:
    """A state of two kinds: an integral, and the last command."""
    error = target - q
    command = kt.gravity_forces(ARM, q) + error - 0.05 * v + 5.0 * integral
    return {"tau": 0.5 * (tau + command), "integral": integral + DT * error, "error": np.linalg.norm(error)}


WITH_STATE = kt.program(integral_action, q=ARM, v=7, target=7, integral=7, tau=7)


def start(*batch: int) -> tuple[Any, Any]:
    return 0.3 * RNG.normal(size=(*batch, 7)), 0.3 * RNG.normal(size=(*batch, 7))


def by_hand(q: Any, v: Any, steps: int, torque: Any, every: int = 1, **options: Any) -> Any:
    """States when torque(t, q, v) is called in every n-th step and its result is held."""
    states = []
    for k in range(steps):
        if k % every == 0:
            tau = torque(k * DT, q, v)
        state = kt.rollout(ARM, q, v, tau[None], DT, **options)[0]
        q, v = state[:7], state[7:]
        states.append(state)
    return np.array(states)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
@pytest.mark.parametrize("every", [1, 3])
def test_a_motion_is_that_of_the_controller_called_by_hand(integrator: Any, every: int) -> None:
    q, v = start()
    target = RNG.normal(size=7)
    motion = kt.rollout(
        ARM, q, v, CONTROLLER, DT, steps=20, arguments={"target": target, "gain": KP}, integrator=integrator,
        control_dt=None if every == 1 else every * DT,
    )  # fmt: skip
    expected = by_hand(q, v, 20, lambda t, q, v: computed_torque(t, q, v, target, KP), every, integrator=integrator)
    np.testing.assert_allclose(motion.states, expected, rtol=0, atol=1e-11)
    assert motion.recorded == {}


def test_at_every_stage_the_loop_has_the_order_of_the_integrator() -> None:
    q, v = start()
    given = {"target": RNG.normal(size=7), "gain": KP}
    ends = {}
    for steps in (20, 40, 640):
        motion = kt.rollout(
            ARM, q, v, CONTROLLER, 0.1 / steps, steps=steps, arguments=given, integrator="rk4", control_dt="stages"
        )
        ends[steps] = motion.states[-1]
    coarse, fine = (abs(ends[steps] - ends[640]).max() for steps in (20, 40))
    assert 12.0 < coarse / fine < 20.0


@pytest.mark.parametrize("every", [1, 4])
def test_a_controller_has_a_state_and_its_other_results_are_recorded(every: int) -> None:
    q, v = start()
    target = RNG.normal(size=7)
    own = {"integral": np.full(7, 0.1), "tau": np.zeros(7)}
    said: list[Any] = []

    def torque(_: float, q: Any, v: Any) -> Any:
        said.append(integral_action(q, v, target, own["integral"], own["tau"]))
        own.update(integral=said[-1]["integral"], tau=said[-1]["tau"])
        return said[-1]["tau"]

    expected = by_hand(q, v, 24, torque, every)
    motion = kt.rollout(
        ARM, q, v, WITH_STATE, DT, steps=24, arguments={"target": target}, state={"integral": np.full(7, 0.1)},
        control_dt=every * DT,
    )  # fmt: skip
    np.testing.assert_allclose(motion.states, expected, rtol=0, atol=1e-11)
    assert set(motion.recorded) == {"integral", "tau", "error"}
    for name in motion.recorded:
        rows = np.repeat([x[name] for x in said], every, axis=0)
        np.testing.assert_allclose(motion.recorded[name], rows, rtol=0, atol=1e-11)


def test_motions_of_a_batch_are_each_the_same_as_alone() -> None:
    q, v = start(9)
    targets = RNG.normal(size=(9, 30, 7))
    gains = RNG.uniform(20.0, 60.0, size=9)
    given = {"rows": {"target": targets}, "threads": 2}
    many = kt.rollout(ARM, q, v, CONTROLLER, DT, arguments={"gain": gains}, **given).states
    for k in (0, 4, 8):
        one = kt.rollout(ARM, q[k], v[k], CONTROLLER, DT, arguments={"gain": gains[k]}, rows={"target": targets[k]})
        assert np.array_equal(many[k], one.states)
    together = kt.rollout(ARM, q, v, CONTROLLER, DT, rows={"target": targets[0]}, arguments={"gain": KP}).states
    assert together.shape == (9, 30, 14)


def test_forces_parameters_and_passive_forces_act() -> None:
    q, v = start()
    frame = list(ARM.frames)[-1]
    options: dict[str, Any] = {
        "f_ext": {
            frame: [1.0, 2.0, 3.0, 0.1, 0.2, 0.3],
            kt.dynamics.ForceOn(frame, "world"): [0.0, 0.0, 5.0, 0.0, 0.0, 0.0],
        },
        "parameters": {"gravity": [0.5, 0.0, -9.0]},
        "passive": True,
    }
    given = {"target": np.zeros(7), "gain": KP}
    motion = kt.rollout(ARM, q, v, CONTROLLER, DT, steps=10, arguments=given, **options)
    expected = by_hand(q, v, 10, lambda t, q, v: computed_torque(t, q, v, np.zeros(7), KP), **options)
    np.testing.assert_allclose(motion.states, expected, rtol=0, atol=1e-11)


class Said(NamedTuple):
    tau: Any
    height: Any


def test_a_floating_base_and_a_named_tuple() -> None:
    robot = kt.zoo.load("quadruped")

    @kt.program(q=robot, v=robot.nv)
    def limp(q, v):  # type: ignore[no-untyped-def]
        motors = np.concatenate([np.zeros(6), -2.0 * v[6:]])
        return Said(motors, kt.center_of_mass(robot, q)[2])

    q, v = robot.random(RNG), RNG.normal(size=robot.nv)
    motion = kt.rollout(robot, q, v, limp, 1e-3, steps=15)
    for _ in range(15):
        tau = limp.function(q, v).tau
        state = kt.rollout(robot, q, v, tau[None], 1e-3)[0]
        q, v = state[: robot.nq], state[robot.nq :]
    np.testing.assert_allclose(motion.states[-1], state, rtol=0, atol=1e-11)
    assert motion.recorded["height"].shape == (15,)


def test_single_precision() -> None:
    q, v = (x.astype(np.float32) for x in start())
    given = {"target": np.zeros(7, np.float32), "gain": 20.0}
    motion = kt.rollout(ARM, q, v, CONTROLLER, DT, steps=10, arguments=given)
    assert motion.states.dtype == np.float32
    double = kt.rollout(ARM, q.astype(float), v, CONTROLLER, DT, steps=10, arguments=given)
    np.testing.assert_allclose(motion.states, double.states, rtol=0, atol=2e-4)


def test_no_steps() -> None:
    q, v = start(2)
    motion = kt.rollout(ARM, q, v, CONTROLLER, DT, steps=0, arguments={"target": np.zeros(7), "gain": KP})
    assert motion.states.shape == (2, 0, 14)


def roll(controller: Any = CONTROLLER, **options: Any) -> Any:
    options = {"steps": 5, "arguments": {"target": np.zeros(7), "gain": KP}, **options}
    return kt.rollout(ARM, np.zeros(7), np.zeros(7), controller, DT, **options)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"steps": None}, kt.errors.OptionError, "give steps=, the number of steps"),
        ({"steps": 2.5}, kt.errors.OptionError, "steps is a whole number, not 2.5"),
        ({"arguments": {"gain": 1.0}}, kt.errors.DTypeError, r"takes 'target': give arguments=\{'target': …\}"),
        ({"arguments": {"target": np.zeros(6), "gain": 1.0}}, kt.errors.ShapeError, r"target has shape \(6,\)"),
        ({"arguments": {"goal": 1.0}}, kt.errors.OptionError, "no argument 'goal' to be given; it has target, gain"),
        ({"rows": {"target": np.zeros((5, 7))}}, kt.errors.OptionError, "'target' is given in arguments and in rows"),
        ({"arguments": {"gain": 1.0}, "rows": {"target": np.zeros((4, 7))}}, kt.errors.ShapeError, "target 4, steps 5"),
        ({"arguments": {"gain": 1.0}, "rows": {"target": np.zeros(7)}}, kt.errors.ShapeError, "one row per step"),
        ({"rows": {"goal": np.zeros((5, 7))}}, kt.errors.NameNotFoundError, "no argument 'goal'"),
        ({"state": {"gain": 1.0}}, kt.errors.NameNotFoundError, "no state 'gain'; it has none"),
        ({"control_dt": 0.003}, kt.errors.OptionError, r"control_dt must be a multiple of dt \(0.002 s\)"),
        ({"control_dt": "often"}, kt.errors.OptionError, "must be a positive number of seconds or 'stages'"),
        ({"controller": computed_torque}, kt.errors.OptionError, "make it a program"),
        ({"controller": WITH_STATE, "control_dt": "stages", "arguments": {"target": np.zeros(7)}},
            kt.errors.OptionError,
         r"has a state \(tau, integral\), so it runs once per step"),
        ({"integrator": "rk5"}, kt.errors.OptionError, "there is no integrator 'rk5'"),
        ({"out": np.zeros((5, 14))}, kt.errors.OptionError, "out= is not possible with a controller"),
        ({"arguments": [1.0]}, kt.errors.DTypeError, "arguments must be a dict"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        roll(**options)


def test_what_is_wrong_with_a_controller_is_said() -> None:
    wrong: list[tuple[Any, type[Exception], str]] = [
        (kt.program(lambda q: q[:3], q=7), kt.errors.ShapeError, r"returns tau of shape \(3,\)"),
        (kt.program(lambda q: {"torque": q}, q=7), kt.errors.OptionError, "have them as 'tau'|has them as 'tau'"),
        (kt.program(lambda q: q[:6], q=6), kt.errors.ShapeError, r"takes q of shape \(6,\), but 'arm7' has \(7,\)"),
        (
            kt.program(lambda v, s: {"tau": v, "s": s[:1]}, v=7, s=2),
            kt.errors.ShapeError,
            "has a state 's': it takes shape",
        ),
        (kt.program(lambda q, v: {"tau": v, "q": q}, q=7, v=7), kt.errors.OptionError, "'q', reserved"),
        (kt.program(lambda q, v: (v, q), q=7, v=7), kt.errors.DTypeError, "with names"),
    ]
    for controller, error, text in wrong:
        with pytest.raises(error, match=text):
            roll(controller, arguments=None)


def test_options_of_controllers_need_one() -> None:
    for name in ("steps", "arguments", "rows", "state", "control_dt"):
        with pytest.raises(kt.errors.OptionError, match=f"{name}= is for a controller"):
            kt.rollout(ARM, np.zeros(7), np.zeros(7), np.zeros((5, 7)), DT, **{name: 5})


def test_contact_errors_are_reported_and_warned_of() -> None:
    builder = kt.ModelBuilder("slider")
    for name in ("ground", "cart"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    builder.add_joint(
        "slides",
        kt.Prismatic([1, 0, 0]),
        "ground",
        "cart",
        limits=kt.model.Limits((-1.0,), (1.0,), (np.inf,), (np.inf,)),
    )
    robot, dt = builder.build(), 0.001
    push = kt.program(lambda q: 1.0 + 0.0 * q, q=1)
    given: dict[str, Any] = {"steps": 8, "contact": True}
    found = kt.rollout(robot, [1.001], [0.5], push, dt, report=True, **given)
    known = kt.rollout(robot, [1.001], [0.5], np.ones((8, 1)), dt, contact=True, report=True)
    np.testing.assert_allclose(found.recorded["contact.error"], known.contact_error, rtol=0, atol=1e-13)
    assert found.recorded["contact.error"].max() > 0.0
    assert kt.rollout(robot, [1.001], [0.5], push, dt, **given).recorded == {}
    assert not found.recorded["flagged"].any()
    alone = kt.rollout(robot, [1.001], [0.5], push, dt, steps=8, report=True)
    assert [*alone.recorded] == ["flagged"]
    assert not alone.recorded["flagged"].any()
    start: dict[str, Any] = {"q": [1.001], "v": [0.5], "tau": push, "duration": 0.008, "contact": True}
    assert (kt.simulate(robot, **start).recorded["contact.error"] > 0.0).sum() > 1
    with patch.dict(MOST_ERROR, float64=1e-18):
        with pytest.warns(
            kt.errors.SimulationWarning, match=r"rollout: the contacts of \d of 8 steps are not solved"
        ) as warned:
            kt.rollout(robot, [1.001], [0.5], push, dt, **given)
        assert warned[0].filename == __file__
        with pytest.warns(
            kt.errors.SimulationWarning, match=r"^the contacts of \d of 9 rows are .* the worst is at t = 0.00"
        ):
            kt.simulate(robot, **start)

"""Events: numbers whose passing through zero is found within a step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt

INTEGRATORS = ("rk4", "semi_implicit_euler")
G = 9.81


def slider() -> kt.Model:
    """A mass on a vertical slider."""
    builder = kt.ModelBuilder("lift")
    for name in ("ground", "mass"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    builder.add_joint("height", kt.Prismatic([0, 0, 1]), "ground", "mass")
    return builder.build()


ROBOT = slider()
lands = kt.program(lambda q: q[0], q=1)


@pytest.mark.parametrize("event", [lands, lambda _t, q, _v: q[..., 0]], ids=["program", "function"])
def test_a_motion_ends_where_the_closed_form_does(event: Any) -> None:
    motion = kt.simulate(ROBOT, q=[1.0], duration=2.0, dt=0.01, until={"lands": event})
    fall = np.sqrt(2.0 / G)
    assert motion.time[-1] == pytest.approx(fall, abs=1e-13)
    np.testing.assert_allclose(motion.q[-1], 0.0, atol=1e-12)
    np.testing.assert_allclose(motion.v[-1], -G * fall, atol=1e-12)
    np.testing.assert_allclose(motion.time[:-1], 0.01 * np.arange(len(motion.time) - 1), atol=1e-15)
    ((name, time),) = [(one.name, one.time) for one in motion.events]
    assert (name, time) == ("lands", motion.time[-1])
    assert motion.ended == motion.time[-1]
    assert abs(motion.balance_error).max() < 1e-12
    assert motion.qdd.shape == motion.v.shape == (len(motion.time), 1)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_state_is_the_integrator_s_own_at_that_moment(integrator: Any) -> None:
    """It is a step of the length that is left."""
    robot = kt.zoo.load("double_pendulum")
    start: dict[str, Any] = {"q": [1.0, 0.5], "integrator": integrator}
    motion = kt.simulate(robot, until=lambda _t, q, _v: q[0] - 0.8, duration=2.0, dt=0.01, **start)
    assert abs(motion.q[-1, 0] - 0.8) < 1e-12
    part = motion.time[-1] - motion.time[-2]
    assert 0.0 < part < 0.01
    states = kt.rollout(robot, motion.q[-2], motion.v[-2], np.zeros((1, 2)), part, integrator=integrator, passive=True)[
        0
    ]
    np.testing.assert_allclose(np.r_[motion.q[-1], motion.v[-1]], states, atol=1e-13)


def test_directions_and_events_that_are_only_recorded() -> None:
    """A mass thrown up passes a height twice, and its apex once."""
    height = 0.5
    passes = {
        "up": kt.sim.Event(lambda _t, q, _v: q[0] - height, direction=1, terminal=False),
        "apex": kt.sim.Event(lambda _t, _q, v: v[0], direction=-1, terminal=False),
        "never": kt.sim.Event(lambda _t, _q, v: v[0], direction=1, terminal=False),
        "down": kt.sim.Event(lambda _t, q, _v: q[0] - height, direction=-1),
    }
    v = 4.0
    motion = kt.simulate(ROBOT, v=[v], duration=2.0, dt=0.02, until=passes)
    root = np.sqrt(v * v - 2.0 * G * height)
    expected = {"up": (v - root) / G, "apex": v / G, "down": (v + root) / G}
    assert [one.name for one in motion.events] == list(expected)
    for one in motion.events:
        assert one.time == pytest.approx(expected[one.name], abs=1e-12)
        np.testing.assert_allclose(one.q, v * one.time - 0.5 * G * one.time**2, atol=1e-12)
    plain = kt.simulate(ROBOT, v=[v], duration=2.0, dt=0.02)
    np.testing.assert_array_equal(motion.q[:-1], plain.q[: len(motion.q) - 1])


def test_a_number_that_begins_at_zero_is_no_event() -> None:
    motion = kt.simulate(ROBOT, v=[1.0], duration=1.0, dt=0.01, until=lands)
    assert motion.time[-1] == pytest.approx(2.0 / G, abs=1e-12)


def test_motions_of_a_batch_end_one_by_one() -> None:
    q = np.array([[[1.0], [0.5]], [[2.0], [30.0]]])
    events = {"lands": lands, "half": kt.sim.Event(lambda _t, q, _v: q[..., 0] - 0.25, terminal=False)}
    motions = kt.simulate(ROBOT, q=q, duration=1.0, dt=0.01, until=events)
    falls = np.sqrt(2.0 * q[..., 0] / G)
    np.testing.assert_allclose(motions.ended, np.minimum(falls, 1.0), atol=1e-12)
    assert len(motions.time) == 101
    for sample in np.ndindex(2, 2):
        alone = kt.simulate(ROBOT, q=q[sample], duration=1.0, dt=0.01, until=events)
        own, rows = motions[sample], len(alone.time)
        np.testing.assert_array_equal(own.q[:rows], alone.q)
        np.testing.assert_array_equal(own.v[:rows], alone.v)
        np.testing.assert_array_equal(own.work[:rows], alone.work)
        np.testing.assert_array_equal(own.q[rows:], np.broadcast_to(alone.q[-1], own.q[rows:].shape))
        assert [(one.name, one.time, one.sample) for one in own.events] == [
            (one.name, one.time, ()) for one in alone.events
        ]
        assert own.ended == alone.ended


def test_the_torque_acts_until_the_event() -> None:
    q = np.array([[1.0], [2.0], [30.0]])
    motions = kt.simulate(ROBOT, q=q, tau=[1.0], duration=1.0, dt=0.01, until=lands)
    for k in range(3):
        steps = int(np.ceil(motions.ended[k] / 0.01 - 1e-9))
        assert motions.tau[k, :steps, 0].tolist() == [1.0] * steps
        assert not motions.tau[k, steps:-1].any() or steps == 100


def test_a_batch_ends_with_the_last_of_its_motions() -> None:
    motions = kt.simulate(ROBOT, q=[[1.0], [0.5]], duration=5.0, dt=0.01, until=lands)
    assert len(motions.time) == 47  # the step in which the first one lands is the last
    np.testing.assert_array_equal(motions.q[:, -1] < 1e-12, True)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_events_under_a_controller_in_steps_that_are_divided(shape: tuple[int, ...]) -> None:
    """The same event, whatever computes the steps."""
    builder = kt.ModelBuilder("braked")
    for name in ("ground", "wheel"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    builder.add_joint("axle", kt.Revolute([0, 0, 1]), "ground", "wheel", damping=[1.0])
    robot = builder.build()
    q = np.broadcast_to([0.0], (*shape, 1))
    turns = kt.program(lambda q: q[0] - 0.01, q=1)
    pulls = kt.program(lambda t, v: 0.2 + t - 0.1 * v, t=(), v=1)
    run: dict[str, Any] = {"q": q, "dt": 0.01, "duration": 0.2, "until": turns}
    one = kt.simulate(robot, tau=pulls, **run)
    other = kt.simulate(robot, tau=lambda t, _q, v: 0.2 + t - 0.1 * v, **run)
    assert one.substeps > 1
    np.testing.assert_allclose(one.ended, other.ended, rtol=0, atol=1e-12)
    assert np.all((one.ended > 0.0) & (one.ended < 0.2))
    np.testing.assert_allclose(one.q[..., -1, 0], 0.01, atol=1e-13)
    if not shape:
        staged = kt.simulate(robot, tau=lambda t, _q, v: 0.2 + t - 0.1 * v, control_dt="stages", **run)
        assert staged.ended == pytest.approx(float(one.ended), abs=1e-3)


def test_events_are_saved(tmp_path: Path) -> None:
    motion = kt.simulate(ROBOT, q=[1.0], duration=2.0, until={"lands": lands})
    back = kt.Trajectory.load(motion.save(tmp_path / "fall"))
    assert [(e.name, e.time, e.sample, e.q.tolist(), e.v.tolist()) for e in back.events] == [
        (e.name, e.time, e.sample, e.q.tolist(), e.v.tolist()) for e in motion.events
    ]
    with pytest.raises(kt.errors.OptionError, match="an event ended it within a step"):
        motion.snapshot()


@pytest.mark.parametrize(
    ("until", "error", "text"),
    [
        (3.0, kt.errors.OptionError, "event 'until' must be a function of"),
        ({"a": 3.0}, kt.errors.OptionError, "event 'a' must be a function of"),
        ({3: lands}, kt.errors.OptionError, "names that are strings, not 3"),
        (kt.program(lambda goal: goal, goal=()), kt.errors.NameNotFoundError, "takes 'goal'; a program as event has"),
        (kt.program(lambda q: q[0], q=4), kt.errors.ShapeError, r"takes q of shape \(4,\), but 'lift' has \(1,\)"),
        (kt.program(lambda q: q, q=1), kt.errors.DTypeError, r"must return one number, of shape \(\)"),
        (lambda _t, q, _v: q, kt.errors.ShapeError, r"returned the shape \(1,\), but \(\) is needed"),
        (
            lambda _t, _q, _v: np.nan,
            kt.errors.SimulationError,
            "'until' is nan at t = 0 s, although the state is finite",
        ),
        (lambda _t, _q, _v: "a", kt.errors.DTypeError, "must be an array of real numbers"),
    ],
)
def test_what_is_no_event_is_refused(until: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        kt.simulate(ROBOT, q=[1.0], duration=0.1, until=until)


@pytest.mark.parametrize(
    ("options", "text"),
    [({"direction": 2}, "1, -1 or 0"), ({"direction": True}, "1, -1 or 0"), ({"terminal": 1}, "terminal must be True")],
)
def test_events_with_impossible_options_are_refused(options: Any, text: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=text):
        kt.sim.Event(lands, **options)
    with pytest.raises(kt.errors.OptionError, match="an event is a function"):
        kt.sim.Event(3.0)  # type: ignore[arg-type]

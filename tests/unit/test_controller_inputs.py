"""What controllers are given and return, in rollouts and in simulations: names, kinds of numbers, defaults, times."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import kinetree as kt

ROBOT = kt.zoo.load("double_pendulum")
AT_REST = np.zeros(2)
DT = 1e-3


def recorded(controller: Any, steps: int = 3, **options: Any) -> list[dict[str, Any]]:
    """What a controller records in a rollout and in a simulation, of the same steps."""
    rollout = kt.rollout(
        ROBOT, AT_REST, AT_REST, controller, DT, **options, **({} if "rows" in options else {"steps": steps})
    )
    simulation = kt.simulate(ROBOT, tau=controller, duration=steps * DT, dt=DT, **options)
    return [dict(rollout.recorded), {name: x[:steps] for name, x in simulation.recorded.items()}]


def test_no_name_of_an_argument_is_taken() -> None:
    names = ("dt", "time", "fresh", "exchanged", "held", "steps", "number")
    given = kt.program(
        lambda v, dt, time, fresh, exchanged, held, steps, number: {
            "tau": -v, "said": np.stack([dt, time, fresh, exchanged, held, steps, number]),
        },
        v=2, **dict.fromkeys(names, ()),
    )  # fmt: skip
    values = {name: float(k) for k, name in enumerate(names)}
    rows = {name: np.full(3, x) for name, x in values.items()}
    for said in recorded(given, arguments=values) + recorded(given, rows=rows, control_dt=3 * DT):
        assert said["said"].tolist() == [[*values.values()]] * 3
    kept = kt.program(
        lambda v, dt, time, fresh, exchanged: {
            "tau": -v, "dt": 2 * dt, "time": 2 * time, "fresh": 2 * fresh, "exchanged": 2 * exchanged,
        },
        v=2, **dict.fromkeys(names[:4], ()),
    )  # fmt: skip
    for said in recorded(kept, state=dict.fromkeys(names[:4], 5.0)):
        assert all(said[name].tolist() == [10.0, 20.0, 40.0] for name in names[:4])
    output = kt.program(lambda v: {"tau": -v, **dict.fromkeys(names, v[0] + 2.0)}, v=2)
    for said in recorded(output):
        assert all(said[name][0] == 2.0 for name in names)


def test_a_state_begins_with_its_default() -> None:
    @kt.program(v=2, level=(), count=int)
    def fills(v, level=0.5, count=7):  # type: ignore[no-untyped-def]
        return {"tau": -v, "level": level + 1.0, "count": count + 1}

    for said in recorded(fills):
        assert said["level"].tolist() == [1.5, 2.5, 3.5]
        assert said["count"].tolist() == [8, 9, 10]
    for said in recorded(fills, state={"level": 2.0}):
        assert said["level"].tolist() == [3.0, 4.0, 5.0]


def test_truth_values_and_whole_numbers_stay_what_they_are() -> None:
    @kt.program(q=ROBOT, v=2, on=bool, count=int, mask=kt.programs.Argument(2, bool))
    def latch(q, v, on, count, mask):  # type: ignore[no-untyped-def]
        return {
            "tau": np.where(on, -v, v) * mask, "on": ~on, "count": 2 * count, "mask": ~mask, "high": q > 5.0, "one": 1,
        }  # fmt: skip

    state = {"on": True, "count": 3, "mask": [True, False]}
    for said in recorded(latch, state=state):
        assert said["on"].tolist() == [False, True, False]
        assert said["count"].tolist() == [6, 12, 24]
        assert said["mask"].tolist() == [[False, True], [True, False], [False, True]]
        assert said["high"].dtype == bool
        assert said["one"].dtype == np.int64
    for start, text in (({"on": 2}, "on holds booleans, and 2 is none"), ({"count": 0.5}, "count holds whole numbers")):
        with pytest.raises(kt.errors.DTypeError, match=text):
            recorded(latch, state={**state, **start})


def test_a_state_returns_the_kind_of_number_it_takes() -> None:
    half = kt.program(lambda v, n: {"tau": v, "n": n / 2}, v=2, n=int)
    with pytest.raises(kt.errors.DTypeError, match=r"state 'n': it takes whole numbers and returns .* n.astype\(int\)"):
        recorded(half)
    one = kt.program(lambda v, x: {"tau": v, "x": x > 1.0}, v=2, x=())
    assert recorded(one)[0]["x"].dtype == bool


@pytest.mark.parametrize(
    ("dtype", "dt", "control_dt"),
    [(np.float32, 1e-3, 0.003), (np.float32, np.float32(1e-3), 0.003), (np.float64, 1e-3, np.float32(0.003)),
     (np.float64, 0.1 / 3, 0.1)],
)  # fmt: skip
def test_times_between_calls_may_be_rounded(dtype: Any, dt: Any, control_dt: Any) -> None:
    clock = kt.program(lambda t, v: {"tau": -v, "time": t + 0.0}, t=(), v=2)
    state = np.zeros(2, dtype)
    motion = kt.rollout(ROBOT, state, state, clock, dt, steps=7, control_dt=control_dt)
    assert motion.states.dtype == dtype
    np.testing.assert_allclose(motion.recorded["time"], dt * np.array([0, 0, 0, 3, 3, 3, 6]), rtol=1e-6)


def test_arrays_without_numbers_change_nothing() -> None:
    def timed(t, v, none, given, few):  # type: ignore[no-untyped-def]
        return {"tau": np.sum(given) + np.sum(few) - v, "none": none, "nothing": v[:0], "time": t + 1.0}

    controller = kt.program(timed, t=(), v=2, none=(2, 0), given=0, few=(0, 3))
    options = {"arguments": {"given": np.zeros((3, 0))}, "rows": {"few": np.zeros((5, 0, 3))}}
    for control_dt in (None, 5 * DT):
        clock = np.tile(1.0 + DT * np.arange(5) * (control_dt is None), (3, 1))
        motion = kt.rollout(ROBOT, AT_REST, AT_REST, controller, DT, control_dt=control_dt, **options)
        np.testing.assert_allclose(motion.recorded["time"], clock, rtol=1e-15)
        assert motion.recorded["none"].shape == (3, 5, 2, 0)
        simulated = kt.simulate(ROBOT, tau=controller, duration=5 * DT, dt=DT, control_dt=control_dt, **options)
        np.testing.assert_allclose(simulated.recorded["time"][:, :5], clock, rtol=1e-15)
        assert simulated.recorded["nothing"].shape == (3, 6, 0)
    batch = kt.rollout(
        ROBOT, AT_REST, AT_REST, controller, DT, rows=options["rows"], arguments={"given": []},
        state={"none": np.zeros((4, 2, 0))},
    )  # fmt: skip
    assert batch.states.shape == (4, 5, 4)


def test_a_robot_without_degrees_of_freedom() -> None:
    builder = kt.ModelBuilder("post")
    builder.add_body("post")
    post = builder.build()
    clock = kt.program(lambda t, q, n: {"tau": q, "time": t + 1.0, "n": n + 1}, t=(), q=post, n=int)
    wanted = 1.0 + DT * np.arange(3)
    motion = kt.rollout(post, [], [], clock, DT, steps=3)
    assert motion.states.shape == (3, 0)
    np.testing.assert_allclose(motion.recorded["time"], wanted, rtol=1e-15)
    assert motion.recorded["n"].tolist() == [1, 2, 3]
    np.testing.assert_allclose(kt.simulate(post, tau=clock, duration=3 * DT).recorded["time"][:3], wanted, rtol=1e-15)


def test_no_rows() -> None:
    controller = kt.program(lambda v, goal: {"tau": -v, "said": goal}, v=2, goal=2)
    motion = kt.rollout(ROBOT, AT_REST, AT_REST, controller, DT, rows={"goal": np.zeros((3, 0, 2))})
    assert motion.states.shape == (3, 0, 4)
    assert motion.recorded["said"].shape == (3, 0, 2)


GAIN = kt.program(lambda v, gain, level: {"tau": -gain * v, "level": level + v}, v=2, gain=(), level=2)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"arguments": {"gain": np.ones(3)}, "state": {"level": np.ones((4, 2))}}, kt.errors.ShapeError,
         r"leading axes of the arguments do not broadcast: level \(4,\), gain \(3,\)"),
        ({"arguments": {"gain": "high"}}, kt.errors.DTypeError,
            r"gain must be an array of real numbers of shape \(…\)"),
        ({"rows": {"gain": [[1.0, 2.0, 3.0], [1.0]]}}, kt.errors.DTypeError, "gain must be an array of real numbers"),
        ({"arguments": {"gain": 1.0, "v": AT_REST}}, kt.errors.OptionError, "it has gain; v is the motion's own"),
        ({"arguments": {"gain": 1.0, "level": AT_REST}}, kt.errors.OptionError,
            "'level': return that under another name"),
        ({"arguments": {"gain": 1.0}, "rows": {"level": np.zeros((3, 2))}}, kt.errors.NameNotFoundError,
            "given in state="),
        ({"arguments": {"gain": 1.0}, "state": {"level": 1.0}}, kt.errors.ShapeError,
         r"the initial level of the controller 'lambda' has shape \(\), but \(…, 2\) is needed"),
        ({"arguments": {"gain": 1.0}, "f_ext": [1.0]}, kt.errors.DTypeError, "f_ext must be a dict"),
        ({"arguments": {"gain": 1.0}, "f_ext": {"tip": np.zeros(5)}}, kt.errors.ShapeError,
            r"f_ext\['tip'\] has shape"),
        ({"arguments": {"gain": 1.0}, "parameters": [1.0]}, kt.errors.DTypeError, "parameters must be a dict"),
        ({"arguments": {}}, kt.errors.DTypeError, "or return its next value as 'gain', which makes it a state"),
        ({"arguments": {"gain": 1.0}, "dt": 0.0, "control_dt": 0.1}, kt.errors.OptionError,
            "dt, which must be a positive"),
        ({"arguments": {"gain": 1.0}, "dt": np.nan, "control_dt": 0.1}, kt.errors.OptionError,
            "dt, which must be a positive"),
        ({"arguments": {"gain": 1.0}, "control_dt": 1e300}, kt.errors.OptionError, "must be a multiple of dt"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(options: dict[str, Any], error: type[Exception], text: str) -> None:
    options = {"dt": DT, **({} if "rows" in options else {"steps": 3}), **options}
    dt = options.pop("dt")
    with pytest.raises(error, match=text):
        kt.rollout(ROBOT, AT_REST, AT_REST, GAIN, dt, **options)


def test_what_is_wrong_in_a_simulation_is_said() -> None:
    both = {"arguments": {"gain": 1.0}, "rows": {"gain": np.ones(3)}}
    with pytest.raises(kt.errors.OptionError, match="'gain' is given in arguments and in rows"):
        kt.simulate(ROBOT, tau=GAIN, duration=3 * DT, **both)
    with pytest.raises(kt.errors.OptionError, match="v is the motion's own"):
        kt.simulate(ROBOT, tau=GAIN, duration=3 * DT, arguments={"gain": 1.0, "v": AT_REST})


def test_a_controller_that_changes_its_mind_is_refused() -> None:
    calls: list[int] = []

    def moody(v):  # type: ignore[no-untyped-def]
        calls.append(1)
        return {"tau": v, "more": v} if len(calls) == 1 else {"tau": v}

    with pytest.raises(kt.errors.ProgramError, match="must return the same in every run"):
        recorded(kt.program(moody, v=2))


def test_motions_under_controllers_are_not_parts_of_programs() -> None:
    rolls = kt.program(
        lambda q: kt.rollout(ROBOT, q, AT_REST, GAIN, DT, steps=3, arguments={"gain": 1.0}).states, q=ROBOT
    )
    with pytest.raises(
        kt.errors.ProgramError, match="a controller is not possible inside a program; take the steps there"
    ):
        rolls(AT_REST)
    simulates = kt.program(lambda gain: kt.simulate(ROBOT, tau=GAIN, arguments={"gain": gain}).q, gain=())
    with pytest.raises(kt.errors.ProgramError, match="how a motion goes on is not known while a program is traced"):
        simulates(1.0)


def test_steps_taken_by_scan_are_parts_of_programs_and_have_derivatives() -> None:
    """What the errors advise."""
    brake = kt.program(lambda v, gain: -gain * v, v=2, gain=())

    @kt.program(q=ROBOT, v=2, gain=())
    def motion(q, v, gain):  # type: ignore[no-untyped-def]
        def step(state, _):  # type: ignore[no-untyped-def]
            after = kt.rollout(ROBOT, *state, brake(state[1], gain)[None], DT)[0]
            return (after[:2], after[2:]), after

        return kt.programs.scan(step, (q, v), np.zeros(20))[1]

    q, v = np.array([0.3, 0.2]), np.array([1.0, -1.0])
    states = kt.rollout(ROBOT, q, v, brake, DT, steps=20, arguments={"gain": [2.0, 2.0 + 1e-6]}).states
    np.testing.assert_allclose(motion(q, v, 2.0), states[0], rtol=0, atol=1e-14)
    by_gain = kt.jacobian(motion, (q, v, 2.0), wrt="gain")
    np.testing.assert_allclose(by_gain, (states[1] - states[0]) / 1e-6, atol=1e-5)
    with pytest.raises(
        kt.errors.OptionError, match="motions under given forces, not under a controller: make a program"
    ):
        kt.vjp(ROBOT, kt.rollout, (q, v, brake, DT), np.ones((20, 4)))  # type: ignore[arg-type]


def test_configurations_that_are_none_are_refused_wherever_they_are_given() -> None:
    robot = kt.zoo.load("quadruped")

    @kt.program(q=robot, goal=robot)
    def follow(q, goal):  # type: ignore[no-untyped-def]
        return robot.actuated * kt.difference(robot, q, goal)

    q, v, goal = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nq)
    for given in ({"arguments": {"goal": goal}, "steps": 3}, {"rows": {"goal": np.zeros((3, robot.nq))}}):
        with pytest.raises(kt.errors.ConfigurationError, match=r"goal.*: the quaternion of joint 'root_joint'"):
            kt.rollout(robot, q, v, follow, DT, **given)  # type: ignore[call-overload]
    with pytest.raises(kt.errors.ConfigurationError, match=r"goal.*: the quaternion of joint 'root_joint'"):
        kt.simulate(robot, tau=follow, rows={"goal": np.zeros((3, robot.nq))}, duration=3 * DT)


def test_numbers_beyond_all_whole_ones_warn_nobody() -> None:
    grows = kt.program(lambda v, n: {"tau": -v, "n": n * 2**40, "m": np.log(-1.0 - v[0] ** 2).astype(int)}, v=2, n=int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(recorded(grows, state={"n": 1})) == 2


def test_an_argument_may_be_called_self() -> None:
    def scaled(v, self):  # type: ignore[no-untyped-def]
        return -self * v

    controller = kt.program(scaled, v=2, self=())
    assert controller([1.0, 2.0], self=2.0).tolist() == [-2.0, -4.0]
    recorded(controller, arguments={"self": 1.0})


def pendulum() -> kt.Model:
    builder = kt.ModelBuilder("pendulum")
    builder.add_body("stand")
    builder.add_body("rod", kt.solids.box(0.1, 0.1, 0.5, mass=1.0))
    builder.add_joint("axle", kt.Revolute([0, 1, 0]), "stand", "rod")
    return builder.build()


@pytest.mark.parametrize("simulated", [False, True])
def test_kernels_go_with_the_robot_and_with_the_controller(simulated: bool) -> None:
    def moved() -> tuple[kt.Model, kt.programs.Program]:
        robot, controller = pendulum(), kt.program(lambda v: -v, v=1)
        if simulated:
            kt.simulate(robot, tau=controller, duration=DT)
        else:
            kt.rollout(robot, [0.0], [0.0], controller, DT, steps=1)
        return robot, controller

    _robot, controller = moved()
    gone = weakref.ref(controller)
    del controller
    gc.collect()
    assert gone() is None
    robot, _controller = moved()
    left = weakref.ref(robot)
    del robot
    gc.collect()
    assert left() is None


def test_a_motor_that_is_not_there_is_named_with_the_time() -> None:
    robot = ROBOT.with_actuation({"elbow": False})
    late = kt.program(lambda t, start: np.where((t > start) & (np.arange(2) == 1), 1.0, 0.0), t=(), start=())
    with pytest.raises(
        kt.errors.ActuationError, match=r"'lambda' returned 1 at t = 0.021 s of sample \(1,\), as entry 1, but 'elbow'"
    ):
        kt.simulate(robot, tau=late, arguments={"start": [1.0, 0.0205]}, duration=0.03)


def test_torques_at_the_end_are_checked_where_they_are_computed() -> None:
    ends = kt.program(lambda t, v: np.where(t > 0.00295, np.log(-1.0 - v**2), 0.0 * v), t=(), v=2)
    with pytest.raises(kt.errors.SimulationError, match=r"returned nan at t = 0.003 s"):
        kt.simulate(ROBOT, tau=ends, duration=3 * DT, control_dt="stages", integrator="semi_implicit_euler")

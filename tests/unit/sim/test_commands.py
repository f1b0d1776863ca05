"""Motions under commands of actuators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.actuated import LEG

Q, V, CTRL = np.array([0.3, 0.2]), np.array([0.5, -0.4]), np.array([0.7, -0.3, 0.4])
START: dict[str, Any] = {"q": Q, "v": V, "dt": 0.002, "duration": 0.04, "integrator": "semi_implicit_euler"}
STEPS = 20
FIELDS = ("q", "v", "qdd", "tau", "kinetic", "potential", "work", "dissipated")


@pytest.fixture(scope="module")
def leg(tmp_path_factory: pytest.TempPathFactory) -> kt.Model:
    path = tmp_path_factory.mktemp("robots") / "leg.xml"
    Path(path).write_text(LEG)
    return kt.load(path)


def states(motion: kt.Trajectory) -> Any:
    return np.concatenate([motion.q, motion.v, motion.recorded["act"]], axis=-1)[..., 1:, :]


def same(a: kt.Trajectory, b: kt.Trajectory) -> None:
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    for name in ("ctrl", "act"):
        np.testing.assert_array_equal(a.recorded[name], b.recorded[name], err_msg=name)


@pytest.mark.parametrize(
    ("integrator", "contact"),
    [("semi_implicit_euler", True), ("rk4", False), ("implicitfast", False), ("discrete", False)],
)
def test_steps_are_those_of_a_rollout(leg: kt.Model, integrator: Any, contact: bool) -> None:
    """Up to rounding: each is compiled by itself."""
    rng = np.random.default_rng(1)
    ctrl, tau, act = rng.normal(size=(STEPS, 3)), rng.normal(size=(STEPS, 2)), np.array([0.2, -0.1])
    more: dict[str, Any] = {"ctrl": ctrl, "act": act, "integrator": integrator, "contact": contact}
    motion = kt.simulate(leg, tau=tau, **{**START, **more})
    rolled = kt.rollout(leg, Q, V, tau, 0.002, passive=True, **more)
    np.testing.assert_allclose(states(motion), rolled, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(motion.recorded["ctrl"], [*ctrl, ctrl[-1]])
    np.testing.assert_array_equal(motion.recorded["act"][0], act)
    assert abs(rolled[-1, 4:] - act).max() > 1e-2
    if contact:
        report = kt.rollout(leg, Q, V, tau, 0.002, passive=True, report=True, **more)
        np.testing.assert_array_equal(report.states, rolled)
        np.testing.assert_allclose(motion.recorded["contact.error"][:-1], report.contact_error, rtol=0, atol=1e-13)
        assert report.contact_error.max() > 0.0
    if integrator == "rk4":
        assert abs(motion.balance_error).max() < 1e-6 * motion.kinetic.max()


@kt.program(t=(), q=2, v=2, act=2, gain=(), count=())
def tracking(t, q, v, act, gain, count):  # type: ignore[no-untyped-def]
    ctrl = gain * np.stack([np.sin(t) - q[0], act[1] - v[1], q[1]])
    return {"ctrl": ctrl, "count": count + 1.0, "total": act.sum()}


def plainly(t: float, q: Any, v: Any, act: Any) -> Any:
    return 2.0 * np.stack([np.sin(t) - q[..., 0], act[..., 1] - v[..., 1], q[..., 1]], axis=-1)


@pytest.mark.parametrize("control_dt", [None, 0.006])
def test_programs_and_functions_give_commands(leg: kt.Model, control_dt: Any) -> None:
    tau = np.array([0.1, -0.2])
    start = {**START, "tau": tau, "control_dt": control_dt, "contact": True}
    motion = kt.simulate(leg, ctrl=tracking, arguments={"gain": 2.0}, **start)
    called = kt.simulate(leg, ctrl=plainly, **start)
    for name in FIELDS:
        np.testing.assert_allclose(getattr(motion, name), getattr(called, name), rtol=0, atol=1e-11, err_msg=name)
    held = kt.simulate(leg, ctrl=called.recorded["ctrl"][:-1], **{**start, "control_dt": None})
    for name in FIELDS[:2]:
        np.testing.assert_allclose(getattr(held, name), getattr(called, name), rtol=0, atol=1e-12)
    assert motion.recorded["count"][-1] == (STEPS if control_dt is None else 7)
    np.testing.assert_allclose(motion.recorded["total"][3], motion.recorded["act"][3].sum())
    changes = np.diff(called.recorded["ctrl"][:, 0]) != 0.0
    assert changes.sum() == (STEPS - 1 if control_dt is None else 6)


def test_torques_may_come_from_a_function_together_with_commands(leg: kt.Model) -> None:
    motion = kt.simulate(leg, tau=lambda _t, q, _v: [0.1, 0.0] - q, ctrl=np.tile(CTRL, (STEPS, 1)), **START)
    same(kt.simulate(leg, tau=motion.tau[:-1], ctrl=lambda _t, _q, _v: CTRL, **START), motion)


def test_a_motion_goes_on_to_the_same_bits(leg: kt.Model, tmp_path: Path) -> None:
    half, whole = {**START, "duration": 0.02}, kt.simulate(leg, ctrl=CTRL, **START)
    first = kt.simulate(leg, ctrl=CTRL, **half)
    snapshot = kt.sim.Snapshot.load(first.snapshot().save(tmp_path / "moment"))
    assert snapshot.act.tolist() == first.recorded["act"][-1].tolist()
    options = {name: half[name] for name in ("dt", "duration", "integrator")}
    rest = kt.simulate(leg, ctrl=CTRL, resume=snapshot, **options)
    np.testing.assert_array_equal(states(rest), states(whole)[10:])
    np.testing.assert_array_equal(rest.work, whole.work[10:])
    with pytest.raises(kt.errors.OptionError, match="with commands = given, and here commands = none"):
        kt.simulate(leg, resume=snapshot, **options)
    with pytest.raises(kt.errors.OptionError, match="act= and resume= exclude each other"):
        kt.simulate(leg, ctrl=CTRL, act=[0.0, 0.0], resume=snapshot, **options)
    back = kt.Trajectory.load(whole.save(tmp_path / "run"))
    same(back, whole)
    streamed = kt.simulate(leg, ctrl=CTRL, record=kt.sim.Recording(stream=tmp_path / "folder", every=3), **START).read()
    np.testing.assert_array_equal(streamed.recorded["act"], whole.recorded["act"][[*range(0, 20, 3), 20]])
    with pytest.raises(kt.errors.OptionError, match="holds another motion: ctrl is"):
        kt.simulate(leg, ctrl=0.5 * CTRL, record=kt.sim.Recording(stream=tmp_path / "folder", every=3), **START)


@pytest.mark.parametrize("is_function", [False, True])
def test_a_motion_whose_command_is_no_number_ends_alone(leg: kt.Model, is_function: bool) -> None:
    ctrl = np.random.default_rng(0).normal(size=(3, STEPS, 3))
    start = {**START, "q": np.tile(Q, (3, 1)), "contact": True}
    sound = kt.simulate(leg, ctrl=ctrl, **start)
    ctrl[1, 7, 1] = np.nan
    given: Any = (lambda t, _q, _v: ctrl[:, round(t / 0.002)]) if is_function else ctrl
    with pytest.warns(
        kt.errors.SimulationWarning, match=r"\(1,\): 'actuator\[1\]' was given a command that is not finite"
    ):
        motions = kt.simulate(leg, ctrl=given, **start)
    ((sample, lost),) = motions.diverged.items()
    assert (sample, lost.name, lost.cause, round(lost.time / 0.002)) == ((1,), "actuator[1]", "command", 8)
    for k in (0, 2):
        same(motions[k], sound[k])
    np.testing.assert_array_equal(motions.q[1, 8:], np.tile(motions.q[1, 7], (13, 1)))
    assert np.isfinite(motions.recorded["act"]).all()
    for x in (motions.recorded["ctrl"], motions.recorded["contact.error"], motions.qdd):
        assert not x[1, 8:].any()


def test_an_activation_that_is_no_number_ends_a_motion_before_its_state_does(leg: kt.Model) -> None:
    ctrl = np.zeros((2, STEPS, 3))
    ctrl[0, 3, 0] = np.nan  # of the filter, whose force follows from its activation
    with pytest.warns(kt.errors.SimulationWarning, match="'hip' was given a command"):
        motions = kt.simulate(leg, ctrl=ctrl, **START)
    assert motions.ended[0] == pytest.approx(0.008)
    assert np.isfinite(motions.recorded["act"]).all()


def test_ended_by_an_event(leg: kt.Model) -> None:
    motion = kt.simulate(leg, ctrl=CTRL, contact=True, until=lambda t, _q, _v: t - 0.0191, **START)
    whole = kt.simulate(leg, ctrl=CTRL, contact=True, **START)
    assert motion.time[-1] == pytest.approx(0.0191)
    assert motion.recorded["ctrl"][-1].tolist() == CTRL.tolist()
    low, high = whole.recorded["act"][9:11, 1]
    assert low < motion.recorded["act"][-1, 1] < high
    np.testing.assert_allclose(motion.qdd[-1], whole.qdd[10], atol=0.2 * abs(whole.qdd).max())


def test_constraints_and_limits_go_with_commands(leg: kt.Model) -> None:
    tip = [kt.constraints.Contact("shin", [0.0, 0.0, 1.0])]
    start = {**START, "v": np.zeros(2), "integrator": "rk4"}
    motion = kt.simulate(leg, ctrl=CTRL, constraints=tip, limits=True, record=["accelerations"], **start)
    assert kt.frame_placement(leg, motion.q, "shin")[:, 2, 3].std() < 1e-12
    assert abs(motion.qdd).max() > 1.0
    difference = (motion.v[2:] - motion.v[:-2]) / 0.004
    np.testing.assert_allclose(difference, motion.qdd[1:-1], atol=2e-3 * abs(motion.qdd).max())


def test_of_contacts_accelerations_are_those_of_the_steps(leg: kt.Model) -> None:
    found = kt.simulate(
        leg, q=[0.3, 0.8], tau=[1.0, 2.0], contact=True, dt=0.002, duration=0.04, record=kt.sim.Recording(every=5)
    )
    expected = kt.contact_dynamics(leg, found.q, found.v, found.tau)
    np.testing.assert_allclose(found.qdd, expected.qdd, rtol=0, atol=1e-9 * abs(expected.qdd).max())
    whole = kt.simulate(leg, q=[0.3, 0.8], contact=True, dt=0.002, duration=0.04, integrator="discrete")
    np.testing.assert_allclose(np.diff(whole.v, axis=0) / 0.002, whole.qdd[:-1], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (
            {"ctrl": [0.1, 0.2]},
            kt.errors.ShapeError,
            r"ctrl has shape \(2,\), but 'leg' with 20 steps needs \(3,\).* 'hip'",
        ),
        ({"ctrl": np.zeros((5, 3))}, kt.errors.ShapeError, r"\(20, 3\) for one row per step"),
        (
            {"ctrl": [0.1, np.nan, 0.2]},
            kt.errors.ConfigurationError,
            r"ctrl\[1\] \(actuator\[1\]\) is nan: it must be finite",
        ),
        (
            {"ctrl": np.full((20, 3), np.inf)},
            kt.errors.ConfigurationError,
            r"ctrl\[0, 0\] \(hip\) is inf: it must be finite",
        ),
        (
            {"ctrl": CTRL, "act": [0.1]},
            kt.errors.ShapeError,
            r"act has shape \(1,\), but 'leg' needs \(2,\).*'hip', 'pull'",
        ),
        ({"ctrl": CTRL, "act": [0.1, np.nan]}, kt.errors.ConfigurationError, "act must be finite .* not for 'pull'"),
        ({"act": [0.1, 0.2]}, kt.errors.OptionError, "act, the activations of actuators, is for ctrl"),
        (
            {"ctrl": plainly, "control_dt": "stages"},
            kt.errors.OptionError,
            "commands of actuators .* are held over a step",
        ),
        ({"ctrl": CTRL, "control_dt": 0.01}, kt.errors.OptionError, "it needs a controller"),
        ({"ctrl": tracking, "tau": lambda _t, q, _v: q}, kt.errors.OptionError, "give tau as an array"),
        (
            {"ctrl": CTRL, "tau": kt.program(lambda q: q, q=2)},
            kt.errors.OptionError,
            "program that computes commands as ctrl=",
        ),
        (
            {"ctrl": kt.program(lambda q: q, q=2)},
            kt.errors.ShapeError,
            r"returns ctrl of shape \(2,\), but 'leg' needs \(3,\)",
        ),
        ({"ctrl": lambda _t, q, _v: q}, kt.errors.ShapeError, r"ctrl\(t, q, v\) returned the shape \(2,\)"),
        (
            {"ctrl": lambda _t, q, _v: q[0] * CTRL * np.nan},
            kt.errors.SimulationError,
            r"nan at t = 0 s, as entry 0 \(hip\)",
        ),
        ({"ctrl": tracking}, kt.errors.DTypeError, "takes 'gain'"),
    ],
)
def test_what_cannot_be_commanded_is_refused(leg: kt.Model, options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        kt.simulate(leg, **START, **options)


def test_robots_without_actuators_take_no_commands() -> None:
    with pytest.raises(kt.errors.OptionError, match="'double_pendulum' has no actuators"):
        kt.simulate(kt.zoo.load("double_pendulum"), ctrl=[1.0])


def test_commands_are_held_between_rows_and_activations_are_not(leg: kt.Model) -> None:
    motion = kt.simulate(leg, ctrl=np.random.default_rng(3).normal(size=(STEPS, 3)), **START)
    between = motion.resampled([0.003])
    np.testing.assert_array_equal(between.recorded["ctrl"][0], motion.recorded["ctrl"][1])
    np.testing.assert_allclose(between.recorded["act"][0], motion.recorded["act"][1:3].mean(axis=0))


SLIDERS = """
<mujoco><option gravity="0 0 0"/><default><joint type="slide" axis="1 0 0" damping="0.5"/></default><worldbody>
  <body><joint name="left"/><geom size=".1" mass="0.01"/><body><joint name="on left" axis="0 1 0"/>
    <geom size=".1" mass="0.02"/></body></body>
  <body pos="0 1 0"><joint name="right"/><geom size=".1" mass="0.03"/></body>
</worldbody><tendon><fixed name="across"><joint joint="left" coef="1"/><joint joint="right" coef="-2"/></fixed></tendon>
<actuator><position joint="on left" kp="400" kv="10"/><position tendon="across" kp="300" kv="10"/>
  <motor joint="right" gear="3"/></actuator></mujoco>"""


def turning_link(inertia: float) -> kt.Model:
    builder = kt.ModelBuilder("link", gravity=(0.0, 0.0, 0.0))
    builder.add_body("base")
    builder.add_body("link", kt.model.Inertia.from_com(0.01, [0.0, 0.0, 0.0], np.eye(3) * inertia))
    limits = kt.model.Limits(lower=(-100.0,), upper=(100.0,), effort=(15.0,), velocity=(np.inf,))
    builder.add_joint("turn", kt.Revolute([0, 0, 1]), "base", "link", limits=limits)
    return builder.build()


@pytest.mark.parametrize(
    ("integrator", "dt"), [("semi_implicit_euler", 1e-4), ("implicitfast", 2e-3), ("discrete", 2e-3)]
)
@pytest.mark.parametrize("limits", [False, True])
def test_the_work_is_that_of_the_forces_that_acted(integrator: Any, dt: float, limits: bool, tmp_path: Path) -> None:
    """Without gravity and with a constant mass matrix, M (v⁺ - v) · v⁺ is the work of a step less that of friction."""
    (tmp_path / "sliders.xml").write_text(SLIDERS)
    robot = kt.load(tmp_path / "sliders.xml")
    motion = kt.simulate(
        robot, v=[0.3, -0.2, 0.1], ctrl=[0.2, -0.3, 0.1], dt=dt, duration=25 * dt, integrator=integrator, limits=limits
    )
    assert motion.substeps == 1
    momenta = motion.v @ kt.crba(robot, robot.neutral())
    exact = (np.diff(momenta, axis=0) * motion.v[1:]).sum(axis=-1)
    np.testing.assert_allclose(np.diff(motion.work - motion.dissipated), exact, rtol=1e-12, atol=1e-12)


def test_a_stiff_servo_does_no_more_work_than_its_link_takes() -> None:
    """With h d / I = 37 all of the motion is at the end of the steps."""
    inertia = 2.7e-6
    motion = kt.simulate(
        turning_link(inertia).with_servos(4.0, 0.1), ctrl=[0.3], dt=1e-3, duration=0.5, integrator="discrete"
    )
    exact = np.cumsum(inertia * np.diff(motion.v[:, 0]) * motion.v[1:, 0])
    np.testing.assert_allclose(motion.work[1:], exact, rtol=0, atol=1e-15)
    assert motion.work.max() < 2.1 * motion.kinetic.max()


@pytest.mark.parametrize("speed", [155.0, 200.0, 1000.0, 2000.0, 1e4])
def test_a_servo_beyond_its_effort_limit_brakes_and_does_not_overshoot(speed: float) -> None:
    """h times the limit over the inertia is 5,556 rad/s: with the limit all the time the link would be thrown back."""
    robot = turning_link(2.7e-6).with_servos(4.0, 0.1)
    motion = kt.simulate(robot, v=[speed], ctrl=[0.3], dt=1e-3, duration=0.02, integrator="discrete")
    assert (motion.kinetic <= motion.kinetic[0]).all()
    assert motion.kinetic[-1] < 0.01 * motion.kinetic[0]
    torques = 2.7e-6 * np.diff(motion.v[:, 0]) / 1e-3
    assert abs(torques).max() <= 15.0 * (1.0 + 1e-12)


@pytest.mark.parametrize("limits", ["forcerange", "forcerange from 0", "actuatorfrcrange", "tendon"])
@pytest.mark.parametrize("speed", [200.0, 2000.0])
def test_servos_brake_within_every_kind_of_limit(limits: str, speed: float, tmp_path: Path) -> None:
    on_joint = 'actuatorfrcrange="-15 15"' if limits == "actuatorfrcrange" else ""
    on_tendon = 'actuatorfrclimited="true" actuatorfrcrange="-15 15"' if limits == "tendon" else ""
    on_servo = {"forcerange": 'forcerange="-15 15"', "forcerange from 0": 'forcerange="-15 0"'}.get(limits, "")
    target = 'tendon="along"' if limits == "tendon" else 'joint="turn"'
    (tmp_path / "link.xml").write_text(f"""
        <mujoco><compiler boundmass="0" boundinertia="0"/><option gravity="0 0 0"/><worldbody><body>
          <joint name="turn" axis="0 0 1" {on_joint}/>
          <inertial mass="0.01" pos="0 0 0" diaginertia="2.7e-6 2.7e-6 2.7e-6"/></body></worldbody>
        <tendon><fixed name="along" {on_tendon}><joint joint="turn" coef="1"/></fixed></tendon>
        <actuator><position {target} kp="4" kv="0.1" {on_servo}/></actuator></mujoco>""")
    robot = kt.load(tmp_path / "link.xml")
    motion = kt.simulate(robot, v=[speed], ctrl=[0.0], dt=1e-3, duration=0.02, integrator="discrete")
    assert (motion.kinetic <= motion.kinetic[0]).all()
    assert motion.kinetic[-1] < 0.01 * motion.kinetic[0]


def test_a_joint_with_its_own_range_limits_the_sum_of_its_actuators(tmp_path: Path) -> None:
    """Its range counts wherever one actuator alone may exceed it, or two act on it."""
    (tmp_path / "link.xml").write_text("""
        <mujoco><option gravity="0 0 0"/><worldbody><body><joint name="turn" actuatorfrcrange="-15 15"/>
          <geom size=".1" mass="1"/></body></worldbody>
        <actuator><motor joint="turn" gear="2" forcerange="-8 8"/></actuator></mujoco>""")
    text = (tmp_path / "link.xml").read_text()
    assert kt.dynamics.actuator_forces(kt.load(tmp_path / "link.xml"), [0.0], [0.0], [9.0]).tau.tolist() == [15.0]
    (tmp_path / "two.xml").write_text(text.replace("</actuator>", '<motor joint="turn" forcerange="-8 8"/></actuator>'))
    assert kt.dynamics.actuator_forces(kt.load(tmp_path / "two.xml"), [0.0], [0.0], [7.0, 3.0]).tau.tolist() == [15.0]
    (tmp_path / "one.xml").write_text(text.replace('gear="2"', 'gear="-1.5"'))
    assert kt.dynamics.actuator_forces(kt.load(tmp_path / "one.xml"), [0.0], [0.0], [9.0]).tau.tolist() == [-12.0]


def test_a_servo_far_beyond_its_effort_limit_gives_just_the_limit() -> None:
    robot = turning_link(1.0).with_servos(4000.0, 100.0)
    motion = kt.simulate(robot, q=[-1.0], ctrl=[0.3], dt=1e-3, duration=0.2, integrator="discrete")
    np.testing.assert_allclose(motion.v[:, 0], 15.0 * motion.time, rtol=1e-9, atol=0)

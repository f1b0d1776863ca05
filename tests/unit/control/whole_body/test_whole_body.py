"""Whole-body control: equations of motion, cones and limits always hold; priorities, what is given up, bad input."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import kinetree as kt

control = kt.control
ROBOT = kt.zoo.load("quadruped")
FEET = [name for name in ROBOT.frames if name.endswith("foot")]
STANDING = ROBOT.neutral()
STANDING[7:] = np.tile([0.05, 0.7, -1.4], 4)
FRICTION = 0.6
TARGETS = {"trunk": np.eye(3), "posture": STANDING}


@cache
def whole_body() -> control.WholeBody:
    """Made when a test first needs it: to compile its program takes seconds. It keeps no limits of joints."""
    return control.WholeBody(
        ROBOT,
        {
            "momentum": control.Momentum(),
            "trunk": control.Orientation("trunk", priority=1),
            "posture": control.Posture(priority=2),
        },
        {name: control.Support(name, friction=FRICTION, most_force=150.0) for name in FEET},
        torque_limit=40.0,
        joint_limit_horizon=None,
    )


def state(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = ROBOT.integrate(STANDING, 0.1 * rng.normal(size=ROBOT.nv))
    return q, 0.3 * rng.normal(size=ROBOT.nv)


def is_physical(q: np.ndarray, v: np.ndarray, found: control.WholeBodyStep, robot: kt.Model = ROBOT) -> bool:
    """Whether the equations of motion, the limits and the friction cones hold."""
    pushed = sum(
        kt.frame_jacobian(robot, q, name, expressed_in="local_world_aligned", part="linear").T @ f
        for name, f in found.forces.items()
    )
    holds = abs(kt.rnea(robot, q, v, found.qdd) - found.tau - pushed).max() < 1e-9
    holds &= not found.tau[:6].any() and abs(found.tau).max() <= 40.0
    for f in found.forces.values():
        holds &= -1e-8 <= f[2] <= 150.0 + 1e-7 and np.hypot(f[0], f[1]) <= FRICTION * f[2] + 1e-7
    return bool(holds)


@pytest.mark.parametrize("seed", range(8))
def test_momentum_commands_are_met_to_rounding_where_they_can_be(seed: int) -> None:
    q, v = state(seed)
    rate = np.random.default_rng(seed).uniform(-5.0, 5.0, 6)
    found = whole_body().step(q, v, TARGETS, accelerations={"momentum": rate})
    wanted = rate - 10.0 * kt.dynamics.centroidal_momentum(ROBOT, q, v)
    assert is_physical(q, v, found)
    assert found.programs == 1
    assert np.allclose(kt.dynamics.centroidal_momentum_rate(ROBOT, q, v, found.qdd), wanted, rtol=0.0, atol=1e-9)
    assert all(found.is_met(foot, 1e-9) for foot in FEET)


@pytest.mark.parametrize("command", [[400.0, 0, 0], [0, 0, -400.0], [0, -300.0, 900.0], [90.0, 90.0, 50.0]])
@pytest.mark.parametrize("seed", range(3))
def test_what_cannot_be_met_is_given_up_from_below(command: list[float], seed: int) -> None:
    q, v = state(seed)
    found = whole_body().step(q, 0.1 * v, TARGETS, accelerations={"momentum": [*command, 0.0, 0.0, 0.0]})
    assert is_physical(q, 0.1 * v, found)
    assert all(found.is_met(foot, 1e-9) for foot in FEET)
    assert not found.is_met("momentum")
    assert "momentum by" in found.summary()


def test_a_lower_task_does_not_change_what_is_left_over_of_a_higher_one() -> None:
    q, v = state(1)
    command = {"momentum": [300.0, 0.0, 0.0, 0.0, 0.0, 0.0]}
    both = whole_body().step(q, v, TARGETS, accelerations=command)
    alone = whole_body().step(q, v, TARGETS, accelerations=command, active={"trunk": False, "posture": False})
    whole_body().step(q, v, TARGETS, active={"trunk": True, "posture": True})
    assert np.isclose(np.linalg.norm(both.unmet["momentum"]), np.linalg.norm(alone.unmet["momentum"]), rtol=1e-9)


def test_a_contact_that_is_off_neither_holds_nor_pushes() -> None:
    q, v = state(2)
    found = whole_body().step(q, v, TARGETS, active={FEET[0]: False})
    assert not found.forces[FEET[0]].any()
    assert is_physical(q, v, found)
    again = whole_body().step(q, v, TARGETS, active={FEET[0]: True})
    assert again.forces[FEET[0]][2] > 1.0


def test_in_flight_only_gravity_changes_the_momentum() -> None:
    q, v = state(3)
    found = whole_body().step(q, v, TARGETS, active=dict.fromkeys(FEET, False))
    whole_body().step(q, v, TARGETS, active=dict.fromkeys(FEET, True))
    assert is_physical(q, v, found)
    rate = kt.dynamics.centroidal_momentum_rate(ROBOT, q, v, found.qdd)
    assert np.allclose(rate, [0.0, 0.0, -9.81 * ROBOT.mass, 0.0, 0.0, 0.0], atol=1e-9)


def test_the_solution_is_that_of_the_quadratic_program() -> None:
    """One level of tasks with the effort: DAQP solves the same from the matrices of kinetree's public functions."""
    tasks = {"com": control.CenterOfMass(), "posture": control.Posture(weight=0.1)}
    feet = {name: control.Support(name, friction=0.3) for name in FEET}
    effort = control.Effort(1e-4, 1e-3, 1e-3, priority=0)
    controller = control.WholeBody(ROBOT, tasks, feet, effort=effort, joint_limit_horizon=None)
    q, v = state(4)
    v = kt.constraints.nearest_velocity(ROBOT, q, 0.1 * v, [kt.constraints.Contact(name) for name in FEET])
    com = kt.center_of_mass(ROBOT, q) + np.array([0.1, 0.0, 0.05])
    found = controller.step(q, v, {"com": com, "posture": STANDING})
    M, h = kt.crba(ROBOT, q), kt.bias_forces(ROBOT, q, v)
    J = kt.constraints.constraint_jacobian(ROBOT, q, [kt.constraints.Contact(name) for name in FEET])
    dynamics = np.hstack([M, -J.T])
    Jc, ec = kt.kinematics.center_of_mass_jacobian(ROBOT, q), com - kt.center_of_mass(ROBOT, q)
    rate = kt.kinematics.center_of_mass_acceleration(ROBOT, q, v, np.zeros(ROBOT.nv))
    ac = 100.0 * ec - 20.0 * kt.kinematics.center_of_mass_velocity(ROBOT, q, v) - rate
    ap = 100.0 * kt.difference(ROBOT, q, STANDING) - 20.0 * v
    nf = len(J)
    costs = [
        (1.0, np.hstack([Jc, np.zeros((3, nf))]), ac),
        (0.1, np.eye(ROBOT.nv, ROBOT.nv + nf), ap),
        (1e-3, dynamics[6:], -h[6:]),
        (1e-4, np.eye(ROBOT.nv, ROBOT.nv + nf), np.zeros(ROBOT.nv)),
        (1e-3, np.eye(ROBOT.nv + nf)[ROBOT.nv :], np.zeros(nf)),
    ]
    C, low, high = (np.vstack, np.concatenate, np.concatenate)
    rows = [dynamics[6:]]
    lower, upper = [-ROBOT.effort_limit[6:] - h[6:]], [ROBOT.effort_limit[6:] - h[6:]]
    for k, name in enumerate(FEET):
        D, least, most = feet[name].cone()
        row = np.zeros((len(D), ROBOT.nv + nf))
        row[:, ROBOT.nv + 3 * k : ROBOT.nv + 3 * k + 3] = D
        rows, lower, upper = [*rows, row], [*lower, least], [*upper, most]
    equations = np.vstack([dynamics[:6], np.hstack([J, np.zeros((nf, nf))])])
    right = np.concatenate(
        [-h[:6], -kt.constraints.constraint_bias(ROBOT, q, v, [kt.constraints.Contact(name) for name in FEET])]
    )
    other = control.quadratic_program(
        sum(w * A.T @ A for w, A, _ in costs), -sum(w * A.T @ b for w, A, b in costs),
        equations, right, C(rows), low(lower), high(upper), solver="daqp",
    )  # fmt: skip
    assert other.solved
    assert np.allclose(found.qdd, other.x[: ROBOT.nv], rtol=0.0, atol=1e-6)
    assert np.allclose(found.tau, dynamics @ other.x + h, rtol=0.0, atol=1e-6)


def test_limits_of_joints_are_kept_and_given_up_last() -> None:
    arm = kt.zoo.load("arm6")
    controller = control.WholeBody(arm, {"posture": control.Posture()}, {}, joint_limit_horizon=0.05)
    q, v = np.minimum(arm.upper, 1.0) - 0.01, np.zeros(6)
    found = controller.step(q, v, {"posture": arm.upper + 1.0})
    room = np.minimum((arm.upper - q) / 0.05 - v, arm.velocity_limit - v) / 0.05
    assert (found.qdd <= room + 1e-6).all()
    assert not found.joint_limits_given_up
    found = controller.step(q, np.full(6, 1e4), {"posture": q})
    assert found.joint_limits_given_up
    assert "limits of joints and distances were given up" in found.summary()
    assert (abs(found.tau) <= arm.effort_limit).all()


def test_a_joint_far_beyond_its_limit_comes_back_as_quickly_as_its_speed_allows() -> None:
    """The acceleration that its position asks for is more than its speed allows; the limits are not given up."""
    arm = kt.zoo.load("arm6")
    controller = control.WholeBody(arm, {"posture": control.Posture()}, {}, joint_limit_horizon=0.05)
    q, v = 0.5 * (arm.lower + arm.upper), np.zeros(6)
    q[1], v[1] = arm.lower[1] - 1.0, arm.velocity_limit[1]
    found = controller.step(q, v, {"posture": q})
    assert not found.joint_limits_given_up
    assert abs(found.qdd[1]) < 1e-6


def test_limits_of_joints_are_kept_unless_they_are_switched_off() -> None:
    arm = kt.zoo.load("arm6")
    q, v, beyond = np.minimum(arm.upper, 1.0) - 0.01, np.zeros(6), {"posture": arm.upper + 1.0}
    free, usual, kept = (
        control.WholeBody(arm, {"posture": control.Posture()}, {}, **options).step(q, v, beyond)
        for options in ({"joint_limit_horizon": None}, {}, {"joint_limit_horizon": 0.1})
    )
    assert (usual.qdd == kept.qdd).all()
    assert (usual.qdd <= np.minimum((arm.upper - q) / 0.1, arm.velocity_limit) / 0.1 + 1e-6).all()
    assert (free.qdd > (arm.upper - q) / 0.1**2 + 1.0).any()


def test_only_joints_with_limits_cost_rows() -> None:
    """The floating base and ball joints of the ragdoll have none."""
    doll = kt.zoo.load("ragdoll")
    controller = control.WholeBody(doll, {"posture": control.Posture()}, {})
    free = control.WholeBody(doll, {"posture": control.Posture()}, {}, joint_limit_horizon=None)
    controller.step(doll.neutral(), np.zeros(doll.nv), {"posture": doll.neutral()})
    assert len(controller.inequalities[0]) - len(free.inequalities[0]) == np.isfinite(doll.upper).sum() == 6


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")
def test_a_ragdoll_that_is_sent_into_its_ankle_stops_stays_on_its_feet() -> None:
    """Without limits in the controller the stops push the feet off the ground, and the motion diverges after 1 s."""
    doll = kt.zoo.load("ragdoll")
    q0 = doll.neutral()
    for side in ("left", "right"):
        q0[doll.joints[f"{side}_knee"].q_slice], q0[doll.joints[f"{side}_ankle"].q_slice] = 0.4, -0.2
        q0[doll.joints[f"{side}_hip"].q_slice] = [0.0, np.sin(-0.1), 0.0, np.cos(-0.1)]
    q0[2] -= kt.frame_placement(doll, q0, "left_foot")[2, 3] - 0.075
    corners = [(x, y, -0.075) for x in (-0.02, 0.14) for y in (-0.03, 0.03)]
    feet = {
        f"{side}_foot": control.Support(f"{side}_foot", corners=corners, friction=0.6, velocity_gain=20.0)
        for side in ("left", "right")
    }
    tasks = {"center": control.CenterOfMass(), "posture": control.Posture(weight=0.1, priority=1)}
    controller = control.WholeBody(doll, tasks, feet, torque_limit=300.0)
    below = kt.center_of_mass(doll, q0) - np.array([0.0, 0.0, 0.1])
    motion = kt.simulate(
        doll.on_ground(), q=q0, tau=lambda _, q, v: controller.step(q, v, {"center": below, "posture": q0}).tau,
        contact=True, duration=1.5, dt=2e-3,
    )  # fmt: skip
    ankle = motion.q[:, doll.joints["left_ankle"].q_slice]
    assert ankle.min() < doll.joints["left_ankle"].limits.lower[0] + 0.05
    assert abs(motion.v).max() < 10.0
    assert abs(kt.center_of_mass(doll, motion.q[-1]) - below).max() < 0.01


def test_its_text_names_tasks_and_contacts() -> None:
    assert "momentum (0), trunk (1), posture (2); contacts front_left_foot" in repr(whole_body())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_no_torques_follow_from_nan(bad: float) -> None:
    q, v = state(5)
    wrong = np.where(np.arange(len(v)) == 8, bad, v)
    with pytest.raises(kt.errors.ConfigurationError, match=r"v\[8\] \(front_left_knee\) is"):
        whole_body().step(q, wrong, TARGETS)
    with pytest.raises(kt.errors.ConfigurationError, match=r"q\[0\]"):  # on which nothing depends
        whole_body().step(np.where(np.arange(len(q)) == 0, bad, q), v, TARGETS)
    with pytest.raises(kt.errors.ConfigurationError, match=r"q\[8\]"):
        whole_body().step(np.where(np.arange(len(q)) == 8, bad, q), v, TARGETS)
    with pytest.raises(kt.errors.ConfigurationError, match="reference of task 'momentum'"):
        whole_body().step(q, v, TARGETS, accelerations={"momentum": [bad, 0, 0, 0, 0, 0]})
    assert np.isfinite(whole_body().step(q, v, TARGETS).tau).all()


@pytest.mark.parametrize("seed", [*range(8), 1053, 1087, 1177])
def test_wild_states_give_torques_within_limits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, v = ROBOT.random(rng), 10.0 ** rng.uniform(0, 2) * rng.normal(size=ROBOT.nv)
    found = whole_body().step(q, v, TARGETS, accelerations={"momentum": 1e3 * rng.normal(size=6)})
    assert np.isfinite(found.tau).all()
    assert found.is_complete
    assert abs(found.tau).max() <= 40.0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"tasks": {"a": 1}}, kt.errors.OptionError, "must be a kt.control.Task"),
        ({"contacts": {"a": control.Support("nowhere")}}, kt.errors.NameNotFoundError, "nowhere"),
        ({"stiffness": {"b": 1.0}}, kt.errors.OptionError, "names 'b'"),
        ({"stiffness": 1.0}, kt.errors.OptionError, "stiffness must be a dict"),
        (
            {"tasks": {"m": control.Momentum()}, "stiffness": {"m": 1.0}},
            kt.errors.OptionError,
            "no stiffness pulls it there; give its damping",
        ),
        ({"damping": {"posture": -1.0}}, kt.errors.OptionError, "not negative"),
        ({"torque_limit": [1.0]}, kt.errors.ShapeError, "torque_limit"),
        ({"joint_limit_horizon": 0.0}, kt.errors.OptionError, "positive number of seconds"),
        ({"effort": control.Effort(priority=3)}, kt.errors.OptionError, "effort's priority"),
        ({"contacts": {"posture": control.Support(FEET[0])}}, kt.errors.OptionError, "a task and a contact"),
    ],
)
def test_wrong_controllers(change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        control.WholeBody(**{"robot": ROBOT, "tasks": {"posture": control.Posture()}, "contacts": {}, **change})


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"targets": {"hand": np.eye(4)}}, kt.errors.OptionError, "names 'hand'"),
        ({"targets": {"momentum": np.zeros(6)}}, kt.errors.OptionError, r"has no target; velocities\['momentum'\]"),
        ({"targets": [STANDING]}, kt.errors.OptionError, "targets must be a dict"),
        ({"targets": {"posture": [0.0]}}, kt.errors.ShapeError, "targets"),
        ({"accelerations": {"momentum": [0.0]}}, kt.errors.ShapeError, r"needs \(…, 6\)"),
        ({"active": {"tail": True}}, kt.errors.OptionError, "names 'tail'"),
        ({"active": {FEET[0]: 1}}, kt.errors.OptionError, "True or False"),
    ],
)
def test_wrong_references(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        whole_body().step(STANDING, np.zeros(ROBOT.nv), **given)


def test_a_task_without_a_target_is_reported() -> None:
    controller = control.WholeBody(ROBOT, {"posture": control.Posture()}, {})
    with pytest.raises(kt.errors.OptionError, match="'posture' has no target yet"):
        controller.step(STANDING, np.zeros(ROBOT.nv))


def many(count: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """States and references, some of which cannot be met."""
    rng = np.random.default_rng(6)
    q = ROBOT.integrate(STANDING, 0.1 * rng.normal(size=(count, ROBOT.nv)))
    trunk = kt.lie.convert(0.1 * rng.normal(size=(count, 3)), "rotation_vector", "matrix")
    return q, 0.3 * rng.normal(size=(count, ROBOT.nv)), {
        "targets": {"trunk": trunk, "posture": STANDING},
        "accelerations": {"momentum": 10.0 ** rng.uniform(0, 3, (count, 1)) * rng.normal(size=(count, 6))},
        "active": {FEET[0]: rng.random(count) < 0.7, "trunk": rng.random(count) < 0.7},
    }  # fmt: skip


def test_a_batch_has_the_bits_of_single_steps() -> None:
    count = 70
    q, v, given = many(count)
    found = whole_body().step(q, v, **given, threads=2)
    assert found.tau.shape == (count, ROBOT.nv)
    assert found.is_complete.all()
    assert 0 < np.count_nonzero(found.programs > 1) < count
    for k in (0, 31, 32, 69):
        one = whole_body().step(
            q[k], v[k], {"trunk": given["targets"]["trunk"][k]},
            accelerations={"momentum": given["accelerations"]["momentum"][k]},
            active={name: bool(on[k]) for name, on in given["active"].items()},
        )  # fmt: skip
        assert np.array_equal(one.tau, found.tau[k])
        assert np.array_equal(one.qdd, found.qdd[k])
        assert all(np.array_equal(one.forces[name], found.forces[name][k]) for name in FEET)
        assert all(np.array_equal(one.unmet[name], found.unmet[name][k]) for name in found.unmet)
        assert one.programs == found.programs[k]
        assert one.is_met("momentum") == found.is_met("momentum")[k]
    whole_body().step(STANDING, v[0], active={FEET[0]: True, "trunk": True})


def test_axes_of_samples_broadcast() -> None:
    q, v, given = many(3)
    trunk = given["targets"]["trunk"]
    found = whole_body().step(q, v[:, None], {"trunk": trunk[0], "posture": STANDING})
    assert found.tau.shape == (3, 3, ROBOT.nv)
    assert found.forces[FEET[0]].shape == (3, 3, 3)
    assert np.array_equal(found.tau[1, 2], whole_body().step(q[2], v[1]).tau)
    assert whole_body().step(q[:0], v[:0]).tau.shape == (0, ROBOT.nv)
    with pytest.raises(kt.errors.ShapeError, match=r"do not broadcast together: q \(3,\), v \(2,\)"):
        whole_body().step(q, v[:2])


def test_references_with_axes_of_samples_are_not_kept() -> None:
    q, v, given = many(3)
    before = whole_body().step(q[0], v[0], TARGETS)
    whole_body().step(q[0], v[0], **given)
    assert np.array_equal(whole_body().step(q[0], v[0]).tau, before.tau)
    assert whole_body().step(q[0], v[0]).summary() == before.summary()


def test_the_sample_that_is_not_finite_is_reported() -> None:
    q, v, _ = many(3)
    v[2, 8] = np.nan
    with pytest.raises(kt.errors.ConfigurationError, match=r"sample \[2\]: v\[8\] \(front_left_knee\) is nan"):
        whole_body().step(q, v, TARGETS)
    with pytest.raises(kt.errors.ConfigurationError, match=r"sample \[1\]: a reference of task 'momentum'"):
        whole_body().step(STANDING, np.zeros(ROBOT.nv), accelerations={"momentum": [[0.0] * 6, [np.inf] * 6]})
    q[1, 3:7] = 0.0
    with pytest.raises(kt.errors.ConfigurationError, match=r"q\[1\]: the quaternion of joint"):
        whole_body().step(q, np.zeros(ROBOT.nv), TARGETS)


def test_many_motions_are_simulated_under_it() -> None:
    arm = kt.zoo.load("arm6")
    controller = control.WholeBody(arm, {"posture": control.Posture()}, {}, stiffness={"posture": 400.0})
    controller.step(np.zeros(6), np.zeros(6), {"posture": np.full(6, 0.1)})
    start = np.random.default_rng(0).uniform(-0.1, 0.1, (3, 6))

    def moved(q: np.ndarray) -> kt.Trajectory:
        return kt.simulate(
            arm, q=q, v=np.zeros(6), tau=lambda _, q, v: controller.step(q, v).tau, duration=0.02, dt=1e-3
        )

    many = moved(start)
    assert (abs(many.q[:, -1] - 0.1) < abs(start - 0.1)).all()
    assert np.array_equal(many.q[1], moved(start[1]).q)


def test_what_is_missed_is_counted() -> None:
    q, v, _ = many(3)
    found = whole_body().step(
        q, 0.1 * v, TARGETS, accelerations={"momentum": np.array([[0.0] * 6, [400.0] * 6, [500.0] * 6])}
    )
    assert "momentum by" in found.summary()
    assert "in 2 of 3 samples" in found.summary()
    with pytest.warns(DeprecationWarning, match=r"summary\(\) now"):
        assert found.told() == found.summary()
    assert found.is_met("momentum").tolist() == [True, False, False]


def test_it_is_no_part_of_a_program() -> None:
    @kt.program(q=ROBOT)
    def law(q: Any) -> Any:
        return whole_body().step(q, np.zeros(ROBOT.nv)).tau

    with pytest.raises(kt.errors.DTypeError, match="q is symbolic; whole-body control is computed outside programs"):
        law(STANDING)


def test_a_target_that_is_not_a_pose_is_reported() -> None:
    controller = control.WholeBody(ROBOT, {"foot": control.Pose(FEET[0])}, {})
    with pytest.raises(kt.errors.ConfigurationError, match="not a rotation"):
        controller.step(STANDING, np.zeros(ROBOT.nv), {"foot": 2.0 * np.eye(4)})

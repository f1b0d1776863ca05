"""Inverse dynamics under constraints: what it gives moves the robot as asked, with the smallest forces of its rule."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.laws.reference import close, reference
from tests.laws.test_assembly import four_bar

Array = NDArray[np.float64]
RULES = pytest.mark.parametrize("smallest", ["forces", "torques", "both"])


@cache
def standing() -> tuple[kt.Model, list[Any]]:
    """A robot that floats, and three points that hold it; programs for more points and joints are far longer."""
    robot = kt.zoo.load("quadruped")
    robot = robot.lock([name for name in robot.joints if "abduction" in name or "hind_right" in name])
    return robot, [kt.constraints.Contact(frame) for frame in robot.frames if frame.endswith("foot")][:3]


@cache
def grasping() -> tuple[kt.Model, list[Any]]:
    """An arm whose base is fixed and whose tool is held: the drives do everything."""
    return kt.zoo.load("arm7"), [kt.constraints.Contact(list(kt.zoo.load("arm7").bodies)[-1], "fixed")]


ROBOTS: dict[str, Any] = {"quadruped": standing, "arm7": grasping}
EACH = pytest.mark.parametrize("name", ROBOTS)


def moving(robot: kt.Model, constraints: list[Any], rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """A state, and accelerations that the constraints allow."""
    q = robot.integrate(robot.neutral(), 0.2 * rng.normal(size=robot.nv))
    v, tau = rng.normal(size=robot.nv), 5.0 * rng.normal(size=robot.nv)
    tau[without_drive(robot)] = 0.0
    return q, v, kt.constraints.constrained_dynamics(robot, q, v, tau, constraints).qdd


def without_drive(robot: kt.Model) -> slice:
    return slice(0, 6) if robot.floating_base else slice(0, 0)


@RULES
@EACH
def test_constrained_dynamics_returns_the_accelerations(name: str, smallest: Any) -> None:
    robot, constraints = ROBOTS[name]()
    q, v, qdd = moving(robot, constraints, np.random.default_rng(1))
    found = kt.constraints.constrained_inverse_dynamics(robot, q, v, qdd, constraints, smallest=smallest)
    again = kt.constraints.constrained_dynamics(robot, q, v, found.tau, constraints)
    scale = max(1.0, float(np.abs(qdd).max()))
    np.testing.assert_allclose(again.qdd, qdd, rtol=0, atol=1e-9 * scale)
    assert (found.tau[without_drive(robot)] == 0.0).all()
    J = kt.constraints.constraint_jacobian(robot, q, constraints)
    needed = kt.rnea(robot, q, v, qdd)
    np.testing.assert_allclose(found.tau + J.T @ found.forces, needed, rtol=0, atol=1e-9 * np.abs(needed).max())


@RULES
@EACH
def test_the_sum_of_squares_is_the_smallest(name: str, smallest: Any) -> None:
    """Of dense least squares with the null space of the equations of the base, and with weights."""
    robot, constraints = ROBOTS[name]()
    rng = np.random.default_rng(2)
    q, v, qdd = moving(robot, constraints, rng)
    m = sum(constraint.size for constraint in constraints)
    w_tau, w_f = rng.uniform(0.5, 2.0, robot.nv), rng.uniform(0.5, 2.0, m)
    options = {"force_weights": w_f, **({} if smallest == "forces" else {"torque_weights": w_tau})}
    found = kt.constraints.constrained_inverse_dynamics(robot, q, v, qdd, constraints, smallest=smallest, **options)
    J, needed, u = (
        kt.constraints.constraint_jacobian(robot, q, constraints),
        kt.rnea(robot, q, v, qdd),
        without_drive(robot),
    )
    driven = np.delete(np.arange(robot.nv), u)
    A = J[:, u].T / np.sqrt(w_f)
    first = np.linalg.lstsq(A, needed[u])[0] if len(A) else np.zeros(m)
    _, sizes, V = np.linalg.svd(A) if len(A) else (None, np.zeros(0), np.eye(m))
    null = V[(sizes > 1e-9 * sizes.max(initial=1.0)).sum() :].T
    rows = np.sqrt(w_tau)[driven, None] * (J.T / np.sqrt(w_f))[driven]
    left = np.sqrt(w_tau)[driven] * needed[driven]
    if smallest == "forces":
        expected = first
    elif smallest == "torques":
        expected = first + null @ np.linalg.lstsq(rows @ null, left - rows @ first)[0]
    else:
        both = np.vstack([rows, np.eye(m)])
        expected = first + null @ np.linalg.lstsq(both @ null, np.r_[left, np.zeros(m)] - both @ first)[0]
    expected = expected / np.sqrt(w_f)
    np.testing.assert_allclose(found.forces, expected, rtol=0, atol=1e-8 * max(1.0, float(np.abs(expected).max())))


def test_a_robot_in_the_air_or_on_one_point_cannot_do_everything() -> None:
    robot, feet = standing()
    rest, q = np.zeros(robot.nv), robot.neutral()
    with pytest.raises(kt.errors.ConfigurationError, match=r"no forces of the constraints .* is left over"):
        kt.constraints.constrained_inverse_dynamics(robot, q, rest, rest, feet[:1])
    batch = np.zeros((3, robot.nv))
    with pytest.raises(kt.errors.ConfigurationError, match=r"of sample \(0,\): .* is left over on 'root_joint"):
        kt.constraints.constrained_inverse_dynamics(robot, q, rest, batch, feet[:1])
    found = kt.constraints.constrained_inverse_dynamics(robot, q, rest, rest, feet[:1], on_impossible="least_squares")
    J = kt.constraints.constraint_jacobian(robot, q, feet[:1])[:, :6].T
    weight = kt.rnea(robot, q, rest, rest)[:6]
    np.testing.assert_allclose(found.forces, np.linalg.lstsq(J, weight)[0], atol=1e-9)
    np.testing.assert_allclose(found.unmet, weight - J @ found.forces, atol=1e-9)
    assert (found.tau[:6] == 0.0).all()


def test_joints_without_a_motor_are_moved_by_the_constraints() -> None:
    """A four-bar driven by its crank: the loop moves the other two joints."""
    robot, loop = four_bar()
    robot = robot.with_actuation({"elbow": False, "pivot": False})
    q = kt.constraints.nearest_configuration(robot, [0.7, 0.2, 1.9], loop, held_joints=["drive"]).q
    v = kt.constraints.nearest_velocity(robot, q, [2.0, 0.0, 0.0], loop, held_joints=["drive"])
    qdd = kt.constraints.constrained_dynamics(robot, q, v, [5.0, 0.0, 0.0], loop).qdd
    found = kt.constraints.constrained_inverse_dynamics(robot, q, v, qdd, loop)
    np.testing.assert_allclose(found.tau, [5.0, 0.0, 0.0], atol=1e-10)
    assert (found.tau[1:] == 0.0).all()


def test_redundant_contacts_share_the_load() -> None:
    """Six rows at each of four feet, of which twelve matter."""
    robot, _ = standing()
    feet = [kt.constraints.Contact(frame, "fixed") for frame in robot.frames if frame.endswith("foot")]
    q, rest = robot.neutral(), np.zeros(robot.nv)
    a = kt.constraints.constrained_inverse_dynamics(robot, q, rest, rest, feet)
    b = kt.constraints.constrained_inverse_dynamics(robot, q, rest, rest, feet[::-1])
    np.testing.assert_allclose(a.tau, b.tau, atol=1e-9)
    np.testing.assert_allclose(a.forces.reshape(4, 6), b.forces.reshape(4, 6)[::-1], atol=1e-9)
    least = kt.constraints.constrained_inverse_dynamics(robot, q, rest, rest, feet, smallest="torques")
    assert np.linalg.norm(least.tau) <= np.linalg.norm(a.tau) + 1e-9
    assert np.linalg.norm(least.forces) >= np.linalg.norm(a.forces) - 1e-9


def test_a_ragdoll_that_holds_a_bar_moves_as_prescribed() -> None:
    """The last source's question, with an unactuated root that touches something."""
    robot = kt.zoo.load("ragdoll")
    hands = [kt.constraints.Contact(name) for name in robot.bodies if "hand" in name or "forearm" in name][:2]
    rng = np.random.default_rng(3)
    q, v, qdd = moving(robot, hands, rng)
    found = kt.constraints.constrained_inverse_dynamics(robot, q, v, qdd, hands, smallest="torques")
    again = kt.constraints.constrained_dynamics(robot, q, v, found.tau, hands)
    np.testing.assert_allclose(again.qdd, qdd, rtol=0, atol=1e-9 * max(1.0, float(np.abs(qdd).max())))


def test_batches_out_float32_and_derivatives() -> None:
    robot, feet = standing()
    rng = np.random.default_rng(4)
    states = [moving(robot, feet, rng) for _ in range(9)]
    q, v, qdd = (np.stack(x) for x in zip(*states, strict=True))
    found = kt.constraints.constrained_inverse_dynamics(robot, q, v, qdd, feet)
    out = np.empty((9, robot.nv + 9 + 6))
    again = kt.constraints.constrained_inverse_dynamics(robot, q, v, qdd, feet, out=out)
    assert (again.tau == found.tau).all()
    assert again.forces.base is not None
    single = kt.constraints.constrained_inverse_dynamics(robot, *(x.astype("f4") for x in (q, v, qdd)), feet)
    assert single.tau.dtype == np.float32
    np.testing.assert_allclose(single.forces, found.forces, rtol=0, atol=1e-3 * np.abs(found.forces).max())
    by_qdd = kt.jacobian(
        robot, kt.constraints.constrained_inverse_dynamics, (q[0], v[0], qdd[0]), wrt="qdd", constraints=feet
    )
    d = rng.normal(size=robot.nv)
    change = kt.compile(robot, kt.constraints.constrained_inverse_dynamics, constraints=feet)
    exact = change(q[0], v[0], qdd[0] + d) - change(q[0], v[0], qdd[0])  # it is linear in qdd
    np.testing.assert_allclose(by_qdd @ d, exact, rtol=0, atol=1e-9 * np.abs(exact).max())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smallest": "power"}, "smallest must be 'forces', 'torques' or 'both', not 'power'"),
        ({"force_weights": [1.0, 2.0]}, r"force_weights has shape \(2,\), but 'quadruped' needs \(…, 9\)"),
        ({"force_weights": np.ones((4, 3))}, r"force_weights has shape \(4, 3\), but 'quadruped' needs \(…, 9\)"),
        ({"force_weights": [0.0] * 9}, "force_weights must be positive; entry 0 is zero"),
        ({"torque_weights": [1.0] * 12}, "torque_weights count only for smallest='torques' or 'both'"),
        (
            {"torque_weights": [-1.0] * 12, "smallest": "both"},
            "torque_weights must be finite numbers that are not negative",
        ),
        ({"on_impossible": "ignore"}, "on_impossible must be 'error' or 'least_squares', not 'ignore'"),
    ],
)
def test_wrong_options_are_refused_in_words(options: dict[str, Any], message: str) -> None:
    robot, feet = standing()
    rest = np.zeros(robot.nv)
    with pytest.raises((kt.errors.OptionError, kt.errors.ShapeError), match=message):
        kt.constraints.constrained_inverse_dynamics(robot, robot.neutral(), rest, rest, feet, **options)


@pytest.mark.parametrize("smallest", ["forces", "torques"])
@pytest.mark.parametrize("root", [kt.joints.FloatingBase(), kt.Free()], ids=["floating base", "free"])
def test_what_the_constraints_cannot_give_leaves_their_forces_alone(root: Any, smallest: Any) -> None:
    """One direction holds a robot: of the other directions of its base, rounding leaves numbers that are not zero."""
    builder = kt.ModelBuilder("hopper")
    builder.add_body("world")
    builder.add_body("trunk", kt.solids.box(0.3, 0.2, 0.4, mass=3.0))
    builder.add_body("leg", kt.solids.cylinder(0.04, 0.4, mass=1.0, placement=kt.lie.placement([0.0, 0.1, -0.2])))
    builder.add_joint("root", root, "world", "trunk")
    hip = kt.lie.placement([0.0, 0.1, -0.2], rpy=[0.1, 0.0, 0.2])
    builder.add_joint("hip", kt.Revolute([1, 0, 0]), "trunk", "leg", hip)
    robot, ground = builder.build(), [kt.constraints.Contact("leg", [0, 0, 1])]
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, v, qdd = robot.random(rng), rng.normal(size=7), rng.normal(size=7)
        found = reference(
            kt.constraints.constrained_inverse_dynamics, robot, q, v, qdd, constraints=ground, smallest=smallest
        )
        A = kt.constraints.constraint_jacobian(robot, q, ground)[:, :6].T
        close(found[7:8], np.linalg.lstsq(A, kt.rnea(robot, q, v, qdd)[:6])[0], tolerance=1e-9)

"""DART, where it is installed: states in its layout, and the conventions that docs/which_function.md states.

It is not among the packages of the tests, as it takes 70 MB: `pip install dartpy`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.joints import JointKind
from tests.oracles.agreement import agree, on_floats, random_states
from tests.oracles.shuffled_urdf import shuffled_urdf
from tests.oracles.test_layouts import COM, MOMENTS, chain, placed

dart = pytest.importorskip("dartpy")

Array = NDArray[np.float64]

IS_NEW = tuple(map(int, dart.__version__.split(".")[:2])) >= (6, 17)
LIBRARY = "dart" if IS_NEW else "dart-6.16"
WORLD_AXES: Any = {"expressed_in": "local_world_aligned"}


def isometry(rotation: Array, translation: Any) -> Any:
    placement = dart.math.Isometry3()
    placement.set_rotation(rotation)
    placement.set_translation(np.asarray(translation))
    return placement


def skeleton_of(names: list[str]) -> Any:
    """Its joints of these kinds in a chain, with the bodies and placements of `chain`; names are those of its types."""
    skeleton = dart.dynamics.Skeleton("chain")
    xx, yy, zz, xy, xz, yz = MOMENTS
    about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    parent = skeleton
    for k, name in enumerate(names, 1):
        joint, body = getattr(parent, f"create{name}JointAndBodyNodePair")()
        joint.setName(f"joint{k}")
        joint.setTransformFromParentBodyNode(isometry(np.eye(3), placed(k)))
        body.setInertia(dart.dynamics.Inertia(float(k), np.array(COM), about_com))
        parent = body
    skeleton.setGravity(np.array([0.0, 0.0, -9.81]))
    return skeleton


X, Y, Z = np.eye(3)
CASES: dict[str, tuple[list[JointKind], list[str]]] = {
    "free": ([kt.Free(), kt.Revolute(Z)], ["Free", "Revolute"]),
    "floating base": ([kt.joints.FloatingBase(), kt.joints.Spherical()], ["Free", "Ball"]),
    "free in the middle": ([kt.Prismatic(Z), kt.Free()], ["Prismatic", "Free"]),
    "balls": (
        [kt.joints.Spherical(), kt.joints.ExponentialMap(), kt.joints.Continuous(Z)],
        ["Ball", "Ball", "Revolute"],
    ),
    "euler": ([kt.joints.Euler("XYZ"), kt.Prismatic(Z), kt.joints.Euler("XYZ")], ["Euler", "Prismatic", "Euler"]),
    "planar": ([kt.joints.Planar(), kt.joints.Universal(X, Y), kt.joints.Planar()], ["Planar", "Universal", "Planar"]),
    "a pitch per turn": (
        [kt.joints.Translation(), kt.joints.Helical(Z, 0.1 / (2.0 * np.pi))],
        ["Translational", "Screw"],
    ),
}


@pytest.fixture(params=CASES, ids=str)
def pair(request: pytest.FixtureRequest) -> tuple[kt.Model, Any]:
    kinds, names = CASES[request.param]
    return chain(kinds), skeleton_of(names)


def states(robot: kt.Model, count: int = 3) -> tuple[kt.interop.Layout, tuple[Array, ...], tuple[Array, ...]]:
    """Random states: the layout, (q, v, q̈, τ), and the first three as DART has them."""
    q, v, qdd, tau = random_states(robot, count)
    layout = kt.interop.Layout(robot, LIBRARY)
    return layout, (q, v, qdd, tau), (layout.q_to(q), layout.v_to(q, v), layout.qdd_to(q, v, qdd))


def set_state(skeleton: Any, *state: Array) -> None:
    for name, x in zip(("Positions", "Velocities", "Accelerations"), state, strict=False):
        getattr(skeleton, f"set{name}")(x)


def test_dynamics_are_the_same(pair: tuple[kt.Model, Any]) -> None:
    robot, skeleton = pair
    layout, (q, v, qdd, tau), theirs = states(robot)
    forces = np.empty((len(q), layout.nv))
    moved = np.empty_like(forces)
    assert layout.nv == layout.nq == skeleton.getNumDofs()
    for k in range(len(q)):
        set_state(skeleton, *(x[k] for x in theirs))
        skeleton.computeInverseDynamics()
        forces[k] = skeleton.getForces()
        skeleton.setForces(layout.tau_to(q[k], tau[k]))
        skeleton.computeForwardDynamics()
        moved[k] = skeleton.getAccelerations()
        assert np.isclose(skeleton.computeKineticEnergy(), kt.kinetic_energy(robot, q[k], v[k]), rtol=1e-10)
    agree(layout.tau_to(q, on_floats(kt.rnea, robot, q, v, qdd)), forces, "rnea")
    agree(layout.qdd_from(*theirs[:2], moved), on_floats(kt.aba, robot, q, v, tau), "aba")


def test_where_a_small_step_leads(pair: tuple[kt.Model, Any]) -> None:
    robot, skeleton = pair
    _, (q, v, *_), theirs = states(robot)
    h = 1e-6
    for k in range(len(q)):
        set_state(skeleton, *(x[k] for x in theirs[:2]))
        skeleton.integratePositions(h)
        body = skeleton.getBodyNode(skeleton.getNumBodyNodes() - 1)
        placement = kt.frame_placement(robot, robot.integrate(q[k], h * v[k]), f"body{skeleton.getNumBodyNodes()}")
        assert np.allclose(body.getWorldTransform().matrix(), placement, atol=1e-9)


def test_bodies_and_jacobians_have_the_axes_that_the_page_says() -> None:
    """Angular rows first; in the body's axes without `Linear`, `Angular` or `World` in the name."""
    robot, skeleton = (
        chain([kt.Free(), kt.joints.Spherical(), kt.Revolute(Z)]),
        skeleton_of(["Free", "Ball", "Revolute"]),
    )
    layout, (q, v, qdd, _), theirs = states(robot, 1)
    (q,), (v,), (qdd,), frame = q, v, qdd, "body3"
    set_state(skeleton, *(x[0] for x in theirs))
    body = skeleton.getBodyNode(2)

    def angular_first(x: Array) -> Array:
        return np.concatenate([x[3:], x[:3]])

    local = kt.kinematics.frame_velocity(robot, q, v, frame, expressed_in="local")
    aligned = kt.kinematics.frame_velocity(robot, q, v, frame, **WORLD_AXES)
    spatial = kt.kinematics.frame_acceleration(robot, q, v, qdd, frame, expressed_in="local")
    classical = kt.kinematics.frame_acceleration(robot, q, v, qdd, frame, kind="classical", **WORLD_AXES)
    facts = {
        "getSpatialVelocity": (body.getSpatialVelocity(), angular_first(local)),
        "getAngularVelocity": (body.getAngularVelocity(), aligned[3:]),
        "getLinearVelocity": (body.getLinearVelocity(), aligned[:3]),
        "getSpatialAcceleration": (body.getSpatialAcceleration(), angular_first(spatial)),
        "getAngularAcceleration": (body.getAngularAcceleration(), classical[3:]),
        "getLinearAcceleration": (body.getLinearAcceleration(), classical[:3]),
    }
    ours = layout.v_from(layout.q_to(q), np.eye(layout.nv)).T  # kinetree's v for each of its unit velocities
    J = kt.frame_jacobian(robot, q, frame, expressed_in="local") @ ours
    W = kt.frame_jacobian(robot, q, frame, **WORLD_AXES) @ ours
    facts |= {
        "getJacobian": (skeleton.getJacobian(body), angular_first(J)),
        "getWorldJacobian": (skeleton.getWorldJacobian(body), angular_first(W)),
        "getLinearJacobian": (skeleton.getLinearJacobian(body), W[:3]),
        "getAngularJacobian": (skeleton.getAngularJacobian(body), W[3:]),
    }
    their_v, their_qdd = theirs[1][0], theirs[2][0]
    bias = [skeleton.getJacobianSpatialDeriv(body) @ their_v, skeleton.getJacobianClassicDeriv(body) @ their_v]
    facts |= {
        "getJacobianSpatialDeriv": (facts["getJacobian"][0] @ their_qdd + bias[0], angular_first(spatial)),
        "getJacobianClassicDeriv": (facts["getWorldJacobian"][0] @ their_qdd + bias[1], angular_first(classical)),
    }
    for name, (theirs_, expected) in facts.items():
        assert np.allclose(theirs_, expected, rtol=1e-9, atol=1e-9), name


def test_differences_of_positions() -> None:
    robot, skeleton = chain([kt.Free(), kt.joints.Spherical()]), skeleton_of(["Free", "Ball"])
    _, (q, *_), (theirs, *_) = states(robot, 2)
    found = skeleton.getPositionDifferences(theirs[1], theirs[0])
    balls = robot.difference(q[0], q[1])[3:]  # angular, in the moving side's axes
    R = kt.frame_placement(robot, q[0], "body1")[:3, :3]
    moved = q[1, :3] - q[0, :3]
    free = [R @ balls[:3], moved] if IS_NEW else [balls[:3], R.T @ moved]
    assert np.allclose(found, np.concatenate([*free, balls[3:]]), atol=1e-9)


def test_parts_of_the_equation_of_motion() -> None:
    robot, skeleton = chain([kt.Free(), kt.joints.Spherical()]), skeleton_of(["Free", "Ball"])
    layout, (q, v, *_), theirs = states(robot, 1)
    set_state(skeleton, *(x[0] for x in theirs[:2]))
    units = layout.v_from(layout.q_to(q[0]), np.eye(layout.nv))
    M = layout.tau_to(q[0], units @ kt.crba(robot, q[0]))
    assert np.allclose(skeleton.getMassMatrix(), M, atol=1e-9)
    assert np.allclose(skeleton.getInvMassMatrix(), np.linalg.inv(M), atol=1e-9)
    gravity = layout.tau_to(q, kt.gravity_forces(robot, q))[0]
    at_rest = layout.qdd_from(*theirs[:2], np.zeros_like(v))  # kinetree's q̈ where that of DART is zero
    bias = layout.tau_to(q, kt.rnea(robot, q, v, at_rest))[0]
    assert np.allclose(skeleton.getGravityForces(), gravity, atol=1e-9)
    assert np.allclose(skeleton.getCoriolisAndGravityForces(), bias, atol=1e-9)
    assert np.allclose(skeleton.getCoriolisForces(), bias - gravity, atol=1e-9)
    push = np.array([1.0, 2.0, 3.0])
    body = skeleton.getBodyNode(1)
    body.setExtForce(push)  # in the world's axes, at the body's origin
    J = kt.frame_jacobian(robot, q[0], "body2", **WORLD_AXES)[:3]
    assert np.allclose(skeleton.getExternalForces(), layout.tau_to(q[0], J.T @ push), atol=1e-9)


def own_order(skeleton: Any) -> list[str]:
    """Its joints that have coordinates, with kinetree's name for that of a floating base."""
    joints = [joint for joint in map(skeleton.getJoint, range(skeleton.getNumJoints())) if joint.getNumDofs()]
    names = [joint.getName() for joint in sorted(joints, key=lambda joint: joint.getIndexInSkeleton(0))]
    return ["root_joint" if name == "rootJoint" else name for name in names]


@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_joints(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "shuffled.urdf"
    path.write_text(shuffled_urdf(seed), encoding="utf-8")
    skeleton = dart.utils.DartLoader().parseSkeleton(str(path))
    order = kt.interop.Layout(kt.load(path, floating_base=True), LIBRARY).joint_order
    assert list(order) == own_order(skeleton)


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_dart_s_own_reading_of_a_file(name: str) -> None:
    robot = kt.load(kt.zoo.path(name), floating_base=True)
    skeleton = dart.utils.DartLoader().parseSkeleton(str(kt.zoo.path(name)))
    assert skeleton is not None
    skeleton.setGravity(np.array([0.0, 0.0, -9.81]))
    layout = kt.interop.Layout(robot, LIBRARY)
    assert list(layout.joint_order) == own_order(skeleton)
    q, v, qdd, _ = random_states(robot, 1)
    set_state(skeleton, layout.q_to(q)[0], layout.v_to(q, v)[0], layout.qdd_to(q, v, qdd)[0])
    skeleton.computeInverseDynamics()
    agree(layout.tau_to(q, on_floats(kt.rnea, robot, q, v, qdd)), [skeleton.getForces()], "rnea")
    assert np.isclose(skeleton.computePotentialEnergy(), kt.potential_energy(robot, q[0]), rtol=1e-9) or not IS_NEW


def test_dart_gives_a_link_without_inertial_a_kilogram() -> None:
    skeleton = dart.utils.DartLoader().parseSkeleton(str(kt.zoo.path("arm7")))
    tool = skeleton.getBodyNode("tool")
    assert tool.getMass() == 1.0
    assert np.isclose(skeleton.getMass() - tool.getMass(), kt.zoo.load("arm7").mass)

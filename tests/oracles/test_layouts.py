"""States in the layouts of Pinocchio and MuJoCo: what they compute from them is what kinetree computes.

Every conversion takes part: their inverse dynamics at their q, v and q̈ is their writing of our joint forces.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.joints import JointKind
from kinetree.spatial import Inertia, Mat3, Sym3, Vec3
from tests.oracles.agreement import agree, on_floats, random_states
from tests.oracles.mujoco_oracle import MujocoOracle
from tests.oracles.pinocchio_oracle import PinocchioOracle
from tests.robots import load_robot, robot_path

Array = NDArray[np.float64]

PLACED = (0.1, -0.2, 0.3)
"""Where each joint stands in the body before it, but the first: MuJoCo has a free body's position in the world."""
COM, MOMENTS = (0.1, 0.2, -0.1), (0.3, 0.4, 0.5, 0.01, 0.02, 0.03)
"""Of every body: centre of mass, and xx, yy, zz, xy, xz, yz about it."""


def placed(k: int) -> tuple[float, float, float]:
    return PLACED if k > 1 else (0.0, 0.0, 0.0)


def chain(kinds: list[JointKind]) -> kt.Model:
    """A body behind each joint, of mass 1, 2, …"""
    builder = kt.ModelBuilder("chain")
    builder.add_body("body0")
    for k, kind in enumerate(kinds, 1):
        builder.add_body(f"body{k}", Inertia.from_com(float(k), Vec3(*COM), Sym3(*MOMENTS)))
        builder.add_joint(
            f"joint{k}", kind, f"body{k - 1}", f"body{k}", kt.Transform(Mat3.identity(), Vec3(*placed(k)))
        )
    return builder.build()


# -- Pinocchio


def pinocchio_chain(joints: list[Any]) -> Any:
    """The same chain of its joints."""
    model = pin.Model()
    xx, yy, zz, xy, xz, yz = MOMENTS
    about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    for k, joint in enumerate(joints, 1):
        placement = pin.SE3(np.eye(3), np.array(placed(k)))
        number = model.addJoint(k - 1, joint, placement, f"joint{k}")
        model.appendBodyToJoint(number, pin.Inertia(float(k), np.array(COM), about_com), pin.SE3.Identity())
    return model


def composite(*joints: Any) -> Any:
    whole = pin.JointModelComposite(len(joints))
    for joint in joints:
        whole.addJoint(joint, pin.SE3.Identity())
    return whole


Z, ZYX = (0.0, 0.0, 1.0), pin.JointModelSphericalZYX
PINOCCHIO: dict[str, tuple[list[JointKind], Callable[[], list[Any]]]] = {
    "free": ([kt.Free(), kt.Revolute([1, 0, 0])], lambda: [pin.JointModelFreeFlyer(), pin.JointModelRX()]),
    "floating base as a free flyer": (
        [kt.joints.FloatingBase(), kt.Revolute([1, 0, 0])],
        lambda: [pin.JointModelFreeFlyer(), pin.JointModelRX()],
    ),
    "free in the middle": (
        [kt.Prismatic([0, 1, 0]), kt.joints.FloatingBase()],
        lambda: [pin.JointModelPY(), pin.JointModelFreeFlyer()],
    ),
    "free by angles": (
        [kt.joints.FreeRPY(), kt.Revolute([1, 0, 0])],
        lambda: [composite(pin.JointModelTranslation(), ZYX()), pin.JointModelRX()],
    ),
    "balls": (
        [kt.joints.Spherical(), kt.joints.ExponentialMap(), kt.joints.Euler("ZYX")],
        lambda: [pin.JointModelSpherical(), pin.JointModelSpherical(), ZYX()],
    ),
    "continuous": (
        [kt.joints.Continuous([0, 1, 0]), kt.Revolute([1, 0, 0]), kt.joints.Continuous([0, 0, 1])],
        lambda: [pin.JointModelRUBY(), pin.JointModelRX(), pin.JointModelRUBZ()],
    ),
    "planar": (
        [kt.joints.Planar(), kt.Prismatic([1, 0, 0]), kt.joints.Planar()],
        lambda: [pin.JointModelPlanar(), pin.JointModelPX(), pin.JointModelPlanar()],
    ),
    "as they are": (
        [
            kt.joints.Translation(),
            kt.joints.Helical([0, 0, 1], 0.1),
            kt.joints.Universal([1, 0, 0], [0, 1, 0]),
            kt.joints.Ellipsoid([0.1, 0.2, 0.3]),
        ],
        lambda: [
            pin.JointModelTranslation(),
            pin.JointModelHZ(0.1),
            pin.JointModelUniversal(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])),
            pin.JointModelEllipsoid(0.1, 0.2, 0.3),
        ],
    ),
    "composite": (
        [
            kt.joints.Composite([kt.joints.Translation(), kt.joints.Continuous([0, 0, 1])]),
            kt.joints.Cylindrical([0, 0, 1]),
        ],
        lambda: [
            composite(pin.JointModelTranslation(), pin.JointModelRUBZ()),
            composite(pin.JointModelRZ(), pin.JointModelPZ()),
        ],
    ),
    "composite with a ball": (
        [kt.joints.Composite([kt.Prismatic([1, 0, 0]), kt.joints.Spherical(), kt.Prismatic([0, 0, 1])])],
        lambda: [composite(pin.JointModelPX(), pin.JointModelSpherical(), pin.JointModelPZ())],
    ),
}


@pytest.mark.parametrize(("kinds", "joints"), PINOCCHIO.values(), ids=PINOCCHIO)
def test_pinocchio_s_joints(kinds: list[JointKind], joints: Callable[[], list[Any]]) -> None:
    robot, model = chain(kinds), pinocchio_chain(joints())
    data = model.createData()
    layout = kt.interop.Layout(robot, "pinocchio", joint_order=[*model.names][1:])
    assert (layout.nq, layout.nv) == (model.nq, model.nv)
    q, v, qdd, tau = random_states(robot, 3)
    there, v_there = layout.q_to(q), layout.v_to(q, v)
    forces = np.array(
        [pin.rnea(model, data, *x).copy() for x in zip(there, v_there, layout.qdd_to(q, v, qdd), strict=True)]
    )
    agree(layout.tau_to(q, on_floats(kt.rnea, robot, q, v, qdd)), forces, "rnea")
    moved = [pin.aba(model, data, *x).copy() for x in zip(there, v_there, layout.tau_to(q, tau), strict=True)]
    agree(layout.qdd_from(there, v_there, np.array(moved)), on_floats(kt.aba, robot, q, v, tau), "aba")
    agree(layout.tau_from(there, forces), on_floats(kt.rnea, robot, q, v, qdd), "rnea, back")
    for k, energy in enumerate(on_floats(kt.kinetic_energy, robot, q, v)):
        assert np.isclose(pin.computeKineticEnergy(model, data, there[k], v_there[k]), energy, rtol=1e-10)
    # Their own steps along their manifold lead where ours do.
    h = 1e-7
    for k in range(len(q)):
        ours = layout.q_to(robot.integrate(q[k], h * v[k]))
        step = pin.difference(model, there[k], ours) / h
        assert np.allclose(step, v_there[k], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "floating_base"),
    [
        ("anymal_b_simple_description/robots/anymal.urdf", True),
        ("talos_reduced", True),
        ("ur5_robot", False),
        ("kinova", True),
        ("double_pendulum_continuous", False),
        ("simple_humanoid", True),
    ],
)
def test_pinocchio_s_own_reading_of_real_robots(name: str, floating_base: bool) -> None:
    robot = load_robot(name, floating_base=floating_base)
    model = PinocchioOracle(robot_path(name), robot).model
    data = model.createData()
    layout = kt.interop.Layout(robot, "pinocchio")
    assert (layout.nq, layout.nv) == (model.nq, model.nv)
    q, v, qdd, _ = random_states(robot, 2)
    states = zip(layout.q_to(q), layout.v_to(q, v), layout.qdd_to(q, v, qdd), strict=True)
    theirs = np.array([pin.rnea(model, data, *state).copy() for state in states])
    agree(layout.tau_to(q, on_floats(kt.rnea, robot, q, v, qdd)), theirs, "rnea")


def test_followers_have_no_coordinates_in_a_model_that_pinocchio_reads_with_mimic() -> None:
    robot = load_robot("panda", mimic=True)
    model = pin.buildModelFromUrdf(str(robot_path("panda")), mimic=True)
    own = [name for name, joint in list(zip(model.names, model.joints, strict=True))[1:] if joint.nq]
    assert len(own) == model.njoints - 2  # the world and the follower
    layout = kt.interop.Layout(robot, "pinocchio")
    assert list(layout.joint_order) == own
    q, v, qdd, _ = random_states(robot, 1)
    forces = pin.rnea(model, model.createData(), layout.q_to(q)[0], layout.v_to(q, v)[0], layout.qdd_to(q, v, qdd)[0])
    agree(layout.tau_to(q, on_floats(kt.rnea, robot, q, v, qdd)), [forces], "rnea")


def test_its_placements_can_be_given_as_they_are() -> None:
    place = pin.SE3.Random()
    X = kt.Transform.from_matrix(place)
    assert np.array_equal(X.matrix, place.homogeneous)
    assert np.allclose(np.abs(X.quaternion @ pin.Quaternion(place.rotation).coeffs()), 1.0)
    robot = kt.zoo.load("arm6")
    ball = kt.solids.sphere(0.1, mass=1.0)
    assert robot.attach_body("ball", ball, "tool", place) == robot.attach_body("ball", ball, "tool", X)


# -- MuJoCo


def mujoco_chain(joints: list[list[str]]) -> Any:
    """The same chain, with the joints of each body as MJCF."""
    numbers = " ".join(map(str, MOMENTS))
    opened = ""
    for k, elements in enumerate(joints, 1):
        opened += f'<body pos="{" ".join(map(str, placed(k)))}">'
        opened += f'<inertial pos="{" ".join(map(str, COM))}" mass="{k}" fullinertia="{numbers}"/>' + "".join(elements)
    xml = f"<mujoco><worldbody>{opened}{'</body>' * len(joints)}</worldbody></mujoco>"
    return mujoco.MjModel.from_xml_string(xml)


def hinge(axis: str) -> str:
    return f'<joint type="hinge" axis="{axis}"/>'


def slide(axis: str) -> str:
    return f'<joint type="slide" axis="{axis}"/>'


FREE, BALL = "<freejoint/>", '<joint type="ball"/>'
X, Y, Z_ = "1 0 0", "0 1 0", "0 0 1"
SLIDES = [slide(X), slide(Y), slide(Z_)]
MUJOCO: dict[str, tuple[list[JointKind], list[list[str]]]] = {
    "free": ([kt.Free(), kt.joints.Continuous([1, 0, 0])], [[FREE], [hinge(X)]]),
    "floating base": ([kt.joints.FloatingBase(), kt.joints.Spherical()], [[FREE], [BALL]]),
    "free by angles": ([kt.joints.FreeRPY()], [[*SLIDES, hinge(Z_), hinge(Y), hinge(X)]]),
    "balls": ([kt.joints.Spherical(), kt.joints.ExponentialMap()], [[BALL], [BALL]]),
    "planar": ([kt.joints.Planar(), kt.joints.Spherical()], [[slide(X), slide(Y), hinge(Z_)], [BALL]]),
    "as they are": (
        [
            kt.joints.Translation(),
            kt.joints.Cylindrical([0, 1, 0]),
            kt.joints.Universal([1, 0, 0], [0, 1, 0]),
            kt.joints.Euler("XZX"),
        ],
        [SLIDES, [hinge(Y), slide(Y)], [hinge(X), hinge(Y)], [hinge(X), hinge(Z_), hinge(X)]],
    ),
    "composite": (
        [kt.joints.Composite([kt.Prismatic([1, 0, 0]), kt.joints.Spherical()])],
        [[slide(X), BALL]],
    ),
}


@pytest.mark.parametrize(("kinds", "joints"), MUJOCO.values(), ids=MUJOCO)
def test_mujoco_s_joints(kinds: list[JointKind], joints: list[list[str]]) -> None:
    robot, model = chain(kinds), mujoco_chain(joints)
    data = mujoco.MjData(model)
    layout = kt.interop.Layout(robot, "mujoco")
    assert (layout.nq, layout.nv) == (model.nq, model.nv)
    q, v, qdd, tau = random_states(robot, 3)
    for k, own in enumerate(zip(layout.q_to(q), layout.v_to(q, v), layout.qdd_to(q, v, qdd), strict=True)):
        data.qpos[:], data.qvel[:], data.qacc[:] = own
        mujoco.mj_inverse(model, data)
        ours = on_floats(kt.rnea, robot, q[k : k + 1], v[k : k + 1], qdd[k : k + 1])
        agree(layout.tau_to(q[k : k + 1], ours), [data.qfrc_inverse.copy()], "mj_inverse")
        data.qfrc_applied[:] = layout.tau_to(q[k], tau[k])
        mujoco.mj_forward(model, data)
        moved = layout.qdd_from(own[0], own[1], data.qacc)
        agree(moved[None], on_floats(kt.aba, robot, q[k : k + 1], v[k : k + 1], tau[k : k + 1]), "mj_forward")
        data.qfrc_applied[:] = 0.0


@pytest.mark.parametrize("name", ["a1", "panda", "solo12", "ur5_robot"])
def test_mujoco_s_own_reading_of_real_robots(name: str) -> None:
    robot = load_robot(name, floating_base=True)
    model = MujocoOracle(robot_path(name), robot).model
    data = mujoco.MjData(model)
    layout = kt.interop.Layout(robot, "mujoco")
    assert (layout.nq, layout.nv) == (model.nq, model.nv)
    q, v, qdd, _ = random_states(robot, 1)
    (data.qpos[:],), (data.qvel[:],), (data.qacc[:],) = layout.q_to(q), layout.v_to(q, v), layout.qdd_to(q, v, qdd)
    mujoco.mj_inverse(model, data)
    agree(layout.tau_to(q, on_floats(kt.rnea, robot, q, v, qdd)), [data.qfrc_inverse], "mj_inverse")

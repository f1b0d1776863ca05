"""Joints along and about fixed axes beside their parallels in Pinocchio and MuJoCo, on one robot built in each.

A hinged link, the joint, a body, and a hinged tip. Pinocchio's planar joint has the angle as cosine and sine and its
velocity in the moving body's axes; the rest has kinetree's coordinates. Several joints of one MuJoCo body are a
composite: each turns and slides in the axes that those before it have moved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.joints import JointKind
from kinetree.spatial import Inertia, Sym3, Transform, Vec3
from tests.oracles.agreement import agree, on_floats, random_states

Array = NDArray[np.float64]

COM, TENSOR, MASS = (0.1, 0.2, -0.3), (0.3, 0.4, 0.5, 0.01, 0.02, 0.03), 2.0
BODY = Inertia.from_com(MASS, Vec3(*COM), Sym3(*TENSOR))
HINGE = kt.lie.placement((0.1, 0.0, 0.4))
PLACE = kt.lie.placement((0.3, -0.2, 0.5), rpy=(0.3, -0.2, 0.9))
TAIL = kt.lie.placement((0.0, 0.3, 0.2))
TURN = kt.lie.placement((0.1, 0.4, -0.2), rpy=(0.4, -1.1, 0.6))
AXIS1, AXIS2 = (1.0, 2.0, 2.0), (2.0, 1.0, -2.0)
SAMPLES = 8


def robot_with(kind: JointKind) -> kt.Model:
    builder = kt.ModelBuilder("robot")
    builder.add_body("base")
    for name in ("link", "body", "tip"):
        builder.add_body(name, BODY)
    builder.add_joint("hinge", kt.Revolute(AXIS1), "base", "link", HINGE)
    builder.add_joint("joint", kind, "link", "body", PLACE)
    builder.add_joint("tail", kt.Revolute(AXIS2), "body", "tip", TAIL)
    return builder.build()


# -- Pinocchio


def se3(X: Transform) -> pin.SE3:
    return pin.SE3(np.array(X.homogeneous(), dtype=float).reshape(4, 4))


def pinocchio_with(joint: Any) -> pin.Model:
    xx, yy, zz, xy, xz, yz = TENSOR
    inertia = pin.Inertia(MASS, np.array(COM), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    model = pin.Model()
    parent = 0
    for name, kind, X in (
        ("hinge", pin.JointModelRevoluteUnaligned(np.array(AXIS1) / 3.0), HINGE),
        ("joint", joint, PLACE),
        ("tail", pin.JointModelRevoluteUnaligned(np.array(AXIS2) / 3.0), TAIL),
    ):
        parent = model.addJoint(parent, kind, se3(X), name)
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model


def pin_composite(*parts: tuple[Any, Transform | None]) -> Any:
    joint = pin.JointModelComposite()
    for part, X in parts:
        joint.addJoint(part, pin.SE3.Identity() if X is None else se3(X))
    return joint


U = np.array([0.6, 0.0, 0.8])
PINOCCHIO: dict[str, tuple[JointKind, Callable[[], Any]]] = {
    "helical about x": (kt.joints.Helical((1, 0, 0), 0.3), lambda: pin.JointModelHX(0.3)),
    "helical about y": (kt.joints.Helical((0, 1, 0), -0.2), lambda: pin.JointModelHY(-0.2)),
    "helical about z": (kt.joints.Helical((0, 0, 1), 0.1), lambda: pin.JointModelHZ(0.1)),
    "helical": (kt.joints.Helical(U, 0.4), lambda: pin.JointModelHelicalUnaligned(U, 0.4)),
    "screw": (kt.joints.Screw(angular=U, linear=0.4 * U), lambda: pin.JointModelHelicalUnaligned(U, 0.4)),
    "universal": (
        kt.joints.Universal((1, 0, 0), (0, 1, 0)),
        lambda: pin.JointModelUniversal(np.array([1.0, 0, 0]), np.array([0, 1.0, 0])),
    ),
    "universal about skew axes": (
        kt.joints.Universal(U, (0.8, 0.0, -0.6)),
        lambda: pin.JointModelUniversal(U, np.array([0.8, 0.0, -0.6])),
    ),
    "translation": (kt.joints.Translation(), pin.JointModelTranslation),
    "cylindrical": (
        kt.joints.Cylindrical((0, 1, 0)),
        lambda: pin_composite((pin.JointModelRY(), None), (pin.JointModelPY(), None)),
    ),
    "composite": (
        kt.joints.Composite([kt.Revolute((0, 0, 1)), (kt.Prismatic(U), TURN), (kt.Revolute(U), TURN)]),
        lambda: pin_composite(
            (pin.JointModelRZ(), None),
            (pin.JointModelPrismaticUnaligned(U), TURN),
            (pin.JointModelRevoluteUnaligned(U), TURN),
        ),
    ),
    "composite with a ball": (
        kt.joints.Composite([(kt.Prismatic((1, 0, 0)), TURN), (kt.joints.Spherical(), TURN)]),
        lambda: pin_composite((pin.JointModelPX(), TURN), (pin.JointModelSpherical(), TURN)),
    ),
    "custom": (
        kt.joints.MultiDof.angular_first([[0, 0, 1, 0, 0, 0.1], [0, 0, 0, 0, 1, 0], [0.6, 0, 0.8, 0, 0, 0]]),
        lambda: pin_composite(
            (pin.JointModelHZ(0.1), None), (pin.JointModelPY(), None), (pin.JointModelRevoluteUnaligned(U), None)
        ),
    ),
}


@pytest.mark.parametrize("name", PINOCCHIO)
def test_the_motion_is_pinocchios(name: str) -> None:
    kind, there = PINOCCHIO[name]
    robot, model = robot_with(kind), pinocchio_with(there())
    data = model.createData()
    assert (model.nq, model.nv) == (robot.nq, robot.nv)
    q, v, qdd, tau = random_states(robot, SAMPLES)
    agree(
        on_floats(kt.rnea, robot, q, v, qdd), [pin.rnea(model, data, *x) for x in zip(q, v, qdd, strict=True)], "rnea"
    )
    agree(
        on_floats(kt.aba, robot, q, v, tau),
        [pin.aba(model, data, *x).copy() for x in zip(q, v, tau, strict=True)],
        "aba",
    )
    agree(on_floats(kt.crba, robot, q), [symmetric(pin.crba(model, data, x)) for x in q], "crba")
    for frame, number in (("body", 2), ("tip", 3)):
        agree(on_floats(kt.frame_placement, robot, q, frame=frame), [placed(model, data, x, number) for x in q], frame)


def symmetric(H: Array) -> Array:
    upper = np.triu(H)
    return upper + upper.T - np.diag(np.diag(upper))


def placed(model: pin.Model, data: pin.Data, q: Array, number: int) -> Array:
    pin.forwardKinematics(model, data, q)
    return data.oMi[number].homogeneous


def test_the_planar_joint_is_pinocchios_in_other_coordinates() -> None:
    """v there is B v here: the displacement's rate turned back into the moving body's axes."""
    robot, model = robot_with(kt.joints.Planar()), pinocchio_with(pin.JointModelPlanar())
    data = model.createData()
    q, v, qdd, tau = random_states(robot, SAMPLES)
    for k in range(SAMPLES):
        x, y, angle = q[k, 1:4]
        c, s = np.cos(angle), np.sin(angle)
        q_there = np.array([q[k, 0], x, y, c, s, q[k, 4]])
        B, B_dot = np.eye(5), np.zeros((5, 5))
        B[1:3, 1:3] = [[c, s], [-s, c]]
        B_dot[1:3, 1:3] = v[k, 3] * np.array([[-s, c], [-c, -s]])
        v_there, qdd_there = B @ v[k], B @ qdd[k] + B_dot @ v[k]
        force = B.T @ pin.rnea(model, data, q_there, v_there, qdd_there)
        agree(kt.rnea(robot, q[k : k + 1], v[k], qdd[k]), [force], "rnea")
        H = B.T @ symmetric(pin.crba(model, data, q_there)) @ B
        agree(kt.crba(robot, q[k : k + 1]), [H], "crba")
        moved = pin.aba(model, data, q_there, v_there, np.linalg.solve(B.T, tau[k]))
        agree(kt.aba(robot, q[k : k + 1], v[k], tau[k]), [np.linalg.solve(B, moved - B_dot @ v[k])], "aba")
        agree(kt.frame_placement(robot, q[k : k + 1], "tip"), [placed(model, data, q_there, 3)], "tip")


def test_pinocchio_takes_the_plane_of_x_and_y_whatever_the_axis() -> None:
    """As the docstring of Planar has it."""
    text = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j" type="planar"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/></joint></robot>"""
    model = pin.buildModelFromXML(text)
    there = placed(model, model.createData(), np.array([0.3, 0.4, np.cos(0.5), np.sin(0.5)]), 1)
    here = kt.joints.Planar().calc([0.3, 0.4, 0.5], [0.0] * 3).X_J.homogeneous()
    np.testing.assert_allclose(there, np.array(here).reshape(4, 4), atol=1e-15)


# -- MuJoCo


def mujoco_with(joints: Sequence[tuple[str, Sequence[float], Sequence[float]]]) -> mujoco.MjModel:
    """`joints` of the body in the middle: type, axis and the place of a hinge, in the body's frame."""

    def place(X: Transform) -> str:
        R = np.array(X.E.T.components(), dtype=float)
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, R)
        return f'pos="{numbers(X.r.components())}" quat="{numbers(quaternion)}"'

    inertial = f'<inertial pos="{numbers(COM)}" mass="{MASS}" fullinertia="{numbers(TENSOR)}"/>'
    middle = "".join(
        f'<joint type="{kind}" axis="{numbers(axis)}" pos="{numbers(where)}"/>' for kind, axis, where in joints
    )
    return mujoco.MjModel.from_xml_string(f"""<mujoco><compiler angle="radian"/><worldbody>
    <body name="link" {place(HINGE)}><joint type="hinge" axis="{numbers(AXIS1)}"/>{inertial}
    <body name="body" {place(PLACE)}>{middle}{inertial}
    <body name="tip" {place(TAIL)}><joint type="hinge" axis="{numbers(AXIS2)}"/>{inertial}
    </body></body></body></worldbody></mujoco>""")


def numbers(values: Sequence[Any] | Array) -> str:
    return " ".join(f"{float(x):.17g}" for x in values)


ORIGIN = (0.0, 0.0, 0.0)
POINT = (0.2, -0.3, 0.4)
MUJOCO: dict[str, tuple[JointKind, list[tuple[str, Sequence[float], Sequence[float]]]]] = {
    "cylindrical": (kt.joints.Cylindrical(U), [("hinge", U, ORIGIN), ("slide", U, ORIGIN)]),
    "universal": (kt.joints.Universal(AXIS1, AXIS2), [("hinge", AXIS1, ORIGIN), ("hinge", AXIS2, ORIGIN)]),
    "planar": (
        kt.joints.Planar(),
        [("slide", (1, 0, 0), ORIGIN), ("slide", (0, 1, 0), ORIGIN), ("hinge", (0, 0, 1), ORIGIN)],
    ),
    "planar across y": (
        kt.joints.Planar((0, 1, 0)),
        [("slide", (0, 0, 1), ORIGIN), ("slide", (1, 0, 0), ORIGIN), ("hinge", (0, 1, 0), ORIGIN)],
    ),
    "translation": (
        kt.joints.Translation(),
        [("slide", (1, 0, 0), ORIGIN), ("slide", (0, 1, 0), ORIGIN), ("slide", (0, 0, 1), ORIGIN)],
    ),
    "screw about a line": (
        kt.joints.Screw(angular=U, linear=np.cross(POINT, U)),
        [("hinge", U, POINT)],
    ),
    "composite": (
        kt.joints.Composite([kt.Prismatic(AXIS1), kt.Revolute(U), kt.Prismatic(AXIS2), kt.Revolute((0, 1, 0))]),
        [("slide", AXIS1, ORIGIN), ("hinge", U, ORIGIN), ("slide", AXIS2, ORIGIN), ("hinge", (0, 1, 0), ORIGIN)],
    ),
    "composite of hinges apart": (
        kt.joints.Composite([kt.Revolute(U), (kt.Revolute((0, 1, 0)), kt.lie.placement(POINT)),
                      (kt.Fixed(), kt.lie.placement(tuple(-x for x in POINT)))]),
        [("hinge", U, ORIGIN), ("hinge", (0, 1, 0), POINT)],
    ),
    "custom": (
        kt.joints.MultiDof.linear_first([[1, 0, 0, 0, 0, 0], [*np.cross(POINT, U), *U], [0, 0, 0, 1, 0, 0]]),
        [("slide", (1, 0, 0), ORIGIN), ("hinge", U, POINT), ("hinge", (1, 0, 0), ORIGIN)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUJOCO)
def test_the_motion_is_that_of_mujocos_joints_in_one_body(name: str) -> None:
    kind, joints = MUJOCO[name]
    robot, model = robot_with(kind), mujoco_with(joints)
    data = mujoco.MjData(model)
    assert model.nv == robot.nv
    q, v, qdd, tau = random_states(robot, SAMPLES)
    H, bias, moved, tip = [], [], [], []
    for k in range(SAMPLES):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q[k], v[k], tau[k]
        mujoco.mj_forward(model, data)
        full = np.empty((model.nv, model.nv))
        mujoco.mj_fullM(model, data, full)
        H.append(full)
        bias.append(data.qfrc_bias.copy())
        moved.append(data.qacc.copy())
        T = np.eye(4)
        body = data.body("tip")
        T[:3, :3], T[:3, 3] = body.xmat.reshape(3, 3), body.xpos
        tip.append(T)
    forces = np.einsum("kij,kj->ki", H, qdd) + np.array(bias)
    agree(on_floats(kt.crba, robot, q), H, "crba")
    agree(on_floats(kt.rnea, robot, q, v, qdd), forces, "rnea")
    agree(on_floats(kt.aba, robot, q, v, tau), moved, "aba")
    agree(on_floats(kt.frame_placement, robot, q, frame="tip"), tip, "tip")

"""Euler angles, free joints by roll, pitch and yaw, and ellipsoids against Pinocchio's and MuJoCo's.

Pinocchio: `JointModelSphericalZYX`, `JointModelEllipsoid`, and composites of its turns about coordinate axes.
MuJoCo: hinges and slides in one body, which act in the order in which they stand there.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.joints import JointKind
from kinetree.joints.euler import ORDERS
from tests.oracles.agreement import Ask, agree, compiled, on_floats, random_states
from tests.unit.joints.flat_kinds import with_joint

Array = NDArray[np.float64]

KINDS: dict[str, JointKind] = {
    **{order: kt.joints.Euler(order) for order in ORDERS},
    "free": kt.joints.FreeRPY(),
    "ellipsoid": kt.joints.Ellipsoid([0.5, 0.7, 0.9]),
}
COMPILED = ["ZYX", "free", "ellipsoid"]
YAW_FIRST = [0, 1, 2, 5, 4, 3]
"""The witnesses' order of a free joint's coordinates."""


def asked(names: Sequence[str]) -> pytest.MarkDecorator:
    """On floats, and some compiled as well."""
    cases = [(name, on_floats) for name in names] + [(name, compiled) for name in names if name in COMPILED]
    return pytest.mark.parametrize(("name", "ask"), cases, ids=[f"{name}-{ask.__name__}" for name, ask in cases])


def parts(robot: kt.Model) -> list[tuple[JointKind, Array, Array, float, Array, Array]]:
    """Of each joint of a chain: kind, rotation and origin of its placement; mass, centre and central inertia."""
    found = []
    for kind, X, inertia in zip(robot.tree.joint[1:], robot.tree.X_T[1:], robot.tree.I[1:], strict=True):
        mass, h = inertia.mass, np.array(inertia.h.components())
        c = h / mass
        about_origin = np.array(inertia.I.full.components()).reshape(3, 3)
        central = about_origin - mass * (c @ c * np.eye(3) - np.outer(c, c))
        R = np.array(X.E.T.components()).reshape(3, 3)
        found.append((kind, R, np.array(X.r.components()), float(mass), c, central))
    return found


class Witness:
    """Another library's model of the same chain; `order` has the places of its coordinates among kinetree's."""

    def __init__(self, robot: kt.Model) -> None:
        self.order = [
            joint.q_start + k
            for joint in robot.joints.values()
            for k in (YAW_FIRST if isinstance(joint.kind, kt.joints.FreeRPY) else range(joint.kind.nq))
        ]

    def here(self, x: Array) -> Array:
        out = np.empty(len(x))
        out[self.order] = x
        return out

    def matrix_here(self, M: Array) -> Array:
        out = np.empty(M.shape)
        out[np.ix_(self.order, self.order)] = M
        return out


# -- Pinocchio

_TURNS = {"X": pin.JointModelRX, "Y": pin.JointModelRY, "Z": pin.JointModelRZ}


def composite(*joints: pin.JointModel) -> pin.JointModel:
    made = pin.JointModelComposite(len(joints))
    for joint in joints:
        made.addJoint(joint, pin.SE3.Identity())
    return made


def pinocchio_joint(kind: JointKind) -> pin.JointModel:
    if isinstance(kind, kt.Revolute):
        return pin.JointModelRevoluteUnaligned(np.array(kind.axis.components()))
    if isinstance(kind, kt.joints.FreeRPY):
        return composite(pin.JointModelTranslation(), pin.JointModelSphericalZYX())
    if isinstance(kind, kt.joints.Ellipsoid):
        return pin.JointModelEllipsoid(*kind.radii)
    assert isinstance(kind, kt.joints.Euler)
    return pin.JointModelSphericalZYX() if kind.order == "ZYX" else composite(*(_TURNS[x]() for x in kind.order))


class Pinocchio(Witness):
    def __init__(self, robot: kt.Model) -> None:
        super().__init__(robot)
        self.model = pin.Model()
        self.model.gravity.linear = np.array(robot.gravity)
        for k, (kind, R, r, mass, c, central) in enumerate(parts(robot)):
            number = self.model.addJoint(k, pinocchio_joint(kind), pin.SE3(R, r), f"j{k}")
            self.model.appendBodyToJoint(number, pin.Inertia(mass, c, central), pin.SE3.Identity())
        self.data = self.model.createData()

    def placements(self, q: Array) -> Array:
        pin.forwardKinematics(self.model, self.data, q[self.order])
        return np.array([placement.homogeneous for placement in list(self.data.oMi)])

    def rnea(self, q: Array, v: Array, qdd: Array) -> Array:
        return self.here(pin.rnea(self.model, self.data, *(x[self.order] for x in (q, v, qdd))))

    def aba(self, q: Array, v: Array, tau: Array) -> Array:
        return self.here(pin.aba(self.model, self.data, *(x[self.order] for x in (q, v, tau))))

    def crba(self, q: Array) -> Array:
        H = np.triu(pin.crba(self.model, self.data, q[self.order]))
        return self.matrix_here(H + np.triu(H, 1).T)


@asked(list(KINDS))
def test_pinocchio_agrees(name: str, ask: Ask) -> None:
    robot = with_joint(KINDS[name])
    witness = Pinocchio(robot)
    q, v, qdd, tau = random_states(robot, 4)
    agree(ask(kt.forward_kinematics, robot, q), [*map(witness.placements, q)], "forward_kinematics")
    agree(ask(kt.rnea, robot, q, v, qdd), [*map(witness.rnea, q, v, qdd)], "rnea")
    agree(ask(kt.crba, robot, q), [*map(witness.crba, q)], "crba")
    agree(ask(kt.aba, robot, q, v, tau), [*map(witness.aba, q, v, tau)], "aba")


@pytest.mark.parametrize("name", ["ZYX", "ellipsoid"])
def test_pinocchio_has_the_same_motion_subspace(name: str) -> None:
    kind = KINDS[name]
    model = pin.Model()
    model.addJoint(0, pinocchio_joint(kind), pin.SE3.Identity(), "joint")
    data = model.createData()
    for q in np.random.default_rng(0).normal(size=(10, 3)):
        pin.computeJointJacobians(model, data, q)
        columns = [column.linear_first() for column in kind.calc(q.tolist(), [0.0] * 3).S.columns]
        agree([np.array(columns, dtype=float).T], [pin.getJointJacobian(model, data, 1, pin.LOCAL)], "S")


# -- MuJoCo


class Mujoco(Witness):
    def __init__(self, robot: kt.Model) -> None:
        super().__init__(robot)
        inner = ""
        for kind, R, r, mass, c, central in reversed(parts(robot)):
            upper = [central[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
            inner = (
                f'<body pos="{_text(r)}" xyaxes="{_text([*R[:, 0], *R[:, 1]])}">{_joints(kind)}'
                f'<inertial mass="{mass!r}" pos="{_text(c)}" fullinertia="{_text(upper)}"/>{inner}</body>'
            )
        self.model = mujoco.MjModel.from_xml_string(
            f'<mujoco><compiler angle="radian"/><option gravity="{_text(robot.gravity)}">'
            f'<flag contact="disable"/></option><worldbody>{inner}</worldbody></mujoco>'
        )
        self.data = mujoco.MjData(self.model)

    def _set(self, q: Array, v: Array) -> None:
        self.data.qpos[:], self.data.qvel[:] = q[self.order], v[self.order]
        mujoco.mj_forward(self.model, self.data)

    def placements(self, q: Array) -> Array:
        self._set(q, np.zeros(len(q)))
        out = np.tile(np.eye(4), (self.model.nbody, 1, 1))
        out[:, :3, :3], out[:, :3, 3] = self.data.xmat.reshape(-1, 3, 3), self.data.xpos
        return out

    def crba(self, q: Array) -> Array:
        self._set(q, np.zeros(len(q)))
        M = np.empty((len(q), len(q)))
        mujoco.mj_fullM(self.model, self.data, M)
        return self.matrix_here(M)

    def aba(self, q: Array, v: Array, tau: Array) -> Array:
        self.data.qfrc_applied[:] = tau[self.order]
        self._set(q, v)
        return self.here(self.data.qacc)

    def rnea(self, q: Array, v: Array, qdd: Array) -> Array:
        self.data.qfrc_applied[:] = 0.0
        self._set(q, v)
        self.data.qacc[:] = qdd[self.order]
        mujoco.mj_inverse(self.model, self.data)
        return self.here(self.data.qfrc_inverse)


def _joints(kind: JointKind) -> str:
    if isinstance(kind, kt.Revolute):
        return f'<joint axis="{_text(kind.axis.components())}"/>'
    unit = dict(zip("XYZ", np.eye(3), strict=True))
    if isinstance(kind, kt.joints.FreeRPY):
        slides = "".join(f'<joint type="slide" axis="{_text(unit[x])}"/>' for x in "XYZ")
        return slides + "".join(f'<joint axis="{_text(unit[x])}"/>' for x in "ZYX")
    assert isinstance(kind, kt.joints.Euler)
    return "".join(f'<joint axis="{_text(unit[x])}"/>' for x in kind.order)


def _text(numbers: Array | Sequence[float]) -> str:
    return " ".join(repr(float(x)) for x in numbers)


@asked(["XYZ", "ZYX", "ZXZ", "YXZ", "free"])
def test_mujoco_agrees(name: str, ask: Ask) -> None:
    robot = with_joint(KINDS[name])
    witness = Mujoco(robot)
    q, v, qdd, tau = random_states(robot, 4)
    agree(ask(kt.forward_kinematics, robot, q), [*map(witness.placements, q)], "forward_kinematics")
    agree(ask(kt.rnea, robot, q, v, qdd), [*map(witness.rnea, q, v, qdd)], "rnea")
    agree(ask(kt.crba, robot, q), [*map(witness.crba, q)], "crba")
    agree(ask(kt.aba, robot, q, v, tau), [*map(witness.aba, q, v, tau)], "aba")

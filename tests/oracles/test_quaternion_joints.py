"""Spherical, free and floating-base joints against Pinocchio's and MuJoCo's, on trees made for it.

Pinocchio: `JointModelSpherical`, `JointModelFreeFlyer`, and a translation with a spherical joint for the floating base.
MuJoCo: the ball joint, whose velocity is in the moving body's axes, and the free joint; its quaternions begin with w.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.joints import JointKind
from kinetree.spatial import Inertia, Sym3, Transform, Vec3
from kinetree.spatial.rotations import from_quaternion
from tests.oracles.agreement import Ask, agree, compiled, on_floats, random_states

Array = NDArray[np.float64]

BALL, BASE, FREE = kt.joints.Spherical(), kt.joints.FloatingBase(), kt.Free()
HINGE, SLIDER = kt.Revolute([0.6, 0.0, 0.8]), kt.Prismatic([0, 1, 0])
ROBOTS: dict[str, list[tuple[int, JointKind]]] = {
    "a ball": [(0, BALL)],
    "a floating base": [(0, BASE)],
    "a free body": [(0, FREE)],
    "balls on a floating base": [(0, BASE), (1, BALL), (2, HINGE), (3, BALL), (1, BALL)],
    "balls on a free body": [(0, FREE), (1, BALL), (2, BALL), (1, SLIDER)],
    "balls on hinges": [(0, HINGE), (1, BALL), (2, SLIDER), (3, BALL), (3, HINGE)],
    "floating and free bodies on others": [(0, HINGE), (1, BASE), (2, BALL), (3, FREE), (2, BASE)],
}
COMPILED = ["balls on a floating base", "floating and free bodies on others"]
WITH_MUJOCO = ["a ball", "a floating base", "balls on a floating base", "balls on hinges"]


def asked(names: Iterable[str]) -> pytest.MarkDecorator:
    """On floats, and some compiled as well."""
    cases = [(name, on_floats) for name in names] + [(name, compiled) for name in names if name in COMPILED]
    return pytest.mark.parametrize(("name", "ask"), cases, ids=[f"{name}-{ask.__name__}" for name, ask in cases])


class Parts:
    """A robot of random bodies and placements, and its numbers for the witnesses."""

    def __init__(self, name: str) -> None:
        rng = np.random.default_rng(3)
        self.joints = ROBOTS[name]
        self.bodies: list[tuple[float, Array, Array]] = []
        """Mass, centre of mass, and rotational inertia about it."""
        self.placements: list[tuple[Array, Array]] = []
        """Rotation to the parent, and origin."""
        builder = kt.ModelBuilder(name, gravity=(1.0, -2.0, -9.81))
        builder.add_body("b0")
        for k, (parent, kind) in enumerate(self.joints, 1):
            mass, com, half = float(rng.uniform(0.5, 2.0)), rng.normal(size=3) * 0.2, rng.normal(size=(3, 3)) * 0.2
            gyration = half @ half.T + 0.02 * np.eye(3)
            tensor = mass * (np.trace(gyration) * np.eye(3) - gyration)
            # A free joint of MuJoCo begins at the world's origin, wherever its body is written.
            turned = kind.nq == 7 and parent == 0
            x = np.array([0.0, 0.0, 0.0, 1.0]) if turned else rng.normal(size=4)
            R = np.array(from_quaternion(*x.tolist()).components()).reshape(3, 3)
            r = np.zeros(3) if turned else rng.normal(size=3) * 0.3
            self.bodies.append((mass, com, tensor))
            self.placements.append((R, r))
            upper = Sym3(*(float(tensor[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))
            builder.add_body(f"b{k}", Inertia.from_com(mass, Vec3(*com.tolist()), upper))
            placement = Transform(from_quaternion(*x.tolist()).T, Vec3(*r.tolist()))
            builder.add_joint(f"j{k}", kind, f"b{parent}", f"b{k}", placement, armature=_armature(kind))
        self.robot = builder.build()


def _armature(kind: JointKind) -> list[float]:
    """Of hinges and sliders; the witnesses have none for free joints of all sorts."""
    return [0.1 if kind.nv == 1 else 0.0] * kind.nv


# -- Pinocchio


def pinocchio_joint(kind: JointKind) -> pin.JointModel:
    if isinstance(kind, kt.joints.Spherical):
        return pin.JointModelSpherical()
    if isinstance(kind, kt.Free):
        return pin.JointModelFreeFlyer()
    if isinstance(kind, kt.joints.FloatingBase):
        joint = pin.JointModelComposite(2)
        joint.addJoint(pin.JointModelTranslation(), pin.SE3.Identity())
        joint.addJoint(pin.JointModelSpherical(), pin.SE3.Identity())
        return joint
    axis = np.array(kind.axis.components())  # type: ignore[attr-defined]
    unaligned = pin.JointModelRevoluteUnaligned if isinstance(kind, kt.Revolute) else pin.JointModelPrismaticUnaligned
    return unaligned(axis)


class Pinocchio:
    def __init__(self, parts: Parts) -> None:
        self.model = pin.Model()
        self.model.gravity.linear = np.array(parts.robot.gravity)
        numbered = zip(parts.joints, parts.placements, parts.bodies, strict=True)
        armature = []
        for k, ((parent, kind), (R, r), (mass, com, tensor)) in enumerate(numbered, 1):
            assert self.model.addJoint(parent, pinocchio_joint(kind), pin.SE3(R, r), f"j{k}") == k
            self.model.appendBodyToJoint(k, pin.Inertia(mass, com, tensor), pin.SE3.Identity())
            armature += _armature(kind)
        self.model.armature = np.array(armature)
        self.data = self.model.createData()
        assert (self.model.nq, self.model.nv) == (parts.robot.nq, parts.robot.nv)

    def placements(self, q: Array) -> Array:
        pin.forwardKinematics(self.model, self.data, q)
        return np.array([placement.homogeneous for placement in list(self.data.oMi)])

    def crba(self, q: Array) -> Array:
        H = np.triu(pin.crba(self.model, self.data, q))
        return H + np.triu(H, 1).T

    def aba(self, q: Array, v: Array, tau: Array) -> Array:
        return pin.aba(self.model, self.data, q, v, tau).copy()

    def rnea(self, q: Array, v: Array, qdd: Array) -> Array:
        return pin.rnea(self.model, self.data, q, v, qdd).copy()


@asked(ROBOTS)
def test_pinocchio_agrees_on_motion(name: str, ask: Ask) -> None:
    parts = Parts(name)
    robot, witness = parts.robot, Pinocchio(parts)
    q, v, qdd, tau = random_states(robot, 4)
    agree(ask(kt.forward_kinematics, robot, q), [*map(witness.placements, q)], "forward_kinematics")
    agree(ask(kt.rnea, robot, q, v, qdd), [*map(witness.rnea, q, v, qdd)], "rnea")
    agree(ask(kt.crba, robot, q), [*map(witness.crba, q)], "crba")
    agree(ask(kt.aba, robot, q, v, tau), [*map(witness.aba, q, v, tau)], "aba")


@asked(ROBOTS)
def test_pinocchio_agrees_on_the_manifold(name: str, ask: Ask) -> None:
    parts = Parts(name)
    robot, witness = parts.robot, Pinocchio(parts).model
    q, v, _, _ = random_states(robot, 4)
    q1 = np.array([pin.integrate(witness, *x) for x in zip(q, 0.3 * v, strict=True)])
    agree(ask(kt.integrate, robot, q, 0.3 * v), q1, "integrate")
    agree(
        ask(kt.difference, robot, q, q1), [pin.difference(witness, *x) for x in zip(q, q1, strict=True)], "difference"
    )
    steps = [pin.dIntegrate(witness, *x) for x in zip(q, 0.3 * v, strict=True)]
    ways = [pin.dDifference(witness, *x) for x in zip(q, q1, strict=True)]
    for k, argument in enumerate(("q", "v")):
        ours = ask(kt.kinematics.integrate_jacobian, robot, q, 0.3 * v, wrt=argument)
        agree(ours, [step[k] for step in steps], f"integrate_jacobian by {argument}")
    for k, argument in enumerate(("q0", "q1")):
        ours = ask(kt.kinematics.difference_jacobian, robot, q, q1, wrt=argument)
        agree(ours, [way[k] for way in ways], f"difference_jacobian by {argument}")


# -- MuJoCo


class Mujoco:
    def __init__(self, parts: Parts) -> None:
        children: dict[int, list[int]] = {}
        for k, (parent, _) in enumerate(parts.joints, 1):
            children.setdefault(parent, []).append(k)
        gravity = " ".join(map(repr, parts.robot.gravity))
        self.model = mujoco.MjModel.from_xml_string(
            f'<mujoco><compiler angle="radian"/><option gravity="{gravity}"><flag contact="disable"/></option>'
            f"<worldbody>{''.join(self._body(parts, k, children) for k in children[0])}</worldbody></mujoco>"
        )
        self.data = mujoco.MjData(self.model)
        self.joints = list(parts.robot.joints.values())
        self._at = [self.model.joint(joint.name) for joint in self.joints]
        self._order = [
            n + k for j, at in zip(self.joints, self._at, strict=True) for n in at.dofadr for k in range(j.kind.nv)
        ]

    def _body(self, parts: Parts, k: int, children: dict[int, list[int]]) -> str:
        _, kind = parts.joints[k - 1]
        R, r = parts.placements[k - 1]
        mass, com, tensor = parts.bodies[k - 1]
        upper = [tensor[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        if kind.nv == 6:
            joint = f'<freejoint name="j{k}"/>'
        elif kind.nv == 3:
            joint = f'<joint name="j{k}" type="ball"/>'
        else:
            sort = "hinge" if isinstance(kind, kt.Revolute) else "slide"
            joint = f'<joint name="j{k}" type="{sort}" armature="0.1" axis="{_text(kind.axis.components())}"/>'  # type: ignore[attr-defined]
        inertial = f'<inertial mass="{mass!r}" pos="{_text(com)}" fullinertia="{_text(upper)}"/>'
        axes = _text([*R[:, 0], *R[:, 1]])
        inner = "".join(self._body(parts, child, children) for child in children.get(k, []))
        return f'<body name="b{k}" pos="{_text(r)}" xyaxes="{axes}">{joint}{inertial}{inner}</body>'

    def _set(self, q: Array, v: Array) -> None:
        for joint, at in zip(self.joints, self._at, strict=True):
            own = q[joint.q_slice]
            if joint.kind.quaternions:
                x, y, z, w = own[-4:]
                own = np.array([*own[:-4], w, x, y, z])
            self.data.qpos[at.qposadr[0] : at.qposadr[0] + len(own)] = own
        self.data.qvel[self._order] = v
        mujoco.mj_forward(self.model, self.data)

    def placements(self, q: Array) -> Array:
        self._set(q, np.zeros(self.model.nv))
        out = np.tile(np.eye(4), (len(self.joints) + 1, 1, 1))
        for k in range(1, len(out)):
            body = self.data.body(f"b{k}")
            out[k, :3, :3], out[k, :3, 3] = body.xmat.reshape(3, 3), body.xpos
        return out

    def crba(self, q: Array) -> Array:
        self._set(q, np.zeros(self.model.nv))
        M = np.empty((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return M[np.ix_(self._order, self._order)]

    def aba(self, q: Array, v: Array, tau: Array) -> Array:
        self.data.qfrc_applied[self._order] = tau
        self._set(q, v)
        return self.data.qacc[self._order].copy()

    def rnea(self, q: Array, v: Array, qdd: Array) -> Array:
        self.data.qfrc_applied[:] = 0.0
        self._set(q, v)
        self.data.qacc[self._order] = qdd
        mujoco.mj_inverse(self.model, self.data)
        return self.data.qfrc_inverse[self._order].copy()

    def integrate(self, q: Array, v: Array) -> Array:
        """Quaternions as kinetree has them."""
        self._set(q, v)
        mujoco.mj_integratePos(self.model, self.data.qpos, self.data.qvel, 1.0)
        out = np.empty(len(q))
        for joint, at in zip(self.joints, self._at, strict=True):
            own = self.data.qpos[at.qposadr[0] : at.qposadr[0] + joint.kind.nq]
            if joint.kind.quaternions:
                w, x, y, z = own[-4:]
                own = np.array([*own[:-4], x, y, z, w])
            out[joint.q_slice] = own
        return out


def _text(numbers: Array | list[float] | tuple[float, ...]) -> str:
    return " ".join(repr(float(x)) for x in numbers)


@asked(WITH_MUJOCO)
def test_mujoco_agrees_on_motion(name: str, ask: Ask) -> None:
    """Velocities as they are: a floating base's are those of MuJoCo's free joint, a ball's are in the body's axes."""
    parts = Parts(name)
    robot, witness = parts.robot, Mujoco(parts)
    q, v, qdd, tau = random_states(robot, 4)
    agree(ask(kt.forward_kinematics, robot, q), [*map(witness.placements, q)], "forward_kinematics")
    agree(ask(kt.rnea, robot, q, v, qdd), [*map(witness.rnea, q, v, qdd)], "rnea")
    agree(ask(kt.crba, robot, q), [*map(witness.crba, q)], "crba")
    agree(ask(kt.aba, robot, q, v, tau), [*map(witness.aba, q, v, tau)], "aba")
    agree(ask(kt.integrate, robot, q, 0.3 * v), [*map(witness.integrate, q, 0.3 * v)], "integrate")


def test_a_free_joint_and_a_floating_base_differ_by_the_axes_of_their_velocity() -> None:
    """The same body, the same motion: with v = [R u; ω], where the free joint has [u; ω]."""
    robots = [Parts(name).robot for name in ("a free body", "a floating base")]
    q = robots[0].random(5)
    R = kt.frame_placement(robots[0], q, "b1")[:3, :3]
    v, qdd = np.random.default_rng(1).normal(size=(2, 6))
    as_base = np.concatenate([R @ v[:3], v[3:]])
    rates = np.concatenate([R @ (qdd[:3] + np.cross(v[3:], v[:3])), qdd[3:]])
    free, base = kt.rnea(robots[0], q, v, qdd), kt.rnea(robots[1], q, as_base, rates)
    agree([base], [np.concatenate([R @ free[:3], free[3:]])], "rnea")
    assert math.isclose(free @ v, base @ as_base)  # the same power

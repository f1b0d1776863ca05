"""MuJoCo as a witness: equations of motion without contact, limits, damping and friction.

It reads URDF by itself; shapes and all else that does not concern the motion of rigid bodies is taken out of the text
first, and its repairs of inertias are turned off. Fixed bodies are fused. A floating base is a joint of type floating
between a link of the world and the root; its velocity is [linear in the world's axes; angular in the body's], which
is turned into kinetree's here.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

import kinetree as kt

__all__ = ["MujocoOracle"]

Array = NDArray[np.float64]

_OFF = (
    mujoco.mjtDisableBit.mjDSBL_CONTACT
    | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    | mujoco.mjtDisableBit.mjDSBL_LIMIT
    | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
    | mujoco.mjtDisableBit.mjDSBL_DAMPER
    | mujoco.mjtDisableBit.mjDSBL_SPRING
    | mujoco.mjtDisableBit.mjDSBL_ACTUATION
)


class MujocoOracle:
    """Answers for one robot, a sample at a time. Making one raises ValueError if MuJoCo refuses the file."""

    def __init__(self, path: Path, robot: kt.Model) -> None:
        self.model = mujoco.MjModel.from_xml_string(_bare_urdf(path, robot))
        self.model.opt.disableflags |= int(_OFF)
        self.model.opt.gravity[:] = robot.gravity
        self.data = mujoco.MjData(self.model)
        self.robot = robot
        assert self.model.nv == robot.nv
        self._joint = {name: self.model.joint(name) for name in robot.joints}
        self._order = [
            k for name, j in self._joint.items() for k in range(j.dofadr[0], j.dofadr[0] + robot.joints[name].kind.nv)
        ]

    # -- layouts

    def _set(self, q: Array, v: Array) -> None:
        for name, joint in self.robot.joints.items():
            start = self._joint[name].qposadr[0]
            own = q[joint.q_slice]
            if isinstance(joint.kind, kt.Free):
                x, y, z, w = own[3:]
                own = np.array([*own[:3], w, x, y, z])
            self.data.qpos[start : start + len(own)] = own
        self.data.qvel[self._order] = self._base(q) @ v
        mujoco.mj_forward(self.model, self.data)

    def _base(self, q: Array) -> Array:
        """B of v_mujoco = B v, in kinetree's order: the rotation of a free joint on its linear velocity."""
        B = np.eye(self.robot.nv)
        for joint in self.robot.joints.values():
            if isinstance(joint.kind, kt.Free):
                k = joint.v_start
                B[k : k + 3, k : k + 3] = _rotation(q[joint.q_slice][3:])
        return B

    def _base_rate(self, q: Array, v: Array) -> Array:
        """dB/dt v: R (ω x v)."""
        out = np.zeros(self.robot.nv)
        for joint in self.robot.joints.values():
            if isinstance(joint.kind, kt.Free):
                k = joint.v_start
                out[k : k + 3] = _rotation(q[joint.q_slice][3:]) @ np.cross(v[k + 3 : k + 6], v[k : k + 3])
        return out

    def _mass_matrix(self) -> Array:
        M = np.empty((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return M[np.ix_(self._order, self._order)]

    # -- answers

    def crba(self, q: Array) -> Array:
        self._set(q, np.zeros(self.robot.nv))
        B = self._base(q)
        return B.T @ self._mass_matrix() @ B

    def bias_forces(self, q: Array, v: Array) -> Array:
        self._set(q, v)
        bias = self.data.qfrc_bias[self._order] + self._mass_matrix() @ self._base_rate(q, v)
        return self._base(q).T @ bias

    def aba(self, q: Array, v: Array, tau: Array) -> Array:
        self.data.qfrc_applied[self._order] = self._base(q) @ tau
        self._set(q, v)
        return self._base(q).T @ (self.data.qacc[self._order] - self._base_rate(q, v))

    def placements(self, q: Array) -> dict[str, Array]:
        """Where the moving bodies are, by the name of the joint that moves each."""
        self._set(q, np.zeros(self.robot.nv))
        out = {}
        for name, joint in self._joint.items():
            body = joint.bodyid[0]
            T = np.eye(4)
            T[:3, :3] = self.data.xmat[body].reshape(3, 3)
            T[:3, 3] = self.data.xpos[body]
            out[name] = T
        return out


def _rotation(q: Array) -> Array:
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, np.array([q[3], *q[:3]]))
    return R.reshape(3, 3)


def _bare_urdf(path: Path, robot: kt.Model) -> str:
    """The links, inertias and joints of a file, as text."""
    root = ET.fromstring(path.read_bytes().strip())
    kept = {"inertial", "origin", "parent", "child", "axis", "mass", "inertia"}
    for element in list(root):
        if element.tag not in ("link", "joint"):
            root.remove(element)
            continue
        for child in list(element):
            if child.tag not in kept:
                element.remove(child)
    compiler = {
        "fusestatic": "true",
        "discardvisual": "true",
        "balanceinertia": "false",
        "boundmass": "0",
        "boundinertia": "0",
        "inertiafromgeom": "false",
        "strippath": "true",
    }
    ET.SubElement(ET.SubElement(root, "mujoco"), "compiler", compiler)
    if robot.floating_base:
        _set_afloat(root, robot)
    return ET.tostring(root, encoding="unicode")


def _set_afloat(root: ET.Element, robot: kt.Model) -> None:
    """A floating joint above the root, from a link that stands for the world.

    MuJoCo takes a link named "world" for the world itself, so one that shall move gets another name.
    """
    for element in root.iter():
        for attribute in ("name", "link"):
            if element.tag in ("link", "parent", "child") and element.get(attribute) == "world":
                element.set(attribute, "moving world")
    (free,) = [name for name, joint in robot.joints.items() if isinstance(joint.kind, kt.Free)]
    ET.SubElement(root, "link", {"name": "world"})
    joint = ET.SubElement(root, "joint", {"name": free, "type": "floating"})
    ET.SubElement(joint, "parent", {"link": "world"})
    ET.SubElement(joint, "child", {"link": "moving world" if robot.root == "world" else robot.root})

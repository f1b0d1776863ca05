"""MuJoCo as a witness: equations of motion without contact, limits, damping and friction.

It reads URDF by itself; shapes and all else that does not concern the motion of rigid bodies is taken out of the text
first, and its repairs of inertias are turned off. Fixed bodies are fused. A floating base is a joint of type floating
between a link of the world and the root. States go through `kt.interop.Layout`.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

import kinetree as kt

__all__ = ["MujocoOracle", "bare_urdf"]

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
        self.model = mujoco.MjModel.from_xml_string(bare_urdf(path, robot))
        self.model.opt.disableflags |= int(_OFF)
        self.model.opt.gravity[:] = robot.gravity
        self.data = mujoco.MjData(self.model)
        self.robot = robot
        assert self.model.nv == robot.nv
        self._layout = kt.interop.Layout(robot, "mujoco")
        assert list(self._layout.joint_order) == [self.model.joint(k).name for k in range(self.model.njnt)]
        assert self.model.nq == self._layout.nq

    def _set(self, q: Array, v: Array) -> None:
        self.data.qpos[:] = self._layout.q_to(q)
        self.data.qvel[:] = self._layout.v_to(q, v)
        mujoco.mj_forward(self.model, self.data)

    def _mass_matrix(self) -> Array:
        M = np.empty((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return M

    # -- answers

    def crba(self, q: Array) -> Array:
        self._set(q, np.zeros(self.robot.nv))
        B = self._layout.v_to(q, np.eye(self.robot.nv)).T  # v there is B v
        return B.T @ self._mass_matrix() @ B

    def bias_forces(self, q: Array, v: Array) -> Array:
        self._set(q, v)
        steady = self._layout.qdd_to(q, v, np.zeros(self.robot.nv))
        return self._layout.tau_from(self.data.qpos, self.data.qfrc_bias + self._mass_matrix() @ steady)

    def aba(self, q: Array, v: Array, tau: Array) -> Array:
        self.data.qfrc_applied[:] = self._layout.tau_to(q, tau)
        self._set(q, v)
        return self._layout.qdd_from(self.data.qpos, self.data.qvel, self.data.qacc)

    def pushed_aba(self, q: Array, v: Array, tau: Array, joint: str, wrench: Array) -> Array:
        """`aba` with a wrench on what a joint moves, in the world's axes at the origin of MuJoCo's body."""
        body = int(self.model.joint(joint).bodyid[0])
        self._set(q, v)
        f, n = wrench[:3], wrench[3:]
        lever = self.data.xpos[body] - self.data.xipos[body]  # xfrc_applied is at the centre of mass
        self.data.xfrc_applied[body] = np.concatenate([f, n + np.cross(lever, f)])
        qdd = self.aba(q, v, tau)
        self.data.xfrc_applied[body] = 0.0
        return qdd

    def joint_wrenches(self, q: Array, v: Array, qdd: Array) -> Array:
        """`cfrc_int` of the bodies that joints move, as [f; n] in the world's axes and about its origin.

        There it is [n; f] in the world's axes and about the centre of mass of all that hangs together with the body.
        """
        self._set(q, v)
        self.data.qacc[:] = self._layout.qdd_to(q, v, qdd)
        mujoco.mj_rnePostConstraint(self.model, self.data)
        out = []
        for name in self.robot.joints:
            body = self.model.joint(name).bodyid[0]
            n, f = self.data.cfrc_int[body].reshape(2, 3)
            out.append(np.concatenate([f, n + np.cross(self.data.subtree_com[self.model.body_rootid[body]], f)]))
        return np.array(out).reshape(-1, 6)

    def placements(self, q: Array) -> dict[str, Array]:
        """Where the moving bodies are, by the name of the joint that moves each."""
        self._set(q, np.zeros(self.robot.nv))
        out = {}
        for name in self.robot.joints:
            body = self.model.joint(name).bodyid[0]
            T = np.eye(4)
            T[:3, :3] = self.data.xmat[body].reshape(3, 3)
            T[:3, 3] = self.data.xpos[body]
            out[name] = T
        return out


def bare_urdf(path: Path, robot: kt.Model) -> str:
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

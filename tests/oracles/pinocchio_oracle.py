"""Pinocchio as a witness: the same file, the same questions, in kinetree's order and layout.

It orders joints by name among siblings and writes a continuous joint's angle as cosine and sine: `kt.interop.Layout`
maps it. A fixed base's own inertia is `inertias[0]` there and left out of masses and energies; kinetree counts
it, as the file has it, so it is added here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

import kinetree as kt

__all__ = ["PinocchioOracle"]

Array = NDArray[np.float64]


def reference_frame(expressed_in: str) -> Any:
    return getattr(pin.ReferenceFrame, expressed_in.upper())


class PinocchioOracle:
    """Answers for one robot, a sample at a time."""

    def __init__(self, path: Path, robot: kt.Model) -> None:
        if robot.floating_base:
            self.model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        else:
            self.model = pin.buildModelFromUrdf(str(path))
        self.model.gravity.linear = np.array(robot.gravity)
        self.data = self.model.createData()
        self.robot = robot
        assert self.model.nv == robot.nv
        there = [self.model.joints[self.model.getJointId(name)] for name in robot.joints]
        assert [joint.nv for joint in there] == [joint.kind.nv for joint in robot.joints.values()]
        layout = kt.interop.Layout(robot, "pinocchio")
        assert list(layout.joint_order) == list(self.model.names)[1:]
        self._q = layout.q_to
        self._order = [k for joint in there for k in range(joint.idx_v, joint.idx_v + joint.nv)]

    def _v(self, v: Array) -> Array:
        """v, accelerations and forces alike: a URDF file makes no joint that has other axes there."""
        out = np.empty(self.model.nv)
        out[self._order] = v
        return out

    def _frame(self, name: str) -> int:
        return int(self.model.getFrameId(name, pin.FrameType.BODY))

    # -- dynamics

    def rnea(self, q: Array, v: Array, qdd: Array) -> Array:
        return pin.rnea(self.model, self.data, self._q(q), self._v(v), self._v(qdd))[self._order]

    def aba(self, q: Array, v: Array, tau: Array) -> Array:
        return pin.aba(self.model, self.data, self._q(q), self._v(v), self._v(tau))[self._order]

    def crba(self, q: Array) -> Array:
        upper = np.triu(pin.crba(self.model, self.data, self._q(q)))
        H = upper + upper.T - np.diag(np.diag(upper))
        return H[np.ix_(self._order, self._order)]

    def bias_forces(self, q: Array, v: Array) -> Array:
        return pin.nonLinearEffects(self.model, self.data, self._q(q), self._v(v))[self._order].copy()

    def gravity_forces(self, q: Array) -> Array:
        return pin.computeGeneralizedGravity(self.model, self.data, self._q(q))[self._order].copy()

    def joint_wrenches(self, q: Array, v: Array, qdd: Array, *, expressed_in: str) -> Array:
        """What its inverse dynamics leaves in `data.f`, in the axes of each joint's body, or in the world's."""
        pin.rnea(self.model, self.data, self._q(q), self._v(v), self._v(qdd))
        pin.updateGlobalPlacements(self.model, self.data)
        joints = [self.model.getJointId(name) for name in self.robot.joints]
        if expressed_in == "world":
            return np.array([self.data.oMi[j].act(self.data.f[j]).vector for j in joints]).reshape(-1, 6)
        return np.array([self.data.f[j].vector for j in joints]).reshape(-1, 6)

    # -- kinematics

    def frame_placement(self, q: Array, *, frame: str) -> Array:
        pin.framesForwardKinematics(self.model, self.data, self._q(q))
        return self.data.oMf[self._frame(frame)].homogeneous

    def frame_jacobian(self, q: Array, *, frame: str, expressed_in: str) -> Array:
        J = pin.computeFrameJacobian(
            self.model, self.data, self._q(q), self._frame(frame), reference_frame(expressed_in)
        )
        return J[:, self._order]

    def frame_velocity(self, q: Array, v: Array, *, frame: str, expressed_in: str) -> Array:
        pin.forwardKinematics(self.model, self.data, self._q(q), self._v(v))
        return pin.getFrameVelocity(
            self.model, self.data, self._frame(frame), reference_frame(expressed_in)
        ).vector.copy()

    def frame_acceleration(self, q: Array, v: Array, qdd: Array, *, frame: str, expressed_in: str, kind: str) -> Array:
        pin.forwardKinematics(self.model, self.data, self._q(q), self._v(v), self._v(qdd))
        ask = pin.getFrameAcceleration if kind == "spatial" else pin.getFrameClassicalAcceleration
        return ask(self.model, self.data, self._frame(frame), reference_frame(expressed_in)).vector.copy()

    # -- energy

    def kinetic_energy(self, q: Array, v: Array) -> Array:
        return np.array(pin.computeKineticEnergy(self.model, self.data, self._q(q), self._v(v)))

    def potential_energy(self, q: Array) -> Array:
        base = self.model.inertias[0]
        moving = pin.computePotentialEnergy(self.model, self.data, self._q(q))
        return np.array(moving - base.mass * self.model.gravity.linear @ base.lever)

    def center_of_mass(self, q: Array) -> Array:
        base = self.model.inertias[0]
        moving = pin.centerOfMass(self.model, self.data, self._q(q)) if self.model.nv else np.zeros(3)
        mass = sum(inertia.mass for inertia in self.model.inertias[1:])
        return (mass * moving + base.mass * base.lever) / (mass + base.mass)

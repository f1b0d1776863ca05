"""Rates and Hessians of Jacobians, points, relative motion and the centre of mass against Pinocchio, on real robots."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.oracles.agreement import Ask, agree, compiled, on_floats, random_states
from tests.oracles.pinocchio_oracle import PinocchioOracle
from tests.oracles.test_pinocchio import COMPILED, DIFFERENT, EACH_KIND, EXPRESSIONS
from tests.robots import load_robot, robot_path

Array = NDArray[np.float64]

FRAMES = {
    "local": pin.ReferenceFrame.LOCAL,
    "world": pin.ReferenceFrame.WORLD,
    "local_world_aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
}
POINT = np.array([0.3, -0.2, 0.5])


class Witness(PinocchioOracle):
    """With what this file asks for."""

    def frame_jacobian_rate(self, q: Array, v: Array, *, frame: str, expressed_in: str) -> Array:
        pin.computeJointJacobiansTimeVariation(self.model, self.data, self._q(q), self._v(v))
        pin.updateFramePlacements(self.model, self.data)
        J_dot = pin.getFrameJacobianTimeVariation(self.model, self.data, self._frame(frame), FRAMES[expressed_in])
        return J_dot[:, self._order]

    def frame_bias_acceleration(self, q: Array, v: Array, *, frame: str, expressed_in: str, kind: str) -> Array:
        return self.frame_acceleration(q, v, np.zeros_like(v), frame=frame, expressed_in=expressed_in, kind=kind)

    def kinematic_hessian(self, q: Array, *, frame: str, expressed_in: str) -> Array:
        """Of the joint that moves the frame. Its numbers come out as Eigen has them, first index fastest, in an array
        that says it is in C order."""
        pin.computeJointJacobians(self.model, self.data, self._q(q))
        pin.computeJointKinematicHessians(self.model, self.data)
        joint = self.model.frames[self._frame(frame)].parentJoint
        H = np.array(pin.getJointKinematicHessian(self.model, self.data, joint, FRAMES[expressed_in]))
        return H.ravel().reshape(H.shape, order="F")[:, self._order][:, :, self._order]

    def _point(self, q: Array, v: Array, qdd: Array, frame: str) -> tuple[int, Array, Array]:
        """The frame, its axes and the arm from its origin to the point in the world's axes."""
        pin.forwardKinematics(self.model, self.data, self._q(q), self._v(v), self._v(qdd))
        pin.updateFramePlacements(self.model, self.data)
        number = self._frame(frame)
        R = self.data.oMf[number].rotation.copy()
        return number, R, R @ POINT

    def point_position(self, q: Array, *, frame: str) -> Array:
        zero = np.zeros(self.robot.nv)
        number, _, arm = self._point(q, zero, zero, frame)
        return self.data.oMf[number].translation + arm

    def point_velocity(self, q: Array, v: Array, *, frame: str, expressed_in: str) -> Array:
        number, R, arm = self._point(q, v, np.zeros_like(v), frame)
        twist = pin.getFrameVelocity(self.model, self.data, number, FRAMES["local_world_aligned"])
        velocity = twist.linear + np.cross(twist.angular, arm)
        return R.T @ velocity if expressed_in == "local" else velocity

    def point_acceleration(self, q: Array, v: Array, qdd: Array, *, frame: str, expressed_in: str) -> Array:
        number, R, arm = self._point(q, v, qdd, frame)
        aligned = FRAMES["local_world_aligned"]
        w = pin.getFrameVelocity(self.model, self.data, number, aligned).angular
        a = pin.getFrameClassicalAcceleration(self.model, self.data, number, aligned)
        acceleration = a.linear + np.cross(a.angular, arm) + np.cross(w, np.cross(w, arm))
        return R.T @ acceleration if expressed_in == "local" else acceleration

    def point_jacobian(self, q: Array, *, frame: str, expressed_in: str) -> Array:
        zero = np.zeros(self.robot.nv)
        _, R, arm = self._point(q, zero, zero, frame)
        J = self.frame_jacobian(q, frame=frame, expressed_in="local_world_aligned")
        moved = J[:3] + np.cross(J[3:].T, arm).T
        return R.T @ moved if expressed_in == "local" else moved

    def relative_placement(self, q: Array, *, frame: str, relative_to: str) -> Array:
        pin.framesForwardKinematics(self.model, self.data, self._q(q))
        return self.data.oMf[self._frame(relative_to)].actInv(self.data.oMf[self._frame(frame)]).homogeneous

    def relative_jacobian(self, q: Array, *, frame: str, relative_to: str, expressed_in: str) -> Array:
        """The difference of the two in local coordinates, by Pinocchio's own transforms."""
        pin.framesForwardKinematics(self.model, self.data, self._q(q))
        M = self.data.oMf[self._frame(relative_to)].actInv(self.data.oMf[self._frame(frame)])
        J = self.frame_jacobian(q, frame=frame, expressed_in="local")
        seer = self.frame_jacobian(q, frame=relative_to, expressed_in="local")
        local = J - M.toActionMatrixInverse() @ seer
        if expressed_in == "local":
            return local
        if expressed_in == "world":
            return M.toActionMatrix() @ local
        return np.concatenate([M.rotation @ local[:3], M.rotation @ local[3:]])

    @property
    def _moving_part(self) -> float:
        """Of the total mass: what is fixed to a fixed base counts in kinetree and not in Pinocchio."""
        moving = sum(inertia.mass for inertia in self.model.inertias[1:])
        return float(moving / (moving + self.model.inertias[0].mass))

    def center_of_mass_jacobian(self, q: Array) -> Array:
        return self._moving_part * pin.jacobianCenterOfMass(self.model, self.data, self._q(q))[:, self._order]

    def center_of_mass_velocity(self, q: Array, v: Array) -> Array:
        pin.centerOfMass(self.model, self.data, self._q(q), self._v(v))
        return self._moving_part * self.data.vcom[0]

    def center_of_mass_acceleration(self, q: Array, v: Array, qdd: Array) -> Array:
        pin.centerOfMass(self.model, self.data, self._q(q), self._v(v), self._v(qdd))
        return self._moving_part * self.data.acom[0]


@EACH_KIND
def test_kinematics_on_floats(file: str, floating_base: bool) -> None:
    check(on_floats, file, floating_base, count=1)


@pytest.mark.parametrize(
    ("file", "floating_base"),
    [
        ("panda_description/urdf/panda.urdf", False),
        ("borinot_description/urdf/borinot_flying_arm_2.urdf", True),
    ],
    ids=["panda", "borinot"],
)
def test_kinematics_compiled(file: str, floating_base: bool) -> None:
    check(compiled, file, floating_base, count=3)


def check(ask: Ask, file: str, floating_base: bool, count: int) -> None:
    """Each function, in each expression, of the last body that is no frame on another, seen from one half way."""
    robot = load_robot(file, floating_base=floating_base)
    witness = Witness(robot_path(file), robot)
    q, v, qdd, _ = random_states(robot, count)
    moving = [joint.child for joint in robot.joints.values()]
    frame, half_way = moving[-1], moving[len(moving) // 2]

    def compare(function: Any, *batches: Array, points: bool = False, scale: float = 0.0, **options: str) -> None:
        name = function.__name__
        expected = [getattr(witness, name)(*sample, **options) for sample in zip(*batches, strict=True)]
        given = [*batches, np.tile(POINT, (count, 1))] if points else batches
        agree(ask(function, robot, *given, **options), expected, f"{name} {options}", scale=scale)

    speed = 1.0 + float(np.abs(v).sum(axis=1).max())
    for e in EXPRESSIONS:
        compare(kt.kinematics.frame_jacobian_rate, q, v, frame=frame, expressed_in=e, scale=speed)
        compare(kt.kinematics.kinematic_hessian, q, frame=frame, expressed_in=e, scale=1.0)
        compare(kt.kinematics.relative_jacobian, q, frame=frame, relative_to=half_way, expressed_in=e, scale=1.0)
        compare(kt.kinematics.point_jacobian, q, points=True, frame=frame, expressed_in=e)
        compare(kt.kinematics.point_velocity, q, v, points=True, frame=frame, expressed_in=e)
        compare(kt.kinematics.point_acceleration, q, v, qdd, points=True, frame=frame, expressed_in=e)
        for kind in ("spatial", "classical"):
            compare(kt.kinematics.frame_bias_acceleration, q, v, frame=frame, expressed_in=e, kind=kind, scale=speed)
    compare(kt.kinematics.point_position, q, points=True, frame=frame)
    compare(kt.kinematics.relative_placement, q, frame=frame, relative_to=half_way)
    compare(kt.kinematics.center_of_mass_jacobian, q)
    compare(kt.kinematics.center_of_mass_velocity, q, v)
    compare(kt.kinematics.center_of_mass_acceleration, q, v, qdd)


@pytest.mark.parametrize("file", DIFFERENT[::3])
def test_errors_of_poses(file: str) -> None:
    """The logarithm of the target as seen from the frame, and its derivative, as one writes them there.

    Every second robot floats.
    """
    robot = load_robot(file, floating_base=COMPILED.index(file) % 2 == 1)
    witness = Witness(robot_path(file), robot)
    frame = [joint.child for joint in robot.joints.values()][-1]
    (q, other), *_ = random_states(robot, 2)
    target = kt.frame_placement(robot, other, frame)
    M = pin.SE3(kt.frame_placement(robot, q, frame)).actInv(pin.SE3(target))
    close = {"rtol": 0.0, "atol": 1e-8}
    found = kt.kinematics.pose_error(robot, q, target, frame, expressed_in="local")
    np.testing.assert_allclose(found, pin.log6(M).vector, **close)
    by_q = kt.jacobian(robot, kt.kinematics.pose_error, (q, target), wrt="q", frame=frame, expressed_in="local")
    J = witness.frame_jacobian(q, frame=frame, expressed_in="local")
    np.testing.assert_allclose(by_q, -pin.Jlog6(M.inverse()) @ J, rtol=0.0, atol=1e-6)

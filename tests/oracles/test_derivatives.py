"""Derivatives against Pinocchio, on the real robots of example-robot-data: the tangent space is the same there.

Of its symmetric matrices one triangle is filled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import ArrayLike, NDArray

import kinetree as kt
from tests.oracles.agreement import on_floats, random_states
from tests.oracles.pinocchio_oracle import PinocchioOracle, reference_frame
from tests.oracles.test_pinocchio import BASES, COMPILED, EACH_KIND, EXPRESSIONS
from tests.robots import load_robot, robot_path

Array = NDArray[np.float64]

SMALL = [
    ("ur_description/urdf/ur5_robot.urdf", False),
    ("borinot_description/urdf/borinot_flying_arm_2.urdf", True),
]
TWO = pytest.mark.parametrize(("file", "floating_base"), SMALL, ids=["ur5", "borinot"])


Wrenches = Mapping[str, ArrayLike]
NO_FORCES: Wrenches = {}


class DerivativesOracle(PinocchioOracle):
    """Pinocchio's analytical derivatives, in kinetree's order."""

    def _square(self, matrix: Array) -> Array:
        return np.array(matrix)[np.ix_(self._order, self._order)]

    def _forces(self, f_ext: Wrenches) -> Any:
        """Wrenches on frames as forces on joints, in the joints' own axes."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for name, wrench in f_ext.items():
            frame = self.model.frames[self._frame(name)]
            forces[frame.parentJoint] += frame.placement.act(pin.Force(np.asarray(wrench)))
        vector = pin.StdVec_Force()
        vector.extend(forces)
        return vector

    def rnea_derivatives(self, q: Array, v: Array, qdd: Array, f_ext: Wrenches = NO_FORCES) -> Array:
        args = self._q(q), self._v(v), self._v(qdd), self._forces(f_ext)
        by_q, by_v, H = pin.computeRNEADerivatives(self.model, self.data, *args)
        H = np.triu(H) + np.triu(H, 1).T
        return np.array([self._square(matrix) for matrix in (by_q, by_v, H)])

    def aba_derivatives(self, q: Array, v: Array, tau: Array, f_ext: Wrenches = NO_FORCES) -> Array:
        args = self._q(q), self._v(v), self._v(tau), self._forces(f_ext)
        by_q, by_v, inverse = pin.computeABADerivatives(self.model, self.data, *args)
        inverse = np.triu(inverse) + np.triu(inverse, 1).T
        return np.array([self._square(matrix) for matrix in (by_q, by_v, inverse)])

    def static_derivatives(self, q: Array, f_ext: Wrenches) -> Array:
        forces = self._forces(f_ext)
        return self._square(pin.computeStaticTorqueDerivatives(self.model, self.data, self._q(q), forces))

    def centroidal_derivatives(self, q: Array, v: Array, qdd: Array) -> list[Array]:
        """Of the momentum by q, and of its rate by q, v and q̈."""
        args = self._q(q), self._v(v), self._v(qdd)
        found = pin.computeCentroidalDynamicsDerivatives(self.model, self.data, *args)
        return [np.array(matrix)[:, self._order] for matrix in found]

    def frame_derivatives(self, q: Array, v: Array, qdd: Array, frame: str, expressed_in: str) -> list[Array]:
        """Of the velocity by q and v, and of the spatial acceleration by q, v and q̈.

        In "local_world_aligned" the witness sees the derivatives in the world's axes from where the frame is. That its
        origin moves, too, comes on top: of u + w × p, the w × dp.
        """
        args = self._q(q), self._v(v), self._v(qdd)
        pin.computeForwardKinematicsDerivatives(self.model, self.data, *args)
        number, axes = self._frame(frame), reference_frame(expressed_in)
        pin.updateFramePlacements(self.model, self.data)
        velocity = pin.getFrameVelocityDerivatives(self.model, self.data, number, axes)
        acceleration = pin.getFrameAccelerationDerivatives(self.model, self.data, number, axes)
        matrices = [np.array(matrix)[:, self._order] for matrix in (*velocity, *acceleration[1:])]
        if expressed_in == "local_world_aligned":
            dp = self.frame_jacobian(q, frame=frame, expressed_in=expressed_in)[:3]
            twist = pin.getFrameVelocity(self.model, self.data, number, axes)
            change = pin.getFrameAcceleration(self.model, self.data, number, axes)
            matrices[0][:3] += np.cross(twist.angular, dp.T).T
            matrices[2][:3] += np.cross(change.angular, dp.T).T
        return matrices

    def body_derivatives(self, q: Array, v: Array, body: str) -> list[Array]:
        """Of the velocity of the body behind a joint, in its own axes, by q and v."""
        pin.computeForwardKinematicsDerivatives(self.model, self.data, self._q(q), self._v(v), 0.0 * self._v(v))
        joint = self.model.frames[self._frame(body)].parentJoint
        found = pin.getJointVelocityDerivatives(self.model, self.data, joint, pin.ReferenceFrame.LOCAL)
        return [np.array(matrix)[:, self._order] for matrix in found]


def near(actual: ArrayLike, expected: ArrayLike, what: str, scale: float = 0.0) -> None:
    """To 1e-8 of the largest entry, or of `scale` where terms of that size cancel."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, what
    size = max(float(np.abs(expected).max(initial=0.0)), scale)
    error = float(np.abs(actual - expected).max(initial=0.0))
    assert error <= 1e-8 * size, f"{what}: off by {error:.3g}, its largest entry is {size:.3g}"


def witnessed(file: str, floating_base: bool) -> tuple[kt.Model, DerivativesOracle]:
    robot = load_robot(file, floating_base=floating_base)
    return robot, DerivativesOracle(robot_path(file), robot)


def pushed(robot: kt.Model) -> dict[str, Array]:
    """Forces on two bodies."""
    rng = np.random.default_rng(2)
    names = list(robot.bodies)
    return {name: 10.0 * rng.normal(size=6) for name in (names[len(names) // 2], names[-1])}


MATRICES = {"by_q": 0, "by_v": 1, "by the third": 2}


@EACH_KIND
def test_derivatives_of_the_dynamics_of_real_robots(file: str, floating_base: bool) -> None:
    """On floats, matrix by matrix, with forces from outside on some."""
    robot, witness = witnessed(file, floating_base)
    q, v, qdd, tau = random_states(robot, 2)
    for k, f_ext in enumerate(({}, pushed(robot))):
        for function, x in ((kt.dynamics.rnea_derivatives, qdd), (kt.dynamics.aba_derivatives, tau)):
            name = function.__name__
            (found,) = on_floats(function, robot, q[k : k + 1], v[k : k + 1], x[k : k + 1], f_ext=f_ext)
            expected = getattr(witness, name)(q[k], v[k], x[k], f_ext)
            size = (
                1e-3
                * robot.mass
                * (1.0 if function is kt.dynamics.rnea_derivatives else np.abs(expected[2]).max(initial=0.0))
            )
            for what, number in MATRICES.items():
                near(found[number], expected[number], f"{name}, {what}", size)


@TWO
def test_derivatives_of_the_dynamics_compiled(file: str, floating_base: bool) -> None:
    robot, witness = witnessed(file, floating_base)
    q, v, qdd, tau = random_states(robot, 5)
    for function, x in ((kt.dynamics.rnea_derivatives, qdd), (kt.dynamics.aba_derivatives, tau)):
        name = function.__name__
        found = function(robot, q, v, x)
        for k in range(5):
            expected = getattr(witness, name)(q[k], v[k], x[k])
            for what, number in MATRICES.items():
                near(found[number][k], expected[number], f"{name}, {what}")


@BASES
@pytest.mark.parametrize("file", COMPILED[::3])
def test_static_torques_with_forces_from_outside(file: str, floating_base: bool) -> None:
    """Inverse dynamics at rest."""
    robot, witness = witnessed(file, floating_base)
    q, v, _, _ = random_states(robot, 2)
    rest, f_ext = np.zeros_like(v), pushed(robot)
    for k, found in enumerate(on_floats(kt.dynamics.rnea_derivatives, robot, q, rest, rest, f_ext=f_ext)):
        near(found[0], witness.static_derivatives(q[k], f_ext), "static torques by q", scale=robot.mass * 1e-3)


def test_momentum_about_the_centre_of_mass() -> None:
    """Of a robot whose base floats: all its mass moves there, too."""
    robot, witness = witnessed("borinot_description/urdf/borinot_flying_arm_2.urdf", True)
    q, v, qdd, _ = random_states(robot, 3)
    found = [
        kt.jacobian(robot, kt.dynamics.centroidal_momentum, (q, v), wrt="q"),
        *(
            kt.jacobian(robot, kt.dynamics.centroidal_momentum_rate, (q, v, qdd), wrt=name)
            for name in ("q", "v", "qdd")
        ),
    ]
    for k in range(3):
        for n, expected in enumerate(witness.centroidal_derivatives(q[k], v[k], qdd[k])):
            near(found[n][k], expected, f"centroidal dynamics, matrix {n}")


@TWO
@pytest.mark.parametrize("expressed_in", EXPRESSIONS)
def test_velocities_and_accelerations_of_frames(file: str, floating_base: bool, expressed_in: str) -> None:
    robot, witness = witnessed(file, floating_base)
    q, v, qdd, _ = random_states(robot, 2)
    frame = list(robot.joints.values())[-1].child
    options: dict[str, Any] = {"frame": frame, "expressed_in": expressed_in}
    found = [
        *(kt.jacobian(robot, kt.kinematics.frame_velocity, (q, v), wrt=name, **options) for name in ("q", "v")),
        *(
            kt.jacobian(robot, kt.kinematics.frame_acceleration, (q, v, qdd), wrt=name, **options)
            for name in ("q", "v", "qdd")
        ),
    ]
    for k in range(2):
        for n, expected in enumerate(witness.frame_derivatives(q[k], v[k], qdd[k], frame, expressed_in)):
            near(found[n][k], expected, f"{frame} in {expressed_in}, matrix {n}")


@TWO
def test_velocities_of_bodies_along_directions(file: str, floating_base: bool) -> None:
    """Forward mode: a direction of q and one of v."""
    robot, witness = witnessed(file, floating_base)
    q, v, d_q, d_v = random_states(robot, 2)
    body = list(robot.joints.values())[-1].child
    _, along = kt.jvp(
        robot, kt.kinematics.frame_velocity, (q, v), {"q": d_q, "v": d_v}, frame=body, expressed_in="local"
    )
    for k in range(2):
        by_q, by_v = witness.body_derivatives(q[k], v[k], body)
        near(along[k], by_q @ d_q[k] + by_v @ d_v[k], f"velocity of {body}")


def test_second_derivatives_of_inverse_dynamics_of_an_arm() -> None:
    """Against fourth-order differences of Pinocchio's first derivatives; it gives Python no second ones."""
    robot, witness = witnessed("asr_twodof_description/urdf/TwoDofs.urdf", False)
    q, v, qdd, _ = (x[0] for x in random_states(robot, 1))
    step = 1e-3
    for name, number in (("q", 0), ("v", 1), ("qdd", 2)):
        tensor = kt.jacobian(robot, kt.dynamics.rnea_derivatives, (q, v, qdd), wrt=name)
        for k, unit in enumerate(np.eye(robot.nv)):

            def first(h: float, number: int = number, unit: Array = unit) -> Array:
                x = [q, v, qdd]
                x[number] = robot.integrate(q, h * unit) if number == 0 else x[number] + h * unit
                return witness.rnea_derivatives(*x)

            slope = (8.0 * (first(step) - first(-step)) - first(2 * step) + first(-2 * step)) / (12.0 * step)
            near(tensor[..., k], slope, f"second derivative by {name}", scale=float(np.abs(first(0.0)).max()))

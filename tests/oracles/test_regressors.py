"""Against Pinocchio: regressors on real robots, and the log-Cholesky parameters of an inertia.

Its regressors have ten columns a joint, for everything fixed to the joint's body; here they are those of the body
whose frame is the joint's own.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.oracles.agreement import agree, compiled, on_floats, random_states
from tests.oracles.pinocchio_oracle import PinocchioOracle
from tests.oracles.test_pinocchio import BASES, DIFFERENT, EACH_KIND, witnessed

Array = NDArray[np.float64]

FEW = [
    "panda_description/urdf/panda.urdf",
    "solo_description/robots/solo12.urdf",
    "z1_description/urdf/z1.urdf",
]


class Witness(PinocchioOracle):
    """With the columns of joints in kinetree's order."""

    @staticmethod
    def of(witness: PinocchioOracle) -> Witness:
        witness.__class__ = Witness
        assert isinstance(witness, Witness)
        return witness

    @property
    def _columns(self) -> list[int]:
        joints = [self.model.getJointId(name) - 1 for name in self.robot.joints]
        return [10 * j + k for j in joints for k in range(10)]

    def torque(self, q: Array, v: Array, qdd: Array) -> Array:
        Y = pin.computeJointTorqueRegressor(self.model, self.data, self._q(q), self._v(v), self._v(qdd))
        return Y[np.ix_(self._order, self._columns)]

    def kinetic(self, q: Array, v: Array) -> Array:
        return np.ravel(pin.computeKineticEnergyRegressor(self.model, self.data, self._q(q), self._v(v)))[self._columns]

    def potential(self, q: Array) -> Array:
        return np.ravel(pin.computePotentialEnergyRegressor(self.model, self.data, self._q(q)))[self._columns]

    def wrench(self, q: Array, v: Array, qdd: Array, frame: str) -> Array:
        pin.rnea(self.model, self.data, self._q(q), self._v(v), self._v(qdd))
        return pin.frameBodyRegressor(self.model, self.data, self._frame(frame)).copy()


def moving(robot: kt.Model) -> list[str]:
    """The body whose frame each joint's is, in the order of the joints."""
    return [joint.child for joint in robot.joints.values()]


def columns_of(robot: kt.Model, names: list[str]) -> list[int]:
    order = list(robot.bodies)
    return [10 * order.index(name) + k for name in names for k in range(10)]


@EACH_KIND
def test_every_regressor_of_many_robots(file: str, floating_base: bool) -> None:
    robot, oracle = witnessed(file, floating_base)
    witness, ask = Witness.of(oracle), on_floats
    q, v, qdd, _ = random_states(robot, 2)
    chosen = columns_of(robot, moving(robot))
    Y = ask(kt.dynamics.joint_torque_regressor, robot, q, v, qdd, bodies=moving(robot))
    agree(Y, [*map(witness.torque, q, v, qdd)], "torque")
    agree(ask(kt.dynamics.kinetic_energy_regressor, robot, q, v)[:, chosen], [*map(witness.kinetic, q, v)], "kinetic")
    agree(ask(kt.dynamics.potential_energy_regressor, robot, q)[:, chosen], [*map(witness.potential, q)], "potential")
    names = list(robot.bodies)
    for frame in (names[len(names) // 2], names[-1]):
        if robot.bodies[frame].slot:
            W = ask(kt.dynamics.body_wrench_regressor, robot, q, v, qdd, frame=frame)
            agree(W, [witness.wrench(*sample, frame) for sample in zip(q, v, qdd, strict=True)], f"wrench of {frame}")


@pytest.mark.parametrize("file", FEW)
def test_some_robots_compiled(file: str) -> None:
    robot, oracle = witnessed(file, floating_base=False)
    witness, ask = Witness.of(oracle), compiled
    q, v, qdd, _ = random_states(robot, 3)
    chosen = columns_of(robot, moving(robot))
    agree(
        ask(kt.dynamics.joint_torque_regressor, robot, q, v, qdd)[:, :, chosen],
        [*map(witness.torque, q, v, qdd)],
        "torque",
    )
    agree(ask(kt.dynamics.kinetic_energy_regressor, robot, q, v)[:, chosen], [*map(witness.kinetic, q, v)], "kinetic")
    agree(ask(kt.dynamics.potential_energy_regressor, robot, q)[:, chosen], [*map(witness.potential, q)], "potential")
    momentum = ask(kt.dynamics.momentum_regressor, robot, q, v) @ kt.identification.inertial_parameters(robot)
    expected = []
    for sample in zip(q, v, strict=True):
        pin.computeCentroidalMomentum(witness.model, witness.data, witness._q(sample[0]), witness._v(sample[1]))
        f, n, com = witness.data.hg.linear, witness.data.hg.angular, witness.data.com[0]
        expected.append([*f, *(n + np.cross(com, f))])
    agree(momentum, expected, "momentum")


@BASES
@pytest.mark.parametrize("file", DIFFERENT[::6])
def test_as_many_base_parameters_as_its_regressor_has_independent_columns(file: str, floating_base: bool) -> None:
    robot, oracle = witnessed(file, floating_base)
    witness = Witness.of(oracle)
    rng = np.random.default_rng(3)
    rows = []
    while sum(map(len, rows)) < 15 * len(robot.joints) + 60:
        # Beyond the limits: where they are narrow, columns are nearly dependent.
        q = robot.integrate(robot.random(rng), rng.uniform(-np.pi, np.pi, robot.nv))
        v, qdd = rng.normal(size=(2, robot.nv)) * np.array([[3.0], [10.0]])
        rows.append(witness.torque(q, v, qdd))
    W = np.concatenate(rows)
    lengths = np.linalg.norm(W, axis=0)
    sizes = np.linalg.svd(W / np.where(lengths > 1e-9 * lengths.max(), lengths, np.inf), compute_uv=False)
    base = kt.identification.base_parameters(robot)
    rank = len(base)
    assert int((sizes > 1e-9 * sizes[0]).sum()) == rank
    assert base.weakest > 1e-7


def test_log_cholesky_parameters_are_its() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        theta = rng.normal(size=10)
        there = pin.LogCholeskyParameters(theta)
        np.testing.assert_allclose(
            kt.identification.log_cholesky.to_parameters(theta), there.toDynamicParameters(), rtol=1e-11
        )
        expected = there.calculateJacobian()
        np.testing.assert_allclose(
            kt.identification.log_cholesky.jacobian(theta), expected, rtol=0.0, atol=1e-11 * np.abs(expected).max()
        )
        J = kt.identification.log_cholesky.pseudo_inertia(there.toDynamicParameters())
        np.testing.assert_allclose(J, there.toPseudoInertia().toMatrix(), rtol=0.0, atol=1e-11 * np.abs(J).max())

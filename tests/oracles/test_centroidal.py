"""Momentum about the centre of mass against Pinocchio, on the real robots of example-robot-data.

Pinocchio leaves a fixed base's own mass out of the centre of mass, kinetree counts it (decision 0011); so with a fixed
base the witness's answers are moved from its centre to that of everything.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.oracles.agreement import Ask, agree, compiled, on_floats, random_states
from tests.oracles.pinocchio_oracle import PinocchioOracle
from tests.oracles.test_pinocchio import EACH_KIND
from tests.robots import load_robot, robot_path

Array = NDArray[np.float64]

CENTROIDAL_COMPILED = [
    ("borinot_description/urdf/borinot_flying_arm_2.urdf", True),
    ("ur_description/urdf/ur5_robot.urdf", False),
]


class CentroidalOracle(PinocchioOracle):
    """Pinocchio's answers about the centre of everything, a fixed base's mass included."""

    def _center(self, q: Array, v: Array) -> tuple[Array, Array]:
        """From the centre of everything to Pinocchio's, and its derivative."""
        if self.model.nv == 0 or self.model.inertias[0].mass == 0.0:
            return np.zeros(3), np.zeros(3)
        base = self.model.inertias[0]
        pin.centerOfMass(self.model, self.data, self._q(q), self._v(v))
        share = base.mass / (base.mass + self._moving_mass)
        return share * (self.data.com[0] - base.lever), share * self.data.vcom[0]

    @property
    def _moving_mass(self) -> float:
        return sum(inertia.mass for inertia in self.model.inertias[1:])

    def momentum(self, q: Array, v: Array, point: Array) -> Array:
        h = np.array(pin.computeCentroidalMomentum(self.model, self.data, self._q(q), self._v(v)).vector)
        return _about(h, self.data.com[0] - point)

    def centroidal_momentum(self, q: Array, v: Array) -> Array:
        pin.ccrba(self.model, self.data, self._q(q), self._v(v))
        h = self.data.hg.vector.copy()
        return _about(h, self._center(q, v)[0])

    def centroidal_momentum_rate(self, q: Array, v: Array, qdd: Array) -> Array:
        pin.computeCentroidalMomentumTimeVariation(self.model, self.data, self._q(q), self._v(v), self._v(qdd))
        rate = self.data.dhg.vector.copy()
        return _about(rate, self._center(q, v)[0])

    def centroidal_momentum_matrix(self, q: Array) -> Array:
        A = pin.computeCentroidalMap(self.model, self.data, self._q(q))[:, self._order]
        d, _ = self._center(q, np.zeros(self.model.nv))
        return np.array([_about(column, d) for column in A.T]).T

    def centroidal_momentum_matrix_rate(self, q: Array, v: Array) -> Array:
        pin.dccrba(self.model, self.data, self._q(q), self._v(v))
        A, A_dot = self.data.Ag[:, self._order].copy(), self.data.dAg[:, self._order].copy()
        d, d_dot = self._center(q, v)
        moved = np.array([_about(column, d) for column in A_dot.T]).T
        moved[3:] += np.cross(d_dot, A[:3].T).T
        return moved

    def centroidal_inertia(self, q: Array) -> Array:
        pin.ccrba(self.model, self.data, self._q(q), np.zeros(self.model.nv))
        inertia = self.data.Ig.inertia.copy()
        base, m = self.model.inertias[0], self._moving_mass
        out = np.zeros((6, 6))
        out[:3, :3] = (m + base.mass) * np.eye(3)
        if base.mass:
            c = (m * self.data.com[0] + base.mass * base.lever) / (m + base.mass)
            inertia += m * _parallel(self.data.com[0] - c) + base.inertia + base.mass * _parallel(base.lever - c)
        out[3:, 3:] = inertia
        return out


def _about(wrench: Array, d: Array) -> Array:
    """[f; n] about a point from which d leads to the one that it was about."""
    return np.concatenate([wrench[:3], wrench[3:] + np.cross(d, wrench[:3])])


def _parallel(c: Array) -> Array:
    return c @ c * np.eye(3) - np.outer(c, c)


def check(ask: Ask, robot: kt.Model, witness: CentroidalOracle, count: int) -> None:
    """Rotors that are symmetric about their axes have a constant matrix, so it is the measure of its derivative."""
    q, v, qdd, _ = random_states(robot, count)
    points = np.random.default_rng(3).normal(size=(count, 3))
    size = float(np.abs(ask(kt.dynamics.centroidal_momentum_matrix, robot, q)).max())
    for function, arguments in (
        (kt.dynamics.momentum, (q, v, points)),
        (kt.dynamics.centroidal_momentum, (q, v)),
        (kt.dynamics.centroidal_momentum_rate, (q, v, qdd)),
        (kt.dynamics.centroidal_momentum_matrix, (q,)),
        (kt.dynamics.centroidal_momentum_matrix_rate, (q, v)),
        (kt.dynamics.centroidal_inertia, (q,)),
    ):
        name = function.__name__
        scale = 1e-2 * size if name.endswith("rate") else 0.0
        agree(ask(function, robot, *arguments), [*map(getattr(witness, name), *arguments)], name, scale)


@EACH_KIND
def test_momentum_of_real_robots_on_floats(file: str, floating_base: bool) -> None:
    robot = load_robot(file, floating_base=floating_base)
    check(on_floats, robot, CentroidalOracle(robot_path(file), robot), 2)


@pytest.mark.parametrize(("file", "floating_base"), CENTROIDAL_COMPILED)
def test_momentum_of_real_robots_compiled(file: str, floating_base: bool) -> None:
    robot = load_robot(file, floating_base=floating_base)
    check(compiled, robot, CentroidalOracle(robot_path(file), robot), 5)

"""The inverse of the mass matrix and the Coriolis matrix against Pinocchio, entry by entry, on real robots."""

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

COMPILED_HERE = [
    ("borinot_description/urdf/borinot_flying_arm_2.urdf", True),
    ("panda_description/urdf/panda.urdf", False),
    ("solo_description/robots/solo12.urdf", True),
]


class Witness(PinocchioOracle):
    """With the functions of this family."""

    def mass_matrix_inverse(self, q: Array) -> Array:
        upper = np.triu(pin.computeMinverse(self.model, self.data, self._q(q)))
        return self._ordered(upper + upper.T - np.diag(np.diag(upper)))

    def coriolis_matrix(self, q: Array, v: Array) -> Array:
        return self._ordered(pin.computeCoriolisMatrix(self.model, self.data, self._q(q), self._v(v)))

    def mass_matrix_solve(self, q: Array, force: Array) -> Array:
        pin.crba(self.model, self.data, self._q(q))
        pin.cholesky.decompose(self.model, self.data)
        return pin.cholesky.solve(self.model, self.data, self._v(force))[self._order]

    def factors_product(self, q: Array, v: Array) -> Array:
        """H v by its own factors U D Uᵀ."""
        pin.crba(self.model, self.data, self._q(q))
        pin.cholesky.decompose(self.model, self.data)
        U, D = np.array(self.data.U), np.array(self.data.D)
        return (U @ (D * (U.T @ self._v(v))))[self._order]

    def _ordered(self, matrix: Array) -> Array:
        return np.array(matrix)[np.ix_(self._order, self._order)]


def check(ask: Ask, file: str, floating_base: bool, count: int) -> None:
    robot = load_robot(file, floating_base=floating_base)
    witness = Witness(robot_path(file), robot)
    q, v, _, tau = random_states(robot, count)
    C = ask(kt.dynamics.coriolis_matrix, robot, q, v)
    H = np.array([*map(witness.crba, q)])
    turned = float(np.abs(H).max() * np.abs(v).max())  # where axes are parallel nothing but rounding is left of C
    agree(C, [*map(witness.coriolis_matrix, q, v)], "coriolis_matrix", scale=1e-3 * turned)
    gravity = np.array([*map(witness.gravity_forces, q)])
    bias = np.array([*map(witness.bias_forces, q, v)])
    scale = max(float(np.abs(bias).max()), float(np.abs(gravity).max()))
    agree(np.einsum("kij,kj->ki", C, v), bias - gravity, "C v", scale=scale)
    if robot.singular_joints:
        return
    agree(ask(kt.mass_matrix_inverse, robot, q), [*map(witness.mass_matrix_inverse, q)], "mass_matrix_inverse")
    agree(
        ask(kt.dynamics.mass_matrix_solve, robot, q, tau),
        [*map(witness.mass_matrix_solve, q, tau)],
        "mass_matrix_solve",
    )
    stacked = on_floats(kt.dynamics.mass_matrix_factors, robot, q)
    if ask is compiled:
        found = kt.dynamics.mass_matrix_factors(robot, q)
        agree(np.concatenate([found.L, found.D[:, None]], axis=1), stacked, "mass_matrix_factors")
    for k, (rows, x) in enumerate(zip(stacked, tau, strict=True)):
        L, D = rows[:-1], rows[-1]
        agree([L.T @ (D * (L @ x))], [witness.factors_product(q[k], x)], "mass_matrix_factors")


@EACH_KIND
def test_real_robots_on_floats(file: str, floating_base: bool) -> None:
    check(on_floats, file, floating_base, 2)


@pytest.mark.parametrize(("file", "floating_base"), COMPILED_HERE)
def test_real_robots_compiled(file: str, floating_base: bool) -> None:
    check(compiled, file, floating_base, 5)

"""Hybrid dynamics, floating bases, the base's wrench and the Jacobian form against Pinocchio.

It has no call for the first two: they are what its mass matrix and nonlinear effects say, row by row.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.oracles.agreement import Ask, agree, compiled, on_floats, random_states
from tests.oracles.pinocchio_oracle import PinocchioOracle
from tests.oracles.test_pinocchio import BASES, EACH_KIND, States, witnessed

Array = NDArray[np.float64]

FEW = [
    "ur_description/urdf/ur5_robot.urdf",
    "bolt_description/robots/bolt.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
]


def partitioned(witness: PinocchioOracle, held: Array, q: Array, v: Array, tau: Array, qdd: Array) -> Array:
    """(2, nv): q̈ and τ of all joints where those `held` are given q̈."""
    H, C = witness.crba(q), witness.bias_forces(q, v)
    found = np.where(held, qdd, 0.0)
    free = ~held
    found[free] = np.linalg.solve(H[np.ix_(free, free)], tau[free] - C[free] - H[np.ix_(free, held)] @ qdd[held])
    return np.stack([found, np.where(held, H @ found + C, tau)])


def accuracy(witness: PinocchioOracle, q: Array, expected: Array) -> float:
    """What 1e-9 is relative to: a dense solution has the error of the mass matrix's condition."""
    return float(np.abs(expected).max() * max(1.0, 1e-4 * max(np.linalg.cond(witness.crba(x)) for x in q)))


@EACH_KIND
def test_every_other_joint_is_prescribed(file: str, floating_base: bool) -> None:
    robot, witness = witnessed(file, floating_base)
    check_hybrid(on_floats, robot, witness, random_states(robot, 2))


@EACH_KIND
def test_the_wrench_on_the_base(file: str, floating_base: bool) -> None:
    robot, witness = witnessed(file, floating_base)
    check_wrench(on_floats, robot, witness, random_states(robot, 2))


@EACH_KIND
def test_the_jacobian_form(file: str, floating_base: bool) -> None:
    robot, witness = witnessed(file, floating_base)
    check_jacobian_form(on_floats, robot, witness, random_states(robot, 1))


@BASES
@pytest.mark.parametrize("file", FEW)
def test_robots_compiled(file: str, floating_base: bool) -> None:
    robot, witness = witnessed(file, floating_base)
    states = random_states(robot, 4)
    check_hybrid(compiled, robot, witness, states)
    check_wrench(compiled, robot, witness, states)
    check_jacobian_form(compiled, robot, witness, states)


def check_hybrid(ask: Ask, robot: kt.Model, witness: PinocchioOracle, states: States) -> None:
    """With joints of either half prescribed, and all but a floating base."""
    q, v, qdd, tau = states
    for first in (0, 1):
        names = list(robot.joints)[first::2]
        held = np.zeros(robot.nv, dtype=bool)
        for name in names:
            held[robot.joints[name].v_slice] = True
        expected = np.array([partitioned(witness, held, *x) for x in zip(q, v, tau, qdd, strict=True)])
        found = both(ask(kt.dynamics.hybrid_dynamics, robot, q, v, tau, qdd, prescribed=names))
        agree(found, expected, "hybrid_dynamics", scale=accuracy(witness, q, expected))
    if robot.floating_base:
        held = np.arange(robot.nv) >= 6
        expected = np.array([partitioned(witness, held, *x) for x in zip(q, v, 0.0 * tau, qdd, strict=True)])
        found = both(ask(kt.dynamics.floating_inverse_dynamics, robot, q, v, qdd))
        agree(found, expected, "floating_inverse_dynamics")


def both(found: Array | tuple[Array, Array]) -> Array:
    """(…, 2, nv), of the public function's tuple as well."""
    return np.stack(found, axis=-2) if isinstance(found, tuple) else found


def check_wrench(ask: Ask, robot: kt.Model, witness: PinocchioOracle, states: States) -> None:
    """What its inverse dynamics hands to the universe, and the weight of what is fixed there."""
    q, v, qdd, tau = states
    if robot.floating_base:
        held = np.arange(robot.nv) < 6
        answers = [partitioned(witness, held, *x) for x in zip(q, v, tau, qdd, strict=True)]
        expected = np.array([forces[:6] for _, forces in answers])
        a_base = qdd[:, :6]
    else:
        accelerations = [*map(witness.aba, q, v, tau)]
        expected = np.array([on_the_universe(witness, *x) for x in zip(q, v, accelerations, strict=True)])
        a_base = np.zeros((len(q), 6))
    found = ask(kt.dynamics.base_wrench, robot, q, v, tau, a_base)
    agree(found, expected, "base_wrench", scale=accuracy(witness, q, expected))


def on_the_universe(witness: PinocchioOracle, q: Array, v: Array, qdd: Array) -> Array:
    """[f; n] about the world's origin."""
    witness.rnea(q, v, qdd)
    model, data = witness.model, witness.data
    base = model.inertias[0]
    weight = -base.mass * model.gravity.linear
    total = np.concatenate([weight, np.cross(base.lever, weight)])
    for joint in range(1, model.njoints):
        if model.parents[joint] == 0:
            total += data.liMi[joint].act(data.f[joint]).vector
    return total


def check_jacobian_form(ask: Ask, robot: kt.Model, witness: PinocchioOracle, states: States) -> None:
    q, v, _, tau = states
    M, C = np.moveaxis(matrices(ask(kt.dynamics.euler_lagrange_matrices, robot, q, v)), 1, 0)
    agree(M, [*map(witness.crba, q)], "M")
    own = np.einsum("nij,nj->ni", C, v)
    pairs = [(pin_coriolis(witness, *x), x) for x in zip(q, v, strict=True)]
    expected = np.array([C_pin @ x[1] for C_pin, x in pairs])
    scale = float(np.abs(M).max() * np.abs(v).max() ** 2)  # where there is no such force at all
    agree(own, expected, "C v", scale=scale)
    agree(ask(kt.dynamics.coriolis_forces, robot, q, v), expected, "coriolis_forces", scale=scale)
    expected = np.array([*map(witness.aba, q, v, tau)])
    found = ask(kt.dynamics.euler_lagrange, robot, q, v, tau)
    agree(found, expected, "euler_lagrange", scale=accuracy(witness, q, expected))


def matrices(found: Array | tuple[Array, Array]) -> Array:
    """(…, 2, nv, nv), of the public function's tuple as well."""
    return np.stack(found, axis=-3) if isinstance(found, tuple) else found


def pin_coriolis(witness: PinocchioOracle, q: Array, v: Array) -> Array:
    """Its Coriolis matrix, another one with the same product with v."""
    order = witness._order
    C = pin.computeCoriolisMatrix(witness.model, witness.data, witness._q(q), witness._v(v))
    return C[np.ix_(order, order)].copy()

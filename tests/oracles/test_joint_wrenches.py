"""Wrenches of joints against Pinocchio's `data.f` and MuJoCo's `cfrc_int`; articulated inertias against `data.Yaba`."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from tests.oracles.agreement import agree, compiled, on_floats, random_states
from tests.oracles.mujoco_oracle import MujocoOracle
from tests.oracles.test_mujoco import COMPILED as IN_MUJOCO
from tests.oracles.test_pinocchio import BASES, COMPILED, COMPILED_DYNAMICS, witnessed
from tests.robots import load_robot, robot_path

FEW = [
    "ur_description/urdf/ur5_robot.urdf",
    "panda_description/urdf/panda.urdf",
    "solo_description/robots/solo12.urdf",
]


SOME = [file for file in COMPILED if file not in FEW][::2]


@BASES
@pytest.mark.parametrize("file", FEW + SOME + COMPILED_DYNAMICS)
def test_pinocchio(file: str, floating_base: bool) -> None:
    robot, witness = witnessed(file, floating_base)
    q, v, qdd, _ = random_states(robot, 2)
    ask = compiled if file in FEW else on_floats
    for expressed_in in ("local", "world"):
        expected = [witness.joint_wrenches(*x, expressed_in=expressed_in) for x in zip(q, v, qdd, strict=True)]
        agree(ask(kt.dynamics.joint_wrenches, robot, q, v, qdd, expressed_in=expressed_in), expected, expressed_in)


@BASES
@pytest.mark.parametrize("file", IN_MUJOCO)
def test_mujoco(file: str, floating_base: bool) -> None:
    robot = load_robot(file, floating_base=floating_base)
    witness = MujocoOracle(robot_path(file), robot)
    q, v, qdd, _ = random_states(robot, 2)
    expected = [*map(witness.joint_wrenches, q, v, qdd)]
    agree(on_floats(kt.dynamics.joint_wrenches, robot, q, v, qdd, expressed_in="world"), expected, "cfrc_int")


@BASES
@pytest.mark.parametrize("file", FEW + SOME)
def test_articulated_inertias(file: str, floating_base: bool) -> None:
    """Pinocchio keeps Iᴬ - U D⁻¹ Uᵀ, which a body hands on, and Iᴬ itself for bodies on the root."""
    robot, witness = witnessed(file, floating_base)
    model, data = witness.model, witness.data
    q, v, _, tau = random_states(robot, 2)
    inertias = on_floats(kt.dynamics.articulated_inertias, robot, q, expressed_in="local")
    joints = on_floats(kt.dynamics.articulated_joints, robot, q, v, tau)
    for k in range(len(q)):
        pin.aba(model, data, witness._q(q[k]), witness._v(v[k]), witness._v(tau[k]), pin.Convention.LOCAL)
        for name, joint in robot.joints.items():
            j, part = model.getJointId(name), joint.v_slice
            IA, U, D = (
                inertias[k][list(robot.bodies).index(joint.child)],
                joints[k][part, :6],
                joints[k][part, 7:][:, part],
            )
            kept = IA - U.T @ np.linalg.solve(D, U) if model.parents[j] else IA
            agree(kept[None], data.Yaba[j][None], f"Yaba of {name!r}", scale=float(np.abs(IA).max()))
            agree(U[None], data.joints[j].U.T.reshape(1, -1, 6), f"U of {name!r}", scale=float(np.abs(IA).max()))

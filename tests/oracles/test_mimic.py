"""Joints that mimic others against Pinocchio, which reads them as followers when asked to.

It has inverse dynamics, the mass matrix and kinematics of them, but no articulated-body algorithm; forward dynamics is
its mass matrix solved.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.oracles.agreement import agree, compiled, on_floats
from tests.robots import load_robot, robot_path

Array = NDArray[np.float64]

FILES = [
    "baxter_description/urdf/baxter.urdf",
    "panda_description/urdf/panda.urdf",
    "pr2_description/urdf/pr2.urdf",
    "tiago_pro_description/robots/tiago_pro.urdf",
]
COMPILED = FILES[1:2]
"""The smaller ones; the others are asked on floats."""


class Witness:
    """Pinocchio's model of a file with its followers."""

    def __init__(self, file: str, floating_base: bool) -> None:
        root = [pin.JointModelFreeFlyer()] if floating_base else []
        self.robot = load_robot(file, floating_base=floating_base, mimic=True)
        self.model = pin.buildModelFromUrdf(str(robot_path(file)), *root, mimic=True)
        self.data = self.model.createData()
        self.owners = [joint for joint in self.robot.joints.values() if joint.mimic is None]
        there = [self.model.joints[self.model.getJointId(joint.name)] for joint in self.owners]
        self.order = [k for joint in there for k in range(joint.idx_v, joint.idx_v + joint.nv)]
        assert len(self.order) == self.model.nv == self.robot.nv

    def q(self, q: Array) -> Array:
        out = np.empty(self.model.nq)
        for joint in self.owners:
            there = self.model.joints[self.model.getJointId(joint.name)]
            own = q[joint.q_slice]
            if there.nq == 2:
                own = np.array([np.cos(own[0]), np.sin(own[0])])
            out[there.idx_q : there.idx_q + there.nq] = own
        return out

    def v(self, v: Array) -> Array:
        out = np.empty(self.model.nv)
        out[self.order] = v
        return out


@pytest.mark.parametrize("floating_base", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("file", FILES)
def test_followers_weigh_and_move_as_pinocchios_do(file: str, floating_base: bool) -> None:
    w = Witness(file, floating_base)
    rng = np.random.default_rng(5)
    frame = list(w.robot.bodies)[-1]
    ask = compiled if file in COMPILED else on_floats
    for _ in range(2):
        q, v, qdd = w.robot.random(rng), *rng.normal(size=(2, w.robot.nv))
        tau = pin.rnea(w.model, w.data, w.q(q), w.v(v), w.v(qdd))[w.order]
        agree(ask(kt.rnea, w.robot, q[None], v[None], qdd[None]), tau[None], "rnea")
        upper = np.triu(pin.crba(w.model, w.data, w.q(q)))
        H = (upper + upper.T - np.diag(np.diag(upper)))[np.ix_(w.order, w.order)]
        agree(ask(kt.crba, w.robot, q[None]), H[None], "crba")
        C = pin.nonLinearEffects(w.model, w.data, w.q(q), w.v(v))[w.order]
        agree(ask(kt.aba, w.robot, q[None], v[None], tau[None]), np.linalg.solve(H, tau - C)[None], "aba")
        pin.framesForwardKinematics(w.model, w.data, w.q(q))
        there = w.data.oMf[w.model.getFrameId(frame, pin.FrameType.BODY)].homogeneous
        agree(ask(kt.frame_placement, w.robot, q[None], frame=frame), there[None], "frame_placement")

"""Springs and dampers along fixed tendons beside MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import kinetree as kt
from tests.oracles.test_actuators import TREE, loaded

TENDONS = """
    <fixed name="plain" stiffness="3" damping="0.5">
      <joint joint="hip" coef="0.5"/><joint joint="knee" coef="-1.5"/></fixed>
    <fixed name="slack" stiffness="3 1 2" springlength="-0.2 0.3"><joint joint="slide" coef="2"/></fixed>
    <fixed name="damped" damping="1 2 0.5" springlength="0.1"><joint joint="post" coef="-1"/></fixed>
    <fixed name="driven"><joint joint="post" coef="1"/><joint joint="slide" coef="0.3"/></fixed>
"""
ACTUATORS = '<motor tendon="driven" gear="3" damping="0.2 0.1 0.4"/><motor tendon="driven" damping="1"/>'


@pytest.mark.parametrize("flags", ["", '<flag spring="disable"/>', '<flag damper="disable"/>'])
def test_forces_are_those_of_mujoco(flags: str) -> None:
    text = TREE.format(actuators=ACTUATORS, options="", flags=flags).replace("<tendon>", f"<tendon>{TENDONS}")
    text = text.replace('axis="0 1 0" ref="0.3" damping="0.4"', 'axis="0 1 0" ref="0.3" springref="0.7"')
    robot, m = loaded(text), mujoco.MjModel.from_xml_string(text)
    d, layout, rng = mujoco.MjData(m), kt.interop.Layout(robot, "mujoco"), np.random.default_rng(2)
    for _ in range(20):
        mujoco.mj_resetData(m, d)
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 1.0)
        d.qvel[:] = rng.normal(size=m.nv)
        mujoco.mj_fwdPosition(m, d)
        mujoco.mj_fwdVelocity(m, d)
        q, v = layout.q_from(d.qpos), layout.v_from(d.qpos, d.qvel)
        ours = layout.tau_to(q, kt.dynamics.tendon_forces(robot, q, v))
        np.testing.assert_allclose(ours, d.qfrc_spring + d.qfrc_damper, atol=1e-12)
        springs = layout.tau_to(q, kt.dynamics.tendon_forces(robot, q, v, part="springs"))
        np.testing.assert_allclose(springs, d.qfrc_spring, atol=1e-12)


@pytest.mark.parametrize("flags", ["", '<flag spring="disable"/>', '<flag damper="disable"/>'])
def test_quadratic_and_cubic_terms_of_joints_are_those_of_mujoco(flags: str) -> None:
    motor = '<motor joint="knee" gear="2" damping="0.3 0.2 0.1"/>'
    text = TREE.format(actuators=motor, options="", flags=flags)
    text = text.replace('ref="0.3" damping="0.4"', 'ref="0.3" springref="0.7" damping="0.4 0.3 0.2" stiffness="3 2 1"')
    text = text.replace('<joint name="post"', '<joint name="post" stiffness="0 0 4" damping="0 2"')
    robot, m = loaded(text), mujoco.MjModel.from_xml_string(text)
    d, layout, rng = mujoco.MjData(m), kt.interop.Layout(robot, "mujoco"), np.random.default_rng(2)
    which = [name for name, flag in (("spring", "spring"), ("damping", "damper")) if flag not in flags]
    for _ in range(10):
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 1.0)
        d.qvel[:] = rng.normal(size=m.nv)
        mujoco.mj_forward(m, d)
        q, v = layout.q_from(d.qpos), layout.v_from(d.qpos, d.qvel)
        ours = layout.tau_to(
            q, kt.dynamics.tendon_forces(robot, q, v) + kt.dynamics.passive_forces(robot, q, v, passive=which)
        )
        np.testing.assert_allclose(ours, d.qfrc_spring + d.qfrc_damper, atol=1e-12)


def test_what_is_not_computed_is_refused_by_name() -> None:
    rope = '<spatial name="rope" stiffness="2"><site site="toe"/><site site="ground"/></spatial>'
    text = TREE.format(actuators="", options="", flags="").replace("<tendon>", f"<tendon>{rope}")
    robot = loaded(text)
    with pytest.raises(kt.errors.OptionError, match="the tendon 'rope' is spatial, which is not computed"):
        kt.dynamics.tendon_forces(robot, robot.neutral(), np.zeros(robot.nv))
    ball = TREE.format(actuators="", options="", flags="").replace('name="ball"', 'name="ball" damping="1 2"')
    with pytest.raises(
        kt.errors.OptionError, match="the joint 'ball' has quadratic or cubic terms, which is computed for"
    ):
        kt.dynamics.tendon_forces(loaded(ball), robot.neutral(), np.zeros(robot.nv))


def test_a_robot_without_tendons_has_no_forces() -> None:
    robot = kt.zoo.load("arm6")
    assert not kt.dynamics.tendon_forces(robot, robot.neutral(), np.ones(6)).any()

"""Friction, springs, gains and gears as inputs, beside MuJoCo's models whose numbers are changed in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.model.reference import reference_configuration

Array = NDArray[Any]
ACCURACY = 1e-9
STEPS = 100

ARM = """
<mujoco model="arm"><option timestep="0.002" integrator="{integrator}" tolerance="0" iterations="200"/><worldbody>
  <geom type="plane" size="3 3 0.1" pos="0 0 -0.45"/>
  <body name="a"><joint name="j1" axis="0 1 0" damping="0.1" range="-2 2" limited="true"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0"/>
  <body name="b" pos="0.4 0 0"><joint name="j2" axis="0 1 0" frictionloss="0.05"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0"/>
  <body name="c" pos="0.4 0 0"><joint name="j3" type="slide" axis="1 0 0"/><geom type="box" size="0.05 0.05 0.05"/>
  <body name="d" pos="0.1 0 0"><joint name="j4" axis="0 0 1" actuatorfrcrange="-3 3" actuatorfrclimited="true"/>
  <geom type="box" size="0.05 0.05 0.05"/></body></body></body></body></worldbody>
<actuator>
  <position name="servo" joint="j1" kp="20" kv="1" forcerange="-8 8" ctrlrange="-1 1"/>
  <position name="ratio" joint="j2" kp="10" dampratio="0.8"/>
  <velocity name="speed" joint="j3" kv="5" forcerange="-2 2"/>
  <general name="scaled" joint="j4" gainprm="0.1" biastype="affine" biasprm="0.2 -4 -0.5" forcerange="-2.5 2.5"/>
  <motor name="motor" joint="j2" gear="2"/>
  <damper name="damper" joint="j3" kv="2" ctrlrange="0 1"/>
</actuator></mujoco>
"""
METHODS = {"Euler": "semi_implicit_euler", "RK4": "rk4", "implicitfast": "implicitfast"}


def of_joints(m: Any) -> dict[str, Any]:
    m.dof_damping[:] = 0.3, 0.2, 4.0, 0.01
    m.dof_frictionloss[:] = 0.4, 0.3, 0.0, 0.02
    m.jnt_stiffness[:] = 3.0, 0.0, 20.0, 1.0
    m.qpos_spring[:] = 0.2, 0.0, -0.05, 0.3
    columns = {
        "damping": m.dof_damping, "friction": m.dof_frictionloss, "stiffness": m.jnt_stiffness, "rest": m.qpos_spring
    }  # fmt: skip
    return {f"joint.j{k + 1}.{name}": [x[k]] for name, x in columns.items() for k in range(4)}


def of_actuators(m: Any) -> dict[str, Any]:
    m.actuator_gainprm[0, 0], m.actuator_biasprm[0, 1:3] = 31.0, (-31.0, -1.7)
    m.actuator_gainprm[1, 0], m.actuator_biasprm[1, 1] = 7.0, -7.0
    m.actuator_gainprm[2, 0], m.actuator_biasprm[2, 2] = 3.0, -3.0
    m.actuator_gainprm[3, 0], m.actuator_biasprm[3, :3] = 0.2, (0.4, -8.0, -0.6)  # its controls mean what they did
    m.actuator_forcerange[3] = -1.5, 5.0  # of which the joint keeps 3
    m.actuator_gear[4, 0] = 3.3
    m.actuator_gainprm[5, :3] = 0.1, 0.0, -1.4
    return {
        "actuator.servo.kp": 31.0, "actuator.servo.kd": 1.7, "actuator.ratio.kp": 7.0, "actuator.speed.kd": 3.0,
        "actuator.scaled.kp": 8.0, "actuator.scaled.kd": 0.6, "actuator.scaled.force_range": [-1.5, 5.0],
        "actuator.motor.gear": 3.3, "actuator.damper.gain_parameters": [0.1, 0.0, -1.4],
    }  # fmt: skip


def of_general_laws(m: Any) -> dict[str, Any]:
    m.actuator_gainprm[0, 0], m.actuator_biasprm[0, :3] = 25.0, (0.5, -30.0, -2.0)
    m.actuator_gear[2, 0] = -1.5
    m.actuator_forcerange[0] = -3.0, 2.0
    return {
        "actuator.servo.gain_parameters": [25.0, 0.0, 0.0], "actuator.servo.bias_parameters": [0.5, -30.0, -2.0],
        "actuator.speed.gear": -1.5, "actuator.servo.force_range": [-3.0, 2.0],
    }  # fmt: skip


@pytest.mark.parametrize("integrator", METHODS)
@pytest.mark.parametrize("change", [of_joints, of_actuators, of_general_laws])
def test_motions_are_those_of_a_changed_model(
    integrator: str, change: Callable[[Any], dict[str, Any]], tmp_path: Any
) -> None:
    """Beside it in the batch is the robot as it is, which the parameters with its own values leave as it is."""
    text = ARM.format(integrator=integrator)
    file = tmp_path / "arm.xml"
    file.write_text(text)
    robot, m = kt.load(file), mujoco.MjModel.from_xml_string(text)
    given = change(m)
    rng = np.random.default_rng(1)
    q, v, ctrl = np.array([0.3, -0.2, 0.1, 0.4]), rng.normal(size=4), rng.uniform(-1.0, 1.0, (STEPS, 6))
    ctrl[:, 5] = np.abs(ctrl[:, 5])
    d = mujoco.MjData(m)
    d.qpos, d.qvel = q, v
    expected = []
    for row in ctrl:
        d.ctrl = row
        mujoco.mj_step(m, d)
        expected.append([*d.qpos, *d.qvel])
    options: dict[str, Any] = {"ctrl": ctrl, "contact": True, "passive": True, "divide": False}
    options["integrator"] = METHODS[integrator]
    two = {name: np.stack([np.asarray(x), robot.parameter(name)]) for name, x in given.items()}
    found, own = kt.rollout(robot, q, v, np.zeros((STEPS, 4)), 0.002, parameters=two, **options)
    np.testing.assert_allclose(found, expected, rtol=0, atol=ACCURACY)
    alone = kt.rollout(robot, q, v, np.zeros((STEPS, 4)), 0.002, **options)
    np.testing.assert_allclose(own, alone, rtol=0, atol=ACCURACY)
    assert np.abs(found - alone).max() > 0.05


def test_the_damping_of_a_ratio_is_mujocos(tmp_path: Any) -> None:
    text = ARM.format(integrator="Euler")
    (tmp_path / "arm.xml").write_text(text)
    m = mujoco.MjModel.from_xml_string(text)
    robot = kt.load(tmp_path / "arm.xml")
    assert robot.parameter("actuator.ratio.kd") == pytest.approx(-m.actuator_biasprm[1, 2], rel=1e-12)
    np.testing.assert_allclose(robot.parameter("actuator.ratio.bias_parameters"), m.actuator_biasprm[1, :3], rtol=1e-12)


def test_dry_friction_of_joints_with_many_contacts(tmp_path: Any) -> None:
    """Contacts in loops: one joint gets dry friction, another one other dry friction."""
    balls = "".join(
        f'<body pos="{0.25 * (k % 4)} {1.0 + 0.25 * (k // 4)} {0.02 * k - 0.4}"><freejoint/><geom size="0.1"/></body>'
        for k in range(12)
    )
    arm = ARM.format(integrator="Euler").replace("</worldbody>", f"{balls}</worldbody>").partition("<actuator>")[0]
    (tmp_path / "heap.xml").write_text(f"{arm}</mujoco>")
    robot, m = kt.load(tmp_path / "heap.xml"), mujoco.MjModel.from_xml_string(f"{arm}</mujoco>")
    assert kt.contact.soft_constraints(robot).are_looped
    d = mujoco.MjData(m)
    m.dof_frictionloss[:2] = 0.4, 0.3
    for _ in range(50):
        mujoco.mj_step(m, d)
    given = {"joint.j1.friction": [[0.4]], "joint.j2.friction": [[0.3]]}
    q, v, tau = reference_configuration(robot), np.zeros(robot.nv), np.zeros((50, robot.nv))
    (found,) = kt.rollout(
        robot, q, v, tau, 0.002, contact=True, passive=True, integrator="semi_implicit_euler", parameters=given
    )
    start = robot.joints["j1"].q_slice.start
    np.testing.assert_allclose(found[-1, start : start + 4], d.qpos[:4], rtol=0, atol=1e-8)


def test_dry_friction_of_a_tendon(tmp_path: Any) -> None:
    parts = '<joint joint="j1" coef="1"/><joint joint="j2" coef="-2"/>'
    tendon = f'<tendon><fixed name="cord" frictionloss="0.1">{parts}</fixed></tendon>'
    text = ARM.format(integrator="Euler").partition("<actuator>")[0] + f"{tendon}</mujoco>"
    (tmp_path / "arm.xml").write_text(text)
    robot, m = kt.load(tmp_path / "arm.xml"), mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    m.tendon_frictionloss[0] = 0.9
    for _ in range(50):
        mujoco.mj_step(m, d)
    given = {"tendon.cord.friction": [0.9, robot.parameter("tendon.cord.friction")]}
    found = kt.rollout(
        robot, robot.neutral(), np.zeros(4), np.zeros((50, 4)), 0.002, contact=True, passive=True,
        integrator="semi_implicit_euler", parameters=given,
    )  # fmt: skip
    np.testing.assert_allclose(found[0, -1, :4], d.qpos, rtol=0, atol=ACCURACY)
    assert np.abs(found[0] - found[1]).max() > 0.01

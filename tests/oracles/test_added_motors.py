"""Motors and servos that a URDF robot gets from its limits, beside MuJoCo's motor, position and velocity actuators."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.model.extras import Sensor

Array = NDArray[Any]
LINK = """<link name="{0}"><inertial><origin xyz="0 0.02 0.1"/><mass value="{1}"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><origin xyz="0.1 0 0.2" rpy="0.3 0 0"/>
  <axis xyz="{4}"/><dynamics damping="0.1"/><limit {5} velocity="2" effort="{6}"/></joint>"""
URDF = "".join((
    '<robot name="crane">',
    *(LINK.format(*x) for x in (("base", 1), ("tower", 3), ("boom", 2), ("hook", 1))),
    JOINT.format("turn", "continuous", "base", "tower", "0 0 1", "", 8),
    JOINT.format("luff", "revolute", "tower", "boom", "0 1 0", 'lower="-1" upper="0.5"', 5),
    JOINT.format("reel", "prismatic", "boom", "hook", "0 0 1", 'lower="-0.2" upper="0.4"', 20),
    "</robot>",
))  # fmt: skip
ACTUATORS = {
    "motors": """<motor joint="turn" ctrlrange="-8 8"/><motor joint="luff" ctrlrange="-5 5"/>
        <motor joint="reel" ctrlrange="-20 20"/>""",
    "servos": """<position joint="turn" kp="30" kv="4" forcerange="-8 8"/>
        <position joint="luff" kp="20" kv="3" ctrlrange="-1 0.5" forcerange="-5 5"/>
        <position joint="reel" kp="90" kv="20" ctrlrange="-0.2 0.4" forcerange="-20 20"/>""",
    "speeds": """<velocity joint="turn" kv="4" ctrlrange="-2 2" forcerange="-8 8"/>
        <velocity joint="luff" kv="3" ctrlrange="-2 2" forcerange="-5 5"/>
        <velocity joint="reel" kv="20" ctrlrange="-2 2" forcerange="-20 20"/>""",
}
MADE = {
    "motors": lambda robot: robot.with_motors(),
    "servos": lambda robot: robot.with_servos(kp=[30.0, 20.0, 90.0], kd=[4.0, 3.0, 20.0]),
    "speeds": lambda robot: robot.with_servos(kp=0.0, kd=[4.0, 3.0, 20.0]),
}
STEPS, DT = 60, 0.004


@pytest.fixture(scope="module")
def crane(tmp_path_factory: pytest.TempPathFactory) -> kt.Model:
    path = tmp_path_factory.mktemp("crane") / "crane.urdf"
    path.write_text(URDF)
    return kt.load(path)


def save(robot: kt.Model, path: Path) -> None:
    """Write it as MJCF, which has no place for limits of velocities."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        kt.save(robot, path, lossy=True)


def beside(robot: kt.Model, actuators: str, path: Path) -> mujoco.MjModel:
    """The robot in MuJoCo without actuators of ours, with these."""
    save(robot, path)
    text = path.read_text().replace("</mujoco>", f"<actuator>{actuators}</actuator></mujoco>")
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep, model.opt.integrator = DT, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    return model


@pytest.mark.parametrize("which", ACTUATORS)
def test_forces_and_motions_are_those_of_mujoco(crane: kt.Model, which: str, tmp_path: Path) -> None:
    robot = MADE[which](crane)
    model = beside(crane, ACTUATORS[which], tmp_path / "crane.xml")
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    ctrl = np.repeat(rng.normal(0.0, 6.0 if which == "motors" else 0.8, (STEPS // 10, 3)), 10, axis=0)
    q, v = np.array([0.4, -0.2, 0.1]), np.array([0.3, -0.5, 0.2])
    data.qpos[:], data.qvel[:] = q, v
    expected, forces = np.empty((STEPS, 6)), np.empty((STEPS, 3))
    for k in range(STEPS):
        data.ctrl[:] = ctrl[k]
        mujoco.mj_step(model, data)
        expected[k], forces[k] = [*data.qpos, *data.qvel], data.actuator_force
    states = kt.rollout(robot, q, v, None, DT, ctrl=ctrl, passive=["damping"], integrator="implicitfast")
    np.testing.assert_allclose(states, expected, rtol=1e-9, atol=1e-10)
    began = np.vstack([[*q, *v], states[:-1]])
    np.testing.assert_allclose(
        kt.dynamics.actuator_forces(robot, began[:, :3], began[:, 3:], ctrl).forces, forces, atol=1e-8
    )
    if which != "speeds":
        assert (abs(forces) == robot.effort_limit).any()  # some of them at their ends


@pytest.mark.parametrize("which", ACTUATORS)
def test_a_saved_robot_has_the_actuators(crane: kt.Model, which: str, tmp_path: Path) -> None:
    robot = MADE[which](crane)
    save(robot, tmp_path / "ours.xml")
    ours = mujoco.MjModel.from_xml_path(str(tmp_path / "ours.xml"))
    theirs = beside(crane, ACTUATORS[which], tmp_path / "theirs.xml")
    for name in ("gainprm", "biasprm", "ctrlrange", "forcerange", "ctrllimited", "forcelimited", "trnid", "gear"):
        np.testing.assert_array_equal(
            getattr(ours, f"actuator_{name}"), getattr(theirs, f"actuator_{name}"), err_msg=name
        )
    again = kt.load(tmp_path / "ours.xml")
    assert [(one.name, one.kind) for one in again.extras.actuators] == [
        (one.name, one.kind) for one in robot.extras.actuators
    ]
    q, v, ctrl = [0.4, -0.2, 0.1], [0.3, -0.5, 0.2], [0.2, 0.7, -0.3]
    np.testing.assert_array_equal(
        kt.dynamics.actuator_forces(again, q, v, ctrl).tau, kt.dynamics.actuator_forces(robot, q, v, ctrl).tau
    )


def test_servos_turn_ball_joints_as_mujoco_has_it(tmp_path: Path) -> None:
    builder = kt.ModelBuilder("eye")
    builder.add_body("socket")
    builder.add_body("ball", kt.solids.box(0.1, 0.2, 0.3, mass=1.0))
    builder.add_joint("look", kt.joints.Spherical(), "socket", "ball")
    bare = builder.build()
    robot = bare.with_servos(kp=8.0, kd=0.5)
    axes = "".join(
        f'<position joint="look" kp="8" kv="0.5" gear="{gear} 0 0 0"/>' for gear in ("1 0 0", "0 1 0", "0 0 1")
    )
    model = beside(bare, axes, tmp_path / "eye.xml")
    data = mujoco.MjData(model)
    rng = np.random.default_rng(2)
    q, v, ctrl = bare.random(rng), rng.normal(size=3), rng.normal(size=3)
    data.qpos[:], data.qvel[:], data.ctrl[:] = q[[3, 0, 1, 2]], v, ctrl
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(kt.dynamics.actuator_forces(robot, q, v, ctrl).tau, data.qfrc_actuator, rtol=1e-9)


def test_sensors_measure_added_motors(crane: kt.Model) -> None:
    builder = kt.ModelBuilder.of(crane.with_servos(kp=20.0, kd=3.0, joints=["luff"]))
    sensors = (Sensor("felt", "actuatorfrc", "actuator", "luff"), Sensor("angle", "actuatorpos", "actuator", "luff"))
    builder.extras = replace(builder.extras, sensors=sensors)
    robot = builder.build()
    q, v = np.array([0.4, -0.2, 0.1]), np.array([0.3, -0.5, 0.2])
    found = kt.dynamics.sensors(robot, q, v, kt.aba(robot, q, v, np.zeros(3)), [-0.3], names=["felt", "angle"])
    np.testing.assert_allclose(found, [20.0 * (-0.3 + 0.2) + 3.0 * 0.5, -0.2], rtol=1e-12)

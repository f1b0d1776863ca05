"""Simulations under commands of actuators beside MuJoCo's steps, with what sensors of actuators measure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import kinetree as kt
from tests.actuated import LEG

START = np.array([0.3, 0.2]), np.array([0.5, -0.4])
STEPS, DT = 30, 0.002


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_simulated_steps_are_mujoco_s(tmp_path: Path, integrator: str) -> None:
    (tmp_path / "leg.xml").write_text(LEG)
    leg, model = kt.load(tmp_path / "leg.xml"), mujoco.MjModel.from_xml_string(LEG)
    if integrator == "rk4":
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = START
    ctrl: Any = np.random.default_rng(2).uniform(-2.0, 2.0, (STEPS, 3))
    states, felt, accelerations = [], [], []
    for row in ctrl:
        data.ctrl[:] = row
        mujoco.mj_step(model, data)
        states.append([*data.qpos, *data.qvel, *data.act])
        felt.append(data.sensordata.copy())
        accelerations.append(data.qacc.copy())
    motion = kt.simulate(
        leg, q=START[0], v=START[1], ctrl=ctrl, dt=DT, duration=STEPS * DT, integrator=integrator, contact=True,
        record=["sensors", "accelerations"],
    )  # fmt: skip
    found = np.hstack([motion.q, motion.v, motion.recorded["act"]])[1:]
    np.testing.assert_allclose(found, states, rtol=0, atol=1e-11)
    if integrator == "rk4":  # MuJoCo's sensors and accelerations are those of its last stage
        return
    sensed = np.hstack([motion.recorded["sensor.felt"], motion.recorded["sensor.all"]])
    np.testing.assert_allclose(sensed[:-1], felt, rtol=0, atol=1e-11)
    np.testing.assert_allclose(motion.qdd[:-1], accelerations, rtol=0, atol=1e-9)

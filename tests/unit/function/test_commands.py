"""Rollouts with commands of actuators: what acts besides, and commands that are not numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinetree as kt

SWIMMER = """
<mujoco><option timestep="0.01" density="1000" viscosity="0.2" gravity="0 0 0"/>
<worldbody><body name="head"><joint name="x" type="slide" axis="1 0 0"/><joint name="turn" axis="0 0 1"/>
  <geom type="capsule" size=".05" fromto="0 0 0 .4 0 0"/>
  <body name="tail"><joint name="bend" axis="0 0 1"/><geom type="capsule" size=".05" fromto="0 0 0 -.4 0 0"/></body>
</body></worldbody>
<actuator><motor joint="bend" gear="3"/></actuator></mujoco>"""


@pytest.fixture(scope="module")
def swimmer(tmp_path_factory: pytest.TempPathFactory) -> kt.Model:
    path = tmp_path_factory.mktemp("robots") / "swimmer.xml"
    Path(path).write_text(SWIMMER)
    return kt.load(path)


def test_the_medium_acts(swimmer: kt.Model) -> None:
    q, v, dt = np.array([0.1, 0.2, 0.4]), np.array([1.0, -0.5, 2.0]), 0.01
    with_commands = kt.rollout(swimmer, q, v, None, dt, ctrl=[[0.7]])
    tau = kt.dynamics.fluid_forces(swimmer, q, v) + kt.dynamics.actuator_forces(swimmer, q, v, [0.7]).tau
    np.testing.assert_allclose(with_commands, kt.rollout(swimmer, q, v, tau[None], dt), rtol=1e-12)
    assert np.abs(kt.dynamics.fluid_forces(swimmer, q, v)).max() > 1.0


def test_a_command_of_nan_harms_no_other_sample(swimmer: kt.Model) -> None:
    q, v = np.zeros((5, 3)), np.zeros((5, 3))
    ctrl = np.random.default_rng(0).normal(size=(5, 12, 1))
    sound = kt.rollout(swimmer, q, v, None, 0.01, ctrl=ctrl)
    ctrl[3, 4] = np.nan
    with np.errstate(invalid="ignore"):
        found = kt.rollout(swimmer, q, v, None, 0.01, ctrl=ctrl)
    np.testing.assert_array_equal(np.delete(found, 3, axis=0), np.delete(sound, 3, axis=0))
    np.testing.assert_array_equal(found[3, :4], sound[3, :4])
    assert np.isnan(found[3, 4:, -1]).all()

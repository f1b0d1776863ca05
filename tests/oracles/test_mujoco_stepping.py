"""A thousand steps beside MuJoCo's own, from the same state and with the same commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.functions.integrator_options import usual_integrator

Array = np.ndarray[Any, Any]
INTEGRATORS = {
    "semi_implicit_euler": mujoco.mjtIntegrator.mjINT_EULER,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    "rk4": mujoco.mjtIntegrator.mjINT_RK4,
}
ARM = """
<mujoco><option timestep="0.004"/><default><joint damping="0.2" armature="0.02"/></default>
<worldbody>
  <body name="upper" gravcomp="0.5"><joint name="shoulder" type="ball"/><geom type="capsule" size=".04 .2" mass="2"/>
    <body name="lower" pos="0 0 .3"><joint name="elbow" axis="0 1 0" range="-40 40" limited="true"/>
      <geom type="capsule" size=".03 .2" pos="0 0 .2" mass="1"/>
      <body pos="0 0 .4"><joint name="left" type="slide" axis="1 0 0" stiffness="50"/>
        <geom size=".03" mass=".3"/></body>
      <body pos="0 0 .45"><joint name="right" type="slide" axis="1 0 0" frictionloss="0.2"/>
        <geom size=".03" mass=".3"/></body></body></body>
</worldbody>
<tendon><fixed name="grip" stiffness="20 5" damping="2 1"><joint joint="left" coef="1"/><joint joint="right" coef="-1"/>
</fixed></tendon>
<actuator>
  <position joint="shoulder" gear="1 2 3" kp="3" kv=".2"/>
  <general joint="elbow" dyntype="filterexact" dynprm=".1" gainprm="3" biastype="affine" biasprm="0 -2 -.3"
    actrange="-.5 .6" forcerange="-1.2 1.5"/>
  <general tendon="grip" dyntype="integrator" gaintype="affine" gainprm="1 .5 -.2" ctrlrange="-1 1" actrange="-2 2"/>
  <velocity joint="left" kv="2" ctrlrange="-1 1"/>
</actuator></mujoco>"""
TUMBLING = """
<mujoco><option timestep="0.004" gravity="0 0 0"/>
<worldbody>
  <body pos="0 0 5"><freejoint/><geom type="box" size=".1 .2 .3" pos=".05 .02 .1" euler="20 30 40" mass="2"/></body>
  <body pos="3 0 5"><joint type="free" damping=".05" armature=".01"/><geom type="ellipsoid" size=".1 .2 .3" mass="1"/>
  </body>
</worldbody></mujoco>"""
ON_THE_GROUND = """
<mujoco><option timestep="0.004"/><worldbody><geom type="plane" size="0 0 1" euler="3 0 0"/>
  <body name="ball" pos="0 0 .1"><freejoint/><geom type="sphere" size=".1" mass="1"/></body>
  <body name="box" pos="1 0 .1"><freejoint/><geom type="box" size=".2 .2 .1" mass="2" friction=".3"/></body>
</worldbody></mujoco>"""

SWIMMING = """
<mujoco><option timestep="0.01" density="900" viscosity="0.5" wind="1 -2 0.5"/>
<worldbody>
  <body><joint name="drives" axis="0 0 1"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/>
    <body pos=".3 0 0"><joint axis="0 1 0"/><geom type="box" size=".1 .01 .04" pos=".1 0 .02" euler="20 0 10"/></body>
  </body>
  <body pos="0 0 2"><freejoint/><geom type="ellipsoid" size=".1 .2 .05" pos=".1 0 0"/></body>
</worldbody><actuator><motor joint="drives" gear=".1"/></actuator></mujoco>"""


class Beside:
    """A file in both, and a state of it."""

    def __init__(self, folder: Path, text: str, speed: float) -> None:
        path = folder / "robot.xml"
        path.write_text(text)
        self.robot = kt.load(path)
        self.model = mujoco.MjModel.from_xml_string(text)
        option = self.model.opt
        option.tolerance, option.iterations, option.ls_iterations = 0.0, 200, 100
        option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
        rng = np.random.default_rng(3)
        self.v, self.ctrl = speed * rng.normal(size=self.model.nv), rng.uniform(-1.0, 1.0, self.model.nu)
        self.layout = kt.interop.Layout(self.robot, "mujoco")

    def ours(self, integrator: Any, steps: int) -> Array:
        model, data = self.model, mujoco.MjData(self.model)
        ctrl = np.tile(self.ctrl, (steps, 1)) if model.nu else None
        tau = None if model.nu else np.zeros((steps, model.nv))
        q, v = self.layout.q_from(data.qpos), self.layout.v_from(data.qpos, self.v)
        return kt.rollout(
            self.robot, q, v, tau, model.opt.timestep, ctrl=ctrl, integrator=integrator, passive=True, contact=True
        )

    def theirs(self, integrator: Any, steps: int) -> Array:
        model, data = self.model, mujoco.MjData(self.model)
        model.opt.integrator, data.qvel[:], data.ctrl[:] = integrator, self.v, self.ctrl
        rows = []
        for _ in range(steps):
            mujoco.mj_step(model, data)
            rows.append([*self.layout.q_from(data.qpos), *self.layout.v_from(data.qpos, data.qvel), *data.act])
        return np.array(rows)


SCENES = {"arm": (ARM, 1.0), "tumbling": (TUMBLING, 3.0), "on the ground": (ON_THE_GROUND, 1.0)}


@pytest.mark.parametrize(
    ("text", "speed", "integrator"),
    [pytest.param(*scene, x, id=f"{name}-{x}") for name, scene in SCENES.items() for x in INTEGRATORS],
)
def test_a_thousand_steps_stay_together(text: str, speed: float, integrator: str, tmp_path: Path) -> None:
    beside = Beside(tmp_path, text, speed)
    ours, theirs = beside.ours(integrator, 1000), beside.theirs(INTEGRATORS[integrator], 1000)
    assert abs(theirs).max() < 1e3
    nq = beside.robot.nq
    assert abs(beside.robot.difference(ours[:, :nq], theirs[:, :nq])).max() < 1e-6
    np.testing.assert_allclose(ours[:, nq:], theirs[:, nq:], rtol=0, atol=1e-6 * max(1.0, abs(theirs[:, nq:]).max()))


def test_euler_steps_without_damping_at_their_end(tmp_path: Path) -> None:
    text = ARM.replace('timestep="0.004"/>', 'timestep="0.004"><flag eulerdamp="disable"/></option>')
    beside = Beside(tmp_path, text, 1.0)
    assert usual_integrator(beside.robot, has_contact=True) == "symplectic_euler"
    ours, theirs = beside.ours("symplectic_euler", 100), beside.theirs(INTEGRATORS["semi_implicit_euler"], 100)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)
    assert abs(ours - beside.ours("semi_implicit_euler", 100)).max() > 1e-4


def test_the_medium_acts_at_the_end_of_implicitfast_steps(tmp_path: Path) -> None:
    beside = Beside(tmp_path, SWIMMING, 3.0)
    ours, theirs = beside.ours("implicitfast", 20), beside.theirs(INTEGRATORS["implicitfast"], 20)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)

"""Sensors of contacts, limits, wrenches, distances, rays and energies beside MuJoCo's sensordata."""

from __future__ import annotations

from functools import cache
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.compiler.reference import on_numbers
from tests.oracles.test_actuators import loaded

ACCURACY = 1e-8
Array = NDArray[Any]

SCENE = """
<mujoco model="scene">
  <option timestep="0.002" {option}/>
  <compiler angle="radian"/>
  <worldbody>
    <site name="room" type="box" size="2 2 0.15"/>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="shelf" pos="2 0 0.5"><geom name="board" type="box" size="0.3 0.3 0.05" mass="2"/>
      <site name="bracket" pos="-0.31 0 0" euler="0.1 0.2 0.3"/></body>
    <body name="trunk" pos="0 0 0.22" euler="0.02 0.1 0"><freejoint/>
      <geom name="hull" type="box" size="0.2 0.15 0.05" mass="4"/>
      <site name="belly" type="{zone}" size="0.1 0.12 0.08" pos="0 0 0.02" euler="0 0.3 0"/>
      <site name="eye" pos="0.1 0.05 -0.06" euler="3.0 0.1 0"/>
      <body name="mast" pos="0 0 0.05" euler="0 0 0.4">
        <geom type="cylinder" size="0.02 0.1" mass="0.3" contype="0" conaffinity="0"/>
        <site name="cell" pos="0.01 0 -0.02" euler="0.3 0 0.2"/></body>
      <body name="leg" pos="0.2 0 -0.03"><joint name="knee" axis="0 1 0" range="-0.05 0.03" margin="0.02"
          stiffness="3"/>
        <geom name="foot" type="capsule" fromto="0 0 0 0 0 -0.16" size="0.02" mass="0.5" condim="{condim}"/>
        <site name="toe" type="sphere" size="0.03" pos="0 0 -0.16"/>
        <site name="ankle" pos="0 0 -0.1" euler="0 0.3 0"/>
        <body name="shoe" pos="0 0 -0.1"><geom name="shoe" type="sphere" size="0.05" pos="0.05 0.02 -0.03" mass="0.2"/>
          <site name="sole" pos="0.05 0.02 -0.03" size="0.03"/></body></body>
      <body name="tail" pos="-0.2 0 0"><joint name="ball" type="ball" range="0 0.3"/>
        <geom name="tip" type="sphere" pos="-0.1 0 -0.16" size="0.06" mass="0.3"/></body>
    </body>
    <body name="block" pos="0.05 0 0.34"><freejoint/>
      <geom name="block" type="box" size="0.05 0.06 0.04" mass="1"/></body>
    <body name="arm" pos="-2 0 1"><joint type="ball"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="1"/>
      <site name="crate" pos="0.02 0.01 0" euler="0.3 0 0"/></body>
    <body name="weight" pos="-2 0 0.6"><freejoint/><geom size="0.05" mass="2"/></body>
  </worldbody>
  <tendon><fixed name="cord" stiffness="2 1 0.5" springlength="0.1" range="-0.15 0.09" limited="true" margin="0.1">
      <joint joint="knee" coef="3"/></fixed></tendon>
  <equality><connect body1="weight" body2="arm" anchor="0 0 0.1"/></equality>
  <sensor>{sensors}</sensor>
</mujoco>"""

SENSORS = """
  <touch site="toe"/><touch site="belly"/><touch site="sole" cutoff="0.5"/><force site="sole"/><torque site="sole"/>
  <force site="cell"/><torque site="cell"/><force site="ankle" cutoff="3"/><torque site="ankle"/><force site="bracket"/>
  <torque site="bracket"/><force site="belly"/><force site="room"/>
  <jointlimitpos joint="knee"/><jointlimitvel joint="knee"/><jointlimitfrc joint="knee"/><jointlimitpos joint="ball"/>
  <jointlimitvel joint="ball"/><jointlimitfrc joint="ball"/>
  <tendonlimitpos tendon="cord"/><tendonlimitvel tendon="cord"/><tendonlimitfrc tendon="cord"/><force site="crate"/>
  <torque site="crate"/>
  <contact geom1="floor" data="found force torque dist pos normal tangent" num="3" reduce="mindist"/>
  <contact geom2="floor" data="found force torque dist pos normal tangent" num="12" reduce="maxforce"/>
  <contact body1="leg" body2="world" data="found force normal"/><contact subtree1="leg" data="found dist" num="2"/>
  <contact geom1="hull" geom2="block" data="force torque dist pos normal" num="2" reduce="mindist"/>
  <contact geom1="block" geom2="hull" data="force torque dist pos normal" num="2" reduce="mindist"/>
  <contact subtree1="trunk" subtree2="world" data="found force torque dist pos normal tangent" reduce="netforce"/>
  <contact body2="trunk" data="force torque pos" num="2" reduce="netforce"/>
  <contact data="found" num="2"/><contact site="belly" data="found dist pos" num="2" reduce="mindist"/>
  <contact site="room" geom2="foot" data="found force" reduce="maxforce"/>
  <insidesite objtype="geom" objname="tip" site="room"/><insidesite objtype="body" objname="block" site="belly"/>
  <insidesite objtype="site" objname="toe" site="belly"/>
  <subtreeangmom body="trunk"/><subtreeangmom body="leg"/><subtreeangmom body="world"/><subtreecom body="tail"/>
  <e_potential/><e_kinetic/>
  <rangefinder site="eye"/><rangefinder site="eye" data="dist dir origin point"/><rangefinder site="sole"/>
  <rangefinder site="bracket"/><rangefinder site="room"/><rangefinder site="ankle"/>
"""


class Beside:
    """A scene in both, at states in which things touch."""

    def __init__(self, text: str) -> None:
        self.robot = loaded(text)
        self.m = m = mujoco.MjModel.from_xml_string(text)
        m.opt.tolerance, m.opt.iterations, m.opt.ls_iterations = 0.0, 200, 100
        m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
        self.d, self.layout = mujoco.MjData(m), kt.interop.Layout(self.robot, "mujoco")

    def states(self, count: int, seed: int = 4) -> list[tuple[Array, ...]]:
        m, d, layout, rng = self.m, self.d, self.layout, np.random.default_rng(seed)
        found: list[tuple[Array, ...]] = []
        for _ in range(count):
            mujoco.mj_resetData(m, d)
            mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 0.1)
            d.qvel[:] = rng.normal(size=m.nv)
            mujoco.mj_step(m, d, int(rng.integers(40, 150)))
            d.qvel[:] += 0.3 * rng.normal(size=m.nv)
            mujoco.mj_forward(m, d)
            state = layout.q_from(d.qpos), layout.v_from(d.qpos, d.qvel), layout.qdd_from(d.qpos, d.qvel, d.qacc)
            found.append((*state, d.sensordata.copy()))
        return found


@cache
def scene(option: str, condim: int, zone: str) -> Beside:
    return Beside(SCENE.format(option=option, condim=condim, zone=zone, sensors=SENSORS))


@pytest.mark.parametrize(
    ("option", "condim", "zone"),
    [("", 3, "box"), ('cone="elliptic"', 4, "capsule"), ("", 6, "cylinder"), ("", 1, "ellipsoid")],
)
def test_sensors_are_those_of_mujoco(option: str, condim: int, zone: str) -> None:
    beside = scene(option, condim, zone)
    robot, m = beside.robot, beside.m
    places, active = kt.dynamics.sensor_places(robot), np.zeros(m.nsensordata, dtype=bool)
    for q, v, qdd, theirs in beside.states(4):
        given = [x.tolist() for x in (q, v, qdd)]
        ours = np.array(on_numbers(kt.dynamics.sensors.definition, robot, given, contact=True))  # type: ignore[attr-defined]
        assert ours.shape == theirs.shape
        active |= theirs != 0.0
        for k, (name, place) in enumerate(places.items()):
            assert (place.start, place.stop - place.start) == (m.sensor_adr[k], m.sensor_dim[k])
            atol = ACCURACY * max(1.0, np.abs(theirs[place]).max())
            np.testing.assert_allclose(ours[place], theirs[place], rtol=0.0, atol=atol, err_msg=name)
    seen = [name for name, place in places.items() if active[place].any()]
    assert len(seen) > 0.8 * len(places)


DISTANCES = """
  <distance geom1="hull" geom2="board" cutoff="5"/><normal geom1="board" geom2="hull" cutoff="5"/>
  <fromto geom1="tip" geom2="board" cutoff="5"/><distance geom1="floor" geom2="block" cutoff="1"/>
  <distance geom1="tip" geom2="board" cutoff="0.1"/><fromto geom1="tip" geom2="board" cutoff="0.1"/>
  <distance body1="leg" body2="shelf" cutoff="9"/><normal body1="leg" body2="shelf" cutoff="9"/>
"""


def test_distances_are_those_of_mujoco() -> None:
    """Which MuJoCo finds by iterations that end at 1e-6 m."""
    beside = Beside(SCENE.format(option="", condim=3, zone="box", sensors=DISTANCES))
    for q, v, _, theirs in beside.states(3):
        ours = on_numbers(kt.dynamics.sensors.definition, beside.robot, [q.tolist(), v.tolist()])  # type: ignore[attr-defined]
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-5)


LOOP = """
<mujoco model="loop">
  <option timestep="0.002"/>
  <compiler angle="radian"/>
  <worldbody>
    <body name="base" pos="0 0 1" euler="0 0 0.4"><joint axis="0 1 0" damping="0.1"/>
      <geom type="box" size="0.2 0.05 0.02" mass="1"/><site name="cell" pos="0.05 0.02 0" euler="0.3 0.1 0.2"/>
      <body name="crank" pos="-0.2 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02"/>
      </body>
      <body name="rocker" pos="0.2 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02"/>
        <body name="coupler" pos="0 0 -0.3"><joint axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 -0.4 0 0.1" size="0.02"/></body></body>
      <body name="lid" pos="0 0 0.1"><joint type="ball"/><geom type="box" size="0.1 0.1 0.01" mass="0.2"/></body>
    </body>
  </worldbody>
  <equality><connect body1="coupler" body2="crank" anchor="-0.4 0.03 0.1"/>
    <weld body1="lid" body2="base" torquescale="0.7"/></equality>
  <sensor><force site="cell"/><torque site="cell"/></sensor>
</mujoco>"""


def test_a_violated_connection_inside_leaves_a_couple() -> None:
    """Its two forces act at two points, and along the hinges' axis, too, where it moves nothing."""
    beside = Beside(LOOP)
    for q, v, qdd, theirs in beside.states(6):
        given = [x.tolist() for x in (q, v, qdd)]
        ours = on_numbers(kt.dynamics.sensors.definition, beside.robot, given, contact=True)  # type: ignore[attr-defined]
        np.testing.assert_allclose(ours, theirs, rtol=ACCURACY, atol=ACCURACY)

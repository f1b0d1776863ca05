"""Actuators beside MuJoCo: forces, joint forces and rates of activations, of each kind, with each range and flag."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.actuation.reaches import reach_of
from kinetree.algorithms.transmissions import reach_velocity, viewed
from kinetree.functions.actuators import actuators_of

COUNT = 40
ACCURACY = 1e-11
Array = NDArray[Any]

TREE = """
<mujoco model="machine">
  <compiler angle="radian"/>
  <option timestep="0.01" {options}>{flags}</option>
  <worldbody>
    <site name="ground" pos="0.3 0.1 0.2" euler="0.3 -0.5 0.8"/>
    <body name="base" pos="0 0 1" euler="0.2 0.1 0">
      <freejoint name="free"/>
      <geom type="box" size="0.2 0.1 0.1"/>
      <site name="hull" pos="0.1 0 0.05" euler="0.4 0 0.3"/>
      <body name="thigh" pos="0.2 0 0" gravcomp="0.7">
        <joint name="hip" axis="0 1 0" ref="0.3" damping="0.4" actuatorfrclimited="true" actuatorfrcrange="-3 2"/>
        <joint name="slide" type="slide" axis="1 0 0" actuatorgravcomp="true"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.04"/>
        <body name="shin" pos="0 0 -0.4" gravcomp="1.2">
          <joint name="knee" axis="0 1 0.2" actuatorfrcrange="-4 4" pos="0 0.02 0" armature="0.1"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03"/>
          <body name="foot" pos="0 0 -0.4">
            <joint name="ball" type="ball" actuatorgravcomp="true" pos="0 0 0.03"/>
            <geom type="box" size="0.1 0.05 0.02" pos="0.03 0 0"/>
            <site name="toe" pos="0.1 0 0" euler="0.1 0.2 0.3"/>
          </body>
        </body>
      </body>
    </body>
    <body name="post" pos="1 0 0">
      <joint name="post" axis="0 0 1" range="-1 2" limited="true"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.04"/>
      <site name="tip" pos="0 0 0.4"/>
    </body>
  </worldbody>
  <tendon>
    <fixed name="cable"><joint joint="hip" coef="0.5"/><joint joint="knee" coef="-1.5"/></fixed>
    <fixed name="weak" actuatorfrclimited="true" actuatorfrcrange="-0.5 0.8">
      <joint joint="slide" coef="2"/><joint joint="post" coef="1"/>
    </fixed>
  </tendon>
  <actuator>{actuators}</actuator>
</mujoco>"""

KINDS = {
    "motors": """
        <motor joint="hip" gear="30"/><motor joint="slide" gear="-2" ctrllimited="true" ctrlrange="-0.5 0.2"/>
        <motor joint="knee" forcelimited="true" forcerange="-0.3 1"/>""",
    "servos": """
        <position joint="knee" kp="20" kv="3"/><velocity joint="slide" kv="4"/>
        <position joint="hip" kp="7" dampratio="0.7"/><position tendon="cable" kp="5" dampratio="1.1" gear="2"/>
        <position joint="post" kp="4" inheritrange="1"/><damper joint="post" kv="5" ctrlrange="0 2"/>""",
    "activations": """
        <intvelocity joint="hip" kp="9" actrange="-0.4 0.3" actlimited="true"/>
        <position joint="knee" kp="9" timeconst="0.03"/><cylinder joint="slide" timeconst="0.2" area="3" bias="1 2 3"/>
        <general joint="hip" dyntype="filter" dynprm="0.02" gaintype="affine" gainprm="1 2 3" biastype="affine"
          biasprm="4 5 6" ctrlrange="-1 1"/>
        <general joint="knee" dyntype="filter" dynprm="0"/>""",
    "early": """
        <intvelocity joint="hip" kp="9" actrange="-0.4 0.3"/>
        <general joint="slide" dyntype="integrator" actearly="true" actlimited="true" actrange="-0.3 0.3" gainprm="2"/>
        <general joint="knee" dyntype="filter" dynprm="0.03" actearly="true"/>
        <motor joint="post"/>
        <general joint="post" dyntype="filterexact" dynprm="0.02" actearly="true" actlimited="true" actrange="-1 0.5"/>
        <general joint="hip" dyntype="filterexact" dynprm="0" actearly="true"/>""",
    "joints": """
        <motor joint="ball" gear="1 -2 0.5"/><motor jointinparent="ball" gear="0.2 0.3 0.4"/>
        <motor joint="free" gear="1 2 3 4 5 6"/><motor jointinparent="free" gear="-1 0.5 2 3 1 0.3"/>
        <position joint="ball" gear="0 0 1" kp="3"/><position jointinparent="ball" gear="1 1 0" kp="2" kv="1"/>
        <general joint="ball" gear="0 2 0" dyntype="integrator" gainprm="5" biastype="affine" biasprm="0 -5 -1"/>
        <motor jointinparent="knee" gear="3"/>""",
    "tendons": """
        <motor tendon="cable" gear="3"/><position tendon="cable" kp="6" kv="2" gear="0.5"/>
        <motor tendon="weak"/><position tendon="weak" kp="3" forcerange="-0.4 0.4"/><motor tendon="weak" group="3"/>""",
    "sites": """
        <motor site="toe" gear="1 2 3 0.1 0.2 0.3"/><motor site="hull" gear="0 0 5 0 0 1"/>
        <motor site="toe" refsite="hull" gear="1 2 3 0 0 0"/>
        <position site="toe" refsite="ground" gear="1 0 2 0 1 0" kp="4"/>
        <position site="toe" refsite="hull" gear="0 0 0 0.5 1 0" kp="4" kv="0.3"/>
        <position site="tip" refsite="toe" gear="0 1 0 0 0 0" kp="8"/><motor site="ground" gear="1 1 1 1 1 1"/>
        <general site="hull" refsite="ground" gear="1 0 0 0 0 0" gaintype="affine" gainprm="1 2 3"/>""",
    "slider-cranks": """
        <motor cranksite="toe" slidersite="hull" cranklength="1.5" gear="3"/>
        <position cranksite="tip" slidersite="ground" cranklength="0.8" kp="4" kv="0.3"/>
        <position cranksite="hull" slidersite="ground" cranklength="0.1" kp="4" gear="-2"/>
        <position cranksite="ground" slidersite="toe" cranklength="2" kp="4" dampratio="1"/>""",
    "muscles": """
        <muscle joint="hip" lengthrange="-0.8 0.9" gear="0.5"/><muscle joint="knee" lengthrange="-2 2" force="30"/>
        <muscle tendon="cable" lengthrange="-1 1.5" timeconst="0.02 0.05" tausmooth="0.3" range="0.6 1.3" vmax="3"/>
        <muscle joint="slide" lengthrange="-1 1" force="5" lmin="0.3" lmax="1.9" fpmax="2" fvmax="1.5" scale="100"
          forcerange="-9 0"/><motor joint="post"/>""",
    "damped": """
        <position joint="hip" kp="7" dampratio="0.7" gear="3"/><motor joint="post" damping="2" gear="2"/>
        <position site="toe" refsite="hull" gear="1 0 0 0 0 0" kp="3" dampratio="1"/>""",
}  # fmt: skip


def loaded(text: str) -> kt.Model:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        file = Path(folder) / "robot.xml"
        file.write_text(text)
        return kt.load(file)


class Beside:
    """A robot and MuJoCo's model of the same text."""

    def __init__(self, actuators: str, options: str = "", flags: str = "") -> None:
        text = TREE.format(actuators=actuators, options=options, flags=flags)
        self.robot = loaded(text)
        self.m = mujoco.MjModel.from_xml_string(text)
        self.d = mujoco.MjData(self.m)
        self.layout = kt.interop.Layout(self.robot, "mujoco")

    def states(self, spread: float = 1.0) -> dict[str, Array]:
        """Random states, controls and activations with this deviation, and what MuJoCo computes there."""
        m, d, rng = self.m, self.d, np.random.default_rng(5)
        found: dict[str, list[Array]] = {}
        for _ in range(COUNT):
            mujoco.mj_resetData(m, d)
            mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 1.0)
            d.qvel[:], d.ctrl[:] = rng.normal(size=m.nv), 2.0 * rng.normal(size=m.nu)
            d.act[:] = spread * rng.normal(size=m.na)
            for stage in (mujoco.mj_fwdPosition, mujoco.mj_fwdVelocity, mujoco.mj_fwdActuation):
                stage(m, d)
            for name in (
                "qpos", "qvel", "ctrl", "act", "actuator_force", "qfrc_actuator", "act_dot", "qfrc_gravcomp"
            ):  # fmt: skip
                found.setdefault(name, []).append(getattr(d, name).copy())
        return {name: np.array(rows) for name, rows in found.items()}

    def assert_same(self, spread: float = 1.0) -> dict[str, Array]:
        x = self.states(spread)
        q, v = self.layout.q_from(x["qpos"]), self.layout.v_from(x["qpos"], x["qvel"])
        ours = kt.dynamics.actuator_forces(self.robot, q, v, x["ctrl"], x["act"])
        _assert_close(ours.forces, x["actuator_force"])
        _assert_close(self.layout.tau_to(q, ours.tau), x["qfrc_actuator"])
        _assert_close(ours.act_rates, x["act_dot"])
        return x


def _assert_close(a: Array, b: Array) -> None:
    np.testing.assert_allclose(a, b, rtol=0.0, atol=ACCURACY * max(1.0, np.abs(b).max(initial=0.0)))


@pytest.mark.parametrize("kind", KINDS)
def test_forces_of_each_kind_are_those_of_mujoco(kind: str) -> None:
    x = Beside(KINDS[kind]).assert_same()
    assert (np.abs(x["actuator_force"]).max(axis=0) > 0.0).all()


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ("", '<flag clampctrl="disable"/>'),
        ("", '<flag actuation="disable"/>'),
        ("", '<flag gravity="disable"/>'),
        ('actuatorgroupdisable="3"', ""),
        ('actuatorgroupdisable="0"', ""),
        ('gravity="1 2 3"', ""),
    ],
)
def test_flags_and_groups(options: str, flags: str) -> None:
    Beside(KINDS["motors"] + KINDS["tendons"], options, flags).assert_same()


def test_servos_of_rotations_turn_the_shorter_way_to_activations_of_several_turns() -> None:
    x = Beside(KINDS["joints"]).assert_same(spread=20.0)
    assert (np.abs(x["act"]) > 4.0 * np.pi).any()


def test_damping_by_its_ratio_counts_the_armature_of_tendons() -> None:
    text = TREE.format(actuators='<position tendon="cable" kp="5" dampratio="1.1" gear="2"/>', options="", flags="")
    text = text.replace('<fixed name="cable">', '<fixed name="cable" armature="0.7">')
    m = mujoco.MjModel.from_xml_string(text)
    assert actuators_of(loaded(text)).actuators[0].law.bias[2] == pytest.approx(m.actuator_biasprm[0, 2], rel=1e-12)


def test_activations_of_disabled_actuators_stay() -> None:
    beside = Beside('<intvelocity joint="hip" group="2"/><intvelocity joint="knee"/>', 'actuatorgroupdisable="2"')
    found = kt.dynamics.actuator_forces(beside.robot, beside.robot.neutral(), np.zeros(beside.robot.nv), [1.0, 1.0])
    assert found.act_rates.tolist() == [0.0, 1.0]
    assert found.forces[0] == 0.0


def test_gravity_compensation_is_that_of_mujoco() -> None:
    beside = Beside(KINDS["motors"], 'gravity="1 2 -9"')
    x = beside.states()
    q = beside.layout.q_from(x["qpos"])
    whole = kt.dynamics.gravity_compensation(beside.robot, q)
    _assert_close(beside.layout.tau_to(q, whole), x["qfrc_gravcomp"])
    parts = [kt.dynamics.gravity_compensation(beside.robot, q, part=part) for part in ("actuators", "passive")]
    _assert_close(parts[0] + parts[1], whole)
    theirs = beside.m.jnt_actgravcomp[beside.m.dof_jntid].astype(bool)
    _assert_close(beside.layout.tau_to(q, parts[0]), np.where(theirs, x["qfrc_gravcomp"], 0.0))


def test_early_actuators_look_as_far_ahead_as_the_step() -> None:
    beside = Beside(KINDS["early"])
    x = beside.states()
    beside.m.opt.timestep = 0.002
    theirs = []
    for qpos, qvel, ctrl, act in zip(x["qpos"], x["qvel"], x["ctrl"], x["act"], strict=True):
        beside.d.qpos[:], beside.d.qvel[:], beside.d.ctrl[:], beside.d.act[:] = qpos, qvel, ctrl, act
        mujoco.mj_forward(beside.m, beside.d)
        theirs.append(beside.d.actuator_force.copy())
    q, v = beside.layout.q_from(x["qpos"]), beside.layout.v_from(x["qpos"], x["qvel"])
    ours = kt.dynamics.actuator_forces(beside.robot, q, v, x["ctrl"], x["act"], timestep=0.002)
    _assert_close(ours.forces, np.array(theirs))


def test_lengths_are_those_of_mujoco() -> None:
    beside = Beside("".join(KINDS.values()))
    x = beside.states()
    q, v = beside.layout.q_from(x["qpos"]), beside.layout.v_from(x["qpos"], x["qvel"])
    tree, own = beside.robot.tree, actuators_of(beside.robot)
    for k in range(5):
        beside.d.qpos[:], beside.d.qvel[:] = x["qpos"][k], x["qvel"][k]
        mujoco.mj_forward(beside.m, beside.d)
        view, rates = viewed(tree, tree.split(q[k].tolist(), "nq")), tree.split(v[k].tolist(), "nv")
        reaches = [reach_of(view, beside.robot, one.transmission) for one in own.actuators]
        _assert_close(np.array([reach.length for reach in reaches]), beside.d.actuator_length)
        _assert_close(np.array([reach_velocity(reach, rates) for reach in reaches]), beside.d.actuator_velocity)

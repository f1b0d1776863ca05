"""Contacts, limits, dry friction and couplings from an MJCF file beside MuJoCo itself: q̈ of mj_forward."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms.convex_dynamics import Effort
from kinetree.functions.contact_options import soft

SCENE = """
<mujoco model="scene">
  <option timestep="0.002" {option}/>
  <default><geom condim="{condim}" friction="0.7 0.02 0.005" {geom}/><joint {joint}/></default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" euler="0 4 0" contype="3" conaffinity="3"/>
    <body name="trunk" pos="0 0 0.32"><freejoint/>
      <geom type="box" size="0.2 0.1 0.04" mass="4"/>
      <geom name="nose" type="sphere" size="0.05" pos="0.22 0 0" mass="0.3"/>
      {legs}
    </body>
    <body name="ball" pos="0.3 0.4 0.09"><freejoint/><geom type="sphere" size="0.1" mass="1"/></body>
    <body name="rod" pos="-0.3 0.4 0.09"><freejoint/>
      <geom type="capsule" size="0.05 0.15" euler="80 0 0" mass="1"/></body>
    <body name="tin" pos="0 -0.5 0.09"><freejoint/>
      <geom type="cylinder" size="0.08 0.08" mass="1" contype="2" conaffinity="2"/></body>
    <body name="crate" pos="0.35 -0.5 0.1"><freejoint/><geom type="box" size="0.1 0.12 0.1" mass="2"/></body>
    <body name="door" pos="0 1 0.5"><joint name="hinge" axis="0 0 1" range="-20 20" frictionloss="0.3"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0" mass="1"/>
      <body pos="0.4 0 0"><joint name="ball" type="ball" range="0 40" damping="0.05"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.2 0 0" mass="0.5"/></body></body>
  </worldbody>
  <contact><exclude body1="trunk" body2="ball"/></contact>
  <equality><joint joint1="hip0" joint2="hip1" polycoef="0.05 -0.9 0.1 0 0" solref="0.03 1.2"/></equality>
</mujoco>"""
LEG = """<body name="thigh{k}" pos="{x} {y} -0.03"><joint name="hip{k}" axis="0 1 0" range="-6 7" margin="0.02"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.14" size="0.02" mass="0.5"/>
  <body name="shin{k}" pos="0 0 -0.14"><joint axis="0 1 0" range="-9 4" frictionloss="0.05"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.12" size="0.02" mass="0.3"/></body></body>"""

SETTINGS: dict[str, dict[str, str]] = {
    "as usual": {},
    "without friction": {"condim": "1"},
    "torsion": {"condim": "4"},
    "rolling": {"condim": "6", "option": 'cone="elliptic"'},
    "elliptic": {"option": 'cone="elliptic" impratio="5"'},
    "direct": {"geom": 'solref="-4000 -80" solimp="0.8 0.97 0.01 0.4 3" margin="0.01" gap="0.004"'},
    "soft limits": {"joint": 'solreflimit="0.05 0.7" solimplimit="0.7 0.9 0.02 0.5 1" solreffriction="0.04 1"'},
    "conveyors": {"geom": 'surfacevel="0.5 0.2 0.1 0 0 2"', "condim": "4"},
    "rollers": {"geom": 'surfacevel="0.5 0.2 0.1 0.3 0 2"', "option": 'cone="elliptic"', "condim": "6"},
    "sticky": {"geom": 'adhesion="3" margin="0.01"'},
    "sticky cones": {"geom": 'adhesion="3" margin="0.01"', "option": 'cone="elliptic"'},
    "sticky and smooth": {"geom": 'adhesion="3" margin="0.01"', "condim": "1"},
    "odd power": {"geom": 'solimp="0.5 0.95 0.02 0.3 1.7" margin="0.02"'},
}


def scene(setting: str) -> str:
    legs = "".join(LEG.format(k=k, x=0.17 * (-1) ** k, y=0.1 * (-1) ** (k // 2)) for k in range(2))
    parts = {"option": "", "condim": "3", "geom": "", "joint": "", **SETTINGS[setting]}
    return SCENE.format(legs=legs, **parts)


class Beside:
    """A file in both, and states of it."""

    def __init__(self, folder: Path, text: str) -> None:
        path = folder / "scene.xml"
        path.write_text(text)
        self.robot = kt.load(path)
        self.model = mujoco.MjModel.from_xml_string(text)
        option = self.model.opt
        option.tolerance, option.iterations, option.ls_iterations = 0.0, 200, 100
        option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
        self.data = mujoco.MjData(self.model)
        self.layout = kt.interop.Layout(self.robot, "mujoco")

    def states(self, count: int) -> Any:
        """(q, v, tau, q̈) in kinetree's layout, some time apart."""
        model, data, layout = self.model, self.data, self.layout
        rng = np.random.default_rng(5)
        for _ in range(count):
            data.qvel[:] += 0.5 * rng.normal(size=model.nv)
            mujoco.mj_step(model, data, 30)
            data.qfrc_applied[:] = rng.normal(size=model.nv)
            mujoco.mj_forward(model, data)
            yield (
                layout.q_from(data.qpos),
                layout.v_from(data.qpos, data.qvel),
                layout.tau_from(data.qpos, data.qfrc_applied),
                layout.qdd_from(data.qpos, data.qvel, data.qacc),
            )
            data.qfrc_applied[:] = 0.0


def on_floats(robot: kt.Model, q: Any, v: Any, tau: Any) -> tuple[np.ndarray, float]:
    """The algorithm itself."""
    tree = robot.tree
    q, v, tau = (tree.split(x.tolist(), size) for x, size in ((q, "nq"), (v, "nv"), (tau, "forces")))
    found = kt.contact.soft_constraints(robot)
    assert not found.unsupported
    rows = soft(robot, found, ("friction",), written_out=True)
    assert rows is not None
    acting = algorithms.driven(tree, q, v, tau, ("damping", "spring"), False)
    solved = algorithms.contact_dynamics(tree, q, v, acting, rows(tree, q, v, 0.0)[0], effort=Effort(iterations=30))
    return np.array(solved.acceleration), float(solved.error)


@pytest.mark.parametrize("setting", SETTINGS)
def test_accelerations_are_those_of_mujoco(setting: str, tmp_path: Path) -> None:
    beside = Beside(tmp_path, scene(setting))
    kinds: set[int] = set()
    touching = 0
    for q, v, tau, wanted in beside.states(2):
        found, error = on_floats(beside.robot, q, v, tau)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8 * np.abs(wanted).max())
        assert error < 1e-9
        kinds.update(beside.data.efc_type.tolist())
        touching = max(touching, beside.data.ncon)
    assert touching >= 5
    assert len(kinds) >= 4


SMALL = """
<mujoco model="small">
  <option timestep="0.002" integrator="Euler" {option}/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" euler="0 4 0"/>
    <body name="trunk" pos="0 0 0.19"><freejoint/>
      <geom type="box" size="0.15 0.1 0.04" mass="4"/>
      <body name="leg" pos="0.15 0 -0.03"><joint axis="0 1 0" range="-6 7" margin="0.02" damping="0.02"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.14" size="0.02" mass="0.5"/></body>
      <body name="tail" pos="-0.15 0 0"><joint axis="0 1 0" range="-9 9" {friction}/>
        <geom type="sphere" pos="-0.2 0 -0.15" size="0.03" mass="0.3" adhesion="1"/></body>
    </body>
  </worldbody>
</mujoco>"""


def test_the_kernel_is_the_algorithm_in_batches_of_any_size(tmp_path: Path) -> None:
    beside = Beside(tmp_path, SMALL.format(option="", friction='frictionloss="0.1"'))
    q, v, tau, wanted = (np.array(x) for x in zip(*beside.states(9), strict=True))
    scale = np.abs(wanted).max()
    found = kt.contact_dynamics(beside.robot, q, v, tau)
    np.testing.assert_allclose(found.qdd, wanted, rtol=0, atol=1e-8 * scale)
    assert found.error.max() < 1e-10
    assert 1 <= found.iterations.min() <= found.iterations.max() <= 10
    for k in (0, 8):
        alone = kt.contact_dynamics(beside.robot, q[k], v[k], tau[k])
        for one, many in zip(alone, found, strict=True):
            np.testing.assert_array_equal(one, many[k])
    guessed = kt.contact_dynamics(beside.robot, q, v, tau, guess=found.qdd)
    np.testing.assert_allclose(guessed.qdd, found.qdd, rtol=0, atol=1e-9 * scale)
    assert guessed.iterations.mean() < found.iterations.mean()
    free = kt.aba(beside.robot, q, v, tau + found.forces, passive=["damping", "spring"])
    np.testing.assert_allclose(free, found.qdd, rtol=0, atol=1e-8 * scale)


def test_derivatives_are_those_of_the_solution(tmp_path: Path) -> None:
    """Central differences, in states with contacts that stick, slide and are apart."""
    on_a_capsule = SMALL.replace('type="box" size="0.15 0.1 0.04"', 'type="capsule" size="0.04 0.15" euler="0 90 0"')
    beside = Beside(tmp_path, on_a_capsule.format(option='cone="elliptic"', friction=""))
    robot = beside.robot
    q, v, tau, _ = (np.array(x) for x in zip(*beside.states(12), strict=True))
    rng = np.random.default_rng(2)
    dq, dv, dtau = rng.normal(size=(3, 12, robot.nv))
    arguments = (q, v, tau, np.zeros_like(v))
    _, slopes = kt.jvp(robot, kt.contact_dynamics, arguments, {"q": dq, "v": dv, "tau": dtau})
    h = 1e-6

    def ahead(sign: float) -> Any:
        s = sign * h
        return kt.contact_dynamics(robot, kt.integrate(robot, q, s * dq), v + s * dv, tau + s * dtau).qdd

    expected = (ahead(1.0) - ahead(-1.0)) / (2.0 * h)
    off = np.abs(slopes[:, : robot.nv] - expected).max(axis=-1) / np.abs(expected).max(axis=-1)
    assert np.sort(off)[-3] < 1e-6  # a row may change its branch within the difference
    weights = np.zeros((12, 2 * robot.nv + 2))
    weights[:, : robot.nv] = rng.normal(size=(12, robot.nv))
    _, bars = kt.vjp(robot, kt.contact_dynamics, arguments, weights, wrt=("q", "v", "tau"))
    pulled = sum((bars[name] * d).sum(axis=-1) for name, d in (("q", dq), ("v", dv), ("tau", dtau)))
    np.testing.assert_allclose(pulled, (weights * slopes).sum(axis=-1), rtol=1e-9)


def test_a_motion_stays_with_mujoco(tmp_path: Path) -> None:
    """Both are semi-implicit Euler, but free bodies move along screws here: the two differ by the order of the step."""
    beside = Beside(tmp_path, SMALL.replace('damping="0.02"', "").format(option="", friction='frictionloss="0.1"'))
    model, data, layout, robot = beside.model, beside.data, beside.layout, beside.robot
    q, v = layout.q_from(data.qpos), layout.v_from(data.qpos, data.qvel)
    states = kt.rollout(robot, q, v, np.zeros((300, robot.nv)), 0.002, contact=True, passive=True)
    for state in states:
        mujoco.mj_step(model, data)
        expected = layout.q_from(data.qpos)
        np.testing.assert_allclose(state[: robot.nq], expected, rtol=0, atol=5e-4)
    assert data.ncon >= 2


def test_what_is_not_computed_is_refused_and_named(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(
        """<mujoco model="two"><option noslip_iterations="3"/><worldbody>
        <body name="a"><freejoint/><geom size="0.1" mass="1"/></body>
        <body name="b" pos="1 0 0"><freejoint/><geom size="0.1" mass="1"/></body></worldbody></mujoco>"""
    )
    robot = kt.load(path)
    with pytest.raises(kt.errors.OptionError, match=r"option 'noslip_iterations': .*contact=\"partial\""):
        kt.rollout(robot, robot.neutral(), np.zeros(12), np.zeros((1, 12)), 0.001, contact=True)
    states = kt.rollout(robot, robot.neutral(), np.zeros(12), np.zeros((1, 12)), 0.001, contact="partial")
    assert np.isfinite(states).all()
    with pytest.raises(kt.errors.OptionError, match='contact must be True, False, "partial"'):
        kt.simulate(robot, contact="all")  # type: ignore[arg-type]
    with pytest.raises(kt.errors.OptionError, match=r"kt\.aba"):
        kt.contact_dynamics(robot, robot.neutral(), np.zeros(12), np.zeros(12), contact=False)

"""Connections, welds and rows of tendons beside MuJoCo: the rows at random states, and q̈ of mj_forward."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms.convex_dynamics import Block, Effort
from kinetree.algorithms.row_costs import Equality
from kinetree.algorithms.transmissions import Reach, reach_velocity, viewed
from kinetree.contact_model import TendonFriction, TendonLimit, reach_of_tendon
from kinetree.functions.contact_options import soft

SCENE = """
<mujoco model="held">
  <option timestep="0.002" jacobian="dense"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <site name="hook" pos="0.3 0.2 1.1" euler="20 30 -40"/>
    <body name="kite" pos="0 0 1" euler="10 20 30"><freejoint/><geom type="box" size="0.1 0.2 0.3" mass="2"/>
      <site name="corner" pos="0.1 0.05 -0.2" euler="50 10 0"/>
      <body name="tail" pos="0.1 0.2 0.3"><joint type="ball"/><geom size="0.1" mass="1" pos="0.1 0 0.2"/>
        <site name="kite" pos="0 0.1 0.1"/></body></body>
    <body name="arm" pos="0.5 0 1"><joint name="turn" axis="1 2 3"/><joint name="slide" type="slide" axis="0 1 1"/>
      <geom type="box" size="0.1 0.2 0.3" mass="2"/><site name="elbow" pos="0 0 0.3"/>
      <body name="hand" pos="0.1 0.2 0.3" euler="80 70 60"><joint name="wrist" axis="1 0 1" ref="20"/>
        <geom size="0.1" mass="1" pos="0.1 0 0.2"/><site name="palm" pos="0.1 0.05 -0.2" euler="-50 10 0"/>
        <body name="bell" pos="0.3 0 0"><joint type="ball"/><geom size="0.1" mass="1" pos="0.1 0 0.2"/></body>
      </body></body>
    <body name="guide" mocap="true" pos="0.2 0.3 0.9" euler="5 6 7"><geom size="0.01"/></body>
  </worldbody>
  <tendon>{tendons}</tendon>
  <equality>{equalities}</equality>
</mujoco>"""

TENDONS = """
  <fixed name="sum" range="-0.05 0.1" margin="0.02" {limit}>
    <joint joint="turn" coef="0.5"/><joint joint="slide" coef="-2"/><joint joint="wrist" coef="0.3"/></fixed>
  <fixed name="drag" frictionloss="0.7" solreffriction="0.1 0.7" {armature}>
    <joint joint="turn" coef="0.5"/><joint joint="wrist" coef="1"/></fixed>
  <spatial name="rope" limited="true" range="0.2 0.25" {limit}>
    <site site="hook"/><site site="corner"/><site site="kite"/><site site="elbow"/><site site="palm"/></spatial>
  <spatial name="tackle" frictionloss="0.5"><site site="corner"/><site site="elbow"/><pulley divisor="2"/>
    <site site="elbow"/><site site="palm"/><site site="hook"/><pulley divisor="3"/><site site="kite"/>
    <site site="hook"/></spatial>"""

STIFF = 'solref="0.05 0.8" solimp="0.5 0.99 0.3 0.4 3"'
EQUALITIES = {
    "bodies connected": '<connect body1="kite" body2="hand" anchor="0.1 0.2 0.3"/>',
    "connected to the world": f'<connect body1="hand" anchor="0.1 0.2 0.3" {STIFF}/>',
    "connected along a branch": '<connect body1="bell" body2="arm" anchor="0.1 0.2 0.3"/>',
    "sites connected": '<connect site1="corner" site2="palm"/><connect site1="hook" site2="palm"/>',
    "bodies welded": '<weld body1="kite" body2="hand" anchor="0.1 0.2 0.3"/>',
    "welded loosely": f'<weld body1="bell" body2="kite" torquescale="0.3" {STIFF}/>',
    "welded elsewhere": '<weld body1="bell" body2="kite" relpose="0.1 0.2 0.3 1 2 3 4" anchor="0.2 0.1 0"/>',
    "sites welded": '<weld site1="corner" site2="palm"/><weld site1="hook" site2="palm" torquescale="2"/>',
    "welded to a guide": '<weld body1="guide" body2="tail"/><weld body1="bell" body2="guide" solref="-300 -30"/>',
}
LENGTHS = {
    "limits and friction": ("", "", ""),
    "a length held": ('<tendon tendon1="sum"/>', 'solreflimit="0.05 0.8" solimplimit="0.5 0.99 0.3 0.4 3"', ""),
    "a polynomial": ('<tendon tendon1="rope" tendon2="drag" polycoef="0.1 0.5 0.2 0.1 0.3"/>', "", ""),
    "two ropes": ('<tendon tendon1="rope" tendon2="tackle"/>', "", ""),
    "armature": ('<tendon tendon1="sum" tendon2="drag"/>', "", 'armature="0.3"'),
}


class Beside:
    """A file in both, and random states of it."""

    def __init__(self, folder: Path, text: str) -> None:
        path = folder / "held.xml"
        path.write_text(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kt.errors.ModelWarning)  # of armature, which these rows have
            self.robot = kt.load(path)
        self.model = mujoco.MjModel.from_xml_string(text)
        option = self.model.opt
        option.tolerance, option.iterations, option.ls_iterations = 0.0, 200, 100
        option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
        self.data = mujoco.MjData(self.model)
        self.found = kt.contact.soft_constraints(self.robot)
        assert not self.found.unsupported

    def states(self, count: int) -> Iterator[tuple[Any, Any, Any, Any]]:
        """(q, v, tau, q̈) in kinetree's layout."""
        m, d, layout, rng = self.model, self.data, kt.interop.Layout(self.robot, "mujoco"), np.random.default_rng(5)
        for _ in range(count):
            mujoco.mj_resetData(m, d)
            mujoco.mj_integratePos(m, d.qpos, 0.5 * rng.normal(size=m.nv), 1.0)
            d.qvel[:], d.qfrc_applied[:] = rng.normal(size=(2, m.nv))
            mujoco.mj_forward(m, d)
            yield (
                layout.q_from(d.qpos),
                layout.v_from(d.qpos, d.qvel),
                layout.tau_from(d.qpos, d.qfrc_applied),
                layout.qdd_from(d.qpos, d.qvel, d.qacc),
            )

    def solved(self, q: Any, v: Any, tau: Any) -> tuple[Any, list[Block]]:
        """The acceleration of the algorithm itself, and its rows."""
        tree = self.robot.tree
        q, v, tau = (tree.split(x.tolist(), size) for x, size in ((q, "nq"), (v, "nv"), (tau, "forces")))
        rows = soft(self.robot, self.found, ("friction",), written_out=True)
        assert rows is not None
        blocks = [*rows(tree, q, v, 0.0)[0]]
        found = algorithms.contact_dynamics(tree, q, v, tau, blocks, effort=Effort(iterations=30, tolerance=1e-13))
        return np.array(found.acceleration), blocks


def assert_rows(beside: Beside, blocks: list[Block], qdd: Any) -> None:
    """J q̈ - a_ref and D of all equalities; the sign of a weld's rotation is that of a quaternion."""
    d, count = beside.data, beside.data.ne
    expected = d.efc_J.reshape(d.nefc, -1)[:count] @ d.qacc - d.efc_aref[:count]
    rows = [
        (np.dot(np.array(row), qdd) - wanted, D)
        for block in blocks
        if isinstance(block.cost, Equality)
        for row, wanted, D in zip(block.J, block.reference, block.cost.D, strict=True)
    ]
    x, D = np.array(rows).T
    np.testing.assert_allclose(np.abs(x), np.abs(expected), rtol=0, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(D, d.efc_D[:count], rtol=1e-12)


@pytest.mark.parametrize("kind", EQUALITIES)
def test_connections_and_welds(kind: str, tmp_path: Path) -> None:
    beside = Beside(tmp_path, SCENE.format(tendons="", equalities=EQUALITIES[kind]))
    for q, v, tau, expected in beside.states(3):
        found, blocks = beside.solved(q, v, tau)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
        assert_rows(beside, blocks, expected)


@pytest.mark.parametrize("kind", LENGTHS)
def test_tendons(kind: str, tmp_path: Path) -> None:
    equalities, limit, armature = LENGTHS[kind]
    beside = Beside(
        tmp_path, SCENE.format(tendons=TENDONS.format(limit=limit, armature=armature), equalities=equalities)
    )
    for row in beside.found.tendons:
        if isinstance(row, TendonLimit | TendonFriction):
            expected = beside.model.tendon_invweight0[beside.model.tendon(row.length.tendon).id]
            np.testing.assert_allclose(row.softness.inverse_inertia, expected, rtol=1e-11)
    types = set()
    for q, v, tau, expected in beside.states(4):
        found, blocks = beside.solved(q, v, tau)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
        types |= {*beside.data.efc_type.tolist()}
        if not armature and equalities:
            assert_rows(beside, blocks, expected)
    assert {mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON, mujoco.mjtConstraint.mjCNSTR_FRICTION_TENDON} <= types


ROUND = """
<mujoco model="round">
  <option timestep="0.002"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <site name="hook" pos="{hook}"/>
    <body pos="0 0 1"><joint type="ball"/><joint type="slide" axis="1 1 0"/>
      <geom name="wheel" {shape} mass="1" pos="0 0 -0.5"/><site name="side" pos="{side}"/>
      <body pos="0 0 -1"><joint type="ball"/><geom size="0.05" mass="1" pos="0.3 0.1 -0.1"/>
        <site name="tip" pos="0.3 0.1 -0.2"/></body></body>
  </worldbody>
  <tendon><spatial name="rope" limited="true" range="0 0.1">
    <site site="hook"/><geom geom="wheel" {on}/><site site="tip"/></spatial></tendon>
</mujoco>"""


SPHERE, CYLINDER = 'type="sphere" size="0.15"', 'type="cylinder" size="0.12 0.2" euler="80 10 0"'
LEFT, RIGHT, WITHIN = "-0.2 0.2 -0.45", "0.3 0 -0.5", "0.02 0.01 -0.52"


@pytest.mark.parametrize("hook", ["-0.3 0.05 0.7", "0.2 0.3 0.8"])
@pytest.mark.parametrize("shape", [SPHERE, CYLINDER])
@pytest.mark.parametrize("side", ["", LEFT, RIGHT, WITHIN])
def test_tendons_around_shapes(side: str, shape: str, hook: str, tmp_path: Path) -> None:
    """Lengths to 1e-14 m, whether the shape bends them or not; moments are their derivatives.

    MuJoCo finds the point inside a shape to 1e-6 only, and with it the moment, and q̈.
    """
    on = 'sidesite="side"' if side else ""
    beside = Beside(tmp_path, ROUND.format(shape=shape, side=side or LEFT, hook=hook, on=on))
    (row,) = beside.found.tendons
    assert isinstance(row, TendonLimit)
    tree, bent, robot, length = beside.robot.tree, 0, beside.robot, row.length
    rng, h = np.random.default_rng(3), 1e-6

    def reach(q: Any) -> Reach:
        return reach_of_tendon(viewed(tree, tree.split(q.tolist(), "nq")), robot, length)

    for k, (q, v, tau, expected) in enumerate(beside.states(25)):
        np.testing.assert_allclose(float(reach(q).length), beside.data.ten_length[0], rtol=0, atol=1e-14)
        bent += beside.data.ten_wrapnum[0] > 2
        if k < 3:
            found = beside.solved(q, v, tau)[0]
            off = 1e-5 if side == WITHIN else 1e-11
            np.testing.assert_allclose(found, expected, rtol=0, atol=off * np.abs(expected).max())
            way = rng.normal(size=robot.nv)
            ahead, behind = (float(reach(robot.integrate(q, s * way)).length) for s in (h, -h))
            rate = reach_velocity(reach(q), tree.split(way.tolist(), "nv"))
            np.testing.assert_allclose(float(rate), (ahead - behind) / (2.0 * h), rtol=0, atol=1e-8)
    assert 3 <= bent <= 24


SMALL = """
<mujoco model="small">
  <option timestep="0.002"/>
  <worldbody>
    <site name="hook" pos="0.1 0.1 0.7"/>
    <geom name="wheel" size="0.15" pos="0.25 0 0.75" contype="0" conaffinity="0"/>
    <geom name="eye" size="0.06" pos="0.25 -0.2 0.8" contype="0" conaffinity="0"/><site name="eye" pos="0.25 -0.2 0.8"/>
    <body name="crank" pos="0 0 1"><joint name="crank" axis="0 1 0.1"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.2" mass="1" contype="0" conaffinity="0"/>
      <body name="rod" pos="0 0 -0.2"><joint name="rod" type="ball"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.4 0 0" mass="1" contype="0" conaffinity="0"/>
        <site name="tip" pos="0.4 0 0"/></body></body>
    <body name="rocker" pos="0.4 0 1"><joint name="rocker" axis="0 1 0"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.2" mass="1" contype="0" conaffinity="0"/>
      <site name="end" pos="0 0 -0.2"/></body>
  </worldbody>
  <tendon>
    <spatial name="rope" range="0 0.3" limited="true"><site site="tip"/><site site="end"/></spatial>
    <spatial name="belt" range="0 0.4" limited="true">
      <site site="hook"/><geom geom="wheel"/><site site="end"/></spatial>
    <spatial name="cord" range="0 0.35" limited="true">
      <site site="hook"/><geom geom="eye" sidesite="eye"/><site site="tip"/></spatial>
    <fixed name="sum" frictionloss="0.2"><joint joint="crank" coef="1"/><joint joint="rocker" coef="0.5"/></fixed>
  </tendon>
  <equality><connect body1="rod" body2="rocker" anchor="0.4 0 0"/><weld site1="tip" site2="end" torquescale="0.2"/>
    <tendon tendon1="sum" polycoef="0.1 0 0 0 0"/></equality>
</mujoco>"""


def test_the_kernel_is_the_algorithm_and_has_its_derivatives(tmp_path: Path) -> None:
    beside = Beside(tmp_path, SMALL)
    robot = beside.robot
    q, v, tau, expected = (np.array(x) for x in zip(*beside.states(5), strict=True))
    found = kt.contact_dynamics(robot, q, v, tau)
    np.testing.assert_allclose(found.qdd, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_allclose(found.qdd[2], beside.solved(q[2], v[2], tau[2])[0], rtol=1e-9)
    for one, many in zip(kt.contact_dynamics(robot, q[4], v[4], tau[4]), found, strict=True):
        np.testing.assert_array_equal(one, many[4])
    rng = np.random.default_rng(2)
    dq, dv, dtau = rng.normal(size=(3, 5, robot.nv))
    arguments = (q, v, tau, np.zeros_like(v))
    _, slopes = kt.jvp(robot, kt.contact_dynamics, arguments, {"q": dq, "v": dv, "tau": dtau})
    h = 1e-6

    def ahead(s: float) -> Any:
        return kt.contact_dynamics(robot, kt.integrate(robot, q, s * dq), v + s * dv, tau + s * dtau).qdd

    numeric = (ahead(h) - ahead(-h)) / (2.0 * h)
    np.testing.assert_allclose(slopes[:, : robot.nv], numeric, rtol=0, atol=1e-7 * np.abs(numeric).max())


def test_a_motion_stays_with_mujoco(tmp_path: Path) -> None:
    """A thousand steps of semi-implicit Euler, with all rows but those of the cord, which MuJoCo has to 1e-6."""
    beside = Beside(tmp_path, SMALL.replace("0 0.35", "0 9"))
    m, d, robot, layout = beside.model, beside.data, beside.robot, kt.interop.Layout(beside.robot, "mujoco")
    d.qvel[:] = 0.3
    q, v = layout.q_from(d.qpos), layout.v_from(d.qpos, d.qvel)
    states = kt.rollout(robot, q, v, np.zeros((1000, robot.nv)), 0.002, contact=True, passive=True)
    for state in states:
        mujoco.mj_step(m, d)
        np.testing.assert_allclose(state[: robot.nq], layout.q_from(d.qpos), rtol=0, atol=1e-12)

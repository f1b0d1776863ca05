"""Limits of ball joints beside MuJoCo; limits on one side only."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np

import kinetree as kt
from kinetree.functions.contact_dynamics import contact_dynamics

_BALLS = """<mujoco><option><flag contact="disable"/></option><worldbody>
  <body euler="20 30 40"><joint type="ball" range="0 30" margin="0.1" pos="0.1 0 0"/>
    <geom type="box" size=".1 .2 .3" pos="0.2 0 0"/>
    <body pos="0.3 0 0"><joint type="ball" range="0 50"/><geom type="box" size=".1 .1 .3" pos="0.2 0 0.1"/></body>
  </body></worldbody></mujoco>"""
_ONE_SIDED = """<robot name="r"><link name="b"/><link name="c"><inertial><mass value="1"/><origin xyz="0.1 0 0"/>
  <inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute">
  <parent link="b"/><child link="c"/><axis xyz="0 1 0"/><limit lower="{}" upper="{}" effort="1" velocity="1"/></joint>
</robot>"""


def test_largest_angles_of_ball_joints(tmp_path: Path) -> None:
    file = tmp_path / "balls.xml"
    file.write_text(_BALLS)
    robot, m = kt.load(file), mujoco.MjModel.from_xml_path(str(file))
    m.opt.tolerance, m.opt.iterations = 0.0, 200
    d, layout, rng = mujoco.MjData(m), kt.interop.Layout(robot, "mujoco"), np.random.default_rng(0)
    rows = 0
    for _ in range(20):
        q, v = robot.integrate(robot.neutral(), rng.normal(scale=1.2, size=6)), rng.normal(size=6)
        d.qpos[:], d.qvel[:] = layout.q_to(q), layout.v_to(q, v)
        mujoco.mj_forward(m, d)
        rows += d.nefc
        theirs = layout.qdd_from(d.qpos, d.qvel, d.qacc)
        ours = contact_dynamics(robot, q, v, np.zeros(6)).qdd
        np.testing.assert_allclose(ours, theirs, atol=1e-11 * np.abs(theirs).max())
    assert rows > 20


def test_where_a_ball_joint_is_at_rest_nothing_is_singular(tmp_path: Path) -> None:
    file = tmp_path / "balls.xml"
    file.write_text(_BALLS)
    robot = kt.load(file)
    q, zero = robot.neutral(), np.zeros(6)
    qdd, slope = kt.jvp(robot, contact_dynamics, (q, zero, zero), {"q": np.ones(6)})
    assert np.isfinite(qdd).all()
    assert np.isfinite(slope).all()


def test_a_limit_on_one_side_acts_on_that_side(tmp_path: Path) -> None:
    def push(lower: str, upper: str, q: float) -> float:
        file = tmp_path / "robot.urdf"
        file.write_text(_ONE_SIDED.format(lower, upper))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kt.errors.ModelWarning)
            robot = kt.load(file)
        return float(contact_dynamics(robot, [q], [0.0], [0.0]).forces[0])

    assert push("-inf", "1", 0.9) == 0.0
    assert push("-inf", "1", 1.1) < -1.0
    assert push("-1", "inf", -1.1) > 1.0
    np.testing.assert_allclose(push("-inf", "1", 1.1), push("-9", "1", 1.1))

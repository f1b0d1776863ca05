"""Mocap bodies whose poses are inputs, beside MuJoCo's: what is welded to them, stands on them or hangs on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt

Array = NDArray[Any]
SCENE = """
<mujoco><option timestep="0.004"/><worldbody>
  <body name="hand" mocap="true" pos="0 0 1"><geom name="palm" type="box" size=".2 .2 .02"/>
    <body name="thumb" pos=".2 0 0" euler="0 30 0">
      <body name="flap" pos="0 0 -.1"><joint name="swings" axis="0 1 0" damping=".01"/>
        <geom type="capsule" size=".01" fromto="0 0 0 0 0 -.2" contype="0" conaffinity="0" mass=".2"/></body></body>
  </body>
  <body name="crate" pos=".1 0 .5"><freejoint/>
    <geom type="box" size=".1 .1 .1" mass="1" contype="0" conaffinity="0"/></body>
  <body name="ball" pos="0 .1 1.065"><freejoint/><geom size=".05" mass=".1"/></body>
</worldbody><equality><weld body1="hand" body2="crate"/></equality></mujoco>"""
STEPS, DT = 40, 0.004
POSE = "body.hand.placement"


class Beside:
    """The scene in both, with the hand on a way up and around."""

    def __init__(self, folder: Path) -> None:
        (folder / "scene.xml").write_text(SCENE)
        self.robot = kt.load(folder / "scene.xml")
        self.model = mujoco.MjModel.from_xml_string(SCENE)
        self.model.opt.tolerance, self.model.opt.iterations, self.model.opt.ls_iterations = 0.0, 200, 100
        self.layout = kt.interop.Layout(self.robot, "mujoco")
        self.q = np.array(self.layout.q_from(mujoco.MjData(self.model).qpos))
        self.v = np.zeros(self.model.nv)
        t = np.linspace(0.0, 1.0, STEPS)
        turns = [kt.lie.placement((0.0, 0.0, 1.0), rpy=(0.3 * x, 0.0, x)).quaternion for x in t]
        self.way = np.hstack([0.02 * t[:, None], np.zeros((STEPS, 1)), 1.0 + 0.05 * t[:, None] ** 2, turns])

    def theirs(self, way: Array) -> Array:
        data, rows = mujoco.MjData(self.model), []
        for pose in way:
            data.mocap_pos[0], data.mocap_quat[0] = pose[:3], pose[[6, 3, 4, 5]]
            mujoco.mj_step(self.model, data)
            rows.append([*self.layout.q_from(data.qpos), *self.layout.v_from(data.qpos, data.qvel)])
        return np.array(rows)


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Beside:
    return Beside(tmp_path_factory.mktemp("scene"))


def rollout(beside: Beside, name: str, poses: Array) -> Array:
    q, v, tau = beside.q, beside.v, np.zeros((STEPS, len(beside.v)))
    return kt.rollout(beside.robot, q, v, tau, DT, passive=True, contact=True, parameters={name: poses})


def test_a_hand_that_moves_at_every_step_takes_things_along(beside: Beside) -> None:
    found = rollout(beside, f"{POSE}[:]", beside.way)
    expected = beside.theirs(beside.way)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert np.abs(expected[-1, :3] - beside.q[:3]).max() > 1e-2  # the weld and the ball felt it


def test_a_batch_has_a_way_each_and_one_pose_is_the_same_at_every_step(beside: Beside) -> None:
    still = np.tile(beside.way[5], (STEPS, 1))
    found = rollout(beside, f"{POSE}[:]", np.stack([beside.way, still, beside.way]))
    np.testing.assert_array_equal(found[0], rollout(beside, f"{POSE}[:]", beside.way))
    np.testing.assert_array_equal(found[2], found[0])
    np.testing.assert_allclose(found[1], beside.theirs(still), atol=1e-9)
    held = rollout(beside, POSE, np.stack([beside.way[5], beside.way[0]]))
    np.testing.assert_allclose(held[0], found[1], rtol=1e-10, atol=1e-12)


def test_derivatives_by_poses_agree_with_differences(beside: Beside) -> None:
    q, v, tau = beside.q, beside.v, np.zeros((3, len(beside.v)))
    way = beside.way[:3] + np.eye(7)[2] * 0.016  # the ball is pressed
    along = np.random.default_rng(1).normal(size=way.shape)

    def ends(poses: Array) -> Array:
        return kt.rollout(beside.robot, q, v, tau, DT, contact=True, parameters={f"{POSE}[:]": poses})

    given = {f"{POSE}[:]": way}
    _, slope = kt.jvp(beside.robot, kt.rollout, (q, v, tau, DT), {f"{POSE}[:]": along}, contact=True, parameters=given)
    h = 1e-6
    expected = (ends(way + h * along) - ends(way - h * along)) / (2.0 * h)
    np.testing.assert_allclose(slope, expected, atol=1e-6 * np.abs(expected).max())
    weights = np.random.default_rng(2).normal(size=slope.shape)
    by = f"{POSE}[:]"
    _, back = kt.vjp(beside.robot, kt.rollout, (q, v, tau, DT), weights, wrt=by, contact=True, parameters=given)
    np.testing.assert_allclose(np.sum(back[by] * along), np.sum(weights * slope), rtol=1e-9)


def test_accelerations_and_motions_take_a_pose(beside: Beside) -> None:
    pose = beside.way[7]
    data = mujoco.MjData(beside.model)
    data.mocap_pos[0], data.mocap_quat[0] = pose[:3], pose[[6, 3, 4, 5]]
    mujoco.mj_forward(beside.model, data)
    zeros = np.zeros_like(beside.v)
    found = kt.contact_dynamics(
        beside.robot,
        beside.q,
        zeros,
        kt.dynamics.passive_forces(beside.robot, beside.q, zeros),
        parameters={POSE: pose},
    )
    expected = beside.layout.v_from(data.qpos, data.qacc)
    np.testing.assert_allclose(found.qdd, expected, atol=1e-9 * np.abs(expected).max())
    for name in ("hand", "thumb", "flap"):
        T = kt.frame_placement(beside.robot, beside.q, name, parameters={POSE: pose})
        np.testing.assert_allclose(T[:3, 3], data.body(name).xpos, atol=1e-14)
        np.testing.assert_allclose(T[:3, :3], data.body(name).xmat.reshape(3, 3), atol=1e-14)
    given: dict[str, Any] = {"contact": True, "integrator": "semi_implicit_euler", "parameters": {POSE: pose}}
    motion = kt.simulate(beside.robot, q=beside.q, duration=STEPS * DT, dt=DT, **given)
    np.testing.assert_allclose(motion.q[1:], rollout(beside, POSE, pose)[:, : beside.robot.nq], rtol=1e-9, atol=1e-12)


def test_a_compiled_rollout_takes_several_parameters_with_rows(beside: Beside) -> None:
    tau, moon = np.zeros((STEPS, len(beside.v))), np.tile([0.0, 0.0, -1.62], (STEPS, 1))
    names = [f"{POSE}[:]", "gravity[:]"]
    function = kt.compile(beside.robot, kt.rollout, parameters=names, steps=STEPS)
    found = function(beside.q, beside.v, tau, DT, beside.way, moon)
    assert found[-1, -4] == pytest.approx(-1.62 * STEPS * DT, rel=1e-12)  # the ball falls
    given = dict(zip(names, (beside.way, moon), strict=True))
    again = kt.rollout(beside.robot, beside.q, beside.v, tau, DT, parameters=given)
    np.testing.assert_array_equal(again, found)
    with pytest.raises(
        kt.errors.OptionError, match="cannot loop over bodies with parameters that have one row per step"
    ):
        kt.compile(beside.robot, kt.rollout, parameters=names, steps=STEPS, unroll=False)


def test_loops_over_bodies_take_one_pose(beside: Beside) -> None:
    q, pose, tau = beside.q, beside.way[9], np.ones(len(beside.v))
    looped, straight = (
        kt.compile(beside.robot, kt.aba, parameters=[POSE], unroll=unroll)(q, beside.v, tau, pose)
        for unroll in (False, True)
    )
    np.testing.assert_allclose(looped, straight, rtol=1e-10)


def test_what_takes_no_rows_says_so(beside: Beside) -> None:
    with pytest.raises(
        kt.errors.OptionError, match=r"aba takes no parameters with one row per step, such as 'gravity\[:\]'"
    ):
        kt.aba(beside.robot, beside.q, beside.v, beside.v, parameters={"gravity[:]": np.zeros((2, 3))})
    with pytest.raises(kt.errors.NameNotFoundError, match="parameters with one row per step are for"):
        kt.simulate(beside.robot, duration=0.1, parameters={f"{POSE}[:]": beside.way})
    with pytest.raises(kt.errors.ShapeError, match=r"body.hand.placement\[:\]"):
        kt.rollout(
            beside.robot, beside.q, beside.v, np.zeros((3, len(beside.v))), DT, parameters={f"{POSE}[:]": beside.way}
        )

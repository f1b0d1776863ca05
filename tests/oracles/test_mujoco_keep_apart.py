"""Distances that control keeps, on a real arm beside obstacles, against MuJoCo's of the same file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import Pose, inverse_kinematics, keep_apart
from tests.robots import load_robot

MARGIN = 0.02


def test_distances_of_a_panda_are_those_of_mujoco(tmp_path: Path) -> None:
    import mujoco

    fitted = kt.contact.with_fitted_shapes(load_robot("panda"), "cylinder")
    lying = kt.lie.placement((0.4, 0.0, 0.7), rotation=kt.lie.rotation_exp([0.5 * np.pi, 0.0, 0.0]))
    robot = fitted.with_obstacle("cylinder", (0.05, 0.8), kt.lie.placement((0.4, 0.2, 0.3)), name="post")
    robot = robot.with_obstacle("box", (0.2, 0.3, 0.1), lying, name="crate")
    with pytest.warns(kt.errors.ModelWarning, match="visual shapes"):
        kt.save(robot, tmp_path / "scene.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "scene.xml"))
    data = mujoco.MjData(model)
    model.opt.ccd_tolerance, model.opt.ccd_iterations = 1e-12, 200
    pairs = [(link, name) for link in ("panda_link4", "panda_link5", "panda_hand") for name in ("post", "crate")]
    apart = keep_apart(pairs, MARGIN)
    geoms = [(model.body(a).geomadr[0], model.geom(b).id) for a, b in pairs]
    targets = kt.frame_placement(robot, robot.random(3, size=40), "panda_hand")
    found = inverse_kinematics(robot, [Pose("panda_hand"), apart], [targets])
    assert 5 < found.reached.sum() < 40  # some poses of the hand are in the obstacles
    checked = 0
    for q, is_reached in zip(found.q, found.reached, strict=True):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        theirs = np.array([mujoco.mj_geomDistance(model, data, *pair, 10.0, None) for pair in geoms])
        ours = apart.excess(robot, q)[0] + MARGIN
        near = (theirs > 0.0) & (theirs < 0.25)
        np.testing.assert_allclose(ours[near], theirs[near], rtol=0, atol=1e-6)
        assert (ours[~near] <= np.maximum(theirs[~near], 0.0) + 1e-6).all()
        assert not is_reached or theirs.min() >= MARGIN - 2e-6
        checked += near.sum()
    assert checked > 20

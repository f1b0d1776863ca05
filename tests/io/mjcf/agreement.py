"""A robot read from MJCF beside MuJoCo's own model of the file, at random states."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

import kinetree as kt
from tests.laws.reference import reference

ACCURACY = 1e-9


def assert_agrees(
    path: Path, robot: kt.Model | None = None, *, states: int = 2, accuracy: float = ACCURACY
) -> kt.Model:
    """Bodies' masses, inertias and placements, M(q) and the bias forces, body for body and joint for joint."""
    robot = kt.load(path) if robot is None else robot
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    assert (robot.nq, robot.nv) == (model.nq, model.nv)
    _bodies(robot, model, accuracy)
    if not robot.nv:
        return robot
    layout, rng = kt.interop.Layout(robot, "mujoco"), np.random.default_rng(1)
    for _ in range(states):
        q, v = robot.random(rng), rng.normal(size=robot.nv)
        data.qpos[:], data.qvel[:] = layout.q_to(q), layout.v_to(q, v)
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        for k in range(1, model.nbody):
            if name := model.body(k).name:
                X = reference(kt.frame_placement, robot, q, frame=name)
                np.testing.assert_allclose(X[:3, 3], data.xpos[k], atol=accuracy, err_msg=name)
                np.testing.assert_allclose(X[:3, :3], data.xmat[k].reshape(3, 3), atol=accuracy, err_msg=name)
        T = np.transpose([layout.v_to(q, unit) for unit in np.eye(robot.nv)])
        M = np.empty((robot.nv, robot.nv))
        mujoco.mj_fullM(model, data, M)
        theirs = T.T @ M @ T
        scale = np.sqrt(np.outer(np.diag(theirs), np.diag(theirs)))
        np.testing.assert_allclose(reference(kt.crba, robot, q) / scale, theirs / scale, atol=accuracy)
        still = layout.qdd_from(data.qpos, data.qvel, np.zeros(robot.nv))
        bias = T.T @ data.qfrc_bias
        ours = reference(kt.rnea, robot, q, v, still)
        np.testing.assert_allclose(ours, bias, atol=accuracy * max(1.0, np.abs(bias).max()))
    return robot


def _bodies(robot: kt.Model, model: mujoco.MjModel, accuracy: float) -> None:
    for k in range(1, model.nbody):
        name = model.body(k).name
        if not name:
            continue
        body, mass = robot.bodies[name], model.body_mass[k]
        assert abs(body.mass - mass) <= accuracy * mass, name
        if mass:
            R = np.empty(9)
            mujoco.mju_quat2Mat(R, model.body_iquat[k])
            R = R.reshape(3, 3)
            I = R @ np.diag(model.body_inertia[k]) @ R.T
            size = 1.0 + np.abs(model.body_ipos[k]).max()
            np.testing.assert_allclose(body.center_of_mass, model.body_ipos[k], atol=accuracy * size, err_msg=name)
            np.testing.assert_allclose(
                body.rotational_inertia, I, atol=accuracy * np.abs(I).max() + 1e-15 * mass * size**2, err_msg=name
            )

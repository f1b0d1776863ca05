"""Meshes on planes beside MuJoCo: which corners touch."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.algorithms.soft_rows import seen
from kinetree.collision import Hull
from kinetree.functions.contact_options import touching_points


def mesh_scene(vertices: NDArray[np.float64], scale: str, margin: float) -> str:
    numbers = " ".join(f"{x:.17g}" for x in vertices.ravel())
    return f"""<mujoco><asset><mesh name="m" vertex="{numbers}" scale="{scale}"/></asset><worldbody>
      <geom type="plane" size="1 1 1" pos="0.1 0 0.02" euler="3 -2 0"/><body><freejoint/>
      <geom type="mesh" mesh="m" margin="{margin}"/></body></worldbody></mujoco>"""


def prism(rng: np.random.Generator) -> NDArray[np.float64]:
    """One whose ends have five to thirteen corners at uneven distances, and a point above."""
    angles = 2.0 * np.pi * (np.arange(count := int(rng.integers(5, 14))) + rng.uniform(0.0, 0.7, count)) / count
    ring = np.stack([0.13 * np.cos(angles), 0.1 * np.sin(angles)], axis=1)
    ends = [np.column_stack([size * ring, np.full(count, z)]) for size, z in ((1.0, -0.05), (0.8, 0.05))]
    return np.vstack([*ends, [[0.01, 0.0, 0.09]]])


@pytest.mark.parametrize("kind", ["prism", "any", "mirrored"])
def test_meshes_touch_a_plane_in_corners_of_the_face_that_mujoco_takes(kind: str, tmp_path: Path) -> None:
    """The same corners in the same order."""
    rng, counts = np.random.default_rng(9), set()
    for k in range(12):
        vertices = rng.normal(size=(30, 3)) * [0.1, 0.08, 0.05] if kind == "any" else prism(rng)
        text = mesh_scene(vertices, "-1 1 1" if kind == "mirrored" else "1 1 1", margin := 0.01 * (k % 2))
        (path := tmp_path / f"{kind}{k}.xml").write_text(text)
        robot, model = kt.load(path), mujoco.MjModel.from_xml_string(text)
        data, (touch,) = mujoco.MjData(model), kt.contact.soft_constraints(robot).touches
        assert isinstance(touch.second.shape, Hull)
        assert touch.second.shape.faces
        turn = rng.normal(size=4) if kind == "any" else np.array([1.0, *(0.1 * rng.normal(size=2)), rng.normal()])
        data.qpos[3:7] = turn / np.linalg.norm(turn)
        data.qpos[2] = rng.uniform(0.03, 0.2 if kind == "any" else 0.08)
        mujoco.mj_forward(model, data)
        q = kt.interop.Layout(robot, "mujoco").q_from(data.qpos)
        sight = seen(robot.tree, robot.tree.split(q.tolist(), "nq"), robot.tree.split([0.0] * 6, "nv"))
        ours = [x for x in touching_points(robot, touch, sight) if float(x.distance) < margin]
        theirs = data.contact[: data.ncon]
        counts.add(data.ncon)
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one.position.components(), other.pos, rtol=0.0, atol=1e-12)
            assert abs(float(one.distance) - other.dist) < 1e-12
    assert len(counts) >= 2

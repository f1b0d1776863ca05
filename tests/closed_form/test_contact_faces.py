"""Boxes of meshes that stand on boxes: as deep as their contacts say, without rocking."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import kinetree as kt
from tests.closed_form.scenes import Array, D, G, T, Thing, contact, rollout, world

SIZE = (0.3, 0.2, 0.1)
DEPTH = G * (1.0 - D) * T * T / 4.0
"""On four corners."""


def crate(folder: Path) -> Thing:
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    file = folder / "cube.obj"
    faces = ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4")
    file.write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(f"f {face}\n" for face in faces))
    thing = Thing("mesh", SIZE, contact(), inertia=0.01)
    thing.geometry = replace(thing.geometry, mesh="cube.obj", mesh_path=file)
    return thing


def heights(q: Array) -> Array:
    """Those of the four lower corners above the table."""
    x, y, z, w = np.moveaxis(q[..., 3:7], -1, 0)
    up = np.stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)], axis=-1)
    signs = np.array([(i, j, -1) for i in (-1, 1) for j in (-1, 1)])
    found: Array = q[..., 2, None] + up @ (signs * 0.5 * np.array(SIZE)).T
    return found


def test_it_comes_to_rest_on_four_corners(tmp_path: Path) -> None:
    table = Thing("box", (2.0, 2.0, 0.4), contact(), kt.Fixed(), at=(0.0, 0.0, -0.2))
    robot = world(crate(tmp_path), table)
    # Turned on the table, and tilted so that one corner is 6 mm below the opposite one.
    q = np.tile(robot.neutral(), (4, 1))
    for k, turn in enumerate((0.0, 0.4, 1.1, 2.0)):
        q[k] = robot.integrate(robot.neutral(), [0.1 * k, 0.05, 0.0535, 0.0, 0.0, turn])
    q = robot.integrate(q, np.tile([0.0, 0.0, 0.0, 0.015, 0.01, 0.0], (4, 1)))
    states, v = rollout(robot, q, np.zeros(6), 600)
    at = heights(states)
    assert (np.ptp(at[:, 0], axis=1) > 4e-3).all()
    np.testing.assert_allclose(at[:, -1], -DEPTH, atol=1e-3 * DEPTH)
    assert np.abs(v[:, -100:]).max() < 1e-5

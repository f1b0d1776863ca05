"""Triangles of a robot's visual meshes where they belong, read by another way than kinetree's own.

The XML and the meshes are read directly; only the placements of the links are kinetree's, by `kt.frame_placement`,
which other tests compare with Pinocchio and MuJoCo.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import trimesh
from numpy.typing import NDArray

import kinetree as kt

_PACKAGES = "package://example-robot-data/"


class MeshesApart:
    """Visual meshes of a file in the wheel example-robot-data whose `<visual>`s have no `<origin>` and no scale."""

    def __init__(self, file: Path) -> None:
        top = file.parents[3]  # …/example-robot-data/robots/*_description/urdf/*.urdf
        assert (top / "robots").is_dir()
        self._links: list[tuple[str, NDArray[np.float64]]] = []
        for link in ElementTree.parse(file).getroot().iter("link"):
            for visual in link.iter("visual"):
                mesh = visual.find("geometry/mesh")
                assert visual.find("origin") is None
                assert mesh is not None
                assert "scale" not in mesh.attrib
                path = top / mesh.attrib["filename"].removeprefix(_PACKAGES)
                triangles = trimesh.load_scene(path).to_mesh().triangles
                self._links.append((link.attrib["name"], np.asarray(triangles, float)))

    def triangles(self, robot: kt.Model, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, 3 corners, 3), m, in the world."""
        placed = [(kt.frame_placement(robot, q, name), corners) for name, corners in self._links]
        return np.concatenate([corners @ X[:3, :3].T + X[:3, 3] for X, corners in placed])

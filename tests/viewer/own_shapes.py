"""Where the shapes of a robot are, for robots made of primitives: each placed by `kt.frame_placement` of its body."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

import kinetree as kt
from kinetree.appearance import looks_of
from tests.viewer.cameras import Eye
from tests.viewer.silhouettes import apart, mask, shown


class Expected:
    """The silhouette of a robot, seen from somewhere."""

    def __init__(self, robot: kt.Model, eye: Eye) -> None:
        self.robot, self.eye = robot, eye
        self._parts = looks_of(robot).parts

    def at(self, q: ArrayLike, size: tuple[int, int]) -> NDArray[np.bool_]:
        """(height, width)."""
        triangles = []
        for part in self._parts:
            X = np.asarray(kt.frame_placement(self.robot, q, part.body)) @ part.placement
            triangles.append(part.surface.vertices[part.surface.faces] @ X[:3, :3].T + X[:3, 3])
        corners = np.concatenate(triangles).reshape(-1, 3)
        return mask(self.eye.pixels(corners, size).reshape(-1, 3, 2), size)

    def away(self, picture: NDArray[np.uint8], q: ArrayLike) -> float:
        """How many pixels a picture is away from it."""
        height, width = picture.shape[:2]
        return apart(shown(picture), self.at(q, (width, height)))

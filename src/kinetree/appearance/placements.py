"""Where the parts of a robot are in the world, and their bounds."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.appearance.looks import Looks
from kinetree.functions.kinematics import forward_kinematics
from kinetree.model import Model

__all__ = ["bounds_of", "placements_of"]

Floats = NDArray[np.float64]

_FEW = 64
"""Vertices up to which all are looked at."""
_DIRECTIONS = np.array([one for one in product((-1.0, -0.5, 0.0, 0.5, 1.0), repeat=3) if any(one)])


def placements_of(
    robot: Model, looks: Looks, q: ArrayLike, parameters: Mapping[str, ArrayLike] | None = None
) -> Floats:
    """The placements of all parts.

    Args:
        robot: the robot.
        looks: its k parts.
        q: configuration (…, nq).
        parameters: as for `forward_kinematics`.

    Returns:
        Homogeneous matrices (…, k, 4, 4) that take points of each part to the world, metres.

    Raises:
        ShapeError, DTypeError, ConfigurationError: as for `forward_kinematics`.

    >>> import kinetree as kt
    >>> from kinetree.appearance import looks_of
    >>> robot = kt.zoo.load("arm6")
    >>> looks = looks_of(robot)
    >>> placements_of(robot, looks, robot.neutral()).shape == (len(looks.parts), 4, 4)
    True
    """
    bodies = np.asarray(forward_kinematics(robot, q, parameters=parameters), dtype=np.float64)
    place = {name: k for k, name in enumerate(robot.bodies)}
    rows = [place[part.body] for part in looks.parts]
    own = np.array([part.placement for part in looks.parts]).reshape(-1, 4, 4)
    placements: Floats = bodies[..., rows, :, :] @ own
    return placements


def bounds_of(looks: Looks, placements: Floats) -> tuple[Floats, Floats]:
    """The corners of the box along the world's axes around all parts but the ground.

    Args:
        looks: the parts.
        placements: where they are, (…, k, 4, 4).

    Returns:
        The smallest and the largest coordinates, (3,) each, m, over all leading axes; of the ground if the robot has
        nothing else, and zeros without anything.
    """
    if not looks.parts:
        return np.zeros(3), np.zeros(3)
    bounded = [k for k, part in enumerate(looks.parts) if not part.is_ground] or range(len(looks.parts))
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    placements = np.asarray(placements, dtype=np.float64).reshape(-1, len(looks.parts), 4, 4)
    for k in bounded:
        corners = _corners(looks.parts[k].surface.vertices)
        if not len(corners):
            continue
        corners_there = placements[:, k, :3, :3] @ corners.T + placements[:, k, :3, 3:]
        low, high = np.minimum(low, corners_there.min(axis=(0, 2))), np.maximum(high, corners_there.max(axis=(0, 2)))
    return (low, high) if np.isfinite(low).all() else (np.zeros(3), np.zeros(3))


def _corners(vertices: NDArray[np.float32]) -> Floats:
    """The vertices, or of many those that are extreme along some directions, which bound nearly as well."""
    points: Floats = vertices.astype(np.float64)
    return points if len(points) <= _FEW else points[np.unique((points @ _DIRECTIONS.T).argmax(axis=0))]

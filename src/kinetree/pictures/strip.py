"""A motion in one picture: its moments one beside the other, or all at their own place as ghosts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import OptionError
from kinetree.model import Model
from kinetree.pictures.arrangement import aside, checked_samples
from kinetree.pictures.camera import Size
from kinetree.pictures.framing import framing
from kinetree.pictures.scene import Scene, Shapes, floor_of
from kinetree.pictures.shots import outline

__all__ = ["strip_of", "strip_times"]

Floats = NDArray[np.float64]

_FAINTEST = 0.25
_FALLEN = 3.0
"""How many times its own size a robot falls, without a ground, until its moments are shown at one height."""


def strip_times(begin: float, end: float, moments: int) -> Floats:
    """The moments (n,) of a motion that a strip shows, s, the first and the last among them."""
    if isinstance(moments, bool) or not isinstance(moments, int | np.integer) or not 1 <= moments <= 32:
        raise OptionError(f"moments must be a whole number from 1 to 32, not {moments!r:.60}")
    return np.linspace(begin, end, int(moments)) if end > begin else np.array([begin])


def strip_of(
    robot: Model,
    q: Floats,
    size: Size = (1600, 400),
    *,
    shapes: Shapes = "visual",
    samples: Any = "side by side",
) -> NDArray[np.uint8]:
    """The picture (height, width, 3) of a robot at configurations (n, nq), from left to right or as ghosts.

    Of ghosts the last is solid. The others become fainter the earlier they are.
    """
    ghosts = checked_samples(samples, len(q))
    scene = Scene(robot, shapes, np.linspace(_FAINTEST, 1.0, len(q) + 1)[1:] if ghosts else [1.0] * len(q))
    placements = scene.placements(q)
    if not ghosts and not scene.has_terrain:
        outlines = outline(scene.corners(placements))
        middle = 0.5 * (outlines.min(axis=1) + outlines.max(axis=1))
        moved = aside(outlines, scene.normal, in_a_row=True)
        height = float((outlines.max(axis=1) - outlines.min(axis=1)).max())
        if scene.ground is None and float(np.ptp(middle[:, 2])) > _FALLEN * height:
            moved[:, 2] = -middle[:, 2]
        placements[..., :3, 3] += moved[:, None]
    corners = scene.corners(placements).reshape(-1, 3)
    camera = framing(corners, size)
    return scene.drawing(placements.reshape(-1, 4, 4), camera, size, floor=floor_of(scene, corners, None))

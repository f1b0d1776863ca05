"""A motion in one picture: its moments side by side, or all at their own place as ghosts."""

from __future__ import annotations

import math
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.display import Shapes, Size
from kinetree.errors import OptionError
from kinetree.files import check_target, file_path
from kinetree.inputs import whole_between
from kinetree.model import Model
from kinetree.pictures.arrangement import aside, checked_samples
from kinetree.pictures.camera import Camera, checked_size
from kinetree.pictures.framing import VIEW, framing
from kinetree.pictures.given import Values, of_motions
from kinetree.pictures.moments import configurations_at, divergences, robot_of, span_of
from kinetree.pictures.png import write_png
from kinetree.pictures.scene import Scene, floor_of
from kinetree.pictures.shots import followed, outline

if TYPE_CHECKING:
    from kinetree.sim.shown import RecordedMotion

__all__ = ["strip_of", "strip_of_motion", "strip_times"]

Floats = NDArray[np.float64]

_FAINTEST = 0.25
_ACROSS = 0.6
"""The angle from the left to the right of the picture, rad: small, so that all moments are seen from one side."""
_LOOKED_AT = 128
"""Moments from which some are chosen."""
_MOST = 32
_BY_TIME = 0.25
_FILLED = 1.05
"""How much of its width the moments fill at least, about."""
_FALLEN = 3.0
"""How many times its own size a robot falls, without a ground, until its moments are shown at one height."""


def strip_of_motion(
    motion: RecordedMotion,
    path: str | os.PathLike[str] | None,
    *,
    moments: int,
    size: Size,
    which: int | tuple[int, ...],
    robot: Model | None,
    parameters: Any,
    **options: Any,
) -> NDArray[np.uint8] | Path:
    """The strip of a motion, or the path of its file; the arguments and errors are those of its method `strip`."""
    target = None if path is None else file_path("strip", path, ".png")
    if target is not None:
        check_target(target)
    shown, size = robot_of("strip", motion, robot), checked_size(size)
    gone, (_, last) = divergences("strip", motion, [which]), span_of(motion)
    end = last if gone is None else min(last, float(np.nextafter(gone[0], -np.inf)))
    values = of_motions("strip", shown, parameters, motion.shape, [which])
    times = strip_times(motion, shown, moments, which, end, values)
    q = configurations_at(motion, shown, times, [which])[:, 0]
    picture = strip_of(shown, q, size, parameters=values, **options)
    if target is None:
        return picture
    write_png(target, picture)
    return target


def strip_times(
    motion: RecordedMotion, robot: Model, moments: int, which: Any, end: float, parameters: Values | None = None
) -> Floats:
    """The moments (n,) of a motion until `end` that a strip shows, s: more of them while the robot moves more.

    Its first and last are among them. From each to the next the parts of the robot move equally far on average, where
    a quarter of the way counts as passed with time alone.

    Raises:
        OptionError: `moments` is not a whole number from 1 to 32.
    """
    whole_between("moments", moments, 1, _MOST)
    begin = float(motion.time[0])
    if not end > begin or moments == 1:
        return np.array([begin])
    times = np.linspace(begin, end, _LOOKED_AT)
    scene = Scene(robot, parameters=parameters)
    corners = scene.corners(scene.placements(configurations_at(motion, robot, times, [which])[:, 0]))
    with np.errstate(all="ignore"):
        steps = np.linalg.norm(np.diff(corners, axis=0), axis=-1).mean(axis=-1)
    steps[~np.isfinite(steps)] = 0.0
    steps += _BY_TIME / (1.0 - _BY_TIME) * max(float(steps.mean()), 1e-9)
    way = np.concatenate(([0.0], np.cumsum(steps)))
    return np.interp(np.linspace(0.0, way[-1], int(moments)), way, times)


def strip_of(
    robot: Model,
    q: Floats,
    size: Size = (1600, 400),
    *,
    camera: Camera | None = None,
    shapes: Shapes = "visual",
    samples: Any = "side by side",
    parameters: Values | None = None,
) -> NDArray[np.uint8]:
    """The picture (height, width, 3) of a robot at configurations (n, nq), from left to right or as ghosts.

    Of ghosts the last is solid. The others become fainter the earlier they are. With a camera each moment has a picture
    of its own, all equally wide; ghosts are seen by it at the last moment.
    """
    ghosts = checked_samples(samples, len(q))
    if camera is not None and not isinstance(camera, Camera):
        raise OptionError(f"camera must be a kt.pictures.Camera, or None, not {camera!r:.60}")
    cameras = None if camera is None else _cameras(robot, q, camera, parameters)
    if cameras is not None and not ghosts:
        return _panels(robot, q, size, cameras, shapes, parameters)
    fading = np.linspace(_FAINTEST, 1.0, len(q)) if len(q) > 1 else np.ones(1)
    scene = Scene(robot, shapes, fading.tolist() if ghosts else [1.0] * len(q), together=ghosts, parameters=parameters)
    placements = scene.placements(q)
    forward = _forward(scene.normal)
    if not ghosts and not scene.has_terrain:
        placements[..., :3, 3] += _row(scene, outline(scene.corners(placements)), forward, size)[:, None]
    corners = scene.corners(placements).reshape(-1, 3)
    direction = (float(forward[0]), float(forward[1]), VIEW[2] / math.hypot(*VIEW[:2]))
    usual = framing(corners, size, direction=direction, field_of_view=min(_ACROSS * size[1] / size[0], _ACROSS))
    seen_from = usual if cameras is None else cameras[-1]
    return scene.drawing(placements.reshape(-1, 4, 4), seen_from, size, floor=floor_of(scene, placements, corners))


def _cameras(robot: Model, q: Floats, camera: Camera, parameters: Values | None) -> list[Camera]:
    """The camera at each configuration."""
    return (
        [camera.at(place) for place in followed(robot, q, camera, parameters)] if camera.follows else [camera] * len(q)
    )


def _panels(
    robot: Model, q: Floats, size: Size, cameras: list[Camera], shapes: Shapes, parameters: Values | None
) -> NDArray[np.uint8]:
    """One picture per configuration, from left to right; together they have the size."""
    width, height = size
    if width < len(q):
        raise OptionError(f"size: a picture {width} pixels wide has no room for {len(q)} moments")
    scene = Scene(robot, shapes, parameters=parameters)
    placements = scene.placements(q[:, None])
    floor = floor_of(scene, placements[0], scene.corners(placements).reshape(-1, 3))
    ends = np.linspace(0, width, len(q) + 1).astype(int)
    pictures = [
        scene.drawing(at.reshape(-1, 4, 4), camera, (int(end - begin), height), floor=floor)
        for at, camera, begin, end in zip(placements, cameras, ends[:-1], ends[1:], strict=True)
    ]
    return np.concatenate(pictures, axis=1)


def _row(scene: Scene, outlines: Floats, forward: Floats, size: Size) -> Floats:
    """By how much each copy moves (n, 3), m, for all to be in a row that fills the picture."""
    in_a_row = partial(aside, outlines, scene.normal, stays=scene.stays, in_a_row=True, forward=forward)
    upward = np.array([*(-VIEW[2] * forward[:2]), math.hypot(*VIEW[:2])]) / math.hypot(*VIEW)
    moved = in_a_row()
    low, high = outlines.min(axis=1), outlines.max(axis=1)
    if scene.ground is None and float(np.ptp(low[:, 2])) > _FALLEN * float((high - low).max()):
        moved[:, 2] = -0.5 * (low + high)[:, 2]
    height = float(np.ptp((outlines + moved[:, None]) @ upward))
    across = in_a_row(least=_FILLED * size[0] / size[1] * height / len(outlines))
    across[:, 2] = moved[:, 2]
    return across


def _forward(normal: Floats) -> Floats:
    """The level direction (3,) away from the camera: up or down a slope, so that a row is at one height."""
    usual = np.array([VIEW[0], VIEW[1], 0.0]) / math.hypot(*VIEW[:2])
    steepness = math.hypot(normal[0], normal[1])
    if steepness < 1e-6:
        return usual
    up = np.array([-normal[0], -normal[1], 0.0]) / steepness
    return up if up @ usual >= 0.0 else -up

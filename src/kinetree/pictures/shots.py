"""Where the camera of a film is: where all of the motion is seen, or moving along with the robot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.display import Size
from kinetree.errors import OptionError
from kinetree.functions.kinematics import frame_placement
from kinetree.model import Model
from kinetree.pictures.camera import Camera
from kinetree.pictures.framing import framing
from kinetree.pictures.given import Values

__all__ = ["OUTERMOST", "checked_camera", "followed", "outline", "shots"]

Floats = NDArray[np.float64]

_FARTHEST = 1e6
"""m: a motion that diverges has numbers of any size, which are not drawn."""
_BURST = 8.0
"""How many times its usual size the robot may have to be kept in the picture: one that diverges becomes larger."""
_JUMP = 100.0
"""How many times its own size the robot may move from a frame to the next to be kept in the picture from then on."""
_WANDERED = 5.0
"""How many times its own size the robot moves until the camera follows it by itself, as it would look too small."""
_SMOOTH = 0.3
"""s of the film: how smoothly the camera moves."""
_DIRECTIONS = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z], float)
OUTERMOST = len(_DIRECTIONS)
"""Points of an outline."""


def outline(corners: Floats) -> Floats:
    """The points that are extreme along some directions, of points (…, m, 3): (…, 26, 3); NaN where none is finite."""
    with np.errstate(all="ignore"):
        is_there = np.asarray((np.abs(corners) < _FARTHEST).all(axis=-1))  # NaN is not
        along = np.where(is_there[..., None], np.where(is_there[..., None], corners, 0.0) @ _DIRECTIONS.T, -np.inf)
    place = along.argmax(axis=-2)
    points_there = np.take_along_axis(corners, place[..., None], axis=-2)
    points_there[~is_there.any(axis=-1)] = np.nan
    return points_there


def checked_camera(camera: Any) -> Camera | str | None:
    """The checked camera; an `OptionError` names the possible values."""
    if camera is None or isinstance(camera, Camera) or (isinstance(camera, str) and camera in ("follow", "whole")):
        return camera
    raise OptionError(
        "camera must be a kt.pictures.Camera, 'whole' (all of the motion is in the picture), 'follow' (it moves "
        f"with the robot), or None (the first, unless the robot goes far), not {camera!r:.60}"
    )


def followed(robot: Model, q: Floats, camera: Camera, parameters: Values | None = None) -> Floats:
    """Where the body or frame that a camera follows is at configurations (…, nq): (…, 3), m.

    Raises:
        NameNotFoundError: the robot has no such body or frame.
    """
    own = {name: x[0] for name, x in (parameters or {}).items()}  # of the first sample
    with np.errstate(all="ignore"):  # a motion that diverged has numbers of any size
        placements = frame_placement(robot, np.where(np.isfinite(q), q, 0.0), camera.follows, parameters=own or None)
    return np.where(np.isfinite(q).all(axis=-1, keepdims=True), placements[..., :3, 3], np.nan)


def shots(
    outlines: Floats, size: Size, camera: Camera | str | None, fps: float, path: Floats | None = None
) -> Callable[[int], Camera]:
    """The camera of each frame, from the outlines (F, 26, 3) of the frames, and the followed body's places (F, 3)."""
    if isinstance(camera, Camera) and path is not None:
        there = np.flatnonzero((np.abs(path) < _FARTHEST).all(axis=1))  # NaN is not
        if not there.size:
            raise OptionError(f"the camera follows {camera.follows!r}, which is at no finite place")
        complete = np.array([np.interp(np.arange(len(path)), there, x[there]) for x in path.T]).T
        way, moving = _smooth(complete, _SMOOTH * fps), camera
        return lambda frame: moving.at(way[frame])
    if isinstance(camera, Camera):
        fixed = camera
        return lambda _: fixed
    low, high = outlines.min(axis=1), outlines.max(axis=1)
    extent = (high - low).max(axis=1)
    finite = np.isfinite(extent)
    if not finite.any():
        raise OptionError("there is nothing to be seen: the robot has no shape at a finite place")
    finite &= extent <= _BURST * float(np.median(extent[finite]))
    rows = np.flatnonzero(finite)
    middle = 0.5 * (low + high)[rows]
    jumps = np.flatnonzero(np.abs(np.diff(middle, axis=0)).max(axis=1) > _JUMP * float(np.median(extent[rows])))
    if jumps.size:
        rows, middle = rows[: jumps[0] + 1], middle[: jumps[0] + 1]
    if camera is None:
        wandered = float(np.ptp(middle, axis=0).max())
        camera = "whole" if wandered <= _WANDERED * float(np.median(extent[rows])) else "follow"
    if camera == "whole":
        whole = framing(outlines[rows], size)
        return lambda _: whole
    path = _smooth(np.array([np.interp(np.arange(len(extent)), rows, x) for x in middle.T]).T, _SMOOTH * fps)
    still = framing(outlines[rows] - path[rows, None], size)

    def following(frame: int) -> Camera:
        position, target = still.position + path[frame], still.target + path[frame]
        return replace(still, position=tuple(position), target=tuple(target))

    return following


def _smooth(path: Floats, width: float) -> Floats:
    """A path (F, 3) whose points are means of their neighbours, weighted by a bell curve `width` frames wide."""
    reach = int(3.0 * width)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / max(width, 1e-9)) ** 2)
    weights /= weights.sum()
    # Beyond its ends the path goes on as it came, so that the camera begins and ends at the robot.
    longer = np.pad(path, ((reach, reach), (0, 0)), mode="reflect", reflect_type="odd")
    return np.stack([np.convolve(x, weights, mode="valid") for x in longer.T], axis=1)

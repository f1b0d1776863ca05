"""`kt.render`: a picture of a robot; and the pictures that a notebook shows of robots and motions."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.display import Samples, Shapes, Size
from kinetree.errors import KinetreeError, OptionError
from kinetree.files import check_target, file_path
from kinetree.inputs import real_array
from kinetree.model import Model
from kinetree.model.model import check_robot
from kinetree.model.reference import reference_configuration
from kinetree.pictures.arrangement import aside, checked_samples, opacities
from kinetree.pictures.camera import Camera, checked_size
from kinetree.pictures.framing import framing
from kinetree.pictures.given import Values, checked_values, leading, of_copies
from kinetree.pictures.png import png_bytes, write_png
from kinetree.pictures.scene import Scene, floor_of
from kinetree.pictures.shots import followed, outline

if TYPE_CHECKING:
    from kinetree.sim.shown import Shown

__all__ = ["png_of_motion", "png_of_robot", "render"]

Picture = NDArray[np.uint8]


@overload
def render(
    robot: Model,
    q: ArrayLike | None = None,
    *,
    size: Size = (1280, 720),
    camera: Camera | None = None,
    shapes: Shapes = "visual",
    samples: Samples = "side by side",
    ground: bool | None = None,
    path: None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
) -> Picture: ...
@overload
def render(
    robot: Model,
    q: ArrayLike | None = None,
    *,
    size: Size = (1280, 720),
    camera: Camera | None = None,
    shapes: Shapes = "visual",
    samples: Samples = "side by side",
    ground: bool | None = None,
    path: str | os.PathLike[str],
    parameters: Mapping[str, ArrayLike] | None = None,
) -> Path: ...
def render(
    robot: Model,
    q: ArrayLike | None = None,
    *,
    size: Size = (1280, 720),
    camera: Camera | None = None,
    shapes: Shapes = "visual",
    samples: Samples = "side by side",
    ground: bool | None = None,
    path: str | os.PathLike[str] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
) -> Picture | Path:
    """A picture of a robot, drawn without a screen or a graphics processor.

    Args:
        robot: the robot. One whose file has no shapes is drawn from the inertia of its bodies.
        q: configuration (nq,), or up to 64 of them (…, nq). By default where its file places it, or `robot.neutral()`.
        size: width and height, pixels.
        camera: where the picture is taken from (`kt.pictures.Camera`), relative to the world, or to the body it
            `follows` in the first configuration. By default everything is in the picture.
        shapes: "visual", "collision", or "both": collision shapes over the visual ones, which are seen through them.
        samples: how several configurations are drawn: "side by side", or as "ghosts", all at their own place, the first
            one solid. On uneven terrain they are always at their own place.
        ground: False for a picture without a floor. By default it is the robot's own ground, or a level one below.
        path: of the PNG file to write; ".png" is appended if it is not there.
        parameters: values that override some of the robot's parameters, such as {"body.NAME.placement": (…, 7)}: one
            for all configurations, or one for each.

    Returns:
        The picture (height, width, 3), red, green and blue from 0 to 255; or the path of the file.

    Raises:
        ShapeError, DTypeError, ConfigurationError: q is not a configuration, or several; or parameters are wrong.
        NameNotFoundError: the robot has no such parameter.
        OptionError: for any other argument.
        SaveError: the file cannot be written.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm6")
    >>> kt.render(robot, size=(64, 36)).shape
    (36, 64, 3)
    """
    check_robot(robot)
    size = checked_size(size)
    if camera is not None and not isinstance(camera, Camera):
        raise OptionError(f"camera must be a kt.pictures.Camera or None, not {camera!r:.60}")
    if ground is not None and not isinstance(ground, bool | np.bool_):
        raise OptionError(f"ground must be True, False or None, not {ground!r:.60}")
    target = None if path is None else file_path("render", path, ".png")
    if target is not None:
        check_target(target)
    given = reference_configuration(robot) if q is None else real_array("q", q, f"(…, {robot.nq})")
    robot.check_configuration(given)
    values = checked_values("render", robot, parameters)
    try:
        shape = np.broadcast_shapes(np.shape(given)[:-1], *leading(robot, values))
    except ValueError:
        shape = np.shape(given)[:-1]  # `of_copies` says which value does not fit
    rows = np.broadcast_to(np.asarray(given, np.float64), (*shape, robot.nq)).reshape(math.prod(shape), robot.nq)
    values = of_copies("render", robot, values, shape)
    picture = picture_of(robot, rows, size, camera, shapes, samples, ground, values)
    if target is None:
        return picture
    write_png(target, picture)
    return target


def picture_of(
    robot: Model,
    q: NDArray[np.float64],
    size: Size,
    camera: Camera | None = None,
    shapes: Shapes = "visual",
    samples: Any = "side by side",
    ground: bool | None = None,
    parameters: Values | None = None,
) -> Picture:
    """The picture of configurations (n, nq), which are checked already, with parameters (n, …)."""
    ghosts = checked_samples(samples, len(q))
    scene = Scene(robot, shapes, opacities(len(q), ghosts=ghosts), together=ghosts, parameters=parameters)
    placements = scene.placements(q)
    moved = np.zeros((len(q), 3))
    if not ghosts and len(q) > 1 and not scene.has_terrain:
        moved = aside(outline(scene.corners(placements)), scene.normal, stays=scene.stays)
        placements[..., :3, 3] += moved[:, None]
    corners = scene.corners(placements).reshape(-1, 3)
    floor = floor_of(scene, placements, corners) if ground is None or ground else None
    if camera is None:
        camera = framing(corners, size)
    elif camera.follows:
        camera = camera.at(followed(robot, q[0], camera, parameters) + moved[0])
    return scene.drawing(placements.reshape(-1, 4, 4), camera, size, floor=floor)


def png_of_robot(robot: Model) -> bytes | None:
    """The PNG file of a robot where its file places it; None if it cannot be drawn."""
    return _png_or_none(lambda: render(robot, size=(640, 360)))


def png_of_motion(motion: Shown) -> bytes | None:
    """The PNG file of moments of a motion; None if they cannot be drawn."""
    return _png_or_none(lambda: motion.strip(size=(1000, 250)))


def _png_or_none(draw: Callable[[], Picture]) -> bytes | None:
    """A picture as a PNG file; None if it cannot be drawn, since a notebook then shows the text."""
    try:
        return png_bytes(draw())
    except KinetreeError:
        return None

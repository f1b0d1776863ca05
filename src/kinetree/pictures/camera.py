"""Where a picture is taken from."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.display import Size
from kinetree.errors import OptionError, ShapeError
from kinetree.records import record

__all__ = ["Camera", "checked_size", "half_height"]

_LARGEST = 16384
"""Pixels per side: four times 8K in each direction is a typing error."""


@record(frozen=True, slots=True)
class Camera:
    """A pinhole camera: where it is, where it looks, and how much it sees.

    >>> camera = Camera(position=(2.0, 0.0, 1.0), target=(0.0, 0.0, 1.0))
    >>> camera.project([0.0, 0.0, 1.0], size=(640, 480)).round(6)  # what it looks at is in the middle
    array([320., 240.])
    """

    position: tuple[float, float, float]
    """m, in the world's axes."""
    target: tuple[float, float, float]
    """A point in the middle of the picture."""
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """The direction that is upward in the picture; it need not be perpendicular to the view."""
    field_of_view: float = 0.6
    """The angle between the upper and the lower border, rad."""
    near: float = 0.01
    """Anything nearer than this, measured along the view, is not seen, m."""
    follows: str = ""
    """The body or frame that it follows in films and strips: position and target are then relative to its origin, still
    in the world's axes, so that the camera does not turn with it."""

    def __post_init__(self) -> None:
        for name in ("position", "target", "up"):
            object.__setattr__(self, name, _triple(f"Camera: {name}", getattr(self, name)))
        if not 0.0 < self.field_of_view < math.pi:
            raise OptionError(
                f"Camera: field_of_view must be an angle between 0 and π rad, not {self.field_of_view!r:.40}"
            )
        if not 0.0 < self.near < math.inf:
            raise OptionError(f"Camera: near must be a length above 0 m, not {self.near!r:.40}")
        if not isinstance(self.follows, str):
            raise OptionError(f"Camera: follows must be the name of a body or frame, not {self.follows!r:.60}")
        if not any(self.up):
            raise OptionError("Camera: up must not be (0, 0, 0); it is the direction that is upward in the picture")
        if self.position == self.target:
            raise OptionError(f"Camera: position and target are both {self.position}; it must look somewhere else")

    def at(self, origin: ArrayLike) -> Camera:
        """The camera when the body it follows is at `origin` (3,): a fixed one.

        >>> Camera(position=(2.0, 0.0, 1.0), target=(0.0, 0.0, 0.0), follows="trunk").at([0.0, 1.0, 0.5]).position
        (2.0, 1.0, 1.5)
        """
        place = np.asarray(origin, dtype=np.float64)
        position, target = np.add(self.position, place), np.add(self.target, place)
        return replace(self, position=_triple("position", position), target=_triple("target", target), follows="")

    def axes(self) -> NDArray[np.float64]:
        """(3, 3): the directions to the right, downward and forward, one per row, each of length 1."""
        forward = _unit(np.subtract(self.target, self.position))
        right = np.cross(forward, self.up)
        if float(np.linalg.norm(right)) <= 1e-9 * float(np.linalg.norm(self.up)):  # it looks along `up`
            right = np.cross(forward, np.eye(3)[np.argmin(np.abs(forward))])
        right = _unit(right)
        return np.array([right, np.cross(forward, right), forward])

    def matrix(self, size: Size) -> NDArray[np.float64]:
        """(3, 4): from a point (x, y, z, 1) of the world to (w·column, w·row, w), where w is its depth in m.

        Columns and rows are in pixels from the upper left corner of the picture; the middle of the first pixel is at
        (0.5, 0.5). Points with a depth below `near` are not seen.

        Raises:
            OptionError: `size` is not two whole numbers of pixels.
        """
        width, height = checked_size(size)
        focal = 0.5 * height / math.tan(0.5 * self.field_of_view)
        inside = np.array([[focal, 0.0, 0.5 * width], [0.0, focal, 0.5 * height], [0.0, 0.0, 1.0]])
        axes = self.axes()
        matrix: NDArray[np.float64] = inside @ np.column_stack((axes, -axes @ np.array(self.position)))
        return matrix

    def project(self, points: ArrayLike, size: Size) -> NDArray[np.float64]:
        """(…, 2): the columns and rows of points (…, 3) in a picture of this size, NaN for those not in front."""
        x = np.asarray(points, dtype=np.float64)
        matrix = self.matrix(size)
        projected = x @ matrix[:, :3].T + matrix[:, 3]
        depth = projected[..., 2:]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(depth >= self.near, projected[..., :2] / depth, np.nan)


def half_height(camera: Camera) -> float:
    """Half the height of a camera's view at the distance of its target, m."""
    return math.tan(0.5 * camera.field_of_view) * math.dist(camera.position, camera.target)


def checked_size(size: Size) -> Size:
    """A size in pixels that was given; an `OptionError` describes its fault."""
    try:
        width, height = (int(n) if n == int(n) and not isinstance(n, bool) else 0 for n in size)
    except (TypeError, ValueError, OverflowError):
        width = height = 0
    if not (1 <= width <= _LARGEST and 1 <= height <= _LARGEST):
        raise OptionError(
            f"size must be the width and height of the picture in pixels, each from 1 to {_LARGEST}, such as "
            f"(1280, 720), not {size!r:.60}"
        )
    return width, height


def _triple(name: str, given: ArrayLike) -> tuple[float, float, float]:
    try:
        x = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"{name} must be three numbers, not {given!r:.60}") from None
    if x.shape != (3,):
        raise ShapeError(f"{name} must be three numbers, not an array of shape {x.shape}")
    if not np.isfinite(x).all():
        raise OptionError(f"{name} must be three finite numbers, not {given!r:.60}")
    return float(x[0]), float(x[1]), float(x[2])


def _unit(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x / np.linalg.norm(x)

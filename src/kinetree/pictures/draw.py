"""Pictures of surfaces.

Everything opaque is drawn first, then each transparent layer, from the farthest to the nearest: of a layer only the
nearest surface is seen at each sample, and it covers the scene behind it by its opacity. Light is added and averaged in
linear numbers, and becomes sRGB at the end.

The picture is drawn in bands of rows, on several threads. No sample depends on another band, so the result is the same
to the last bit for any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.appearance import Surface
from kinetree.appearance.srgb import linear_of
from kinetree.compiler.helper_threads import on_threads
from kinetree.display import Size
from kinetree.errors import OptionError, ShapeError
from kinetree.pictures.assembled import ENCODED, LINEAR, assemble
from kinetree.pictures.camera import Camera, checked_size, half_height
from kinetree.pictures.kernels.backdrop import cast_shadow, develop, paint_backdrop
from kinetree.pictures.kernels.shading import Lighting, Surfaces, shade
from kinetree.pictures.kernels.triangles import find_nearest
from kinetree.pictures.lamp import floor_shadow, lamp_matrix, shade_of
from kinetree.pictures.placed import farthest_first, pieces, placed, shading_corners, triangles
from kinetree.pictures.setting import Background, Floor, Light

__all__ = ["Drawing", "Picture", "draw"]

Picture = NDArray[np.uint8]
"""(height, width, 3)."""
Array = NDArray[np.float64]
_BAND = 24
"""Rows of pixels in a band: its buffers fit in a near cache."""
_MOST_SAMPLES = 8
_RESTS = 1e-4
"""m: how far bodies that rest on the floor may be below it by rounding and still be in front of it."""
_MOST_KEPT = 1 << 22
"""Pixels of a backdrop that is kept."""


class Drawing:
    """Surfaces made ready to be drawn at many placements, as for a film; `draw` has the arguments.

    >>> import numpy as np
    >>> from kinetree.appearance import Surface
    >>> from kinetree.pictures import Camera
    >>> from kinetree.pictures.draw import Drawing
    >>> color = np.tile(np.array([200, 30, 30, 255], np.uint8), (3, 1))
    >>> corners = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1]], np.float32)
    >>> triangle = Surface(corners, np.array([[0, 1, 2]], np.int32), np.tile(np.float32([0, -1, 0]), (3, 1)), color)
    >>> drawing = Drawing([triangle])
    >>> drawing(np.eye(4)[None], Camera((0.3, -3.0, 0.3), (0.3, 0.0, 0.3)), size=(64, 48)).shape
    (48, 64, 3)
    """

    def __init__(
        self,
        surfaces: Sequence[Surface],
        opacity: ArrayLike = 1.0,
        layers: ArrayLike | None = None,
        shadows: ArrayLike = True,
    ) -> None:
        self._all = assemble(surfaces, opacity, layers, shadows)
        self._behind: tuple[tuple[Any, ...], NDArray[np.float32]] | None = None

    def __call__(
        self,
        placements: ArrayLike,
        camera: Camera,
        size: Size = (1280, 720),
        *,
        floor: Floor | None = None,
        light: Light | None = None,
        background: Background | None = None,
        supersampling: int = 2,
        threads: int | None = None,
    ) -> Picture:
        width, height = checked_size(size)
        n = _checked_samples(supersampling)
        light, background = light or Light(), background or Background()
        scene, M = self._all, self._placements(placements)
        lamp = lamp_matrix(light, shading_corners(scene, M), camera, (width, height))
        matrix = camera.matrix((width, height)) * np.array([[n], [n], [1.0]])
        world, turned, on_screen, lit = placed(scene, M, matrix, lamp, threads)
        shaded = shade_of(scene, lit, threads)
        boxes, edges = triangles(scene.faces, on_screen, (n * width, n * height), camera.near, threads)
        plane, disc, colors, to_shadow = floor_view(floor, camera, (width, height), lamp)
        shadow = np.zeros((1, 1)) if floor is None else floor_shadow(floor, lamp, shaded)
        ground = np.array([0.0, 0.0, 0.0, -1.0] if floor is None else [*floor.normal, floor.height - _RESTS])
        down = ((np.arange(height) + 0.5) / height)[:, None]
        sky = linear_of(np.array(background.top) * (1.0 - down) + np.array(background.bottom) * down)
        lights = np.array(
            [light.direction, light.key, light.sky, light.ground, camera.position, light.fill_direction(), light.fill]
        )
        surfaces = Surfaces(
            edges, scene.faces, world, turned, scene.colors, scene.part_of, scene.uv, scene.textures, scene.texels,
            LINEAR,
        )  # fmt: skip
        lighting = Lighting(lights, lamp, shaded, ground)
        ahead = farthest_first(scene, M, camera)
        picture = np.empty((height, width, 3), np.uint8)

        def painted(rows: slice) -> NDArray[np.float32]:
            made = np.empty((rows.stop - rows.start, width, 4), np.float32)
            paint_backdrop(rows.start, rows.stop, width, sky, plane, disc, colors, made)
            return made

        behind = self._backdrop((camera, width, height, floor, background), painted, threads)

        def band(rows: slice) -> None:
            top, count = n * rows.start, n * (rows.stop - rows.start)
            backdrop = painted(rows) if behind is None else behind[rows].copy()
            cast_shadow(rows.start, rows.stop, width, sky, plane, to_shadow, shadow, backdrop)
            samples = np.empty((count, n * width, 3), np.float32)
            covered = np.zeros((rows.stop - rows.start, width), np.uint8)
            nearness = np.zeros((count, n * width), np.float32)
            for k, (first, last) in enumerate(ahead):
                nearest = np.full((count, n * width), -1, np.int32)
                its_nearness = nearness.copy() if k else nearness
                find_nearest(boxes, edges, first, last, top, top + count, 1.0 / camera.near, its_nearness, nearest)
                shade(nearest, top, n * width, n, surfaces, lighting, backdrop, covered, samples)
            develop(backdrop, covered, samples, n, rows.start, rows.stop, width, ENCODED, picture)

        on_threads(band, pieces(height, _BAND), threads)
        return picture

    def _backdrop(
        self, key: tuple[Any, ...], painted: Callable[[slice], NDArray[np.float32]], threads: int | None
    ) -> NDArray[np.float32] | None:
        """The scene behind the robot, kept while the camera is at rest; None for a picture too large to be kept."""
        _, width, height, *_ = key
        if width * height > _MOST_KEPT:
            return None
        kept = self._behind
        if kept is None or kept[0] != key:
            made = np.empty((height, width, 4), np.float32)

            def paint(rows: slice) -> None:
                made[rows] = painted(rows)

            on_threads(paint, pieces(height, _BAND), threads)
            self._behind = kept = (key, made)
        return kept[1]

    def _placements(self, given: ArrayLike) -> Array:
        M = np.ascontiguousarray(given, dtype=np.float64)
        k = len(self._all.boxes)
        if M.shape != (k, 4, 4):
            raise ShapeError(f"placements must be one matrix per surface, of shape ({k}, 4, 4), not {M.shape}")
        return M


def draw(
    surfaces: Sequence[Surface],
    placements: ArrayLike,
    camera: Camera,
    size: Size = (1280, 720),
    *,
    opacity: ArrayLike = 1.0,
    layers: ArrayLike | None = None,
    shadows: ArrayLike = True,
    floor: Floor | None = None,
    light: Light | None = None,
    background: Background | None = None,
    supersampling: int = 2,
    threads: int | None = None,
) -> Picture:
    """A picture of surfaces at their placements.

    Args:
        surfaces: k of them.
        placements: (k, 4, 4), in the world's axes; a surface whose placement is not finite is left out.
        camera: where the picture is taken from; see `framing`.
        size: width and height, pixels.
        opacity: scalar or (k,), from 0 to 1; multiplies that of the surfaces' colors. Transparent surfaces take as much
            of the light away as of the scene behind them.
        layers: (k,) whole numbers: transparent surfaces with the same number are one body, whose nearest surface is
            seen. By default each is a layer of its own.
        shadows: scalar or (k,), whether a surface has a shadow.
        floor: the plane below, or None.
        light: the lights.
        background: the background behind everything.
        supersampling: number of samples per pixel in each direction, from 1 to 8.
        threads: number of threads; None as for functions of batches.

    Returns:
        (height, width, 3), red, green and blue (sRGB).

    Raises:
        OptionError: an option is out of range.
        ShapeError: an array has another shape than it needs.
    """
    drawing = Drawing(surfaces, opacity, layers, shadows)
    return drawing(
        placements,
        camera,
        size,
        floor=floor,
        light=light,
        background=background,
        supersampling=supersampling,
        threads=threads,
    )


def _checked_samples(given: int) -> int:
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not 1 <= given <= _MOST_SAMPLES:
        raise OptionError(
            f"supersampling must be the number of samples per pixel in each direction, from 1 to {_MOST_SAMPLES}, not "
            f"{given!r:.40}"
        )
    return int(given)


_FADES, _GONE = 2.5, 9.0
"""Radii of the floor, as parts of half the picture's height at the camera's target."""
_LINES = 5.0
"""Lines of the grid, about, in that length."""

FloorView = tuple[Array, Array, Array, Array]
"""`plane`, `disc`, `colors` and `to_shadow` of `kernels/backdrop.py`."""


def floor_view(floor: Floor | None, camera: Camera, size: Size, lamp: Array) -> FloorView:
    """The kernel's view of the floor. It depends on the camera but not on the robot, so the grid rests in a film."""
    nothing = np.zeros((3, 3)), np.zeros(5), np.zeros((2, 3)), np.zeros((2, 3))
    if floor is None:
        return nothing
    normal, eye, target = np.array(floor.normal), np.array(camera.position), np.array(camera.target)
    above = float(normal @ eye) - floor.height
    if above <= 0.0:  # the floor is not seen from below
        return nothing
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    first /= np.linalg.norm(first)
    if abs(normal[2]) > 0.999:  # a level floor has the world's axes
        first = np.array([1.0, 0.0, 0.0]) - normal[0] * normal
        first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    # A pixel's ray for depth 1 is rays·(column, row, 1); it meets the floor at the depth −above/(normal·ray).
    rays = np.linalg.inv(camera.matrix(size)[:, :3])
    nearness = -(normal @ rays) / above
    plane = np.array(
        [nearness, first @ rays + float(first @ eye) * nearness, second @ rays + float(second @ eye) * nearness]
    )
    half = half_height(camera)
    disc = np.array([first @ target, second @ target, _FADES * half, _GONE * half, _round(half / _LINES)])
    to_world = np.array([first, second, floor.height * normal]).T
    to_shadow = 0.5 * (lamp[:2, :3] @ to_world + np.column_stack((np.zeros((2, 2)), lamp[:2, 3])))
    return plane, disc, linear_of([floor.color, floor.lines]), to_shadow


def _round(x: float) -> float:
    """The nearest of 1, 2, 5, 10, … times a power of ten, from below."""
    power = 10.0 ** math.floor(math.log10(x))
    return power * max(n for n in (1.0, 2.0, 5.0) if n <= x / power * (1.0 + 1e-9))

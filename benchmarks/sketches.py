"""Sketches of robots: arrows, frames, circles and words beside what `kt.render` draws, for the pages of docs/.

A sketch is a list of surfaces at places, drawn as robots are, and of words at points; benchmarks/docs_pictures.py
makes the pictures.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import font_manager
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw, ImageFont

import kinetree as kt
from kinetree.appearance import Surface
from kinetree.appearance.looks import colored
from kinetree.appearance.primitives import primitive
from kinetree.pictures import Background, Camera, Floor, framing
from kinetree.pictures.draw import Drawing
from kinetree.pictures.encoders import encoder_for
from kinetree.pictures.framing import VIEW, corners_of
from kinetree.pictures.scene import Scene, floor_of

Floats = NDArray[np.float64]
Picture = NDArray[np.uint8]
Size = tuple[int, int]

RED, GREEN, BLUE = (204, 51, 51), (46, 139, 70), (44, 98, 190)
AXES = (RED, GREEN, BLUE)
ORANGE, GREY, DARK, PURPLE = (232, 119, 34), (196, 200, 206), (74, 80, 92), (128, 72, 168)
INK = (28, 32, 38)
PAPER = (0.955, 0.96, 0.968)
"""The background of sketches without a floor, from 0 to 1."""
QUALITY = 82
"""The quality of a still picture in WebP, from 0 to 100."""


class Sketch:
    """Surfaces at places (4, 4), and words at points; the methods return the sketch."""

    def __init__(self) -> None:
        self._surfaces: list[Surface] = []
        self._placements: list[Floats] = []
        self._opacity: list[float] = []
        self._layers: list[int] = []
        self._words: list[tuple[str, Floats, tuple[int, int, int], tuple[float, float]]] = []
        self._points: list[Floats] = []
        self._floor: Floor | None = None

    def robot(
        self, robot: kt.Model, q: ArrayLike | None = None, *, opacity: float = 1.0, at: ArrayLike | None = None
    ) -> Sketch:
        """A robot at q (nq,), moved by a placement (4, 4) in the world."""
        scene = Scene(robot)
        placements = scene.placements(np.asarray(robot.neutral() if q is None else q, np.float64)[None])[0]
        placements = placements.reshape(-1, 4, 4)
        corners = scene.corners(placements[None]).reshape(-1, 3)
        M = np.eye(4) if at is None else np.asarray(at)
        if self._floor is None:
            self._floor = floor_of(scene, placements, corners)
        layer = 1 + max(self._layers, default=-1)
        for part, placement in zip(scene.looks.parts, placements, strict=True):
            self._add(part.surface, M @ placement, opacity, layer)
        self._points.append(corners @ M[:3, :3].T + M[:3, 3])
        return self

    def shape(
        self,
        kind: str,
        size: Sequence[float],
        at: ArrayLike | None = None,
        color: Sequence[int] = GREY,
        *,
        opacity: float = 1.0,
        counts: bool = True,
    ) -> Sketch:
        """A box, sphere, cylinder, … with its lengths; without `counts` the camera does not make room for it."""
        M = np.eye(4) if at is None else np.asarray(at, np.float64)
        surface = primitive(kind, tuple(size), (*color[:3], 255))
        self._add(surface, M, opacity, 1 + max(self._layers, default=-1))
        if counts:
            self._points.append(surface.vertices @ M[:3, :3].T + M[:3, 3])
        return self

    def arrow(
        self,
        start: ArrayLike,
        end: ArrayLike,
        color: Sequence[int] = INK,
        *,
        thickness: float = 0.01,
        word: str = "",
        opacity: float = 1.0,
        beside: tuple[float, float] = (0.0, 0.0),
    ) -> Sketch:
        """An arrow between two points, with a word at its end, moved by parts of the height of a letter."""
        a, b = np.asarray(start, np.float64), np.asarray(end, np.float64)
        way = b - a
        length = float(np.linalg.norm(way))
        head = min(4.5 * thickness, 0.6 * length)
        if length > 1e-9:
            turn = _along(way / length)
            shaft = length - head
            self.shape("cylinder", (thickness, shaft), _at(turn, a + 0.5 * shaft * turn[:, 2]), color, opacity=opacity)
            tip = _at(turn, b - 0.5 * head * turn[:, 2])
            self.shape("cone", (2.2 * thickness, head), tip, color, opacity=opacity)
        if word:
            self.word(word, b + (way / max(length, 1e-9)) * 2.2 * thickness, color, beside)
        return self

    def turn(
        self,
        center: ArrayLike,
        axis: ArrayLike,
        start: ArrayLike,
        angle: float,
        color: Sequence[int] = INK,
        *,
        thickness: float = 0.008,
        word: str = "",
        beside: tuple[float, float] = (0.0, 0.0),
    ) -> Sketch:
        """A bent arrow about an axis through `center`: from center + start, by an angle in rad."""
        steps = max(6, round(abs(angle) / 0.15))
        angles = np.linspace(0.0, angle, steps + 1)
        direction = np.asarray(axis, np.float64) / np.linalg.norm(axis)
        rotations = kt.lie.rotation_exp(angles[:, None] * direction)
        points = np.asarray(center) + rotations @ np.asarray(start, np.float64)
        for a, b in itertools.pairwise(points):
            self.line(a, b, color, thickness=thickness)
        along = points[-1] - points[-2]
        along /= np.linalg.norm(along)
        self.arrow(points[-2] - 0.2 * along * thickness, points[-2] + 5.0 * thickness * along, color,
                   thickness=thickness)  # fmt: skip
        if word:
            self.word(word, points[len(points) // 2], color, beside)
        return self

    def spring(
        self, a: ArrayLike, b: ArrayLike, color: Sequence[int] = DARK, *, radius: float = 0.02, turns: int = 7
    ) -> Sketch:
        """A coil between two points."""
        start, end = np.asarray(a, np.float64), np.asarray(b, np.float64)
        length = float(np.linalg.norm(end - start))
        R = _along((end - start) / length)
        s = np.linspace(0.0, 1.0, 12 * turns + 1)
        angle = 2.0 * np.pi * turns * s
        coil = np.stack([radius * np.cos(angle), radius * np.sin(angle), length * s], axis=1)
        points = start + coil @ R.T
        for p, q in itertools.pairwise(points):
            self.line(p, q, color, thickness=0.2 * radius)
        return self

    def cone(
        self, tip: ArrayLike, height: float, radius: float, corners: int, color: Sequence[int], opacity: float = 1.0
    ) -> Sketch:
        """A cone that opens upward from its tip; with four corners a pyramid."""
        angles = 2.0 * np.pi * (np.arange(corners) + 0.5) / corners
        rim = np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full(corners, height)], axis=1)
        faces, normals, vertices = [], [], []
        for a, b in zip(rim, np.roll(rim, -1, axis=0), strict=True):
            for triangle in ((np.zeros(3), b, a), ([0.0, 0.0, height], a, b)):
                normal = np.cross(np.subtract(triangle[1], triangle[0]), np.subtract(triangle[2], triangle[0]))
                faces.append(np.arange(3) + len(vertices))
                vertices += [np.asarray(corner, np.float64) for corner in triangle]
                normals += [normal / np.linalg.norm(normal)] * 3
        at = _at(np.eye(3), tip)
        self._add(colored(np.array(vertices), np.array(faces), np.array(normals), (*color[:3], 255)), at, opacity,
                  1 + max(self._layers, default=-1))  # fmt: skip
        self._points.append(rim + np.asarray(tip))
        return self

    def line(self, a: ArrayLike, b: ArrayLike, color: Sequence[int] = INK, *, thickness: float = 0.004) -> Sketch:
        """A rod with round ends between two points."""
        way = np.subtract(b, a)
        length = float(np.linalg.norm(way))
        turn = _along(way / length) if length > 1e-9 else np.eye(3)
        return self.shape("capsule", (thickness, length), _at(turn, 0.5 * np.add(a, b)), color)

    def frame(
        self,
        at: ArrayLike,
        length: float = 0.15,
        *,
        thickness: float | None = None,
        words: Sequence[str] = ("x", "y", "z"),
        opacity: float = 1.0,
    ) -> Sketch:
        """The axes of a placement (4, 4): x red, y green, z blue."""
        M, thick = np.asarray(at), 0.045 * length if thickness is None else thickness
        for k, word in zip(range(3), [*words, "", "", ""], strict=False):
            self.arrow(M[:3, 3], M[:3, 3] + length * M[:3, k], AXES[k], thickness=thick, word=word, opacity=opacity)
        return self

    def word(
        self, text: str, at: ArrayLike, color: Sequence[int] = INK, beside: tuple[float, float] = (0.0, 0.0)
    ) -> Sketch:
        """A word in the middle of a point's place in the picture, moved by parts of the height of a letter."""
        self._words.append((text, np.asarray(at, np.float64), (color[0], color[1], color[2]), beside))
        return self

    def room(self, points: ArrayLike) -> Sketch:
        """Points (n, 3) that are in the picture, too: so that the frames of a film have one camera."""
        self._points.append(np.asarray(points, np.float64).reshape(-1, 3))
        return self

    def camera(
        self, size: Size, direction: tuple[float, float, float] = VIEW, margin: float = 0.08, field: float = 0.4
    ) -> Camera:
        """The camera that has everything in the picture."""
        points = np.concatenate([corners_of(*x) if x.shape == (2, 3) else x for x in self._points])
        return framing(points, size, direction=direction, margin=margin, field_of_view=field)

    def draw(
        self,
        size: Size,
        *,
        camera: Camera | None = None,
        direction: tuple[float, float, float] = VIEW,
        margin: float = 0.08,
        floor: float | bool = True,
        letters: float = 15.0,
    ) -> Picture:
        """The picture; `floor` is its height, True for that of the robot, or False for none."""
        camera = self.camera(size, direction, margin) if camera is None else camera
        plane = self._floor if floor is True else None if floor is False else Floor(float(floor))
        shadows = [opacity == 1.0 for opacity in self._opacity]
        drawing = Drawing(self._surfaces, self._opacity, self._layers, shadows)
        behind = Background(PAPER, PAPER) if plane is None else Background()
        pixels = drawing(np.array(self._placements), camera, size, floor=plane, background=behind, supersampling=3)
        pen = Pen(pixels)
        for text, at, color, (right, down) in self._words:
            x, y = camera.project(at, size)
            pen.write(text, (x + right * letters, y + down * letters), letters, color)
        return pen.pixels

    def _add(self, surface: Surface, at: Floats, opacity: float, layer: int) -> None:
        self._surfaces.append(surface)
        self._placements.append(at)
        self._opacity.append(opacity)
        self._layers.append(layer)


class Pen:
    """Words on a picture, dark on a light edge."""

    def __init__(self, pixels: Picture) -> None:
        self._image = Image.fromarray(pixels)
        self._draw = ImageDraw.Draw(self._image)

    def write(
        self, text: str, at: tuple[float, float], height: float, color: tuple[int, int, int] = INK, anchor: str = "mm"
    ) -> None:
        """A text of letters of a height in pixels, its middle (or another anchor, as Pillow names them) at a pixel."""
        edge = max(1, round(height / 8))
        self._draw.text(at, text, fill=color, font=font(height), anchor=anchor, stroke_width=edge,
                        stroke_fill=(246, 247, 248))  # fmt: skip

    @property
    def pixels(self) -> Picture:
        return np.array(self._image)


def font(height: float) -> ImageFont.FreeTypeFont:
    """DejaVu Sans, which has Greek letters and arrows, and comes with Matplotlib."""
    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), height)


def panels(pictures: Sequence[Picture], columns: int, words: Iterable[str] = (), height: float = 13.0) -> Picture:
    """Pictures of one size in rows, with a word below each."""
    h, w = pictures[0].shape[:2]
    words = list(words)
    label = round(1.5 * height) if words else 0
    rows = -(-len(pictures) // columns)
    paper = np.full((rows * (h + label), columns * w, 3), 255, np.uint8)
    for k, picture in enumerate(pictures):
        y, x = k // columns * (h + label), k % columns * w
        paper[y : y + h, x : x + w] = picture
    pen = Pen(paper)
    for k, word in enumerate(words):
        middle = k % columns * w + 0.5 * w, k // columns * (h + label) + h + 0.45 * label
        pen.write(word, middle, height)
    return pen.pixels


def save_still(path: Path, picture: ArrayLike) -> None:
    """Write a still picture, in the format that the path's suffix names."""
    Image.fromarray(np.asarray(picture)).save(path, quality=QUALITY, method=6)


def save_film(path: Path, frames: Sequence[Picture], fps: float, quality: int = 70) -> None:
    """Write a film: WebP as a page shows it, smaller than `motion.film` writes it; other formats as that does."""
    if path.suffix == ".webp":
        first, *others = map(Image.fromarray, frames)
        first.save(path, save_all=True, append_images=others, duration=round(1000 / fps), loop=0, quality=quality,
                   method=5, minimize_size=False, allow_mixed=False)  # fmt: skip
        return
    file = io.BytesIO()
    encoder = encoder_for(path.suffix, frames[0].shape[1::-1], Fraction(fps).limit_denominator(1000),
                          lambda: frames[0])(file)  # fmt: skip
    for frame in frames:
        encoder.add(np.ascontiguousarray(frame))
    encoder.close()
    path.write_bytes(file.getvalue())


def frames_of(path: Path) -> list[Picture]:
    """The frames of a film that Pillow can read."""
    film: Any = Image.open(path)
    frames = []
    for k in range(film.n_frames):
        film.seek(k)
        frames.append(np.array(film.convert("RGB")))
    return frames


def pose(position: ArrayLike = (0.0, 0.0, 0.0), rpy: Sequence[float] = (0.0, 0.0, 0.0)) -> Floats:
    """A placement (4, 4) from a position and roll, pitch, yaw."""
    return np.asarray(kt.lie.placement(tuple(map(float, np.asarray(position))), rpy=tuple(rpy)))


def _at(rotation: ArrayLike, position: ArrayLike) -> Floats:
    M = np.eye(4)
    M[:3, :3], M[:3, 3] = rotation, position
    return M


def _along(direction: Floats) -> Floats:
    """A rotation matrix whose z axis is a direction of length one."""
    other = np.eye(3)[int(np.argmin(np.abs(direction)))]
    x = np.cross(other, direction)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(direction, x), direction], axis=1)

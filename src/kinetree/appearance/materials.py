"""Materials of robot files: what their textures show on shapes.

A two-dimensional texture lies on planes, and on meshes that say where. Of others, and on other shapes, only the mean
colour is shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.images import Image, colors_at, decoded
from kinetree.appearance.mesh_files import Companions
from kinetree.appearance.surface import Surface
from kinetree.errors import KinetreeError
from kinetree.model import Geometry, Model
from kinetree.records import record

__all__ = ["Materials"]

_CELL = 32
"""Pixels of a side of a square of a checker."""
_USUAL_COLORS = (0.8, 0.8, 0.8), (0.5, 0.5, 0.5)


@record(frozen=True, slots=True, eq=False)
class Texture:
    """An image, and how it lies on a shape."""

    image: Image
    is_flat: bool
    """Whether it is two-dimensional, not a cube around the shape."""
    repeat: tuple[float, float]
    is_uniform: bool
    """Whether it is repeated per metre, not per shape."""


class Materials:
    """The textures of a robot's shapes, each read when it is first asked for."""

    def __init__(self, robot: Model) -> None:
        self._names = {(one.body, one.index): one.material for one in robot.extras.shapes if one.material}
        self._assets: dict[tuple[str, str], Mapping[str, str]] = {}
        for section in robot.extras.unused:
            for one in section.children if section.tag == "asset" else ():
                attributes = dict(one.attributes)
                name = attributes.get("name", Path(attributes.get("file", "")).stem)
                layer = next((dict(child.attributes) for child in one.children if child.tag == "layer"), {})
                self._assets[one.tag, name] = attributes | {k: v for k, v in layer.items() if k == "texture"}
        self._source = robot.source
        self._known: dict[str, Texture | str | None] = {}

        self._files = {(one.body, one.shape): one.file for one in robot.extras.textures if one.file}

    def has_texture(self, body: str, index: int) -> bool:
        """Whether the file names an image for a shape by itself, as URDF files do."""
        return (body, index) in self._files

    def put_on(self, surface: Surface, body: str, index: int, shape: Geometry) -> tuple[Surface, tuple[str, ...]]:
        """A surface with the texture of its shape, if it has one; and a remark if that cannot be read."""
        name = self._names.get((body, index), "") or self._files.get((body, index), "")
        if not name or surface.texture is not None:
            return surface, ()
        if name not in self._known:
            self._known[name] = self._texture(name) if (body, index) in self._names else self._file_alone(name)
        found = self._known[name]
        if found is None:
            return surface, ()
        if isinstance(found, str):
            return surface, (found,)
        return _with_texture(surface, found, shape), ()

    def _texture(self, material: str) -> Texture | str | None:
        """The texture of a material; a sentence if it cannot be read, None if there is none."""
        properties = self._assets.get(("material", material), {})
        name = properties.get("texture", "")
        given = self._assets.get(("texture", name))
        if not name or given is None or given.get("type", "cube") == "skybox":
            return None
        try:
            image = self._image(given)
        except KinetreeError as error:
            return f"it is drawn without its texture {name!r}: {error}"
        if image is None:
            return (
                f"its texture {name!r} has no file {given.get('file', '')!r} inside the folder of the robot's file, so "
                "it is drawn without; put the file there"
            )
        x, y = (_numbers(properties.get("texrepeat", "1 1")) * 2)[:2]
        is_flat = given.get("type", "cube") == "2d"
        return Texture(image, is_flat, (x, y), properties.get("texuniform", "false") == "true")

    def _file_alone(self, file: str) -> Texture | str:
        """The texture that is in a file, as URDF files name them."""
        try:
            data = Companions(Path(self._source)).content(file) if self._source else None
            if data is not None:
                return Texture(decoded(file, data), is_flat=True, repeat=(1.0, 1.0), is_uniform=False)
        except KinetreeError as error:
            return f"it is drawn without its texture: {error}"
        return f"its texture {file!r} is not inside the folder of the robot's file; it is drawn without: put it there"

    def _image(self, given: Mapping[str, str]) -> Image | None:
        if (builtin := given.get("builtin", "none")) != "none":
            first, second = (
                tuple(_numbers(given[key])) if key in given else usual
                for key, usual in zip(("rgb1", "rgb2"), _USUAL_COLORS, strict=True)
            )
            return _built(builtin, first, second)
        file = given.get("file") or next((given[key] for key in _SIDES if key in given), "")
        data = Companions(Path(self._source)).content(file) if file and self._source else None
        return None if data is None else decoded(file, data)


_SIDES = ("fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")


def _built(kind: str, first: tuple[float, ...], second: tuple[float, ...]) -> Image:
    """A texture that MuJoCo makes itself: "flat", "gradient", which goes from one colour to the other, or "checker"."""
    a, b = (np.array([*(255.0 * x for x in color[:3]), 255.0]) for color in (first, second))
    steps = np.arange(2 * _CELL)
    if kind == "checker":
        share = ((steps[:, None] // _CELL + steps // _CELL) % 2).astype(np.float64)
    elif kind == "gradient":
        share = np.repeat((steps / (len(steps) - 1))[:, None], len(steps), axis=1)
    else:
        share = np.zeros((len(steps), len(steps)))
    found: Image = np.rint(a + share[..., None] * (b - a)).astype(np.uint8)
    return found


def _with_texture(surface: Surface, texture: Texture, shape: Geometry) -> Surface:
    tint = surface.colors.astype(np.float64) / 255.0
    uv = _places(surface, texture, shape) if texture.is_flat else None
    if uv is None:
        shades = texture.image.reshape(-1, 4).mean(axis=0)
        colors = np.rint(tint * shades).astype(np.uint8)
        return Surface(surface.vertices, surface.faces, surface.normals, colors)
    image = np.rint(texture.image * tint.mean(axis=0)).astype(np.uint8)
    return Surface(surface.vertices, surface.faces, surface.normals, colors_at(image, uv), uv.astype(np.float32), image)


def _places(surface: Surface, texture: Texture, shape: Geometry) -> NDArray[np.float64] | None:
    """Where the vertices are in the image; None where nothing says so."""
    x, y = texture.repeat
    if shape.shape == "plane":
        lengths = [1.0 if texture.is_uniform or not math.isfinite(a) else a for a in shape.size[:2]]
        found: NDArray[np.float64] = surface.vertices[:, :2].astype(np.float64) * (x / lengths[0], y / lengths[1]) + 0.5
        return found
    return None if surface.uv is None else surface.uv.astype(np.float64) * (x, y)


def _numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]

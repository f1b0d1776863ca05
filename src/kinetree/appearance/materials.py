"""Materials of robot files: their textures on shapes.

A two-dimensional texture lies on planes, and on meshes that say where. Of others, and on other shapes, only the mean
colour is shown.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.images import Image, colors_at, decoded
from kinetree.appearance.looks import Surface
from kinetree.appearance.mesh_files import MOST_BESIDE, content
from kinetree.errors import KinetreeError, ModelError
from kinetree.io.meshes import remedy
from kinetree.model import Geometry, Model
from kinetree.model.extras import Texture as InFile
from kinetree.model.extras import Unused, image_address
from kinetree.records import record

__all__ = ["Materials"]

_CELL = 32
"""Pixels of a side of a square of a checker."""
_COLORED = ("rgb", "rgba")
"""Roles of layers of a material that have its colours."""
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
        self._source = robot.source
        self._names = {(shape.body, shape.index): shape.material for shape in robot.extras.shapes if shape.material}
        self._files = {(texture.body, texture.shape): texture for texture in robot.extras.textures if texture.file}
        self._assets: dict[tuple[str, str], Unused] = {}
        for section in robot.extras.unused:
            for one in section.children if section.tag == "asset" else ():
                attributes = dict(one.attributes)
                self._assets[one.tag, attributes.get("name", Path(attributes.get("file", "")).stem)] = one
        self._known: dict[str, Texture | str | None] = {}

    def has_texture(self, body: str, index: int) -> bool:
        """Whether the file names an image for a shape by itself, as URDF files do."""
        return (body, index) in self._files

    def put_on(self, surface: Surface, body: str, index: int, shape: Geometry) -> tuple[Surface, tuple[str, ...]]:
        """A surface with the texture of its shape, if it has one; and a remark if that cannot be read."""
        material, file = self._names.get((body, index)), self._files.get((body, index))
        if surface.texture is not None or not (material or file):
            return surface, ()
        name = material or (file.file if file else "")
        if name not in self._known:
            try:
                self._known[name] = self._of_material(name) if file is None else self._of_file(file)
            except KinetreeError as error:
                self._known[name] = f"it is drawn without its texture: {error}"
        image = self._known[name]
        if image is None:
            return surface, ()
        if isinstance(image, str):
            return surface, (image,)
        return _with_texture(surface, image, shape), ()

    def _of_material(self, name: str) -> Texture | None:
        """The texture of a material in an MJCF file, if it has one."""
        from kinetree.contact_model.assets import numbers_of

        material = self._assets.get(("material", name))
        properties = {} if material is None else dict(material.attributes)
        layers = [dict(child.attributes) for child in material.children] if material is not None else []
        shown = next((one for one in layers if one.get("role") in _COLORED), properties)
        texture = self._assets.get(("texture", shown.get("texture", "")))
        given = {} if texture is None else dict(texture.attributes)
        if texture is None or given.get("type", "cube") == "skybox":
            return None
        x, y = (numbers_of(properties.get("texrepeat", "1 1")) * 2)[:2]
        is_flat = given.get("type", "cube") == "2d"
        is_uniform = properties.get("texuniform", "false") == "true"
        return Texture(self._image(texture), is_flat, (x, y), is_uniform)

    def _of_file(self, given: InFile) -> Texture:
        """The texture that is in a file, as URDF files name them."""
        return Texture(self._read(given.file, given.path), is_flat=True, repeat=(1.0, 1.0), is_uniform=False)

    def _image(self, texture: Unused) -> Image:
        from kinetree.contact_model.assets import numbers_of

        given = dict(texture.attributes)
        if (builtin := given.get("builtin", "none")) != "none":
            first, second = (
                numbers_of(given[key]) if key in given else usual
                for key, usual in zip(("rgb1", "rgb2"), _USUAL_COLORS, strict=True)
            )
            return _built(builtin, first, second)
        return self._read(image_address(texture), texture.path)

    def _read(self, address: str, path: Path | None) -> Image:
        if path is None:
            raise ModelError(
                f"its file {address!r} was not found inside the folders given when the robot was loaded; "
                f"{remedy(self._source, address)}"
            )
        return decoded(address, content(path, MOST_BESIDE))


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
    image: Image = np.rint(a + share[..., None] * (b - a)).astype(np.uint8)
    return image


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

"""Where the images of a robot are: those of shapes, as URDF has them, and those of textures among assets of MJCF."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import ClassVar

from kinetree.model.extras.change import Change, Unused
from kinetree.model.extras.extras import Extras
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["Camera", "Texture", "image_address", "image_paths", "with_images"]


def image_address(texture: Unused) -> str:
    """The address of a texture's image, of six around a shape the first; empty if it is made without a file."""
    return next((text for key, text in texture.attributes if key.startswith("file")), "")


def image_paths(extras: Extras) -> Iterator[Path | None]:
    """The paths of all images, in the order in which `with_images` asks for them."""
    yield from (texture.path for texture in extras.textures)
    for section in extras.unused:
        yield from (child.path for child in section.children if _has_image(section, child))


def with_images(extras: Extras, find: Callable[[str], Path | None]) -> Extras:
    """A copy with the paths of images, which `find` returns for each address."""
    textures = tuple(replace(texture, path=find(texture.file)) for texture in extras.textures)
    unused = []
    for section in extras.unused:
        children = tuple(
            replace(one, path=find(image_address(one))) if _has_image(section, one) else one for one in section.children
        )
        unused.append(replace(section, children=children))
    return replace(extras, textures=textures, unused=tuple(unused))


def _has_image(section: Unused, one: Unused) -> bool:
    return section.tag == "asset" and one.tag == "texture" and bool(image_address(one))


@record(frozen=True, slots=True, repr=False)
class Texture:
    """An image on a shape of a body."""

    body: str
    shape: int
    """The shape's place in the body's `geometry`."""
    file: str
    """Its address, as it is in the file."""
    material: str = ""
    path: Path | None = field(default=None, compare=False)
    """Its path on disk, if it lies inside the given roots."""

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> Texture | None:
        return replace(self, body=change.bodies[self.body]) if self.body in change.bodies else None


@record(frozen=True, slots=True, repr=False)
class Camera:
    """A camera that looks along the negative z axis of its frame, with y upward."""

    REFERS: ClassVar[Mapping[str, str]] = {"name": "own", "body": "body", "frame": "frame", "target": "body"}

    name: str
    body: str
    frame: str
    """The name of its frame."""
    mode: str = "fixed"
    """"fixed", "track", "trackcom", "targetbody" or "targetbodycom": how it moves."""
    target: str = ""
    """The body that it looks at."""
    projection: str = "perspective"
    field_of_view: float = 45.0
    """Vertical, degrees; of an orthographic camera a length, m."""
    eye_distance: float = 0.068
    """Between the two eyes of stereo pictures, m."""
    resolution: tuple[int, int] = (1, 1)
    """Width and height in pixels."""
    output: tuple[str, ...] = ("rgb",)
    focal: tuple[float, float] = (0.0, 0.0)
    """Focal lengths, m."""
    focal_pixel: tuple[float, float] = (0.0, 0.0)
    """Focal lengths in pixels."""
    principal: tuple[float, float] = (0.0, 0.0)
    """Where the optical axis meets the picture, from its middle, m."""
    principal_pixel: tuple[float, float] = (0.0, 0.0)
    sensor_size: tuple[float, float] = (0.0, 0.0)
    """m; if it is given, the field of view follows from it."""
    user: tuple[float, ...] = ()

    def __repr__(self) -> str:
        return call_text(self)

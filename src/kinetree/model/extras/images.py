"""Where the images of a robot are: those of shapes, as URDF has them, and those of textures among assets of MJCF."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from kinetree.model.extras.extras import Extras
from kinetree.model.extras.unused import Unused

__all__ = ["image_address", "image_paths", "with_images"]


def image_address(texture: Unused) -> str:
    """The address of a texture's image, of six around a shape the first; empty if it is made without a file."""
    return next((text for key, text in texture.attributes if key.startswith("file")), "")


def image_paths(extras: Extras) -> Iterator[Path | None]:
    """The paths of all images, in the order in which `with_images` asks for them."""
    yield from (one.path for one in extras.textures)
    for section in extras.unused:
        yield from (one.path for one in section.children if _has_image(section, one))


def with_images(extras: Extras, find: Callable[[str], Path | None]) -> Extras:
    """The same with the paths of images, which `find` returns for each address."""
    textures = tuple(replace(one, path=find(one.file)) for one in extras.textures)
    unused = []
    for section in extras.unused:
        children = tuple(
            replace(one, path=find(image_address(one))) if _has_image(section, one) else one for one in section.children
        )
        unused.append(replace(section, children=children))
    return replace(extras, textures=textures, unused=tuple(unused))


def _has_image(section: Unused, one: Unused) -> bool:
    return section.tag == "asset" and one.tag == "texture" and bool(image_address(one))

"""The materials of a COLLADA file: the diffuse colour or image of each, and how opaque it is (COLLADA 1.5, chapter 7).

Blender writes colours from version 2.80 on as it computes with them, in linear light; all others are in sRGB.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from xml.etree.ElementTree import Element

from kinetree.appearance.srgb import srgb_of

__all__ = ["Materials"]

_MODELS = ("phong", "lambert", "blinn", "constant")
_BLENDER = re.compile(r"\s*Blender (\d+)\.(\d+)")
_LINEAR_FROM = (2, 80)


class Materials:
    """The colours and images of surfaces, by the id of their material."""

    def __init__(self, root: Element, by_id: Mapping[str, Element]) -> None:
        self._by_id = by_id
        self._by_name = {one.get("name", ""): one for one in root.findall("library_materials/material")}
        self._known: dict[str, tuple[tuple[float, ...] | None, str | None]] = {}
        tool = _BLENDER.match(root.findtext("asset/contributor/authoring_tool") or "")
        self._is_linear = tool is not None and (int(tool[1]), int(tool[2])) >= _LINEAR_FROM

    def bound(self, instance: Element) -> dict[str, str]:
        """The id of a material by the symbol that a geometry has for it."""
        instances = instance.iter("instance_material")
        return {one.get("symbol", ""): one.get("target", "").removeprefix("#") for one in instances}

    def of(self, material: str) -> tuple[tuple[float, ...] | None, str | None]:
        """The colour, and the address of the image, of a material; None for a missing one."""
        if material not in self._known:
            self._known[material] = self._read(material)
        return self._known[material]

    def _read(self, name: str) -> tuple[tuple[float, ...] | None, str | None]:
        material = self._by_id.get(name)
        if material is None or material.tag != "material":
            material = self._by_name.get(name)
        instance = None if material is None else material.find("instance_effect")
        effect = None if instance is None else self._by_id.get(instance.get("url", "").removeprefix("#"))
        if effect is None:
            return None, None
        for model in _MODELS:
            for shading in effect.iter(model):
                diffuse = shading.find("emission" if model == "constant" else "diffuse")
                if diffuse is None:
                    continue
                texture = diffuse.find("texture")
                if texture is not None and (image := self._image(effect, texture.get("texture", ""))):
                    return None, image
                return self._color(diffuse, shading), None
        return None, None

    def _image(self, effect: Element, sampler: str) -> str | None:
        """The address behind a texture: of the image itself, or through a sampler and its surface."""
        parameters = {one.get("sid", ""): one for one in effect.iter("newparam")}
        name = sampler
        for path in ("sampler2D/source", "surface/init_from"):
            element = parameters[name].find(path) if name in parameters else None
            if element is not None and element.text:
                name = element.text.strip()
        if name in parameters and (direct := parameters[name].find("sampler2D/instance_image")) is not None:
            name = direct.get("url", "").removeprefix("#")
        image = self._by_id.get(name)
        source = None if image is None else image.find("init_from")
        if source is not None and source.find("ref") is not None:
            source = source.find("ref")
        return None if source is None or not source.text else source.text.strip()

    def _color(self, diffuse: Element, shading: Element) -> tuple[float, ...] | None:
        numbers = _numbers(diffuse.find("color"))[:3]
        if len(numbers) < 3:
            return None
        if self._is_linear:
            numbers = tuple(srgb_of(numbers).tolist())
        return (*numbers, _opacity(shading))


def _opacity(shading: Element) -> float:
    """How opaque a surface is; 1 where the file says that nothing of it is seen, as exporters mix up the two ends."""
    transparent, amount = shading.find("transparent"), _numbers(shading.find("transparency/float"))
    if transparent is None and not amount:
        return 1.0
    red, green, blue, alpha = (1.0, 1.0, 1.0, 1.0)
    mode = "A_ONE"
    if transparent is not None:
        mode = transparent.get("opaque", mode)
        given = _numbers(transparent.find("color"))
        if len(given) < 3:
            return 1.0
        red, green, blue, alpha = (*given[:3], *(given[3:4] or (1.0,)))
    value = alpha if mode.startswith("A_") else 0.212671 * red + 0.715160 * green + 0.072169 * blue
    value *= amount[0] if amount else 1.0
    opacity = 1.0 - value if mode.endswith("_ZERO") else value
    return min(opacity, 1.0) if opacity > 0.0 else 1.0


def _numbers(element: Element | None) -> tuple[float, ...]:
    """The finite numbers in an element; none where there is something else."""
    try:
        numbers = tuple(map(float, (element.text or "").split())) if element is not None else ()
    except ValueError:
        return ()
    return numbers if all(map(math.isfinite, numbers)) else ()

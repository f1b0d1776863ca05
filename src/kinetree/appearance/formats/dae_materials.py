"""The materials of a COLLADA file: the diffuse colour or image of each."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.appearance.formats.xml import Element

__all__ = ["Materials"]

_MODELS = ("phong", "lambert", "blinn", "constant")


class Materials:
    """The colours and images of surfaces, by the id of their material."""

    def __init__(self, root: Element, by_id: Mapping[str, Element]) -> None:
        self._by_id = by_id
        self._by_name = {one.get("name", ""): one for one in root.findall("library_materials/material")}
        self._known: dict[str, tuple[tuple[float, ...] | None, str | None]] = {}

    def bound(self, instance: Element) -> dict[str, str]:
        """The id of a material by the symbol that a geometry has for it."""
        found = instance.iter("instance_material")
        return {one.get("symbol", ""): one.get("target", "").removeprefix("#") for one in found}

    def of(self, material: str) -> tuple[tuple[float, ...] | None, str | None]:
        """The colour, and the address of the image, of a material; None for what it does not have."""
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
                return _color(diffuse), None
        return None, None

    def _image(self, effect: Element, sampler: str) -> str | None:
        """The address behind a texture: of the image itself, or through a sampler and its surface."""
        parameters = {one.get("sid", ""): one for one in effect.iter("newparam")}
        name = sampler
        for path in ("sampler2D/source", "surface/init_from"):
            found = parameters[name].find(path) if name in parameters else None
            if found is not None and found.text:
                name = found.text.strip()
        if name in parameters and (direct := parameters[name].find("sampler2D/instance_image")) is not None:
            name = direct.get("url", "").removeprefix("#")
        image = self._by_id.get(name)
        source = None if image is None else image.find("init_from")
        if source is not None and source.find("ref") is not None:
            source = source.find("ref")
        return None if source is None or not source.text else source.text.strip()


def _color(diffuse: Element) -> tuple[float, ...] | None:
    found = diffuse.find("color")
    if found is None or not found.text:
        return None
    try:
        numbers = tuple(map(float, found.text.split()[:3]))
    except ValueError:
        return None
    return (*numbers, 1.0) if len(numbers) == 3 else None

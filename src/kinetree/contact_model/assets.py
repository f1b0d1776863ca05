"""A robot file's data about the meshes and height fields of its shapes."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.model import Geometry, Model
from kinetree.model.extras import AbsentShape, ShapeSettings

__all__ = ["Assets", "numbers_of"]

_TAGS = {"mesh": "mesh", "heightfield": "hfield"}


class Assets:
    """The assets of an MJCF file by the shapes that show them; other files have none."""

    def __init__(self, robot: Model) -> None:
        extras = robot.extras
        settings: list[tuple[tuple[str, int], ShapeSettings | AbsentShape]] = []
        settings += [((one.body, one.index), one) for one in extras.shapes]
        for shape in extras.absent_shapes:
            if (place := _place(robot, shape)) is not None:
                settings.append(((shape.body, place), shape))
        self._of_shapes = {place: one.asset for place, one in settings if one.asset}
        self._smooth = {place for place, one in settings if one.smooth}
        self._by_name: dict[tuple[str, str], dict[str, str]] = {}
        self._by_file: dict[tuple[str, str], list[dict[str, str]]] = {}
        for section in extras.unused:
            for one in section.children if section.tag == "asset" else ():
                attributes = dict(one.attributes)
                self._by_name[one.tag, attributes.get("name", "")] = attributes
                self._by_file.setdefault((one.tag, attributes.get("file", "")), []).append(attributes)

    def of(self, body: str, index: int, shape: Geometry) -> Mapping[str, str]:
        """The attributes of the asset of a shape, the geometry of this index of its body; none if it is not known."""
        tag = _TAGS[shape.shape]
        if (name := self._of_shapes.get((body, index))) is not None:
            return self._by_name.get((tag, name), {})
        same = self._by_file.get((tag, shape.mesh or ""), [])
        scaled = (one for one in same if tag == "mesh" and numbers_of(one.get("scale", "1 1 1")) == shape.size)
        return next(scaled, same[0] if same else {})

    def is_smooth(self, body: str, index: int) -> bool:
        """Whether the robot has a height field there that is smooth."""
        return (body, index) in self._smooth


def _place(robot: Model, one: AbsentShape) -> int | None:
    """The place of an absent shape in `Body.every_shape`; None if its object is not there."""
    body = robot.bodies[one.body]
    places = [
        k
        for k, (which, _) in enumerate(body.every_shape)
        if body.alternatives[which:] and body.alternatives[which].name == one.alternative
    ]
    return places[one.index] if one.index < len(places) else None


def numbers_of(text: str) -> tuple[float, ...]:
    """The numbers of an attribute, which were checked when the file was read."""
    return tuple(map(float, text.split()))

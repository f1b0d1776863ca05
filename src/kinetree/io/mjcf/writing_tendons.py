"""<tendon>: weighted sums of joint coordinates, and strings through sites and around shapes."""

from __future__ import annotations

from kinetree.io.losses import Losses
from kinetree.io.mjcf.grammar import SHAPES
from kinetree.io.mjcf.writing_known import Written
from kinetree.io.mjcf.writing_values import changed, limit, raw_numbers, trimmed
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.model.extras import Extras, Pulley, Tendon, TendonJoint, TendonShape, TendonSite

__all__ = ["write_tendons"]

_USUAL = Tendon("", "")
_PLAIN = {
    "group": "group", "margin": "margin", "spring_yield": "springyield", "friction": "frictionloss",
    "armature": "armature", "solref_limit": "solreflimit", "solimp_limit": "solimplimit",
    "solref_friction": "solreffriction", "solimp_friction": "solimpfriction", "width": "width", "color": "rgba",
}  # fmt: skip


def write_tendons(root: Tag, extras: Extras, written: Written, losses: Losses) -> None:
    """Add the section, if there are any."""
    section, classes = Tag("tendon"), _Classes()
    for one in extras.tendons:
        what = f"tendon {one.name!r}" if one.name else f"a {one.kind} tendon without a name"
        if not written.all_there(what, [end for step in one.path for end in _ends(step)], losses):
            continue
        element = Tag(one.kind)
        known = SHAPES[f"tendon/{one.kind}"].attributes
        attributes = _attributes(one, what, written, losses)
        element.attributes = {name: text for name, text in attributes.items() if name in known}
        others = {name: text for name, text in attributes.items() if name not in known}
        if others:
            element.attributes["class"] = classes.name(others)
        element.children = [_step(step) for step in one.path]
        section.children.append(element)
        written.add("tendon", one.name)
    if section.children:
        classes.write(root)
        root.children.append(section)


class _Classes:
    """Default classes, for what only they can give to a fixed tendon."""

    def __init__(self) -> None:
        self._names: dict[tuple[tuple[str, str], ...], str] = {}

    def name(self, attributes: dict[str, str]) -> str:
        """The name of the class with these attributes."""
        return self._names.setdefault(tuple(attributes.items()), f"tendon_{len(self._names) + 1}")

    def write(self, root: Tag) -> None:
        """Add the section, if there are any."""
        if self._names:
            section = root.add("default")
            for attributes, name in self._names.items():
                section.add("default", class_=name).add("tendon").attributes = dict(attributes)


def _attributes(one: Tendon, what: str, written: Written, losses: Losses) -> dict[str, str]:
    attributes = {"name": one.name} if one.name else {}
    attributes |= limit("limited", "range", one.limited, one.range, losses, what)
    attributes |= limit("actuatorfrclimited", "actuatorfrcrange", one.force_limited, one.force_range, losses, what)
    for name, polynomial in (("stiffness", one.stiffness), ("damping", one.damping)):
        if any(polynomial):
            attributes[name] = trimmed(polynomial)
    if one.spring_length is not None:
        attributes["springlength"] = shown_numbers(one.spring_length)
    attributes |= changed(one, _USUAL, _PLAIN)
    if material := written.optional(what, "material", one.material, losses):
        attributes["material"] = material
    if user := raw_numbers(one.user):
        attributes["user"] = user
    return attributes


def _ends(step: TendonJoint | TendonSite | TendonShape | Pulley) -> list[tuple[str, str]]:
    """What a step of a path refers to."""
    if isinstance(step, TendonJoint):
        return [("joint", step.joint)]
    if isinstance(step, TendonSite):
        return [("site", step.site)]
    return [("geom", step.shape), ("site", step.side_site)] if isinstance(step, TendonShape) else []


def _step(step: TendonJoint | TendonSite | TendonShape | Pulley) -> Tag:
    if isinstance(step, TendonJoint):
        return Tag("joint", joint=step.joint, coef=shown_number(step.coefficient))
    if isinstance(step, TendonSite):
        return Tag("site", site=step.site)
    if isinstance(step, TendonShape):
        return Tag("geom", geom=step.shape, sidesite=step.side_site or None)
    return Tag("pulley", divisor=shown_number(step.divisor))

"""The names of a robot's parts as other sections refer to them, and the sections of all models that are in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from kinetree.errors import ModelError, nearest_names, quoted
from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.bodies import BodyPart, Part
from kinetree.io.mjcf.placements import UNSCALED
from kinetree.io.mjcf.scopes import OWN, Namespace, Scope
from kinetree.io.notes import Notes
from kinetree.model.problems import Problems

__all__ = ["Names", "Reference", "read_sections"]

T = TypeVar("T")

_CODES = {"body": "unknown-body", "joint": "unknown-joint"}
_PARTS = ("geom", "site", "camera")


class Names:
    """Parts by kind and full name."""

    def __init__(self, world: BodyPart, problems: Problems) -> None:
        self._problems = problems
        self.bodies: dict[str, BodyPart] = {}
        self.above: dict[str, BodyPart] = {}
        """The body around each body."""
        self.joints: dict[str, tuple[Part, BodyPart]] = {}
        self.parts: dict[str, dict[str, tuple[Part, BodyPart]]] = {tag: {} for tag in _PARTS}
        """Shapes, sites and cameras by tag and name, with their bodies."""
        self.others: dict[str, set[str]] = {tag: set() for tag in ("tendon", "actuator", "sensor")}
        pending = [world]
        while pending:
            body = pending.pop()
            self.bodies[body.name] = body
            for child in reversed(body.children):
                self.above[child.name] = body
                pending.append(child)
            for joint in body.joints:
                self._add(self.joints, "joint", joint, body)
            for tag in _PARTS:
                for part in body.parts.get(tag, []):
                    self._add(self.parts[tag], tag, part, body)

    def _add(self, parts_by_name: dict[str, tuple[Part, BodyPart]], tag: str, part: Part, body: BodyPart) -> None:
        name = part.name
        if not name:
            return
        if name in parts_by_name:
            if tag != "joint":  # the model's own checks find joints of one name
                first = parts_by_name[name][0].element.line
                sentence = f"there are two {tag}s named {name!r} (the first is in line {first}); rename one of them"
                self._problems.add(part.element.error(sentence, "duplicate-name"))
            return
        parts_by_name[name] = (part, body)

    def add(self, tag: str, name: str, element: Element) -> None:
        """Remember the name of a tendon, actuator or sensor."""
        if not name:
            return
        if name in self.others[tag]:
            element.fail(f"there are two {tag}s named {name!r}; rename one of them", "duplicate-name")
        self.others[tag].add(name)

    def part(self, kind: str, name: str) -> Part | None:
        """The part of the tree of bodies that has a name; None outside it."""
        if kind in ("body", "xbody", "subtree"):
            return self.bodies[name].part
        if kind == "joint":
            return self.joints[name][0]
        return self.parts[kind][name][0] if kind in self.parts else None

    def of(self, kind: str) -> Iterable[str]:
        """All names of one kind."""
        if kind in ("body", "xbody", "subtree"):
            return self.bodies
        if kind == "joint":
            return self.joints
        return self.parts[kind] if kind in self.parts else self.others[kind]


class _MissingError(Exception):
    """A name that is not known in one namespace, with the error if it is in no other."""

    def __init__(self, error: ModelError) -> None:
        super().__init__(str(error))
        self.error = error


class Reference:
    """Finds the full names of an element's references, in one namespace."""

    def __init__(self, names: Names, scope: Scope, space: Namespace) -> None:
        self.names = names
        self.scope = scope
        self.space = space
        self.found_inside: bool = False

    def __call__(self, a: Attributes, attribute: str, kind: str, *, alone: bool = False) -> str:
        """The full name of an attribute's object.

        The elements of a replica may refer to objects outside the replica, unless it must be `alone`.
        """
        return self.full(a.element, a.text(attribute), attribute, kind, alone=alone)

    def full(self, element: Element, name: str, attribute: str, kind: str, *, alone: bool = False) -> str:
        names = self.names.of(kind)
        space = self.space
        full = "world" if kind in ("body", "xbody") and name == "world" else space.of(name)
        if name and full in names:
            self.found_inside = self.found_inside or full != "world"
            self._check_scale(element, kind, full, attribute)
            return full
        if space.suffix and not alone and name:
            outside = Namespace(space.prefix).of(name)
            if outside in names:
                self._check_scale(element, kind, outside, attribute)
                return outside
        what = {"geom": "geom", "xbody": "body", "subtree": "body"}.get(kind, kind)
        sentence = f"{attribute}={quoted(name)}: there is no {what} of this name: {nearest_names(full, names)}"
        raise _MissingError(element.error(sentence, _CODES.get(what, "unknown-name")))

    def _check_scale(self, element: Element, kind: str, full: str, attribute: str) -> None:
        """Reject elements that would have to be scaled together with the objects they refer to."""
        part = self.names.part(kind, full)
        if part is None or part.scale is UNSCALED or element.tag == "exclude":
            return
        is_plain = part.scale.force_length == part.scale.force_mass == 1.0
        if kind == "joint" and is_plain and part.attributes.text("type", "hinge") in ("hinge", "ball"):
            return
        is_sensor = element.parent is not None and element.parent.tag == "sensor" and element.tag != "tactile"
        if is_sensor and not {"cutoff", "noise"} & element.attributes.keys():
            return
        element.fail(
            f"{attribute}={quoted(full)} is in a frame with scale or massscale, and what refers to it is scaled as "
            "well, which is not read yet: scale the numbers by hand, or load and save the file with MuJoCo",
            "not-allowed-here",
        )


def read_sections(
    scope: Scope,
    tag: str,
    names: Names,
    notes: Notes,
    read: Callable[[Element, Reference], T],
    problems: Problems,
) -> list[T]:
    """All elements of the sections with this tag, of the file and of attached models, as often as they are there.

    In a replica or attached model, an element exists if the objects it refers to do; its names have that namespace.
    """
    records: list[T] = []
    failed: dict[int, tuple[Element, ModelError, bool]] = {}
    succeeded: set[int] = set()
    for owner, space in scope.instances:
        for section in owner.sections(tag):
            for element in section.children:
                reference = Reference(names, owner, space)
                try:
                    one = problems.attempt(None, read, element, reference)
                except _MissingError as missing:
                    failed.setdefault(id(element), (element, missing.error, owner is not scope))
                    continue
                succeeded.add(id(element))
                if one is None or (space.suffix and not reference.found_inside):
                    continue
                records.append(one)
    for key, (element, error, attached) in failed.items():
        if key in succeeded:
            continue
        if not attached and not _is_elsewhere(scope, element, names):
            problems.add(error)
            continue
        name = element.attributes.get("name", f"line {element.line}")
        notes.add(f"left out of <{tag}>, because what they refer to is not together in one place (as in MuJoCo)", name)
    return records


def _is_elsewhere(scope: Scope, element: Element, names: Names) -> bool:
    """Whether all that an element names is somewhere, though not together in one namespace."""
    spaces = [space for owner, space in scope.instances if owner is scope]
    if len(spaces) < 2:
        return False
    full_names = {*names.bodies, *names.joints, *(n for t in names.parts.values() for n in t)}
    full_names |= {n for t in names.others.values() for n in t}
    references = [value for attribute, value in element.attributes.items() if attribute.rstrip("12") in _REFERRING]
    return all(any(space.of(value) in full_names for space in (OWN, *spaces)) for value in references)


_REFERRING = frozenset({
    "joint", "jointinparent", "tendon", "site", "refsite", "slidersite", "cranksite", "body", "geom", "camera",
    "actuator", "objname", "refname", "subtree",
})  # fmt: skip

"""The tree of bodies: frames, replicas and attached models resolved, and names given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from kinetree.errors import nearest_names, quoted
from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.placements import UNSCALED, Scale, from_euler, placed, placement, scale_of, scaled
from kinetree.io.mjcf.scopes import OWN, Namespace, Scope
from kinetree.model.problems import STRICT, Problems
from kinetree.records import record
from kinetree.spatial import Transform, Vec3

__all__ = ["IDENTITY", "BodyPart", "Part", "body_tree"]

MAX_BODIES = 50_000
MAX_PARTS = 200_000
MAX_REPLICAS = 20_000
MAX_NESTED = 5_000
IDENTITY = Transform.identity()


@record(slots=True)
class Part:
    """An element of a body, with all that gives it its meaning."""

    element: Element
    attributes: Attributes
    frame: Transform
    """The placement in the body of the frames around it."""
    scope: Scope
    names: Namespace
    scale: Scale = UNSCALED

    @property
    def name(self) -> str:
        return self.names.of(self.element.attributes.get("name", ""))

    def in_body(self, own: Transform) -> Transform:
        """A placement in the frames around it as one in the body."""
        return own if self.frame is IDENTITY else own @ self.frame


@record(slots=True)
class BodyPart:
    """A body, or the world."""

    part: Part
    name: str
    placement: Transform
    """In the body around it, at the joints' reference positions."""
    parts: dict[str, list[Part]] = field(default_factory=dict)
    """Its elements by tag, in their order."""
    children: list[BodyPart] = field(default_factory=list)
    joints: list[Part] = field(default_factory=list)
    """<joint> and <freejoint>, in their order."""


@record(slots=True)
class _Place:
    """Where elements are added."""

    body: BodyPart
    frame: Transform
    scope: Scope
    names: Namespace
    default: str | None
    depth: int
    in_replica: bool = False
    scale: Scale = UNSCALED


def body_tree(scope: Scope, problems: Problems = STRICT) -> BodyPart:
    """The world of a file, with all bodies in it."""
    return _Walk(scope, problems).world


class _Walk:
    """Goes through elements in the order of the file, without recursion."""

    def __init__(self, scope: Scope, problems: Problems) -> None:
        self._problems = problems
        root = scope.tree.root
        self._bodies = self._parts = self._entered = self._replicated = 0
        self._instances = scope.instances
        self._instances.append((scope, OWN))
        self.world = BodyPart(Part(root, Attributes(root), IDENTITY, scope, OWN), "world", IDENTITY)
        self._pending: list[tuple[Iterator[Element], _Place]] = []
        for section in scope.sections("worldbody"):
            self._enter(section, _Place(self.world, IDENTITY, scope, OWN, None, 0))
            while self._pending:
                elements, place = self._pending[-1]
                element = next(elements, None)
                if element is None:
                    self._pending.pop()
                else:
                    problems.attempt(None, self._add, element, place)

    def _enter(self, element: Element, place: _Place) -> None:
        self._entered += 1
        if place.depth > MAX_NESTED or self._entered > MAX_PARTS:
            element.fail(
                f"bodies, frames and replicas are more than {MAX_PARTS:,}, or nested more than {MAX_NESTED:,} deep",
                "too-large",
            )
        children = self._replica(element, place) if element.tag == "replicate" else iter(element.children)
        self._pending.append((children, place))

    def _replica(self, element: Element, place: _Place) -> Iterator[Element]:
        """The children of a replica, which is noted when its turn comes."""
        self._instances.append((place.scope, place.names))
        yield from element.children

    def _add(self, element: Element, place: _Place) -> None:
        tag = element.tag
        if tag == "body":
            self._body(element, place)
        elif tag == "frame":
            self._enter(element, self._in_frame(element, place))
        elif tag == "replicate":
            self._replicas(element, place)
        elif tag == "attach":
            self._attach(element, place)
        else:
            self._part(element, place)

    def _part(self, element: Element, place: _Place) -> None:
        tag = element.tag
        self._parts += 1
        if self._parts > MAX_PARTS:
            element.fail(f"there are more than {MAX_PARTS:,} parts of bodies, the limit", "too-large")
        if place.body is self.world and tag in ("joint", "freejoint", "inertial"):
            what = "inertia" if tag == "inertial" else "joints"
            element.fail(f"the world has no {what}; put it into a <body>", "not-allowed-here")
        if tag in ("joint", "freejoint") and place.in_replica:
            element.fail("a joint cannot be directly in a <replicate>; put it into a <body> in it", "not-allowed-here")
        kind = "joint" if tag == "freejoint" else tag
        attributes = Attributes(element) if tag == "freejoint" else place.scope.attributes(element, kind, place.default)
        attributes = scaled(attributes, tag, place.scale)
        part = Part(element, attributes, place.frame, place.scope, place.names, place.scale)
        parts = place.body.parts.setdefault(tag, [])
        if tag == "inertial" and parts:
            element.fail(
                f"the body has a second <inertial> (the first is in line {parts[0].element.line}); remove one",
                "repeated-element",
            )
        parts.append(part)
        if kind == "joint":
            place.body.joints.append(part)

    def _body(self, element: Element, place: _Place) -> None:
        self._bodies += 1
        if self._bodies > MAX_BODIES:
            element.fail(f"there are more than {MAX_BODIES:,} bodies, the limit", "too-large")
        attributes = scaled(Attributes(element), "body", place.scale)
        part = Part(element, attributes, place.frame, place.scope, place.names, place.scale)
        own = self._problems.attempt(IDENTITY, placement, part.attributes, place.scope.settings)
        name = part.name or f"body{self._bodies}"
        body = BodyPart(part, name, part.in_body(own))
        place.body.children.append(body)
        default = self._childclass(element, place)
        self._enter(
            element, _Place(body, IDENTITY, place.scope, place.names, default, place.depth + 1, scale=place.scale)
        )

    def _in_frame(self, element: Element, place: _Place) -> _Place:
        own = placement(scaled(Attributes(element), "frame", place.scale), place.scope.settings)
        default = self._childclass(element, place)
        scale = place.scale
        if {"scale", "massscale", "scaling"} & element.attributes.keys():
            scale = scale_of(element, scale)
        return _Place(place.body, own @ place.frame, place.scope, place.names, default, place.depth + 1, scale=scale)

    def _childclass(self, element: Element, place: _Place) -> str | None:
        name = element.attributes.get("childclass")
        if name is None:
            return place.default
        return self._problems.attempt(place.default, place.scope.defaults.check, name, element, "childclass")

    def _replicas(self, element: Element, place: _Place) -> None:
        a, settings = scaled(Attributes(element), "replicate", place.scale), place.scope.settings
        element.text("count")
        count = a.whole("count")
        if count < 1:
            element.fail(f"count={count} is not a positive number of replicas", "bad-number")
        self._replicated += count
        if self._replicated > MAX_REPLICAS or count * max(1, len(element.children)) > MAX_PARTS:
            element.fail(
                f"count={count:,} makes more than {MAX_REPLICAS:,} replicas or {MAX_PARTS:,} parts, the limits",
                "too-large",
            )
        offset, euler = a.numbers("offset", (0.0, 0.0, 0.0)), a.numbers("euler", (0.0, 0.0, 0.0))
        default = self._childclass(element, place)
        turns = any(euler)
        position = [0.0, 0.0, 0.0]
        entered = []
        for k in range(count):
            R = from_euler([k * angle for angle in euler], settings) if turns else IDENTITY.E
            names = place.names.inside(suffix=f"{element.attributes.get('sep', '')}{k:0{len(str(count))}d}")
            frame = placed(R, position) @ place.frame
            entered.append(_Place(place.body, frame, place.scope, names, default, place.depth + 1, True, place.scale))
            step = R @ Vec3(*offset)
            position = [x + float(dx) for x, dx in zip(position, step.components(), strict=True)]
        for replica in reversed(entered):
            self._enter(element, replica)

    def _attach(self, element: Element, place: _Place) -> None:
        prefix = element.attributes.get("prefix")
        if prefix is None:
            element.fail(
                'has no attribute "prefix"; add it: it is put in front of the names of attached parts',
                "missing-attribute",
            )
        targets = [(tag, element.attributes[tag]) for tag in ("body", "frame") if tag in element.attributes]
        if len(targets) > 1:
            element.fail("it names a body and a frame; remove one of them", "conflict")
        model = element.attributes.get("model")
        scope = place.scope
        if model is not None:
            if model not in scope.models:
                element.fail(
                    f"model={quoted(model)}: there is no such model: {nearest_names(model, scope.models)}",
                    "unknown-name",
                )
            scope = scope.models[model]
        elif not targets:
            element.fail("it names neither a model nor a body or frame of this one; name one", "missing-attribute")
        if place.depth > MAX_NESTED:
            element.fail("models are attached to themselves without an end", "circle")
        names = place.names.inside(prefix=prefix)
        self._instances.append((scope, names))
        inside = _Place(place.body, place.frame, scope, names, None, place.depth + 1, scale=place.scale)
        if not targets:
            for section in reversed(scope.sections("worldbody")):
                self._enter(section, inside)
            return
        tag, name = targets[0]
        target = _named(scope, tag, name, element)
        inside.default = _class_around(target)
        if model is None and _is_inside(element, target):
            element.fail(f"the {tag} {name!r} cannot be attached inside itself", "not-allowed-here")
        self._pending.append((iter([target]), inside))


def _named(scope: Scope, tag: str, name: str, element: Element) -> Element:
    """The body or frame of this name in a file."""
    elements: dict[str, Element] = {}
    pending = scope.sections("worldbody")
    while pending:
        inside = pending.pop()
        pending += inside.children
        if inside.tag == tag and "name" in inside.attributes:
            elements[inside.attributes["name"]] = inside
    if name not in elements:
        element.fail(
            f"{tag}={quoted(name)}: there is no such {tag} to attach: {nearest_names(name, elements)}", "unknown-name"
        )
    return elements[name]


def _class_around(element: Element) -> str | None:
    """The class that the bodies and frames around an element give it."""
    around = element.parent
    while around is not None:
        if "childclass" in around.attributes:
            return around.attributes["childclass"]
        around = around.parent
    return None


def _is_inside(element: Element | None, other: Element) -> bool:
    while element is not None:
        if element is other:
            return True
        element = element.parent
    return False

"""From an SRDF file and the robot it belongs to, to a planner's data about that robot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from kinetree.errors import nearest_names
from kinetree.io.document import MAX_RAW, Document, Element, Shape, read_document, shown
from kinetree.io.numbers import number, numbers
from kinetree.io.urdf.raw import as_written
from kinetree.joints import Fixed
from kinetree.model import Model
from kinetree.model.extras import (
    BodySpheres,
    CollisionPair,
    EndEffector,
    Extras,
    JointGroup,
    JointProperty,
    JointValues,
    NamedState,
    PassiveJoint,
    Sphere,
    UncheckedBody,
    VirtualJoint,
)

__all__ = ["read_srdf"]


def read_srdf(path: Path, robot: Model) -> Model:
    """The robot with the file's data in its extras.

    Raises `ModelError`, with the line, for anything in the file that does not fit the robot.
    """
    document = read_document(path, SHAPES)
    root = document.root
    if root.tag != "robot" or root.all("link") or root.all("joint"):
        root.fail(
            "this is not an SRDF file: it must begin with <robot> and hold groups, states and pairs, not links",
            "unknown-format",
        )
    if robot.extras.groups or robot.extras.named_states:
        root.fail(
            f"{robot.name!r} has groups and named states already; load the robot from a file without them", "conflict"
        )
    if len(root.children) > MAX_RAW:
        root.fail(
            f"there are {len(root.children):,} groups, states, pairs and others; the limit is {MAX_RAW:,}", "too-large"
        )
    names = Names(robot, root)
    reader = _Reader(names)
    extras = Extras(
        unused=tuple(as_written(child) for child in reader.unknown(root)),
        groups=reader.groups(root),
        named_states=reader.states(root),
        end_effectors=tuple(map(reader.end_effector, root.all("end_effector"))),
        virtual_joints=tuple(
            VirtualJoint(
                names.word(e, "name"), names.word(e, "type"), names.word(e, "parent_frame"), names.body(e, "child_link")
            )
            for e in root.all("virtual_joint")
        ),
        passive_joints=tuple(PassiveJoint(names.joint(e, "name")) for e in root.all("passive_joint")),
        joint_properties=tuple(
            JointProperty(names.joint(e, "joint_name"), names.word(e, "property_name"), e.attributes.get("value", ""))
            for e in root.all("joint_property")
        ),
        collision_pairs=tuple(reader.pair(child) for child in root.children if child.tag in _CHECKED),
        unchecked_bodies=tuple(UncheckedBody(names.body(e, "link")) for e in root.all("disable_default_collisions")),
        body_spheres=tuple(map(reader.spheres, root.all("link_sphere_approximation"))),
    )
    notes = [*reader.notes(), *_notes(document, robot, path)]
    parts = robot.parts
    return replace(
        robot,
        notes=(*robot.notes, *notes),
        parts=replace(parts, extras=parts.extras.with_those_of(extras), notes=(*parts.notes, *notes)),
    )


_CHECKED = {"disable_collisions": False, "enable_collisions": True}


class _Reader:
    """Reads the elements of one file."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._fixed: list[str] = []

    def notes(self) -> list[str]:
        """The omitted parts."""
        if not self._fixed:
            return []
        return [f"values for joints that are fixed were left out of the named states: {', '.join(self._fixed)}"]

    def unknown(self, root: Element) -> list[Element]:
        """The elements that SRDF does not define."""
        return [child for child in root.children if child.tag not in SHAPES["robot"].children]

    def groups(self, root: Element) -> tuple[JointGroup, ...]:
        """All groups; none may hold itself."""
        elements = {self._names.word(element, "name"): element for element in root.all("group")}
        groups = {name: self._group(name, element) for name, element in elements.items()}
        settled: set[str] = set()
        pending = list(groups)
        while pending:
            rest = [name for name in pending if not settled.issuperset(groups[name].groups)]
            if len(rest) == len(pending):
                elements[rest[0]].fail(
                    f"group {rest[0]!r} holds itself, through its subgroups {groups[rest[0]].groups}", "circle"
                )
            settled.update(set(pending) - set(rest))
            pending = rest
        return tuple(groups.values())

    def _group(self, name: str, element: Element) -> JointGroup:
        names = self._names
        return JointGroup(
            name,
            tuple(names.joint(e, "name") for e in element.all("joint")),
            tuple(names.body(e, "name") for e in element.all("link")),
            tuple((names.body(e, "base_link"), names.body(e, "tip_link")) for e in element.all("chain")),
            tuple(names.group(e, "name") for e in element.all("group")),
        )

    def states(self, root: Element) -> tuple[NamedState, ...]:
        """All named states; a group has only one of each name."""
        states: dict[tuple[str, str], NamedState] = {}
        for element in root.all("group_state"):
            name = self._names.word(element, "name")
            # Pinocchio and its files need no group.
            group = self._names.group(element, "group") if "group" in element.attributes else ""
            if (name, group) in states:
                element.fail(
                    f"there is another state {name!r} of the group {group!r}; rename one of them", "duplicate-name"
                )
            values: dict[str, JointValues] = {}
            for child in element.all("joint"):
                joint = self._names.joint(child, "name")
                if joint in values:
                    child.fail(f"state {name!r} has a second value for joint {joint!r}; remove one", "repeated-element")
                expected = self._names.values(joint)
                if not expected:
                    self._fixed.append(f"{joint} in {name}")
                    continue
                values[joint] = JointValues(joint, numbers(child, "value", expected))
            states[name, group] = NamedState(name, group, tuple(values.values()))
        return tuple(states.values())

    def end_effector(self, element: Element) -> EndEffector:
        names = self._names
        above = names.group(element, "parent_group") if element.attributes.get("parent_group", "").strip() else ""
        return EndEffector(
            names.word(element, "name"), names.group(element, "group"), names.body(element, "parent_link"), above
        )

    def pair(self, element: Element) -> CollisionPair:
        body1, body2 = self._names.body(element, "link1"), self._names.body(element, "link2")
        return CollisionPair(body1, body2, _CHECKED[element.tag], element.attributes.get("reason", "").strip())

    def spheres(self, element: Element) -> BodySpheres:
        spheres = []
        for child in element.all("sphere"):
            x, y, z = numbers(child, "center", 3)
            radius = number(child, "radius")
            if radius < 0.0:
                child.fail(f"radius={radius:g} is negative; give it as a positive number of metres", "bad-number")
            spheres.append(Sphere((x, y, z), radius))
        if not spheres:
            element.lacks("sphere")
        return BodySpheres(self._names.body(element, "link"), tuple(spheres))


def _notes(document: Document, robot: Model, path: Path) -> list[str]:
    root = document.root
    notes = [f"groups, named states and collision pairs are those of {path}"]
    name = root.attributes.get("name", "").strip()
    if name != robot.name:
        notes.append(f"the SRDF file is for a robot named {name!r}, this one is {robot.name!r}")
    children = SHAPES["robot"].children
    other = Counter(child.tag for child in root.children if child.tag not in children)
    if other:
        counts = ", ".join(f"<{tag}> ({number})" for tag, number in other.items())
        notes.append(f"elements that SRDF does not define are in extras.unused: {counts}")
    if document.skipped or document.skipped_attributes:
        counts = ", ".join(
            f"{what} ({number})" for what, number in (document.skipped + document.skipped_attributes).items()
        )
        notes.append(f"elements and attributes inside others that SRDF does not define were skipped: {counts}")
    return notes


BASE = "root_joint"
"""The joint of a floating base, also where the file does not say that there is one, as in Pinocchio."""
_VIRTUAL = {"fixed": 0, "planar": 3, "floating": 7}
"""The number of values of a virtual joint, by its type."""


class Names:
    """Checks names, each at its place."""

    def __init__(self, robot: Model, document: Element) -> None:
        self._bodies = robot.bodies.keys()
        self._joints = {spec.name: 0 if isinstance(spec.kind, Fixed) else spec.kind.nq for spec in robot.parts.joints}
        self._joints.setdefault(next(iter(robot.joints)) if robot.floating_base else BASE, _VIRTUAL["floating"])
        self._robot = robot.name
        for element in document.all("virtual_joint"):
            kind = self.word(element, "type")
            if kind not in _VIRTUAL:
                element.fail(
                    f'type="{shown(kind, 40)}" is not a type of a virtual joint: {nearest_names(kind, _VIRTUAL)}'
                )
            name = self.word(element, "name")
            if name in self._joints and name != BASE:
                element.fail(
                    f"{self._robot!r} has a joint {name!r} of its own; give the virtual joint another name",
                    "duplicate-name",
                )
            self._joints[name] = _VIRTUAL[kind]
        self._groups = self._once(document.all("group"))

    def word(self, element: Element, attribute: str) -> str:
        """An attribute without blanks around it."""
        return element.text(attribute).strip()

    def body(self, element: Element, attribute: str) -> str:
        """An attribute that names a body."""
        name = self.word(element, attribute)
        if name not in self._bodies:
            self._fail(element, attribute, name, "body", self._bodies)
        return name

    def joint(self, element: Element, attribute: str) -> str:
        """An attribute that names a joint, of the robot or a virtual one."""
        name = self.word(element, attribute)
        if name not in self._joints:
            self._fail(element, attribute, name, "joint", self._joints)
        return name

    def values(self, joint: str) -> int:
        """The number of values that a joint has in a state; 0 if it is fixed."""
        return self._joints[joint]

    def group(self, element: Element, attribute: str) -> str:
        """An attribute that names a group of this file."""
        name = self.word(element, attribute)
        if name not in self._groups:
            element.fail(
                f"{attribute}={shown(name, 80)!r}: this file has no such group; {nearest_names(name, self._groups)}",
                "unknown-name",
            )
        return name

    def _once(self, elements: Iterable[Element]) -> Mapping[str, Element]:
        elements_by_name: dict[str, Element] = {}
        for element in elements:
            name = self.word(element, "name")
            if name in elements_by_name:
                element.fail(
                    f"there is another group of this name in line {elements_by_name[name].line}; rename one of them",
                    "duplicate-name",
                )
            elements_by_name[name] = element
        return elements_by_name

    def _fail(self, element: Element, attribute: str, name: str, what: str, names: Iterable[str]) -> None:
        element.fail(
            f"{attribute}={shown(name, 80)!r}: {self._robot!r} has no such {what}; {nearest_names(name, names)}",
            f"unknown-{what}",
        )


SHAPES = {
    "robot": Shape.of(
        "virtual_joint group group_state end_effector passive_joint joint_property link_sphere_approximation "
        "disable_default_collisions disable_collisions=pair enable_collisions=pair",
        "name version",
        raw=True,
    ),
    "virtual_joint": Shape.of("", "name type parent_frame child_link"),
    "group": Shape.of("joint=name link=name chain group=name", "name"),
    "name": Shape.of("", "name"),
    "chain": Shape.of("", "base_link tip_link"),
    "group_state": Shape.of("joint=value", "name group"),
    "value": Shape.of("", "name value"),
    "end_effector": Shape.of("", "name group parent_link parent_group"),
    "passive_joint": Shape.of("", "name"),
    "joint_property": Shape.of("", "joint_name property_name value"),
    "link_sphere_approximation": Shape.of("sphere", "link"),
    "sphere": Shape.of("", "center radius"),
    "disable_default_collisions": Shape.of("", "link"),
    "pair": Shape.of("", "link1 link2 reason"),
}

"""The names that an SRDF file may use: those of the robot it belongs to, and its own virtual joints and groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kinetree.errors import nearest_names
from kinetree.io.document import Element, shown
from kinetree.joints import Fixed
from kinetree.model import Model

__all__ = ["BASE", "Names"]

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

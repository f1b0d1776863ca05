"""Default classes: each begins as a copy of the class around it and adds its own elements."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.errors import nearest_names, quoted
from kinetree.io.document import Element

__all__ = ["ACTUATORS", "Defaults"]

ACTUATORS = frozenset({
    "general", "motor", "position", "velocity", "intvelocity", "orientation", "pid", "damper", "cylinder", "muscle",
    "adhesion", "dcmotor", "plugin",
})  # fmt: skip
"""Elements that are actuators; in a class, all of them set the one default of actuators."""
_MAIN = "main"

Chain = tuple[Element, ...]


class Defaults:
    """The default classes of one file."""

    def __init__(self, sections: Sequence[Element]) -> None:
        self._classes: dict[str, dict[str, Chain]] = {_MAIN: {}}
        for section in sections:
            name = section.attributes.get("class", _MAIN)
            if name != _MAIN:
                section.fail(
                    f'the outermost class of defaults is called "main", not {name!r}; nest another class in it',
                    "bad-name",
                )
            self._add(section, self._classes[_MAIN])

    def _add(self, section: Element, own: dict[str, Chain]) -> None:
        pending = [(section, own)]
        while pending:
            section, own = pending.pop()
            nested = []
            for element in section.children:
                if element.tag == "default":
                    nested.append(element)
                else:
                    tag = "actuator" if element.tag in ACTUATORS else element.tag
                    own[tag] = (*own.get(tag, ()), element)
            for element in nested:
                name = element.text("class")
                if name in self._classes:
                    element.fail(f"there are two default classes named {name!r}; rename one of them", "duplicate-name")
                self._classes[name] = dict(own)
            pending += [(element, self._classes[element.attributes["class"]]) for element in reversed(nested)]

    def check(self, name: str, element: Element, attribute: str) -> str:
        """The name, if there is such a class."""
        if name not in self._classes:
            element.fail(
                f"{attribute}={quoted(name)}: there is no such default class: {nearest_names(name, self._classes)}",
                "unknown-name",
            )
        return name

    def of(self, element: Element, tag: str, around: str | None = None) -> Chain:
        """The defaults of an element, the outermost first; `around` is the class of the bodies around it."""
        name = element.attributes.get("class")
        if name is not None:
            self.check(name, element, "class")
        return self._classes[name or around or _MAIN].get(tag, ())

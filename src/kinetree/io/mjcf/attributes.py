"""The attributes of an element over those of its default classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NoReturn, TypeVar

from kinetree.errors import nearest_names
from kinetree.io.document import Element, shown
from kinetree.io.numbers import bound, number, numbers_of

__all__ = ["Attributes"]

T = TypeVar("T")

_FEW = 6
_FLAGS = {"true": True, "false": False}


class Attributes:
    """Attributes read from an element, and where it has none from the defaults of its class, the nearest first.

    A list of numbers that is shorter than it may be keeps the last numbers of the replaced list, as in MuJoCo.
    """

    __slots__ = ("_chain", "_owners", "element")

    def __init__(self, element: Element, defaults: Sequence[Element] = ()) -> None:
        self.element: Element = element
        self._chain = (*defaults, element)
        self._owners: dict[str, Element] = {}
        for part in self._chain:
            for name in part.attributes:
                self._owners[name] = part

    def changed(self, change: Callable[[Element], Element], unwritten: Element) -> Attributes:
        """The same attributes with each element changed, and defaults for missing ones."""
        return Attributes(change(self.element), tuple(change(one) for one in (unwritten, *self._chain[:-1])))

    def __contains__(self, name: str) -> bool:
        return name in self._owners

    def owner(self, name: str) -> Element | None:
        """The element that decides an attribute: this one, or the nearest default; None if none has it."""
        return self._owners.get(name)

    def has_any(self, names: frozenset[str]) -> bool:
        """Whether the element or one of its defaults has any of these attributes."""
        return not names.isdisjoint(self._owners)

    def texts(self) -> dict[str, str]:
        """The texts of all attributes, each from the element that decides it."""
        return {name: owner.attributes[name] for name, owner in self._owners.items()}

    def is_nearer(self, name: str, other: str) -> bool:
        """Whether an attribute is decided nearer to the element than another, if both are given."""
        nearest = {id(element): k for k, element in enumerate(self._chain)}
        first, second = self.owner(name), self.owner(other)
        return first is not None and (second is None or nearest[id(first)] > nearest[id(second)])

    def fail(self, message: str, code: str = "bad-value") -> NoReturn:
        self.element.fail(message, code)

    def one_of(self, names: Iterable[str]) -> str | None:
        """The one of these attributes that the element has, or else the nearest default that has one."""
        names = [name for name in names if name in self._owners]
        for element in reversed(self._chain if names else ()):
            own = [name for name in names if name in element.attributes]
            if len(own) > 1:
                element.fail(
                    f"it has both {own[0]} and {own[1]}, which say the same in two ways; remove one of them", "conflict"
                )
            if own:
                return own[0]
        return None

    def text(self, name: str, default: str = "") -> str:
        owner = self.owner(name)
        return default if owner is None else owner.attributes[name]

    def word(self, name: str, meanings: Mapping[str, T], default: T) -> T:
        """The meaning of an attribute that holds one of a few words."""
        owner = self.owner(name)
        if owner is None:
            return default
        text = owner.attributes[name]
        if text not in meanings:
            nearest = nearest_names(text, meanings)
            if len(meanings) <= _FEW:  # among few, the nearest may be far from the intended one
                nearest = f"available: {', '.join(map(repr, meanings))}"
            owner.fail(f'{name}="{shown(text, 40)}" is not one of its words: {nearest}')
        return meanings[text]

    def flag(self, name: str, default: bool = False) -> bool:
        return self.word(name, _FLAGS, default)

    def choice(self, name: str) -> bool | None:
        """True, False, or None for "auto", which is the default."""
        return self.word(name, {**_FLAGS, "auto": None}, None)

    def number(self, name: str, default: float = 0.0) -> float:
        owner = self.owner(name)
        return default if owner is None else number(owner, name)

    def bound(self, name: str, default: float) -> float:
        """A number that may be infinite."""
        owner = self.owner(name)
        return default if owner is None else bound(owner, name)

    def whole(self, name: str, default: int = 0) -> int:
        value = self.number(name, default)
        if value != int(value):
            owner = self.owner(name) or self.element
            owner.fail(f'{name}="{shown(owner.attributes[name], 40)}" must be a whole number', "bad-number")
        return int(value)

    def numbers(self, name: str, default: Sequence[float], least: int | None = None) -> tuple[float, ...]:
        """As many numbers as `default` has; with `least`, an element may give only that many, or more."""
        if name not in self._owners:
            return tuple(default)
        values = list(default)
        least = len(values) if least is None else least
        for element in self._chain:
            if name in element.attributes:
                numbers = numbers_of(element, element.attributes[name], least, len(values), attribute=name)
                values[: len(numbers)] = numbers
        return tuple(values)

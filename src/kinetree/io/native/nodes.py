"""Values in a text, with their places in it; every access checks the value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NoReturn

from kinetree.errors import ModelError, nearest_names
from kinetree.inputs import repeated
from kinetree.problems import problem

__all__ = ["MAX_DIGITS", "Node", "lines_of", "parsed"]

MAX_DIGITS = 30
"""Maximum digits of a whole number; one with more is not a length, mass or angle, and takes long to read."""
_MAX_LETTERS = 100_000
"""Maximum length of a string: names, addresses and notes are shorter."""
_LONGEST_PLACE = 500
_MAX_SIZE = 4 * 2**20
_MAX_DEPTH = 100
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_INFINITE = {"inf": math.inf, "-inf": -math.inf}


class Node:
    """A value in the text. Its `str` is its place, so that it can serve as the `where` of a part."""

    __slots__ = ("place", "value")

    def __init__(self, value: Any, place: str) -> None:
        self.value: Any = value
        self.place: str = place

    def __str__(self) -> str:
        return self.place

    @property
    def place_in_file(self) -> tuple[str, int | None, str]:
        """File, line and element; only the last is known here."""
        return "", None, self.place.removesuffix(": ")

    def fail(self, sentence: str, code: str = "bad-value") -> NoReturn:
        """Raise a `ModelError` that names this place; `code` is one of `kinetree.problems.CODES`."""
        place = self.place.removesuffix(": ")
        place = place if len(place) <= _LONGEST_PLACE else f"{place[:_LONGEST_PLACE]}…"
        message = f"{place}: {sentence}" if place else sentence
        raise ModelError(message, problems=(problem(self, sentence, code),))

    def record(self, required: Collection[str], optional: Collection[str] = ()) -> None:
        """Raise unless it is an object with these fields and no others."""
        if type(self.value) is not dict:
            self.fail(f"must be an object {{…}}, not {_excerpt(self.value)}")
        for name in self.value:
            if name not in required and name not in optional:
                self.fail(
                    f"has a field {name!r:.60}, which is unknown: {nearest_names(name, [*required, *optional])}",
                    "unknown-attribute",
                )
        for name in required:
            if name not in self.value:
                self.fail(f'has no field "{name}"; add it', "missing-attribute")

    def __contains__(self, name: str) -> bool:
        return name in self.value

    def __getitem__(self, name: str) -> Node:
        """A field of an object."""
        place = self.place
        joint = "" if not place or place.endswith(": ") else "."
        return Node(self.value[name], f"{place}{joint}{name}")

    def __iter__(self) -> Iterator[Node]:
        """The items of an array."""
        if type(self.value) is not list:
            self.fail(f"must be an array […], not {_excerpt(self.value)}")
        place = self.place
        return (Node(value, f"{place}[{k}]") for k, value in enumerate(self.value))

    def each(self, name: str) -> Iterable[Node]:
        """The items of the array in a field; none if it is missing."""
        return self[name] if name in self.value else ()

    def text(self) -> str:
        """A string."""
        value = self.value
        if type(value) is not str:
            self.fail(f"must be a string, not {_excerpt(value)}")
        if len(value) > _MAX_LETTERS:
            self.fail(f"is a string of {len(value):,} characters; the limit is {_MAX_LETTERS:,}", "too-large")
        return value

    def flag(self) -> bool:
        """True or false."""
        if type(self.value) is not bool:
            self.fail(f"must be true or false, not {_excerpt(self.value)}")
        return self.value

    def flags(self) -> bool | list[bool]:
        """True or false, or an array of them."""
        return [node.flag() for node in self] if type(self.value) is list else self.flag()

    def number(self) -> float:
        """A number as written, whole or not; "inf" and "-inf" are infinity."""
        value = self.value
        if type(value) is str and value in _INFINITE:
            return _INFINITE[value]
        if type(value) is not float and type(value) is not int:
            self.fail(f'must be a number, "inf" or "-inf", not {_excerpt(value)}', "bad-number")
        return value

    def numbers(self, count: int | None = None) -> tuple[float, ...]:
        """An array of numbers."""
        value = self.value
        if type(value) is not list or (count is not None and len(value) != count):
            expected = "an array of numbers" if count is None else f"an array of {count} numbers"
            actual = f"one of {len(value)}" if type(value) is list else _excerpt(value)
            self.fail(f"must be {expected}, not {actual}", "bad-number")
        if all(type(x) is float for x in value):
            return tuple(value)
        return tuple(node.number() for node in self)


def parsed(text: str, file: str = "") -> Node:
    """The value of a JSON text.

    Raises `ModelError`, which names line and column, if it is not JSON; also for duplicate fields of an object, and for
    numbers that do not fit in 64 bits.
    """
    start = f"{file}: " if file else ""
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_float=_float,
            parse_int=_whole,
            parse_constant=_constant,
        )
    except json.JSONDecodeError as error:
        place = f"{file}:{error.lineno}" if file else f"line {error.lineno}"
        sentence = f"this is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        fault = problem("", sentence, "not-well-formed")._replace(file=file, line=error.lineno)
        raise ModelError(f"{place}, column {error.colno}: {sentence}", problems=(fault,)) from None
    except RecursionError:
        sentence = "arrays and objects are nested too deep for a robot"
        raise ModelError(f"{start}{sentence}", problems=(problem(file, sentence, "too-large"),)) from None
    except _UnfitError as error:
        raise ModelError(f"{start}{error}", problems=(problem(file, str(error), "not-well-formed"),)) from None
    return Node(value, start)


class _UnfitError(Exception):
    """JSON that cannot occur in a robot."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        twice = repeated(name for name, _ in pairs)
        named = f" (its name is {entries['name']!r:.60})" if "name" in entries else ""
        raise _UnfitError(f"an object{named} has the field {twice!r:.60} twice; remove one")
    return entries


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _UnfitError(f'the number {_cut(text)} is too large for a 64-bit number; infinity is written "inf"')
    return value


def _whole(text: str) -> int:
    digits = len(text.removeprefix("-"))
    if digits > MAX_DIGITS:
        raise _UnfitError(f"the number {_cut(text)} has {digits:,} digits; the limit is {MAX_DIGITS}")
    return int(text)


def _constant(text: str) -> NoReturn:
    raise _UnfitError(f'{text} is not a JSON number; infinity is written "inf", and NaN is not allowed')


def _cut(text: str) -> str:
    return text if len(text) <= 30 else text[:30] + "…"


def _excerpt(value: Any) -> str:
    """A value as shown in a message; large ones are only described."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:40] + "…"


def lines_of(text: str) -> dict[str, int]:
    """The line in which each value begins; none of a text that is too large or nested too deep for a robot."""
    lines: dict[str, int] = {}
    if len(text) > _MAX_SIZE:
        return lines
    line, last = 1, 0
    stack: list[int | None] = []  # the index in an array, None in an object
    names: list[str] = [""]  # places of the values around
    key = ""
    expects_key = False
    for token in _TOKEN.finditer(text):
        line += text.count("\n", last, token.start())
        last = token.start()
        word = token[0]
        if word == ",":
            if stack and stack[-1] is not None:
                stack[-1] += 1
            expects_key = bool(stack) and stack[-1] is None
        elif word == ":":
            expects_key = False
        elif word in "}]":
            if stack:
                stack.pop()
                names.pop()
        elif expects_key:
            try:
                key = json.loads(word)
            except ValueError:  # this is not JSON, which has been said already
                return lines
        else:
            around = names[-1]
            place = around
            if stack:
                index = stack[-1]
                place = f"{around}[{index}]" if index is not None else f"{around}.{key}" if around else key
            lines.setdefault(place, line)
            if word in "{[":
                if len(stack) > _MAX_DEPTH:
                    return {}
                stack.append(0 if word == "[" else None)
                names.append(place)
                expects_key = word == "{"
    return lines

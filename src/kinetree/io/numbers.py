"""Numbers in attributes, read strictly.

`float` would accept "1_000", "nan", "infinity" and digits of any script; a robot file that contains these has a
mistake in it, so only plain decimal numbers are accepted.
"""

from __future__ import annotations

import math
import re

from kinetree.io.document import Element, shown

__all__ = ["bound", "number", "number_each", "numbers", "numbers_of"]

_NUMBER = r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_BLANK = r"[ \t\r\n]"
_ONE = re.compile(_NUMBER)
_LIST = re.compile(rf"{_BLANK}*+{_NUMBER}(?:{_BLANK}++{_NUMBER})*+{_BLANK}*+")
_EACH = re.compile(rf"{_NUMBER}(?:\0{_NUMBER})*+")
_INFINITE = re.compile(rf"{_BLANK}*+([+-]?)inf(?:inity)?{_BLANK}*+", re.IGNORECASE)
_LONGEST = 4096
_NO_BOUND = 1e30
"""Files that cannot write infinity have the largest number of 32 or 64 bits in its place."""


def number(element: Element, attribute: str, default: float | None = None) -> float:
    """The value of an attribute that holds one number; without a default it is required."""
    text = element.attributes.get(attribute)
    if text is None and default is not None:
        return default
    if text is not None and len(text) <= _LONGEST and _ONE.fullmatch(text):
        value = float(text)
        if math.isfinite(value):
            return value
    return numbers(element, attribute, 1)[0]


def bound(element: Element, attribute: str, default: float | None = None) -> float:
    """The value of an attribute that holds one number or an infinity for an absent bound.

    The infinities are written "inf" or "infinity" in letters of any case, or as numbers of 1e30 and more.
    """
    infinite = _INFINITE.fullmatch(element.attributes.get(attribute, ""))
    if infinite:
        return -math.inf if infinite[1] == "-" else math.inf
    value = number(element, attribute, default)
    return math.copysign(math.inf, value) if abs(value) >= _NO_BOUND else value


def number_each(element: Element, attributes: tuple[str, ...]) -> tuple[float, ...]:
    """The values of required attributes that hold one number each."""
    try:
        # XML cannot contain a null character, so it separates the values whatever they are, and one check covers them
        # all.
        text = "\0".join([element.attributes[attribute] for attribute in attributes])
    except KeyError:
        text = ""
    if len(text) <= _LONGEST and _EACH.fullmatch(text):
        values = tuple(map(float, text.split("\0")))
        if all(map(math.isfinite, values)):
            return values
    return tuple(number(element, attribute) for attribute in attributes)


def numbers(
    element: Element, attribute: str, count: int, default: tuple[float, ...] | None = None
) -> tuple[float, ...]:
    """The value of an attribute that holds `count` numbers separated by blanks; without a default it is required."""
    text = element.attributes.get(attribute)
    if text is None:
        if default is not None:
            return default
        element.fail(f'has no attribute "{attribute}"; add it', "missing-attribute")
    return numbers_of(element, text, count, attribute=attribute)


def numbers_of(
    element: Element, text: str, least: int, most: int | None = None, *, attribute: str | None = None
) -> tuple[float, ...]:
    """The `least` to `most` finite numbers in a text, by default just `least`.

    The text is that of an attribute or, without one, of the element.
    """
    most = least if most is None else most
    expected = _count_in_words(least, most)
    if len(text) > _LONGEST or not _LIST.fullmatch(text):
        element.fail(_why_not(_quoted(text, attribute), text, expected), "bad-number")
    values = tuple(map(float, text.split()))
    if not least <= len(values) <= most:
        sentence = f"{_quoted(text, attribute)} holds {len(values)} numbers; expected {expected}"
        element.fail(sentence, "bad-number")
    if not all(map(math.isfinite, values)):
        element.fail(f"{_quoted(text, attribute)} is too large for a 64-bit number", "bad-number")
    return values


def _count_in_words(least: int, most: int) -> str:
    """The count of numbers that a text must have, in words."""
    if least < most:
        return f"{least} to {most} numbers separated by blanks"
    return "one number" if most == 1 else f"{most} numbers separated by blanks"


def _quoted(text: str, attribute: str | None) -> str:
    return f'"{shown(text.strip(), 40)}"' if attribute is None else f'{attribute}="{shown(text, 40)}"'


def _why_not(given: str, text: str, expected: str) -> str:
    if not text.strip():
        return f"{given} is empty; expected {expected}"
    if len(text) > _LONGEST:
        return f"{given} is {len(text):,} characters long; expected {expected}"
    if "${" in text or "$(" in text:
        return f"{given} is a xacro expression; load the file with xacro=True, or --xacro, if you trust it"
    wrong = next((word for word in re.split(_BLANK, text) if word and not _ONE.fullmatch(word)), text)
    why = f"{shown(wrong, 40)!r} is not a number"
    if wrong.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        why = f"{shown(wrong, 40)!r} is not a finite number"
    elif "," in wrong:
        why += " (write a point for decimals and blanks between numbers)"
    elif "_" in wrong:
        why += " (write it without underscores)"
    elif _ONE.match(wrong):
        why += " (write it without a unit; units are SI)"
    return f"{given}: {why}; expected {expected}"

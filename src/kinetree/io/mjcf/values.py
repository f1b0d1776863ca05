"""Values that many elements have: numbers of any count, ranges with their flags, and parameters of the solver."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.settings import Settings
from kinetree.io.numbers import numbers_of

__all__ = [
    "INTERPOLATIONS",
    "chosen",
    "limited",
    "many",
    "polynomial",
    "same",
    "solimp",
    "solref",
    "user_data",
    "words",
]

_CHUNK = 100
_MOST = 1_000_000

Pair = tuple[float, float]


def same(*words: str) -> Mapping[str, str]:
    """Words that mean themselves."""
    return {word: word for word in words}


INTERPOLATIONS = same("zoh", "linear", "cubic")


def many(element: Element, attribute: str) -> tuple[float, ...]:
    """Any count of numbers; none if the attribute is absent or empty."""
    texts = element.attributes.get(attribute, "").split()
    if len(texts) > _MOST:
        element.fail(f"{attribute} holds {len(texts):,} numbers; the limit is {_MOST:,}", "too-large")
    values: list[float] = []
    for start in range(0, len(texts), _CHUNK):
        piece = texts[start : start + _CHUNK]
        values += numbers_of(element, " ".join(piece), len(piece), attribute=attribute)
    return tuple(values)


def user_data(a: Attributes) -> tuple[float, ...]:
    owner = a.owner("user")
    return () if owner is None else many(owner, "user")


def solref(a: Attributes, attribute: str = "solref", default: Pair = (0.02, 1.0)) -> Pair:
    first, second = a.numbers(attribute, default, least=1)
    return first, second


def solimp(a: Attributes, attribute: str = "solimp") -> tuple[float, ...]:
    return a.numbers(attribute, (0.9, 0.95, 0.001, 0.5, 2.0), least=1)


def polynomial(a: Attributes, attribute: str) -> tuple[float, float, float]:
    """Linear, quadratic and cubic coefficients."""
    linear, quadratic, cubic = a.numbers(attribute, (0.0, 0.0, 0.0), least=1)
    return linear, quadratic, cubic


def limited(a: Attributes, settings: Settings, flag: str, attribute: str) -> tuple[bool, Pair]:
    """Whether a range is in force, and the range; where the flag does not say so, it is if there is one."""
    low, high = a.numbers(attribute, (0.0, 0.0))
    return chosen(a, settings, flag, attribute, (low, high)), (low, high)


def chosen(a: Attributes, settings: Settings, flag: str, attribute: str, bounds: Pair) -> bool:
    """Whether these bounds are in force."""
    low, high = bounds
    decided = a.choice(flag)
    has_range = bounds != (0.0, 0.0)
    if decided is None and has_range and not settings.autolimits:
        a.fail(
            f'it has {attribute} but does not say {flag}="true" or "false", which <compiler autolimits="false"> '
            "demands",
            "missing-attribute",
        )
    is_limited = has_range if decided is None else decided
    if is_limited and low >= high:
        if not has_range:
            a.fail(f'it has {flag}="true", but no {attribute}; add it', "missing-attribute")
        a.fail(f"{attribute} is {low:g} to {high:g}; the first number must be smaller than the second", "bad-limits")
    return is_limited


def words(a: Attributes, attribute: str, allowed: tuple[str, ...], default: tuple[str, ...]) -> tuple[str, ...]:
    """Some of the known words, each at most once and in the order of `allowed`."""
    owner = a.owner(attribute)
    if owner is None:
        return default
    texts = tuple(owner.attributes[attribute].split())
    for word in texts:
        if word not in allowed:
            owner.fail(f'{attribute} holds "{word:.40}", which is not one of its words: {", ".join(allowed)}')
    if texts != tuple(word for word in allowed if word in texts):
        owner.fail(f'{attribute}="{" ".join(texts):.60}" must name each word once, in the order {", ".join(allowed)}')
    return texts

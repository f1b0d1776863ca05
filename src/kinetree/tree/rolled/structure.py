"""Spatial quantities to rows of numbers and back: a memory's data about their types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from kinetree.expr import Scalar, Symbol

__all__ = ["numbers_of", "rebuilt"]

_NUMBER = "number"


def numbers_of(value: Any, numbers: list[Scalar]) -> Any:
    """Append the numbers in a value; return its form, which is equal for values that differ only in numbers."""
    if isinstance(value, float | Symbol):
        numbers.append(value)
        return _NUMBER
    if value is None or isinstance(value, int):
        return (int, value)
    if isinstance(value, tuple | list):
        return (type(value), tuple(numbers_of(x, numbers) for x in value))
    kind: type = type(value)
    names = _names(kind)
    return (kind, tuple(numbers_of(getattr(value, name), numbers) for name in names))


def rebuilt(form: Any, numbers: Sequence[Scalar]) -> Any:
    """The value of this form with these numbers."""
    return _rebuilt(form, iter(numbers))


def _rebuilt(form: Any, numbers: Iterator[Scalar]) -> Any:
    if form == _NUMBER:
        return next(numbers)
    kind, parts = form
    if kind is int:
        return parts
    values = [_rebuilt(part, numbers) for part in parts]
    if kind is tuple or kind is list:
        return kind(values)
    made = object.__new__(kind)
    for name, value in zip(_names(kind), values, strict=True):
        object.__setattr__(made, name, value)
    return made


@cache
def _names(kind: type) -> tuple[str, ...]:
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind))
    slots: tuple[str, ...] = tuple(getattr(kind, "__slots__", ()))
    if not slots:
        raise TypeError(f"{kind.__name__} cannot be kept in memory: it is not a dataclass and has no __slots__")
    return slots

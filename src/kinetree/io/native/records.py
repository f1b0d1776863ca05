"""Records of a robot's extras to JSON and back: each is an object that names its class, and its fields.

What a field may hold is what its annotation says, for every class that the annotations of `Extras` lead to; so a record
added there has a text form at once. Fields at their defaults, and those that do not count in comparisons, are left out.
"""

from __future__ import annotations

import functools
from dataclasses import MISSING, Field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from kinetree.errors import ModelError, nearest_names
from kinetree.io.native.nodes import Node
from kinetree.io.native.quantities import TAGGED, dumped, number

__all__ = ["read_fields", "read_value", "written_fields", "written_value"]

_NAME = "record"
"""The field that names the class."""


def written_fields(record: Any) -> dict[str, Any]:
    """The fields of a record that are not at their defaults, without the name of its class."""
    found: dict[str, Any] = {}
    cls: Any = type(record)
    for entry, hint in _fields(cls).values():
        value = getattr(record, entry.name)
        try:
            text = written_value(value, hint)
        except _UnfitError:
            raise ModelError(
                f"{cls.__name__}.{entry.name} must be {_told(hint)}, not {value!r:.60}; it cannot be written"
            ) from None
        default = _default(entry)
        if default is MISSING or dumped(text) != dumped(written_value(default, hint)):
            found[entry.name] = text
    return found


def written_value(value: Any, hint: Any) -> Any:
    """A value as JSON. Raises `ModelError` for one that is not what the annotation says."""
    for arm in _arms(hint):
        origin = get_origin(arm)
        if origin is tuple and isinstance(value, tuple):
            items = _items(arm, len(value))
            if len(items) == len(value):
                return [written_value(x, item) for x, item in zip(value, items, strict=True)]
        if origin is Literal and value in get_args(arm):
            return value
        if arm is float and isinstance(value, int | float) and not isinstance(value, bool):
            return number(float(value))
        if type(value) is not arm:
            continue
        if arm in (bool, int, str, NoneType):
            return value
        if arm in TAGGED:
            return TAGGED[arm][0](value)
        if is_dataclass(arm):
            return {_NAME: arm.__name__, **written_fields(value)}
    raise _UnfitError(f"a record holds {value!r:.60}, but must hold {_told(hint)}; it cannot be written")


class _UnfitError(ModelError):
    """A value that its annotation does not allow."""


def read_fields(node: Node, cls: Any, *, also: tuple[str, ...] = ()) -> Any:
    """A record of this class, of an object with its fields."""
    known = _fields(cls)
    needed = [name for name, (entry, _) in known.items() if _default(entry) is MISSING]
    node.record((*also, *needed), [*known])
    return cls(**{name: read_value(node[name], hint) for name, (_, hint) in known.items() if name in node})


def read_value(node: Node, hint: Any) -> Any:
    """The value of JSON that the annotation allows. Raises `ModelError`, which names its place, for any other."""
    arms, value = _arms(hint), node.value
    if value is None and NoneType in arms:
        return None
    if type(value) is dict:
        records: dict[str, Any] = {
            getattr(arm, "__name__", ""): arm for arm in arms if is_dataclass(arm) and arm not in TAGGED
        }
        if records:
            return _read_record(node, records)
    for arm in arms:
        origin = get_origin(arm)
        if origin is tuple and type(value) is list:
            inside = _items(arm, len(value))
            if len(inside) == len(value):
                return tuple(read_value(x, item) for x, item in zip(node, inside, strict=True))
        elif (origin is Literal and value in get_args(arm)) or (arm in (bool, int) and type(value) is arm):
            return value
        elif arm is float and (type(value) in (float, int) or (type(value) is str and str not in arms)):
            return float(node.number())
        elif arm is str and type(value) is str:
            return node.text()
        elif arm in TAGGED:
            return TAGGED[arm][1](node)
    return node.fail(f"must be {_told(hint)}, not {dumped(value):.60}")


def _read_record(node: Node, records: dict[str, Any]) -> Any:
    if _NAME not in node:
        node.fail(f'has no field "{_NAME}", the name of what it is: {" or ".join(records)}', "missing-attribute")
    name = node[_NAME].text()
    if name not in records:
        node[_NAME].fail(f"is {name!r:.60}, which is unknown here: {nearest_names(name, records)}", "unknown-name")
    return read_fields(node, records[name], also=(_NAME,))


@functools.cache
def _fields(cls: Any) -> dict[str, tuple[Field[Any], Any]]:
    """The fields that count, by name, with their annotations."""
    hints = get_type_hints(cls)
    return {entry.name: (entry, hints[entry.name]) for entry in fields(cls) if entry.compare}


def _default(entry: Field[Any]) -> Any:
    return entry.default if entry.default_factory is MISSING else entry.default_factory()


@functools.cache
def _arms(hint: Any) -> tuple[Any, ...]:
    """The alternatives of an annotation."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _items(hint: Any, count: int) -> tuple[Any, ...]:
    """What each item of a tuple may be: of `count` items, if there may be any number of them."""
    inside = get_args(hint)
    return inside[:1] * count if len(inside) == 2 and inside[1] is ... else inside


def _told(hint: Any) -> str:
    """What an annotation allows, in words."""
    told = []
    for arm in _arms(hint):
        inside = get_args(arm)
        if get_origin(arm) is Literal:
            told.append(" or ".join(map(repr, inside)))
        elif get_origin(arm) is tuple:
            several = len(inside) == 2 and inside[1] is ...
            told.append(f"an array of {_told(inside[0])}" if several else f"an array of {len(inside)}")
        else:
            words = {bool: "true or false", int: "a whole number", float: "a number", str: "a string", NoneType: "null"}
            told.append(words.get(arm, getattr(arm, "__name__", str(arm))))
    return " or ".join(told)

"""Records of a robot's extras to JSON and back: each is an object that names its class, and its fields.

The annotation of a field defines its values, for every class that the annotations of `Extras` lead to; so a record
added there has a text form at once. Fields at their defaults, and those that do not count in comparisons, are left out.
"""

from __future__ import annotations

import functools
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from kinetree.errors import ModelError, nearest_names
from kinetree.io.native.forms import TAGGED, Field, Fields, Form, dumped, number
from kinetree.io.native.nodes import Node

__all__ = ["read_fields", "written_fields"]

_NAME = "record"
"""The field that names the class."""


def written_fields(record: Any) -> dict[str, Any]:
    """The fields of a record that are not at their defaults, without the name of its class."""
    cls: Any = type(record)
    return _fields(cls).write(record)


def read_fields(node: Node, cls: Any) -> Any:
    """A record of this class, of an object with its fields."""
    return _fields(cls).read(node)


@functools.cache
def _fields(cls: Any) -> Fields:
    """The fields that count, with the forms of their annotations."""
    hints = get_type_hints(cls)
    return Fields(
        cls,
        **{
            entry.name: Field(
                Form(partial(_written_field, cls, entry.name, hints[entry.name]), partial(_read, hints[entry.name])),
                entry.default if entry.default_factory is MISSING else entry.default_factory(),
            )
            for entry in fields(cls)
            if entry.compare
        },
    )


def _written_field(cls: Any, name: str, hint: Any, value: Any) -> Any:
    try:
        return _written(hint, value)
    except _UnfitError:
        raise ModelError(
            f"{cls.__name__}.{name} must be {_allowed(hint)}, not {value!r:.60}; it cannot be written"
        ) from None


def _written(hint: Any, value: Any) -> Any:
    cls: Any = type(value)
    for arm in _arms(hint):
        origin = get_origin(arm)
        if origin is tuple and isinstance(value, tuple) and len(items := _items(arm, len(value))) == len(value):
            return list(map(_written, items, value))
        if (origin is Literal and value in get_args(arm)) or (cls is arm and arm in (bool, int, str, NoneType)):
            return value
        if arm is float and isinstance(value, int | float) and not isinstance(value, bool):
            return number(float(value))
        if cls is arm and arm in TAGGED:
            return TAGGED[arm].write(value)
        if cls is arm and is_dataclass(arm):
            return {_NAME: cls.__name__, **_fields(cls).write(value)}
    raise _UnfitError


class _UnfitError(Exception):
    """A value that its annotation does not allow."""


def _read(hint: Any, node: Node) -> Any:
    arms, value = _arms(hint), node.value
    if value is None and NoneType in arms:
        return None
    if type(value) is dict:
        records: dict[str, Any] = {
            getattr(arm, "__name__", ""): arm for arm in arms if is_dataclass(arm) and arm not in TAGGED
        }
        if records:
            return _fields(records[_record_name(node, records)]).read(node, _NAME)
    for arm in arms:
        origin = get_origin(arm)
        if origin is tuple and type(value) is list:
            inside = _items(arm, len(value))
            if len(inside) == len(value):
                return tuple(map(_read, inside, node))
        elif (origin is Literal and value in get_args(arm)) or (arm in (bool, int) and type(value) is arm):
            return value
        elif arm is float and (type(value) in (float, int) or (type(value) is str and str not in arms)):
            return float(node.number())
        elif arm is str and type(value) is str:
            return node.text()
        elif arm in TAGGED:
            return TAGGED[arm].read(node)
    return node.fail(f"must be {_allowed(hint)}, not {dumped(value):.60}")


def _record_name(node: Node, records: dict[str, Any]) -> str:
    if _NAME not in node:
        node.fail(f'has no field "{_NAME}", the name of its kind: {" or ".join(records)}', "missing-attribute")
    name = node[_NAME].text()
    if name not in records:
        node[_NAME].fail(f"is {name!r:.60}, which is unknown here: {nearest_names(name, records)}", "unknown-name")
    return name


@functools.cache
def _arms(hint: Any) -> tuple[Any, ...]:
    """The alternatives of an annotation."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _items(hint: Any, count: int) -> tuple[Any, ...]:
    """The form of each item of a tuple: of `count` items, if their number is not fixed."""
    inside = get_args(hint)
    return inside[:1] * count if len(inside) == 2 and inside[1] is ... else inside


def _allowed(hint: Any) -> str:
    """The values that an annotation allows, in words."""
    allowed = []
    for arm in _arms(hint):
        inside = get_args(arm)
        if get_origin(arm) is Literal:
            allowed.append(" or ".join(map(repr, inside)))
        elif get_origin(arm) is tuple:
            several = len(inside) == 2 and inside[1] is ...
            allowed.append(f"an array of {_allowed(inside[0])}" if several else f"an array of {len(inside)}")
        else:
            words = {bool: "true or false", int: "a whole number", float: "a number", str: "a string", NoneType: "null"}
            allowed.append(words.get(arm, getattr(arm, "__name__", str(arm))))
    return " or ".join(allowed)

"""Forms of values: how each is written as JSON, and read again bit by bit. One description serves both directions."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import MISSING
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ModelError
from kinetree.io.native.nodes import MAX_DIGITS, Node
from kinetree.model.specs import shortest
from kinetree.spatial import Force, Inertia, Mat3, Motion, Subspace, Sym3, Transform, Turn, Vec3

__all__ = [
    "BARE", "FLAGS", "IDENTITY", "MATRIX", "NUMBER", "NUMBERS", "PLACEMENT", "SYMMETRIC", "TAGGED", "TEXT", "VECTOR",
    "Field", "Fields", "Form", "array", "dumped", "number", "numbers", "numbers_of",
]  # fmt: skip

_TOLERANCE = 1e-9
_TOO_LONG = 10**MAX_DIGITS
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
IDENTITY = Transform.identity()
BARE = object()
"""The default of a field where it depends on the record: its value in a bare record of this kind."""


def dumped(value: Any) -> str:
    """JSON on one line. Non-Latin scripts stay readable; half a surrogate pair is escaped."""
    text = _encode(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return json.dumps(value, allow_nan=False)
    return text


def number(x: Any) -> float | str:
    """A plain number, or infinity as "inf"."""
    if type(x) is not float and type(x) is not int:
        if isinstance(x, np.floating | float):
            x = float(x)
        elif isinstance(x, np.integer | int):
            x = int(x)
        else:
            raise ModelError(f"{x!r:.60} is not a real number, and cannot be written")
    if type(x) is int and abs(x) >= _TOO_LONG:
        raise ModelError(f"{x:.3e} is too large a whole number to be written")
    if x - x == 0.0:
        return x  # type: ignore[no-any-return]
    if x != x:
        raise ModelError("NaN is not a number that a robot can have, and cannot be written")
    return "inf" if x > 0.0 else "-inf"


def numbers(xs: Any) -> list[float | str]:
    """A list of numbers."""
    return [number(x) for x in xs]


class Form(NamedTuple):
    """How a value is written, and how it is read; `Fields` and `Kinds` are forms as well. Both raise `ModelError`."""

    write: Callable[[Any], Any]
    read: Callable[[Node], Any]


class Field(NamedTuple):
    """A field of an object."""

    form: Any
    default: Any = MISSING
    """Left out where a record has it, to the last bit; without one, the field is always there."""
    attribute: str = ""
    """Where a record has it, if not under the name of the field."""


class Fields:
    """An object, with its fields in the order in which they are written; `make` makes a record of their values."""

    def __init__(self, make: Callable[..., Any], /, **fields: Field) -> None:
        self._make = make
        self._fields = [(key, form, default, attrgetter(at or key)) for key, (form, default, at) in fields.items()]
        self._needed = [key for key, field in fields.items() if field.default is MISSING]
        self._optional = [key for key, field in fields.items() if field.default is not MISSING]
        self._defaults = {key: fields[key].default for key in self._optional if fields[key].default is not BARE}

    def write(self, record: Any, bare: Any = None) -> dict[str, Any]:
        """The fields of a record that are not at their defaults; `bare` has the defaults that are `BARE`."""
        values: dict[str, Any] = {}
        for key, form, default, value_of in self._fields:
            value = value_of(record)
            if default is BARE:
                default = value_of(bare)
            if value is default:
                continue
            is_object = isinstance(form, Fields)
            text = form.write(value, default) if is_object else form.write(value)
            if default is not MISSING and default is not None:
                usual = {} if is_object else form.write(default)
                if text == usual and dumped(text) == dumped(usual):
                    continue
            values[key] = text
        return values

    def read(self, node: Node, *also: str) -> Any:
        """The record. The object must have the fields that have no default, and those in `also`, which are not read."""
        node.record((*also, *self._needed), self._optional)
        values = {key: form.read(node[key]) for key, form, _, _ in self._fields if key in node}
        return self._make(**{**self._defaults, **values})


def array(form: Any) -> Form:
    """An array of values that have one form."""
    write = form.write
    return Form(lambda xs: [write(x) for x in xs], lambda node: tuple(map(form.read, node)))


def numbers_of(count: int) -> Form:
    """An array of so many numbers."""
    return Form(numbers, lambda node: node.numbers(count))


def _read_rows(node: Node) -> Mat3:
    rows = list(node)
    if len(rows) != 3:
        node.fail(f"must be three rows of three numbers, not {len(rows)}", "bad-number")
    return Mat3(*map(VECTOR.read, rows))


def _read_axis(node: Node) -> int:
    if type(node.value) is not int or node.value not in (0, 1, 2):
        node.fail("must be 0, 1 or 2, for x, y or z")
    return node.value


def _read_turn(node: Node) -> Turn:
    turn: Turn = _TURN.read(node)
    if not abs(math.hypot(turn.s, turn.c) - 1.0) <= _TOLERANCE:
        node.fail("has a sine and a cosine of no angle")
    return turn


def _read_placement(node: Node) -> Transform:
    """Read a placement and check its turns against its axes; a model's checks ensure that the axes are a rotation."""
    X: Transform = _PLACEMENT.read(node)
    if "turns" not in node and "before" not in node:
        return X if node.value else IDENTITY
    node.record(("before",), node.value)
    assert X.before is not None
    product = X.before
    for turn in reversed(X.turns):
        product = turn.R.T.times(product)
    for written, computed in zip(X.E.components(), product.components(), strict=True):
        if not abs(float(written) - float(computed)) <= _TOLERANCE:
            node.fail('its "turns" and "before" do not make its axes; leave both out, they only save work')
    return X


TEXT = Form(lambda text: text, Node.text)
FLAGS = Form(shortest, Node.flags)
NUMBER = Form(number, Node.number)
NUMBERS = Form(numbers, Node.numbers)
VECTOR = Form(lambda a: numbers(a.components()), lambda node: Vec3(*node.numbers(3)))
MATRIX = Form(lambda m: [VECTOR.write(row) for row in (m.x, m.y, m.z)], _read_rows)
SYMMETRIC = Form(lambda s: numbers(s.components()), lambda node: Sym3(*node.numbers(6)))
_TURN = Fields(
    lambda axis, sin, cos: Turn(axis, sin, cos),
    axis=Field(Form(lambda axis: axis, _read_axis)),
    sin=Field(NUMBER, attribute="s"),
    cos=Field(NUMBER, attribute="c"),
)
TURN = Form(_TURN.write, _read_turn)
_PLACEMENT = Fields(
    lambda position, axes, turns, before: Transform(axes, position, turns, before),
    position=Field(VECTOR, IDENTITY.r, "r"),
    axes=Field(MATRIX, IDENTITY.E, "E"),
    turns=Field(array(TURN), ()),
    before=Field(MATRIX, None),
)
PLACEMENT = Form(_PLACEMENT.write, _read_placement)
_MOTION, _FORCE = (Fields(make, angular=Field(VECTOR), linear=Field(VECTOR)) for make in (Motion, Force))

TAGGED: dict[type, Any] = {
    Vec3: VECTOR,
    Mat3: MATRIX,
    Sym3: SYMMETRIC,
    Motion: _MOTION,
    Force: _FORCE,
    Turn: TURN,
    Transform: PLACEMENT,
    Inertia: Form(
        lambda i: numbers((i.mass, *i.h.components(), *i.I.components())),
        lambda node: Inertia((ten := node.numbers(10))[0], Vec3(*ten[1:4]), Sym3(*ten[4:])),
    ),
    Subspace: Form(
        lambda S: [_MOTION.write(column) for column in S.columns],
        lambda node: Subspace(tuple(map(_MOTION.read, node))),
    ),
}
"""The forms of values in a joint's kind or a record of extras, where a value is written with its type."""

"""Spatial quantities and other values to JSON and back, bit by bit."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.errors import ModelError
from kinetree.io.native.nodes import MAX_DIGITS, Node
from kinetree.spatial import Force, Inertia, Mat3, Motion, Subspace, Sym3, Transform, Turn, Vec3

__all__ = ["TAGGED", "dumped", "number", "numbers", "placement", "read_placement", "read_vector", "vector"]

_TOLERANCE = 1e-9
_TOO_LONG = 10**MAX_DIGITS
_IDENTITY = Transform.identity()
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


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
            raise ModelError(f"{x!r:.60} is no real number, and cannot be written")
    if type(x) is int and abs(x) >= _TOO_LONG:
        raise ModelError(f"{x:.3e} is too large a whole number to be written")
    if x - x == 0.0:
        return x  # type: ignore[no-any-return]
    if x != x:
        raise ModelError("NaN is no number that a robot can have, and cannot be written")
    return "inf" if x > 0.0 else "-inf"


def numbers(xs: Any) -> list[float | str]:
    """A list of numbers."""
    return [number(x) for x in xs]


def vector(a: Vec3) -> list[float | str]:
    """The components x, y, z."""
    return numbers(a.components())


def read_vector(node: Node) -> Vec3:
    return Vec3(*node.numbers(3))


def placement(X: Transform) -> dict[str, Any]:
    """Origin and axes where they differ from those of the enclosing frame, and any known turns."""
    found: dict[str, Any] = {}
    if dumped(position := vector(X.r)) != _NOWHERE:
        found["position"] = position
    if dumped(axes := _rows(X.E)) != _UNTURNED:
        found["axes"] = axes
    if X.turns:
        found["turns"] = [_turn(turn) for turn in X.turns]
    if X.before is not None:
        found["before"] = _rows(X.before)
    return found


def read_placement(node: Node) -> Transform:
    """Read a placement and check its turns against its axes; a model's checks ensure that the axes are a rotation."""
    node.record((), ("position", "axes", "turns", "before"))
    r = read_vector(node["position"]) if "position" in node else _IDENTITY.r
    E = _read_rows(node["axes"]) if "axes" in node else _IDENTITY.E
    if "turns" not in node and "before" not in node:
        return Transform(E, r) if node.value else _IDENTITY
    node.record(("before",), ("position", "axes", "turns"))
    turns = tuple(_read_turn(turn) for turn in node["turns"]) if "turns" in node else ()
    before = _read_rows(node["before"])
    product = before
    for turn in reversed(turns):
        product = turn.R.T.times(product)
    for given, found in zip(E.components(), product.components(), strict=True):
        if not abs(float(given) - float(found)) <= _TOLERANCE:
            node.fail('its "turns" and what is "before" them do not make its axes; leave both out, they only save work')
    return Transform(E, r, turns, before)


def _rows(m: Mat3) -> list[list[float | str]]:
    return [vector(m.x), vector(m.y), vector(m.z)]


def _read_rows(node: Node) -> Mat3:
    rows = node.items()
    if len(rows) != 3:
        node.fail(f"must be three rows of three numbers, not {len(rows)}", "bad-number")
    return Mat3(*map(read_vector, rows))


def _turn(turn: Turn) -> dict[str, Any]:
    return {"axis": turn.axis, "sin": number(turn.s), "cos": number(turn.c)}


def _read_turn(node: Node) -> Turn:
    node.record(("axis", "sin", "cos"))
    axis = node["axis"].value
    if type(axis) is not int or axis not in (0, 1, 2):
        node["axis"].fail("must be 0, 1 or 2, for x, y or z")
    s, c = node["sin"].number(), node["cos"].number()
    if not abs(math.hypot(s, c) - 1.0) <= _TOLERANCE:
        node.fail("has a sine and a cosine of no angle")
    return Turn(axis, s, c)


def _six(pair: Motion | Force) -> dict[str, Any]:
    return {"angular": vector(pair.angular), "linear": vector(pair.linear)}


def _read_six(node: Node) -> tuple[Vec3, Vec3]:
    node.record(("angular", "linear"))
    return read_vector(node["angular"]), read_vector(node["linear"])


_NOWHERE, _UNTURNED = dumped(vector(_IDENTITY.r)), dumped(_rows(_IDENTITY.E))

TAGGED: dict[type, tuple[Callable[[Any], Any], Callable[[Node], Any]]] = {
    Vec3: (vector, read_vector),
    Mat3: (_rows, _read_rows),
    Sym3: (lambda s: numbers(s.components()), lambda node: Sym3(*node.numbers(6))),
    Motion: (_six, lambda node: Motion(*_read_six(node))),
    Force: (_six, lambda node: Force(*_read_six(node))),
    Turn: (_turn, _read_turn),
    Transform: (placement, read_placement),
    Inertia: (
        lambda i: numbers((i.mass, *i.h.components(), *i.I.components())),
        lambda node: Inertia((ten := node.numbers(10))[0], Vec3(*ten[1:4]), Sym3(*ten[4:])),
    ),
    Subspace: (
        lambda S: [_six(column) for column in S.columns],
        lambda node: Subspace(tuple(Motion(*_read_six(column)) for column in node)),
    ),
}
"""How each type is written and read among other values, as {"Vec3": [x, y, z]}."""

"""What tells one robot from another, as bytes: the same for equal robots in every process, on every machine.

Everything in a `Model` counts but its own name, where it came from, its notes and the shapes for viewers: whatever an
algorithm may read. A part added to a model later counts by itself. Numbers count by their bits, so one unit in the
last place makes another robot.
"""

from __future__ import annotations

import hashlib
import struct
import weakref
from array import array
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from operator import attrgetter
from types import FunctionType
from typing import Any

import numpy as np

from kinetree.model.elements import Body, Named
from kinetree.model.joints import JointKind
from kinetree.model.model import Model
from kinetree.spatial import Inertia, Transform, Vec3

__all__ = ["digest", "fingerprint"]

_LEFT_OUT: dict[type, frozenset[str]] = {
    Model: frozenset({"name", "notes", "source"}),
    Body: frozenset({"geometry"}),
}
"""What no algorithm can read, or what only tells people something."""
_KNOWN: weakref.WeakKeyDictionary[Model, bytes | None] = weakref.WeakKeyDictionary()


class _CannotTellError(Exception):
    """Something whose state is not known to be all there is to it."""


def fingerprint(model: Model) -> bytes | None:
    """32 bytes that equal robots share and others do not; None for a robot with a kind of joint that is not ours.

    It is computed once for each model.

    >>> import kinetree as kt
    >>> fingerprint(kt.zoo.load("arm6")) == fingerprint(kt.zoo.load("arm6"))
    True
    """
    if model not in _KNOWN:
        _KNOWN[model] = digest(model)
    return _KNOWN[model]


def digest(*values: object) -> bytes | None:
    """32 bytes for a row of values; None if one of them, or a part of it, is of a type that is not known here.

    Taken are numbers, strings, bytes, None, tuples, lists and dicts of such, spatial quantities, the parts of robots,
    and functions of kinetree's own, by their names and what they hold: what they do is for whoever compares digests
    to know.

    >>> digest("local", 1) == digest("local", 1.0)
    False
    """
    writer = _Writer()
    try:
        writer.put(values)
        numbers = array("d", writer.numbers).tobytes()
    except (_CannotTellError, RecursionError):
        return None
    words = "\n".join(writer.words).encode("utf-8", "surrogatepass")
    return hashlib.sha256(struct.pack("<QQ", len(words), len(numbers)) + words + numbers).digest()


class _Writer:
    """Values as words and floats.

    The words alone tell what each float is, and none can be taken for one of another sort: strings and numbers stand
    as Python writes them, so no word has a line break in it.
    """

    def __init__(self) -> None:
        self.words: list[str] = []
        self.numbers: list[float] = []

    def put(self, x: Any) -> None:
        kind = type(x)
        if kind is float:
            self.words.append(".")
            self.numbers.append(x)
        elif kind in _FLOATS:
            self._floats(kind, x)
        elif kind in _PLAIN:
            self.words.append(repr(x))
        elif kind is tuple or kind is list:
            self._row(kind, x)
        elif kind is dict or kind is Named:
            self.words.append(f"{kind.__name__} {len(x)}")
            for name, part in x.items():
                self.put(name)
                self.put(part)
        elif (record := _record(kind)) is not None:
            name, parts = record
            self.words.append(name)
            for part in parts(x):
                self.put(part)
        elif kind is FunctionType:
            self._function(x)
        elif kind is partial:
            self.words.append("partial")
            for part in (x.func, x.args, x.keywords):
                self.put(part)
        elif isinstance(x, np.generic) and x.dtype.kind in "fiub":
            self.words.append(f"np {x.dtype.str} {x.tobytes().hex()}")
        else:
            raise _CannotTellError

    def _row(self, kind: type, x: Any) -> None:
        if set(map(type, x)) == _FLOAT:
            self.words.append(f"{kind.__name__} {len(x)} .")
            self.numbers.extend(x)
            return
        self.words.append(f"{kind.__name__} {len(x)}")
        for item in x:
            self.put(item)

    def _floats(self, kind: type, x: Any) -> None:
        """The quantities there are thousands of, quicker than part by part."""
        word, split = _FLOATS[kind]
        numbers, rest = split(x)
        if set(map(type, numbers)) == _FLOAT:
            self.words.append(word)
            self.numbers.extend(numbers)
        else:
            self.words.append(word + " of")
            self.put(numbers)
        for part in rest:
            self.put(part)

    def _function(self, f: FunctionType) -> None:
        if not _is_ours(f):
            raise _CannotTellError
        # Functions without a name of their own are told apart by where they stand and what they do.
        code = f.__code__
        self.words.append(f"function {f.__module__}.{f.__qualname__} {code.co_firstlineno} {code.co_code.hex()}")
        self.put(f.__defaults__)
        self.put(f.__kwdefaults__)
        self.put(tuple(cell.cell_contents for cell in f.__closure__ or ()))


def _vec3(a: Vec3) -> tuple[tuple[Any, ...], tuple[object, ...]]:
    return (a.x, a.y, a.z), ()


def _transform(X: Transform) -> tuple[tuple[Any, ...], tuple[object, ...]]:
    E, r = X.E, X.r
    a, b, c = E.x, E.y, E.z
    return (a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, r.x, r.y, r.z), (X.turns, X.before)


def _inertia(inertia: Inertia) -> tuple[tuple[Any, ...], tuple[object, ...]]:
    I, h = inertia.I, inertia.h
    return (inertia.mass, h.x, h.y, h.z, I.xx, I.yy, I.zz, I.xy, I.xz, I.yz), ()


_FLOAT = {float}
_FLOATS: dict[type, tuple[str, Any]] = {
    Vec3: ("Vec3", _vec3),
    Transform: ("Transform", _transform),
    Inertia: ("Inertia", _inertia),
}
_PLAIN = frozenset({str, int, bool, bytes, type(None)})


_Record = tuple[str, Callable[[Any], tuple[Any, ...]]] | None
_RECORDS: dict[type, _Record] = {}


def _record(kind: type) -> _Record:
    """(the full name of a class of ours, what gets the parts that count from one of it); None for any other."""
    if kind not in _RECORDS:
        _RECORDS[kind] = _find_record(kind) if _is_ours(kind) else None
    return _RECORDS[kind]


def _find_record(kind: type) -> _Record:
    """A kind of joint is what its instance holds: what the code of another's kind reads, nobody knows."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    if issubclass(kind, JointKind):
        return name, lambda joint: (vars(joint),)
    if not is_dataclass(kind):
        return None
    names = [f.name for f in fields(kind) if f.name not in _LEFT_OUT.get(kind, ())]
    if len(names) > 1:
        return name, attrgetter(*names)
    return name, lambda x: tuple(getattr(x, part) for part in names)


def _is_ours(thing: type | FunctionType) -> bool:
    return thing.__module__.startswith("kinetree.")

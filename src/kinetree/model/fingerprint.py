"""A robot's identity as bytes: the same for equal robots in every process, on every machine.

Everything in a `Model` that an algorithm may read counts: all except its own name, where it came from, its notes and
the shapes for viewers. A part added to a model later is included automatically. Numbers count by their bits, so one
unit in the last place makes a different robot.
"""

from __future__ import annotations

import functools
import hashlib
import os
import struct
import sys
from array import array
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from importlib.util import find_spec
from itertools import chain, compress
from operator import attrgetter
from pathlib import Path, PurePath
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from kinetree.joints import JointKind
from kinetree.model.by_identity import ByIdentity
from kinetree.model.elements import Body, Named
from kinetree.model.extras import Records
from kinetree.model.robot import Robot
from kinetree.source_code import takes_part

__all__ = ["content", "digest", "fingerprint", "is_global"]

_LEFT_OUT: dict[type, frozenset[str]] = {
    Robot: frozenset({"name", "notes", "parts", "source"}),
    Body: frozenset({"geometry"}),
}
"""Fields that no algorithm can read, or that are only for people."""
_KNOWN: ByIdentity[bytes | None] = ByIdentity()
"""Keyed by identity, for equal robots may differ in the sign of a zero, which is another bit."""


_PLACES = "kinetree.io."
"""Where the classes of places in files are from."""
_CONTENT: ByIdentity[bytes | None] = ByIdentity()


class _CannotTellError(Exception):
    """A value that may depend on more than its known state."""


def fingerprint(model: Robot) -> bytes | None:
    """32 bytes that equal robots share and others do not; None for a robot with a joint kind that is not kinetree's.

    It is computed once for each model.

    >>> import kinetree as kt
    >>> fingerprint(kt.zoo.load("arm6")) == fingerprint(kt.zoo.load("arm6"))
    True
    """
    if model not in _KNOWN:
        _KNOWN[model] = digest(model)
    return _KNOWN[model]


def content(model: Robot) -> bytes | None:
    """32 bytes for everything that a function of a robot can read: its fingerprint and its name, shapes and parts.

    Only its notes and the places in files do not count. Of files of meshes that collisions read, those that changed
    have another time or size.

    >>> import kinetree as kt
    >>> content(kt.zoo.load("arm6")) == content(kt.zoo.load("arm6")) != fingerprint(kt.zoo.load("arm6"))
    True
    """
    if model not in _CONTENT:
        writer = _Writer({Robot: frozenset({"notes", "source"})}, _PLACES)
        _CONTENT[model] = writer.digest((model,))
    shapes = (shape for body in model.bodies.values() for _, shape in body.every_shape)
    states = [_state(shape.mesh_path) for shape in shapes if shape.mesh_path is not None and shape.may_touch]
    return digest(_CONTENT[model], states, _scipy()) if states else _CONTENT[model]


@functools.cache
def _scipy() -> tuple[int, int, int] | None:
    """The state of the library that computes hulls of meshes."""
    spec = find_spec("scipy")
    return None if spec is None or spec.origin is None else _state(Path(spec.origin).with_name("version.py"))


def _state(path: PurePath) -> tuple[int, int, int] | None:
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_size, state.st_mtime_ns, state.st_ctime_ns


def digest(*values: object) -> bytes | None:
    """32 bytes for a sequence of values; None if any part of them is of an unknown type.

    Accepted are numbers, strings, bytes, paths, None, tuples, lists and dicts of these, spatial quantities, the parts
    of robots, and kinetree's own functions, by their names and captured values: code that compares digests must know
    these functions.

    >>> digest("local", 1) == digest("local", 1.0)
    False
    """
    return _Writer(_LEFT_OUT).digest(values)


class _Writer:
    """Values as words and floats, column by column: each field of 10,000 joints is one word, or one run of floats.

    The words alone determine the meaning of each float, and none can be mistaken for one of another sort: strings and
    numbers are written as Python literals, so no word contains a line break.
    """

    def __init__(self, left_out: dict[type, frozenset[str]], places: str = "") -> None:
        """`left_out`: fields that do not count; `places`: how modules begin whose objects do not."""
        self.words: list[str] = []
        self.numbers = array("d")
        self._left_out = left_out
        self._places = places

    def digest(self, values: Sequence[Any]) -> bytes | None:
        """32 bytes for values; None if any part of them is of an unknown type."""
        try:
            self.put((values,))
        except (_CannotTellError, RecursionError):
            return None
        words = "\n".join(self.words).encode("utf-8", "surrogatepass")
        total = hashlib.sha256(struct.pack("<QQ", len(words), len(self.numbers)) + words)
        total.update(self.numbers)
        return total.digest()

    def put(self, values: Sequence[Any]) -> None:
        """Write a known number of values: which are of the same type, and then each type by itself."""
        kinds = dict.fromkeys(map(type, values))
        if len(kinds) == 1:
            self._alike(type(values[0]), values)
            return
        order = {kind: k for k, kind in enumerate(kinds)}
        self.words.append(f"kinds {[order[type(x)] for x in values]}")
        for kind in kinds:
            self._alike(kind, [x for x in values if type(x) is kind])

    def _alike(self, kind: type, values: Sequence[Any]) -> None:
        if kind is float:
            self.words.append(f"float {len(values)}")
            self.numbers.fromlist([*values])
        elif kind in _PLAIN:
            self.words.append(f"{kind.__name__} {list(values)}")
        elif kind in (tuple, Records, Named):
            self.words.append(f"{kind.__name__} {_sizes(values)}")
            self.put([*chain.from_iterable(values)])
            if kind is Named:
                self.put([part for named in values for part in named.values()])
        elif self._places and kind.__module__.startswith(self._places):
            self.words.append(f"places {len(values)}")
        elif (parts := _parts(kind, *self._left_out.items())) is not None:
            self._fields(kind, parts, values)
        elif issubclass(kind, JointKind) and _is_ours(kind):
            # A joint kind is what its instances hold; what the code of a user's kind reads is unknown.
            for names in dict.fromkeys(map(tuple, map(vars, values))):
                which = [tuple(vars(x)) == names for x in values]
                self.words.append("all" if all(which) else repr(which))
                self._fields(kind, names, [*compress(values, which)])
        else:
            for x in values:
                self._single(kind, x)

    def _fields(self, kind: type, names: tuple[str, ...], values: Sequence[Any]) -> None:
        word, getters = _getters(kind, names)
        self.words.append(f"{word} {len(values)}")
        for get in getters:
            self.put([*map(get, values)])

    def _single(self, kind: type, x: Any) -> None:
        """Write values that can contain themselves one by one, so that this soon ends with a `RecursionError`."""
        if kind is list or kind is dict:
            self.words.append(f"{kind.__name__} {len(x)}")
            self.put([*x])
            if kind is dict:
                self.put([*x.values()])
        elif kind is FunctionType and _is_ours(x):
            self.words.append(f"function {_full_name(x)}")
            if not is_global(x):
                held = tuple(cell.cell_contents for cell in x.__closure__ or ())
                self.put((x.__code__, x.__defaults__, x.__kwdefaults__, held))
        elif kind is CodeType:
            self.words.append(f"code {x.co_code.hex()} {x.co_names} {x.co_freevars} {x.co_flags}")
            self.put(x.co_consts)
        elif kind is frozenset and all(type(part) in _PLAIN for part in x):
            self.words.append(f"frozenset {sorted(map(repr, x))}")
        elif kind is partial:
            self.words.append("partial")
            self.put((x.func, x.args, x.keywords))
        elif isinstance(x, Sequence) and _is_ours(kind):  # one that makes its records when they are asked for
            self.words.append(f"{_full_name(kind)} {len(x)}")
            self.put(x.content if hasattr(x, "content") else [*x])
        elif isinstance(x, PurePath):
            self.words.append(f"path {str(x)!r}")
        elif isinstance(x, np.generic) and x.dtype.kind in "fiub":
            self.words.append(f"np {x.dtype.str} {x.tobytes().hex()}")
        else:
            raise _CannotTellError


def _sizes(rows: Sequence[Any]) -> str:
    sizes = [*map(len, rows)]
    return f"{len(sizes)} of {sizes[0]}" if len(set(sizes)) == 1 else repr(sizes)


_PLAIN = frozenset({str, int, bool, bytes, type(None)})


@functools.cache
def _parts(kind: type, *left_out: tuple[type, frozenset[str]]) -> tuple[str, ...] | None:
    """Names of the fields that count, for one of kinetree's records or named tuples; None for any other class."""
    if not _is_ours(kind):
        return None
    if issubclass(kind, tuple):
        return getattr(kind, "_fields", None)
    if not is_dataclass(kind):
        return None
    without = next((names for base, names in left_out if issubclass(kind, base)), frozenset())
    return tuple(f.name for f in fields(kind) if f.name not in without)


@functools.cache
def _getters(kind: type, names: tuple[str, ...]) -> tuple[str, tuple[attrgetter[Any], ...]]:
    """A word for a class and some of its attributes, and a getter for each."""
    return f"{_full_name(kind)} {names}", tuple(map(attrgetter, names))


def _full_name(thing: type | FunctionType) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _is_ours(thing: type | FunctionType) -> bool:
    """Whether it is kinetree's, and its code is in the key of all machine code."""
    package, _, name = thing.__module__.partition(".")
    return package == "kinetree" and takes_part(name.replace(".", "/"))


def is_global(function: FunctionType) -> bool:
    """Whether a function is found by its name in its module: then that distinguishes it from others."""
    value: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        value = getattr(value, name, None)
    return value is function

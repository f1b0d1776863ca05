"""Joint kinds to JSON and back: the name of the class and the state of its instances.

Constructor arguments are written as given, `{"Revolute": {"axis": [0.0, 0.0, 1.0]}}`, if they recreate exactly the same
kind; otherwise everything the instance holds is written, with the types of its values. Reading a text makes instances
only of the allowed classes, through their constructors where these accept the values, and runs nothing else.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from kinetree import joints
from kinetree.errors import KinetreeError, ModelError, OptionError, nearest_names
from kinetree.expr import Symbol
from kinetree.io.native.forms import TAGGED, VECTOR, dumped, number
from kinetree.io.native.nodes import Node
from kinetree.joints import JointKind
from kinetree.joints.one_axis import OneAxisJoint
from kinetree.spatial import Vec3

__all__ = ["Kinds", "known_kinds"]

_TOLERANCE = 1e-9
_MOST_KINDS = 4096
"""Maximum number of cached kinds per document."""


@functools.cache
def _own() -> dict[str, type[JointKind]]:
    """Kinetree's own kinds, by name."""
    kinds = [getattr(joints, name) for name in joints.__all__]
    return {c.__name__: c for c in kinds if inspect.isclass(c) and issubclass(c, JointKind) and c is not JointKind}


def known_kinds(kinds: Sequence[type[JointKind]]) -> dict[str, type[JointKind]]:
    """The classes that a text may name: kinetree's own, and those given."""
    if isinstance(kinds, type) or not isinstance(kinds, Sequence):
        raise OptionError(f"kinds must be a list of classes of joints, such as [Wobbly], not {kinds!r:.60}")
    kinds_by_name = dict(_own())
    for kind in kinds:
        if not (inspect.isclass(kind) and issubclass(kind, JointKind)):
            raise OptionError(f"kinds must be classes of joints (subclasses of JointKind), not {kind!r:.60}")
        if kinds_by_name.setdefault(kind.__name__, kind) is not kind:
            raise OptionError(f"kinds: there are two classes named {kind.__name__!r}; rename one of them")
    return kinds_by_name


class Kinds:
    """Writes and reads the kinds of one text. `classes` are those that it may name where it is read."""

    def __init__(self, classes: Mapping[str, type[JointKind]] | None = None) -> None:
        self._classes = dict(_own() if classes is None else classes)
        self._written: dict[tuple[type, str], Any] = {}
        self._made: dict[str, JointKind] = {}

    def write(self, kind: JointKind) -> Any:
        """Return `"Free"`, or `{"Revolute": {"axis": …}}`. Raises `ModelError` for anything that cannot be written."""
        every = self._texts(kind)
        key = type(kind), dumped(every)
        if key not in self._written:
            self._written[key] = self._kind(kind, every)
        return self._written[key]

    def read(self, node: Node) -> JointKind:
        """Read an instance of one of the classes. Raises `ModelError` if the values given do not make one."""
        key = dumped(node.value)
        if key not in self._made:
            kind = self._read(node)
            if len(self._made) >= _MOST_KINDS:
                return kind
            self._made[key] = kind
        return self._made[key]

    def _kind(self, kind: JointKind, every: dict[str, Any]) -> Any:
        cls = type(kind)
        name = cls.__name__
        if self._classes.setdefault(name, cls) is not cls:
            raise ModelError(f"there are two classes of joints named {name!r}; rename one of them")
        own = vars(kind)
        takes = _parameters(cls)
        if takes is not None and all(p.name in own for p in takes):
            short = {p.name: VECTOR.write(x) if isinstance(x := own[p.name], Vec3) else every[p.name] for p in takes}
            least = {p.name: short[p.name] for p in takes if p.default is inspect.Parameter.empty}
            for arguments in (least, short, {p.name: every[p.name] for p in takes}):
                if self._makes(arguments, kind, every):
                    return {name: arguments} if arguments else name
        if not self._makes(every, kind, every):
            raise ModelError(
                f"a joint of kind {name} cannot be made again of what it holds ({', '.join(own) or 'nothing'}); let "
                "its constructor take what it keeps, under the same names"
            )
        return {name: every} if every else name

    def _makes(self, arguments: dict[str, Any], kind: JointKind, every: dict[str, Any]) -> bool:
        """Whether reading it gives an instance that holds exactly the same values."""
        try:
            again = Kinds(self._classes).read(Node({type(kind).__name__: arguments}, ""))
            return dumped(self._texts(again)) == dumped(every)
        except KinetreeError:
            return False

    def _texts(self, kind: JointKind) -> dict[str, Any]:
        """All that an instance holds, as text."""
        return {
            name: self._text(value, f"the {name} of a joint of kind {type(kind).__name__}")
            for name, value in vars(kind).items()
        }

    def _text(self, value: Any, what: str) -> Any:
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is np.bool_ or kind is np.str_:
            return value.item()
        if isinstance(value, int | float | np.integer | np.floating):
            return x if not isinstance(x := number(value), str) else {"number": x}
        if kind is tuple:
            return [self._text(x, what) for x in value]
        if kind is list:
            return {"list": [self._text(x, what) for x in value]}
        if kind is dict:
            return {"dict": [[self._text(k, what), self._text(x, what)] for k, x in value.items()]}
        if isinstance(value, JointKind):
            return {"kind": self.write(value)}
        if kind in TAGGED:
            with suppress(ModelError):
                return {kind.__name__: TAGGED[kind].write(value)}
        text = "a symbol" if isinstance(value, Symbol) else f"{value!r:.60}"
        raise ModelError(
            f"{what} holds {text}, which has no text form; keep numbers, strings, tuples, lists, dicts, spatial "
            "quantities and joint kinds in it"
        )

    def _read(self, node: Node) -> JointKind:
        if type(node.value) is str:
            name, fields = node.value, Node({}, node.place)
        else:
            if type(node.value) is not dict or len(node.value) != 1:
                node.fail('must be the name of a kind, or an object with one field: {"Revolute": {"axis": [0, 0, 1]}}')
            (name,) = node.value
            fields = node[name]
            if type(fields.value) is not dict:
                fields.fail("must be an object with the values of the kind")
        cls = self._classes.get(name)
        if cls is None:
            node.fail(
                f"there is no kind of joint named {name!r:.60} ({nearest_names(name, self._classes)}). One of your own "
                f"is read in Python, with kinds=[{name:.60}]; the command line reads kinetree's own only"
            )
        values = {key: self._value(fields[key]) for key in fields.value}
        try:
            kind = _instance(cls, values, fields)
            if not (isinstance(kind, OneAxisJoint) and name in _own()):  # files have very many of these
                _try_out(kind)
        except KinetreeError as error:
            if isinstance(error, ModelError) and str(error).startswith(node.place):
                raise
            node.fail(str(error))
        except RecursionError:
            node.fail("holds kinds nested too deep", "too-large")
        except Exception as error:
            node.fail(f"makes no {name} that works ({type(error).__name__}: {error!s:.200})")
        return kind

    def _value(self, node: Node) -> Any:
        value = node.value
        if type(value) is list:
            return tuple(self._value(item) for item in node)
        if type(value) is not dict:
            return value
        if len(value) != 1:
            node.fail('must have one field that names its type, such as {"Vec3": [x, y, z]}')
        (tag,) = value
        inner = node[tag]
        if tag == "kind":
            return self.read(inner)
        if tag == "number":
            return inner.number()
        if tag == "list":
            return [self._value(item) for item in inner]
        if tag == "dict":
            pairs = [list(item) for item in inner]
            if any(len(pair) != 2 or type(pair[0].value) in (dict, list) for pair in pairs):
                inner.fail("must be pairs of a plain key and a value")
            return {key.value: self._value(x) for key, x in pairs}
        if tag not in _BY_NAME:
            node.fail(
                f"is a {tag!r:.60}, which is unknown: {nearest_names(tag, [*_BY_NAME, 'kind', 'list', 'dict'])}",
                "unknown-name",
            )
        return _BY_NAME[tag].read(inner)


_BY_NAME = {kind.__name__: form for kind, form in TAGGED.items()}


@functools.cache
def _parameters(cls: type[JointKind]) -> tuple[inspect.Parameter, ...] | None:
    """The named parameters of a constructor; None if it also takes others."""
    parameters = tuple(inspect.signature(cls).parameters.values())
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return parameters if all(p.kind in named for p in parameters) else None


def _instance(cls: type[JointKind], values: dict[str, Any], node: Node) -> JointKind:
    """Make an instance through the constructor if it accepts these names, then restore the exact numbers given.

    A constructor may round: an axis divided by its length differs from the axis in the last bits.
    """
    takes = _parameters(cls)
    required = [] if takes is None else [p.name for p in takes if p.default is inspect.Parameter.empty]
    if takes is not None and all(name in values for name in required):
        arguments = {p.name: _argument(values[p.name]) for p in takes if p.name in values}
        kind = cls(**arguments)
        own = vars(kind)
        for name, value in values.items():
            if name not in own:
                node.fail(
                    f"has {name!r:.60}, which a {cls.__name__} does not hold: {nearest_names(name, own)}",
                    "unknown-attribute",
                )
            fitted = _fitted(value, own[name])
            if not _is_close(fitted, own[name]):
                node.fail(f"has the {name} {value!r:.80}, of which a {cls.__name__} makes {own[name]!r:.80}; give that")
            own[name] = fitted
        return kind
    if cls.__name__ in _own():
        missing = next((name for name in required if name not in values), "what its constructor takes")
        node.fail(f"has no field {missing!r}, which a {cls.__name__} needs; add it", "missing-attribute")
    kind = object.__new__(cls)
    vars(kind).update(values)
    return kind


def _argument(value: Any) -> Any:
    """Convert a vector to the sequence of numbers that constructors take."""
    return value.components() if isinstance(value, Vec3) else value


def _fitted(value: Any, own: Any) -> Any:
    """Convert three numbers to a vector, and a whole number to a float, where the constructed value is one."""
    if isinstance(own, Vec3) and type(value) is tuple and len(value) == 3:
        return Vec3(*map(_fitted, value, own.components()))
    return float(value) if type(value) is int and type(own) is float else value


def _is_close(a: Any, b: Any) -> bool:
    """Whether two values are equal up to rounding."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return a == b or abs(a - b) <= _TOLERANCE * max(1.0, abs(a), abs(b))
    if type(a) is not type(b):
        return False
    if type(a) in (tuple, list):
        return len(a) == len(b) and all(map(_is_close, a, b))
    if type(a) is dict:
        return a.keys() == b.keys() and all(_is_close(a[key], b[key]) for key in a)
    if type(a) in TAGGED:
        return all(_is_close(getattr(a, name), getattr(b, name)) for name in type(a).__slots__)
    if isinstance(a, JointKind):
        return _is_close(vars(a), vars(b))
    return bool(a == b)


def _try_out(kind: JointKind) -> None:
    """Use every attribute of a kind that is needed before `check_kinds`, and evaluate its motion once."""
    rng = np.random.default_rng(0)
    if not (0 <= kind.nq <= 99 and 0 <= kind.nv <= 6):
        raise ModelError(f"it has nq = {kind.nq!r:.40} and nv = {kind.nv!r:.40}; at most 99 and 6 are possible")
    infinite = (math.inf,) * kind.nq
    q = kind.random(rng, [-x for x in infinite], infinite)
    kind.calc(q, (0.5,) * kind.nv)
    kind.neutral()
    _ = kind.description, kind.q_names, kind.v_names, kind.q_units, kind.quaternions, hash(kind)

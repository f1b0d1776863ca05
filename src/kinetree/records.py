"""Dataclasses that are made quickly, and whose objects are.

For a frozen class with slots `dataclasses.dataclass` compiles seven functions, which takes a millisecond; kinetree has
hundreds of such classes, and they were half of its import time. Here only `__init__` is compiled, when the first object
is made, and it fills the slots directly; the other methods are the same functions for all classes. A record behaves as
the dataclass would, and `fields`, `replace` and `is_dataclass` know it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

from kinetree.errors import FrozenError

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(*, frozen=False, slots=False, eq=True, repr=True, kw_only=False, weakref_slot=False):
        """A decorator with those options of `dataclasses.dataclass` that are used here."""

        def decorate(cls):
            own = set(vars(cls))
            if vars(cls).get("__hash__") is None:  # an __eq__ in the class has set it to None
                own.discard("__hash__")
            inherits = any(dataclasses.is_dataclass(base) for base in cls.__mro__[1:])
            made = dataclasses.dataclass(
                init=False, repr=False, eq=False, frozen=frozen and inherits, match_args=not kw_only,
                kw_only=kw_only, slots=slots, weakref_slot=weakref_slot,
            )(cls)  # fmt: skip
            made.__dataclass_params__.frozen = frozen
            for name, method in _methods(made, frozen, slots, eq, repr):
                if name not in own:
                    setattr(made, name, method)
            return made

        return decorate


def _methods(cls: Any, frozen: bool, slots: bool, eq: bool, repr: bool) -> Iterable[tuple[str, Any]]:
    fields = dataclasses.fields(cls)
    yield "__init__", _Init(cls, fields, frozen, slots)
    if repr:
        yield "__repr__", _repr([f.name for f in fields if f.repr])
    if eq:
        values = _values([f.name for f in fields if f.compare])
        yield "__eq__", _eq(values)
        yield "__hash__", _hash(values) if frozen else None
    if frozen:
        names = frozenset(f.name for f in fields)
        yield "__setattr__", _refusal(cls, names, "__setattr__", "assign to")
        yield "__delattr__", _refusal(cls, names, "__delattr__", "delete")
        if slots:
            yield "__getstate__", _getstate
            yield "__setstate__", _setstate


class _Init:
    """The `__init__` of a class until it is first asked for, by the first object or by whoever looks at it."""

    def __init__(self, cls: Any, *how: Any) -> None:
        self._cls, self._how = cls, how

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        init = _init(self._cls, *self._how)
        self._cls.__init__ = init
        return init if instance is None else init.__get__(instance)


def _init(cls: Any, fields: Iterable[dataclasses.Field[Any]], frozen: bool, slots: bool) -> Callable[..., None]:
    known: dict[str, Any] = {"MISSING": dataclasses.MISSING, "set_attribute": object.__setattr__}
    takes: list[str] = []
    only_named: list[str] = []
    lines: list[str] = []
    for f in fields:
        name = f.name
        value, default = name, ""
        if f.default_factory is not dataclasses.MISSING:
            known[f"make_{name}"] = f.default_factory
            value, default = f"make_{name}() if {name} is MISSING else {name}", "=MISSING"
        elif f.default is not dataclasses.MISSING:
            known[f"default_{name}"] = f.default
            default = f"=default_{name}"
        (only_named if f.kw_only else takes).append(f"{name}{default}")
        if not frozen:
            lines.append(f"self.{name} = {value}")
        elif slots:
            known[f"set_{name}"] = getattr(cls, name).__set__
            lines.append(f"set_{name}(self, {value})")
        else:
            lines.append(f"set_attribute(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    arguments = ", ".join(["self", *takes, *(["*", *only_named] if only_named else [])])
    body = "\n    ".join(lines or ["pass"])
    exec(compile(f"def __init__({arguments}):\n    {body}", __file__, "exec"), known)
    init: Callable[..., None] = known["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    init.__annotations__ = {**{f.name: f.type for f in fields}, "return": None}
    return init


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _repr(names: list[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _eq(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, Any], bool]:
    def __eq__(self: Any, other: Any) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    return lambda self: hash(values(self))


def _refusal(cls: Any, names: frozenset[str], method: str, what: str) -> Callable[..., None]:
    def refuse(self: Any, name: str, *value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenError(f"cannot {what} {name!r}: a {cls.__name__} does not change{_instead(cls, name)}")
        getattr(super(cls, self), method)(name, *value)

    return refuse


def _instead(cls: Any, name: str) -> str:
    """The way that a class names in its `INSTEAD`: a text for each attribute and, by "", for the others."""
    ways: dict[str, str] = getattr(cls, "INSTEAD", {})
    way = ways.get(name, ways.get("", ""))
    return f"; {way}" if way else ""


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in dataclasses.fields(self)]


def _setstate(self: Any, state: Iterable[Any]) -> None:
    for f, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)

"""Forms of arrays: one array, or several in a tuple, list, dict, named tuple or dataclass, nested as one likes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np

from kinetree.model import Model
from kinetree.symbolic import SymbolicArray

__all__ = ["Form", "apart", "apart_like", "filled", "form_of_text", "form_text", "is_array", "maker", "parts_of"]

NOTHING = type(None)


class Form(NamedTuple):
    """A container and its contents: numbers of arrays, and further forms."""

    kind: type
    parts: dict[Any, Any]

    @property
    def text(self) -> str:
        """Its description in messages."""
        return f"{self.kind.__name__} of {', '.join(map(str, self.parts)) or 'nothing'}"

    def step(self, key: Any) -> str:
        """The path to a part, as it is written after the whole."""
        return step(self.kind, key)


Refuse = Callable[[Any, str], NoReturn]
"""Raises the error of something that is neither an array nor a container, at a path such as "[0].gain"."""


def is_array(x: Any) -> bool:
    """Whether this counts as an array by itself."""
    return isinstance(x, SymbolicArray | np.ndarray | np.generic | int | float)


def apart(x: Any, refuse: Refuse, *, nothing: bool = False) -> tuple[Any, list[tuple[str, Any]]]:
    """The form, with numbers in place of arrays, and the arrays, in order, with their paths.

    `nothing`: whether None is a container without arrays.
    """
    leaves: list[tuple[str, Any]] = []

    def form(x: Any, path: str) -> Any:
        if is_array(x):
            leaves.append((path, x))
            return len(leaves) - 1
        parts = {} if nothing and x is None else parts_of(x)
        if parts is None:
            refuse(x, path)
        return Form(type(x), {key: form(part, path + step(type(x), key)) for key, part in parts.items()})

    return form(x, ""), leaves


def apart_like(form: Any, x: Any, refuse: Refuse, path: str = "") -> Iterator[tuple[str, Any]]:
    """The arrays of something that has this form; `refuse` is called at the path where it has not."""
    if not isinstance(form, Form):
        if not is_array(x):
            refuse(x, path)
        yield path, x
        return
    parts = {} if x is None else parts_of(x)
    same_kind = type(x) is form.kind or {type(x), form.kind} == {tuple, list}
    if parts is None or not same_kind or parts.keys() != form.parts.keys():
        refuse(x, path)
    for key, part in form.parts.items():
        yield from apart_like(part, parts[key], refuse, path + step(form.kind, key))


def filled(form: Any, leaves: Sequence[Any]) -> Any:
    """The form with these in place of its arrays, in order."""
    if not isinstance(form, Form):
        return leaves[form]
    if form.kind is NOTHING:
        return None
    parts = {key: filled(part, leaves) for key, part in form.parts.items()}
    if issubclass(form.kind, dict):
        return parts
    if hasattr(form.kind, "_fields") or is_dataclass(form.kind):
        return form.kind(**parts)
    return (tuple if issubclass(form.kind, tuple) else list)(parts.values())


def maker(form: Any) -> Callable[[Sequence[Any]], Any]:
    """A function that fills the form with arrays, in order: quicker than `filled`, for a form that is filled often."""
    if not isinstance(form, Form) or form.kind is NOTHING or any(isinstance(x, Form) for x in form.parts.values()):
        return lambda leaves: filled(form, leaves)
    names = tuple(form.parts)
    if issubclass(form.kind, dict):
        return lambda leaves: dict(zip(names, leaves, strict=True))
    kind = form.kind
    if hasattr(kind, "_fields"):
        return lambda leaves: kind(*leaves)
    if is_dataclass(kind):
        return lambda leaves: kind(**dict(zip(names, leaves, strict=True)))
    return tuple if issubclass(form.kind, tuple) else list


def step(kind: type, key: Any) -> str:
    """The path from a container to a part of it."""
    if hasattr(kind, "_fields") or is_dataclass(kind):
        return f".{key}"
    return f"[{key!r}]" if isinstance(key, str | int) else f"[{' '.join(repr(key).split()):.60}]"


def parts_of(x: Any) -> Mapping[Any, Any] | None:
    """The parts of a container, by index, key or name; None for anything else."""
    if isinstance(x, dict):
        return x
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return dict(zip(x._fields, x, strict=True))
    if isinstance(x, tuple | list):
        return dict(enumerate(x))
    if is_dataclass(x) and not isinstance(x, type | Model):
        return {f.name: getattr(x, f.name) for f in fields(x)}
    return None


def form_text(form: Any) -> Any:
    """A form as lists of strings and numbers (JSON); None if a class has no name, or a key is of another type."""
    if not isinstance(form, Form):
        return form
    kind = f"{form.kind.__module__}:{form.kind.__qualname__}"
    if _class_of_name(kind) is not form.kind:
        return None
    parts = [(key, form_text(part)) for key, part in form.parts.items()]
    if any(type(key) not in (str, int) or part is None for key, part in parts):
        return None
    return [kind, parts]


def form_of_text(text: Any) -> Any:
    """The form of such lists; None if a class is not here."""
    if not isinstance(text, list):
        return text
    name, listed = text
    kind, parts = _class_of_name(name), {key: form_of_text(part) for key, part in listed}
    return None if kind is None or None in parts.values() else Form(kind, parts)


def _class_of_name(name: str) -> type | None:
    module, _, path = name.partition(":")
    value: Any = sys.modules.get(module)
    for part in path.split("."):
        value = getattr(value, part, None)
    return value if isinstance(value, type) else None

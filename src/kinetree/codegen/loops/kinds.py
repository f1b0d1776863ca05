"""The kinds of values that such a function may have, by the names of its annotations."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["ARRAYS", "SCALARS", "ArrayKind", "Bytes", "Floats", "Indices", "Kind", "Singles", "parameters", "parts"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
"""An element is read by `float(x[k])`: arithmetic is always that of doubles."""
Indices = NDArray[np.int32]
"""An element is read by `int(x[k])`."""
Bytes = NDArray[np.uint8]
"""As for `Indices`."""


@record(frozen=True, slots=True)
class ArrayKind:
    """Arrays in C order, of up to three axes."""

    element: str
    """In LLVM."""
    dtype: np.dtype[Any]
    value: str
    """The type of values read and written; elements are converted to it and from it."""
    load: str = ""
    store: str = ""


SCALARS = {"float": "double", "int": "i64", "bool": "i1"}
ARRAYS = {
    "Floats": ArrayKind("double", np.dtype(np.float64), "double"),
    "Singles": ArrayKind("float", np.dtype(np.float32), "double", "fpext", "fptrunc"),
    "Indices": ArrayKind("i32", np.dtype(np.int32), "i64", "sext", "trunc"),
    "Bytes": ArrayKind("i8", np.dtype(np.uint8), "i64", "zext", "trunc"),
}

Kind = str | ArrayKind | type[Any]
"""The type of a number in LLVM, a kind of arrays, or the class of a record."""


def parameters(function: Callable[..., Any]) -> list[tuple[str, Kind]]:
    """The name and the kind of each parameter."""
    given = inspect.signature(function).parameters.values()
    return [(p.name, _kind(p.annotation, function.__globals__)) for p in given]


def parts(name: str, kind: Kind) -> Iterator[tuple[str, Kind]]:
    """A parameter and, if it is a record, its fields in order, which are called `record.field`."""
    yield name, kind
    if isinstance(kind, type):
        scope = vars(sys.modules[kind.__module__])
        for field, annotation in kind.__annotations__.items():
            yield from parts(f"{name}.{field}", _kind(annotation, scope))


def _kind(annotation: Any, scope: Mapping[str, Any]) -> Kind:
    """The meaning of an annotation where it is written."""
    name = getattr(annotation, "__forward_arg__", annotation)
    if name in ARRAYS or name in SCALARS:
        return ARRAYS.get(name) or SCALARS[name]
    record = scope.get(name)
    if not (isinstance(record, type) and hasattr(record, "_fields")):
        raise TypeError(f"{name!r} is not float, int, bool, a kind of arrays, or a NamedTuple of these")
    return record

"""The kinds of values that such a function may have, by the names of its annotations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["ARRAYS", "SCALARS", "ArrayKind", "Bytes", "Floats", "Indices", "Singles"]

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
    """The type of what is read and written; elements are converted to it and from it."""
    load: str = ""
    store: str = ""


SCALARS = {"float": "double", "int": "i64", "bool": "i1"}
ARRAYS = {
    "Floats": ArrayKind("double", np.dtype(np.float64), "double"),
    "Singles": ArrayKind("float", np.dtype(np.float32), "double", "fpext", "fptrunc"),
    "Indices": ArrayKind("i32", np.dtype(np.int32), "i64", "sext", "trunc"),
    "Bytes": ArrayKind("i8", np.dtype(np.uint8), "i64", "zext", "trunc"),
}

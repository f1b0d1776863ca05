"""Calls of kinetree's own functions with arrays of a framework: each is answered by that framework's adapter.

`kt.aba(robot, q, v, tau)` with tensors is `kt.interop.to_torch(robot, kt.aba)(q, v, tau)`; the adapter is made once for
each compiled function, and kept with it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree.compiler.compiled import CompiledFunction
from kinetree.errors import DTypeError
from kinetree.interop.subject import Subject

__all__ = ["answer", "cast", "dtype_among"]

_ADAPTERS = {
    "casadi": "kinetree.interop.casadi",
    "cupy": "kinetree.interop.cuda.adapter",
    "dask": "kinetree.interop.dask",
    "jax": "kinetree.interop.jax",
    "torch": "kinetree.interop.torch",
    "xarray": "kinetree.interop.xarray",
}
"""The module of each framework; its function `adapted` makes an adapter of a `Subject`, called with all arguments.

Where a framework differs from NumPy, it has functions `dtype_among`, which decides the dtype of a call, and `cast`.
"""


def answer(framework: str, compiled: CompiledFunction, arguments: Sequence[Any]) -> Any:
    """The result of a compiled function, as an array of the framework."""
    if framework not in compiled.adapters:
        if framework not in _ADAPTERS:
            raise DTypeError(f"{compiled.name} takes no arrays of {framework}: give NumPy's")
        adapted: Callable[[Subject], Callable[..., Any]] = _adapter(framework).adapted
        compiled.adapters[framework] = adapted(Subject.of(compiled))
    return compiled.adapters[framework](*arguments)


def dtype_among(framework: str, name: str, arguments: Sequence[Any]) -> str | None:
    """The dtype of a call of the function `name` by the framework's own rule; None if it has none."""
    rule: Callable[..., str] | None = getattr(_adapter(framework), "dtype_among", None)
    return None if rule is None else rule(name, arguments)


def cast(framework: str, array: Any, dtype: np.dtype[Any]) -> Any:
    """An array of the framework in another dtype."""
    own: Callable[..., Any] | None = getattr(_adapter(framework), "cast", None)
    return array.astype(dtype) if own is None else own(array, dtype)


def _adapter(framework: str) -> Any:
    return importlib.import_module(_ADAPTERS[framework]) if framework in _ADAPTERS else None

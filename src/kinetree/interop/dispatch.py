"""Calls of kinetree's own functions with arrays of a framework: each is answered by that framework's adapter.

`kt.aba(robot, q, v, tau)` with tensors is `kt.to_torch(kt.aba, robot)(q, v, tau)`; the adapter is made once for each
compiled function, and kept with it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from kinetree.compiler.compiled import CompiledFunction
from kinetree.errors import DTypeError
from kinetree.interop.subject import Subject

__all__ = ["answer"]

_ADAPTERS = {
    "casadi": "kinetree.interop.casadi",
    "cupy": "kinetree.interop.cuda.adapter",
    "dask": "kinetree.interop.dask",
    "jax": "kinetree.interop.jax",
    "torch": "kinetree.interop.torch",
    "xarray": "kinetree.interop.xarray",
}
"""The module of each framework; its function `adapted` makes an adapter of a `Subject`, called with all arguments."""


def answer(framework: str, compiled: CompiledFunction, arguments: Sequence[Any]) -> Any:
    """The result of a compiled function, as an array of the framework."""
    if framework not in compiled.adapters:
        if framework not in _ADAPTERS:
            raise DTypeError(f"{compiled.name} takes no arrays of {framework}: give NumPy's")
        adapted: Callable[[Subject], Callable[..., Any]] = importlib.import_module(_ADAPTERS[framework]).adapted
        compiled.adapters[framework] = adapted(Subject.of(compiled))
    return compiled.adapters[framework](*arguments)

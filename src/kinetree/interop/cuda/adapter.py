"""Arrays on a device given to kinetree's own functions, as in `kt.aba(robot, q, v, tau)`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from kinetree.interop.cuda.arrays import is_on_device, library_of
from kinetree.interop.cuda.function import CudaFunction
from kinetree.interop.subject import Subject

__all__ = ["adapted"]


def adapted(subject: Subject) -> Callable[..., Any]:
    """A function of arrays of CuPy, for calls of kinetree's own functions: it computes on the device they are on."""
    compiled = subject.compiled(subject.dtype or "float64")

    @functools.cache
    def on(number: int) -> CudaFunction:
        return CudaFunction(number, compiled, ())

    def call(*arguments: Any) -> Any:
        first = next(x for x in arguments if is_on_device(x))
        moved = sys.modules[library_of(first)].asarray
        return on(first.__dlpack_device__()[1])(
            *(x if is_on_device(x) else moved(x, compiled.dtype) for x in arguments)
        )

    return call

"""kinetree's functions where people already work: one file, or one folder, per framework."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kinetree.compiler.hooks import DeviceFunction, answer_with, runs_on
from kinetree.lazy_names import lazy_names as _lazy_names

if TYPE_CHECKING:
    import numpy as np

with _lazy_names(__name__):
    from kinetree.interop.c import CSource, to_c
    from kinetree.interop.casadi import to_casadi
    from kinetree.interop.jax import to_jax
    from kinetree.interop.torch import to_torch
    from kinetree.layouts import Layout

__all__ = ["CSource", "Layout", "to_c", "to_casadi", "to_jax", "to_torch"]


class _Abroad:
    """Calls with arrays of frameworks; calls with NumPy's arrays do not need these imports."""

    def answer(self, framework: str, compiled: Any, arguments: Sequence[Any], /) -> Any:
        from kinetree.interop.dispatch import answer

        return answer(framework, compiled, arguments)

    def dtype(self, framework: str, name: str, arguments: Sequence[Any], /) -> str | None:
        from kinetree.interop.dispatch import dtype_among

        return dtype_among(framework, name, arguments)

    def cast(self, framework: str, array: Any, dtype: np.dtype[Any], /) -> Any:
        from kinetree.interop.dispatch import cast

        return cast(framework, array, dtype)

    def join(self, framework: str, parts: Sequence[Any], shapes: Sequence[tuple[int, ...]], dtype: Any, /) -> Any:
        from kinetree.interop.joining import joined

        return joined(framework, parts, shapes, dtype)


def _on_cuda(number: int, compiled: Any, numbers: Sequence[Any], /) -> DeviceFunction:
    from kinetree.interop.cuda.function import CudaFunction  # no function for this processor needs it

    return CudaFunction(number, compiled, numbers)


answer_with(_Abroad())
runs_on("cuda", _on_cuda)

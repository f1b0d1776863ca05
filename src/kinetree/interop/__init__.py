"""kinetree's functions where people already work: one file, or one folder, per framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kinetree.compiler.abroad import answer_with
from kinetree.compiler.devices import runs_on

if TYPE_CHECKING:
    import numpy as np


class _Abroad:
    """Calls with arrays of frameworks; no call with NumPy's arrays needs what is imported here."""

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


def _on_cuda(number: int, compiled: Any, numbers: Sequence[Any], /) -> Callable[..., Any]:
    from kinetree.interop.cuda.function import CudaFunction  # no function for this processor needs it

    return CudaFunction(number, compiled, numbers)


answer_with(_Abroad())
runs_on("cuda", _on_cuda)

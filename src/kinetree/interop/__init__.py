"""kinetree's functions where people already work: one file, or one folder, per framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kinetree.compiler.devices import runs_on
from kinetree.compiler.foreign import answer_with


def _answer(framework: str, compiled: Any, arguments: Sequence[Any], /) -> Any:
    from kinetree.interop.dispatch import answer  # no call of NumPy's arrays needs it

    return answer(framework, compiled, arguments)


def _join(framework: str, parts: Sequence[Any], shapes: Sequence[tuple[int, ...]], dtype: Any, /) -> Any:
    from kinetree.interop.joining import joined  # nor does this

    return joined(framework, parts, shapes, dtype)


def _on_cuda(number: int, compiled: Any, numbers: Sequence[Any], /) -> Callable[..., Any]:
    from kinetree.interop.cuda.function import CudaFunction  # no function for this processor needs it

    return CudaFunction(number, compiled, numbers)


answer_with(_answer, _join)
runs_on("cuda", _on_cuda)

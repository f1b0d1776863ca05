"""kinetree's functions where people already work: one file, or one folder, per framework."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.compiler.foreign import answer_with


def _answer(framework: str, compiled: Any, arguments: Sequence[Any], /) -> Any:
    from kinetree.interop.dispatch import answer  # no call of NumPy's arrays needs it

    return answer(framework, compiled, arguments)


answer_with(_answer)

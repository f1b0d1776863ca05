"""The answers to calls with arrays of other frameworks; a room above provides them, before NumPy is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Abroad", "abroad", "answer_with"]


class Abroad(Protocol):
    """The answers to calls with arrays of a framework."""

    def answer(self, framework: str, compiled: Any, arguments: Sequence[Any], /) -> Any:
        """The result of a compiled function (`CompiledFunction`)."""

    def dtype(self, framework: str, name: str, arguments: Sequence[Any], /) -> str | None:
        """The dtype of a call of the function `name`; None if the framework has no rule of its own."""

    def cast(self, framework: str, array: Any, dtype: np.dtype[Any], /) -> Any:
        """An array of the framework in another dtype."""

    def join(self, framework: str, parts: Sequence[Any], shapes: Sequence[tuple[int, ...]], dtype: Any, /) -> Any:
        """Arrays (…, *shape), or None for zeros, together as one array (…, n)."""


_abroad: list[Abroad] = []


def answer_with(answers: Abroad) -> None:
    """Make the answers to calls with arrays of frameworks known."""
    _abroad[:] = [answers]


def abroad() -> Abroad:
    """The answers that were made known."""
    return _abroad[0]

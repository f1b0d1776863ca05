"""What a program returns: one array, or several in a tuple, list, dict, named tuple or dataclass, nested as one likes.

A compiled function has one result, so several are its parts, one after another; they are given back as views of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from kinetree.expr import Scalar
from kinetree.programs.forms import apart, filled
from kinetree.symbolic import SymbolicArray, symbolic
from kinetree.symbolic.refusals import refuse

__all__ = ["Leaf", "Results"]

Array = np.ndarray[Any, np.dtype[Any]]


class Leaf(NamedTuple):
    """One array among the results."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)


class Results:
    """The form of a program's results, and their numbers."""

    def __init__(self, returned: Any, program: str, dtype: np.dtype[Any]) -> None:
        """`returned`: what the user's function gave in a trace of this dtype."""
        self.leaves: list[Leaf] = []
        self._program = program
        self._dtype = dtype
        self._numbers: list[Scalar] = []
        self._form, arrays = apart(returned, self._refuse)
        for path, x in arrays:
            array = self._array(x, path)
            leaf_dtype = dtype if array.dtype.kind == "f" else array.dtype
            self.leaves.append(Leaf(path, array.shape, leaf_dtype))
            self._numbers += array.flat_elements()

    @property
    def is_one(self) -> bool:
        """Whether it is a single array of real numbers, which needs no taking apart."""
        return self._form == 0 and self.leaves[0].dtype == self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one sample of the compiled function's result."""
        return self.leaves[0].shape if self._form == 0 else (sum(leaf.size for leaf in self.leaves),)

    def taken_numbers(self) -> list[Scalar]:
        """The numbers of all results, which are dropped here: they belong to the trace."""
        numbers, self._numbers = self._numbers, []
        return numbers

    def apart(self, whole: Any) -> Any:
        """The results, in the form in which the user's function gave them, as views of the whole (…, n)."""
        if self._form == 0:
            return self._of_kind(self.leaves[0], whole)
        return self.filled(self._views(whole, [leaf.shape for leaf in self.leaves]))

    def filled(self, parts: Iterator[Any]) -> Any:
        """The form with these in place of its arrays, in order."""
        return filled(self._form, list(parts))

    def _views(self, whole: Any, shapes: Sequence[tuple[int, ...]]) -> Iterator[Any]:
        start = 0
        for leaf, shape in zip(self.leaves, shapes, strict=True):
            part = whole[..., start : start + leaf.size]
            yield self._of_kind(leaf, part.reshape((*whole.shape[:-1], *shape)))
            start += leaf.size

    def _of_kind(self, leaf: Leaf, x: Any) -> Any:
        if leaf.dtype == self._dtype:
            return x if x.ndim else x[()]
        return x.astype(leaf.dtype)

    def _refuse(self, x: Any, path: str) -> NoReturn:
        where = f" in its result{path}" if path else ""
        refuse(
            f"the program {self._program!r} returned {'None' if x is None else type(x).__name__}{where}; it must "
            "return arrays or numbers: one, or several in a tuple, list, dict, named tuple or dataclass"
        )

    def _array(self, x: Any, path: str) -> SymbolicArray:
        if isinstance(x, SymbolicArray):
            return x
        if isinstance(x, np.ndarray) and x.dtype.kind not in "fiubO":
            refuse(f"the program {self._program!r} returned an array of dtype {x.dtype}{path}, not of real numbers")
        return symbolic(x)

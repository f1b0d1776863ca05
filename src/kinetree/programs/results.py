"""Results of a program: one array, or several in a tuple, list, dict, named tuple or dataclass, nested as one likes.

A compiled function has one result, so several are its parts, one after another; they are given back as views of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from kinetree.compiler.foreign import cast, framework_among, joined_abroad
from kinetree.errors import NameNotFoundError, ShapeError, nearest_names
from kinetree.expr import Scalar
from kinetree.inputs import array_or_foreign, sample_shape
from kinetree.programs.forms import Form, apart, filled, form_of_text, form_text, maker, parts_of
from kinetree.programs.labels import reshaped
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
        """`returned`: the result of the user's function in a trace of this dtype."""
        self.leaves: list[Leaf] = []
        self.program = program
        self._dtype = dtype
        self._numbers: list[Scalar] = []
        self._form, arrays = apart(returned, self._refuse)
        for path, x in arrays:
            array = self._array(x, path)
            leaf_dtype = dtype if array.dtype.kind == "f" else array.dtype
            self.leaves.append(Leaf(path, array.shape, leaf_dtype))
            self._numbers += array.flat_elements()
        self._complete()

    def _complete(self) -> None:
        self._of_other_kinds = [(k, leaf) for k, leaf in enumerate(self.leaves) if leaf.dtype != self._dtype]
        self._made: Callable[[Sequence[Any]], Any] | None = None
        self._places: list[tuple[slice | int, tuple[int, ...]]] = []

    def text(self, choices: Iterable[str] = ()) -> str | None:
        """The form as text, with the choices of a trace; None if it has classes or keys that have no name."""
        form = form_text(self._form)
        leaves = [(leaf.name, leaf.shape, leaf.dtype.str) for leaf in self.leaves]
        return None if form is None else json.dumps([form, leaves, sorted(choices)])

    @classmethod
    def of_text(cls, text: str, program: str, dtype: np.dtype[Any]) -> tuple[Results, frozenset[str]] | None:
        """The form of such a text, and the choices; None if it names a class that is not here."""
        form, leaves, choices = json.loads(text)
        made = cls.__new__(cls)
        made.program, made._dtype, made._numbers = program, dtype, []
        made.leaves = [Leaf(name, tuple(shape), np.dtype(kind)) for name, shape, kind in leaves]
        made._form = form_of_text(form)
        if made._form is None:
            return None
        made._complete()
        return made, frozenset(choices)

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
        if self._made is None:
            self._made = maker(self._form)
            self._places = [*self._parts_of_one_sample()]
        if whole.ndim != 1:
            return self._made([*self._views(whole)])
        parts = [whole[place] if len(shape) < 2 else reshaped(whole[place], shape) for place, shape in self._places]
        for k, leaf in self._of_other_kinds:
            parts[k] = cast(parts[k], leaf.dtype)
        return self._made(parts)

    def changes(self, whole: Any, trailing: int = 0) -> Any:
        """Derivatives of all numbers (…, n, *argument) in the same form, each array with the last `trailing` axes."""
        if self._form == 0:
            return whole if whole.ndim else whole[()]
        return self.filled(self.parts(whole, trailing))

    def joined(self, given: Any, what: str) -> tuple[Any, list[Any]]:
        """A number for each of those of the results, (…, n) or in the shape of a single array, from arrays in their
        form, and these arrays; parts that are missing or None are zero. `what` names it in messages.
        """
        taken: dict[int, Any] = {}
        self._take(self._form, given, what, taken)
        arrays = {k: self._checked(self.leaves[k], x, what) for k, x in taken.items()}
        if self._form == 0:
            return arrays[0], [*taken.values()]
        try:
            whole = self._in_one([arrays.get(k) for k in range(len(self.leaves))])
        except ShapeError as error:
            raise ShapeError(f"{self.program}: {what}: {error}") from None
        except ValueError:
            listed = ", ".join(f"{what}{self.leaves[k].name} {tuple(x.shape)}" for k, x in arrays.items())
            raise ShapeError(
                f"{self.program}: the leading axes of {what} do not broadcast together: {listed}; they must be "
                "equal, or 1, or absent"
            ) from None
        return whole, [*taken.values()]

    def _in_one(self, arrays: Sequence[Any]) -> Any:
        """The numbers of an array for each of the results, or None, in one array."""
        if framework := framework_among([x for x in arrays if x is not None]):
            return joined_abroad(framework, arrays, [leaf.shape for leaf in self.leaves], self._dtype)
        rows = [
            np.zeros(leaf.size, self._dtype)
            if x is None
            else x.reshape((*x.shape[: x.ndim - len(leaf.shape)], leaf.size))
            for x, leaf in zip(arrays, self.leaves, strict=True)
        ]
        batch = np.broadcast_shapes(*(row.shape[:-1] for row in rows))
        alike = [np.broadcast_to(row, (*batch, row.shape[-1])) for row in rows]
        return np.concatenate(alike, axis=-1) if alike else np.zeros(0)

    def filled(self, parts: Iterator[Any]) -> Any:
        """The form with these in place of its arrays, in order."""
        return filled(self._form, list(parts))

    def _parts_of_one_sample(self) -> Iterator[tuple[slice | int, tuple[int, ...]]]:
        start = 0
        for leaf in self.leaves:
            yield slice(start, start + leaf.size) if leaf.shape else start, leaf.shape
            start += leaf.size

    def _views(self, whole: Any) -> Iterator[Any]:
        for leaf, part in zip(self.leaves, self.parts(whole), strict=True):
            yield self._of_kind(leaf, part)

    def parts(self, whole: Any, trailing: int = 0) -> Iterator[Any]:
        """The numbers of each array, in its shape."""
        start, axis = 0, whole.ndim - 1 - trailing
        more = (slice(None),) * trailing
        for leaf in self.leaves:
            part = whole[(..., slice(start, start + leaf.size), *more)]
            yield reshaped(part, (*whole.shape[:axis], *leaf.shape, *whole.shape[axis + 1 :]))
            start += leaf.size

    def _take(self, form: Any, given: Any, path: str, taken: dict[int, Any]) -> None:
        """Find the values given for each array of a form."""
        if not isinstance(form, Form):
            taken[form] = given
            return
        parts, verb = parts_of(given), "has" if "." in path or "[" in path else "have"
        if isinstance(given, tuple | list) and len(given) == len(form.parts):
            parts = dict(zip(form.parts, given, strict=True))
        if parts is None or (len(parts) != len(form.parts) and not isinstance(given, dict)):
            what = f"{len(parts)} parts" if parts is not None else f"type {type(given).__name__}"
            raise ShapeError(
                f"{self.program}: {path} must be in the form of the result, {form.text}, and {verb} {what}; parts "
                "that are None, or missing in a dict, are zero"
            )
        for key, part in parts.items():
            if key not in form.parts:
                hint = nearest_names(str(key), [str(k) for k in form.parts])
                raise NameNotFoundError(f"{self.program}: {path} {verb} no part {key!r:.60}: {hint}")
            if part is not None:
                self._take(form.parts[key], part, f"{path}{form.step(key)}", taken)

    def _checked(self, leaf: Leaf, x: Any, what: str) -> Any:
        expected = sample_shape(leaf.shape)
        array = array_or_foreign(f"{what}{leaf.name}", x, expected)
        if array.ndim < len(leaf.shape) or array.shape[array.ndim - len(leaf.shape) :] != leaf.shape:
            where = f"{what}{leaf.name} has" if leaf.name else f"{what} have"
            raise ShapeError(f"{self.program}: {where} shape {array.shape}, but the result has {expected}")
        return array

    def _of_kind(self, leaf: Leaf, x: Any) -> Any:
        if leaf.dtype == self._dtype:
            return x if x.ndim else x[()]
        return cast(x, leaf.dtype)

    def _refuse(self, x: Any, path: str) -> NoReturn:
        where = f" in its result{path}" if path else ""
        refuse(
            f"the program {self.program!r} returned {'None' if x is None else type(x).__name__}{where}; it must "
            "return arrays or numbers: one, or several in a tuple, list, dict, named tuple or dataclass"
        )

    def _array(self, x: Any, path: str) -> SymbolicArray:
        if isinstance(x, SymbolicArray):
            return x
        if isinstance(x, np.ndarray) and x.dtype.kind not in "fiubO":
            refuse(f"the program {self.program!r} returned an array of dtype {x.dtype}{path}, not of real numbers")
        return symbolic(x)

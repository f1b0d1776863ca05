"""The values that a loop carries and collects: their form, and the check that every step keeps to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from kinetree.compiler.tracing import Trace, as_symbolic, current_trace, is_symbolic
from kinetree.errors import ShapeError
from kinetree.programs.forms import apart, apart_like, filled
from kinetree.symbolic import SymbolicArray
from kinetree.symbolic.array import BOOL, made
from kinetree.symbolic.refusals import refuse, user_line

__all__ = ["Outputs", "State", "described"]


class State:
    """The state of a loop: arrays of a trace, or plain ones without one."""

    def __init__(self, loop: str, step: Callable[..., Any], state: Any, trace: Trace | None) -> None:
        """`loop`: its name, for messages."""
        self._loop = loop
        self._step = step
        self._trace = trace
        self._form, leaves = apart(state, self._no_state)
        self.first: Sequence[Any] = [self._begun(x) for _, x in leaves]
        """The arrays that the loop begins with."""

    def filled(self, leaves: Sequence[Any]) -> Any:
        """The state of these arrays, as the user sees it."""
        return filled(self._form, leaves)

    def next(self, returned: Any) -> list[Any]:
        """The arrays of the state that a step returned, once checked."""
        leaves = zip(apart_like(self._form, returned, self._other_form), self.first, strict=True)
        return [self._kept(path, self._array(x), before) for (path, x), before in leaves]

    @property
    def where(self) -> str:
        """The step, and where it is defined."""
        code, name = getattr(self._step, "__code__", None), getattr(self._step, "__name__", "the step")
        return name if code is None else f"{name} ({code.co_filename}:{code.co_firstlineno})"

    def _begun(self, x: Any) -> Any:
        """An array of the first state. Integers without a dtype of a program count as real numbers."""
        if self._trace is not None:
            array = self._array(x)
            return array if isinstance(x, SymbolicArray) or array.dtype == BOOL else made(array.elements, self._floats)
        if is_symbolic([x]):
            current_trace()  # raises
        array = self._array(x)
        return array.astype(np.float64)[()] if array.dtype.kind in "iu" else array

    @property
    def _floats(self) -> np.dtype[Any]:
        assert self._trace is not None
        return self._trace.dtype

    def _array(self, x: Any) -> Any:
        if self._trace is None:
            return np.asarray(x)[()]
        is_boolean = isinstance(x, bool | np.bool_) or getattr(x, "dtype", None) == np.bool_
        return as_symbolic(x, BOOL if is_boolean else self._floats)

    def _kept(self, path: str, array: Any, before: Any) -> Any:
        """The array, if it has the shape and the kind of numbers that it had before."""
        if array.shape != before.shape:
            self._differs(path, f"shape {before.shape}", f"shape {array.shape}")
        if "biuf".find(array.dtype.kind) > "biuf".find(before.dtype.kind):
            self._differs(path, f"dtype {before.dtype}", f"dtype {array.dtype}")
        if array.dtype.kind == before.dtype.kind:
            return array
        if self._trace is None:
            return array.astype(before.dtype)
        return made(array.elements, before.dtype)

    def _no_state(self, x: Any, path: str) -> NoReturn:
        where = f" at {path}" if path else ""
        refuse(
            f"{self._loop}: the state holds {described(x)}{where}; it is an array or a number, or several in a tuple, "
            "list, dict, named tuple or dataclass"
        )

    def _other_form(self, x: Any, path: str) -> NoReturn:
        raise ShapeError(
            f"{user_line()}: {self._loop}: {self.where} returned a state in another form: state{path} is "
            f"{described(x)}; the state began as {described(self.filled(self.first))}"
        )

    def _differs(self, path: str, before: str, after: str) -> NoReturn:
        raise ShapeError(
            f"{user_line()}: {self._loop}: state{path} begins with {before}, and {self.where} returned it with "
            f"{after}; a loop keeps both, so begin with an array of the shape and kind of numbers that it will have"
        )


class Outputs:
    """The form of a scan's outputs, which is that of the first one."""

    def __init__(self) -> None:
        self.form: Any = None
        self._shapes: list[tuple[int, ...]] | None = None

    def taken(self, output: Any) -> list[Any]:
        """The arrays of an output."""
        if self._shapes is None:
            self.form, leaves = apart(output, _no_output, nothing=True)
            self._shapes = [_shape(x) for _, x in leaves]
            return [x for _, x in leaves]
        taken = list(apart_like(self.form, output, _other_output))
        for (path, x), shape in zip(taken, self._shapes, strict=True):
            if _shape(x) != shape:
                raise ShapeError(
                    f"{user_line()}: kt.programs.scan: output{path} of a step has shape {_shape(x)}, and shape "
                    f"{shape} before"
                )
        return [x for _, x in taken]


def described(x: Any) -> str:
    """A description of something, for a message."""
    if isinstance(x, SymbolicArray | np.ndarray):
        return f"an array of shape {x.shape}"
    if x is None:
        return "None"
    if isinstance(x, dict):
        return f"a dict with {', '.join(map(repr, x)) or 'nothing'}"[:200]
    if isinstance(x, tuple | list):
        return f"a {type(x).__name__} of {len(x)}"
    return f"a {type(x).__name__}"


def _shape(x: Any) -> tuple[int, ...]:
    return x.shape if isinstance(x, SymbolicArray) else np.shape(x)


def _no_output(x: Any, path: str) -> NoReturn:
    refuse(
        f"kt.programs.scan: output{path} of a step is {described(x)}; it is an array or a number, several in a "
        "tuple, list, dict, named tuple or dataclass, or None"
    )


def _other_output(x: Any, path: str) -> NoReturn:
    raise ShapeError(
        f"{user_line()}: kt.programs.scan: output{path} of a step is {described(x)}, and had another form before"
    )

"""A compiled function that knows the numbers of its options, so that calls may leave them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.compiler.arguments import LeftOut
from kinetree.compiler.compiled import CompiledFunction
from kinetree.compiler.definition import Array
from kinetree.compiler.specialization import Specialization
from kinetree.errors import ShapeError

__all__ = ["WithNumbers"]


class WithNumbers:
    """A function as `kinetree.compile` returns it, with the numbers of the constraints or weights that it was given."""

    def __init__(self, compiled: CompiledFunction, numbers: Sequence[Array]) -> None:
        source = compiled.source
        assert isinstance(source, Specialization)
        for array, port in zip(numbers, source.numbers, strict=True):
            if array.shape[array.ndim - len(port.shape) :] != port.shape:
                raise ShapeError(
                    f"{compiled.name}: {port.name} has shape {array.shape}, but "
                    f"(…, {', '.join(map(str, port.shape))}) is needed"
                )
        self.__self__ = compiled
        self.numbers: tuple[Array, ...] = tuple(array.astype(compiled.dtype, order="C") for array in numbers)
        """The numbers that are used where a call leaves them out."""
        self._left_out = LeftOut(source, compiled.dtype, self.numbers).by_count
        self._call = compiled.prepare()

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        """As the compiled function; the numbers may be left out, all together, and other optional arguments."""
        place = self._left_out.get(len(arguments))
        if place is None:
            return self._call(*arguments, **more)
        at, values = place  # as `LeftOut.filled`, without another call
        if at == len(arguments):
            return self._call(*arguments, *values, **more)
        return self._call(*arguments[:at], *values, *arguments[at:], **more)

    def __repr__(self) -> str:
        return repr(self.__self__)

    def __reduce__(self) -> tuple[Any, ...]:
        return WithNumbers, (self.__self__, self.numbers)

"""Hooks for rooms above the compiler: answers to calls with other frameworks' arrays, and functions for devices.

They make it known before NumPy is needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from kinetree.errors import OptionError

if TYPE_CHECKING:
    import numpy as np

    from kinetree.compiler.definition import Array

__all__ = ["HERE", "Abroad", "DeviceFunction", "Maker", "abroad", "answer_with", "on_device", "runs_on"]

HERE: Final = "cpu"
"""The processor that Python runs on."""


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


class DeviceFunction(Protocol):
    """A function of arrays on another processor, as `kinetree.compile(…, device="cuda")` returns it."""

    @property
    def device(self) -> str:
        """The name of its device, such as "cuda:0"."""

    @property
    def text(self) -> str:
        """Its kernel in the device's language."""

    def __call__(self, *arguments: Any, out: Any = None, stream: Any = None) -> Any:
        """The result for arrays (…, n) in the order of `kinetree.compile`, whose leading axes broadcast: an array of
        the same library. It is computed on `stream`, by default the library's current one."""


class Maker(Protocol):
    """Makes a function for one device of its kind, by its number, from a `CompiledFunction` and the numbers that calls
    may leave out."""

    def __call__(self, number: int, compiled: Any, numbers: Sequence[Array], /) -> DeviceFunction: ...


_makers: dict[str, Maker] = {}


def runs_on(kind: str, maker: Maker) -> None:
    """Register a maker of functions for devices of a kind."""
    _makers[kind] = maker


def on_device(device: object, compiled: Any, numbers: Sequence[Array] = ()) -> DeviceFunction:
    """A compiled function for a device other than this processor, by the name of the device.

    Raises:
        OptionError: unknown kind of device.
        DeviceError: this machine has none.
    """
    match = re.fullmatch(r"([a-z]+)(?::([0-9]{1,3}))?", device) if isinstance(device, str) else None
    if match is None or match[1] not in _makers:
        known = ", ".join(f'"{kind}"' for kind in (HERE, *_makers))
        raise OptionError(f'device must be {known} or, for the second of several, such as "cuda:1", not {device!r:.60}')
    return _makers[match[1]](int(match[2] or 0), compiled, numbers)

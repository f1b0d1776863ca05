"""Where a compiled function runs: on this processor, or on a device that a room above this one makes known."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from kinetree.errors import OptionError

if TYPE_CHECKING:
    from kinetree.compiler.definition import Array

__all__ = ["HERE", "on_device", "runs_on"]

HERE = "cpu"
"""The processor that Python runs on."""


class Maker(Protocol):
    """Makes a function for one device of its kind, by its number, from a `CompiledFunction` and the numbers that calls
    may leave out."""

    def __call__(self, number: int, compiled: Any, numbers: Sequence[Array], /) -> Callable[..., Any]: ...


_makers: dict[str, Maker] = {}


def runs_on(kind: str, maker: Maker) -> None:
    """Make known what makes functions for devices of a kind."""
    _makers[kind] = maker


def on_device(device: object, compiled: Any, numbers: Sequence[Array] = ()) -> Callable[..., Any]:
    """A compiled function for a device other than this processor, by the name of the device.

    Raises:
        OptionError: there are no such devices.
        DeviceError: there is none on this machine.
    """
    found = re.fullmatch(r"([a-z]+)(?::([0-9]{1,3}))?", device) if isinstance(device, str) else None
    if found is None or found[1] not in _makers:
        known = ", ".join(f'"{kind}"' for kind in (HERE, *_makers))
        raise OptionError(f'device must be {known} or, for the second of several, such as "cuda:1", not {device!r:.60}')
    return _makers[found[1]](int(found[2] or 0), compiled, numbers)

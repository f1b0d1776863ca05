"""Arrays in a graphics processor's memory: those of other libraries as they are, and kinetree's own results.

Other libraries show their arrays by DLPack (CuPy, PyTorch, JAX) or by `__cuda_array_interface__` (Numba). Both say on
which stream the numbers will be ready, and a call waits for that on its own stream, not on this processor.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from kinetree.errors import DTypeError
from kinetree.interop.cuda.device import LEGACY, Device
from kinetree.interop.cuda.dlpack import CUDA, MANAGED, capsule, contents
from kinetree.records import record

__all__ = [
    "DeviceArray",
    "View",
    "current_stream",
    "empty_like",
    "in_its_library",
    "is_on_device",
    "library_of",
    "stream_handle",
    "view",
]


@record(frozen=True, eq=False)
class View:
    """Where an array is."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """Distances between numbers, in numbers."""
    dtype: np.dtype[Any]
    device: int
    owner: object
    """Lives as long as the view."""
    writable: bool = True

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return math.prod(self.shape)

    @property
    def span(self) -> tuple[int, int]:
        """The addresses of the first byte and of the one after the last; strides may be negative."""
        if not self.size:
            return self.pointer, self.pointer
        reach = [(n - 1) * stride * self.dtype.itemsize for n, stride in zip(self.shape, self.strides, strict=True)]
        first = self.pointer + sum(x for x in reach if x < 0)
        return first, self.pointer + sum(x for x in reach if x > 0) + self.dtype.itemsize

    @property
    def is_dense(self) -> bool:
        """Whether the numbers follow each other in C order."""
        dense = _dense(self.shape)
        return all(n == 1 or a == b for n, a, b in zip(self.shape, self.strides, dense, strict=True))


def is_on_device(x: object) -> bool:
    """Whether this is an array in a graphics processor's memory."""
    if isinstance(x, np.ndarray | np.generic | int | float | list | tuple):
        return False
    if hasattr(x, "__dlpack_device__"):
        return x.__dlpack_device__()[0] in (CUDA, MANAGED)
    return hasattr(x, "__cuda_array_interface__")


def view(x: Any, device: Device, stream: int) -> View:
    """An array on a device; the stream will wait until it is ready."""
    if isinstance(x, DeviceArray):
        return x.view_on(stream)
    if hasattr(x, "__dlpack_device__"):
        held = x.__dlpack__(stream=stream or LEGACY)
        pointer, shape, strides, dtype, number = contents(held)
        return View(pointer, shape, strides if strides is not None else _dense(shape), dtype, number, (x, held))
    about = x.__cuda_array_interface__
    if about.get("mask") is not None:
        raise DTypeError("a masked array: give its numbers")
    (pointer, read_only), shape, dtype = about["data"], tuple(about["shape"]), np.dtype(about["typestr"])
    strides = about.get("strides")
    in_numbers = _dense(shape) if strides is None else tuple(n // dtype.itemsize for n in strides)
    pointer = pointer or 0
    if (ready := about.get("stream")) is not None:
        device.wait(stream, ready)
    number = device.owner(pointer) if pointer else device.number
    return View(pointer, shape, in_numbers, dtype, number, x, not read_only)


class DeviceArray:
    """An array of results in a graphics processor's memory, in C order.

    Other libraries take it without a copy: `torch.from_dlpack(y)`, `cupy.from_dlpack(y)`, `jax.numpy.from_dlpack(y)`,
    `numba.cuda.as_cuda_array(y)`. `y.numpy()` waits for it and copies it to this computer's memory.
    """

    def __init__(self, device: Device, shape: tuple[int, ...], dtype: np.dtype[Any], stream: int) -> None:
        """Memory that is not written yet, for later work on the stream."""
        self.shape = shape
        self.dtype = dtype
        self.stream = stream
        """The stream on which the numbers will be ready."""
        self._device = device
        self.is_known_elsewhere: bool = False
        """Whether it is used on other streams than its own: its memory is freed when the device has come to rest."""
        self._pointer = device.allocate(math.prod(shape) * dtype.itemsize, stream)

    def __repr__(self) -> str:
        return f"<array {self.shape}, {self.dtype}, on {self._device!r}>"

    def view_on(self, stream: int) -> View:
        """Its address, for later work on a stream."""
        if (stream or LEGACY) != (self.stream or LEGACY):
            self.is_known_elsewhere = True
            self._device.wait(stream, self.stream)
        return self.view

    @property
    def view(self) -> View:
        """Where it is."""
        return View(self._pointer, self.shape, _dense(self.shape), self.dtype, self._device.number, self)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        self.is_known_elsewhere = True
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self._pointer, False),
            "strides": None,
            "stream": self.stream or LEGACY,
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self._device.number

    def __dlpack__(self, *, stream: int | None = None, **_: object) -> object:
        """A capsule for another library, which says on which stream it will read."""
        self.is_known_elsewhere = True
        if stream is not None and stream != -1:
            with self._device:
                self._device.wait(stream, self.stream or LEGACY)
        return capsule(self._pointer, self.shape, self.dtype, self._device.number, self)

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy in this computer's memory."""
        copy = np.empty(self.shape, self.dtype)
        with self._device:
            self._device.download(self._pointer, copy, self.stream)
        return copy

    def __del__(self) -> None:
        if not getattr(self, "_pointer", 0) or sys.is_finalizing():
            return
        with self._device:
            if self.is_known_elsewhere:
                self._device.calls("cuCtxSynchronize")
            self._device.free(self._pointer, self.stream)


def library_of(x: object) -> str:
    """The library whose array this is."""
    name = type(x).__module__.partition(".")[0]
    return "jax" if name == "jaxlib" else name


def current_stream(x: Any) -> int:
    """The stream on which the library of an array would compute now."""
    name = library_of(x)
    if name == "torch":
        return int(sys.modules["torch"].cuda.current_stream(x.device).cuda_stream)
    if name == "cupy":
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    return LEGACY


def stream_handle(stream: Any) -> int:
    """The number of a stream, of any library."""
    for attribute in ("cuda_stream", "ptr", "handle"):  # PyTorch, CuPy, Numba
        if (handle := getattr(stream, attribute, None)) is not None:
            stream = getattr(handle, "value", handle)
            break
    if isinstance(stream, bool) or not isinstance(stream, int):
        raise DTypeError(f"stream must be a stream of PyTorch, CuPy or Numba, or its number, not {stream!r:.60}")
    return stream


def empty_like(x: Any, device: Device, shape: tuple[int, ...], dtype: np.dtype[Any], stream: int) -> Any:
    """Memory for results like an array's: of its library, if that gives memory, or else kinetree's."""
    name = library_of(x)
    if name == "torch":
        return x.new_empty(shape)
    if name == "cupy":
        return sys.modules["cupy"].empty(shape, dtype)
    return DeviceArray(device, shape, dtype, stream)


def in_its_library(x: Any, result: Any) -> Any:
    """Results as arrays of the library of an array."""
    if isinstance(result, DeviceArray) and library_of(x) == "jax":
        return sys.modules["jax"].numpy.from_dlpack(result)
    return result


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in C order.

    >>> _dense((4, 3, 2))
    (6, 2, 1)
    """
    return tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))

"""A driver without a device: what is allocated is in this computer's memory, and what is launched is counted, and
computed by the functions that a test has given."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from kinetree.codegen.ptx.gather import AXES, ENTRY
from kinetree.interop.cuda.device import device, driver
from kinetree.interop.cuda.launch import _gather_kernel
from kinetree.interop.node import Node

__all__ = ["CountingDriver", "counting"]

_ERRORS = {100: ("no CUDA-capable device is detected", "CUDA_ERROR_NO_DEVICE"), 2: ("out of memory", "CUDA_ERROR_OOM")}


class CountingDriver:
    """The functions of the driver that kinetree calls, as a library would have them."""

    def __init__(self, devices: int = 1, capability: tuple[int, int] = (9, 0)) -> None:
        self.counts: Counter[str] = Counter()
        self.launches: list[tuple[str, int, int, int, list[int]]] = []
        """Of each launch the kernel's name, blocks, threads, stream and parameters."""
        self.waits: list[tuple[int, int]] = []
        """(stream, the one it waits for)."""
        self.memory: dict[int, np.ndarray] = {}
        """What is allocated, by address."""
        self.start = 0
        """What `cuInit` returns."""
        self.full = False
        """Whether nothing more can be allocated."""
        self._devices, self._capability = devices, capability
        self._kernels: dict[str, Callable[[list[int]], None]] = {ENTRY: _gathered}
        self._modules: dict[int, bytes] = {}
        self._functions: dict[int, str] = {}
        self._events: dict[int, int] = {}

    def __getattr__(self, name: str) -> Callable[..., int]:
        found = getattr(type(self), f"_{name}", None)

        def call(*arguments: Any) -> int:
            self.counts[name] += 1
            if name == "cuDeviceGetName":
                arguments[0].value = b"a device that only counts"
                return 0
            return found(self, *(getattr(x, "value", x) for x in arguments)) or 0

        return call

    def computes(self, node: Node) -> None:
        """Launches of a node's kernel are computed by its code for this processor."""
        self.computed_by(node.ptx.entry, lambda parameters: _computed(node, parameters))

    def computed_by(self, entry: str, function: Callable[[list[int]], None]) -> None:
        """Launches of the kernel of this name are computed by a function of its parameters."""
        self._kernels[entry] = function

    def _cuInit(self, _: int) -> int:
        return self.start

    def _cuGetErrorString(self, code: int, to: Any) -> None:
        to._obj.value = _ERRORS[code][0].encode()

    def _cuGetErrorName(self, code: int, to: Any) -> None:
        to._obj.value = _ERRORS[code][1].encode()

    def _cuDeviceGetCount(self, to: Any) -> None:
        to._obj.value = self._devices

    def _cuDriverGetVersion(self, to: Any) -> None:
        to._obj.value = 12080

    def _cuDeviceGet(self, to: Any, number: int) -> None:
        to._obj.value = number

    def _cuDeviceGetAttribute(self, to: Any, what: int, _: int) -> None:
        to._obj.value = self._capability[what - 75]

    def _cuDevicePrimaryCtxRetain(self, to: Any, handle: int) -> None:
        to._obj.value = 0xC0 + handle

    def _cuCtxPushCurrent_v2(self, _: int) -> None: ...

    def _cuCtxPopCurrent_v2(self, _: Any) -> None: ...

    def _cuCtxSynchronize(self) -> None: ...

    def _cuStreamSynchronize(self, _: int) -> None: ...

    def _cuMemAllocAsync(self, to: Any, size: int, _: int) -> int:
        if self.full:
            return 2
        piece = np.full(size, 0xFF, np.uint8)
        to._obj.value = piece.ctypes.data
        self.memory[piece.ctypes.data] = piece
        return 0

    def _cuMemFreeAsync(self, pointer: int, _: int) -> None:
        del self.memory[pointer]

    def _cuMemcpyHtoDAsync_v2(self, to: int, source: int, size: int, _: int) -> None:
        ctypes.memmove(to, source, size)

    def _cuMemcpyDtoHAsync_v2(self, to: int, source: int, size: int, _: int) -> None:
        ctypes.memmove(to, source, size)

    def _cuPointerGetAttribute(self, to: Any, _: int, __: int) -> None:
        to._obj.value = 0

    def _cuEventCreate(self, to: Any, _: int) -> None:
        to._obj.value = 0xE0 + len(self._events)

    def _cuEventRecord(self, event: int, stream: int) -> None:
        self._events[event] = stream

    def _cuStreamWaitEvent(self, stream: int, event: int, _: int) -> None:
        self.waits.append((stream, self._events[event]))

    def _cuEventDestroy_v2(self, _: int) -> None: ...

    def _cuModuleLoadDataEx(self, to: Any, text: bytes, *_: Any) -> None:
        to._obj.value = 0xA00 + len(self._modules)
        self._modules[to._obj.value] = text

    def _cuModuleGetFunction(self, to: Any, module: int, entry: bytes) -> None:
        assert b".entry " + entry + b"(" in self._modules[module]
        assert self._modules[module].endswith(b"\0")
        to._obj.value = 0xF00 + len(self._functions)
        self._functions[to._obj.value] = entry.decode()

    def _cuFuncGetAttribute(self, to: Any, what: int, _: int) -> None:
        to._obj.value = {3: 16, 4: 96}[what]

    def _cuLaunchKernel(self, kernel: int, *more: Any) -> None:
        grid, _, _, block, _, _, shared, stream, places, extra = more
        assert (shared, extra) == (0, None)
        parameters = [ctypes.c_int64.from_address(place).value for place in places]
        entry = self._functions[kernel]
        self.launches.append((entry, grid, block, stream, parameters))
        if entry in self._kernels:
            self._kernels[entry](parameters)


def _numbers(pointer: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """An array at an address; strides in numbers."""
    whole = (ctypes.c_uint8 * 1).from_address(pointer)
    in_bytes = tuple(n * dtype.itemsize for n in strides)
    interface = {"shape": shape, "typestr": dtype.str, "strides": in_bytes, "data": (pointer, False), "version": 3}
    return np.asarray(type("At", (), {"__array_interface__": interface, "kept": whole})())


def _computed(node: Node, parameters: list[int]) -> None:
    *pointers, count = parameters
    inputs = []
    for k, port in enumerate(node.inputs):
        pointer, stride = pointers[2 * k : 2 * k + 2]
        core = tuple(int(np.prod(port.shape[n + 1 :])) for n in range(len(port.shape)))
        inputs.append(_numbers(pointer, (count, *port.shape), (stride, *core), node.dtype))
    (port,) = node.outputs
    core = tuple(int(np.prod(port.shape[n + 1 :])) for n in range(len(port.shape)))
    out = _numbers(pointers[-1], (count, *port.shape), (port.size, *core), node.dtype)
    out[...] = node.kernels.batch().call(*inputs)


def _gathered(parameters: list[int]) -> None:
    to, source, count, *rest = parameters
    shape, strides = tuple(rest[:AXES]), tuple(rest[AXES:])
    dtype = np.dtype(np.float64)
    _numbers(to, (count,), (1,), dtype)[:] = _numbers(source, shape, strides, dtype).ravel()


@contextmanager
def counting(made: CountingDriver) -> Iterator[CountingDriver]:
    """In here it is the driver of this machine."""
    caches = (driver, device, _gather_kernel)
    with patch("kinetree.interop.cuda.device._library", lambda: made):
        for cache in caches:
            cache.cache_clear()
        yield made
    for cache in caches:
        cache.cache_clear()

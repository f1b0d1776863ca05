"""One graphics processor: its context, which all libraries share, its memory, its kernels and their launches."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.errors import DeviceError

__all__ = ["LEGACY", "Device", "device", "driver"]

LEGACY = 1
"""The stream on which everything waits for everything before: the default of most libraries."""
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_…
_OLDEST = 7, 5
_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
_UNTIMED = 2  # CU_EVENT_DISABLE_TIMING
_LOG, _LOG_SIZE = 5, 6  # CU_JIT_ERROR_LOG_BUFFER…
_LOCAL, _REGISTERS = 3, 4  # CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, …_NUM_REGS


class Device:
    """A device by its number. Its methods are called inside `with device:`, which makes it the thread's own."""

    def __init__(self, calls: Driver, number: int) -> None:
        if number >= calls.count:
            known = "is only cuda:0" if calls.count == 1 else f"are cuda:0 to cuda:{calls.count - 1}"
            raise DeviceError(f"there is no device cuda:{number}; on this machine there {known}")
        self.number = number
        self.calls = calls
        handle = calls.number("cuDeviceGet", number)
        text = ctypes.create_string_buffer(256)
        calls("cuDeviceGetName", text, 256, handle)
        self.name: str = text.value.decode(errors="replace")
        """The name of the product."""
        self.capability: tuple[int, ...] = tuple(
            calls.number("cuDeviceGetAttribute", k, handle) for k in (_MAJOR, _MINOR)
        )
        """The compute capability, such as (9, 0)."""
        if self.capability < _OLDEST:
            raise DeviceError(
                f"cuda:{number} ({self.name}) has compute capability {'.'.join(map(str, self.capability))}; kernels "
                f"need {'.'.join(map(str, _OLDEST))} or more (Turing, 2018)"
            )
        self._context = ctypes.c_void_p(calls.number("cuDevicePrimaryCtxRetain", handle, kind=ctypes.c_void_p))

    def __repr__(self) -> str:
        return f"cuda:{self.number} ({self.name})"

    def __enter__(self) -> Device:
        self.calls("cuCtxPushCurrent_v2", self._context)
        return self

    def __exit__(self, *_: object) -> None:
        self.calls("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def allocate(self, size: int, stream: int) -> int:
        """Memory of this many bytes, for later work on the stream."""
        if size == 0:
            return 0
        return self.calls.number("cuMemAllocAsync", ctypes.c_size_t(size), _stream(stream), kind=ctypes.c_uint64)

    def free(self, pointer: int, stream: int) -> None:
        """Give memory back after the work on the stream."""
        if pointer:
            self.calls("cuMemFreeAsync", ctypes.c_uint64(pointer), _stream(stream))

    def upload(self, array: np.ndarray[Any, Any], pointer: int, stream: int) -> None:
        """Copy a contiguous array to the device; it stays as it is until the stream is synchronized."""
        if array.nbytes:
            source, size = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
            self.calls("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(pointer), source, size, _stream(stream))

    def download(self, pointer: int, array: np.ndarray[Any, Any], stream: int) -> None:
        """Copy from the device to a contiguous array, after the work on the stream."""
        if array.nbytes:
            target, size = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
            self.calls("cuMemcpyDtoHAsync_v2", target, ctypes.c_uint64(pointer), size, _stream(stream))
            self.synchronize(stream)

    def synchronize(self, stream: int) -> None:
        """Wait for everything on a stream."""
        self.calls("cuStreamSynchronize", _stream(stream))

    def wait(self, stream: int, after: int) -> None:
        """Let later work on a stream wait for the present work on another one."""
        if stream == after:
            return
        event = ctypes.c_void_p(self.calls.number("cuEventCreate", _UNTIMED, kind=ctypes.c_void_p))
        self.calls("cuEventRecord", event, _stream(after))
        self.calls("cuStreamWaitEvent", _stream(stream), event, 0)
        self.calls("cuEventDestroy_v2", event)

    def owner(self, pointer: int) -> int:
        """The number of the device whose memory this is."""
        return self.calls.number("cuPointerGetAttribute", _ORDINAL, ctypes.c_uint64(pointer))

    def kernel(self, text: str, entry: str) -> int:
        """A kernel of PTX, which the driver translates for this device; it keeps the result on disk."""
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(_LOG, _LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p).value, len(log))
        try:
            arguments = text.encode() + b"\0", 2, options, values
            module = self.calls.number("cuModuleLoadDataEx", *arguments, kind=ctypes.c_void_p)
        except DeviceError as error:
            said = log.value.decode(errors="replace").strip()
            raise DeviceError(f"{error} on {self}{f': {said}' if said else ''}") from None
        return self.calls.number("cuModuleGetFunction", ctypes.c_void_p(module), entry.encode(), kind=ctypes.c_void_p)

    def registers_and_memory(self, kernel: int) -> tuple[int, int]:
        """The registers, and the bytes of memory of its own, that a thread of a kernel has on this device."""
        numbers = (self.calls.number("cuFuncGetAttribute", k, ctypes.c_void_p(kernel)) for k in (_REGISTERS, _LOCAL))
        return next(numbers), next(numbers)

    def launch(self, kernel: int, grid: int, block: int, stream: int, parameters: Sequence[int]) -> None:
        """Start a kernel on a stream; `parameters` are pointers and numbers of 64 bits. It runs after this returns."""
        cells = (ctypes.c_int64 * len(parameters))(*(_signed(x) for x in parameters))
        start = ctypes.addressof(cells)
        places = (ctypes.c_void_p * len(parameters))(*(start + 8 * k for k in range(len(parameters))))
        shape = map(ctypes.c_uint, (grid, 1, 1, block, 1, 1, 0))
        self.calls("cuLaunchKernel", ctypes.c_void_p(kernel), *shape, _stream(stream), places, None)


@functools.cache
def device(number: int) -> Device:
    """The device of this number.

    Raises:
        DeviceError: the driver or the device is missing, or too old.
    """
    return Device(driver(), number)


def _stream(handle: int) -> ctypes.c_void_p:
    return ctypes.c_void_p(handle)


def _signed(x: int) -> int:
    """The 64 bits of a pointer as a signed number."""
    return x - (1 << 64) if x >= 1 << 63 else x


_NO_DEVICE = 100


class Driver:
    """Calls of the library: by name, with ctypes' own numbers."""

    def __init__(self, library: Any) -> None:
        """`library`: a `ctypes.CDLL`, or an object with such functions."""
        self._library = library
        if (code := library.cuInit(0)) != 0:
            if code == _NO_DEVICE:
                raise _no_device("its driver is here, but")
            raise DeviceError(f"NVIDIA's driver does not start: {self._words(code)}")
        self.count: int = self.number("cuDeviceGetCount")
        """How many devices there are."""
        if self.count == 0:
            raise _no_device("its driver is here, but")
        self.version: int = self.number("cuDriverGetVersion")
        """1000 times the main number of the CUDA version, and 10 times the other one: 12080 is 12.8."""

    def __call__(self, name: str, *arguments: Any) -> None:
        """Call a function; raise if it reports an error."""
        if (code := getattr(self._library, name)(*arguments)) != 0:
            raise DeviceError(f"CUDA: {name} failed: {self._words(code)}")

    def number(self, name: str, *arguments: Any, kind: Any = ctypes.c_int) -> int:
        """The number or the handle that a function writes to its first argument."""
        value = kind()
        self(name, ctypes.byref(value), *arguments)
        return value.value or 0

    def _words(self, code: int) -> str:
        """The meaning of an error code, in the driver's words."""
        words = []
        for function in ("cuGetErrorString", "cuGetErrorName"):
            text = ctypes.c_char_p()
            if getattr(self._library, function)(code, ctypes.byref(text)) == 0 and text.value:
                words.append(text.value.decode(errors="replace"))
        return f"{words[0]} ({words[1]})" if len(words) == 2 else f"error {code}"


@functools.cache
def driver() -> Driver:
    """The driver of this machine.

    Raises:
        DeviceError: the driver or a device is missing.
    """
    return Driver(_library())


def _library() -> Any:
    names = ["nvcuda.dll"] if sys.platform == "win32" else ["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"]
    for name in names:
        try:
            return getattr(ctypes, "WinDLL", ctypes.CDLL)(name)  # on Windows functions are called in another way
        except OSError:
            continue
    raise _no_device(f"its driver ({names[0]}) is missing, so")


def _no_device(why: str) -> DeviceError:
    return DeviceError(
        f'device="cuda" needs a graphics processor of NVIDIA: {why} there is none to compute on; without device= it is '
        "computed on this processor"
    )

"""The CUDA driver's C library, called through ctypes; its error codes as sentences."""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any

from kinetree.errors import DeviceError

__all__ = ["Driver", "driver"]

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
        found = []
        for function in ("cuGetErrorString", "cuGetErrorName"):
            text = ctypes.c_char_p()
            if getattr(self._library, function)(code, ctypes.byref(text)) == 0 and text.value:
                found.append(text.value.decode(errors="replace"))
        return f"{found[0]} ({found[1]})" if len(found) == 2 else f"error {code}"


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

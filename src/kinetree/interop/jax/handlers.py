"""Handlers that JAX knows by name: the machine code that XLA calls on the CPU."""

from __future__ import annotations

import ctypes
import functools
import re
import struct
import sys
from pathlib import Path
from threading import Lock
from typing import Any

import jax

from kinetree.codegen.cpu.jit import MachineCode
from kinetree.codegen.cpu.xla_frame import OLDEST
from kinetree.compiler.thread_count import thread_count
from kinetree.interop.jax.calls import Call

__all__ = ["has_handlers", "registered"]

_registered: dict[str, MachineCode] = {}
"""By name. XLA has no way to give up a handler."""
_lock = Lock()


@functools.cache
def has_handlers() -> bool:
    """Whether XLA's interface here is the one that handlers are made for."""
    if sys.byteorder != "little" or struct.calcsize("P") != 8:
        return False
    header = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h")
    try:
        text = header.read_text(encoding="utf-8")
    except OSError:
        return False
    found = re.findall(r"^#define XLA_FFI_API_(MAJOR|MINOR) (\d+)\s*$", text, re.MULTILINE)
    version = {name: int(number) for name, number in found}
    return version.get("MAJOR") == OLDEST[0] and version.get("MINOR", -1) >= OLDEST[1]


def registered(call: Call) -> str:
    """The name under which XLA calls the machine code of a call on the CPU; it is the same in every process."""
    name = f"kinetree_{re.sub(r'[^0-9A-Za-z_]', '_', call.node.name)}_{call.fingerprint}"
    with _lock:
        if name not in _registered:
            code = call.node.kernels.xla_handler(thread_count())
            # XLA's threads may still be in it while Python ends, so nothing ever frees it.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))
            jax.ffi.register_ffi_target(name, _capsule(code.address("handler")), platform="cpu", api_version=1)
            _registered[name] = code
    return name


def _capsule(address: int) -> Any:
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return prototype(("PyCapsule_New", ctypes.pythonapi))(address, None, None)

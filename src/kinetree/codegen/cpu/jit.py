"""Compile LLVM IR to machine code, and load machine code into this process.

LLVM is imported only to compile, or when kinetree's own loader does not know what it is given: code from the disk is
ready long before the import would finish.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import weakref
from contextlib import suppress
from typing import Protocol

from kinetree.announcement import learn, phase
from kinetree.codegen.cpu.loader import UnknownObjectError, load
from kinetree.codegen.llvm.operations import LIBM
from kinetree.codegen.llvm.target import Target, host

__all__ = ["MachineCode", "assemble", "compile_module"]

_FROM_LIBM = (*LIBM.values(), "fma", "fmaf")
_FROM_PROCESS = (
    *("malloc", "free", "memset", "memcpy", "memmove"),
    *("PyGILState_Ensure", "PyGILState_Release", "PyErr_NoMemory"),
    *("Py_DecRef", "PyCapsule_IsValid", "PyCapsule_GetPointer"),
)


@phase("compiling")
def compile_module(text: str, target: Target | None = None) -> bytes:
    """The relocatable object file of a module. It contains no address of this process, so it can be kept on disk."""
    import llvmlite.binding as llvm

    learn(characters=len(text))
    object_code: bytes = (target or host()).machine().emit_object(llvm.parse_assembly(text))
    return object_code


class MachineCode:
    """An object file loaded into this process; its code lives as long as this object."""

    def __init__(self, object_code: bytes, target: Target | None = None) -> None:
        self._engine: _Loaded
        try:
            self._engine = load(object_code, _address_of)
        except UnknownObjectError:
            self._engine = _llvm_engine(object_code, target or host())
        if free := self.address("free_memory"):
            weakref.finalize(self, _call, self._engine, free).atexit = False
        self._kept: list[object] = []

    def keep(self, used: object) -> None:
        """Keep alive for as long as the code an object that the code refers to by address."""
        self._kept.append(used)

    def address(self, name: str) -> int:
        """Address of a function of the module; 0 if it has none of that name."""
        return self._engine.get_function_address(name)

    def data_address(self, name: str) -> int:
        """Address of a global variable of the module; 0 if it has none of that name."""
        return self._engine.get_global_value_address(name)


class _Loaded(Protocol):
    """An object file in memory, loaded by kinetree's loader or by LLVM's."""

    def get_function_address(self, name: str, /) -> int: ...

    def get_global_value_address(self, name: str, /) -> int: ...


def _llvm_engine(object_code: bytes, target: Target) -> _Loaded:
    """The object file, loaded by LLVM."""
    import llvmlite.binding as llvm

    for name in _FROM_LIBM:
        llvm.add_symbol(name, _address_of(name))
    # An engine needs a module; compiling even an empty one would take longer than loading the code.
    nothing = llvm.parse_assembly("")
    engine: _Loaded = (made := llvm.create_mcjit_compiler(nothing, target.machine()))
    made.remove_module(nothing)
    made.add_object_file(llvm.ObjectFileRef.from_data(object_code))
    made.finalize_object()
    return engine


def _call(_: object, address: int) -> None:
    ctypes.CFUNCTYPE(None)(address)()


def assemble(text: str, target: Target) -> str:
    """The assembly text of a module for any target that LLVM supports; nothing is run."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return str(target.machine().emit_assembly(llvm.parse_assembly(text)))


@functools.cache
def _address_of(name: str) -> int | None:
    """Address of a function that the code may call, wherever this platform keeps it."""
    if name in _FROM_LIBM:
        library = _mathematical_library()
    elif name in _FROM_PROCESS:
        library = ctypes.pythonapi
    else:
        return None
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value


def _mathematical_library() -> ctypes.CDLL:
    if sys.platform == "linux":
        with suppress(OSError):  # C libraries other than GNU's use another name
            return ctypes.CDLL("libm.so.6")
    if sys.platform == "win32":
        return ctypes.CDLL("msvcrt")
    from ctypes.util import find_library  # it may run other programs to find the library

    return ctypes.CDLL(find_library("m"))

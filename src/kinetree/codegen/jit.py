"""From LLVM's language to machine code, and machine code into this process."""

from __future__ import annotations

import ctypes
import functools
import sys
import weakref
from contextlib import suppress

import llvmlite.binding as llvm

from kinetree.codegen.operations import LIBM
from kinetree.codegen.target import Target, host

__all__ = ["MachineCode", "assemble", "compile_module"]


def compile_module(text: str, target: Target | None = None) -> bytes:
    """The relocatable object file of a module. It holds no address of this process, so it can be kept."""
    object_code: bytes = (target or host()).machine().emit_object(llvm.parse_assembly(text))
    return object_code


class MachineCode:
    """An object file loaded into this process; its code lives as long as this object."""

    def __init__(self, object_code: bytes, target: Target | None = None) -> None:
        _bind_c_library()
        # An engine must be made with a module; compiling that, empty as it is, would take longer than loading the code.
        nothing = llvm.parse_assembly("")
        self._engine = llvm.create_mcjit_compiler(nothing, (target or host()).machine())
        self._engine.remove_module(nothing)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
        self._engine.finalize_object()
        if free := self.address("free_memory"):
            weakref.finalize(self, _call, self._engine, free).atexit = False

    def address(self, name: str) -> int:
        """Where a function of the module stands."""
        address: int = self._engine.get_function_address(name)
        return address

    def data_address(self, name: str) -> int:
        """Where a global variable of the module stands."""
        address: int = self._engine.get_global_value_address(name)
        return address


def _call(_: object, address: int) -> None:
    ctypes.CFUNCTYPE(None)(address)()


def assemble(text: str, target: Target) -> str:
    """The assembly text of a module for any target LLVM has; nothing is run."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return str(target.machine().emit_assembly(llvm.parse_assembly(text)))


@functools.cache
def _bind_c_library() -> None:
    """Make the C library's functions known to the linker, wherever this platform keeps them."""
    library = _mathematical_library()
    for function in (*LIBM.values(), "fma", "fmaf"):
        llvm.add_symbol(function, ctypes.cast(getattr(library, function), ctypes.c_void_p).value)


def _mathematical_library() -> ctypes.CDLL:
    if sys.platform == "linux":
        with suppress(OSError):  # another C library than GNU's has another name for it
            return ctypes.CDLL("libm.so.6")
    if sys.platform == "win32":
        return ctypes.CDLL("msvcrt")
    from ctypes.util import find_library  # it may run other programs to find it

    return ctypes.CDLL(find_library("m"))

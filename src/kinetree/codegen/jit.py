"""From LLVM's language to machine code in this process."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import sys

import llvmlite.binding as llvm

from kinetree.codegen.llvm import emit
from kinetree.codegen.precision import F64, Precision
from kinetree.codegen.sample import LIBM
from kinetree.codegen.target import Target, host
from kinetree.expr import Program

__all__ = ["MachineCode", "assemble"]


class MachineCode:
    """A compiled program; its code lives as long as this object."""

    def __init__(self, program: Program, precision: Precision = F64, target: Target | None = None) -> None:
        target = target or host()
        _bind_c_library()
        module = llvm.parse_assembly(emit(program, precision, target))
        self._engine = llvm.create_mcjit_compiler(module, target.machine())
        self._engine.finalize_object()
        self.address: int = self._engine.get_function_address("kernel")
        self.precision = precision
        self.inputs = program.inputs
        self.outputs = program.outputs


def assemble(program: Program, precision: Precision, target: Target) -> str:
    """The assembly text for any target LLVM has; nothing is run."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return str(target.machine().emit_assembly(llvm.parse_assembly(emit(program, precision, target))))


@functools.cache
def _bind_c_library() -> None:
    """Make the C library's functions known to the linker, wherever this platform keeps them."""
    name = "msvcrt" if sys.platform == "win32" else ctypes.util.find_library("m")
    library = ctypes.CDLL(name)
    for function in (*LIBM.values(), "fma", "fmaf"):
        llvm.add_symbol(function, ctypes.cast(getattr(library, function), ctypes.c_void_p).value)

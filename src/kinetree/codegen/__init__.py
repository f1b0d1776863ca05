"""Programs to code. It sees programs only, and knows no robots."""

from kinetree.codegen.builtin import layout_is_known, make_builtin
from kinetree.codegen.jit import MachineCode, assemble, compile_module
from kinetree.codegen.llvm import emit
from kinetree.codegen.precision import F32, F64, PRECISIONS, Precision
from kinetree.codegen.single import emit_single
from kinetree.codegen.target import Target, host
from kinetree.codegen.ufunc import batch_function, make_ufunc

__all__ = [
    "F32",
    "F64",
    "PRECISIONS",
    "MachineCode",
    "Precision",
    "Target",
    "assemble",
    "batch_function",
    "compile_module",
    "emit",
    "emit_single",
    "host",
    "layout_is_known",
    "make_builtin",
    "make_ufunc",
]

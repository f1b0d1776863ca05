"""Programs to code. It sees programs only, and knows no robots."""

from kinetree.codegen.jit import MachineCode, assemble
from kinetree.codegen.precision import F32, F64, PRECISIONS, Precision
from kinetree.codegen.target import Target, host
from kinetree.codegen.ufunc import make_ufunc

__all__ = ["F32", "F64", "PRECISIONS", "MachineCode", "Precision", "Target", "assemble", "host", "make_ufunc"]

"""The floating-point types a kernel can be made for."""

from __future__ import annotations

import struct

from kinetree.records import record

__all__ = ["F32", "F64", "PRECISIONS", "Precision"]


@record(frozen=True, slots=True)
class Precision:
    """A floating-point type by its names in LLVM and NumPy."""

    type: str
    integer: str
    """The integer type of the same width."""
    suffix: str
    """Suffix in the names of LLVM's intrinsics."""
    char: str
    """NumPy's type code."""
    bits: int

    @property
    def bytes(self) -> int:
        return self.bits // 8

    def literal(self, x: float) -> str:
        """A constant as LLVM reads it: the bits of the double it equals."""
        if self.bits == 32:
            x = _nearest_single(x)
        return "0x" + struct.pack(">d", x).hex().upper()


def _nearest_single(x: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", x))[0])
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


F64 = Precision("double", "i64", "f64", "d", 64)
F32 = Precision("float", "i32", "f32", "f", 32)
PRECISIONS = {"float64": F64, "float32": F32}

"""The floating-point types a kernel can be made for."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["F32", "F64", "PRECISIONS", "Lanes", "Precision", "whole_numbers"]


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

    def table(self, numbers: Sequence[float]) -> str:
        """Constants as the type and the value of a global variable."""
        with np.errstate(over="ignore"):
            return _in_memory(np.array(numbers, np.float64).astype(self.char))


@record(frozen=True, slots=True)
class Lanes:
    """A register in LLVM's terms: one number per lane.

    One lane is a plain number: LLVM would take a quarter longer to compile a vector of one.
    """

    count: int
    precision: Precision

    @property
    def numbers(self) -> str:
        """The type of a register."""
        return self._type(self.precision.type)

    @property
    def bytes(self) -> int:
        """The size of a register."""
        return self.count * self.precision.bytes

    @property
    def flags(self) -> str:
        """The type of a comparison's result."""
        return self._type("i1")

    @property
    def integers(self) -> str:
        """The type of the numbers' bits."""
        return self._type(self.precision.integer)

    @property
    def suffix(self) -> str:
        """Suffix in the names of LLVM's intrinsics."""
        return self.precision.suffix if self.count == 1 else f"v{self.count}{self.precision.suffix}"

    def number(self, x: float) -> str:
        """The same number in all lanes."""
        return self._everywhere(self.precision.type, self.precision.literal(x))

    def integer(self, x: int) -> str:
        """The same bits in all lanes."""
        return self._everywhere(self.precision.integer, f"{x}")

    def of(self, register: str, lane: int, kind: str) -> str:
        """The instruction that gives one lane of a register, of this type."""
        if self.count == 1:
            return f"select i1 true, {kind} {register}, {kind} {register}"
        return f"extractelement {self._type(kind)} {register}, i32 {lane}"

    def with_lane(self, register: str, lane: int, kind: str, value: str) -> str:
        """The instruction that gives a register with another value in one lane."""
        if self.count == 1:
            return f"select i1 true, {kind} {value}, {kind} {value}"
        return f"insertelement {self._type(kind)} {register}, {kind} {value}, i32 {lane}"

    def repeated(self, register: str) -> str:
        """The instruction that gives a register with the number of the first lane in all lanes."""
        if self.count == 1:
            return f"select i1 true, {self.numbers} {register}, {self.numbers} {register}"
        return f"shufflevector {self.numbers} {register}, {self.numbers} poison, <{self.count} x i32> zeroinitializer"

    def all_set(self, flags: str) -> str:
        """The instruction for whether a flag is set in all lanes."""
        if self.count == 1:
            return f"or i1 {flags}, false"
        return f"call i1 @llvm.vector.reduce.and.v{self.count}i1({self.flags} {flags})"

    def _type(self, kind: str) -> str:
        return kind if self.count == 1 else f"<{self.count} x {kind}>"

    def _everywhere(self, kind: str, literal: str) -> str:
        return literal if self.count == 1 else f"splat ({kind} {literal})"


def whole_numbers(numbers: Sequence[int]) -> tuple[int, str]:
    """The bits of an integer type that holds all of these numbers, and a global variable as for `Precision.table`."""
    array = np.array(numbers, np.int64)
    bits = next(n for n in (8, 16, 32) if (array == array.astype(f"i{n // 8}")).all())
    return bits, _in_memory(array.astype(f"i{bits // 8}"))


def _in_memory(array: NDArray[Any]) -> str:
    """An array in this processor's order of bytes: LLVM reads a string many times faster than numbers."""
    data = array.tobytes()
    text = "\\" + data.hex("\\") if data else ""
    return f'[{len(data)} x i8] c"{text}", align 64'


def _nearest_single(x: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", x))[0])
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


F64 = Precision("double", "i64", "f64", "d", 64)
F32 = Precision("float", "i32", "f32", "f", 32)
PRECISIONS = {"float64": F64, "float32": F32}

"""The natural logarithm in LLVM IR, for processors without a C library.

It is right to about one unit in the last place (`kinetree docs gpu`); the C library of a computer may round
differently. Kernels in single precision call it too, and round its result.
"""

from __future__ import annotations

import math

from kinetree.codegen.llvm.arc_tangent import horner
from kinetree.codegen.llvm.precision import F64

__all__ = ["LOGARITHM"]

_ODD = [2 / k for k in range(3, 20, 2)]
"""(ln((1 + s) / (1 - s)) - 2 s) / s³ in powers of s²: enough for numbers from √½ to √2."""
_LN_2_SHORT = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
"""ln(2) in two parts; multiples of the first, up to those of the largest exponent, are exact."""


def _number(x: float) -> str:
    return F64.literal(x)


LOGARITHM = f"""
; x = 2^n (1 + f) with 1 + f from √½ to √2; s = f / (2 + f).
define internal double @log(double %x) {{
  %is_small = fcmp olt double %x, {_number(2.0**-1022)}
  %scale = select i1 %is_small, double {_number(2.0**54)}, double {_number(1.0)}
  %n_scale = select i1 %is_small, i64 -54, i64 0
  %scaled = fmul double %x, %scale
  %bits = bitcast double %scaled to i64
  %above_root = sub i64 %bits, {int(_number(math.sqrt(0.5)), 16)}
  %n = ashr i64 %above_root, 52
  %n_bits = shl i64 %n, 52
  %m_bits = sub i64 %bits, %n_bits
  %m = bitcast i64 %m_bits to double
  %n_all = add i64 %n, %n_scale
  %n_float = sitofp i64 %n_all to double
  %f = fsub double %m, {_number(1.0)}
  %f_2 = fadd double %f, {_number(2.0)}
  %s = fdiv double %f, %f_2
  %z = fmul double %s, %s
{horner("p", "double", "call double @llvm.fma.f64", "%z", [*map(_number, _ODD)])}
  %R = fmul double %z, %p
  %f_half = fmul double %f, {_number(0.5)}
  %h = fmul double %f_half, %f
  %h_R = fadd double %h, %R
  %n_low = fmul double %n_float, {_number(_LN_2_SHORT[1])}
  %rest = call double @llvm.fma.f64(double %s, double %h_R, double %n_low)
  %less = fsub double %h, %rest
  %low = fsub double %f, %less
  %y = call double @llvm.fma.f64(double %n_float, double {_number(_LN_2_SHORT[0])}, double %low)
  %is_zero = fcmp oeq double %x, {_number(0.0)}
  %y_1 = select i1 %is_zero, double {_number(-math.inf)}, double %y
  %is_negative = fcmp olt double %x, {_number(0.0)}
  %y_2 = select i1 %is_negative, double {_number(math.nan)}, double %y_1
  %is_itself = fcmp ueq double %x, {_number(math.inf)}
  %y_3 = select i1 %is_itself, double %x, double %y_2
  ret double %y_3
}}
"""
"""`@log`, of one double."""

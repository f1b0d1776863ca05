"""Exponential, logarithm and hyperbolic tangent in LLVM IR, for processors without a C library.

They are right to about one unit in the last place, the tangent to two (docs/gpu.md); the C library of a computer may
round differently. Kernels in single precision call them too, and round their results.
"""

from __future__ import annotations

import math

from kinetree.codegen.llvm.arc_tangent import horner
from kinetree.codegen.llvm.precision import F64

__all__ = ["EXPONENTIALS"]

_TERMS = [1 / math.factorial(k) for k in range(2, 14)]
"""(eʳ - 1 - r) / r² in powers of r: enough for |r| <= ln(2) / 2."""
_ODD = [2 / k for k in range(3, 20, 2)]
"""(ln((1 + s) / (1 - s)) - 2 s) / s³ in powers of s²: enough for numbers from √½ to √2."""
_LN_2 = float.fromhex("0x1.62e42fefa39efp-1"), float.fromhex("0x1.abc9e3b39803fp-56")
"""ln(2), and its rounding error."""
_LN_2_SHORT = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
"""The same; multiples of the first, up to those of the largest exponent, are exact."""
_MAGIC = 1.5 * 2.0**52
"""Adding and then subtracting it rounds to the nearest integer, which it leaves in the low bits."""


def _number(x: float) -> str:
    return F64.literal(x)


def _horner(name: str, x: str, coefficients: list[float]) -> str:
    return horner(name, "double", "call double @llvm.fma.f64", x, [*map(_number, coefficients)])


EXPONENTIALS = f"""
; exp(x) is 2^k (1 + e), |e| < 1/2.
define internal {{double, i64}} @exp_parts(double %x) alwaysinline {{
  %t = call double @llvm.fma.f64(double %x, double {_number(1 / math.log(2.0))}, double {_number(_MAGIC)})
  %t_bits = bitcast double %t to i64
  %k_low = trunc i64 %t_bits to i32
  %k = sext i32 %k_low to i64
  %times = fsub double %t, {_number(_MAGIC)}
  %back = fneg double %times
  %r_1 = call double @llvm.fma.f64(double %back, double {_number(_LN_2[0])}, double %x)
  %r = call double @llvm.fma.f64(double %back, double {_number(_LN_2[1])}, double %r_1)
  %rr = fmul double %r, %r
{_horner("p", "%r", _TERMS)}
  %e = call double @llvm.fma.f64(double %rr, double %p, double %r)
  %half = insertvalue {{double, i64}} poison, double %e, 0
  %parts = insertvalue {{double, i64}} %half, i64 %k, 1
  ret {{double, i64}} %parts
}}

define internal double @power_of_two(i64 %k) alwaysinline {{
  %raised = add i64 %k, 1023
  %bits = shl i64 %raised, 52
  %x = bitcast i64 %bits to double
  ret double %x
}}

define internal double @exp(double %x) {{
  %above = fcmp ogt double %x, {_number(720.0)}
  %x_1 = select i1 %above, double {_number(720.0)}, double %x
  %below = fcmp olt double %x_1, {_number(-760.0)}
  %x_2 = select i1 %below, double {_number(-760.0)}, double %x_1
  %parts = call {{double, i64}} @exp_parts(double %x_2)
  %e = extractvalue {{double, i64}} %parts, 0
  %k = extractvalue {{double, i64}} %parts, 1
  %one = fadd double %e, {_number(1.0)}
  %k_1 = ashr i64 %k, 1                                  ; in two steps: 2^k alone could be out of range
  %k_2 = sub i64 %k, %k_1
  %s_1 = call double @power_of_two(i64 %k_1)
  %s_2 = call double @power_of_two(i64 %k_2)
  %y_1 = fmul double %one, %s_1
  %y = fmul double %y_1, %s_2
  ret double %y
}}

; With e = exp(2 |x|) - 1, the tangent is e / (e + 2); from 22 on it is 1.
define internal double @tanh(double %x) {{
  %size = call double @llvm.fabs.f64(double %x)
  %above = fcmp ogt double %size, {_number(22.0)}
  %bounded = select i1 %above, double {_number(22.0)}, double %size
  %twice = fadd double %bounded, %bounded
  %parts = call {{double, i64}} @exp_parts(double %twice)
  %e_0 = extractvalue {{double, i64}} %parts, 0
  %k = extractvalue {{double, i64}} %parts, 1
  %s = call double @power_of_two(i64 %k)
  %s_less = fsub double %s, {_number(1.0)}
  %e = call double @llvm.fma.f64(double %s, double %e_0, double %s_less)
  %e_2 = fadd double %e, {_number(2.0)}
  %y = fdiv double %e, %e_2
  %signed = call double @llvm.copysign.f64(double %y, double %x)
  ret double %signed
}}

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
{_horner("p", "%z", _ODD)}
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
"""`@exp`, `@log` and `@tanh`, of one double."""

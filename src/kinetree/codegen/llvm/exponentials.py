"""Exponential and hyperbolic tangent across lanes, in LLVM IR.

x is k ln(2) + r, |r| <= ln(2) / 2, with ln(2) in two parts, and a polynomial gives eʳ - 1: the exponential, right to
about one unit in the last place. With e = exp(2 |x|) - 1, the tangent is e / (e + 2), right to about two units. NaN
raises no flag, and a lane's result never depends on its neighbours.
"""

from __future__ import annotations

import math

from kinetree.codegen.llvm.arc_tangent import horner
from kinetree.codegen.llvm.precision import F32, F64, Lanes
from kinetree.records import record

__all__ = ["exponentials"]


@record(frozen=True, slots=True)
class _Numbers:
    """Constants of the formulas, for one type of numbers."""

    ln_2: tuple[float, float]
    """ln(2), and its rounding error."""
    terms: int
    """Powers of r in (eʳ - 1 - r) / r²: enough for |r| <= ln(2) / 2."""
    mantissa: int
    """Bits behind the point. 1.5 times two to this power rounds what it is added to, into its own last bits."""
    bias: int
    """The number that is added to an exponent."""
    ends: tuple[float, float]
    """Below the first the exponential is zero, above the second infinite."""
    one_from: float
    """A number from which on the tangent is 1."""


_NUMBERS = {
    F64: _Numbers(
        (float.fromhex("0x1.62e42fefa39efp-1"), float.fromhex("0x1.abc9e3b39803fp-56")),
        12,
        52,
        1023,
        (-760.0, 720.0),
        22.0,
    ),
    F32: _Numbers((float.fromhex("0x1.62e430p-1"), float.fromhex("-0x1.05c610p-29")), 6, 23, 127, (-110.0, 90.0), 10.0),
}


def exponentials(lanes: Lanes) -> str:
    """Two LLVM functions to call, `@exponential(x)` and `@hyperbolic_tangent(x)`, of one register."""
    V, B, K, number, integer = lanes.numbers, lanes.flags, lanes.integers, lanes.number, lanes.integer
    c: _Numbers = _NUMBERS[lanes.precision]
    fma = f"call {V} @llvm.fma.{lanes.suffix}"
    magic, (lowest, highest) = 1.5 * 2.0**c.mantissa, c.ends
    terms = [number(1 / math.factorial(k)) for k in range(2, 2 + c.terms)]
    return f"""
; exp(x) is 2^k (1 + e), |e| < 1/2.
define internal {{{V}, {K}}} @exponential_parts({V} %x) alwaysinline {{
  %t = {fma}({V} %x, {V} {number(1 / math.log(2.0))}, {V} {number(magic)})
  %t_bits = bitcast {V} %t to {K}
  %k = sub {K} %t_bits, {integer(((c.bias + c.mantissa) << c.mantissa) + (1 << (c.mantissa - 1)))}
  %times = fsub {V} %t, {number(magic)}
  %back = fneg {V} %times
  %r_1 = {fma}({V} %back, {V} {number(c.ln_2[0])}, {V} %x)
  %r = {fma}({V} %back, {V} {number(c.ln_2[1])}, {V} %r_1)
  %rr = fmul {V} %r, %r
{horner("p", V, fma, "%r", terms)}
  %e = {fma}({V} %rr, {V} %p, {V} %r)
  %half = insertvalue {{{V}, {K}}} poison, {V} %e, 0
  %parts = insertvalue {{{V}, {K}}} %half, {K} %k, 1
  ret {{{V}, {K}}} %parts
}}

define internal {V} @power_of_two({K} %k) alwaysinline {{
  %raised = add {K} %k, {integer(c.bias)}
  %bits = shl {K} %raised, {integer(c.mantissa)}
  %x = bitcast {K} %bits to {V}
  ret {V} %x
}}

define internal {V} @exponential({V} %x) #1 {{
  %is_itself = fcmp ueq {V} %x, {number(math.inf)}         ; or NaN; these would raise flags
  %x_number = select {B} %is_itself, {V} {number(0.0)}, {V} %x
  %above = fcmp ogt {V} %x_number, {number(highest)}
  %x_1 = select {B} %above, {V} {number(highest)}, {V} %x_number
  %below = fcmp olt {V} %x_1, {number(lowest)}
  %x_2 = select {B} %below, {V} {number(lowest)}, {V} %x_1
  %parts = call {{{V}, {K}}} @exponential_parts({V} %x_2)
  %e = extractvalue {{{V}, {K}}} %parts, 0
  %k = extractvalue {{{V}, {K}}} %parts, 1
  %one = fadd {V} %e, {number(1.0)}
  %k_1 = ashr {K} %k, {integer(1)}                       ; in two steps: 2^k alone could be out of range
  %k_2 = sub {K} %k, %k_1
  %s_1 = call {V} @power_of_two({K} %k_1)
  %s_2 = call {V} @power_of_two({K} %k_2)
  %y_1 = fmul {V} %one, %s_1
  %y = fmul {V} %y_1, %s_2
  %result = select {B} %is_itself, {V} %x, {V} %y
  ret {V} %result
}}

define internal {V} @hyperbolic_tangent({V} %x) #1 {{
  %is_nan = fcmp uno {V} %x, {number(0.0)}
  %x_number = select {B} %is_nan, {V} {number(0.0)}, {V} %x
  %size = call {V} @llvm.fabs.{lanes.suffix}({V} %x_number)
  %above = fcmp ogt {V} %size, {number(c.one_from)}
  %bounded = select {B} %above, {V} {number(c.one_from)}, {V} %size
  %twice = fadd {V} %bounded, %bounded
  %parts = call {{{V}, {K}}} @exponential_parts({V} %twice)
  %e_0 = extractvalue {{{V}, {K}}} %parts, 0
  %k = extractvalue {{{V}, {K}}} %parts, 1
  %s = call {V} @power_of_two({K} %k)
  %s_less = fsub {V} %s, {number(1.0)}
  %e = {fma}({V} %s, {V} %e_0, {V} %s_less)
  %e_2 = fadd {V} %e, {number(2.0)}
  %y = fdiv {V} %e, %e_2
  %signed = call {V} @llvm.copysign.{lanes.suffix}({V} %y, {V} %x)
  %result = select {B} %is_nan, {V} %x, {V} %signed
  ret {V} %result
}}
"""

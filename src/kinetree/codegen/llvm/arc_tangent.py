"""The angle of a point, atan2, across lanes, in LLVM IR.

With m <= n the absolute values of both coordinates, the ratio r is m / n up to 1/2, and (m - n) / (m + n) beyond, the
tangent of that angle less pi/4: there m - n is exact. So |r| <= 1/2, and a minimax polynomial gives the angle of r;
signs and a multiple of pi/4, in two parts, make it that of the point, to about one unit in the last place. Infinities,
zeros and NaN follow the C library's rules, and raise no flags. A lane's result never depends on its neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinetree.codegen.llvm.precision import F32, F64, Lanes

__all__ = ["arc_tangent", "horner"]

_POLYNOMIAL = {
    F64: (
        -0.3333333333333298,
        0.19999999999903167,
        -0.14285714276390335,
        0.11111110659807912,
        -0.09090896248560816,
        0.07692073966214868,
        -0.06663811111769526,
        0.05858301961391268,
        -0.051220181909984654,
        0.04186536397210557,
        -0.027435427458208057,
        0.010117159691462308,
    ),
    F32: (
        -0.3333332692544104,
        0.19999489840473436,
        -0.14272078409986677,
        0.10940980361931692,
        -0.07984054269632217,
        0.038723116322998186,
    ),
}
"""(atan r - r) / r³ in powers of r², minimax on [0, 1/4] for the relative error of the angle."""
_EIGHTH = {
    F64: (float.fromhex("0x1.921fb54442d18p-1"), float.fromhex("0x1.1a62633145c07p-55")),
    F32: (float.fromhex("0x1.921fb6p-1"), float.fromhex("-0x1.777a5cp-26")),
}
"""An eighth of a turn, pi/4, and its rounding error."""
_LARGE = {F64: (2.0**1000, 2.0**-200), F32: (2.0**100, 2.0**-50)}
"""Beyond which sums of two coordinates could overflow, and the factor of both then."""


def arc_tangent(lanes: Lanes) -> str:
    """An LLVM function to call, `@arc_tangent(y, x)`, of two registers."""
    V, B, K, number, suffix = lanes.numbers, lanes.flags, lanes.integers, lanes.number, lanes.suffix
    fma, absolute = f"call {V} @llvm.fma.{suffix}", f"call {V} @llvm.fabs.{suffix}"
    (large, smaller), (high, low) = _LARGE[lanes.precision], _EIGHTH[lanes.precision]
    return f"""
define internal {V} @arc_tangent({V} %y, {V} %x) #1 {{
  %is_nan = fcmp uno {V} %y, %x
  %y_number = select {B} %is_nan, {V} {number(1.0)}, {V} %y
  %x_number = select {B} %is_nan, {V} {number(1.0)}, {V} %x
  %ay = {absolute}({V} %y_number)                        ; comparisons with NaN would raise a flag
  %ax = {absolute}({V} %x_number)
  %steep = fcmp ogt {V} %ay, %ax
  %n_given = select {B} %steep, {V} %ay, {V} %ax
  %m_given = select {B} %steep, {V} %ax, {V} %ay
  %endless = fcmp oeq {V} %n_given, {number(math.inf)}
  %both_endless = fcmp oeq {V} %m_given, {number(math.inf)}
  %m_endless = select {B} %both_endless, {V} {number(1.0)}, {V} {number(0.0)}
  %n_finite = select {B} %endless, {V} {number(1.0)}, {V} %n_given
  %m_finite = select {B} %endless, {V} %m_endless, {V} %m_given
  %large = fcmp ogt {V} %n_finite, {number(large)}
  %scale = select {B} %large, {V} {number(smaller)}, {V} {number(1.0)}
  %n = fmul {V} %n_finite, %scale
  %m = fmul {V} %m_finite, %scale
  %half = fmul {V} %n, {number(0.5)}
  %near = fcmp ogt {V} %m, %half                         ; nearer to pi/4
  %difference = fsub {V} %m, %n
  %sum = fadd {V} %m, %n
  %top = select {B} %near, {V} %difference, {V} %m
  %bottom_any = select {B} %near, {V} %sum, {V} %n
  %none = fcmp oeq {V} %bottom_any, {number(0.0)}
  %bottom = select {B} %none, {V} {number(3.0)}, {V} %bottom_any ; not 1, which LLVM would divide by separately
  %r = fdiv {V} %top, %bottom
  %z = fmul {V} %r, %r
  %rz = fmul {V} %r, %z
{horner("p", V, fma, "%z", [*map(number, _POLYNOMIAL[lanes.precision])])}
  %angle = {fma}({V} %rz, {V} %p, {V} %r)
  %eighths = select {B} %near, {V} {number(1.0)}, {V} {number(0.0)}
  %angle_back = fneg {V} %angle
  %eighths_back = fsub {V} {number(2.0)}, %eighths
  %angle_1 = select {B} %steep, {V} %angle_back, {V} %angle
  %eighths_1 = select {B} %steep, {V} %eighths_back, {V} %eighths
  %x_bits = bitcast {V} %x to {K}
  %left = icmp slt {K} %x_bits, zeroinitializer
  %angle_1_back = fneg {V} %angle_1
  %eighths_1_back = fsub {V} {number(4.0)}, %eighths_1
  %angle_2 = select {B} %left, {V} %angle_1_back, {V} %angle_1
  %eighths_2 = select {B} %left, {V} %eighths_1_back, {V} %eighths_1
  %with_low = {fma}({V} %eighths_2, {V} {number(low)}, {V} %angle_2)
  %size = {fma}({V} %eighths_2, {V} {number(high)}, {V} %with_low)
  %signed = call {V} @llvm.copysign.{suffix}({V} %size, {V} %y)
  %y_or_zero = select {B} %is_nan, {V} %y, {V} {number(0.0)}
  %x_or_zero = select {B} %is_nan, {V} %x, {V} {number(0.0)}
  %nan = fadd {V} %y_or_zero, %x_or_zero
  %result = select {B} %is_nan, {V} %nan, {V} %signed
  ret {V} %result
}}
"""


def horner(name: str, kind: str, fma: str, x: str, coefficients: Sequence[str]) -> str:
    """Instructions that define `%name` as c₀ + c₁ x + c₂ x² + … by Horner's rule.

    Args:
        name: of the result, without its percent sign; steps have a number behind it.
        kind: the type of all numbers.
        fma: the call of a fused multiply-add, up to its arguments.
        x: the variable.
        coefficients: c₀, c₁, …; at least two.
    """
    *rest, total = coefficients
    lines = []
    for step, coefficient in enumerate(reversed(rest), 1):
        result = f"%{name}" if step == len(rest) else f"%{name}{step}"
        lines.append(f"  {result} = {fma}({kind} {x}, {kind} {total}, {kind} {coefficient})")
        total = result
    return "\n".join(lines)

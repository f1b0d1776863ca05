"""Sine and cosine across lanes, in LLVM IR.

An angle x is reduced to r = x - k pi/2, |r| <= pi/4, with pi/2 as a sum of three numbers and fused multiply-adds
(Cody and Waite); then two minimax polynomials give both functions to about one unit in the last place. An angle
too large for that, infinite or NaN takes the exact path, one lane at a time: the bits of 2/pi that matter are
multiplied by the angle's mantissa in integers (Payne and Hanek). A lane's result never depends on its neighbours.
"""

from __future__ import annotations

import math

from kinetree.codegen.llvm.arc_tangent import horner
from kinetree.codegen.llvm.precision import F32, F64, Lanes
from kinetree.records import record

__all__ = ["ANGLES", "Angles", "sincos"]


@record(frozen=True, slots=True)
class Angles:
    """How sine and cosine are computed in one type of numbers."""

    limit: float
    """The largest angle of the fast path: up to here k pi/2 is exact in the three parts."""
    magic: float
    """Adding and then subtracting it rounds to the nearest integer, which it leaves in the low bits."""
    half_pi: tuple[float, float, float]
    """Each rounded down: subtracting zero times a positive number keeps -0.0."""
    sine: tuple[float, ...]
    """(sin r - r) / r³ in powers of r², minimax on [0, (pi/4)²]."""
    cosine: tuple[float, ...]
    """(cos r - 1 + r²/2) / r⁴, likewise."""


ANGLES = {
    F64: Angles(
        limit=1e6,
        magic=1.5 * 2.0**52,
        half_pi=(
            float.fromhex("0x1.921fb54442d18p+0"),
            float.fromhex("0x1.1a62633145c06p-54"),
            float.fromhex("0x1.c1cd129024e08p-107"),
        ),
        sine=(
            -0.16666666666666632,
            0.008333333333322413,
            -0.00019841269829807778,
            2.755731369191555e-06,
            -2.505075811569819e-08,
            1.5896795713489563e-10,
        ),
        cosine=(
            0.0416666666666666,
            -0.0013888888888874125,
            2.480158728948234e-05,
            -2.7557314352372173e-07,
            2.0875723278132235e-09,
            -1.1359648042271599e-11,
        ),
    ),
    F32: Angles(
        limit=1e4,
        magic=1.5 * 2.0**23,
        half_pi=(
            float.fromhex("0x1.921fb4p+0"),
            float.fromhex("0x1.4442d0p-24"),
            float.fromhex("0x1.846988p-48"),
        ),
        sine=(-0.16666654936701328, 0.008332177686620664, -0.0001951723469164859),
        cosine=(0.04166664685493061, -0.001388736692085845, 2.4438380347283053e-05),
    ),
}

# 2/pi in binary, 1280 digits after the point.
_TWO_OVER_PI = (
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921c"
    "fe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980f"
    "ef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d08"
    "56033046fc7b6babf0cfbc209af4361d"
)


def sincos(lanes: Lanes) -> str:
    """Two LLVM functions to call, with bit-identical results for the same angle.

    - `@sincos(angle) -> {sine, cosine}`: for one register of angles.
    - `@sincos_all(ptr angles, ptr pairs, i64 count)`: for `count` registers of angles in a row, at least one, into
      twice as many: sine, cosine, sine, cosine, … A call costs the caller all its registers, and a loop overlaps the
      angles' chains of operations; so angles known in advance, such as a robot's, are cheapest all at once.
    """
    formulas = _Formulas(lanes)
    return _REDUCE_ANY + _exact_angles(lanes) + _one(formulas) + _all(formulas)


class _Formulas:
    """The arithmetic, written once for both functions, so that they agree to the last bit."""

    def __init__(self, lanes: Lanes) -> None:
        self._constants = ANGLES[lanes.precision]
        self.lanes = lanes
        self.bits: int = lanes.precision.bits
        self.bytes: int = lanes.count * lanes.precision.bytes
        self.V, self.B, self.K = lanes.numbers, lanes.flags, lanes.integers
        self.number, self.integer = lanes.number, lanes.integer
        self.limit: str = self.number(self._constants.limit)
        self._fma = f"call {self.V} @llvm.fma.{lanes.suffix}"

    def absolute(self, x: str) -> str:
        return f"call {self.V} @llvm.fabs.{self.lanes.suffix}({self.V} {x})"

    def reduction(self) -> str:
        """`%r_fast` and the number of quarter turns `%k_fast` of `%x`, meaningless beyond the limit."""
        c, V, fma = self._constants, self.V, self._fma
        return f"""\
  %t = {fma}({V} %x, {V} {self.number(2 / math.pi)}, {V} {self.number(c.magic)})
  %k_fast = bitcast {V} %t to {self.K}
  %turns = fsub {V} %t, {self.number(c.magic)}
  %back = fneg {V} %turns
  %r_1 = {fma}({V} %back, {V} {self.number(c.half_pi[0])}, {V} %x)
  %r_2 = {fma}({V} %back, {V} {self.number(c.half_pi[1])}, {V} %r_1)
  %r_fast = {fma}({V} %back, {V} {self.number(c.half_pi[2])}, {V} %r_2)"""

    def evaluation(self, r: str, k: str) -> str:
        """`%sine` and `%cosine` from an angle of at most pi/4 and the number of quarter turns."""
        c, V, B, K, fma = self._constants, self.V, self.B, self.K, self._fma
        sign_bit = self.integer(-(1 << (self.bits - 1)))
        return f"""\
  %z = fmul {V} {r}, {r}
  %rz = fmul {V} {r}, %z
{self._horner("p", c.sine)}
  %s_unsigned = {fma}({V} %rz, {V} %p, {V} {r})          ; of r's sign, but 0.0 for -0.0
  %s_unsigned_bits = bitcast {V} %s_unsigned to {K}
  %r_raw = bitcast {V} {r} to {K}
  %r_sign = and {K} %r_raw, {sign_bit}
  %s_signed_bits = or {K} %s_unsigned_bits, %r_sign
  %s = bitcast {K} %s_signed_bits to {V}
{self._horner("g", c.cosine)}
  %g_1 = {fma}({V} %z, {V} %g, {V} {self.number(-0.5)})
  %c = {fma}({V} %z, {V} %g_1, {V} {self.number(1.0)})
  %odd_top = shl {K} {k}, {self.integer(self.bits - 1)}
  %odd = icmp slt {K} %odd_top, {self.integer(0)}
  %s_swapped = select {B} %odd, {V} %c, {V} %s
  %c_swapped = select {B} %odd, {V} %s, {V} %c
  %second_top = shl {K} {k}, {self.integer(self.bits - 2)}
  %s_sign = and {K} %second_top, {sign_bit}
  %either_top = xor {K} %second_top, %odd_top            ; the second bit of k + 1
  %c_sign = and {K} %either_top, {sign_bit}
  %s_raw = bitcast {V} %s_swapped to {K}
  %c_raw = bitcast {V} %c_swapped to {K}
  %s_bits = xor {K} %s_raw, %s_sign
  %c_bits = xor {K} %c_raw, %c_sign
  %sine = bitcast {K} %s_bits to {V}
  %cosine = bitcast {K} %c_bits to {V}"""

    def _horner(self, name: str, coefficients: tuple[float, ...]) -> str:
        return horner(name, self.V, self._fma, "%z", [*map(self.number, coefficients)])


def _one(f: _Formulas) -> str:
    V, B, K = f.V, f.B, f.K
    return f"""
define internal {{{V}, {V}}} @sincos({V} %x) #1 {{
fast:
{f.reduction()}
  %ax = {f.absolute("%x")}
  %big = fcmp ugt {V} %ax, {f.limit}
  %any = bitcast {B} %big to i{f.lanes.count}
  %is_any = icmp ne i{f.lanes.count} %any, 0
  br i1 %is_any, label %exact, label %both, !prof !0
exact:
  %exact_pair = call {{{V}, {K}}} @exact_angles({V} %x, i{f.lanes.count} %any, {V} %r_fast, {K} %k_fast)
  %r_exact = extractvalue {{{V}, {K}}} %exact_pair, 0
  %k_exact = extractvalue {{{V}, {K}}} %exact_pair, 1
  br label %both
both:
  %r = phi {V} [%r_fast, %fast], [%r_exact, %exact]
  %k = phi {K} [%k_fast, %fast], [%k_exact, %exact]
{f.evaluation("%r", "%k")}
  %half = insertvalue {{{V}, {V}}} poison, {V} %sine, 0
  %pair = insertvalue {{{V}, {V}}} %half, {V} %cosine, 1
  ret {{{V}, {V}}} %pair
}}
!0 = !{{!"branch_weights", i32 1, i32 100000}}
"""


def _all(f: _Formulas) -> str:
    """Recompute all angles one by one if any is large.

    Before that, a large angle's meaningless remainder is set to zero: its powers could overflow and raise a flag.
    """
    V, B, K = f.V, f.B, f.K

    def stores(k: str, sine: str, cosine: str) -> str:
        return f"""\
  {k}_2 = shl i64 {k}, 1
  {k}_s = getelementptr {V}, ptr %pairs, i64 {k}_2
  {k}_c = getelementptr {V}, ptr {k}_s, i64 1
  store {V} {sine}, ptr {k}_s, align {f.bytes}
  store {V} {cosine}, ptr {k}_c, align {f.bytes}
  {k}_next = add i64 {k}, 1
  {k}_done = icmp eq i64 {k}_next, %count"""

    return f"""
define internal void @sincos_all(ptr noalias %angles, ptr noalias %pairs, i64 %count) #1 {{
start:
  br label %fast
fast:
  %n = phi i64 [0, %start], [%n_next, %fast]
  %seen = phi {K} [zeroinitializer, %start], [%seen_next, %fast]
  %x_at = getelementptr {V}, ptr %angles, i64 %n
  %x = load {V}, ptr %x_at, align {f.bytes}
{f.reduction()}
  %ax = {f.absolute("%x")}
  %room = fsub {V} {f.limit}, %ax                        ; negative beyond the limit; what NaN gives is NaN anyway
  %room_bits = bitcast {V} %room to {K}
  %seen_next = or {K} %seen, %room_bits
  %beyond = ashr {K} %room_bits, {f.integer(f.bits - 1)}
  %within = xor {K} %beyond, {f.integer(-1)}
  %r_bits = bitcast {V} %r_fast to {K}
  %r_within = and {K} %r_bits, %within
  %r = bitcast {K} %r_within to {V}
{f.evaluation("%r", "%k_fast")}
{stores("%n", "%sine", "%cosine")}
  br i1 %n_done, label %check, label %fast
check:
  %seen_lanes = icmp slt {K} %seen_next, zeroinitializer
  %any = bitcast {B} %seen_lanes to i{f.lanes.count}
  %is_any = icmp ne i{f.lanes.count} %any, 0
  br i1 %is_any, label %again, label %end, !prof !0
again:
  %m = phi i64 [0, %check], [%m_next, %again]
  %y_at = getelementptr {V}, ptr %angles, i64 %m
  %y = load {V}, ptr %y_at, align {f.bytes}
  %pair = call {{{V}, {V}}} @sincos({V} %y)
  %y_sine = extractvalue {{{V}, {V}}} %pair, 0
  %y_cosine = extractvalue {{{V}, {V}}} %pair, 1
{stores("%m", "%y_sine", "%y_cosine")}
  br i1 %m_done, label %end, label %again
end:
  ret void
}}
"""


def _exact_angles(lanes: Lanes) -> str:
    """Exact angle and quarter turns in lanes with a large angle, the existing values in the others.

    The lanes are bits of a number: without its optimisation LLVM cannot pass a mask of one lane in AVX-512.
    """
    V, K, n = lanes.numbers, lanes.integers, lanes.count
    exact = "\n".join(_exact_lane(lane, lanes) for lane in range(n))
    return f"""
define internal {{{V}, {K}}} @exact_angles({V} %x, i{n} %any, {V} %r_fast, {K} %k_fast) #0 noinline {{
  %big = bitcast i{n} %any to {lanes.flags}
{exact}
  %half = insertvalue {{{V}, {K}}} poison, {V} %rs{n - 1}, 0
  %pair = insertvalue {{{V}, {K}}} %half, {K} %ks{n - 1}, 1
  ret {{{V}, {K}}} %pair
}}
"""


def _exact_lane(lane: int, lanes: Lanes) -> str:
    """Put the exactly reduced angle into a lane if its angle is large."""
    t, i, is_double = lanes.precision.type, lanes.precision.integer, lanes.precision is F64
    widen = "fadd double %x{0}, 0.0" if is_double else "fpext float %x{0} to double"
    narrow_r = "fadd double %er{0}, 0.0" if is_double else "fptrunc double %er{0} to float"
    narrow_k = "add i64 %ek{0}, 0" if is_double else "trunc i64 %ek{0} to i32"
    r_before, k_before = (f"%rs{lane - 1}", f"%ks{lane - 1}") if lane else ("poison", "poison")
    return f"""\
  %x{lane} = {lanes.of("%x", lane, t)}
  %w{lane} = {widen.format(lane)}
  %e{lane} = call {{double, i64}} @reduce_angle(double %w{lane})
  %er{lane} = extractvalue {{double, i64}} %e{lane}, 0
  %ek{lane} = extractvalue {{double, i64}} %e{lane}, 1
  %tr{lane} = {narrow_r.format(lane)}
  %tk{lane} = {narrow_k.format(lane)}
  %b{lane} = {lanes.of("%big", lane, "i1")}
  %fr{lane} = {lanes.of("%r_fast", lane, t)}
  %fk{lane} = {lanes.of("%k_fast", lane, i)}
  %r{lane} = select i1 %b{lane}, {t} %tr{lane}, {t} %fr{lane}
  %k{lane} = select i1 %b{lane}, {i} %tk{lane}, {i} %fk{lane}
  %rs{lane} = {lanes.with_lane(r_before, lane, t, f"%r{lane}")}
  %ks{lane} = {lanes.with_lane(k_before, lane, i, f"%k{lane}")}"""


def _table() -> str:
    """The digits of 2/pi in words, least significant first, with zero words above the point."""
    digits = "0" * 32 + _TWO_OVER_PI
    words = [f"i64 {int(digits[k : k + 16], 16)}" for k in range(0, len(digits), 16)]
    return f"[{len(words)} x i64] [{', '.join(words)}]"


# x = m 2^e with a 53-bit integer m. Digits of 2/pi with a weight of 4 or more in x give whole turns and are left out:
# of the product of m and the next 192 digits, the top two are the quadrant and the rest is the fraction.
_REDUCE_ANY = f"""
@two_over_pi = internal unnamed_addr constant {_table()}

define internal {{double, i64}} @reduce_angle(double %x) noinline {{
start:
  %bits = bitcast double %x to i64
  %e_raw = lshr i64 %bits, 52
  %e_field = and i64 %e_raw, 2047
  %finite = icmp ne i64 %e_field, 2047
  %large = icmp ugt i64 %e_field, 1040
  br i1 %finite, label %is_finite, label %nan
nan:
  ret {{double, i64}} {{double 0x7FF8000000000000, i64 0}}
is_finite:
  br i1 %large, label %multiply, label %small
small:
  %t = fmul double %x, {F64.literal(2 / math.pi)}
  %t_up = fadd double %t, {F64.literal(1.5 * 2.0**52)}
  %turns = fsub double %t_up, {F64.literal(1.5 * 2.0**52)}
  %k_small = bitcast double %t_up to i64
  %back = fneg double %turns
  %r_1 = call double @llvm.fma.f64(double %back, double {F64.literal(ANGLES[F64].half_pi[0])}, double %x)
  %r_2 = call double @llvm.fma.f64(double %back, double {F64.literal(ANGLES[F64].half_pi[1])}, double %r_1)
  %r_3 = call double @llvm.fma.f64(double %back, double {F64.literal(ANGLES[F64].half_pi[2])}, double %r_2)
  %small_half = insertvalue {{double, i64}} poison, double %r_3, 0
  %small_pair = insertvalue {{double, i64}} %small_half, i64 %k_small, 1
  ret {{double, i64}} %small_pair
multiply:
  %m_low = and i64 %bits, 4503599627370495
  %m = or i64 %m_low, 4503599627370496
  %shift = sub i64 %e_field, 949                       ; 128 leading zeros + e - 2, where e = field - 1075
  %word = lshr i64 %shift, 6
  %bit = and i64 %shift, 63
  %p0 = getelementptr i64, ptr @two_over_pi, i64 %word
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %a0 = load i64, ptr %p0
  %a1 = load i64, ptr %p1
  %a2 = load i64, ptr %p2
  %a3 = load i64, ptr %p3
  %w0 = call i64 @llvm.fshl.i64(i64 %a0, i64 %a1, i64 %bit)
  %w1 = call i64 @llvm.fshl.i64(i64 %a1, i64 %a2, i64 %bit)
  %w2 = call i64 @llvm.fshl.i64(i64 %a2, i64 %a3, i64 %bit)
  %m_w = zext i64 %m to i128
  %w1_w = zext i64 %w1 to i128
  %w2_w = zext i64 %w2 to i128
  %high_word = mul i64 %m, %w0
  %middle = mul i128 %m_w, %w1_w
  %low = mul i128 %m_w, %w2_w
  %low_carry = lshr i128 %low, 64
  %high_w = zext i64 %high_word to i128
  %high = shl i128 %high_w, 64
  %sum = add i128 %middle, %low_carry
  %turn = add i128 %high, %sum                          ; x 2/pi modulo 4, times 2^126
  %rounded = add i128 %turn, {1 << 125}
  %k_w = lshr i128 %rounded, 126
  %k = trunc i128 %k_w to i64
  %f2 = shl i128 %turn, 2
  %f = ashr i128 %f2, 2                                 ; the signed fraction, times 2^126
  %f_sign = icmp slt i128 %f, 0
  %f_minus = sub i128 0, %f
  %f_abs = select i1 %f_sign, i128 %f_minus, i128 %f
  %zeros = call i128 @llvm.ctlz.i128(i128 %f_abs, i1 false)
  %f_norm = shl i128 %f_abs, %zeros
  %f_top_w = lshr i128 %f_norm, 65                      ; 63 bits: positive as a signed word
  %f_top = trunc i128 %f_top_w to i64
  %f_float = sitofp i64 %f_top to double
  %zeros_64 = trunc i128 %zeros to i64
  %scale_e = sub i64 962, %zeros_64                     ; 2^(65 - zeros - 126)
  %scale_bits = shl i64 %scale_e, 52
  %scale = bitcast i64 %scale_bits to double
  %fraction = fmul double %f_float, %scale
  %r_abs = fmul double %fraction, {F64.literal(math.pi / 2)}
  %x_sign = icmp slt i64 %bits, 0
  %flip = xor i1 %f_sign, %x_sign
  %r_minus = fneg double %r_abs
  %r = select i1 %flip, double %r_minus, double %r_abs
  %k_minus = sub i64 0, %k
  %k_signed = select i1 %x_sign, i64 %k_minus, i64 %k
  %half = insertvalue {{double, i64}} poison, double %r, 0
  %pair = insertvalue {{double, i64}} %half, i64 %k_signed, 1
  ret {{double, i64}} %pair
}}
declare i64 @llvm.fshl.i64(i64, i64, i64)
declare i128 @llvm.ctlz.i128(i128, i1)
"""

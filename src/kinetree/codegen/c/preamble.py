"""The beginning of a file, before its functions: the macros by which they call the C library, and sine with cosine.

Each may have been defined before as something else. Where the processor fuses multiply-adds, sine and cosine are those
of `codegen/llvm/elementary.py`, to the last bit; elsewhere, and for huge angles, they are the C library's.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from kinetree.codegen.c.operations import ANGLES as OF_ANGLES
from kinetree.codegen.c.operations import LIBRARY
from kinetree.codegen.c.real import Real
from kinetree.codegen.llvm.elementary import ANGLES
from kinetree.codegen.llvm.precision import F32, F64
from kinetree.expr import philox

__all__ = ["preamble"]

_FUSES = {
    "": "defined(FP_FAST_FMA) || defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__)",
    "f": "defined(FP_FAST_FMAF) || defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA) \\\n"
    "    || defined(__aarch64__)",
}
"""Whether the processor multiplies and adds in one instruction, for each type of numbers."""


def preamble(macros: Collection[str], real: Real) -> str:
    """The text for these macros."""
    end, used = real.suffix.upper(), set(macros)
    parts = [
        "#include <math.h>\n#include <stdint.h>\n",
        "#if !defined(__GNUC__) || defined(__clang__) /* GCC does not know it */\n"
        "#pragma STDC FP_CONTRACT OFF\n#endif\n",
    ]
    lone = [name for name in OF_ANGLES.values() if f"KT_{name}{end}" in used]
    has_angles = bool(lone) or f"KT_SINCOS{end}" in used
    if has_angles:
        used |= {f"KT_FMA{end}", _macro("fabs", real)}
    if f"KT_FMA{end}" in used:
        parts.append(_MULTIPLY_ADD.format(end=end, f=real.suffix, fuses=_FUSES[real.suffix]))
    if has_angles:
        parts.append(_OWN.format(end=end) + "".join(_defined(name, real) for name in ("sin", "cos")))
    parts += [_defined(name, real) for name in LIBRARY.values() if _macro(name, real) in used]
    if has_angles:
        both = _sine_and_cosine(real)
        parts.append(both if f"KT_SINCOS{end}" in used else f"#ifdef KT_OWN_SINCOS{end}\n{both}#endif\n")
    parts += [_LONE.format(end=end, name=name, library=name[:3], f=real.suffix, part=name.lower()) for name in lone]
    if f"KT_PHILOX{end}" in used:
        parts.append(_random_numbers(real))
    return "\n".join(parts)


def _macro(name: str, real: Real) -> str:
    return f"KT_{name}{real.suffix}".upper()


def _defined(name: str, real: Real) -> str:
    """The macro of a function of the C library."""
    macro, x = _macro(name, real), ("y", "x") if name == "atan2" else ("x",)
    call = f"{name}{real.suffix}({', '.join(f'({a})' for a in x)})"
    return f"#ifndef {macro}\n#define {macro}({', '.join(x)}) {call}\n#endif\n"


_OWN = """\
#if defined(KT_FUSED{end}) && !defined(KT_SIN{end}) && !defined(KT_COS{end})
#define KT_OWN_SINCOS{end}
#endif
"""
_LONE = """\
#ifndef KT_{name}{end}
#ifdef KT_OWN_SINCOS{end}
#define KT_{name}{end}(x) (kt_sincos{f}((x)).{part})
#else
#define KT_{name}{end}(x) KT_{library}{end}((x))
#endif
#endif
"""
"""One of the two alone."""
_MULTIPLY_ADD = """\
#ifndef KT_FMA{end} /* a * b + c, rounded once where the processor does that */
#if {fuses}
#define KT_FUSED{end}
#define KT_FMA{end}(a, b, c) fma{f}((a), (b), (c))
#else
#define KT_FMA{end}(a, b, c) (((a) * (b)) + (c))
#endif
#endif
"""


def _sine_and_cosine(real: Real) -> str:
    c, end = ANGLES[F32 if real.suffix else F64], real.suffix.upper()

    def horner(name: str, coefficients: Sequence[float]) -> list[str]:
        *rest, last = map(real.literal, coefficients)
        steps = [f"{name} = KT_FMA{end}(z, {name}, {x});" for x in reversed(rest)]
        return [f"{real.type} {name} = {last};", *steps]

    reduced = [f"r = KT_FMA{end}(-turns, {real.literal(x)}, r);" for x in c.half_pi]
    return _SINE_AND_COSINE.format(
        end=end,
        f=real.suffix,
        type=real.type,
        limit=real.literal(c.limit),
        two_over_pi=real.literal(2 / math.pi),
        magic=real.literal(c.magic),
        reduced="\n        ".join(reduced),
        polynomials="\n        ".join([*horner("p", c.sine), *horner("g", c.cosine)]),
        minus_half=real.literal(-0.5),
        one=real.literal(1.0),
        zero=real.literal(0.0),
    )


_SINE_AND_COSINE = """\
#ifndef KT_SINCOS{end}
typedef struct {{
    {type} sine;
    {type} cosine;
}} kt_angle{f};

static inline kt_angle{f} kt_sincos{f}({type} x)
{{
    kt_angle{f} found;
#ifdef KT_OWN_SINCOS{end}
    if (KT_FABS{end}(x) <= {limit}) {{
        const {type} t = KT_FMA{end}(x, {two_over_pi}, {magic}); /* rounds to quarter turns */
        const {type} turns = t - {magic};
        const uint32_t quarter = (uint32_t)(int32_t)turns;
        {type} r = x;
        {reduced}
        const {type} z = r * r;
        {polynomials}
        const {type} s = (r == {zero}) ? r : KT_FMA{end}(r * z, p, r);
        const {type} c = KT_FMA{end}(z, KT_FMA{end}(z, g, {minus_half}), {one});
        const {type} a = ((quarter & 1U) != 0U) ? c : s;
        const {type} b = ((quarter & 1U) != 0U) ? s : c;
        found.sine = ((quarter & 2U) != 0U) ? -a : a;
        found.cosine = (((quarter + 1U) & 2U) != 0U) ? -b : b;
        return found;
    }}
#endif
    found.sine = KT_SIN{end}(x);
    found.cosine = KT_COS{end}(x);
    return found;
}}
#define KT_SINCOS{end}(x) kt_sincos{f}((x))
#endif
"""


def _random_numbers(real: Real) -> str:
    digits = 24 if real.suffix else 53
    return _RANDOM_NUMBERS.format(
        end=real.suffix.upper(),
        f=real.suffix,
        type=real.type,
        most=real.literal(2.0**digits),
        rounds=philox.ROUNDS,
        factors=[f"{x:#x}U" for x in philox.FACTORS],
        increments=[f"{x:#x}U" for x in philox.INCREMENTS],
        dropped=64 - digits,
        unit=real.literal(2.0**-digits),
        zero=real.literal(0.0),
        nan=real.literal(math.nan),
    )


_RANDOM_NUMBERS = """\
#ifndef KT_PHILOX{end} /* Philox4x64-10: four numbers in [0, 1) of a key and a counter, NaN if these are not whole */
typedef struct {{
    {type} word[4];
}} kt_block{f};

#ifndef KT_PRODUCT
#define KT_PRODUCT
static inline uint64_t kt_product(uint64_t a, uint64_t b, uint64_t *low) /* returns the high word of a * b */
{{
    const uint64_t below = 0xffffffffU;
    const uint64_t both = (a & below) * (b & below);
    const uint64_t middle = ((a >> 32) * (b & below)) + (both >> 32);
    const uint64_t other = ((a & below) * (b >> 32)) + (middle & below);
    *low = (other << 32) | (both & below);
    return ((a >> 32) * (b >> 32)) + (middle >> 32) + (other >> 32);
}}
#endif

static inline kt_block{f} kt_philox{f}({type} k0, {type} k1, {type} c0, {type} c1, {type} c2, {type} c3)
{{
    const {type} given[6] = {{k0, k1, c0, c1, c2, c3}};
    uint64_t x[6];
    int32_t whole = 1;
    kt_block{f} found;
    for (int32_t i = 0; i < 6; ++i) {{
        const int32_t within = (given[i] >= {zero}) && (given[i] < {most});
        x[i] = (within != 0) ? (uint64_t)given[i] : 0U;
        whole = (whole != 0) && (({type})x[i] == given[i]);
    }}
    for (int32_t i = 0; i < {rounds}; ++i) {{
        uint64_t low = 0U;
        uint64_t low_2 = 0U;
        const uint64_t high = kt_product(x[2], {factors[0]}, &low);
        const uint64_t high_2 = kt_product(x[4], {factors[1]}, &low_2);
        x[2] = high_2 ^ x[3] ^ x[0];
        x[3] = low_2;
        x[4] = high ^ x[5] ^ x[1];
        x[5] = low;
        x[0] += {increments[0]};
        x[1] += {increments[1]};
    }}
    for (int32_t i = 0; i < 4; ++i) {{
        found.word[i] = (whole != 0) ? ({type})(x[i + 2] >> {dropped}) * {unit} : {nan};
    }}
    return found;
}}
#define KT_PHILOX{end}(k0, k1, c0, c1, c2, c3) kt_philox{f}((k0), (k1), (c0), (c1), (c2), (c3))
#endif
"""

"""Philox4x64-10 across lanes, in LLVM IR: the four random numbers of a key and a counter (`expr/philox.py`).

Words come and go as whole numbers in floats. Several lanes multiply halves of 32 bits, as vectors can; one lane takes
the processor's product of 128 bits. A lane's result never depends on its neighbours.
"""

from __future__ import annotations

import math
import struct

from kinetree.codegen.llvm.precision import F64, Lanes
from kinetree.expr.philox import FACTORS, INCREMENTS, MOST, ROUNDS

__all__ = ["philox"]

_STEPS, _WHOLE = 2.0**84, 1.5 * 2.0**52
"""Adding one of them rounds to a multiple of 2³², or to a whole number, which it leaves in the low bits."""


def philox(lanes: Lanes) -> str:
    """An LLVM function to call, `@philox(k0, k1, c0, c1, c2, c3)`, of registers, whose result is four of them."""
    V, W, n = lanes.numbers, _words(lanes), range(6)
    result = "{" + ", ".join([V] * 4) + "}"
    key = [f"{W} [%w{k}, %start], [%k{k}_next, %round]" for k in range(2)]
    counter = [f"{W} [%w{k + 2}, %start], [%c{k}_next, %round]" for k in range(4)]
    lines = [
        f"define internal {result} @philox({', '.join(f'{V} %x{k}' for k in n)}) #0 noinline {{",
        "start:",
        *(line for k in n for line in _read(lanes, k)),
        *_all_of(lanes, [f"%ok{k}" for k in n]),
        "  br label %round",
        "round:",
        "  %n = phi i64 [0, %start], [%n_next, %round]",
        *(f"  %k{k} = phi {phi}" for k, phi in enumerate(key)),
        *(f"  %c{k} = phi {phi}" for k, phi in enumerate(counter)),
        *_product(lanes, "%c0", FACTORS[0], "a"),
        *_product(lanes, "%c2", FACTORS[1], "b"),
        f"  %c0_key = xor {W} %c1, %k0",
        f"  %c0_next = xor {W} %b_high, %c0_key",
        f"  %c1_next = add {W} %b_low, {_word(lanes, 0)}",
        f"  %c2_key = xor {W} %c3, %k1",
        f"  %c2_next = xor {W} %a_high, %c2_key",
        f"  %c3_next = add {W} %a_low, {_word(lanes, 0)}",
        *(f"  %k{k}_next = add {W} %k{k}, {_word(lanes, step)}" for k, step in enumerate(INCREMENTS)),
        "  %n_next = add i64 %n, 1",
        f"  %more = icmp ne i64 %n_next, {ROUNDS}",
        "  br i1 %more, label %round, label %end",
        "end:",
        *(line for k in range(4) for line in _written(lanes, k)),
    ]
    total = "poison"
    for k in range(4):
        lines.append(f"  %block{k} = insertvalue {result} {total}, {V} %u{k}, {k}")
        total = f"%block{k}"
    return "\n".join([*lines, f"  ret {result} {total}", "}\n"])


def _words(lanes: Lanes) -> str:
    return Lanes(lanes.count, F64).integers


def _word(lanes: Lanes, x: int) -> str:
    return Lanes(lanes.count, F64).integer(x)


def _bits(x: float) -> int:
    return int.from_bytes(struct.pack(">d", x))


def _read(lanes: Lanes, k: int) -> list[str]:
    """`%w` of a number `%x`, and whether it is one: others are taken as 0, so that they raise no flags."""
    V, W, B, K, number = lanes.numbers, _words(lanes), lanes.flags, lanes.integers, lanes.number
    is_double = lanes.precision is F64
    most = _bits(MOST) if is_double else int.from_bytes(struct.pack(">f", 2.0**24))
    lines = [
        f"  %p{k} = fadd {V} %x{k}, {number(0.0)}  ; 0.0 for -0.0",
        f"  %bits{k} = bitcast {V} %p{k} to {K}",
        f"  %in{k} = icmp ult {K} %bits{k}, {lanes.integer(most)}",
        f"  %y{k} = select {B} %in{k}, {V} %p{k}, {V} {number(0.0)}",
    ]
    if is_double:
        lines += [
            f"  %t{k} = fadd {V} %y{k}, {number(_STEPS)}",
            f"  %t{k}_bits = bitcast {V} %t{k} to {W}",
            f"  %high{k} = shl {W} %t{k}_bits, {_word(lanes, 32)}",  # the bits of 2**84 itself are shifted out
            f"  %t{k}_back = fsub {V} %t{k}, {number(_STEPS)}",
            f"  %rest{k} = fsub {V} %y{k}, %t{k}_back",
            f"  %s{k} = fadd {V} %rest{k}, {number(_WHOLE)}",
            f"  %s{k}_bits = bitcast {V} %s{k} to {W}",
            f"  %low{k} = sub {W} %s{k}_bits, {_word(lanes, _bits(_WHOLE))}",
            f"  %w{k} = add {W} %high{k}, %low{k}",
            f"  %s{k}_back = fsub {V} %s{k}, {number(_WHOLE)}",
            f"  %whole{k} = fcmp oeq {V} %s{k}_back, %rest{k}",
        ]
    else:
        lines += [
            f"  %i{k} = fptosi {V} %y{k} to {K}",
            f"  %w{k} = zext {K} %i{k} to {W}",
            f"  %i{k}_back = sitofp {K} %i{k} to {V}",
            f"  %whole{k} = fcmp oeq {V} %i{k}_back, %y{k}",
        ]
    return [*lines, f"  %ok{k} = and {B} %in{k}, %whole{k}"]


def _all_of(lanes: Lanes, flags: list[str]) -> list[str]:
    lines, total = [], flags[0]
    for k, flag in enumerate(flags[1:], 1):
        lines.append(f"  %all{k} = and {lanes.flags} {total}, {flag}")
        total = f"%all{k}"
    return lines


def _product(lanes: Lanes, x: str, factor: int, name: str) -> list[str]:
    """The `_high` and the `_low` word of a product with a constant."""
    W = _words(lanes)
    if lanes.count == 1:
        return [
            f"  %{name}_wide = zext i64 {x} to i128",
            f"  %{name}_whole = mul i128 %{name}_wide, {factor}",
            f"  %{name}_top = lshr i128 %{name}_whole, 64",
            f"  %{name}_high = trunc i128 %{name}_top to i64",
            f"  %{name}_low = trunc i128 %{name}_whole to i64",
        ]
    half, lower = _word(lanes, 32), _word(lanes, 0xFFFFFFFF)
    top, bottom = _word(lanes, factor >> 32), _word(lanes, factor & 0xFFFFFFFF)
    return [
        f"  %{name}_h = lshr {W} {x}, {half}",
        f"  %{name}_l = and {W} {x}, {lower}",
        f"  %{name}_ll = mul {W} %{name}_l, {bottom}",
        f"  %{name}_hl = mul {W} %{name}_h, {bottom}",
        f"  %{name}_lh = mul {W} %{name}_l, {top}",
        f"  %{name}_hh = mul {W} %{name}_h, {top}",
        f"  %{name}_ll_h = lshr {W} %{name}_ll, {half}",
        f"  %{name}_m = add {W} %{name}_hl, %{name}_ll_h",
        f"  %{name}_m_h = lshr {W} %{name}_m, {half}",
        f"  %{name}_m_l = and {W} %{name}_m, {lower}",
        f"  %{name}_o = add {W} %{name}_lh, %{name}_m_l",
        f"  %{name}_o_h = lshr {W} %{name}_o, {half}",
        f"  %{name}_sum = add {W} %{name}_hh, %{name}_m_h",
        f"  %{name}_high = add {W} %{name}_sum, %{name}_o_h",
        f"  %{name}_o_l = shl {W} %{name}_o, {half}",
        f"  %{name}_ll_l = and {W} %{name}_ll, {lower}",
        f"  %{name}_low = or {W} %{name}_o_l, %{name}_ll_l",
    ]


def _written(lanes: Lanes, k: int) -> list[str]:
    """`%u` in [0, 1) of a word: its first 53 bits, 24 in single precision.

    No vector of whole numbers of 64 bits becomes doubles in one instruction everywhere: the first 21 bits are those of
    a number above 2³¹, the others those of one above 1/2.
    """
    V, W, K = lanes.numbers, _words(lanes), lanes.integers
    if lanes.precision is F64:
        lines = [
            f"  %top{k} = lshr {W} %c{k}_next, {_word(lanes, 43)}",
            f"  %top{k}_bits = or {W} %top{k}, {_word(lanes, _bits(2.0**31))}",
            f"  %top{k}_above = bitcast {W} %top{k}_bits to {V}",
            f"  %top{k}_number = fsub {V} %top{k}_above, {lanes.number(2.0**31 + 0.5)}",
            f"  %end{k} = lshr {W} %c{k}_next, {_word(lanes, 11)}",
            f"  %end{k}_low = and {W} %end{k}, {_word(lanes, 0xFFFFFFFF)}",
            f"  %end{k}_bits = or {W} %end{k}_low, {_word(lanes, _bits(0.5))}",
            f"  %end{k}_number = bitcast {W} %end{k}_bits to {V}",
            f"  %part{k} = fadd {V} %top{k}_number, %end{k}_number",
        ]
    else:
        lines = [
            f"  %top{k} = lshr {W} %c{k}_next, {_word(lanes, 40)}",
            f"  %short{k} = trunc {W} %top{k} to {K}",
            f"  %whole_short{k} = sitofp {K} %short{k} to {V}",
            f"  %part{k} = fmul {V} %whole_short{k}, {lanes.number(2.0**-24)}",
        ]
    return [*lines, f"  %u{k} = select {lanes.flags} %all5, {V} %part{k}, {V} {lanes.number(math.nan)}"]

"""Every row of the table of operations, compiled, against what the row says: to the bit where both round once."""

from __future__ import annotations

import dataclasses
import itertools
import math
import struct

import numpy as np
import pytest

from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F32, F64, Precision, whole_numbers
from kinetree.codegen.llvm.target import Target, host
from kinetree.expr import OPS, PHILOX, Block, Instruction, Port, Program, functions, interpret, trace

VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, 3.75, -2.25, math.inf, -math.inf, math.nan]
EXTREME = {
    F64: [5e-324, -1e-310, 2.0**-1022, 1.7976931348623157e308, -1e300],
    F32: [2.0**-149, -(2.0**-130), 2.0**-126, 3.4028234663852886e38, -(2.0**126)],
}
INEXACT = {"sin": 1.5, "cos": 1.5, "atan2": 1.5, "exp": 1.5, "tanh": 2.5}
"""Operations that are right to so many units of the last place."""
PRECISIONS = pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])


def single(op: str) -> Program:
    """The program of one operation on the inputs."""
    arity = OPS[op].arity
    return Program(
        op, (Port("x", (arity,)),), (Port("y", ()),), Block((Instruction(op, tuple(range(arity)), arity),)), (arity,)
    )


def meant(op: str, row: list[float], precision: Precision) -> float:
    result = OPS[op].evaluate(*row)
    if op in PHILOX and precision is F32:  # not rounded, which could give 1
        return result if math.isnan(result) else math.floor(result * 2.0**24) * 2.0**-24
    if precision is F64 or not math.isfinite(result):
        return result
    try:
        return float(struct.unpack("f", struct.pack("f", result))[0])
    except OverflowError:
        return math.copysign(math.inf, result)


def rows(op: str, precision: Precision) -> np.ndarray:
    arity = OPS[op].arity
    if arity > 3:
        return np.array(list(itertools.product([-0.0, 5.0, math.inf, 0.5], repeat=arity)), np.dtype(precision.char))
    values = VALUES + (EXTREME[precision] if arity < 3 else EXTREME[precision][::3])
    return np.array(list(itertools.product(values, repeat=arity)), np.dtype(precision.char))


@PRECISIONS
@pytest.mark.parametrize("op", OPS)
def test_every_operation_does_what_its_row_says(op: str, precision: Precision) -> None:
    x = rows(op, precision)
    with np.errstate(all="ignore"):
        y = batch_function(single(op), precision)(x)
    expected = np.array([meant(op, row, precision) for row in x.astype(float).tolist()])
    is_number = ~np.isnan(expected)
    assert (np.isnan(y) == ~is_number).all()
    if op in INEXACT:
        rtol = INEXACT[op] * (2.0**-52 if precision is F64 else 2.0**-23)
        np.testing.assert_allclose(y[is_number], expected[is_number], rtol=rtol, atol=0)
    else:
        assert (y[is_number] == expected[is_number]).all()
    assert (np.signbit(y[is_number]) == np.signbit(expected[is_number])).all()


@pytest.mark.parametrize("op", [op for op in OPS if hasattr(functions, op)])
def test_functions_of_numbers_keep_the_sign_of_zero(op: str) -> None:
    """The reference: sin(-0.0) is -0.0, and atan2(-0.0, -1.0) is -π, not π."""
    for row in rows(op, F64).tolist():
        expected, found = OPS[op].evaluate(*row), getattr(functions, op)(*row)
        assert struct.pack("d", found) == struct.pack("d", expected) or (math.isnan(found) and math.isnan(expected))


@PRECISIONS
@pytest.mark.parametrize("bits", [128, 256, 512])
def test_constants_reach_every_lane_on_every_width(bits: int, precision: Precision) -> None:
    constants = [0.1, -0.0, math.pi, 1e-30, math.inf, 0.1]
    statements = tuple(Instruction("mul", (0, c), k) for k, c in enumerate(constants, 1))
    program = Program(
        "scaled",
        (Port("x", ()),),
        (Port("y", (8,)),),
        Block(statements),
        (*range(1, 7), 0.25, 0),
    )
    target = dataclasses.replace(host(), vector_bits=bits)
    x = np.linspace(0.5, 3.0, 21).astype(np.dtype(precision.char))
    y = batch_function(program, precision, target)(x)
    numbers = np.array(constants, x.dtype)
    assert (y[:, :6] == x[:, None] * numbers).all()
    assert (np.signbit(y[:, 1])).all()
    assert (y[:, 6] == 0.25).all()
    assert (y[:, 7] == x).all()


def test_the_sine_of_a_constant_is_not_that_of_a_value_with_its_name() -> None:
    body = Block((Instruction("sin", (1,), 2), Instruction("sin", (1.0,), 3), Instruction("cos", (1,), 4)))
    program = Program("f", (Port("x", (2,)),), (Port("y", (3,)),), body, (2, 3, 4))
    x = [0.25, 0.5]
    np.testing.assert_allclose(batch_function(program)(x), interpret(program, x)[0], rtol=4e-16)


def test_a_single_beyond_the_range_of_its_constant_saturates() -> None:
    line = Block((Instruction("min", (0, 1e300), 1),))
    program = Program("f", (Port("x", ()),), (Port("y", (2,)),), line, (1, -1e300))
    y = batch_function(program, F32)(np.float32(2.0))
    assert y.tolist() == [2.0, -math.inf]


x86 = pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="runs x86 code of narrower processors")


@x86
@PRECISIONS
@pytest.mark.parametrize("op", OPS)
def test_every_operation_means_the_same_without_avx_and_fma(op: str, precision: Precision) -> None:
    slim = dataclasses.replace(host(), cpu="x86-64", features="", vector_bits=128, fma=False)
    # Away from where a * b + c cancels: there two roundings differ from one.
    x = np.random.default_rng(5).uniform(0.5, 4.0, size=(9, OPS[op].arity)).astype(np.dtype(precision.char))
    if op in PHILOX:
        x = np.floor(1e4 * x)
    y = batch_function(single(op), precision, slim)(x)
    expected = [meant(op, row, precision) for row in x.astype(float).tolist()]
    epsilon = 2.0**-52 if precision is F64 else 2.0**-23
    np.testing.assert_allclose(y, expected, rtol=2 * epsilon, atol=20 * epsilon if op in ("fms", "fnma") else 0.0)


@x86
@PRECISIONS
def test_rounding_down_is_the_same_bits_without_an_instruction_for_it(precision: Precision) -> None:
    slim = Target(host().triple, "x86-64", "", 128, False)
    assert not slim.rounds
    near = np.array([2.0**k + d for k in (0, 22, 23, 24, 51, 52, 53) for d in (-1.0, -0.5, 0.0, 0.5)])
    x = np.concatenate([rows("floor", precision)[:, 0], near, -near, [0.49999999999999994]]).astype(precision.char)
    with np.errstate(all="ignore"):
        y = batch_function(single("floor"), precision, slim)(x[:, None])
    np.testing.assert_array_equal(y, np.floor(x))
    np.testing.assert_array_equal(np.signbit(y), np.signbit(np.floor(x)))


@x86
@PRECISIONS
def test_sine_and_cosine_are_the_same_bits_on_any_x86(precision: Precision) -> None:
    """Their multiply-adds round once everywhere, in software where the processor has none."""
    slim = Target(host().triple, "x86-64", "", 128, False)
    rng = np.random.default_rng(6)
    x = np.concatenate([rng.normal(scale=s, size=40) for s in (1.0, 1e3, 1e9, 1e30)]).astype(precision.char)
    for op in ("sin", "cos"):
        narrow = batch_function(single(op), precision, slim)
        assert (narrow(x[:, None]) == batch_function(single(op), precision)(x[:, None])).all()


GUARDED = {
    "x / where(y == 0, 1, y)": (lambda x, y: x / functions.select(functions.equal(y, 0.0), 1.0, y), (0.0, 0.0)),
    "x where(y <= 0, y, 1)": (lambda x, y: x * functions.select(functions.less_equal(y, 0.0), y, 1.0), (0.0, math.inf)),
    "x - where(y == inf, 0, y)": (
        lambda x, y: x - functions.select(functions.equal(y, math.inf), 0.0, y), (math.inf, math.inf)
    ),
}  # fmt: skip


@PRECISIONS
@pytest.mark.parametrize("guarded", GUARDED)
def test_what_is_not_chosen_raises_no_flag(guarded: str, precision: Precision) -> None:
    """A number that is replaced by a neutral one where an operation would be invalid."""
    function, values = GUARDED[guarded]
    program = trace(lambda x: [[function(*x)]], [Port("x", (2,))], [Port("y", ())], "guarded")
    with np.errstate(all="raise"):
        found = batch_function(program, precision)(np.array([values] * 9, precision.char))
    assert (found == np.float64(values[0])).all()


@pytest.mark.parametrize(("number", "bits"), [(127, 8), (-128, 8), (128, 16), (-32_769, 32), (2**31 - 1, 32)])
def test_a_table_of_whole_numbers_takes_the_bits_that_they_need(number: int, bits: int) -> None:
    taken, text = whole_numbers([3, number, 0])
    assert taken == bits
    data = bytes.fromhex(text.split('"')[1].replace("\\", ""))
    assert np.frombuffer(data, f"i{bits // 8}").tolist() == [3, number, 0]


def test_a_table_of_single_numbers_is_rounded_and_may_be_infinite() -> None:
    data = bytes.fromhex(F32.table([0.1, -1e300, 0.0]).split('"')[1].replace("\\", ""))
    assert np.frombuffer(data, "f4").tolist() == [np.float32(0.1), -np.inf, 0.0]

"""Random numbers in machine code and in C are those of NumPy's Philox, to the bit, at any width and in any place."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from kinetree.codegen.c.function import FunctionWriter
from kinetree.codegen.c.real import REALS
from kinetree.codegen.c.unit import texts
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F32, F64, Precision
from kinetree.codegen.llvm.target import Target, host
from kinetree.codegen.ptx.backend import assembly, gpu, module
from kinetree.expr import Port, Program, Symbol, forward_derivative, interpret, random_words, trace
from tests.c_code import STRICT, called, library, needs

PRECISIONS = pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])


def blocks(count: int = 1) -> Program:
    """The words of blocks that follow each other; of them the last one, for which the counter grows by one."""

    def words(x: list[Symbol]) -> list[list[Symbol]]:
        return [[word(x[0], x[1], x[2] + float(n), *x[3:]) for n in range(count) for word in random_words]]

    return trace(words, [Port("x", (6,))], [Port("y", (4 * count,))], "blocks")


def keys(precision: Precision, count: int = 203) -> np.ndarray:
    """Keys and counters from the smallest to the largest."""
    rng = np.random.default_rng(0)
    most = 2 ** rng.integers(1, 54 if precision is F64 else 25, size=(count, 6))
    x = rng.integers(0, most).astype(precision.char)
    x[0], x[1] = 0.0, most.max() - 1
    return x


def of_numpy(row: list[int], precision: Precision) -> list[float]:
    k0, k1, *counter = row
    number = sum(word << (64 * k) for k, word in enumerate(counter))
    before = [(number - 1 >> (64 * k)) & (2**64 - 1) for k in range(4)]  # NumPy counts up before its first block
    digits = 53 if precision is F64 else 24
    raw = np.random.Philox(key=np.array([k0, k1], np.uint64), counter=np.array(before, np.uint64)).random_raw(4)
    return [(word >> (64 - digits)) * 2.0**-digits for word in raw.tolist()]


@PRECISIONS
@pytest.mark.parametrize("bits", [64, 128, 256, 512])
def test_words_are_those_of_numpy_on_every_width(bits: int, precision: Precision) -> None:
    x = keys(precision)
    target = dataclasses.replace(host(), vector_bits=bits)
    expected = [of_numpy(row, precision) for row in x.astype(np.int64).tolist()]
    found = batch_function(blocks(), precision, target)(x)
    np.testing.assert_array_equal(found, expected)
    if precision is F64:
        assert [interpret(blocks(), row)[0] for row in x.tolist()] == expected


@PRECISIONS
@pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="runs x86 code of narrower processors")
def test_words_are_those_of_numpy_on_the_oldest_processor(precision: Precision) -> None:
    x = keys(precision)
    found = batch_function(blocks(), precision, Target(host().triple, "x86-64", "", 128, False))(x)
    np.testing.assert_array_equal(found, [of_numpy(row, precision) for row in x.astype(np.int64).tolist()])


@PRECISIONS
def test_what_is_no_key_gives_nan_in_its_own_sample_and_raises_no_flag(precision: Precision) -> None:
    function, x = batch_function(blocks(), precision), keys(precision, 17)
    expected = function(x)
    for wrong in (-1.0, 0.5, 1e-30, np.inf, -np.inf, np.nan, 2.0**53 if precision is F64 else 2.0**24, 1e30):
        for place in range(6):
            changed = x.copy()
            changed[4, place] = wrong
            with np.errstate(all="raise"):
                found = function(changed)
            assert np.isnan(found[4]).all(), (wrong, place)
            np.testing.assert_array_equal(np.delete(found, 4, 0), np.delete(expected, 4, 0))


def test_a_block_is_computed_once() -> None:
    text = module(blocks(3), F64, gpu(), "blocks")
    assert text.count("call {double, double, double, double} @philox") == 3
    assert "mul.hi.u64" in assembly(text, gpu())


@needs("gcc")
@pytest.mark.parametrize("flags", [("-O0", "-fsanitize=undefined", "-fno-sanitize-recover"), ("-O2",)], ids=" ".join)
@PRECISIONS
def test_words_in_c(precision: Precision, flags: tuple[str, ...], tmp_path: Path) -> None:
    dtype = "float64" if precision is F64 else "float32"
    writer = FunctionWriter(blocks(2), REALS[dtype], "blocks", ["x", "y"])
    source, header = texts("unit", [writer], REALS[dtype], ["a test"])
    assert source.count("= KT_PHILOX") == 2
    (tmp_path / "unit.h").write_text(header)
    (tmp_path / "unit.c").write_text(source)
    loaded = library(tmp_path, "gcc", [tmp_path / "unit.c"], *STRICT, "-Wconversion", *flags)
    x = keys(precision, 40)
    x[:, 2] //= 2
    (found,) = zip(*(called(loaded.blocks, [row], [8], 0, dtype) for row in x), strict=True)
    following = x + np.eye(6, dtype=x.dtype)[2]
    for rows, words in ((x, slice(4)), (following, slice(4, 8))):
        expected = [of_numpy(row, precision) for row in rows.astype(np.int64).tolist()]
        np.testing.assert_array_equal(np.array(found)[:, words], expected)


def test_random_numbers_have_no_slopes() -> None:
    program = forward_derivative(blocks(), [0])
    (found,) = interpret(program, [7.0, 5.0, 1.0, 0.0, 0.0, 0.0], [1.0] * 6)[-1:]
    assert set(found) == {0.0}


def test_constants_are_folded() -> None:
    """A key that is known while a program is traced leaves no operation, and the same numbers."""
    folded = trace(lambda x: [[x[0] * word(7.0, 5.0, 1.0, 0.0, 0.0, 0.0) for word in random_words]],
                   [Port("x", (1,))], [Port("y", (4,))], "folded")  # fmt: skip
    assert "philox" not in str(folded)
    assert interpret(folded, [1.0]) == (of_numpy([7, 5, 1, 0, 0, 0], F64),)

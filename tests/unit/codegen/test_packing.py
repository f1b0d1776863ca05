"""Results with equal and constant entries: each number stands in the lanes once, and every entry finds it."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from kinetree.codegen.cpu.module import emit
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.packing import Packing, packings
from kinetree.codegen.llvm.precision import F32, F64, Precision
from kinetree.codegen.llvm.target import host
from kinetree.expr import Argument, Block, Port, Program

PRECISIONS = pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])
INPUTS = 5


def scattered(entries: tuple[Argument, ...], shape: tuple[int, ...]) -> Program:
    """Each entry is a number of the argument, by its place, or a constant."""
    return Program("scattered", (Port("x", (INPUTS,)),), (Port("y", shape),), Block(()), entries)


def pattern(size: int) -> tuple[Argument, ...]:
    """Repetitions without a period, and three constants."""
    choices: list[Argument] = [*range(INPUTS), 0.0, -0.0, 2.5]
    return tuple(choices[k * k * 7 % 11 % 8] for k in range(size))


@cache
def kernel(shape: tuple[int, ...], precision: Precision, bits: int = 0) -> Callable[..., Any]:
    target = host()
    if bits:
        target = dataclasses.replace(target, cpu="x86-64", features="+avx2" if bits == 256 else "", vector_bits=bits)
    return batch_function(scattered(pattern(math.prod(shape)), shape), precision, target)


def arguments(count: int, precision: Precision) -> np.ndarray:
    return np.arange(1, count * INPUTS + 1, dtype=precision.char).reshape(count, INPUTS)


def expected(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    out = np.empty((len(x), math.prod(shape)), x.dtype)
    for k, entry in enumerate(pattern(out.shape[1])):
        out[:, k] = x[:, entry] if isinstance(entry, int) else entry
    return out.reshape(len(x), *shape)


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return bool((a == b).all() and (np.signbit(a) == np.signbit(b)).all())


def test_equal_entries_share_a_register() -> None:
    (packing,) = packings(scattered((3, 0.0, 3, 1, 0.0, 1), (6,))) or ()
    assert packing == Packing(values=(3, 0.0, 1), places=(0, 1, 0, 2, 1, 2))
    assert not packing.is_plain


def test_the_first_value_and_both_zeros_are_three_numbers() -> None:
    (packing,) = packings(scattered((0, 0.0, -0.0, 0), (4,))) or ()
    assert packing.places == (0, 1, 2, 0)


def test_entries_that_are_not_a_number_are_one_constant() -> None:
    (packing,) = packings(scattered((math.nan, 1, float("nan")), (3,))) or ()
    assert packing.places == (0, 1, 0)


def test_results_all_different_need_no_table() -> None:
    program = scattered((2, 0, 1), (3,))
    (packing,) = packings(program) or ()
    assert packing.is_plain
    assert "@places" not in emit(program, F64, host())


def test_a_program_that_stores_its_results_is_left_alone() -> None:
    assert packings(dataclasses.replace(scattered((), (3,)), results=None)) is None


SHAPES = [(), (1,), (3,), (7,), (8,), (9,), (21,), (4, 4), (6, 6), (5, 3), (18, 18), (2, 3, 5)]


@PRECISIONS
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_batch_size_gets_every_entry_and_nothing_else(shape: tuple[int, ...], precision: Precision) -> None:
    for count in (0, 1, 3, 7, 8, 16, 21, 32, 37):
        x = arguments(count, precision)
        line = np.zeros(count * math.prod(shape) + 2, x.dtype)
        kernel(shape, precision)(x, out=line[1:-1].reshape(count, *shape))
        assert same_bits(line[1:-1].reshape(count, *shape), expected(x, shape))
        assert line[0] == line[-1] == 0


@PRECISIONS
@pytest.mark.parametrize("shape", [s for s in SHAPES if s], ids=str)
def test_axes_in_any_order_and_with_gaps_in_memory(shape: tuple[int, ...], precision: Precision) -> None:
    x = arguments(35, precision)
    right = expected(x, shape)
    for order in itertools.permutations(range(right.ndim)):
        for step in (1, 2, -1):
            memory = np.zeros([right.shape[axis] * abs(step) for axis in order], x.dtype)
            out = memory[(slice(None, None, step),) * memory.ndim].transpose(np.argsort(order))
            kernel(shape, precision)(x, out=out)
            assert same_bits(out, right)
            assert np.count_nonzero(memory) == np.count_nonzero(right)


@pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="runs x86 code of narrower processors")
@PRECISIONS
@pytest.mark.parametrize("bits", [64, 128, 256])
@pytest.mark.parametrize("shape", [(3,), (9,), (16,), (19,), (6, 6), (5, 3)], ids=str)
def test_narrower_registers_find_the_same_entries(shape: tuple[int, ...], bits: int, precision: Precision) -> None:
    for count in (1, 2, 3, 4, 8, 17):
        x = arguments(count, precision)
        assert same_bits(kernel(shape, precision, bits)(x), expected(x, shape))


@PRECISIONS
def test_two_results_are_packed_each_for_itself(precision: Precision) -> None:
    ports = (Port("x", (INPUTS,)),), (Port("a", (4,)), Port("b", (2, 2)))
    a, b = batch_function(Program("two", *ports, Block(()), (1, 1, 0.5, 0, 4, 0.0, 0.0, 4)), precision)(
        x := arguments(19, precision)
    )
    assert (a == np.stack([x[:, 1], x[:, 1], np.full(19, 0.5), x[:, 0]], 1)).all()
    assert (b == x[:, 4, None, None] * np.eye(2)).all()

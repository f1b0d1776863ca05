"""Results larger than the caches go straight to memory: all of them, wherever they stand, and nothing beside them."""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import kinetree.codegen.cpu.batch
from kinetree.codegen.cpu.jit import MachineCode, compile_module
from kinetree.codegen.cpu.module import emit
from kinetree.codegen.cpu.streaming import STREAMED_FROM, can_stream
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F32, F64, Lanes, Precision
from kinetree.codegen.llvm.target import host
from kinetree.expr import Block, Port, Program

PRECISIONS = pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])
WIDTHS = [*range(256, 273), 300, 301]
streams = pytest.mark.skipif(host().vector_bits != 512, reason="this processor stores no whole lines past the caches")


def program(width: int, packed: bool) -> Program:
    """The result is the argument, or its first numbers again and again."""
    entries = tuple(k % 31 if packed else k for k in range(width))
    return Program("copy", (Port("x", (width,)),), (Port("y", (width,)),), Block(()), entries)


@cache
def copier(width: int, packed: bool, precision: Precision) -> Callable[..., Any]:
    """The kernel, made to stream whatever it can."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinetree.codegen.cpu.batch, "STREAMED_FROM", 0)
        return batch_function(program(width, packed), precision)


def numbered(count: int, width: int, precision: Precision) -> np.ndarray:
    return np.arange(1, count * width + 1, dtype=precision.char).reshape(count, width)


def right(x: np.ndarray, packed: bool) -> np.ndarray:
    return x[:, np.arange(x.shape[1]) % 31] if packed else x


@streams
@PRECISIONS
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
@pytest.mark.parametrize("width", WIDTHS)
def test_rows_that_begin_anywhere_in_a_line(width: int, packed: bool, precision: Precision) -> None:
    x = numbered(37, width, precision)
    for shift in range(64 // precision.bytes):
        memory = np.zeros(x.size + 64, precision.char)
        line = memory[shift + 1 : shift + 1 + x.size]
        copier(width, packed, precision)(x, out=line.reshape(x.shape))
        assert (line.reshape(x.shape) == right(x, packed)).all()
        assert np.count_nonzero(memory) == x.size


@streams
@PRECISIONS
@pytest.mark.parametrize("gap", [1, 3, 8, 16])
@pytest.mark.parametrize("step", [1, 2, -1])
def test_rows_apart_and_in_reverse(gap: int, step: int, precision: Precision) -> None:
    width = 260
    x = numbered(37, width, precision)
    memory = np.zeros((37 * abs(step), width + gap), precision.char)
    out = memory[::step, :width]
    copier(width, True, precision)(x, out=out)
    assert (out == right(x, True)).all()
    assert np.count_nonzero(memory) == x.size


@streams
@PRECISIONS
def test_numbers_that_do_not_stand_aligned_are_stored_as_usual(precision: Precision) -> None:
    """NumPy never hands them over, so the kernel is called as NumPy calls it."""
    width, size = 256, precision.bytes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinetree.codegen.cpu.batch, "STREAMED_FROM", 0)
        code = MachineCode(compile_module(emit(program(width, True), precision, host()), host()), host())
    kernel = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(code.address("kernel"))
    x = numbered(21, width, precision)
    for start in range(1, 2 * size):
        memory = np.zeros(x.nbytes + 64, np.uint8)
        arguments = (ctypes.c_void_p * 2)(x.ctypes.data, memory.ctypes.data + start)
        steps = (ctypes.c_int64 * 4)(width * size, width * size, size, size)
        kernel(arguments, (ctypes.c_int64 * 2)(len(x), width), steps, None)
        assert memory[start : start + x.nbytes].tobytes() == right(x, True).tobytes()
        assert not memory[:start].any()
        assert not memory[start + x.nbytes :].any()


@pytest.fixture
def guarded() -> tuple[mmap.mmap, int]:
    """Memory, and where in it a page begins that may not be touched: a stray access would end the process."""
    room = 64 * mmap.PAGESIZE
    memory = mmap.mmap(-1, room + mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None).mprotect
    assert protect(ctypes.c_void_p(address + room), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    return memory, room


@streams
@pytest.mark.skipif(sys.platform == "win32", reason="guards memory with mprotect")
@PRECISIONS
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_beyond_the_result_is_written(width: int, precision: Precision, guarded: tuple[mmap.mmap, int]) -> None:
    memory, room = guarded
    x = numbered(32, width, precision)
    out = np.frombuffer(memory, precision.char, x.size, room - x.nbytes).reshape(x.shape)
    copier(width, True, precision)(x, out=out)
    assert (out == right(x, True)).all()


@streams
def test_a_result_of_the_size_that_is_streamed_equals_the_same_in_parts() -> None:
    f = batch_function(program(1444, True), F64)
    count = STREAMED_FROM // (1444 * 8) + 1
    x = numbered(count, 1444, F64)
    whole = f(x)
    assert (whole == np.concatenate([f(x[:700]), f(x[700:])])).all()
    assert (whole == right(x, True)).all()


@streams
def test_only_results_with_long_rows_are_streamed() -> None:
    assert "!nontemporal" in emit(program(128, True), F64, host())
    assert "!nontemporal" not in emit(program(127, True), F64, host())


def test_narrower_registers_never_stream() -> None:
    assert not any(can_stream((1000, 1000), Lanes(*lanes)) for lanes in [(4, F64), (2, F64), (4, F32)])

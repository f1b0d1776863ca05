"""Numbers get from arrays into lanes and back: all of them, in order, and nothing beside them is touched."""

from __future__ import annotations

import ctypes
import dataclasses
import itertools
import math
import mmap
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from kinetree.codegen.cpu.batch import batch_kernel
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F32, F64, Lanes, Precision
from kinetree.codegen.llvm.target import Target, host
from kinetree.expr import Block, Port, Program

WIDTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 21, 23, 33, 38]
PRECISIONS = pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])


@cache
def copier(shape: int | tuple[int, ...], precision: Precision, target: Target | None = None) -> Callable[..., Any]:
    """The kernel whose result is its argument."""
    shape = (shape,) if isinstance(shape, int) else shape
    numbers = tuple(range(math.prod(shape)))
    program = Program("copy", (Port("x", shape),), (Port("y", shape),), Block(()), numbers)
    return batch_function(program, precision, target)


def numbered(*shape: int, precision: Precision) -> np.ndarray:
    return np.arange(np.prod(shape, dtype=int), dtype=np.dtype(precision.char)).reshape(shape) + 1


@PRECISIONS
@pytest.mark.parametrize("width", WIDTHS)
def test_every_batch_size_is_copied_and_nothing_else(width: int, precision: Precision) -> None:
    for count in range(41):
        x = numbered(count, width, precision=precision)
        frame = np.zeros((count + 2, width + 2), x.dtype)
        out = frame[1:-1, 1:-1]
        copier(width, precision)(x, out=out)
        assert (out == x).all()
        out[...] = 0
        assert not frame.any()


@PRECISIONS
@pytest.mark.parametrize("width", [1, 3, 8, 9, 17])
@pytest.mark.parametrize("row_step", [1, 2, -1, -3])
@pytest.mark.parametrize("column_step", [1, 2, -1, -2])
def test_any_strides_on_both_sides(width: int, row_step: int, column_step: int, precision: Precision) -> None:
    steps = slice(None, None, row_step), slice(None, None, column_step)
    source = numbered(30 * abs(row_step), width * abs(column_step), precision=precision)
    x = source[steps]
    whole = np.zeros_like(source)
    copier(width, precision)(x, out=whole[steps])
    assert (whole[steps] == x).all()
    assert np.count_nonzero(whole) == x.size


@PRECISIONS
def test_one_number_broadcast_to_rows_and_columns(precision: Precision) -> None:
    x = np.broadcast_to(np.array(7, precision.char), (13, 9))
    assert (copier(9, precision)(x) == 7).all()


@PRECISIONS
def test_rows_that_overlap_each_other_are_read_right(precision: Precision) -> None:
    line = numbered(40, precision=precision)
    windows = np.lib.stride_tricks.sliding_window_view(line, 9)
    assert (copier(9, precision)(windows) == windows.copy()).all()


@PRECISIONS
@pytest.mark.parametrize("shift", [-3, -1, 1, 2, 5])
def test_a_result_that_overlaps_its_argument_is_as_if_copied_first(shift: int, precision: Precision) -> None:
    for axis in (0, 1):
        memory = numbered(40, 20, precision=precision)
        low, high = max(0, -shift), max(0, shift)
        x = memory[high : 30 + high, :9] if axis == 0 else memory[:, high : 9 + high]
        out = memory[low : 30 + low, :9] if axis == 0 else memory[:, low : 9 + low]
        expected = x.copy()
        copier(9, precision)(x, out=out)
        assert (out == expected).all()


SHAPES = [
    (),
    (1,),
    (2, 3),
    (4, 4),
    (3, 1),
    (1, 3),
    (1, 1),
    (6, 2),
    (20, 6),
    (2, 3, 4),
    (3, 4, 4),
    (2, 1, 5),
    (2, 2, 2, 3),
]


@PRECISIONS
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_matrices_of_every_batch_size_are_copied_and_nothing_else(shape: tuple[int, ...], precision: Precision) -> None:
    for count in (0, 1, 3, 7, 8, 16, 21, 32, 37):
        x = numbered(count, *shape, precision=precision)
        line = np.zeros(x.size + 2, x.dtype)
        copier(shape, precision)(x, out=line[1:-1].reshape(x.shape))
        assert (line[1:-1] == x.ravel()).all()
        assert line[0] == line[-1] == 0


@PRECISIONS
@pytest.mark.parametrize("shape", [s for s in SHAPES if s], ids=str)
def test_matrices_with_their_axes_in_any_order_in_memory(shape: tuple[int, ...], precision: Precision) -> None:
    x = numbered(35, *shape, precision=precision)
    for order in itertools.permutations(range(x.ndim)):
        back = np.argsort(order)
        there = x.transpose(order).copy().transpose(back)
        out = np.zeros_like(x.transpose(order)).transpose(back)
        copier(shape, precision)(there, out=out)
        assert (out == x).all()


@PRECISIONS
@pytest.mark.parametrize("shape", [(2, 3), (4, 4), (20, 6), (2, 3, 4), (3, 1), (2, 1, 5)], ids=str)
@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_parts_of_larger_matrices_are_copied_and_nothing_else(
    shape: tuple[int, ...], axis: int, precision: Precision
) -> None:
    """One axis is longer in memory than it looks, so the numbers of a sample have gaps."""
    whole = (35, *shape)
    axis = min(axis, len(shape))
    longer = tuple(2 * extent + 1 if k == axis else extent for k, extent in enumerate(whole))
    for step in (1, 2, -1):
        part = tuple(slice(None, extent * step, step) if k == axis else slice(None) for k, extent in enumerate(whole))
        if step < 0:
            part = tuple(slice(None, whole[k], -1) if k == axis else slice(None) for k in range(len(whole)))
        source = numbered(*longer, precision=precision)
        x = source[part]
        out = np.zeros_like(source)
        assert x.shape == whole
        copier(shape, precision)(x, out=out[part])
        assert (out[part] == x).all()
        assert np.count_nonzero(out) == x.size


@PRECISIONS
def test_a_matrix_broadcast_along_any_axis(precision: Precision) -> None:
    for small in [(19, 1, 4), (19, 3, 1), (1, 3, 4), (1, 1, 1)]:
        x = np.broadcast_to(numbered(*small, precision=precision), (19, 3, 4))
        assert (copier((3, 4), precision)(x) == x).all()


x86 = pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="runs x86 code of narrower processors")


@x86
@PRECISIONS
@pytest.mark.parametrize("bits", [32, 64, 128, 256])
@pytest.mark.parametrize("shape", [(3,), (6,), (9,), (16,), (19,), (4, 4), (5, 3)], ids=str)
def test_narrower_registers_copy_as_well(shape: tuple[int, ...], bits: int, precision: Precision) -> None:
    if bits < precision.bits:
        pytest.skip("a register holds no number")
    target = dataclasses.replace(host(), cpu="x86-64", features="+avx2" if bits == 256 else "", vector_bits=bits)
    for count in (1, 2, 3, 4, 8, 17):
        x = numbered(count, *shape, precision=precision)
        line = np.zeros(x.size + 2, x.dtype)
        copier(shape, precision, target)(x, out=line[1:-1].reshape(x.shape))
        assert (line[1:-1] == x.ravel()).all()
        assert line[0] == line[-1] == 0


def test_large_matrices_are_copied_by_loops() -> None:
    """The text of a kernel does not grow with the size of its arguments."""
    texts = []
    for rows in (10_000, 100_000):
        ports = (Port("x", ()),), (Port("y", (rows, 4, 4)),)
        text = batch_kernel(Program("large", *ports, Block(()), None), Lanes(4, F64))
        texts.append(text.count("\n"))
    assert texts[0] == texts[1] < 1000


@pytest.mark.skipif(sys.platform == "win32", reason="guards memory with mprotect")
@PRECISIONS
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_beyond_an_array_is_read_or_written(width: int, precision: Precision) -> None:
    """The arrays end where a page begins that may not be touched: a stray access would end the process."""
    page = mmap.PAGESIZE
    room = 16 * page
    guarded = []
    for _ in range(2):
        memory = mmap.mmap(-1, room + page)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address + room), ctypes.c_size_t(page), 0) == 0
        guarded.append(memory)
    dtype = np.dtype(precision.char)
    for count, shape in itertools.product((1, 3, 4, 5, 8, 9, 16, 23), [(width,), (2, width), (width, 2)]):
        size = count * math.prod(shape) * dtype.itemsize
        x, out = (
            np.frombuffer(memory, dtype, count * math.prod(shape), room - size).reshape(count, *shape)
            for memory in guarded
        )
        x[...] = numbered(count, *shape, precision=precision)
        copier(shape, precision)(x, out=out)
        assert (out == x).all()

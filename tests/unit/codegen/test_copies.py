"""Numbers get from arrays into lanes and back: all of them, in order, and nothing beside them is touched."""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from kinetree.codegen import F32, F64, Precision, batch_function
from kinetree.expr import Block, Port, Program

WIDTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33]
PRECISIONS = pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])


@cache
def copier(width: int, precision: Precision) -> Callable[..., Any]:
    """The kernel whose result is its argument."""
    program = Program("copy", (Port("x", (width,)),), (Port("y", (width,)),), Block(()), tuple(range(width)))
    return batch_function(program, precision)


def numbered(*shape: int, precision: Precision) -> np.ndarray:
    return np.arange(np.prod(shape, dtype=int), dtype=np.dtype(precision.char)).reshape(shape) + 1


@PRECISIONS
@pytest.mark.parametrize("width", WIDTHS)
def test_every_batch_size_is_copied_and_nothing_beside_it(width: int, precision: Precision) -> None:
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


@pytest.mark.skipif(sys.platform == "win32", reason="guards memory with mprotect")
@PRECISIONS
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_beyond_an_array_is_read_or_written(width: int, precision: Precision) -> None:
    """The arrays end where a page begins that may not be touched: a stray access would end the process."""
    page = mmap.PAGESIZE
    room = 4 * page
    guarded = []
    for _ in range(2):
        memory = mmap.mmap(-1, room + page)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address + room), ctypes.c_size_t(page), 0) == 0
        guarded.append(memory)
    dtype = np.dtype(precision.char)
    for count in (1, 3, 4, 5, 8, 9, 16, 23):
        size = count * width * dtype.itemsize
        x, out = (np.frombuffer(memory, dtype, count * width, room - size).reshape(count, width) for memory in guarded)
        x[...] = numbered(count, width, precision=precision)
        copier(width, precision)(x, out=out)
        assert (out == x).all()

"""Sines and cosines of many angles in one call: the bits of one angle at a time, and nothing reported."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from kinetree.codegen.cpu.jit import MachineCode, compile_module
from kinetree.codegen.cpu.ufunc import make_ufunc
from kinetree.codegen.llvm.elementary import sincos
from kinetree.codegen.llvm.operations import declarations
from kinetree.codegen.llvm.precision import F32, F64, Lanes, Precision
from kinetree.expr import Port

PRECISIONS = pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])
LANES = pytest.mark.parametrize("lanes", [1, 2, 4, 8])


@cache
def code(lanes: int, precision: Precision) -> MachineCode:
    V = Lanes(lanes, precision).numbers
    return MachineCode(
        compile_module(f"""
{declarations(Lanes(lanes, precision))}
{sincos(Lanes(lanes, precision))}
define void @together(ptr %angles, ptr %pairs, i64 %count) {{
  call void @sincos_all(ptr %angles, ptr %pairs, i64 %count)
  ret void
}}
define void @alone(ptr %angle, ptr %pair, i64 %one) {{
  %x = load {V}, ptr %angle
  %y = call {{{V}, {V}}} @sincos({V} %x)
  store {{{V}, {V}}} %y, ptr %pair
  ret void
}}
define void @kernel(ptr %args, ptr %dimensions, ptr %steps, ptr %data) {{
  %angles = load ptr, ptr %args
  %pairs_at = getelementptr ptr, ptr %args, i64 1
  %pairs = load ptr, ptr %pairs_at
  %count_at = getelementptr i64, ptr %dimensions, i64 1
  %count = load i64, ptr %count_at
  call void @sincos_all(ptr %angles, ptr %pairs, i64 %count)
  ret void
}}
attributes #0 = {{ nounwind }}
attributes #1 = {{ nounwind }}
""")
    )


def function(name: str, lanes: int, precision: Precision) -> Callable[[np.ndarray], np.ndarray]:
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    call = prototype(code(lanes, precision).address(name))

    def run(angles: np.ndarray) -> np.ndarray:
        x, pairs = aligned(angles.shape, precision), aligned((*angles.shape[:-1], 2, lanes), precision)
        x[...] = angles
        call(x.ctypes.data, pairs.ctypes.data, len(angles))
        return pairs

    return run


def aligned(shape: tuple[int, ...], precision: Precision) -> np.ndarray:
    """Memory that begins where a register may be stored."""
    size = int(np.prod(shape)) * precision.bytes
    memory = np.zeros(size + 128, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(precision.char).reshape(shape)


def one_by_one(angles: np.ndarray, lanes: int, precision: Precision) -> np.ndarray:
    alone = function("alone", lanes, precision)
    return np.concatenate([alone(angle[None]) for angle in angles])


@PRECISIONS
@LANES
@pytest.mark.parametrize("count", [1, 2, 7])
def test_angles_together_are_angles_alone(count: int, lanes: int, precision: Precision) -> None:
    angles = np.linspace(-20.0, 900.0, count * lanes).astype(precision.char).reshape(count, lanes)
    together = function("together", lanes, precision)(angles)
    assert (together == one_by_one(angles, lanes, precision)).all()
    exact = np.stack([np.sin(angles.astype(float)), np.cos(angles.astype(float))], axis=1)
    np.testing.assert_allclose(together, exact, rtol=0, atol=4 * np.finfo(precision.char).eps)


@PRECISIONS
@LANES
@pytest.mark.parametrize("big", [1.1e6, -1e20, 3e38])
def test_one_huge_angle_changes_no_other(big: float, lanes: int, precision: Precision) -> None:
    angles = np.linspace(-3.0, 3.0, 5 * lanes).astype(precision.char).reshape(5, lanes)
    expected = one_by_one(angles, lanes, precision)
    for k in range(5):
        mixed = angles.copy()
        mixed[k, k % lanes] = big
        together = function("together", lanes, precision)(mixed)
        assert (together == one_by_one(mixed, lanes, precision)).all()
        changed = (together != expected).any(axis=1)
        assert changed.sum() == 1
        assert changed[k, k % lanes]


@PRECISIONS
@LANES
@pytest.mark.parametrize("none", [np.nan, -np.nan, np.inf, -np.inf])
def test_no_angle_gives_no_number_there_only(none: float, lanes: int, precision: Precision) -> None:
    angles = np.ones((3, lanes), precision.char)
    expected = function("together", lanes, precision)(angles)
    angles[1, -1] = none
    together = function("together", lanes, precision)(angles)
    assert np.isnan(together[1, :, -1]).all()
    expected[1, :, -1] = together[1, :, -1] = 0.0
    assert (together == expected).all()


@PRECISIONS
@LANES
def test_huge_angles_overflow_nothing_on_the_way(lanes: int, precision: Precision) -> None:
    """NumPy reports, as a warning and so as an error here, whatever overflowed inside a kernel."""
    largest = np.finfo(precision.char).max
    angles, pairs = aligned((3, lanes), precision), aligned((3, 2, lanes), precision)
    angles[...] = largest
    shapes = (Port("angles", (3, lanes)),), (Port("pairs", (3, 2, lanes)),)
    ufunc = make_ufunc(code(lanes, precision), "sines", *shapes, precision)
    ufunc(angles, out=pairs)
    np.testing.assert_allclose(pairs[:, 0], np.sin(float(largest)), rtol=1e-6)

"""A sample's result is the same whatever surrounds it, on wide and narrow processors."""

from __future__ import annotations

import dataclasses
import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.cpu.jit import MachineCode, assemble, compile_module
from kinetree.codegen.cpu.module import emit
from kinetree.codegen.cpu.ufunc import batch_function, make_ufunc
from kinetree.codegen.llvm.precision import F32, F64, Precision
from kinetree.codegen.llvm.target import Target, host
from kinetree.expr import Port, Program, trace

ROBOT = kt.zoo.load("arm6")
PROGRAM = kt.compile(ROBOT, kt.aba).__self__.program


def arguments(count: int, dtype: str = "d") -> list[np.ndarray]:
    rng = np.random.default_rng(2)
    return [rng.normal(size=(count, 6)).astype(dtype) for _ in range(3)]


@pytest.fixture(scope="module", params=[F64, F32], ids=["float64", "float32"])
def kernel(request: pytest.FixtureRequest) -> tuple[Callable[..., Any], Precision]:
    return batch_function(PROGRAM, request.param), request.param


def test_every_batch_size_gives_each_sample_the_same_bits(kernel: tuple[Callable[..., Any], Precision]) -> None:
    aba, precision = kernel
    batch = arguments(41, precision.char)
    one_by_one = np.array([aba(*(x[k] for x in batch)) for k in range(41)])
    for size in range(42):
        for start in (0, 1, 3):
            if start + size <= 41:
                assert (aba(*(x[start : start + size] for x in batch)) == one_by_one[start : start + size]).all()


def strided(x: np.ndarray) -> dict[str, np.ndarray]:
    """The same numbers laid out in memory in many ways."""
    wide = np.zeros((x.shape[0], 3 * x.shape[1]), x.dtype)
    wide[:, ::3] = x
    bytes_ = np.zeros(x.nbytes + 1, np.uint8)
    unaligned = bytes_[1:].view(x.dtype).reshape(x.shape)
    unaligned[...] = x
    return {
        "columns apart": wide[:, ::3],
        "rows reversed": x[::-1].copy()[::-1],
        "columns reversed": x[:, ::-1].copy()[:, ::-1],
        "column by column": np.asfortranarray(x),
        "unaligned": unaligned,
        "every other row": np.repeat(x, 2, axis=0)[::2],
        "read-only": np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
    }


@pytest.mark.parametrize("layout", strided(np.zeros((3, 2))))
def test_every_layout_in_and_out_gives_the_same_bits(kernel: tuple[Callable[..., Any], Precision], layout: str) -> None:
    aba, precision = kernel
    batch = arguments(23, precision.char)
    expected = aba(*batch)
    laid_out = [strided(x)[layout] for x in batch]
    assert (aba(*laid_out) == expected).all()
    out = strided(np.zeros_like(expected))[layout]
    if out.flags.writeable:
        aba(*batch, out=out)
        assert (out == expected).all()


def test_broadcast_arguments_are_read_in_place(kernel: tuple[Callable[..., Any], Precision]) -> None:
    aba, precision = kernel
    q, v, tau = arguments(10, precision.char)
    expected = aba(q, np.repeat(v[:1], 10, axis=0), tau)
    assert (aba(q, v[0], tau) == expected).all()
    grid = aba(q[:, None], v[0], tau)
    assert grid.shape == (10, 10, 6)
    assert (grid[np.arange(10), np.arange(10)] == expected).all()


def test_the_result_may_lie_on_an_argument(kernel: tuple[Callable[..., Any], Precision]) -> None:
    aba, precision = kernel
    q, v, tau = arguments(37, precision.char)
    expected = aba(q, v, tau)
    aba(q, v, tau, out=tau)
    assert (tau == expected).all()


def narrow(bits: int, features: str, fma: bool) -> Target:
    return dataclasses.replace(host(), cpu="x86-64", features=features, vector_bits=bits, fma=fma)


x86 = pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="runs x86 code of narrower processors")


@x86
def test_a_processor_without_avx_agrees_to_rounding() -> None:
    batch = arguments(9)
    slim = batch_function(PROGRAM, F64, narrow(128, "", False))
    np.testing.assert_allclose(slim(*batch), batch_function(PROGRAM)(*batch), rtol=1e-11, atol=1e-11)


@x86
@pytest.mark.skipif(not host().fma, reason="needs a processor with fused multiply-add")
@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])
def test_the_number_of_lanes_changes_no_bit(bits: int, precision: Precision) -> None:
    batch = arguments(19, precision.char)
    forced = batch_function(PROGRAM, precision, narrow(bits, "+avx2,+fma", True))
    assert (forced(*batch) == batch_function(PROGRAM, precision)(*batch)).all()


def test_code_for_aarch64_is_made_anywhere() -> None:
    target = Target("aarch64-unknown-linux-gnu", "generic", "", 128, True)
    text = assemble(emit(PROGRAM, F64, target), target)
    assert "fmla" in text
    assert "kernel:" in text


def test_ports_of_any_rank_keep_their_order() -> None:
    inputs = [Port("a", ()), Port("b", (2, 3))]
    outputs = [Port("c", (3, 2)), Port("d", ())]
    program: Program = trace(
        lambda a, b: [[b[0] + a[0], b[3], b[1], b[4], b[2], b[5] * a[0]], [b[5]]], inputs, outputs, name="mixed"
    )
    kernel = batch_function(program)
    b = np.arange(5 * 6.0).reshape(5, 2, 3)
    c, d = kernel(np.full(5, 2.0), b)
    expected = b.transpose(0, 2, 1).copy()
    expected[:, 0, 0] += 2.0
    expected[:, 2, 1] *= 2.0
    assert (c == expected).all()
    assert (d == b[:, 1, 2]).all()
    assert (kernel(2.0, b.transpose(2, 1, 0).copy().transpose(2, 1, 0))[0] == expected).all()


def test_a_kernel_keeps_its_code_alive_and_lets_go_of_it() -> None:
    code = MachineCode(compile_module(emit(PROGRAM, F64, host())))
    kernel = make_ufunc(code, "aba", PROGRAM.inputs, PROGRAM.outputs, F64)
    gone = weakref.ref(code)
    del code
    gc.collect()
    assert gone() is not None
    kernel(*arguments(3))
    del kernel
    gc.collect()
    assert gone() is None

"""An input that is the same for all samples is read in place, with the bits that copies of it would give."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F32, F64, Precision
from kinetree.codegen.llvm.target import host

ROWS, COLUMNS = 60, 70


@kt.program(weights=(ROWS, COLUMNS), bias=ROWS, x=COLUMNS)
def layers(weights: Any, bias: Any, x: Any) -> Any:
    def row(total: Any, row: Any) -> Any:
        w, b = row
        y, _ = kt.programs.scan(lambda y, pair: (y + pair[0] * pair[1], None), b, (w, x))
        return total + y, np.tanh(y)

    total, y = kt.programs.scan(row, weights[3, 4], (weights, bias))  # one number is used outside of loops

    def long(k: Any, z: Any) -> Any:  # too long to be written twice, so that its load alone is
        for _ in range(600):
            z = np.sin(z)
        return z + weights[k, 0]

    return np.concatenate([y, total[None], kt.programs.fori(3, long, 1.0)[None]])


@pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])
@pytest.mark.parametrize("bits", [128, 256, 512])
def test_the_same_bits_for_common_and_separate_inputs(bits: int, precision: Precision) -> None:
    if bits > host().vector_bits:
        pytest.skip(f"this processor has registers of {host().vector_bits} bits")
    function = layers.compile(dtype="float64" if precision is F64 else "float32").__self__  # type: ignore[attr-defined]
    kernel = batch_function(function.program, precision, dataclasses.replace(host(), vector_bits=bits))
    rng, n = np.random.default_rng(0), 21
    weights, bias, x = (
        rng.normal(0, 0.2, shape).astype(precision.char) for shape in ((ROWS, COLUMNS), (ROWS,), (n, COLUMNS))
    )
    common = kernel(weights, bias, x)
    assert np.array_equal(common, kernel(np.stack([weights] * n), bias, x))
    wide = np.zeros((ROWS, 2 * COLUMNS), weights.dtype)
    wide[:, ::2] = weights
    assert np.array_equal(common, kernel(wide[:, ::2], bias, x))  # not contiguous
    assert np.array_equal(common, kernel(weights[None], bias, x))
    assert np.array_equal(common[5], kernel(weights, bias, x[5]))
    assert np.array_equal(common[:1], kernel(weights, bias, x[:1]))
    assert np.allclose(common[7], layers.function(weights, bias, x[7]), rtol=1e-4, atol=1e-5)


def test_controllers_read_common_weights_too() -> None:
    robot = kt.zoo.load("cart_pole")
    policy = kt.learning.mlp((4, 64, 64, 1))

    @kt.program(q=robot, v=robot.nv, weights=policy.size)
    def controller(q: Any, v: Any, weights: Any) -> Any:
        return np.concatenate([policy(weights, np.concatenate([q, v])), np.zeros(1)])

    weights, q = policy.initial(0), np.random.default_rng(0).normal(size=(9, 2))
    one, many = (
        kt.rollout(robot, q, np.zeros(2), controller, 0.01, steps=20, arguments={"weights": w}).states
        for w in (weights, np.stack([weights] * 9))
    )
    assert np.array_equal(one, many)

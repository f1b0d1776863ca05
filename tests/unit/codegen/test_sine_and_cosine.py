"""Our sine and cosine against mpmath, in units of the last place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F32, F64, Precision
from kinetree.expr import Port, cos, sin, trace

PROGRAM = trace(lambda x: [[sin(x[0]), cos(x[0])]], [Port("x", (1,))], [Port("y", (2,))], name="sincos")


@pytest.fixture(scope="module", params=[F64, F32], ids=["float64", "float32"])
def kernel(request: pytest.FixtureRequest) -> tuple[Callable[..., Any], Precision]:
    return batch_function(PROGRAM, request.param), request.param


def worst_error(kernel: Callable[..., Any], precision: Precision, angles: np.ndarray) -> float:
    """In units of the last place of the exact result."""
    digits = 53 if precision is F64 else 24
    angles = angles.astype(np.dtype(precision.char))
    results = kernel(angles[:, None])
    worst = 0.0
    with mpmath.workprec(1400):
        for angle, pair in zip(angles, results, strict=True):
            for result, function in zip(pair, (mpmath.sin, mpmath.cos), strict=True):
                exact = function(mpmath.mpf(float(angle)))
                ulp = mpmath.mpf(2) ** (mpmath.floor(mpmath.log(abs(exact), 2)) - digits + 1)
                worst = max(worst, float(abs(mpmath.mpf(float(result)) - exact) / ulp))
    return worst


def spread(low: float, high: float, count: int = 400) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.exp(rng.uniform(math.log(low), math.log(high), count)) * rng.choice([-1.0, 1.0], count)


@pytest.mark.parametrize(("low", "high"), [(1e-5, 1.0), (1.0, 10.0), (10.0, 1e4), (1e4, 1e6)])
def test_angles_in_use_are_right_to_about_one_unit(
    kernel: tuple[Callable[..., Any], Precision], low: float, high: float
) -> None:
    assert worst_error(*kernel, spread(low, high)) < 1.5


@pytest.mark.parametrize(("low", "high"), [(1e6, 1e12), (1e12, 1e38)])
def test_huge_angles_are_right_to_about_two_units(
    kernel: tuple[Callable[..., Any], Precision], low: float, high: float
) -> None:
    assert worst_error(*kernel, spread(low, high)) < 2.5


def test_the_largest_doubles_too() -> None:
    kernel = batch_function(PROGRAM)
    # The last one is the double nearest to a multiple of pi/2 of all.
    angles = np.array([*spread(1e38, 1.7e308, 200), 1.7976931348623157e308, 6381956970095103 * 2.0**797])
    assert worst_error(kernel, F64, angles) < 2.5


def test_near_multiples_of_a_quarter_turn(kernel: tuple[Callable[..., Any], Precision]) -> None:
    angles = np.array([k * math.pi / 2 for k in (*range(1, 200), 1001, 99999, 500001)])
    assert worst_error(*kernel, angles) < 1.5


def test_every_single_next_to_a_multiple_of_a_quarter_turn_up_to_a_million() -> None:
    """There the sine or the cosine is smallest, and what the reduction leaves out weighs most."""
    nearest = (np.arange(1, 636_620) * (np.pi / 2)).astype(np.float32)
    angles = np.concatenate([np.nextafter(nearest, np.float32(0)), nearest, np.nextafter(nearest, np.float32(2e6))])
    results = batch_function(PROGRAM, F32)(angles[:, None]).astype(np.float64)
    for result, function in zip(results.T, (np.sin, np.cos), strict=True):
        exact = function(angles.astype(np.float64))
        ulp = np.exp2(np.floor(np.log2(np.abs(exact))) - 23)
        assert (np.abs(result - exact) / ulp).max() < 1.6


def test_no_angle_gives_no_number(kernel: tuple[Callable[..., Any], Precision]) -> None:
    ufunc, precision = kernel
    with np.errstate(invalid="ignore"):
        results = ufunc(np.array([[math.nan], [math.inf], [-math.inf], [0.0]], np.dtype(precision.char)))
    assert np.isnan(results[:3]).all()
    assert results[3].tolist() == [0.0, 1.0]


def test_a_huge_angle_leaves_its_neighbours_alone(kernel: tuple[Callable[..., Any], Precision]) -> None:
    ufunc, precision = kernel
    angles = np.linspace(-3.0, 3.0, 16).astype(np.dtype(precision.char))
    alone = ufunc(angles[:, None])
    angles[5] = 1e20
    assert (np.delete(ufunc(angles[:, None]), 5, axis=0) == np.delete(alone, 5, axis=0)).all()

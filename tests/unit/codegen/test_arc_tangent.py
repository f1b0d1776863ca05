"""Our atan2 against mpmath, in units of the last place."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F32, F64, Precision
from kinetree.expr import Port, atan2, trace

PROGRAM = trace(lambda x: [[atan2(x[0], x[1])]], [Port("x", (2,))], [Port("y", ())], name="angle")
PRECISIONS = pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])


def worst_error(precision: Precision, points: np.ndarray) -> float:
    """In units of the last place of the exact result."""
    points = points.astype(np.dtype(precision.char))
    worst = 0.0
    with mpmath.workprec(200):
        for point, found in zip(points, batch_function(PROGRAM, precision)(points), strict=True):
            exact = mpmath.atan2(*(mpmath.mpf(float(x)) for x in point))
            digits = 53 if precision is F64 else 24
            ulp = mpmath.mpf(2) ** (mpmath.floor(mpmath.log(abs(exact), 2)) - digits + 1)
            worst = max(worst, float(abs(mpmath.mpf(float(found)) - exact) / ulp))
    return worst


@PRECISIONS
@pytest.mark.parametrize("magnitude", [0.01, 1.0, 5.0])
def test_angles_of_points_all_around_are_right_to_about_one_unit(precision: Precision, magnitude: float) -> None:
    rng = np.random.default_rng(3)
    points = np.exp(magnitude * rng.normal(size=(1000, 2))) * rng.choice([-1.0, 1.0], (1000, 2))
    assert worst_error(precision, points) < 1.5


@PRECISIONS
def test_next_to_the_ratios_where_the_formula_changes(precision: Precision) -> None:
    dtype = np.dtype(precision.char)
    near = [np.nextafter(dtype.type(r), dtype.type(r + s)) for r in (0.5, 1.0, 2.0) for s in (-1, 0, 1)]
    signs = [(a, b) for a in (-1.0, 1.0) for b in (-1.0, 1.0)]
    points = np.array([(a * r * n, b * n) for r in near for a, b in signs for n in (1.0, 3.0, 1e-30)])
    assert worst_error(precision, points) < 1.5


@PRECISIONS
def test_the_largest_and_smallest_coordinates(precision: Precision) -> None:
    big = float(np.finfo(precision.char).max)
    points = [(big, big), (-big, 0.6 * big), (0.7 * big, -big), (1.0, big), (big, 1e-3), (0.3 * big, 0.7 * big)]
    assert worst_error(precision, np.array(points)) < 1.5
    tiny = float(np.finfo(precision.char).smallest_subnormal)
    found = batch_function(PROGRAM, precision)(np.array([[3 * tiny, 4 * tiny], [tiny, tiny]], precision.char))
    np.testing.assert_allclose(found, [np.arctan2(3, 4), np.pi / 4], rtol=1e-6)


@PRECISIONS
def test_infinities_zeros_and_nan_raise_no_flags(precision: Precision) -> None:
    values = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
    points = np.array([(y, x) for y in values for x in values], precision.char)
    with np.errstate(divide="raise", invalid="raise", over="raise"):
        found = batch_function(PROGRAM, precision)(points)
    expected = np.arctan2(points[:, 0], points[:, 1])
    np.testing.assert_allclose(found, expected, rtol=3e-7 if precision is F32 else 3e-16)
    is_number = ~np.isnan(expected)
    assert (np.signbit(found) == np.signbit(expected))[is_number].all()


def test_a_result_does_not_depend_on_its_neighbours() -> None:
    rng, function = np.random.default_rng(4), batch_function(PROGRAM)
    points = rng.normal(size=(23, 2))
    points[7] = np.inf, 1.0
    points[11] = np.nan, 1.0
    alone = np.array([function(point[None])[0] for point in points])
    assert np.array_equal(function(points), alone, equal_nan=True)

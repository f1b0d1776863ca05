"""Elementary functions are accurate near zero, near one, for large arguments and both signs; so are their slopes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.expr import forward_derivative, interpret
from tests.unit.symbolic.running import run, traced

SIZES = np.array([5e-324, 1e-300, 1e-100, 1e-17, 1e-12, 1e-8, 3e-5, 1e-3, 0.1, 0.4, 0.5, 0.9, 1.0, 1.5])
BOTH = np.concatenate([-SIZES[::-1], [0.0], SIZES])
LARGE = np.array([2.0, 3.0, 7.5, 40.0, 300.0])
WIDE = np.concatenate([-LARGE, BOTH, LARGE])
INSIDE = BOTH[np.abs(BOTH) < 1.0]
HUGE = np.array([1e5, 1e15, 1e16, 2.0**52 + 1.0, 1e17, 1e100])
WHOLE = np.concatenate([-HUGE, WIDE, HUGE, [2.5, -2.5, 0.49999999999999994, -0.49999999999999994, 2.0**52 - 0.5]])
UNARY: dict[str, np.ndarray] = {
    "expm1": WIDE,
    "log1p": np.concatenate([INSIDE, LARGE, HUGE]),
    "exp2": WIDE,
    "sinh": WIDE,
    "cosh": WIDE,
    "tanh": WIDE,
    "arcsinh": np.concatenate([-HUGE, WIDE, HUGE]),
    "arccosh": np.concatenate([1.0 + SIZES, LARGE, HUGE]),
    "arctanh": INSIDE,
    "arcsin": BOTH[np.abs(BOTH) <= 1.0],
    "arccos": BOTH[np.abs(BOTH) <= 1.0],
    "arctan": np.concatenate([-HUGE, WIDE, HUGE]),
    "tan": WIDE,
    "cbrt": np.concatenate([-HUGE, WIDE, HUGE]),
    "log2": np.concatenate([SIZES, LARGE, HUGE]),
    "log10": np.concatenate([SIZES, LARGE, HUGE]),
    "sinc": WIDE,
    "square": WIDE,
    "floor": WHOLE,
    "ceil": WHOLE,
    "trunc": WHOLE,
    "rint": WHOLE,
    "sign": WHOLE,
}


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(name: str) -> None:
    x = UNARY[name]
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x)
    np.testing.assert_allclose(run(getattr(np, name), x), expected, rtol=1e-13, atol=1e-323)


PAIRS = [(a, b) for a in (-7.3, -2.0, -0.5, 0.0, 0.3, 1.0, 6.6, 1e6) for b in (-2.2, -1.0, 0.4, 1.0, 3.0, 2 * math.pi)]
PAIRS += [(np.nextafter(3 * b, 0.0), b) for b in (0.1, 0.7, -0.3)] + [(3 * 0.1, 0.1), (-1e-17, 1.0), (1e-17, -1.0)]


@pytest.mark.parametrize("name", ["mod", "floor_divide", "fmod", "arctan2", "copysign", "hypot"])
def test_functions_of_two_numbers(name: str) -> None:
    x, y = np.array(PAIRS).T
    np.testing.assert_allclose(run(getattr(np, name), x, y), getattr(np, name)(x, y), rtol=1e-12, atol=1e-15)
    for divisor in (0.4, -2.2, 2 * math.pi):
        expected = getattr(np, name)(x, divisor)
        found = run(lambda x, c=divisor: getattr(np, name)(x, c), x)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9 if name == "mod" else 1e-15)


@pytest.mark.parametrize("y", [-3.0, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.3, 2.0, 2.5, 3.0, 17.0, 0.1])
def test_powers(y: float) -> None:
    x = np.array([-3.0, -1.0, -0.4, 0.0, 1e-5, 0.7, 1.0, 2.0, 9.3])
    with np.errstate(all="ignore"):
        expected = x**y
        np.testing.assert_allclose(run(lambda x: x**y, x), expected, rtol=1e-13)
        np.testing.assert_allclose(run(np.power, x, np.full(9, y)), expected, rtol=1e-12)
        np.testing.assert_allclose(run(lambda y: x**y, np.full(9, y)), expected, rtol=1e-12)


SLOPES: dict[str, tuple[Callable[[Any], Any], np.ndarray]] = {
    "expm1": (mpmath.exp, WIDE),
    "log1p": (lambda x: 1 / (1 + x), np.concatenate([INSIDE, LARGE])),
    "sinh": (mpmath.cosh, WIDE),
    "cosh": (mpmath.sinh, WIDE),
    "tan": (lambda x: 1 / mpmath.cos(x) ** 2, WIDE),
    "arcsinh": (lambda x: 1 / mpmath.sqrt(1 + x * x), WIDE),
    "arctanh": (lambda x: 1 / (1 - x * x), INSIDE),
    "arccosh": (lambda x: 1 / mpmath.sqrt(x * x - 1), np.array([1.001, 1.5, 2.0, 40.0])),
    "arcsin": (lambda x: 1 / mpmath.sqrt(1 - x * x), INSIDE),
    "arccos": (lambda x: -1 / mpmath.sqrt(1 - x * x), INSIDE),
    "arctan": (lambda x: 1 / (1 + x * x), WIDE),
    "cbrt": (lambda x: 1 / (3 * mpmath.cbrt(abs(x)) ** 2), WIDE[np.abs(WIDE) > 1e-9]),
    "trunc": (lambda _: 0.0, INSIDE),
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes(name: str) -> None:
    slope, points = SLOPES[name]
    for x in points:
        _, program = traced(getattr(np, name), np.array(x))
        derivative = forward_derivative(program, (0,))
        (found,) = interpret(derivative, [float(x)], [1.0])[-1]
        with mpmath.workdps(40):
            expected = float(slope(mpmath.mpf(float(x))))
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-15), x


def test_compiled_code_gives_the_same() -> None:
    """All functions in one kernel, on every point at once: nothing that keeps digits is simplified on the way."""
    names = sorted(UNARY)
    points = np.unique(np.concatenate(list(UNARY.values())))

    def everything(x: Any) -> Any:
        every_value = [getattr(np, name)(x) for name in names]
        return np.stack([*every_value, x**-2.5, x % 0.7, np.where(np.isfinite(x) & (x < 3), x / 0.0, np.nan)])

    _, program = traced(everything, np.array(0.0))
    with np.errstate(all="ignore"):
        found, expected = batch_function(program)(points), everything(points).T
    for k, name in enumerate([*names, "power", "mod", "where"]):
        domain = np.isin(points, UNARY[name]) if name in UNARY else np.abs(points) < 1e6
        np.testing.assert_allclose(found[domain, k], expected[domain, k], rtol=1e-12, atol=1e-15, err_msg=name)

"""Our exp and tanh against mpmath, in units of the last place."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F32, F64, Precision
from kinetree.expr import Port, exp, tanh, trace

FUNCTIONS = {
    "exp": trace(lambda x: [[exp(x[0])]], [Port("x", (1,))], [Port("y", ())], name="exp"),
    "tanh": trace(lambda x: [[tanh(x[0])]], [Port("x", (1,))], [Port("y", ())], name="tanh"),
}
PRECISIONS = pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])


def values(name: str, precision: Precision, x: np.ndarray) -> np.ndarray:
    found: np.ndarray = batch_function(FUNCTIONS[name], precision)(x.astype(precision.char)[:, None])
    return found


@PRECISIONS
@pytest.mark.parametrize(("name", "most"), [("exp", 1.1), ("tanh", 2.5)])
def test_they_are_right_to_units_of_the_last_place(name: str, most: float, precision: Precision) -> None:
    rng, end = np.random.default_rng(0), 708.0 if precision is F64 else 87.0
    x = np.concatenate([rng.uniform(-end, end, 500), rng.normal(size=500), 10.0 ** rng.uniform(-30, 0, 300)])
    x = x.astype(precision.char)
    with mpmath.workprec(200):
        for number, y in zip(x, values(name, precision, x), strict=True):
            exact = getattr(mpmath, name)(mpmath.mpf(float(number)))
            assert abs(mpmath.mpf(float(y)) - exact) <= most * float(np.spacing(abs(y)))


@PRECISIONS
def test_infinities_zeros_and_nan_raise_no_flags(precision: Precision) -> None:
    tiny = float(np.finfo(precision.char).smallest_subnormal)
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny])
    with np.errstate(all="raise", under="ignore"):
        np.testing.assert_array_equal(values("exp", precision, x), [1.0, 1.0, np.inf, 0.0, np.nan, 1.0, 1.0])
        found = values("tanh", precision, x)
    np.testing.assert_array_equal(found, np.array([0.0, -0.0, 1.0, -1.0, np.nan, tiny, -tiny], precision.char))
    assert np.array_equal(np.signbit(found[[0, 1]]), [False, True])


@PRECISIONS
def test_where_the_exponential_overflows_and_vanishes(precision: Precision) -> None:
    last = np.log(np.finfo(precision.char).max)
    with np.errstate(all="raise"):
        assert np.isfinite(values("exp", precision, np.array([last * (1 - 1e-6)])))[0]
    with np.errstate(over="ignore"):
        assert np.isposinf(values("exp", precision, np.array([last * 1.001, 1e4]))).all()
    with pytest.raises(FloatingPointError), np.errstate(over="raise"):
        values("exp", precision, np.array([1e4]))
    smallest = np.log(float(np.finfo(precision.char).smallest_subnormal))
    found = values("exp", precision, np.array([smallest * 0.99, smallest * 1.02, -1e4]))
    assert found[0] > 0
    assert (found[1:] == 0).all()

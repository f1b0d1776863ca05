"""kt.random: numbers of keys, in programs and outside, beside NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import kinetree as kt
from kinetree.random import choice, fold, integers, normal, uniform

VALUES = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])


@kt.program(key=4, low=(), high=(), n=())
def draws(key: Any, low: Any, high: Any, n: Any) -> dict[str, Any]:
    return {
        "uniform": uniform(key, 7),
        "between": uniform(key, (2, 3), low, high),
        "below": uniform(key, 5, 0.0, high),
        "constant bounds": uniform(key, 3, -1.3, 2.7),
        "integers": integers(key, -3, 11, 6),
        "up to n": integers(key, 0, n, 5),
        "choice": choice(key, VALUES, (2, 2)),
        "of arguments": choice(key, np.stack([low, high]), 4),
        "folded": uniform(fold(key, n), 2),
        "of two": uniform(fold([key[0], 5], [1, 2]), 2),
        "normal": normal(key, 5, low, 2.0),
    }


def arguments(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    low = rng.uniform(-4.0, -1.0, count)
    return [rng.integers(0, 2**40, (count, 4)), low, rng.uniform(0.0, 5.0, count), rng.integers(1, 900, count)]


def alone(key: np.ndarray, low: np.ndarray, high: np.ndarray, n: np.ndarray) -> dict[str, np.ndarray]:
    """The same draws outside of programs."""
    two = np.stack([key[:, 0], np.full(len(key), 5)], axis=-1)
    return {
        "uniform": uniform(key, 7),
        "between": uniform(key, (2, 3), low[:, None, None], high[:, None, None]),
        "below": uniform(key, 5, 0.0, high[:, None]),
        "constant bounds": uniform(key, 3, -1.3, 2.7),
        "integers": integers(key, -3, 11, 6),
        "up to n": integers(key, 0, n[:, None], 5),
        "choice": choice(key, VALUES, (2, 2)),
        "of arguments": np.where(integers(key, 0, 2, 4) == 0, low[:, None], high[:, None]),
        "folded": uniform(fold(key, n), 2),
        "of two": uniform(fold(two[:, None], [1, 2]), 2),
        "normal": normal(key, 5, low[:, None], 2.0),
    }


@pytest.mark.parametrize("bounds", [(), (-1.3, 2.7), (5.0, 5.0)])
@pytest.mark.parametrize("length", [2, 3, 4, 5])
def test_uniform_is_numpys_to_the_bit(length: int, bounds: tuple[float, ...]) -> None:
    rng = np.random.default_rng(length)
    for shape in ((), 1, 7, (3, 5)):
        key = rng.integers(0, 2**53, length)
        counter = [0, *key[2:].tolist(), *[0] * (5 - length)]
        theirs = np.random.Generator(np.random.Philox(key=key[:2], counter=counter)).uniform(*bounds, size=shape)
        np.testing.assert_array_equal(uniform(key, shape, *bounds), theirs)


def test_programs_draw_what_is_drawn_outside() -> None:
    given = arguments(50)
    found, expected = draws(*given), alone(*given)
    for name, numbers in expected.items():
        assert (found[name].shape, found[name].dtype) == (numbers.shape, numbers.dtype), name
        tolerance = 1e-14 if name == "normal" else 0.0
        np.testing.assert_allclose(found[name], numbers, rtol=0.0, atol=tolerance, err_msg=name)
    one = draws.function(*(x[3] for x in given))
    np.testing.assert_array_equal(one["between"], expected["between"][3])


def test_numbers_depend_on_no_neighbour() -> None:
    given = arguments(300)
    every = draws(*given)
    for places in ([7], range(100, 109), range(1, 300, 7)):
        for name, numbers in draws(*(x[list(places)] for x in given)).items():
            np.testing.assert_array_equal(numbers, every[name][list(places)], err_msg=name)
    for name, numbers in draws(*given, threads=2).items():
        np.testing.assert_array_equal(numbers, every[name], err_msg=name)


def test_single_precision_has_the_first_bits() -> None:
    key = np.random.default_rng(0).integers(0, [2**24, 2**24, 2**16, 2**24], (40, 4))
    found = draws(key.astype("f4"), *np.array([0.0, 2.0, 9.0], "f4"))
    assert found["uniform"].dtype == np.float32
    np.testing.assert_array_equal(found["uniform"], np.floor(uniform(key, 7) * 2.0**24) * 2.0**-24)
    np.testing.assert_array_equal(found["integers"], integers(key, -3, 11, 6))
    np.testing.assert_array_equal(found["folded"], np.floor(uniform(fold(key, 9), 2) * 2.0**24) * 2.0**-24)
    np.testing.assert_allclose(found["normal"], normal(key, 5, 0.0, 2.0), atol=1e-4)


def test_in_loops_and_from_a_state() -> None:
    @kt.program(key=2)
    def walk(key: Any) -> Any:
        return kt.programs.fori(20, lambda k, x: x + normal(fold(key, k)), 0.0)

    keys = np.array([[3, k] for k in range(9)])
    steps = normal(fold(keys[:, None], np.arange(20)))
    np.testing.assert_allclose(walk(keys), steps.sum(axis=1), atol=1e-13)


def test_distributions() -> None:
    many = [1, 2, 3]
    assert stats.kstest(uniform(many, 20_000), "uniform").pvalue > 0.01
    assert stats.kstest(normal(many, 20_001, 3.0, 2.0), stats.norm(3.0, 2.0).cdf).pvalue > 0.01
    keys = [[5, k] for k in range(20_000)]  # worlds, of which each draws one number
    assert stats.kstest(normal(keys), "norm").pvalue > 0.01
    assert stats.kstest(normal(fold([5, 0], np.arange(20_000))), "norm").pvalue > 0.01
    pairs = normal(many, (20_000, 2))
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 0.02
    assert abs(np.corrcoef(pairs.T**2)[0, 1]) < 0.02
    assert stats.chisquare(np.bincount(integers(many, 0, 7, 20_000))).pvalue > 0.01
    assert stats.chisquare(np.unique(choice(many, [0.5, 2.5, -1.0], 20_000), return_counts=True)[1]).pvalue > 0.01


def test_folded_keys_have_other_numbers() -> None:
    key = [7, 1]
    keys = [key, *fold(key, np.arange(1, 50)).tolist(), *([7, 1, purpose] for purpose in (1, 2, 4095))]
    assert len({float(uniform(k)) for k in keys}) == len(keys)
    np.testing.assert_array_equal(fold(fold([7, 1, 3, 0, 9], 4), 2), [7, 1, 3 + (64 * 5 + 3) * 2**12, 0, 9])
    ways = [fold(key, n) for n in range(63)]
    ways += [fold(way, n) for way in ways[:5] for n in range(63)]
    assert len({tuple(way) for way in (key, *ways)}) == 1 + 6 * 63


def test_bounds_have_derivatives_and_keys_have_none() -> None:
    @kt.program(key=2, low=(), high=())
    def draw(key: Any, low: Any, high: Any) -> Any:
        return uniform(key, (), low, high)

    u = uniform([3, 4])
    found = kt.jacobian(draw, ([3, 4], -1.0, 2.0), wrt=["key", "low", "high"])
    np.testing.assert_allclose(found["key"], 0.0)
    np.testing.assert_allclose([found["low"], found["high"]], [1 - u, u], atol=1e-15)


def test_a_key_that_is_none_gives_nan_in_a_program() -> None:
    @kt.program(key=2)
    def draw(key: Any) -> Any:
        return uniform(key, 5), normal(key, 3), choice(key, VALUES, 2), 1.0 * integers(key, 0, 9)

    with np.errstate(invalid="ignore"):  # comparisons with NaN
        found = draw([[3, 0.5], [3, 2**53]])
    assert all(np.isnan(numbers).all() for numbers in found)


def test_code_in_c_and_casadi_alone_cannot() -> None:
    pytest.importorskip("casadi")
    with pytest.raises(kt.errors.OptionError, match=r'symbols have no random numbers.*form="external"'):
        kt.interop.to_casadi(draws)
    assert "KT_PHILOX" in kt.interop.to_c(draws).source


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "one number": (lambda: uniform([1]), r"uniform: key has shape \(1,\), but must have 2 to 5 numbers"),
    "six numbers": (lambda: normal(np.zeros((4, 6))), r"normal: key has shape \(4, 6\)"),
    "half a number": (lambda: uniform([1, 2.5]), r"uniform: key\[1\] must be a whole number from 0 .*, not 2.5"),
    "a negative one": (lambda: integers([[1, 2], [-1, 3]], 0, 2), r"integers: key\[1, 0\] must be .*, not -1"),
    "one that floats lack": (lambda: uniform([1, 2**53]), r"key\[1\] must be .*, not 9007199254740992"),
    "NaN": (lambda: uniform([1, np.nan]), r"key\[1\] must be .*, not nan"),
    "a word for a key": (lambda: uniform("x"), r"uniform: key must be an array of real numbers of shape \(…, 2\)"),
    "a word for a shape": (lambda: uniform([1, 2], "x"), r"uniform: shape must be a whole number or a tuple"),
    "a negative shape": (lambda: normal([1, 2], (3, -1)), r"normal: shape must be a whole number or a tuple"),
    "more bounds": (lambda: uniform([1, 2], 2, 0.0, np.ones((3, 2))), "more is given than is drawn: the numbers"),
    "bounds of another shape": (lambda: uniform([1, 2], 2, np.zeros(3)), "axes do not broadcast together"),
    "no room": (lambda: uniform([1, 2], 2, 1.0, 0.0), "low and high must be finite, and low at most high, not 1.0"),
    "no integer": (lambda: integers([1, 2], 3, 3), "low and high must be whole numbers, .* and low below high"),
    "half an integer": (lambda: integers([1, 2], 0, 1.5), "low and high must be whole numbers"),
    "a negative deviation": (lambda: normal([1, 2], 3, 0.0, -1.0), "normal: std must be finite and not negative"),
    "no values": (lambda: choice([1, 2], []), r"choice: values have shape \(0,\), but must be \(n, …\)"),
    "a negative fold": (lambda: fold([1, 2], -1), "fold: n must be a whole number from 0"),
    "a fold too far": (lambda: fold([1, 2], 2**42), r"fold: key\[2\] must be a whole number from 0"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "message"), WRONG.values(), ids=WRONG)
def test_it_is_refused_in_words(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(kt.KinetreeError, match=message):
        make()


def test_wrong_keys_are_refused_while_a_program_is_traced() -> None:
    with pytest.raises(kt.errors.ShapeError, match=r"uniform: key has shape \(6,\)"):
        kt.program(lambda key: uniform(key), key=6)([1] * 6)

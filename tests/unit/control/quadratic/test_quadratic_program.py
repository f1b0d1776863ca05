"""Quadratic programs: optimality, what cannot be solved, batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt

solve = kt.control.quadratic_program


def problem(rng: np.random.Generator, flat: bool = False) -> dict[str, Any]:
    """A feasible one, with equations, rows and bounds of some unknowns."""
    n = int(rng.integers(2, 16))
    e, m = int(rng.integers(1, n // 2 + 1)), int(rng.integers(1, 20))
    L = rng.normal(size=(n, n // 2 if flat else n))
    inside = rng.normal(size=n)
    A, C = rng.normal(size=(e, n)), rng.normal(size=(m, n))
    return {
        "P": L @ L.T + (0.0 if flat else 1e-3) * np.eye(n),
        "q": 10.0 * rng.normal(size=n),
        "A": A,
        "b": A @ inside,
        "C": C,
        "lower": C @ inside - rng.uniform(0.0, 1.0, m),
        "upper": np.where(rng.random(m) < 0.3, np.inf, C @ inside + rng.uniform(0.0, 1.0, m)),
        "x_lower": inside - rng.uniform(0.0, 2.0, n),
        "x_upper": inside + 2.0,
    }


def is_optimal(p: dict[str, Any], found: kt.control.QuadraticSolution, tolerance: float = 1e-9) -> bool:
    """The conditions of Karush, Kuhn and Tucker, which are sufficient."""
    x, rows, bounds = found.x, found.row_multipliers, found.bound_multipliers
    slope = p["P"] @ x + p["q"] + p["C"].T @ rows + bounds
    slope -= p["A"].T @ np.linalg.lstsq(p["A"].T, slope, rcond=None)[0]
    size = 1.0 + abs(p["q"]).max() + abs(rows).max() * abs(p["C"]).max()
    held = abs(p["A"] @ x - p["b"]).max() < tolerance
    pairs = [(p["C"] @ x, p["lower"], p["upper"], rows), (x, p["x_lower"], p["x_upper"], bounds)]
    for value, low, high, force in pairs:
        held &= bool((value > low - tolerance).all() and (value < high + tolerance).all())
        held &= bool((value[force < 0.0] < low[force < 0.0] + tolerance).all())
        held &= bool((value[force > 0.0] > high[force > 0.0] - tolerance).all())
    return bool(held and abs(slope).max() < 10.0 * tolerance * size)


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_the_conditions_of_optimality_hold(seed: int, flat: bool) -> None:
    p = problem(np.random.default_rng(seed), flat)
    found = solve(**p)
    assert found.solved, found.summary()
    assert is_optimal(p, found, 1e-6 if flat else 1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_daqp_finds_the_same(seed: int) -> None:
    p = problem(np.random.default_rng(seed))
    ours, theirs = solve(**p), solve(**p, solver="daqp")
    assert theirs.solved
    assert np.allclose(ours.x, theirs.x, rtol=0.0, atol=1e-8)
    assert np.allclose(ours.row_multipliers, theirs.row_multipliers, rtol=1e-6, atol=1e-6)


def test_linear_programs_end_in_a_corner() -> None:
    found = solve(np.zeros((2, 2)), [-1.0, -2.0], C=[[1.0, 1.0]], upper=[1.5], x_lower=[0.0, 0.0], x_upper=[1.0, 1.0])
    assert found.x.tolist() == pytest.approx([0.5, 1.0])


def test_equations_that_follow_from_others_do_no_harm() -> None:
    A = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 2.0, 1.0]])
    found = solve(np.eye(3), np.zeros(3), A, [1.0, 1.0, 2.0])
    assert np.allclose(found.x, np.linalg.pinv(A) @ [1.0, 1.0, 2.0], atol=1e-14)
    assert solve(np.eye(3), np.zeros(3), A, [1.0, 1.0, 2.5]).status == "infeasible"


@pytest.mark.parametrize(
    ("changed", "status", "sentence"),
    [
        ({"C": [[1.0, 0.0]], "lower": [2.0], "x_upper": [1.0, 1.0]}, "infeasible", "no x satisfies"),
        ({"x_lower": [1.0, 0.0], "x_upper": [0.5, 1.0]}, "infeasible", "no x satisfies"),
        ({"x_lower": [np.inf, 0.0]}, "infeasible", "no x satisfies"),
        ({"C": [[1.0, 0.0]], "upper": [-np.inf]}, "infeasible", "no x satisfies"),
        ({"P": np.zeros((2, 2))}, "unbounded", "falls without end"),
        ({"P": np.diag([1e-24, 1.0]), "x_lower": [-1e9, 0.0]}, "too many steps", "sizes differ widely"),
        ({"P": -np.eye(2)}, "not convex", "negative eigenvalue"),
        ({"q": [np.nan, 0.0]}, "not a number", "NaN"),
        ({"x_lower": [np.nan, 0.0]}, "not a number", "NaN"),
        ({"P": [[np.inf, 0.0], [0.0, 1.0]]}, "not a number", "infinity"),
    ],
)
def test_unsolvable_problems_are_reported(changed: dict[str, Any], status: str, sentence: str) -> None:
    found = solve(**{"P": np.eye(2), "q": [1.0, 1.0], **changed})
    assert found.status == status
    assert sentence in found.summary()
    assert np.isnan(found.x).all()
    assert not found.solved


def test_a_batch_has_the_bits_of_single_problems() -> None:
    rng = np.random.default_rng(3)
    p = problem(rng)
    q = 10.0 * rng.normal(size=(3, 50, len(p["q"])))
    q[1, 2] = np.nan
    p["b"] = np.where(np.arange(50)[:, None] == 7, p["b"] + 100.0, p["b"])
    many = solve(**{**p, "q": q}, threads=2)
    assert many.x.shape == q.shape
    assert many.status[1, 2] == "not a number"
    assert (many.status[:, 7] == "infeasible").all()
    assert many.summary().startswith("problem [0, 7]: no x satisfies")
    for index in [(0, 0), (1, 4), (2, 49)]:
        one = solve(**{**p, "q": q[index], "b": p["b"][index[1]]})
        assert np.array_equal(one.x, many.x[index])
        assert np.array_equal(one.row_multipliers, many.row_multipliers[index])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"A": [[1.0, 1.0]]}, kt.errors.OptionError, "both A and b"),
        ({"C": [[1.0, 1.0]]}, kt.errors.OptionError, "lower, upper or both"),
        ({"upper": [1.0]}, kt.errors.OptionError, "need C"),
        ({"P": np.eye(3)}, kt.errors.ShapeError, r"P must have shape .*\(2, 2\), not \(3, 3\)"),
        ({"x_lower": [0.0]}, kt.errors.ShapeError, "x_lower must have shape"),
        ({"q": 1.0}, kt.errors.ShapeError, "n of at least 1"),
        ({"q": np.zeros((3, 2)), "P": np.ones((2, 2, 2))}, kt.errors.ShapeError, "do not broadcast together: P"),
        ({"q": ["a", "b"]}, kt.errors.DTypeError, "q must be an array of real numbers"),
        ({"P": [[2.0, 1.0], [0.0, 2.0]]}, kt.errors.OptionError, "P must be symmetric"),
        ({"threads": 0}, kt.errors.OptionError, "threads must be a whole number"),
        ({"solver": "simplex"}, kt.errors.OptionError, "solver must be"),
    ],
)
def test_wrong_arguments(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        solve(**{"P": np.eye(2), "q": np.zeros(2), **given})


def test_it_is_no_part_of_a_program() -> None:
    @kt.program(x=2)
    def nearest(x: Any) -> Any:
        return solve(np.eye(2), -x, x_lower=[0.0, 0.0]).x

    with pytest.raises(kt.errors.DTypeError, match="q is symbolic; quadratic programs are solved outside programs"):
        nearest([1.0, -1.0])


def test_no_problems_have_no_solutions() -> None:
    found = solve(np.eye(2), np.zeros((0, 2)), x_lower=[0.0, 0.0])
    assert found.x.shape == (0, 2)
    assert found.summary() == "solved"
    with pytest.warns(DeprecationWarning, match=r"summary\(\) now"):
        assert found.told() == "solved"

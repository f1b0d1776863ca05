"""Least squares in order of priority: each level is optimal, by the conditions of Karush, Kuhn and Tucker."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import nnls

from kinetree.control.quadratic.priorities import in_order
from kinetree.control.quadratic.workspace import Levels, Workspace

Array = np.ndarray


class Problem(NamedTuple):
    rows: Array
    """(A | b) of all levels."""
    weights: Array
    starts: list[int]
    sides: Array
    lower: Array
    upper: Array


class Solution(NamedTuple):
    x: Array
    levels: int
    programs: int
    soft_left_out: bool


def solved(p: Problem, soft: int = 0) -> Solution:
    n, m = p.rows.shape[1] - 1, len(p.sides)
    w = Workspace.of(n, m, len(p.rows))
    w.solution[:] = np.nan
    sides, starts = np.hstack([p.sides, np.zeros((m, 1))]), np.array(p.starts, np.int32)
    in_order(Levels(n, m - soft, soft, p.rows, p.weights, starts, sides, p.lower, p.upper), w)  # run by Python
    return Solution(w.solution, int(w.outcome[0]), int(w.outcome[2]), bool(w.outcome[4]))


def problem(seed: int) -> Problem:
    """Equations that have a solution among the inequalities, two levels that depend on each other, and an effort."""
    rng = np.random.default_rng(seed)
    n, sizes, m = int(rng.integers(6, 15)), rng.integers(1, 6, 3), int(rng.integers(5, 25))
    inside = rng.normal(size=n)
    levels = [rng.normal(size=(k, n)) for k in sizes]
    levels[1][0] = 0.0  # such as the row of a task that is switched off
    levels[2][-1] = levels[1].sum(axis=0)
    right = [levels[0] @ inside, *(10.0 * rng.normal(size=k) for k in sizes[1:])]
    A, b = np.vstack([*levels, np.eye(n)]), np.concatenate([*right, np.zeros(n)])
    C = rng.normal(size=(m, n)) * 10.0 ** rng.uniform(-1, 1, (m, 1))
    width = rng.uniform(0.0, 2.0, m)
    starts = [0, *np.cumsum(sizes).tolist(), len(A)]
    weights = np.append(np.ones(len(A) - n), np.full(n, 1e-2))
    weights[starts[1] : starts[3]] = rng.uniform(0.1, 10.0, starts[3] - starts[1])
    upper = np.where(rng.random(m) < 0.3, np.inf, C @ inside + width)
    return Problem(np.hstack([A, b[:, None]]), weights, starts, C, C @ inside - width, upper)


def slope_that_nothing_holds(p: Problem, x: Array, level: int) -> float:
    """What is left of a level's slope when rows before it and active inequalities have pushed, relative to it."""
    A, b = p.rows[:, :-1], p.rows[:, -1]
    own = slice(p.starts[level], p.starts[level + 1])
    slope = A[own].T @ (p.weights[own] * (A[own] @ x - b[own]))
    terms = abs(A[own]).T @ (p.weights[own] * (abs(A[own]) @ abs(x) + abs(b[own])))
    value = p.sides @ x
    near = 1e-8 * (1.0 + abs(value))
    low, high = value < p.lower + near, value > p.upper - near
    before = A[: p.starts[level]]
    pushes = np.vstack([before, -before, p.sides[low], -p.sides[high]])
    return float(nnls(pushes.T, slope)[1] / (terms.max() or 1.0))


@pytest.mark.parametrize("seed", range(60))
def test_each_level_is_as_good_as_those_before_allow(seed: int) -> None:
    p = problem(seed)
    found = solved(p)
    assert found.levels == len(p.starts) - 1
    value, room = p.sides @ found.x, 1e-9 * (1.0 + abs(p.sides @ found.x))
    assert (value > p.lower - room).all()
    assert (value < p.upper + room).all()
    held = slice(0, p.starts[1])
    assert np.allclose(p.rows[held, :-1] @ found.x, p.rows[held, -1], rtol=0.0, atol=1e-10)
    for level in range(1, len(p.starts) - 1):
        assert slope_that_nothing_holds(p, found.x, level) < 1e-8


def test_what_nothing_limits_is_one_program() -> None:
    p = problem(0)
    wide = np.full(len(p.lower), 1e6)
    found = solved(p._replace(lower=-wide, upper=wide))
    assert found.programs == 1
    met = slice(0, p.starts[2])
    assert np.allclose(p.rows[met, :-1] @ found.x, p.rows[met, -1] * p.rows[met, :-1].any(axis=1), atol=1e-10)


def test_rounding_of_the_data_moves_the_solution_by_rounding() -> None:
    for seed in range(10):
        p = problem(seed)
        nearly = p._replace(rows=p.rows * (1.0 + 1e-13 * np.random.default_rng(seed).normal(size=p.rows.shape)))
        assert np.allclose(solved(nearly).x, solved(p).x, rtol=0.0, atol=1e-7)


def test_soft_inequalities_are_left_out_where_nothing_satisfies_them() -> None:
    p = problem(3)
    sides = np.vstack([p.sides, np.eye(len(p.sides[0]))[:2]])
    sides[-1] = sides[-2]
    lower, upper = np.append(p.lower, [1.0, -np.inf]), np.append(p.upper, [np.inf, -1.0])
    found = solved(p._replace(sides=sides, lower=lower, upper=upper), soft=2)
    assert found.soft_left_out
    assert np.allclose(found.x, solved(p).x, rtol=0.0, atol=1e-7)


def test_they_are_left_out_of_a_single_level_too() -> None:
    sides, most = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), np.array([1.0, 2.0, np.inf])
    found = solved(Problem(np.eye(2, 3), np.ones(2), [0, 0, 2], sides, np.array([0.5, -2.0, 3.0]), most), soft=1)
    assert found.soft_left_out
    assert found.x.tolist() == [0.5, 0.0]

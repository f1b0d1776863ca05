"""A thousand stored problems of rigid contacts of 15 robots, beside their certificates and Pinocchio's ADMM."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from kinetree.algorithms.admm import admm
from kinetree.algorithms.convex_dynamics import Block, Minimum
from kinetree.algorithms.row_costs import OneSided
from kinetree.tree.elimination import Elimination
from kinetree.tree.sparse_matrix import SparseMatrix
from tests.stored_problems import Problems, Solved, natural_map, pinocchio, solved, stored, violation

STORED = stored()


@cache
def answer(size: int) -> Solved:
    return solved(STORED[size])


def left(size: int) -> np.ndarray:
    """The violation at what came out."""
    problems = STORED[size]
    return violation(problems.B, problems.g, problems.mu, answer(size).impulses)


def test_there_are_a_thousand_problems_of_fifteen_robots_with_certificates() -> None:
    assert sum(len(problems.g) for problems in STORED.values()) >= 1000
    assert len(np.unique(np.concatenate([problems.robot for problems in STORED.values()]))) == 15
    for problems in STORED.values():
        again = natural_map(problems.B, problems.g, problems.mu, problems.solution)
        np.testing.assert_allclose(again, problems.residual, atol=1e-13)
        assert (again < 1e-10).mean() > 0.97


@pytest.mark.parametrize("size", sorted(STORED))
def test_what_is_reported_as_left_is_what_is_left(size: int) -> None:
    np.testing.assert_allclose(answer(size).residual, left(size), rtol=1e-3, atol=1e-10)


def test_all_but_a_few_are_solved_and_those_are_reported() -> None:
    residuals = np.concatenate([left(size) for size in sorted(STORED)])
    iterations = np.concatenate([answer(size).iterations for size in sorted(STORED)])
    assert (residuals < 1e-6).sum() >= 1045
    assert np.quantile(residuals, 0.99) < 1e-8
    assert residuals.max() < 1e-3
    assert np.median(iterations) < 20
    assert iterations.max() <= 42 * 20 + 3 * 24 + 500


@pytest.mark.parametrize("size", sorted(STORED))
def test_motions_are_those_of_the_certificates(size: int) -> None:
    # How contacts share a load decides how they slide. The stored solutions are those of the solver as well, with a
    # tolerance of 1e-11 in place of 1e-8, so they have the same share, that of the least Σ w f². But Coulomb's problem
    # may have several solutions, and it depends on the tolerance which attempt ends, and so which one is found: that
    # was the case in one of 110 problems with eight contacts, and in none of the 934 others.
    problems, found = STORED[size], answer(size)
    sure = (problems.residual < 1e-10) & (found.residual < 1e-8)
    apart = np.einsum("nij,nj->ni", problems.B.swapaxes(1, 2), found.impulses - problems.solution)
    assert (np.abs(apart[sure]).max(axis=1) < 1e-5).mean() > 0.99


def test_one_round_satisfies_friction_at_the_velocity_before() -> None:
    # With the shift as it was at the beginning the problem is convex, and its cone is what it should be.
    problems = STORED[2]
    found = solved(problems, rounds=1)
    normal, *across = np.moveaxis(found.impulses.reshape(-1, 2, 3), -1, 0)
    assert (np.hypot(*across) <= problems.mu * normal + 1e-9).all()
    assert found.iterations.max() <= 20


def stacks(friction: float, count: int) -> Problems:
    """Two boxes on each other, on four corners each: 24 rows, of which twelve are independent."""
    rng = np.random.default_rng(1)
    numbers = []
    corners = [np.array([x, y, -0.05]) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    for _ in range(count):
        inverse = np.concatenate([np.r_[np.full(3, 1.0 / rng.uniform(0.5, 2.0)), 1.0 / rng.uniform(0.005, 0.02, 3)]
                                  for _ in range(2)])  # fmt: skip
        J = np.zeros((24, 12))
        for k, corner in enumerate(corners):
            r = corner + 1e-3 * rng.normal(size=3)
            J[3 * k : 3 * k + 3, :6] = at_point(r)
            J[12 + 3 * k : 15 + 3 * k, 6:] = at_point(r)
            J[12 + 3 * k : 15 + 3 * k, :6] = -at_point(r + np.array([0.0, 0.0, 0.1]))
        v = rng.normal(size=12) * np.tile([1.0, 1.0, 0.3, 1.0, 1.0, 3.0], 2)
        v[[2, 8]] -= rng.choice([0.01, 0.5])
        half = np.sqrt(inverse)[:, None] * J.T
        scale = np.sqrt(24.0 / np.trace(half.T @ half))
        B = np.zeros((24, 24))
        B[:, :12] = np.asarray(np.linalg.qr(half * scale, mode="r")).T
        numbers.append((B, J @ v))
    B, g = map(np.array, zip(*numbers, strict=True))
    return Problems(B, g, np.full((count, 8), friction), np.zeros(count), np.zeros_like(g), np.zeros(count))


def at_point(r: np.ndarray) -> np.ndarray:
    """The velocity of a point of a free body along z, x and y, from its linear and angular one."""
    x, y, z = r
    return np.array([[0, 0, 1, y, -x, 0], [1, 0, 0, 0, z, -y], [0, 1, 0, -z, 0, x]], dtype=float)


@pytest.mark.parametrize("friction", [0.5, 3.0, 100.0, 1e4, 1e6])
def test_stacks_of_boxes_with_any_friction_are_solved_and_what_is_left_is_reported(friction: float) -> None:
    # Twice as many rows as boxes can move: with much friction the method of multipliers alone is far from done after
    # 500 iterations.
    problems = stacks(friction, 16)
    found = solved(problems)
    remain = violation(problems.B, problems.g, problems.mu, found.impulses)
    np.testing.assert_allclose(found.residual, remain, rtol=1e-3, atol=1e-10)
    assert (remain < 1e-8).mean() >= 0.9


def test_pinocchio_has_the_same_problems_and_the_same_answers() -> None:
    pytest.importorskip("pinocchio")
    solve = pinocchio("ADMM", 1e-9)
    problems = Problems(*(field[::12] for field in STORED[4]))
    theirs = [solve(B @ B.T, g, mu) for B, g, mu in zip(problems.B, problems.g, problems.mu, strict=True)]
    residuals = natural_map(problems.B, problems.g, problems.mu, np.array([impulses for impulses, _ in theirs]))
    assert (residuals < 1e-7).mean() > 0.9
    B, mine = problems.B, answer(4).impulses[::12]
    apart = np.einsum("nij,nj->ni", B.swapaxes(1, 2), np.array([x for x, _ in theirs]) - mine)
    both = (residuals < 1e-7) & (answer(4).residual[::12] < 1e-7)
    assert (np.abs(apart[both]).max(axis=1) < 1e-4).mean() > 0.9


def test_multipliers_find_the_force_of_a_row_that_gives_way() -> None:
    """A unit mass, M = 1, on one row with f = D (r - a): f = D r / (1 + D)."""
    D, r = 2.0, 3.0
    order = Elimination((0, 0), (0, 0))
    M = SparseMatrix([[1.0]], order, None)  # type: ignore[arg-type]
    begun = Minimum([0.0], [[0.0]], 1.0, 0.0)
    found = admm(M, [0.0], [Block([[1.0]], [r], OneSided(D))], begun, 1.0, 500, 1e-10)
    assert found.forces[0][0] == pytest.approx(D * r / (1.0 + D), rel=1e-9)
    assert found.acceleration[0] == pytest.approx(found.forces[0][0], rel=1e-12)
    assert found.error <= 1e-10

"""A thousand stored problems of rigid contacts of 15 robots, beside their certificates and Pinocchio's ADMM."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.stored_problems import Problems, Solved, natural_map, pinocchio, solved, stored

STORED = stored()


@cache
def answer(size: int) -> Solved:
    return solved(STORED[size])


def left(size: int) -> np.ndarray:
    """The natural map at what came out."""
    problems = STORED[size]
    return natural_map(problems.B, problems.g, problems.mu, answer(size).impulses)


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
    assert (residuals < 1e-6).sum() >= 1040
    assert residuals.max() < 1e-3
    assert np.median(iterations) < 40
    assert iterations.max() <= 40 * 20 + 500


@pytest.mark.parametrize("size", sorted(STORED))
def test_motions_are_those_of_the_certificates(size: int) -> None:
    # Impulses of several contacts need not be unique, and without friction's lift neither need motions be: where the
    # two agree less, both satisfy the conditions.
    problems, found = STORED[size], answer(size)
    sure = (problems.residual < 1e-10) & (found.residual < 1e-8)
    apart = np.einsum("nij,nj->ni", problems.B.swapaxes(1, 2), found.impulses - problems.solution)
    assert (np.abs(apart[sure]).max(axis=1) < 1e-5).mean() > 0.97


def test_one_round_satisfies_friction_at_the_velocity_before() -> None:
    # With the shift as it was at the beginning the problem is convex, and its cone is what it should be.
    problems = STORED[2]
    found = solved(problems, rounds=1)
    normal, *across = np.moveaxis(found.impulses.reshape(-1, 2, 3), -1, 0)
    assert (np.hypot(*across) <= problems.mu * normal + 1e-9).all()
    assert found.iterations.max() <= 20


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

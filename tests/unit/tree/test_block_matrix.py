"""Matrices in blocks, full and partly empty: sums, products and solutions against those of dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.crba import crba
from kinetree.algorithms.ltdl import block_half, block_ltdl, block_rest
from kinetree.tree import sparse_matrix
from kinetree.tree.elimination import WIDTH, chains

Array = np.ndarray[Any, np.dtype[np.float64]]


def robots() -> list[kt.Model]:
    """A quadruped; and an arm beside two free bodies."""
    beside = kt.zoo.load("arm7").with_free_body("sphere", 0.1, mass=1.0, name="ball")
    return [kt.zoo.load("quadruped"), beside.with_free_body("box", [0.1, 0.1, 0.1], mass=2.0, name="box")]


def in_blocks(robot: kt.Model, q: Array) -> Any:
    """The mass matrix, in blocks between which all entries may be added."""
    tree: Any = robot.tree
    M = crba(tree, tree.split(list(q), "nq")).sparse(in_chains=True, coupled=[range(robot.nv)])
    return M.in_blocks([])


@pytest.fixture(autouse=True)
def small_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_matrix, "_BLOCKS_FROM", 0)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("seed", range(3))
def test_solutions_are_those_of_dense_matrices(number: int, seed: int) -> None:
    robot, rng = robots()[number], np.random.default_rng(seed)
    q = kt.integrate(robot, robot.neutral(), rng.normal(size=robot.nv))
    M, place = in_blocks(robot, q), chains(robot.tree).place
    count = chains(robot.tree).count
    dense = np.zeros(((count + 1) * WIDTH,) * 2)
    for _ in range(4):  # J Jᵀ of rows that reach over two rows of places
        k, i = sorted(rng.choice(np.arange(1, count + 1), 2, replace=False), reverse=True)
        J = np.zeros((len(dense), 3))
        used = [at for at in place if at // WIDTH in (k, i)]
        J[used] = rng.normal(size=(len(used), 3))
        square = J @ J.T
        dense += square
        for a, b in ((k, k), (i, i), (k, i)):
            block = square[a * WIDTH : (a + 1) * WIDTH, b * WIDTH : (b + 1) * WIDTH].tolist()
            M.add(int(a), int(b), block, *([1.0] if a != b else []))
    H = kt.mass_matrix(robot, q) + dense[np.ix_(place, place)]
    x = rng.normal(size=robot.nv)
    np.testing.assert_allclose(M.in_v(M.times(M.column(list(x)))), H @ x, rtol=0, atol=1e-10)
    before = M.copy()
    block_ltdl(M)
    solved = M.column(list(x))
    block_half(M, solved)
    size = M.total(lambda k: solved[k] * solved[k] / M.pivot(k))
    block_rest(M, solved)
    expected = np.linalg.solve(H, x)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(M.in_v(solved), expected, rtol=0, atol=1e-9 * scale)
    assert size == pytest.approx(x @ expected, rel=1e-9)
    again = before.in_v(before.times(before.column(list(x))))
    np.testing.assert_allclose(again, H @ x, rtol=0, atol=1e-10)


def test_numbers_are_added_to_entries_of_both_kinds_of_matrix() -> None:
    robot, rng = robots()[1], np.random.default_rng(5)
    tree: Any = robot.tree
    q = kt.integrate(robot, robot.neutral(), rng.normal(size=robot.nv))
    written = crba(tree, tree.split(list(q), "nq")).sparse(in_chains=True, coupled=[range(robot.nv)])
    pairs = [(int(a), int(b)) for a, b in rng.integers(robot.nv, size=(40, 2))]
    numbers, expected = tree.grid(len(pairs), 1), kt.mass_matrix(robot, q)
    for n, (a, b) in enumerate(pairs):
        numbers[n, 0] = x = float(rng.normal())
        expected[[a, b] if a != b else [a], [b, a] if a != b else [a]] += x
    x = rng.normal(size=robot.nv)
    for M in (written.in_blocks([range(1, robot.nv + 1)]), written):
        M.add_entries(pairs, numbers)
        product = M.in_v(M.times(M.column(list(x))))
        np.testing.assert_allclose(product, expected @ x, rtol=0, atol=1e-10)


def test_rows_of_places_follow_limbs() -> None:
    robot = robots()[1]
    found, starts = chains(robot.tree), robot.tree.v_starts
    assert sorted(set(found.place)) == sorted(found.place)
    for i, p in robot.tree.outward:
        own = found.place[starts[i] : starts[i + 1]]
        assert [at - own[0] for at in own] == [*range(len(own))]
        assert found.of_slot[i] == own[-1]
        carrier = own[0] - 1 if own[0] % WIDTH else found.parent[own[0] // WIDTH]
        assert carrier == found.of_slot[p]
    assert found.count == 4  # seven joints of the arm in two rows, and two bodies

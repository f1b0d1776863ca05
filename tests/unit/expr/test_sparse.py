"""Many columns solved in loops of a program, by factors whose zeros are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.expr import Loop, Port, Program, Recorder, interpret, trace, trace_memory
from kinetree.expr.symbol import is_zero
from kinetree.tree.sparse_matrix import StoredFactors
from tests.strategies import law

Array = NDArray[np.float64]


def on_a_tree(parent: Sequence[int], rng: np.random.Generator) -> tuple[Array, Array]:
    """Random factors L and D, with an entry in L for each pair of which one carries the other; -1 is the root."""
    n = len(parent)
    L = np.eye(n)
    for k in range(n):
        i = parent[k]
        while i >= 0:
            L[k, i], i = rng.normal(), parent[i]
    return L, rng.uniform(0.5, 2.0, n)


def matrix_of(L: Array, D: Array, order: Sequence[int]) -> Array:
    """H = Lᵀ D L with its rows where `order` has them."""
    H = np.zeros_like(L)
    H[np.ix_(order, order)] = L.T @ np.diag(D) @ L
    return H


def solving(parent: Sequence[int], order: Sequence[int], zeros: Array) -> Program:
    """H⁻¹ M for some matrices M, then H⁻¹; the factors and M go in, and where `zeros` is zero M is known to be."""
    n, count = len(parent), len(zeros)
    pattern = on_a_tree(parent, np.random.default_rng(0))[0] - np.eye(n)

    def record(recorder: Recorder) -> None:
        (output,) = recorder.outputs
        flat, inverse_D, given = ([memory[k] for k in range(memory.size)] for memory in recorder.inputs)
        L = [{s: flat[k * n + s] for s in range(n) if pattern[k, s]} for k in range(n)]
        matrices: list[list[list[Any]]] = [
            [[given[(m * n + i) * n + j] if zeros[m, i, j] else 0.0 for j in range(n)] for i in range(n)]
            for m in range(count)
        ]
        stored = StoredFactors(recorder, order, L, inverse_D)
        stored.solve(matrices, output)
        stored.invert(output, count * n * n)

    ports = [Port("L", (n, n)), Port("inverse_D", (n,)), Port("M", (count, n, n))]
    return trace_memory(record, ports, [Port("X", (count + 1, n, n))], "solved")


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[int], list[int], Array, np.random.Generator]:
    """A tree, its rows in any order, and where some matrices are other than zero."""
    n = draw(st.integers(1, 8))
    parent = [draw(st.integers(-1, k - 1)) for k in range(n)]
    order = list(draw(st.permutations(range(n))))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    zeros = rng.uniform(size=(draw(st.integers(1, 2)), n, n)) < draw(st.sampled_from([0.0, 0.3, 1.0]))
    return parent, order, zeros.astype(float), rng


@law(120)
@given(problem=problems())
def test_columns_are_solved_whatever_is_known_of_them(
    problem: tuple[list[int], list[int], Array, np.random.Generator],
) -> None:
    parent, order, zeros, rng = problem
    n = len(parent)
    L, D = on_a_tree(parent, rng)
    M = rng.normal(size=zeros.shape) * zeros
    (flat,) = interpret(solving(parent, order, zeros), L.ravel().tolist(), (1.0 / D).tolist(), M.ravel().tolist())
    found, H = np.reshape(flat, (len(zeros) + 1, n, n)), matrix_of(L, D, order)
    size = max(1.0, float(np.abs(np.linalg.inv(H)).max()))
    for solved, rows in zip(found, [*M, np.eye(n)], strict=True):
        np.testing.assert_allclose(H @ solved, rows, rtol=0.0, atol=1e-10 * size)
    np.testing.assert_array_equal(found[-1], found[-1].T)


def test_only_the_constant_is_known_to_be_zero() -> None:
    assert is_zero(0.0)
    assert is_zero(-0.0)
    assert not is_zero(1e-300)
    seen: list[bool] = []

    def same(x: Sequence[Any]) -> list[list[Any]]:
        seen.append(is_zero(x[0]))
        return [[x[0]]]

    trace(same, [Port("x", ())], [Port("y", ())], "same")
    assert seen == [False]


def test_branches_that_never_meet_cost_what_they_cost_alone() -> None:
    """Two of three joints each; a column is zero in the other branch."""
    branch, two = [-1, 0, 1], [-1, 0, 1, -1, 3, 4]
    both = np.zeros((1, 6, 6))
    both[0, :3, :3] = both[0, 3:, 3:] = 1.0
    one = solving(branch, range(3), np.ones((1, 3, 3))).operation_counts().total()
    assert solving(two, range(6), both).operation_counts().total() == 2 * one


def test_columns_of_the_same_zeros_share_a_loop_and_those_of_zeros_only_have_none() -> None:
    """Of a chain: one loop for a full matrix, none for one of zeros; another for the inverse."""
    n = 12
    chain = list(range(-1, n - 1))

    def loops(zeros: Array) -> int:
        program = solving(chain, range(n), zeros)
        return sum(isinstance(s, Loop) for s in program.body.all_statements())

    nothing, full = np.zeros((1, n, n)), np.ones((1, n, n))
    assert loops(full) == loops(nothing) + 1
    (flat,) = interpret(solving(chain, range(n), nothing), np.eye(n).ravel().tolist(), [1.0] * n, [0.0] * n * n)
    np.testing.assert_array_equal(np.reshape(flat, (2, n, n)), [np.zeros((n, n)), np.eye(n)])


@pytest.mark.parametrize("n", [1, 6, 24])
def test_a_compiled_loop_is_what_it_means(n: int) -> None:
    """Two branches that share their first half; a batch of samples."""
    parent = list(range(-1, n - 1))
    if n > 2:
        parent[3 * n // 4] = n // 2 - 1
    rng = np.random.default_rng(n)
    L, D = on_a_tree(parent, rng)
    program = solving(parent, range(n), np.ones((1, n, n)))
    M = rng.normal(size=(9, 1, n, n))
    found = batch_function(program)(L, 1.0 / D, M)
    for k in (0, 4, 8):
        (flat,) = interpret(program, L.ravel().tolist(), (1.0 / D).tolist(), M[k].ravel().tolist())
        size = float(np.abs(flat).max())
        np.testing.assert_allclose(found[k].ravel(), flat, rtol=0.0, atol=1e-12 * size)

"""Dense linear algebra as loops: right, on floats and in programs, and quick to compile."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen import batch_function
from kinetree.expr import Port, Program, Recorder, interpret, trace_memory
from kinetree.expr.dense import Numbers, factor, solve


def positive(n: int, rng: np.random.Generator) -> np.ndarray:
    B = rng.normal(size=(n, n))
    return B @ B.T + np.eye(n)


def solving(n: int) -> Program:
    """x = A⁻¹ b, in a program."""

    def record(recorder: Recorder) -> None:
        A, (x,) = recorder.array("A", n * n), recorder.outputs
        for k in A.rounds(0, n * n):
            A[k] = recorder.inputs[0][k]
        for k in A.rounds(0, n):
            x[k] = recorder.inputs[1][k]
        factor(A, n)
        solve(A, n, x)

    return trace_memory(record, [Port("A", (n, n)), Port("b", (n,))], [Port("x", (n,))], "solve")


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20])
def test_a_system_is_solved_on_floats_and_in_a_program(n: int) -> None:
    rng = np.random.default_rng(n)
    A, b = positive(n, rng), rng.normal(size=n)
    expected = np.linalg.solve(A, b)
    matrix, x = Numbers(A.ravel().tolist()), Numbers(b.tolist())
    factor(matrix, n)
    solve(matrix, n, x)
    np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-12)
    program = solving(n)
    (meant,) = interpret(program, A.ravel().tolist(), b.tolist())
    np.testing.assert_allclose(meant, x, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(batch_function(program)(A, b), meant, rtol=1e-12, atol=1e-14)


def test_the_factors_are_in_the_lower_triangle() -> None:
    A = positive(5, np.random.default_rng(0))
    matrix = Numbers(A.ravel().tolist())
    factor(matrix, 5)
    factors = np.reshape(matrix, (5, 5))
    L, D = np.tril(factors, -1) + np.eye(5), np.diag(np.diag(factors))
    np.testing.assert_allclose(L @ D @ L.T, A, rtol=1e-12)
    np.testing.assert_array_equal(np.triu(factors, 1), np.triu(A, 1))


def test_a_hundred_thousand_operations_are_a_few_lines_of_code() -> None:
    program = solving(80)
    assert program.operation_counts().total() > 90_000
    assert len(repr(program).splitlines()) < 60
    rng = np.random.default_rng(1)
    A, b = np.stack([positive(80, rng) for _ in range(9)]), rng.normal(size=(9, 80))
    x = batch_function(program)(A, b)
    np.testing.assert_allclose(x, np.linalg.solve(A, b[..., None])[..., 0], rtol=1e-7, atol=1e-9)


def test_the_mass_matrix_solved_is_forward_dynamics() -> None:
    robot = kt.zoo.load("humanoid")
    rng = np.random.default_rng(2)
    q, v, tau = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    force = tau - kt.bias_forces(robot, q, v)
    found = batch_function(solving(robot.nv))(kt.crba(robot, q), force)
    np.testing.assert_allclose(found, kt.aba(robot, q, v, tau), rtol=1e-8, atol=1e-8)

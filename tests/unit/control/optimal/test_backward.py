"""The backward pass: its text run by Python gives the same bits, and its step is the minimum of the quadratic model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinetree.control.optimal.backward import backward_pass


@pytest.mark.parametrize("bound", [np.inf, 0.3])
@pytest.mark.parametrize("with_gaps", [True, False])
def test_machine_code_computes_what_its_text_says(bound: float, with_gaps: bool) -> None:
    given = problem(np.random.default_rng(0), b=2, T=4, n=4, m=3, bound=bound, with_gaps=with_gaps)
    same = [x.copy() if isinstance(x, np.ndarray) else x for x in given]
    backward_pass(*given)
    backward_pass.__wrapped__(*same)  # type: ignore[attr-defined]
    for x, y in zip(given, same, strict=True):
        assert np.array_equal(x, y)


@pytest.mark.parametrize("with_gaps", [True, False])
def test_the_step_is_the_minimum_of_the_quadratic_model(with_gaps: bool) -> None:
    T, n, m = 5, 4, 2
    given = problem(np.random.default_rng(1), b=1, T=T, n=n, m=m, bound=np.inf, with_gaps=with_gaps)
    backward_pass(*given)
    k, K, report = given[5], given[6].reshape(T, m, n), given[7]
    H, g, change, closed = dense(given, T, n, m, with_gaps)
    best = np.linalg.solve(H, -g)
    x, u = np.zeros(n), []
    for t in range(T):
        u.append(k[0, t] + K[t] @ x)
        x = change(t, x, u[-1])
    assert np.allclose(np.ravel(u), best, rtol=0, atol=1e-9)
    assert np.isclose(report[0, 3], closed + 0.5 * (g @ best))
    if not with_gaps:
        assert np.isclose(report[0, 2], g @ best)


def test_limits_hold_and_the_rest_is_best() -> None:
    T, n, m = 1, 4, 3
    given = problem(np.random.default_rng(2), b=1, T=T, n=n, m=m, bound=0.05, with_gaps=False)
    backward_pass(*given)
    k, K = given[5][0, 0], given[6].reshape(m, n)
    H, g, _, _ = dense(given, T, n, m, False)
    held = abs(k) == 0.05
    assert held.any()
    assert (abs(k) <= 0.05).all()
    slope = H @ k + g
    assert abs(slope[~held]).max(initial=0.0) < 1e-9
    assert (slope[held] * k[held] <= 0.0).all()
    assert np.array_equal(K[held], np.zeros((held.sum(), n)))
    assert K[~held].any()


@pytest.mark.parametrize("swept", [backward_pass, backward_pass.__wrapped__], ids=["machine code", "text"])  # type: ignore[attr-defined]
def test_a_cost_without_a_minimum_is_regularised_as_far_as_needed(swept: Any) -> None:
    n, m = 2, 1
    given = problem(np.random.default_rng(3), b=1, T=1, n=n, m=m, bound=np.inf, with_gaps=False)
    given[0][0, 0, -1] = -50.0  # the cost's second derivative by the control
    swept(*given)
    assert given[7][0, 0] == 1.0
    assert 1.0 <= given[4][0, 0] <= 1e3
    given[0][0, 0, -1] = np.nan
    swept(*given)
    assert given[7][0, 0] == 0.0


def problem(rng: np.random.Generator, *, b: int, T: int, n: int, m: int, bound: float, with_gaps: bool) -> list[Any]:
    """Arguments of `backward_pass` for random convex problems."""
    p = n + m
    P = (p + 7) // 8 * 8
    knots = np.empty((b, T, n + n * p + 1 + p + p * (p + 1) // 2))
    for i in range(b):
        for t in range(T):
            F = np.eye(n, p) + 0.3 * rng.normal(size=(n, p))
            A = rng.normal(size=(p, p))
            knots[i, t] = np.concatenate(
                [
                    rng.normal(size=n),
                    F.ravel(),
                    [1.0],
                    rng.normal(size=p),
                    (A @ A.T + 0.1 * np.eye(p))[np.triu_indices(p)],
                ]
            )
    last = np.tile(np.concatenate([[1.0], rng.normal(size=n), np.eye(n).ravel()]), (b, 1))
    limits = np.array([[-bound] * m, [bound] * m])
    results = np.zeros((b, T, m)), np.zeros((b, T, m * n)), np.zeros((b, 5))
    work = [np.zeros((rows, P)) for rows in (n + 1, n, max(n + 1, m), p, m)]
    rows = [np.zeros(P) for _ in range(6)]
    setting = np.tile([0.0, float(with_gaps), 1.0], (b, 1))
    return [
        knots, last, np.zeros((b, T, m)), limits, setting, *results, *work, np.zeros((m, m)), np.zeros((2, m)), *rows,
        np.zeros((2, P)), T, n, m,
    ]  # fmt: skip


def dense(given: list[Any], T: int, n: int, m: int, with_gaps: bool) -> tuple[Any, Any, Any, float]:
    """Hessian and gradient of the first problem's model by all controls, its linear steps, and what closing the gaps
    costs without a change of the controls."""
    p, row, last = n + m, given[0][0], given[1][0]

    def change(t: int, x: Any, u: Any) -> Any:
        F = row[t, n : n + n * p].reshape(n, p)
        return F @ np.concatenate([x, u]) + (row[t, :n] if with_gaps else 0.0)

    def cost(controls: Any) -> float:
        x, total = np.zeros(n), 0.0
        for t, u in enumerate(controls.reshape(T, m)):
            z, g, H = np.concatenate([x, u]), row[t, n + n * p + 1 :][:p], np.zeros((p, p))
            H[np.triu_indices(p)] = row[t, n + n * p + 1 + p :]
            H = H + np.triu(H, 1).T
            total += g @ z + 0.5 * z @ H @ z
            x = change(t, x, u)
        return float(total + last[1 : 1 + n] @ x + 0.5 * x @ last[1 + n :].reshape(n, n) @ x)

    one, zero = np.eye(T * m), cost(np.zeros(T * m))
    single = np.array([cost(e) for e in one])
    g = np.array([0.5 * (cost(e) - cost(-e)) for e in one])
    H = np.array([[cost(a + b) - single[i] - single[j] + zero for j, b in enumerate(one)] for i, a in enumerate(one)])
    return H, g, change, zero

"""The backward pass: its text run by Python gives the same bits, and its step is the minimum of the quadratic model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinetree.control.optimal.backward import Passes, backward_pass
from kinetree.control.optimal.rows import Workspace


@pytest.mark.parametrize("bound", [np.inf, 0.3])
@pytest.mark.parametrize("with_gaps", [True, False])
def test_machine_code_computes_what_its_text_says(bound: float, with_gaps: bool) -> None:
    given = problem(np.random.default_rng(0), b=2, T=4, n=4, m=3, bound=bound, with_gaps=with_gaps)
    same = given._replace(**{name: getattr(given, name).copy() for name in ("setting", "k", "K", "report")})
    work, other = Workspace.of(4, 3), Workspace.of(4, 3)
    backward_pass(given, work)
    backward_pass.__wrapped__(same, other)  # type: ignore[attr-defined]
    for x, y in zip((*given, *work), (*same, *other), strict=True):
        assert np.array_equal(np.asarray(x), np.asarray(y))


@pytest.mark.parametrize("with_gaps", [True, False])
def test_the_step_is_the_minimum_of_the_quadratic_model(with_gaps: bool) -> None:
    T, n, m = 5, 4, 2
    given = problem(np.random.default_rng(1), b=1, T=T, n=n, m=m, bound=np.inf, with_gaps=with_gaps)
    backward_pass(given, Workspace.of(n, m))
    k, K, report = given.k, given.K.reshape(T, m, n), given.report
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
    backward_pass(given, Workspace.of(n, m))
    k, K = given.k[0, 0], given.K.reshape(m, n)
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
    given.knots[0, 0, -1] = -50.0  # the cost's second derivative by the control
    swept(given, Workspace.of(n, m))
    assert given.report[0, 0] == 1.0
    assert 1.0 <= given.setting[0, 0] <= 1e3
    given.knots[0, 0, -1] = np.nan
    swept(given, Workspace.of(n, m))
    assert given.report[0, 0] == 0.0


def problem(rng: np.random.Generator, *, b: int, T: int, n: int, m: int, bound: float, with_gaps: bool) -> Passes:
    """Random convex problems."""
    p = n + m
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
    setting = np.tile([0.0, float(with_gaps), 1.0], (b, 1))
    results = np.zeros((b, T, m)), np.zeros((b, T, m * n)), np.zeros((b, 5))
    return Passes(T, knots, last, np.zeros((b, T, m)), limits, setting, *results)


def dense(given: Passes, T: int, n: int, m: int, with_gaps: bool) -> tuple[Any, Any, Any, float]:
    """Hessian and gradient of the first problem's model by all controls, its linear steps, and what closing the gaps
    costs without a change of the controls."""
    p, row, last = n + m, given.knots[0], given.last[0]

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

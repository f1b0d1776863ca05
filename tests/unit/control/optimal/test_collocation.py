"""Direct collocation: defects of exact motions, exact sparse derivatives, and a solution by IPOPT."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import Collocation, OptimalControl, Phase
from tests.unit.control.optimal.ipopt import solved

ARM = kt.zoo.load("double_pendulum")
SCHEMES = pytest.mark.parametrize("scheme", ["trapezoidal", "hermite_simpson"])


@kt.program(q=ARM, v=2, u=2, t=())
def effort(q: Any, v: Any, u: Any, t: Any) -> Any:
    return 0.1 * np.concatenate([(1.0 + t) * u, q * v])


@kt.program(q=ARM, v=2, goal=2)
def at_goal(q: Any, v: Any, goal: Any) -> Any:
    return 0.5 * np.sum((np.sin(q) - goal) ** 2) * (1.0 + v @ v)


@cache
def reaching(steps: int, dt: float) -> OptimalControl:
    return OptimalControl(ARM, Phase(steps, dt, effort), at_goal, limits=(-30.0, 30.0))


def transcribed(scheme: Any, **options: Any) -> Collocation:
    return Collocation(reaching(4, 0.1), np.zeros(2), scheme=scheme, arguments={"goal": [0.3, 0.2]}, **options)


@pytest.mark.parametrize(("scheme", "order"), [("trapezoidal", 3), ("hermite_simpson", 5)])
def test_defects_of_exact_motions_shrink_with_the_order_of_the_scheme(scheme: Any, order: int) -> None:
    sizes = []
    for dt in (0.08, 0.04):
        steps = 4
        fine = kt.rollout(ARM, [0.4, -0.3], [1.0, 0.5], np.tile([2.0, 1.0], (50 * steps, 1)), dt / 50, integrator="rk4")
        states = np.vstack([[0.4, -0.3, 1.0, 0.5], fine[49::50]])
        nlp = Collocation(reaching(steps, dt), states[0, :2], scheme=scheme, arguments={"goal": [0.0, 0.0]})
        x = nlp.x(states[:, :2], states[:, 2:], np.tile([2.0, 1.0], (steps, 1)))
        q, v, u = nlp.motion(x)
        assert np.allclose(np.hstack([q, v]), states)
        assert np.array_equal(u, np.tile([2.0, 1.0], (steps + 1, 1)))
        sizes.append(abs(nlp.constraints(x)[:4]).max())
    assert sizes[0] / sizes[1] > 0.7 * 2**order


@SCHEMES
def test_derivatives_are_those_of_the_functions(scheme: Any) -> None:
    nlp = transcribed(scheme)
    rng = np.random.default_rng(0)
    x, weights, h = rng.normal(size=nlp.n), rng.normal(size=nlp.m), 1e-5
    moved = [(x + h * e, x - h * e) for e in np.eye(nlp.n)]
    J = dense(nlp.jacobianstructure(), nlp.jacobian(x), (nlp.m, nlp.n))
    assert np.allclose(J.T, [(nlp.constraints(a) - nlp.constraints(b)) / (2 * h) for a, b in moved], atol=1e-6)
    assert np.allclose(nlp.gradient(x), [(nlp.objective(a) - nlp.objective(b)) / (2 * h) for a, b in moved], atol=1e-6)

    def slope(x: Any) -> Any:
        J = dense(nlp.jacobianstructure(), nlp.jacobian(x), (nlp.m, nlp.n))
        return 0.7 * nlp.gradient(x) + J.T @ weights

    H = dense(nlp.hessianstructure(), nlp.hessian(x, weights, 0.7), (nlp.n, nlp.n))
    H = H + np.tril(H, -1).T
    assert np.allclose(H, [(slope(a) - slope(b)) / (2 * h) for a, b in moved], atol=1e-5)


@SCHEMES
def test_ipopt_finds_a_motion_that_is_optimal(scheme: Any) -> None:
    casadi = pytest.importorskip("casadi", reason="needs CasADi, which comes with IPOPT")
    goal = [0.2, -0.1], [0.0, 0.0]
    nlp = transcribed(scheme, goal=goal)
    exact = solved(casadi, nlp, np.zeros(nlp.n), tol=1e-9)
    assert exact.status == 0
    assert abs(nlp.constraints(exact.x)).max() < 1e-8
    q, v, u = nlp.motion(exact.x)
    assert np.allclose(np.concatenate([q[0], v[0], q[-1], v[-1]]), [0.0, 0.0, 0.0, 0.0, *goal[0], *goal[1]], atol=1e-9)
    assert abs(u).max() <= 30.0 + 1e-6
    J = dense(nlp.jacobianstructure(), nlp.jacobian(exact.x), (nlp.m, nlp.n))
    inside = (exact.x > nlp.lb + 1e-4) & (exact.x < nlp.ub - 1e-4)
    assert abs((nlp.gradient(exact.x) + J.T @ exact.multipliers)[inside]).max() < 1e-6
    guessed = solved(casadi, nlp, np.zeros(nlp.n), tol=1e-9, hessian_approximation="limited-memory")
    assert np.isclose(guessed.cost, exact.cost, rtol=1e-8)
    assert exact.iterations < guessed.iterations


def test_what_is_asked_twice_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp, calls, each = transcribed("trapezoidal"), list[str](), Collocation._each

    def counted(self: Collocation, name: str, x: Any) -> Any:
        calls.append(name)
        return each(self, name, x)

    monkeypatch.setattr(Collocation, "_each", counted)
    x = np.ones(nlp.n)
    first = nlp.objective(x), nlp.constraints(x), nlp.gradient(x), nlp.jacobian(x)
    assert calls == ["equations", "slopes"]
    x[0] = 0.5  # the same array with other numbers in it
    assert nlp.objective(x) != first[0]
    assert not np.array_equal(nlp.jacobian(x), first[3])
    assert calls == ["equations", "slopes"] * 2


def test_free_bodies_move_on_their_manifold() -> None:
    builder = kt.ModelBuilder("body")
    builder.add_body("box", kt.solids.box(0.4, 0.3, 0.2, mass=1.0))
    body = builder.build(floating_base=True).with_gravity([0.0, 0.0, 0.0])

    @kt.program(v=6)
    def nothing(v: Any) -> Any:
        return 0.0 * v

    sizes = []
    for dt in (0.1, 0.05):
        problem = OptimalControl(body, Phase(3, dt, nothing))
        start = body.neutral(), np.array([0.3, 0.1, -0.2, 1.0, 2.0, 0.5])
        fine = kt.rollout(body, *start, np.zeros((300, 6)), dt / 100, integrator="rk4")
        states = np.vstack([np.concatenate(start), fine[99::100]])
        nlp = Collocation(problem, states[:, :7], scheme="hermite_simpson")
        sizes.append(abs(nlp.constraints(nlp.x(states[:, :7], states[:, 7:], np.zeros((3, 0))))[:12]).max())
    assert sizes[0] / sizes[1] > 0.7 * 2**5


def test_what_cannot_be_transcribed_is_refused() -> None:
    held = Phase(2, 0.1, effort, constraints=kt.constraints.Contact("tip"))
    with pytest.raises(kt.errors.OptionError, match="robot's own equations"):
        Collocation(OptimalControl(ARM, held), np.zeros(2))
    with pytest.raises(kt.errors.OptionError, match="scheme must be"):
        transcribed("euler")


def dense(structure: Any, entries: Any, shape: tuple[int, int]) -> Any:
    """The matrix of entries at places, added where they meet."""
    whole = np.zeros(shape)
    np.add.at(whole, structure, entries)
    return whole

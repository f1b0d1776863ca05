"""Costs of soft constraints: convex, with the force as the negative slope and the weight as the curvature."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from kinetree.algorithms.row_costs import DryFriction, EllipticCone, Equality, OneSided, Pyramid
from tests.strategies import law, numbers, positive

STIFF = positive(0.1, 50.0)


@st.composite
def cones(draw: st.DrawFn, is_elliptic: bool | None = None) -> Any:
    """A contact with friction."""
    mu = [draw(positive(0.05, 2.0)) for _ in range(draw(st.sampled_from([2, 3, 5])))]
    D = draw(STIFF)
    if is_elliptic is None:
        is_elliptic = draw(st.booleans())
    if not is_elliptic:
        return Pyramid(D, mu)
    slope = mu[0] / math.sqrt(draw(positive(0.2, 10.0)))
    return EllipticCone([D, *(D * (m / slope) ** 2 for m in mu)], mu, slope)


COSTS = st.one_of(
    st.builds(lambda d: Equality(d), st.lists(STIFF, min_size=1, max_size=3)),
    st.builds(OneSided, STIFF),
    st.builds(DryFriction, STIFF, positive(0.1, 5.0)),
    cones(),
)


def full(weight: Any) -> np.ndarray:
    W = np.zeros((len(weight), len(weight)))
    for r, row in enumerate(weight):
        W[r, : r + 1] = W[: r + 1, r] = row
    return W


def at(cost: Any, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    response = cost.at(x.tolist())
    return response.cost, np.array(response.force), full(response.weight)


@given(COSTS, st.data())
@law(150)
def test_the_force_is_the_slope_and_the_weight_the_curvature(cost: Any, data: st.DataObject) -> None:
    x = np.array([data.draw(numbers(3.0)) for _ in range(cost.size)]) + 1e-4
    d = np.array([data.draw(numbers(1.0)) for _ in range(cost.size)])
    h = 1e-6
    value, force, W = at(cost, x)
    (ahead, f_ahead, W_ahead), (behind, f_behind, W_behind) = at(cost, x + h * d), at(cost, x - h * d)
    assert value >= 0.0
    assert abs((ahead - behind) / (2.0 * h) + force @ d) <= 1e-4 * (1.0 + np.abs(force).max())
    assume(np.abs(W_ahead - W_behind).max() <= 1e-3 * (1.0 + np.abs(W).max()))  # on one side of every corner
    np.testing.assert_allclose((f_behind - f_ahead) / (2.0 * h), W @ d, rtol=0, atol=1e-4 * (1.0 + np.abs(W).max()))


@given(COSTS, st.data())
@law(150)
def test_it_is_convex(cost: Any, data: st.DataObject) -> None:
    x, y = (np.array([data.draw(numbers(3.0)) for _ in range(cost.size)]) for _ in range(2))
    (at_x, force, W), (at_y, *_), (middle, *_) = at(cost, x), at(cost, y), at(cost, 0.5 * (x + y))
    room = 1e-12 * (1.0 + at_x + at_y)
    assert middle <= 0.5 * (at_x + at_y) + room
    assert at_y >= at_x - force @ (y - x) - room - 1e-9 * np.abs(force).max()
    assert np.linalg.eigvalsh(W).min() >= -1e-9 * np.abs(W).max()


@given(cones(is_elliptic=True), st.data())
@law(100)
def test_the_force_of_an_elliptic_contact_stays_in_its_cone(cost: Any, data: st.DataObject) -> None:
    x = np.array([data.draw(numbers(3.0)) for _ in range(cost.size)])
    _, force, _ = at(cost, x)
    across = math.sqrt(sum((f / m) ** 2 for f, m in zip(force[1:], cost.friction, strict=True)))
    assert across <= force[0] * (1.0 + 1e-9) + 1e-12


@given(cones(is_elliptic=False), st.data())
@law(100)
def test_the_force_of_a_pyramid_stays_in_it(cost: Any, data: st.DataObject) -> None:
    x = np.array([data.draw(numbers(3.0)) for _ in range(cost.size)])
    _, force, _ = at(cost, x)
    assert sum(abs(f) / m for f, m in zip(force[1:], cost.friction, strict=True)) <= force[0] * (1.0 + 1e-9) + 1e-12


def test_rows_that_are_not_there_push_nothing() -> None:
    for cost in (OneSided(0.0), DryFriction(0.0, 1.0), Pyramid(0.0, [0.5, 0.5]), Equality([0.0])):
        value, force, W = at(cost, np.full(cost.size, -2.0))
        assert value == 0.0
        assert not force.any()
        assert not W.any()
    gone = EllipticCone([0.0, 0.0, 0.0], [0.5, 0.5], 0.5)
    for x in ([-2.0, 0.1, 0.0], [-0.1, 3.0, 1.0], [1.0, 0.0, 0.0]):
        value, force, W = at(gone, np.array(x))
        assert value == 0.0
        assert not force.any()
        assert not W.any()


def test_at_the_tip_of_a_cone_everything_is_finite() -> None:
    cone = EllipticCone([2.0, 2.0, 2.0], [0.5, 0.5], 0.5)
    for x in ([0.0, 0.0, 0.0], [-1e-300, 1e-300, 0.0], [1e-200, 0.0, -1e-200]):
        value, force, W = at(cone, np.array(x))
        assert math.isfinite(value)
        assert np.isfinite(force).all()
        assert np.isfinite(W).all()

"""Ten numbers without bounds, and the inertias that bodies can have."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.spatial import Inertia
from tests.strategies import inertias, law, numbers

Array = NDArray[np.float64]

BALL = [2.0, 0.2, 0.0, 0.0, 0.1, 0.0, 0.12, 0.0, 0.0, 0.12]

thetas = st.lists(numbers(2.0), min_size=10, max_size=10).map(np.array)


def ten(inertia: Inertia) -> Array:
    I = inertia.I
    return np.array([inertia.mass, *inertia.h.components(), I.xx, I.xy, I.yy, I.xz, I.yz, I.zz])


@law(100)
@given(thetas)
def test_whatever_theta_is_the_inertia_is_possible(theta: Array) -> None:
    pi = kt.identification.log_cholesky.to_parameters(theta)
    J = kt.identification.log_cholesky.pseudo_inertia(pi)
    np.linalg.cholesky(J)  # raises unless it is positive definite
    h, mass = pi[1:4], pi[0]
    I = np.array([[pi[4], pi[5], pi[7]], [pi[5], pi[6], pi[8]], [pi[7], pi[8], pi[9]]])
    central = I - (h @ h * np.eye(3) - np.outer(h, h)) / mass
    small, middle, large = np.linalg.eigvalsh(central)
    assert mass > 0.0
    assert small > 0.0
    assert large < small + middle
    np.testing.assert_allclose(kt.identification.log_cholesky.from_parameters(pi), theta, rtol=0.0, atol=1e-8)


@law(100)
@given(inertias())
def test_parameters_there_and_back(inertia: Inertia) -> None:
    pi = ten(inertia)
    again = kt.identification.log_cholesky.to_parameters(kt.identification.log_cholesky.from_parameters(pi))
    np.testing.assert_allclose(again, pi, rtol=0.0, atol=1e-12 * np.abs(pi).max())


def test_the_pseudo_inertia_is_the_second_moment_of_mass() -> None:
    """Of mass points, by its definition Σ m [x; 1] [x; 1]ᵀ."""
    rng = np.random.default_rng(0)
    masses, points = rng.uniform(0.1, 1.0, 7), rng.normal(size=(7, 3))
    homogeneous = np.hstack([points, np.ones((7, 1))])
    I = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, points, strict=True))
    pi = [masses.sum(), *(masses @ points), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]
    expected = homogeneous.T @ (masses[:, None] * homogeneous)
    np.testing.assert_allclose(kt.identification.log_cholesky.pseudo_inertia(pi), expected, atol=1e-14)


@law(50)
@given(thetas)
def test_the_jacobian_is_the_derivative(theta: Array) -> None:
    """Against differences of fourth order; the entries are polynomials in exponentials."""
    h = 1e-3
    for k, direction in enumerate(np.eye(10)):
        values = [kt.identification.log_cholesky.to_parameters(theta + s * h * direction) for s in (-2, -1, 1, 2)]
        slope = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * h)
        column = kt.identification.log_cholesky.jacobian(theta)[:, k]
        np.testing.assert_allclose(column, slope, rtol=0.0, atol=1e-9 * max(1.0, np.abs(values).max()))


def test_many_at_once_are_each_as_alone() -> None:
    theta = np.random.default_rng(1).normal(size=(2, 3, 10))
    pi, J = kt.identification.log_cholesky.to_parameters(theta), kt.identification.log_cholesky.jacobian(theta)
    assert pi.shape == (2, 3, 10)
    assert J.shape == (2, 3, 10, 10)
    assert pi[1, 2].tolist() == kt.identification.log_cholesky.to_parameters(theta[1, 2]).tolist()
    assert J[1, 2].tolist() == kt.identification.log_cholesky.jacobian(theta[1, 2]).tolist()
    np.testing.assert_allclose(kt.identification.log_cholesky.from_parameters(pi), theta, atol=1e-10)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (0, -1.0, "parameters: the body has the negative mass -1 kg"),
        (0, 0.0, "parameters: the body has no mass, and a θ has some: keep it out"),
        (4, np.nan, "parameters: the body has parameters that are not finite"),
        (4, 9.0, "the body is none that can be: the principal moments about its centre of mass are 0.1, 0.1, 9 kg·m², "
                 "and the largest is more than the sum of the other two"),
        (9, -1.0, "and one is negative; check the signs and that I is about the origin"),
        (4, 0.2, "the body is a point, a rod or a plate"),
    ],
)  # fmt: skip
def test_impossible_inertias_are_refused_in_words(place: int, value: float, message: str) -> None:
    pi = np.array(BALL)
    pi[place] = value
    with pytest.raises(kt.errors.ModelError, match=re.escape(message)):
        kt.identification.log_cholesky.from_parameters(pi)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [(4, 9.0, "more than the sum"), (9, -1.0, "one is negative"), (4, 0.2, "is a point, a rod or a plate")],
)
def test_the_reason_is_the_same_for_a_speck_of_dust(place: int, value: float, message: str) -> None:
    pi = np.array(BALL)
    pi[place] = value
    with pytest.raises(kt.errors.ModelError, match=message):
        kt.identification.log_cholesky.from_parameters(1e-15 * pi)


def test_the_message_says_which_of_many() -> None:
    pi = np.tile(BALL, (2, 3, 1))
    pi[1, 2, 0] = -1.0
    with pytest.raises(kt.errors.ModelError, match=re.escape("parameters[1][2]: the body has the negative mass")):
        kt.identification.log_cholesky.from_parameters(pi)


@pytest.mark.parametrize("name", ["to_parameters", "jacobian", "from_parameters", "pseudo_inertia"])
def test_other_arrays_are_refused(name: str) -> None:
    with pytest.raises(kt.errors.ShapeError, match=r"has shape \(9,\), but a body needs \(…, 10\)"):
        getattr(kt.identification.log_cholesky, name)(np.ones(9))
    with pytest.raises(kt.errors.ShapeError, match=r"has shape \(\)"):
        getattr(kt.identification.log_cholesky, name)(1.0)
    with pytest.raises(kt.errors.DTypeError, match="must be an array of real numbers"):
        getattr(kt.identification.log_cholesky, name)(["a"] * 10)

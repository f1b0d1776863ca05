"""Configurations: neutral, random, and steps on their manifold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from tests.unit.model.bodies import ball, chain

Array = NDArray[np.float64]

MODEL = chain([(kt.Revolute([0, 0, 1]), ball()), (kt.Free(), ball()), (kt.Prismatic([1, 0, 0]), ball())])


def _rotation(q: Array) -> Array:
    """The matrix of a quaternion x, y, z, w, by the textbook."""
    x, y, z, w = q / np.linalg.norm(q)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def _exp(twist: Array) -> Array:
    """The rigid motion exp([v; w]) by the power series of the 4 by 4 matrix."""
    v, (a, b, c) = twist[:3], twist[3:]
    A = np.zeros((4, 4))
    A[:3, :3] = [[0, -c, b], [c, 0, -a], [-b, a, 0]]
    A[:3, 3] = v
    total, term = np.eye(4), np.eye(4)
    for k in range(1, 60):
        term = term @ A / k
        total = total + term
    return total


def _pose(q: Array) -> Array:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = _rotation(q[3:]), q[:3]
    return pose


def test_neutral_is_where_the_sides_of_each_joint_coincide() -> None:
    assert MODEL.neutral().tolist() == [0, 0, 0, 0, 0, 0, 0, 1, 0]


def test_random_configurations_keep_the_limits_and_repeat_with_their_seed() -> None:
    builder = kt.ModelBuilder("slider")
    builder.add_body("base")
    builder.add_body("cart", ball())
    limits = kt.model.Limits((0.25,), (0.5,), (math.inf,), (math.inf,))
    builder.add_joint("rail", kt.Prismatic([1, 0, 0]), "base", "cart", limits=limits)
    model = builder.build()
    rng = np.random.default_rng(1)
    samples = np.array([model.random(rng) for _ in range(200)])
    assert samples.min() >= 0.25
    assert samples.max() <= 0.5
    assert np.ptp(samples) > 0.2
    assert model.random(7).tolist() == model.random(7).tolist()
    assert np.linalg.norm(MODEL.random(3)[4:8]) == pytest.approx(1.0, abs=1e-15)


finite = st.floats(-3.0, 3.0)
velocities = st.lists(finite, min_size=8, max_size=8).map(np.array)


@given(st.integers(0, 2**32 - 1), velocities)
def test_a_step_is_the_exponential_of_its_twist_in_the_body_axes(seed: int, v: Array) -> None:
    q = MODEL.random(seed)
    moved = MODEL.integrate(q, v)
    np.testing.assert_allclose(moved[[0, 8]], q[[0, 8]] + v[[0, 7]])
    np.testing.assert_allclose(_pose(moved[1:8]), _pose(q[1:8]) @ _exp(v[1:7]), atol=1e-12)


@given(st.integers(0, 2**32 - 1), velocities)
def test_difference_is_the_inverse_of_integrate(seed: int, v: Array) -> None:
    q = MODEL.random(seed)
    turn = np.linalg.norm(v[4:7])
    if turn > 3.1:
        v = v * (3.1 / turn)
    np.testing.assert_allclose(MODEL.difference(q, MODEL.integrate(q, v)), v, atol=1e-11)


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_integrate_is_the_inverse_of_difference(seed: int, other: int) -> None:
    q0, q1 = MODEL.random(seed), MODEL.random(other)
    arrived = MODEL.integrate(q0, MODEL.difference(q0, q1))
    np.testing.assert_allclose(_pose(arrived[1:8]), _pose(q1[1:8]), atol=1e-11)


@pytest.mark.parametrize("short_of_pi", [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.6, 0.0, -0.8), (0.48, 0.6, 0.64)])
def test_difference_holds_up_to_half_a_turn(axis: tuple[float, float, float], short_of_pi: float) -> None:
    v = np.array([0.0, 0.3, -0.2, 0.1, *(np.array(axis) * (math.pi - short_of_pi)), 0.0])
    q0 = MODEL.neutral()
    back = MODEL.difference(q0, MODEL.integrate(q0, v))
    if np.dot(back[4:7], v[4:7]) < 0.0:  # at half a turn itself, both ways round are right
        arrived = MODEL.integrate(q0, back)
        np.testing.assert_allclose(_pose(arrived[1:8]), _pose(MODEL.integrate(q0, v)[1:8]), atol=1e-12)
        assert short_of_pi < 1e-14
    else:
        np.testing.assert_allclose(back, v, atol=1e-12)


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-160, 1e-20, 1e-8, 1e-4, 0.49, 0.51])
def test_steps_are_exact_from_none_to_large(size: float) -> None:
    v = np.array([0.0, 1.0, 2.0, 3.0, size, -size, 0.5 * size, 0.0])
    q = MODEL.integrate(MODEL.neutral(), v)
    np.testing.assert_allclose(_pose(q[1:8]), _exp(v[1:7]), atol=1e-14)
    np.testing.assert_allclose(MODEL.difference(MODEL.neutral(), q)[1:7], v[1:7], rtol=1e-13, atol=1e-15 * size)


def test_a_quaternion_and_its_opposite_are_one_orientation() -> None:
    q = MODEL.random(5)
    opposite = q.copy()
    opposite[4:8] *= -3.0
    np.testing.assert_allclose(MODEL.difference(q, opposite), np.zeros(8), atol=1e-15)


def test_leading_axes_broadcast() -> None:
    q = np.stack([MODEL.random(k) for k in range(6)]).reshape(3, 2, 9)
    v = np.linspace(-1.0, 1.0, 16).reshape(2, 8)
    moved = MODEL.integrate(q, v)
    assert moved.shape == (3, 2, 9)
    np.testing.assert_array_equal(moved[2, 1], MODEL.integrate(q[2, 1], v[1]))
    assert MODEL.integrate(q[:0], v).shape == (0, 2, 9)


WRONG: dict[str, tuple[object, type[Exception], str]] = {
    "too short": (np.zeros(3), kt.errors.ShapeError, r"q has shape \(3,\), but 'chain' needs \(…, 9\)"),
    "a number": (1.0, kt.errors.ShapeError, r"q has shape \(\), but 'chain' needs"),
    "text": (["a"] * 9, kt.errors.DTypeError, "q must be an array of real numbers"),
    "complex": (np.zeros(9) * 1j, kt.errors.DTypeError, "q must be an array of real numbers"),
    "ragged": ([[0.0], [0.0, 1.0]], kt.errors.DTypeError, "q must be an array of real numbers"),
    "NaN": ([0, 0, math.nan, 0, 0, 0, 0, 1, 0], kt.errors.ConfigurationError,
        r"q\[2\] \(j2.y\) is nan: a configuration is"),
    "a zero quaternion": (np.zeros(9), kt.errors.ConfigurationError,
        r"the quaternion of joint 'j2' \(q\[…, 4:8\]\) is zero"),
}  # fmt: skip


@pytest.mark.parametrize(("q", "error", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_is_no_configuration_is_refused(q: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        MODEL.check_configuration(q)  # type: ignore[arg-type]
    with pytest.raises(error, match=message):
        MODEL.integrate(q, np.zeros(8))  # type: ignore[arg-type]

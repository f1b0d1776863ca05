"""The exponential maps of rotations and poses, there and back, at the edges, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from tests.strategies import law, roundings

Array = NDArray[np.float64]

BETWEEN_PROGRAMS = roundings(2 * 9)
"""Two programs may fuse products and sums of 1 + a [w] + b [w]² in different ways: a product of size one, two of size
two with a sum of them, and a last sum in each."""


def motions(rng: np.random.Generator, count: int, angle: float) -> Array:
    """Motions [v; w] that turn by an angle about any axis."""
    xi = rng.normal(size=(count, 6))
    xi[:, 3:] *= angle / np.linalg.norm(xi[:, 3:], axis=-1, keepdims=True)
    return xi


def hat(xi: Array) -> Array:
    """The matrix [[w x, v], [0, 0]]."""
    v, w = xi[..., :3], xi[..., 3:]
    result = np.zeros((*xi.shape[:-1], 4, 4))
    for k, unit in enumerate(np.eye(3)):
        result[..., :3, k] = np.cross(w, unit)
    result[..., :3, 3] = v
    return result


def by_series(xi: Array) -> Array:
    """The exponential of a matrix by its definition, halved ten times and squared as often."""
    small, total, term = hat(xi) / 1024.0, np.eye(4), np.eye(4)
    for k in range(1, 12):
        term = term @ small / k
        total = total + term
    for _ in range(10):
        total = total @ total
    return np.asarray(total)


@law(20)
@given(seed=st.integers(0, 2**32 - 1), angle=st.floats(0.0, np.pi - 1e-3))
def test_maps_are_the_exponential_of_matrices_and_its_inverse(seed: int, angle: float) -> None:
    xi = motions(np.random.default_rng(seed), 5, angle)
    T = kt.lie.pose_exp(xi)
    np.testing.assert_allclose(T, by_series(xi), atol=1e-12)
    np.testing.assert_allclose(kt.lie.rotation_exp(xi[:, 3:]), T[:, :3, :3], atol=BETWEEN_PROGRAMS)
    np.testing.assert_allclose(kt.lie.pose_log(T), xi, atol=1e-11)
    np.testing.assert_allclose(kt.lie.rotation_log(T[:, :3, :3]), xi[:, 3:], atol=1e-11)
    np.testing.assert_allclose(kt.lie.pose_exp(-xi) @ T, np.broadcast_to(np.eye(4), (5, 4, 4)), atol=1e-14)


@law(20)
@given(seed=st.integers(0, 2**32 - 1), angle=st.floats(0.0, np.pi - 1e-2))
def test_derivatives_are_by_displacements_at_the_moving_end(seed: int, angle: float) -> None:
    rng = np.random.default_rng(seed)
    xi, d, h = motions(rng, 5, angle), rng.normal(size=(5, 6)), 1e-6
    T, J, J_inverse = kt.lie.pose_exp(xi), kt.lie.pose_exp_jacobian(xi), kt.lie.pose_log_jacobian(kt.lie.pose_exp(xi))
    np.testing.assert_allclose(J @ J_inverse, np.broadcast_to(np.eye(6), (5, 6, 6)), atol=1e-10)
    after, before = (kt.lie.pose_log(np.linalg.inv(T) @ kt.lie.pose_exp(xi + s * h * d)) for s in (1.0, -1.0))
    moved = after - before
    np.testing.assert_allclose(moved / (2.0 * h), np.einsum("kij,kj->ki", J, d), atol=1e-8)
    change = kt.lie.pose_log(T @ kt.lie.pose_exp(h * d)) - kt.lie.pose_log(T @ kt.lie.pose_exp(-h * d))
    size = 1.0 + np.abs(J_inverse).max()
    np.testing.assert_allclose(change / (2.0 * h), np.einsum("kij,kj->ki", J_inverse, d), atol=1e-8 * size**3)
    np.testing.assert_allclose(kt.lie.rotation_exp_jacobian(xi[:, 3:]), J[:, 3:, 3:], atol=BETWEEN_PROGRAMS)
    np.testing.assert_allclose(kt.lie.rotation_log_jacobian(T[:, :3, :3]), J_inverse[:, 3:, 3:], atol=1e-10)
    assert (J[:, 3:, :3] == 0.0).all()


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-20, 1e-12, 1e-8, 1e-4, 1e-3])
def test_small_motions_keep_their_digits(size: float) -> None:
    xi = size * motions(np.random.default_rng(0), 20, 1.0)
    np.testing.assert_allclose(kt.lie.pose_log(kt.lie.pose_exp(xi)), xi, rtol=1e-12, atol=0.0)
    J = kt.lie.pose_exp_jacobian(xi)
    np.testing.assert_allclose(
        J @ kt.lie.pose_log_jacobian(kt.lie.pose_exp(xi)), np.broadcast_to(np.eye(6), J.shape), atol=1e-15
    )


@pytest.mark.parametrize("less", [0.0, 1e-15, 1e-9, 1e-6, 1e-3])
def test_half_turns_keep_their_digits(less: float) -> None:
    """The axis and the translation; at exactly half a turn both directions of the axis are right."""
    xi = motions(np.random.default_rng(1), 50, np.pi - less)
    found = kt.lie.pose_log(kt.lie.pose_exp(xi))
    np.testing.assert_allclose(np.linalg.norm(found[:, 3:], axis=-1), np.pi - less, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(kt.lie.pose_exp(found), kt.lie.pose_exp(xi), atol=1e-14)
    if less > 1e-14:
        np.testing.assert_allclose(found, xi, rtol=0.0, atol=2e-14)
    assert np.isfinite(kt.lie.pose_log_jacobian(kt.lie.pose_exp(xi))).all()


def test_leading_axes_and_types_are_kept() -> None:
    xi = motions(np.random.default_rng(0), 12, 1.0).reshape(3, 4, 6)
    T = kt.lie.pose_exp(xi)
    assert (T.shape, kt.lie.pose_log(T).shape) == ((3, 4, 4, 4), (3, 4, 6))
    assert (kt.lie.pose_exp_jacobian(xi).shape, kt.lie.pose_log_jacobian(T).shape) == ((3, 4, 6, 6), (3, 4, 6, 6))
    assert np.array_equal(kt.lie.pose_log(T[2, 1]), kt.lie.pose_log(T)[2, 1])
    assert kt.lie.pose_log(np.zeros((0, 4, 4))).shape == (0, 6)
    assert kt.lie.pose_exp(np.zeros((0, 6))).shape == (0, 4, 4)
    single = kt.lie.pose_log(T.astype("f4"))
    assert single.dtype == kt.lie.pose_exp(single).dtype == kt.lie.pose_exp_jacobian(single).dtype == np.float32
    np.testing.assert_allclose(single, xi, atol=1e-6)
    assert kt.lie.pose_exp([1, 0, 0, 0, 0, 0]).tolist()[0] == [1.0, 0.0, 0.0, 1.0]
    place = kt.lie.placement([0.1, 0.2, 0.3], rpy=[0.4, 0.5, 0.6])
    np.testing.assert_allclose(
        kt.lie.pose_exp(kt.lie.pose_log(place)), np.reshape(place.homogeneous(), (4, 4)), atol=1e-15
    )


def test_what_is_not_finite_stays_in_its_sample() -> None:
    xi = motions(np.random.default_rng(0), 4, 1.0)
    T = kt.lie.pose_exp(xi)
    bad, worse = T.copy(), xi.copy()
    bad[1, 0, 3], bad[2, 1, 1], worse[1, 0], worse[3, 5] = np.nan, np.inf, np.inf, np.nan
    with np.errstate(all="raise"):
        logarithms, poses = kt.lie.pose_log(bad), kt.lie.pose_exp(worse)
    assert np.isnan(logarithms[1:3]).all()
    assert np.array_equal(logarithms[[0, 3]], kt.lie.pose_log(T)[[0, 3]])
    assert np.isnan(poses[[1, 3], :3]).all()
    assert np.array_equal(poses[[0, 2]], T[[0, 2]])


def test_a_free_joint_moves_by_these_maps() -> None:
    builder = kt.ModelBuilder("body")
    builder.add_body("body", kt.solids.sphere(0.1, mass=1.0))
    robot = builder.build(floating_base=True)
    q, xi = robot.random(0), np.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6])
    after = robot.integrate(q, xi)
    T, moved = (kt.frame_placement(robot, x, "body") for x in (q, after))
    np.testing.assert_allclose(moved, T @ kt.lie.pose_exp(xi), atol=1e-14)
    np.testing.assert_allclose(kt.difference(robot, q, after), kt.lie.pose_log(np.linalg.inv(T) @ moved), atol=1e-13)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: kt.lie.pose_log(np.eye(3)), kt.errors.ShapeError,
            r"pose has shape \(3, 3\), .* rotation_log is the logarithm"),
        (lambda: kt.lie.pose_log(np.ones(6)), kt.errors.ShapeError,
            r"pose has shape \(6,\), but poses are homogeneous matrices"),
        (lambda: kt.lie.pose_log(["a"]), kt.errors.DTypeError,
            r"pose must be an array of real numbers of shape \(…, 4, 4\)"),
        (lambda: kt.lie.pose_log(np.stack([np.eye(4), 2.0 * np.eye(4)])), kt.errors.ConfigurationError,
            r"matrix\[1\] is not"),
        (lambda: kt.lie.pose_log(np.eye(4)[[0, 1, 2, 2]]), kt.errors.ConfigurationError,
            r"its last row must be 0, 0, 0, 1"),
        (lambda: kt.lie.pose_log_jacobian(np.zeros((2, 4, 4))), kt.errors.ConfigurationError,
            r"matrix\[0\] is not a rotation"),
        (lambda: kt.lie.pose_exp(np.eye(4)), kt.errors.ShapeError,
            r"motion has shape \(4, 4\), but \[v; ω\] needs"),
        (lambda: kt.lie.pose_exp_jacobian(1.0), kt.errors.ShapeError, r"motion has shape \(\), but \[v; ω\] needs"),
        (lambda: kt.lie.rotation_log(np.eye(4)), kt.errors.ShapeError, r"give T\[..., :3, :3\]"),
        (lambda: kt.lie.rotation_exp(np.eye(4)), kt.errors.ShapeError, r"rotation_vector has shape \(4, 4\)"),
    ],
)  # fmt: skip
def test_wrong_arrays_are_refused_in_words(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_scipy_s_rotation_vectors_are_the_same() -> None:
    transform = pytest.importorskip("scipy.spatial.transform")
    w = motions(np.random.default_rng(0), 50, 3.0)[:, 3:]
    np.testing.assert_allclose(kt.lie.rotation_exp(w), transform.Rotation.from_rotvec(w).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(kt.lie.rotation_log(transform.Rotation.from_rotvec(w).as_matrix()), w, atol=1e-13)

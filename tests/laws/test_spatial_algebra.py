"""Group axioms of transforms, duality of motions and forces, cross products, transport of inertia, turns."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.spatial import ArticulatedInertia, Force, Inertia, Mat3, Motion, Sym3, Transform, Turn, Vec3
from kinetree.spatial.exponential import (
    rotation_exp,
    rotation_exp_jacobian,
    rotation_log_jacobian,
    translation_exp,
    translation_exp_jacobian,
    translation_log,
)
from kinetree.spatial.rotation_log import rotation_log
from kinetree.spatial.rotations import from_rpy
from tests.laws.reference import close
from tests.strategies import forces, inertias, law, motions, numbers, rotations, transforms


def six(m: Motion | Force) -> list[float]:
    return [*m.linear_first()]


def ten(I: Inertia) -> list[float]:
    return [I.mass, *I.h.components(), *I.I.components()]


def dense(A: Mat3) -> np.ndarray:
    return np.array(A.components(), dtype=float).reshape(3, 3)


def dense_articulated(IA: ArticulatedInertia) -> np.ndarray:
    I, H, M = dense(IA.I.full), dense(IA.H), dense(IA.M.full)
    return np.block([[I, H], [H.T, M]])


def matrix(X: Transform) -> np.ndarray:
    """The 6 by 6 matrix on motions, angular first, by RBDA eq. 2.24."""
    E = dense(X.E)
    return np.block([[E, np.zeros((3, 3))], [-E @ dense(Mat3.skew(X.r)), E]])


def turns() -> st.SearchStrategy[Turn]:
    angle = numbers(4.0) | st.integers(-4, 4).map(lambda k: k * math.pi / 2)
    return st.builds(lambda axis, a: Turn(axis, math.sin(a), math.cos(a)), st.integers(0, 2), angle)


@law(100)
@given(transforms(), motions())
def test_a_transform_is_its_plucker_matrix(X: Transform, m: Motion) -> None:
    angular_first = np.array([*m.angular.components(), *m.linear.components()])
    moved = X @ m
    close([*moved.angular.components(), *moved.linear.components()], matrix(X) @ angular_first)


@law(100)
@given(transforms(), inertias(), motions(), forces())
def test_matrices_do_what_transforms_and_inertias_do(X: Transform, I: Inertia, m: Motion, f: Force) -> None:
    close(X.motion_matrix @ six(m), six(X @ m))
    close(X.force_matrix @ six(X.back(f)), six(f))
    close(X.motion_matrix.T @ six(f), six(X.back(f)))
    close(I.matrix @ six(m), six(I @ m))
    close(X.motion_matrix.T @ I.matrix @ X.motion_matrix, X.back(I).matrix)
    assert np.array_equal(I.matrix, I.matrix.T)


@law(100)
@given(transforms(), transforms(), transforms(), motions())
def test_transforms_are_associative_and_act_one_after_the_other(
    X: Transform, Y: Transform, Z: Transform, m: Motion
) -> None:
    close(((X @ Y) @ Z).homogeneous(), (X @ (Y @ Z)).homogeneous())
    close(six((X @ Y) @ m), six(X @ (Y @ m)))


@law(100)
@given(transforms(), motions())
def test_a_transform_has_an_inverse_and_an_identity(X: Transform, m: Motion) -> None:
    identity = Transform.identity()
    for product in (X @ X.inverse, X.inverse @ X):
        close(product.homogeneous(), identity.homogeneous())
    assert (X @ identity).homogeneous() == X.homogeneous()
    close((identity @ X).homogeneous(), X.homogeneous())
    close(six(X.back(X @ m)), six(m))
    close(six(X.back(m)), six(X.inverse @ m))


@law(100)
@given(transforms(), transforms())
def test_homogeneous_matrices_compose_from_the_other_side(X: Transform, Y: Transform) -> None:
    def H(T: Transform) -> np.ndarray:
        return np.array(T.homogeneous(), dtype=float).reshape(4, 4)

    close(H(X @ Y), H(Y) @ H(X))


@law(100)
@given(transforms(), motions(), forces())
def test_power_is_the_same_in_all_coordinates(X: Transform, m: Motion, f: Force) -> None:
    """f in B's coordinates, m in A's: (X m) . f = m . (X* f)."""
    close((X @ m).dot(f), m.dot(X.back(f)), scale=200.0)


@law(100)
@given(motions(), motions(), motions())
def test_motions_are_a_lie_algebra(a: Motion, b: Motion, c: Motion) -> None:
    close(six(a.cross(b)), six(-b.cross(a)))
    close(six(a.cross(b.cross(c)) + b.cross(c.cross(a)) + c.cross(a.cross(b))), [0.0] * 6, scale=100.0)


@law(100)
@given(transforms(), motions(), motions(), forces())
def test_cross_products_commute_with_a_change_of_coordinates(X: Transform, a: Motion, b: Motion, f: Force) -> None:
    close(six(X @ a.cross(b)), six((X @ a).cross(X @ b)), scale=100.0)
    close(six(X.back((X @ a).cross(f))), six(a.cross(X.back(f))), scale=500.0)


@law(100)
@given(motions(), motions(), forces())
def test_the_cross_products_of_motions_and_forces_are_dual(a: Motion, b: Motion, f: Force) -> None:
    """(a x b) . f = -b . (a x* f)."""
    close(a.cross(b).dot(f), -b.dot(a.cross(f)), scale=500.0)


@law(100)
@given(transforms(), inertias(), motions())
def test_moving_an_inertia_keeps_its_kinetic_energy(X: Transform, I: Inertia, m: Motion) -> None:
    moved = X.back(I)
    close(m.dot(moved @ m), (X @ m).dot(I @ (X @ m)), scale=500.0)
    close(six(moved @ m), six(X.back(I @ (X @ m))), scale=500.0)


@law(100)
@given(transforms(), inertias(), motions())
def test_a_rigid_inertia_and_its_articulated_form_do_the_same(X: Transform, I: Inertia, m: Motion) -> None:
    close(six(I @ m), six(I.articulated @ m))
    close(dense_articulated(X.back(I.articulated)), dense_articulated(X.back(I).articulated), scale=50.0)


@law(100)
@given(transforms(), transforms(), inertias(), inertias())
def test_inertias_add_up_wherever_they_are_put(X: Transform, Y: Transform, I: Inertia, J: Inertia) -> None:
    close(ten(X.back(I + J)), ten(X.back(I) + X.back(J)), scale=100.0)
    close(ten((X @ Y).back(I)), ten(Y.back(X.back(I))), scale=200.0)


@law(100)
@given(inertias())
def test_the_inertia_of_a_body_is_positive_definite(I: Inertia) -> None:
    assert np.linalg.eigvalsh(dense_articulated(I.articulated)).min() > 0.0


@law(100)
@given(transforms(), st.lists(turns(), min_size=1, max_size=2), inertias(), motions(), forces())
def test_the_short_way_of_turns_is_the_long_way(
    X: Transform, turned: list[Turn], I: Inertia, m: Motion, f: Force
) -> None:
    """A joint's turns after a placement: the transform that knows them, and the one that has only the matrix."""
    quick = X.factored()
    for turn in turned:
        quick = Transform.turning(turn) @ quick
    plain = Transform(quick.E, quick.r)
    assert quick != plain  # else there is nothing to compare
    close(quick.homogeneous(), plain.homogeneous())
    close(ten(quick.back(I)), ten(plain.back(I)), scale=100.0)
    by_turns = dense_articulated(quick.back(I.articulated))
    close(by_turns, dense_articulated(plain.back(I.articulated)), scale=100.0)
    close(by_turns, matrix(quick).T @ dense_articulated(I.articulated) @ matrix(quick), scale=100.0)
    close(six(quick @ m), six(plain @ m))
    close(six(quick.back(f)), six(plain.back(f)))


@law(100)
@given(transforms(), transforms(), inertias())
def test_factoring_a_placement_changes_nothing(X: Transform, Y: Transform, I: Inertia) -> None:
    assert X.factored().homogeneous() == X.homogeneous()
    close(ten(X.factored().back(I)), ten(X.back(I)), scale=100.0)
    close(ten((X.factored() @ Y.factored()).back(I)), ten((X @ Y).back(I)), scale=200.0)
    close(
        dense_articulated((X.factored() @ Y.factored()).back(I.articulated)),
        dense_articulated((X @ Y).back(I.articulated)),
        scale=200.0,
    )


@law(100)
@given(turns(), inertias())
def test_a_turn_of_an_inertia_is_a_dense_rotation(turn: Turn, I: Inertia) -> None:
    R = dense(turn.R)
    close(R @ R.T, np.eye(3))
    close(np.linalg.det(R), 1.0)
    rigid = turn.back_rigid(I)
    close(dense(rigid.I.full), R @ dense(I.I.full) @ R.T)
    close(rigid.h.components(), R @ I.h.components())
    # What ABA leaves of an inertia is of no body: an H that is not antisymmetric, an M that is no multiple of one.
    general = ArticulatedInertia(I.I, dense_to_mat3(dense(I.I.full) @ R), Sym3(1.0, 2.0, 3.0, 0.1, 0.2, 0.3))
    turned = turn.back_articulated(general)
    close(dense(turned.I.full), R @ dense(general.I.full) @ R.T)
    close(dense(turned.H), R @ dense(general.H) @ R.T)
    close(dense(turned.M.full), R @ dense(general.M.full) @ R.T)


def dense_to_mat3(A: np.ndarray) -> Mat3:
    return Mat3(*(Vec3(*map(float, row)) for row in A))


@law(100)
@given(rotations())
def test_rotations_are_rotations(R: Mat3) -> None:
    close(dense(R) @ dense(R).T, np.eye(3))
    close(np.linalg.det(dense(R)), 1.0)


@law(50)
@given(turns(), inertias())
def test_an_articulated_inertia_that_is_no_rigid_one_moves_by_its_matrix(turn: Turn, I: Inertia) -> None:
    R = dense(turn.R)
    X = Transform(turn.R.T, Vec3(0.3, -0.5, 0.7))
    general = ArticulatedInertia(I.I, dense_to_mat3(dense(I.I.full) @ R), Sym3(1.0, 2.0, 3.0, 0.1, 0.2, 0.3))
    close(dense_articulated(X.back(general)), matrix(X).T @ dense_articulated(general) @ matrix(X), scale=50.0)


# -- rotations by angles, and the exponential map, number by number


@pytest.mark.parametrize("first", range(-8, 9))
def test_exact_quarter_turns_come_out_exact(first: int) -> None:
    """Entries are 0, 1 and -1, without negative zeros where nothing turns; also of many turns."""
    whole = ((1, 0), (0, 1), (-1, 0), (0, -1))  # cosine and sine

    def about(axis: int, quarters: int) -> np.ndarray:
        c, s = whole[quarters % 4]
        j, k = (axis + 1) % 3, (axis + 2) % 3
        R = np.eye(3)
        R[j, j], R[j, k], R[k, j], R[k, k] = c, -s, s, c
        return R

    for second, third in ((0, 0), (1, 0), (0, 1), (2, 3), (-1, 5), (3, -2), (61, -60)):
        R = from_rpy(*(k * (math.pi / 2) for k in (first, second, third)))
        expected = about(2, third) @ about(1, second) @ about(0, first)
        np.testing.assert_array_equal(dense(R), expected)


@pytest.mark.parametrize("quarters", [1, 2, 3, -1])
def test_what_is_nearly_a_quarter_turn_is_not_rounded_to_one(quarters: int) -> None:
    angle = math.nextafter(quarters * (math.pi / 2), math.inf)
    R = from_rpy(0.0, 0.0, angle)
    assert (R.x.x, R.y.x) == (math.cos(angle), math.sin(angle))


def exact_exponential(w: list[Any], v: list[Any]) -> tuple[Any, Any]:
    """Rotation and translation of exp([v; w]) with all the digits that mpmath has been asked for."""
    x, y, z = w
    W = mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    a = mpmath.sqrt(x * x + y * y + z * z)
    b, c = (1 - mpmath.cos(a)) / a**2, (a - mpmath.sin(a)) / a**3
    return mpmath.eye(3) + mpmath.sin(a) / a * W + b * W * W, (mpmath.eye(3) + b * W + c * W * W) * mpmath.matrix(v)


@pytest.mark.parametrize("angle", [1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.3, 0.4999, 0.5001, 0.7, 1.5, 2.5, 3.14])
def test_the_exponential_map_and_its_derivatives_lose_no_digits_at_any_angle(angle: float) -> None:
    """Near zero the closed forms cancel, and far from it the series end too soon: each holds only in its own place."""
    w, v = (Vec3(*(angle * x for x in (2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0))), Vec3(0.3, -1.1, 0.7))
    with mpmath.workdps(60):
        exact_w, exact_v = ([mpmath.mpf(x) for x in vector.components()] for vector in (w, v))
        R, p = exact_exponential(exact_w, exact_v)
        h = mpmath.mpf(10) ** -20  # differences of such steps are right to forty digits less these twenty
        slopes, turns = [], []
        for k in range(3):
            ahead, behind = ([x + sign * h * (j == k) for j, x in enumerate(exact_w)] for sign in (1, -1))
            (R1, p1), (R0, p0) = exact_exponential(ahead, exact_v), exact_exponential(behind, exact_v)
            slopes.append([*((p1 - p0) / (2 * h))])
            turn = R.T * (R1 - R0) / (2 * h)  # [Jᵣ e_k] x
            turns.append([turn[2, 1], turn[0, 2], turn[1, 0]])
        slope, J = (np.array(columns, dtype=float).T for columns in (slopes, turns))
        J_inverse = np.array((mpmath.matrix(turns).T ** -1).tolist(), dtype=float)
        p = np.array([*p], dtype=float)
    exact = {"rtol": 0.0, "atol": 1e-15}
    np.testing.assert_allclose(dense(rotation_exp_jacobian(w)), J, **exact)
    np.testing.assert_allclose(dense(rotation_log_jacobian(w)), J_inverse, **exact)
    np.testing.assert_allclose(translation_exp(w, v).components(), p, **exact)
    np.testing.assert_allclose(translation_log(w, Vec3(*map(float, p))).components(), v.components(), **exact)
    np.testing.assert_allclose(dense(translation_exp_jacobian(w, v)), slope, **exact)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, -0.8, 0), (0, 0.6, 0.8), (0.48, 0.6, -0.64)])
@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-3, 1.0, 2.0, 2.2, 3.0, math.pi - 1e-5, math.pi - 1e-9])
def test_the_logarithm_of_a_rotation_matrix_loses_no_digits_at_any_angle(
    axis: tuple[float, float, float], angle: float
) -> None:
    """Up to half a turn, where the difference between the two directions vanishes."""
    w = Vec3(*(angle * x for x in axis))
    np.testing.assert_allclose(rotation_log(rotation_exp(w)).components(), w.components(), rtol=0.0, atol=2e-15)

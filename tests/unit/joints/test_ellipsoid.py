"""A body that slides on an ellipsoid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.joints import JointKind
from tests.strategies import law, numbers, positive, roundings
from tests.unit.joints.flat_kinds import Array, check_motion, homogeneous, with_joint

SIGNS = st.sampled_from([1.0, -1.0])
kinds = st.builds(
    lambda radii, signs, pole: kt.joints.Ellipsoid(radii, signs=signs, pole=pole),
    st.tuples(*[positive(0.1, 2.0)] * 3),
    st.tuples(SIGNS, SIGNS, SIGNS),
    SIGNS,
)
angles = st.tuples(*[numbers(7.0)] * 3).map(np.array)
rates = st.tuples(*[numbers(3.0)] * 3).map(np.array)


@given(kind=kinds, q=angles, v=rates)
@law(60)
def test_rates_and_accelerations_are_those_of_the_placement(kind: JointKind, q: Array, v: Array) -> None:
    check_motion(kind, q.tolist(), v.tolist())


@given(radii=st.tuples(*[positive(0.1, 2.0)] * 3), q=angles)
@law(30)
def test_the_origin_stays_on_the_surface_where_the_z_axis_leads_out(radii: tuple[float, ...], q: Array) -> None:
    T = homogeneous(kt.joints.Ellipsoid(radii), q)
    np.testing.assert_allclose(T[:3, 3], np.array(radii) * T[:3, 2], atol=1e-14)
    np.testing.assert_allclose(np.sum((T[:3, 3] / radii) ** 2), 1.0)


@given(q=angles)
@law(20)
def test_its_orientation_is_that_of_euler_angles_and_on_a_sphere_only_it_matters(q: Array) -> None:
    T, R = homogeneous(kt.joints.Ellipsoid([0.4] * 3), q), homogeneous(kt.joints.Euler("XYZ"), q)
    expected = R @ np.array(kt.lie.placement((0.0, 0.0, 0.4)).homogeneous()).reshape(4, 4)
    # An entry of either matrix is off by 9: three sines or cosines of 2 each, two products and a sum.
    np.testing.assert_allclose(T, expected, atol=roundings(2 * 9))


def test_on_a_sphere_it_moves_as_euler_angles_with_the_body_held_out() -> None:
    builder = kt.ModelBuilder("arm")
    rng = np.random.default_rng(0)
    q, v, x = rng.uniform(0.2, 1.2, size=(3, 5))
    sphere = with_joint(kt.joints.Ellipsoid([0.25] * 3))
    for name in ("base", "link", "centre", "body", "tip"):
        inertia = sphere.tree.I[sphere.bodies[name].slot] if name in ("link", "body", "tip") else None
        builder.add_body(name, inertia)
    builder.add_joint("hinge", kt.Revolute([1.0, 2.0, 2.0]), "base", "link", kt.lie.placement((0.1, 0.0, 0.4)))
    placement = kt.lie.placement((0.3, -0.2, 0.5), rpy=(0.3, -0.2, 0.9))
    builder.add_joint("ball", kt.joints.Euler("XYZ"), "link", "centre", placement)
    builder.add_joint("out", kt.Fixed(), "centre", "body", kt.lie.placement((0.0, 0.0, 0.25)))
    builder.add_joint("tail", kt.Revolute([2.0, 1.0, -2.0]), "body", "tip", kt.lie.placement((0.0, 0.3, 0.2)))
    ball = builder.build()
    for function in (kt.rnea, kt.aba):
        np.testing.assert_allclose(function(sphere, q, v, x), function(ball, q, v, x), rtol=1e-11, atol=1e-11)


@given(kind=kinds, q=angles)
@law(30)
def test_mirrored_and_scaled_kinds_give_mirror_image_and_larger_body(kind: JointKind, q: Array) -> None:
    T = homogeneous(kind, q)
    for normal in range(3):
        M = np.diag([-1.0 if k == normal else 1.0 for k in range(3)] + [1.0])
        image = kind.mirrored(normal)
        assert image is not None
        np.testing.assert_allclose(homogeneous(image, q), M @ T @ M, atol=1e-14)
        assert image.mirrored(normal) == kind
    scaled = kind.scaled(3.0)
    assert scaled is not None
    np.testing.assert_allclose(homogeneous(scaled, q)[:3, 3], 3.0 * T[:3, 3], atol=1e-14)
    back = kind.reversed()
    assert back is not None
    np.testing.assert_allclose(homogeneous(back, q) @ T, np.eye(4), atol=1e-13)


@pytest.mark.parametrize("radii", [[1.0, 2.0], [1.0, 0.0, 1.0], [1.0, -2.0, 1.0], [1, 1, float("nan")], "abc", 3, None])
def test_radii_are_three_positive_numbers(radii: Any) -> None:
    with pytest.raises(
        kt.errors.ModelError, match="the radii of an ellipsoid are three positive numbers of metres, not "
    ):
        kt.joints.Ellipsoid(radii)


def test_it_says_what_it_is() -> None:
    kind = kt.joints.Ellipsoid([0.07, 0.11, 0.15])
    assert kind.q_names == ("rx", "ry", "rz")
    assert kind.q_units == ("rad",) * 3
    assert kind.description == "ellipsoid of radii 0.07, 0.11, 0.15 m"
    assert repr(kind) == "Ellipsoid([0.07, 0.11, 0.15])"
    assert repr(kind.mirrored(2)) == "Ellipsoid([0.07, 0.11, 0.15], signs=(-1.0, -1.0, 1.0), pole=-1.0)"
    assert kind == kt.joints.Ellipsoid((0.07, 0.11, 0.15)) != kt.joints.Ellipsoid((0.07, 0.11, 0.16))
    with pytest.raises(kt.errors.ModelError, match="pole must be 1 or -1, not 0"):
        kt.joints.Ellipsoid([1, 1, 1], pole=0)

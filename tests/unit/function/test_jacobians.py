"""Jacobians and what goes with them: closed forms, shapes, and what is said about wrong arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt

Array = NDArray[np.float64]

ARM = kt.zoo.load("arm6")
Q, V, QDD = np.random.default_rng(5).normal(size=(3, 6))
WORLD: dict[str, Any] = {"expressed_in": "world"}


def two_links(a: float, b: float) -> kt.Model:
    """In the x-y plane, turning about z."""
    builder = kt.ModelBuilder("two links")
    for name in ("base", "upper", "lower"):
        builder.add_body(name, kt.solids.sphere(0.1, mass=1.0))
    builder.add_joint("shoulder", kt.Revolute([0, 0, 1]), "base", "upper")
    builder.add_joint("elbow", kt.Revolute([0, 0, 1]), "upper", "lower", kt.lie.placement([a, 0, 0]))
    builder.add_frame("hand", "lower", kt.lie.placement([b, 0, 0]))
    return builder.build()


# -- closed forms


def test_a_planar_arms_jacobian_its_rate_and_its_hessian_are_those_of_the_book() -> None:
    a, b = 0.7, 0.4
    robot = two_links(a, b)
    (x, y), (u, w) = (0.4, 0.9), (0.5, -1.5)
    s1, c1, s12, c12 = np.sin(x), np.cos(x), np.sin(x + y), np.cos(x + y)
    J = [[-a * s1 - b * s12, -b * s12], [a * c1 + b * c12, b * c12]]
    by_1 = [[-a * c1 - b * c12, -b * c12], [-a * s1 - b * s12, -b * s12]]
    by_2 = [[-b * c12, -b * c12], [-b * s12, -b * s12]]
    aligned: dict[str, Any] = {"expressed_in": "local_world_aligned"}
    q, v = [x, y], [u, w]
    np.testing.assert_allclose(kt.frame_jacobian(robot, q, "hand", part="linear", **aligned)[:2], J, atol=1e-15)
    J_dot = kt.kinematics.frame_jacobian_rate(robot, q, v, "hand", part="linear", **aligned)
    np.testing.assert_allclose(J_dot[:2], u * np.array(by_1) + w * np.array(by_2), atol=1e-15)
    H = kt.kinematics.kinematic_hessian(robot, q, "hand", **aligned)
    np.testing.assert_allclose(H[:2], np.stack([by_1, by_2], axis=-1), atol=1e-15)
    assert not H[2:].any()
    np.testing.assert_allclose(kt.kinematics.point_jacobian(robot, q, [b, 0, 0], "lower", **WORLD)[:2], J, atol=1e-15)
    masses = np.array([0.0, a * 1.0]) @ np.array([[c1, s1]] * 2)
    np.testing.assert_allclose(kt.center_of_mass(robot, q)[:2], masses / 3.0, atol=1e-15)
    velocity = kt.kinematics.center_of_mass_velocity(robot, q, v)
    np.testing.assert_allclose(velocity, [-a * s1 * u / 3.0, a * c1 * u / 3.0, 0.0], atol=1e-15)
    still = kt.kinematics.center_of_mass_acceleration(robot, q, v, [0.0, 0.0])
    np.testing.assert_allclose(still, [-a * c1 * u * u / 3.0, -a * s1 * u * u / 3.0, 0.0], atol=1e-15)


def test_a_wheel_seen_from_its_neighbour() -> None:
    """The elbow alone moves the lower link, as the upper one sees it."""
    robot = two_links(0.7, 0.4)
    q = [0.3, 0.5]
    T = kt.kinematics.relative_placement(robot, q, "lower", "upper")
    np.testing.assert_allclose(T[:2, :2], [[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]], atol=1e-15)
    np.testing.assert_allclose(T[:3, 3], [0.7, 0.0, 0.0], atol=1e-15)
    seen = kt.kinematics.relative_velocity(robot, q, [9.0, 2.0], "lower", "upper", expressed_in="local_world_aligned")
    assert (seen + 0.0).tolist() == [0.0, 0.0, 0.0, 0.0, 0.0, 2.0]
    options = {"expressed_in": "local_world_aligned", "kind": "classical"}
    a = kt.kinematics.relative_acceleration(robot, q, [9.0, 2.0], [5.0, 3.0], "lower", "upper", **options)  # type: ignore[arg-type]
    np.testing.assert_allclose(a, [0.0, 0.0, 0.0, 0.0, 0.0, 3.0], atol=1e-15)
    a = kt.kinematics.relative_acceleration(robot, q, [9.0, 2.0], [5.0, 3.0], "upper", "lower", **options)  # type: ignore[arg-type]
    x, y = -0.7 * np.cos(0.5), 0.7 * np.sin(0.5)  # from the elbow to the upper link's origin, as the lower link sees it
    np.testing.assert_allclose(a[:2], [3.0 * y - 4.0 * x, -3.0 * x - 4.0 * y], atol=1e-15)
    back = kt.kinematics.relative_velocity(robot, q, [9.0, 2.0], "upper", "lower", **WORLD)
    np.testing.assert_allclose(back[3:], [0.0, 0.0, -2.0], atol=1e-15)


# -- what is not there


def test_a_frame_on_the_root_has_zeros() -> None:
    for function, arguments in (
        (kt.kinematics.frame_jacobian_rate, (Q, V)),
        (kt.kinematics.frame_bias_acceleration, (Q, V)),
    ):
        assert not function(ARM, *arguments, ARM.root, **WORLD).any()
    assert not kt.kinematics.kinematic_hessian(ARM, Q, ARM.root, **WORLD).any()
    assert not kt.kinematics.relative_jacobian(ARM, Q, "tool", "tool", **WORLD).any()


def test_a_robot_that_cannot_move_has_empty_jacobians() -> None:
    builder = kt.ModelBuilder("rock")
    builder.add_body("rock", kt.solids.sphere(0.1, mass=1.0))
    rock, nothing = builder.build(), np.zeros(0)
    assert kt.kinematics.frame_jacobian_rate(rock, nothing, nothing, "rock", **WORLD).shape == (6, 0)
    assert kt.frame_jacobian(rock, nothing, "rock", part="angular", **WORLD).shape == (3, 0)
    assert kt.kinematics.kinematic_hessian(rock, nothing, "rock", **WORLD).shape == (6, 0, 0)
    assert kt.kinematics.relative_jacobian(rock, nothing, "rock", **WORLD).shape == (6, 0)
    assert kt.kinematics.center_of_mass_jacobian(rock, nothing).shape == (3, 0)
    assert kt.kinematics.point_position(rock, nothing, [1.0, 2.0, 3.0], "rock").tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (kt.kinematics.center_of_mass_jacobian, (0.0,)),
        (kt.kinematics.center_of_mass_velocity, (0.0, 0.0)),
        (kt.kinematics.center_of_mass_acceleration, (0.0, 0.0, 0.0)),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_a_robot_without_mass_has_no_centre_of_mass(function: Any, arguments: tuple[float, ...]) -> None:
    builder = kt.ModelBuilder("ghost")
    builder.add_body("base")
    builder.add_body("hand")
    builder.add_joint("wrist", kt.Revolute([0, 0, 1]), "base", "hand", armature=[0.1])
    message = f"{function.__name__}: 'ghost' has no mass at all, so it has no centre of mass"
    with pytest.raises(kt.errors.ModelError, match=message):
        function(builder.build(), *([x] for x in arguments))


# -- shapes


def test_points_have_a_batch_of_their_own() -> None:
    """Many points of one configuration, one point of many, and both."""
    points, states = np.random.default_rng(6).normal(size=(4, 3)), np.stack([Q, V, QDD])
    one = [kt.kinematics.point_position(ARM, Q, p, "tool") for p in points]
    assert (kt.kinematics.point_position(ARM, Q, points, "tool") == one).all()
    assert kt.kinematics.point_velocity(ARM, states, V, points[0], "tool", **WORLD).shape == (3, 3)
    J = kt.kinematics.point_jacobian(ARM, states[:, None], points, "tool", expressed_in="local")
    assert J.shape == (3, 4, 3, 6)
    assert (J[2, 1] == kt.kinematics.point_jacobian(ARM, QDD, points[1], "tool", expressed_in="local")).all()
    out = np.empty((4, 3))
    assert kt.kinematics.point_acceleration(ARM, Q, V, QDD, points, "tool", **WORLD, out=out) is out


def test_the_hessian_of_a_batch_and_into_an_array() -> None:
    batch = np.stack([Q, V])
    out = np.empty((2, 6, 6, 6))
    assert kt.kinematics.kinematic_hessian(ARM, batch, "tool", **WORLD, out=out) is out
    assert (out[1] == kt.kinematics.kinematic_hessian(ARM, V, "tool", **WORLD)).all()


def test_a_jacobian_depends_on_placements_that_are_given() -> None:
    joint = list(ARM.joints)[2]
    name = f"joint.{joint}.placement"
    placed = ARM.parameter(name).copy()
    placed[0] += 0.1
    given = {name: placed}
    for function, arguments in (
        (kt.kinematics.frame_jacobian_rate, (Q, V)),
        (kt.kinematics.kinematic_hessian, (Q,)),
        (kt.kinematics.relative_jacobian, (Q,)),
    ):
        own = function(ARM, *arguments, "tool", **WORLD)
        same = function(ARM, *arguments, "tool", **WORLD, parameters={name: ARM.parameter(name)})
        np.testing.assert_allclose(same, own, atol=1e-14)
        assert np.abs(function(ARM, *arguments, "tool", **WORLD, parameters=given) - own).max() > 1e-3


# -- what is wrong


def test_an_unknown_part_is_refused() -> None:
    message = "part must be 'full', 'linear' or 'angular', not 'rotation'"
    for function, arguments in ((kt.frame_jacobian, (Q,)), (kt.kinematics.frame_jacobian_rate, (Q, V))):
        with pytest.raises(kt.errors.OptionError, match=message):
            function(ARM, *arguments, "tool", part="rotation", **WORLD)
    with pytest.raises(kt.errors.OptionError, match=message):
        kt.kinematics.relative_jacobian(ARM, Q, "tool", part="rotation", **WORLD)  # type: ignore[arg-type]


def test_coordinates_and_kinds_that_do_not_exist_are_refused() -> None:
    expected = "expressed_in must be 'local', 'world' or 'local_world_aligned', not 'body'"
    for function, arguments in (
        (kt.kinematics.frame_jacobian_rate, (Q, V)),
        (kt.kinematics.frame_bias_acceleration, (Q, V)),
        (kt.kinematics.kinematic_hessian, (Q,)),
        (kt.kinematics.relative_velocity, (Q, V)),
    ):
        with pytest.raises(kt.errors.OptionError, match=expected):
            function(ARM, *arguments, "tool", expressed_in="body")
    with pytest.raises(kt.errors.OptionError, match=expected):
        kt.kinematics.point_jacobian(ARM, Q, np.zeros(3), "tool", expressed_in="body")  # type: ignore[arg-type]
    with pytest.raises(kt.errors.OptionError, match="kind must be 'spatial' or 'classical', not 'coriolis'"):
        kt.kinematics.frame_bias_acceleration(ARM, Q, V, "tool", kind="coriolis", **WORLD)  # type: ignore[arg-type]


def test_frames_that_do_not_exist_are_refused_with_the_nearest_names() -> None:
    with pytest.raises(kt.errors.NameNotFoundError, match=r"no frame 'tol'.*'tool'"):
        kt.kinematics.kinematic_hessian(ARM, Q, "tol", **WORLD)
    with pytest.raises(kt.errors.NameNotFoundError, match=r"no frame 'tol'.*'tool'"):
        kt.kinematics.relative_placement(ARM, Q, "tool", "tol")
    with pytest.raises(kt.errors.OptionError, match=f"relative_to must be a name, such as '{ARM.root}', not 3"):
        kt.kinematics.relative_placement(ARM, Q, "tool", 3)  # type: ignore[arg-type]


def test_a_point_has_three_coordinates() -> None:
    with pytest.raises(kt.errors.ShapeError, match=r"point.*\(…, 3\)"):
        kt.kinematics.point_position(ARM, Q, [1.0, 2.0], "tool")
    with pytest.raises(kt.errors.DTypeError, match="point"):
        kt.kinematics.point_position(ARM, Q, ["x", "y", "z"], "tool")


def test_not_a_number_stays_in_its_sample() -> None:
    q = np.stack([Q, Q])
    q[0, 2] = np.nan
    with np.errstate(invalid="ignore"):
        H = kt.kinematics.kinematic_hessian(ARM, q, "tool", **WORLD)
    assert np.isnan(H[0]).any()
    assert (H[1] == kt.kinematics.kinematic_hessian(ARM, Q, "tool", **WORLD)).all()

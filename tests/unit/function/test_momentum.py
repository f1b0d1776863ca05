"""Momentum and power: closed forms, parameters, and what is said of wrong arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.spatial import Inertia
from tests.kernels import compiled_late

ARM = kt.zoo.load("arm6")
Q, V, QDD, TAU = np.random.default_rng(11).normal(size=(4, 6))
CENTROIDAL = {
    kt.dynamics.centroidal_momentum: 2,
    kt.dynamics.centroidal_momentum_matrix: 1,
    kt.dynamics.centroidal_momentum_matrix_rate: 2,
    kt.dynamics.centroidal_momentum_rate: 3,
    kt.dynamics.centroidal_inertia: 1,
}
EVERY_CENTROIDAL = pytest.mark.parametrize("function", CENTROIDAL, ids=lambda f: f.__name__)


def slider(mass: float, *, base_mass: float = 0.0) -> kt.Model:
    """A body on a rail along x, 2 m above the world's origin; the rail may have mass."""
    builder = kt.ModelBuilder("slider")
    if base_mass:
        builder.add_body("rail", kt.solids.sphere(0.1, mass=base_mass))
    else:
        builder.add_body("rail")
    builder.add_body("cart", kt.solids.sphere(0.1, mass=mass) if mass else Inertia.zero())
    builder.add_joint("along", kt.Prismatic([1, 0, 0]), "rail", "cart", kt.lie.placement([0.0, 0.0, 2.0]))
    return builder.build()


# -- closed forms


def test_a_sliding_body_has_the_moment_of_its_linear_momentum() -> None:
    robot = slider(3.0)
    np.testing.assert_allclose(kt.dynamics.momentum(robot, [0.5], [4.0]), [12.0, 0, 0, 0, 24.0, 0], atol=1e-14)
    np.testing.assert_allclose(
        kt.dynamics.momentum(robot, [0.5], [4.0], [7.0, 0.0, 2.0]), [12.0, 0, 0, 0, 0, 0], atol=1e-14
    )
    np.testing.assert_allclose(
        kt.dynamics.momentum(robot, [0.5], [4.0], [0.0, 1.0, 2.0]), [12.0, 0, 0, 0, 0, 12.0], atol=1e-14
    )
    np.testing.assert_allclose(kt.dynamics.centroidal_momentum(robot, [0.5], [4.0]), [12.0, 0, 0, 0, 0, 0], atol=1e-14)


def test_a_fixed_base_with_mass_moves_the_centre_and_not_itself() -> None:
    """The centre of two equal masses is half way, 1 m below the cart."""
    robot = slider(3.0, base_mass=3.0)
    np.testing.assert_allclose(kt.center_of_mass(robot, [0.5]), [0.25, 0.0, 1.0])
    np.testing.assert_allclose(
        kt.dynamics.centroidal_momentum(robot, [0.5], [4.0]), [12.0, 0, 0, 0, 12.0, 0], atol=1e-14
    )
    sphere = 0.4 * 3.0 * 0.1**2
    inertia = kt.dynamics.centroidal_inertia(robot, [0.0])
    expected = np.diag([6.0, 6.0, 6.0, 6.0 + 2 * sphere, 6.0 + 2 * sphere, 2 * sphere])
    np.testing.assert_allclose(inertia, expected, atol=1e-14)


def test_a_geared_rotor_spins_and_an_armature_does_not() -> None:
    def wheel(**options: Any) -> kt.Model:
        builder = kt.ModelBuilder("wheel")
        builder.add_body("stand")
        builder.add_body("wheel", kt.solids.sphere(0.1, mass=1.0))
        builder.add_joint("axle", kt.Revolute([0, 0, 1]), "stand", "wheel", **options)
        return builder.build()

    own = 0.4 * 0.1**2
    q, v = [0.7], [3.0]
    for options, expected in (
        ({}, 3.0 * own),
        ({"armature": [5.0]}, 3.0 * own),
        ({"rotor": kt.model.Rotor(0.01, 20.0)}, 3.0 * (own + 0.2)),
    ):
        robot = wheel(**options)
        h = [0.0, 0.0, 0.0, 0.0, 0.0, expected]
        np.testing.assert_allclose(kt.dynamics.momentum(robot, q, v), h, atol=1e-15)
        np.testing.assert_allclose(kt.dynamics.centroidal_momentum(robot, q, v), h, atol=1e-15)
        np.testing.assert_allclose(kt.dynamics.centroidal_momentum_matrix(robot, q) @ v, h, atol=1e-15)
        assert not kt.dynamics.centroidal_momentum_matrix_rate(robot, q, v).any()


def test_power_is_force_times_speed() -> None:
    robot = slider(3.0)
    assert kt.dynamics.mechanical_power(robot, [0.5], [4.0], [2.0]) == 8.0
    push = {"cart": [5.0, 1.0, 1.0, 1.0, 1.0, 1.0], "rail": [9.0] * 6}  # what acts on a fixed base does no work
    assert kt.dynamics.mechanical_power(robot, [0.5], [4.0], [2.0], push) == 28.0
    assert kt.dynamics.mechanical_power(robot, [[0.5]] * 3, [4.0], [[1.0], [2.0], [3.0]]).tolist() == [4.0, 8.0, 12.0]


def test_friction_takes_power_out() -> None:
    robot = kt.zoo.load("cart_pole")
    q, v = [0.1, 0.2], [2.0, 1.0]
    without = kt.dynamics.mechanical_power(robot, q, v, [3.0, 0.0])
    with_friction = kt.dynamics.mechanical_power(robot, q, v, [3.0, 0.0], passive=["damping"])
    assert without - with_friction == pytest.approx(-(kt.dynamics.passive_forces(robot, q, v, passive=["damping"]) @ v))
    assert with_friction < without
    assert kt.dynamics.mechanical_power(robot, q, v, [1e6, 0.0], limits=True) == pytest.approx(100.0)


# -- arrays


def test_points_broadcast_with_samples_and_go_into_out() -> None:
    q, v = np.stack([Q, Q + 0.1, Q - 0.2]), np.stack([V, 2.0 * V, -V])
    points = np.random.default_rng(2).normal(size=(4, 1, 3))
    out = np.empty((4, 3, 6))
    assert kt.dynamics.momentum(ARM, q, v, points, out=out) is out
    h = kt.dynamics.momentum(ARM, q, v)
    expected = np.concatenate([np.broadcast_to(h[:, :3], (4, 3, 3)), h[:, 3:] - np.cross(points, h[:, :3])], axis=-1)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kt.dynamics.momentum(ARM, q, v, np.zeros(3)), h, rtol=0, atol=1e-14)
    single = [x.astype(np.float32) for x in (Q, V, points[0, 0])]
    assert kt.dynamics.momentum(ARM, *single).dtype == kt.dynamics.momentum(ARM, *single[:2]).dtype == np.float32
    assert kt.dynamics.momentum(ARM, single[0], V).dtype == np.float64
    compiled = compiled_late(ARM, kt.dynamics.momentum)
    assert np.array_equal(compiled(Q, V, points[0, 0]), kt.dynamics.momentum(ARM, Q, V, points[0, 0]))


@EVERY_CENTROIDAL
def test_masses_may_be_given_with_each_call(function: Callable[..., Any]) -> None:
    """As for a robot built with them; the first entry of the inertia is the total mass."""
    body = "forearm" if "forearm" in ARM.bodies else list(ARM.bodies)[-2]
    name = f"body.{body}.mass"
    own = ARM.parameter(name)
    given = [Q, V, QDD][: CENTROIDAL[function]]
    same = function(ARM, *given, parameters={name: own})
    np.testing.assert_allclose(same, function(ARM, *given), rtol=0, atol=1e-12 * np.abs(same).max())
    more = function(ARM, *given, parameters={name: [own, own + 2.0]})
    assert np.abs(more[1] - more[0]).max() > 1e-3
    inertia = kt.dynamics.centroidal_inertia(ARM, Q, parameters={name: own + 2.0})
    assert inertia[0, 0] == pytest.approx(ARM.mass + 2.0)


# -- robots for which there is no answer, or an empty one


@EVERY_CENTROIDAL
def test_a_robot_without_mass_is_refused(function: Callable[..., Any]) -> None:
    robot = slider(0.0)
    message = f"{function.__name__}: 'slider' has no mass at all, so it has no centre of mass; give a body mass"
    with pytest.raises(kt.errors.ModelError, match=re.escape(message)):
        function(robot, *[[0.0]] * CENTROIDAL[function])
    assert not kt.dynamics.momentum(robot, [0.0], [1.0]).any()


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning", "ignore:divide by zero:RuntimeWarning")
@EVERY_CENTROIDAL
def test_a_sample_without_mass_has_no_numbers_and_leaves_the_others_alone(function: Callable[..., Any]) -> None:
    robot = kt.zoo.load("double_pendulum")
    given = [[0.3, -0.4], [0.7, 0.5], [0.2, 0.1]][: CENTROIDAL[function]]
    names = [f"body.{name}.mass" for name, body in robot.bodies.items() if body.inertia.mass]
    result = function(robot, *given, parameters={name: [3.0, 0.0] for name in names})
    expected = function(robot, *given, parameters=dict.fromkeys(names, 3.0))
    np.testing.assert_allclose(result[0], expected, rtol=1e-13, atol=1e-13)
    assert np.isnan(result[1][3:]).any()  # there is no centre


def test_a_robot_that_cannot_move_has_no_momentum() -> None:
    builder = kt.ModelBuilder("rock")
    builder.add_body("rock", kt.solids.box(1.0, 2.0, 3.0, mass=6.0, placement=kt.lie.placement([0.0, 0.0, 1.0])))
    rock = builder.build()
    assert kt.dynamics.momentum(rock, [], []).tolist() == [0.0] * 6
    assert kt.dynamics.momentum(rock, [], [], [1.0, 2.0, 3.0]).tolist() == [0.0] * 6
    assert kt.dynamics.centroidal_momentum(rock, [], []).tolist() == [0.0] * 6
    assert kt.dynamics.centroidal_momentum_matrix(rock, []).shape == (6, 0)
    assert kt.dynamics.centroidal_momentum_matrix_rate(rock, [], []).shape == (6, 0)
    assert kt.dynamics.mechanical_power(rock, [], [], [], {"rock": [1.0] * 6}) == 0.0
    np.testing.assert_allclose(
        kt.dynamics.centroidal_inertia(rock, []), np.diag([6.0, 6.0, 6.0, 6.5, 5.0, 2.5]), atol=1e-14
    )


# -- wrong arguments


def test_a_wrong_point_is_refused() -> None:
    with pytest.raises(kt.errors.ShapeError, match=r"momentum.*point"):
        kt.dynamics.momentum(ARM, Q, V, [1.0, 2.0])
    with pytest.raises(kt.errors.ShapeError, match=r"momentum.*point"):
        kt.dynamics.momentum(ARM, Q, V, 0.0)
    with pytest.raises(kt.errors.DTypeError, match=r"point must be an array of real numbers of shape \(…, 3\)"):
        kt.dynamics.momentum(ARM, Q, V, ["x", "y", "z"])


def test_wrong_shapes_options_and_frames_are_refused() -> None:
    with pytest.raises(kt.errors.ShapeError, match="centroidal_momentum_rate"):
        kt.dynamics.centroidal_momentum_rate(ARM, Q, V, QDD[:5])
    with pytest.raises(kt.errors.OptionError, match="there is no passive force 'dampng'"):
        kt.dynamics.mechanical_power(ARM, Q, V, TAU, passive=["dampng"])
    with pytest.raises(kt.errors.OptionError, match="limits must be True or False"):
        kt.dynamics.mechanical_power(ARM, Q, V, TAU, limits="yes")  # type: ignore[arg-type]
    with pytest.raises(kt.errors.NameNotFoundError, match="too"):
        kt.dynamics.mechanical_power(ARM, Q, V, TAU, {"too": np.zeros(6)})
    with pytest.raises(kt.errors.OptionError, match="centroidal_momentum_matrix takes no external forces"):
        compiled_late(ARM, kt.dynamics.centroidal_momentum_matrix, f_ext=["tool"])

"""What the functions of the mass matrix take and give, and what they say to wrong inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.kernels import compiled_late
from tests.unit.model.bodies import point

ARM = kt.zoo.load("arm6")
RNG = np.random.default_rng(3)
Q, V, FORCE = RNG.normal(size=(3, 4, ARM.nv))
DIVIDING = [kt.mass_matrix_inverse, kt.dynamics.mass_matrix_factors, kt.dynamics.mass_matrix_solve]
BY_NAME = pytest.mark.parametrize("function", DIVIDING, ids=lambda f: f.__name__)


def arguments(function: Callable[..., Any], nv: int) -> list[np.ndarray]:
    return [np.zeros(nv)] * (2 if function is kt.dynamics.mass_matrix_solve else 1)


def test_factors_are_views_of_one_array_that_out_names() -> None:
    out = np.full((4, ARM.nv + 1, ARM.nv), np.nan)
    L, D = kt.dynamics.mass_matrix_factors(ARM, Q, out=out)
    assert L.base is out
    assert D.base is out
    assert L.shape == (4, ARM.nv, ARM.nv)
    assert D.shape == (4, ARM.nv)
    np.testing.assert_array_equal(out, compiled_late(ARM, kt.dynamics.mass_matrix_factors)(Q))
    np.testing.assert_array_equal(out[:, :-1], kt.dynamics.mass_matrix_factors(ARM, Q, threads=2).L)


def test_forces_broadcast_with_configurations() -> None:
    found = kt.dynamics.mass_matrix_solve(ARM, Q[:, None], FORCE)
    assert found.shape == (4, 4, ARM.nv)
    np.testing.assert_array_equal(found[1, 2], kt.dynamics.mass_matrix_solve(ARM, Q[1], FORCE[2]))


def test_parameters_reach_all_of_them() -> None:
    mass = {f"body.{list(ARM.bodies)[-1]}.mass": 7.0}
    H = kt.crba(ARM, Q[0], parameters=mass)
    assert np.abs(H - kt.crba(ARM, Q[0])).max() > 1e-3
    np.testing.assert_allclose(kt.mass_matrix_inverse(ARM, Q[0], parameters=mass) @ H, np.eye(ARM.nv), atol=1e-9)
    L, D = kt.dynamics.mass_matrix_factors(ARM, Q[0], parameters=mass)
    np.testing.assert_allclose(L.T @ np.diag(D) @ L, H, atol=1e-10)
    np.testing.assert_allclose(
        H @ kt.dynamics.mass_matrix_solve(ARM, Q[0], FORCE[0], parameters=mass), FORCE[0], atol=1e-9
    )
    C = kt.dynamics.coriolis_matrix(ARM, Q[0], V[0], parameters=mass)
    bias = kt.bias_forces(ARM, Q[0], V[0], parameters=mass) - kt.gravity_forces(ARM, Q[0], parameters=mass)
    np.testing.assert_allclose(C @ V[0], bias, atol=1e-9)


@BY_NAME
def test_a_massless_hand_has_no_inverse(function: Callable[..., Any]) -> None:
    builder = kt.ModelBuilder("light")
    for name, inertia in (("base", None), ("arm", point(1.0, (0.3, 0.0, 0.0))), ("hand", None)):
        builder.add_body(name, *([] if inertia is None else [inertia]))
    builder.add_joint("shoulder", kt.Revolute([0, 1, 0]), "base", "arm")
    builder.add_joint("wrist", kt.Revolute([0, 1, 0]), "arm", "hand")
    robot = builder.build()
    with pytest.raises(
        kt.errors.SingularModelError, match="joint 'wrist' of 'light' moves nothing that has mass or inertia"
    ):
        function(robot, *arguments(function, robot.nv))
    assert np.isfinite(kt.dynamics.coriolis_matrix(robot, [0.1, 0.2], [1.0, 2.0])).all()


@BY_NAME
def test_a_hand_without_mass_in_one_sample_leaves_the_others_alone(function: Callable[..., Any]) -> None:
    """Parameters may take the mass away in one sample: it has infinities or NaN, and the others their numbers."""
    builder = kt.ModelBuilder("two")
    for name in ("base", "arm", "hand"):
        builder.add_body(name, *([] if name == "base" else [point(1.0, (0.3, 0.0, 0.0))]))
    builder.add_joint("shoulder", kt.Revolute([0, 1, 0]), "base", "arm")
    builder.add_joint("wrist", kt.Revolute([0, 1, 0]), "arm", "hand", kt.lie.placement([0.3, 0.0, 0.0]))
    robot = builder.build()
    q = np.zeros((3, 2))
    given = {"body.hand.mass": np.array([1.0, 0.0, 1.0]), "body.hand.inertia": np.zeros((3, 6))}
    rest = [np.ones((3, 2))] if function is kt.dynamics.mass_matrix_solve else []
    with np.errstate(all="ignore"):
        found = np.asarray(compiled_late(robot, function, parameters=list(given))(q, *rest, *given.values()))
    assert not np.isfinite(found[1]).all()
    assert np.isfinite(found[[0, 2]]).all()


def test_a_robot_that_cannot_move_has_empty_matrices() -> None:
    builder = kt.ModelBuilder("rock")
    builder.add_body("rock", point(1.0))
    rock = builder.build()
    assert kt.mass_matrix_inverse(rock, np.zeros(0)).shape == (0, 0)
    assert kt.dynamics.coriolis_matrix(rock, np.zeros((5, 0)), np.zeros(0)).shape == (5, 0, 0)
    assert kt.dynamics.mass_matrix_solve(rock, np.zeros(0), np.zeros(0)).shape == (0,)
    L, D = kt.dynamics.mass_matrix_factors(rock, np.zeros((5, 0)))
    assert L.shape == (5, 0, 0)
    assert D.shape == (5, 0)


def test_wrong_shapes_are_named() -> None:
    with pytest.raises(kt.errors.ShapeError, match=r"mass_matrix_solve: force has shape \(5,\)"):
        kt.dynamics.mass_matrix_solve(ARM, Q[0], np.zeros(5))
    with pytest.raises(kt.errors.ShapeError, match=r"coriolis_matrix: v has shape \(7,\)"):
        kt.dynamics.coriolis_matrix(ARM, Q[0], np.zeros(7))
    with pytest.raises(kt.errors.ShapeError, match=r"mass_matrix_inverse: q has shape \(7,\)"):
        kt.mass_matrix_inverse(ARM, np.zeros(7))
    with pytest.raises(kt.errors.ShapeError, match=r"mass_matrix_factors: out .*\(7, 6\)"):
        kt.dynamics.mass_matrix_factors(ARM, Q[0], out=np.zeros((6, 6)))

"""Blocks and points that slide on a plane: slopes, stopping distances, directions, rest."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.closed_form.scenes import Array, D, G, H, T, Thing, contact, rollout, world

MU = 0.5
BOX = world(Thing("box", (0.2, 0.2, 0.1), contact(), inertia=0.01), ground=contact())
POINT = Thing("sphere", (0.1,), contact(), kt.joints.Translation())
POINTS = {cone: world(POINT, ground=contact(), cone=cone) for cone in ("elliptic", "pyramidal")}
DEPTH = G * (1.0 - D) * T * T
"""How deep a ball of mass m lies: f = m g = D K d r, with D = d/(1 - d) m and K d² = 1/T²."""


def on_slope(angles: Array, yaw: float = 0.0) -> dict[str, Array]:
    """Gravity as seen from slopes."""
    down = np.sin(angles)
    return {"gravity": G * np.stack([down * np.cos(yaw), down * np.sin(yaw), -np.cos(angles)], axis=-1)}


def box_at(depth: float, *leading: int) -> Array:
    q = np.tile(BOX.neutral(), (*leading, 1))
    q[..., 2] = 0.05 - depth
    return q


def test_a_block_sticks_on_a_slope_below_the_angle_of_friction_and_creeps_as_the_soft_law_says() -> None:
    # Friction's rows have no spring: they hold a force f by creeping at R f / B, with R = (1 - d) / (d m) for each of
    # four corners that carry f/4, and B = 2 / (d T). Above 0.8 of the slope the upper corners, which bear less, slide.
    slopes = np.arctan(MU) * np.linspace(0.0, 0.75, 8)
    _, v = rollout(BOX, box_at(DEPTH / 4.0, 8), np.zeros(6), 300, parameters=on_slope(slopes))
    creep = (1.0 - D) * 0.5 * T * G * np.sin(slopes) / 4.0
    np.testing.assert_allclose(v[:, -1, 0], creep, rtol=1e-6, atol=1e-9)
    assert creep.max() < 3e-4  # 0.3 mm/s, where the block would be at 1 m/s without friction
    assert np.abs(v[:, -1, 1:]).max() < 1e-6


def test_a_block_slides_on_a_steeper_slope_at_g_sin_minus_mu_cos() -> None:
    # While all contacts slide downhill, the friction of each is exactly μ times its normal force, whatever that is: so
    # v_t + μ v_n grows at exactly g (sin θ - μ cos θ).
    slopes = np.arctan(MU) * np.linspace(1.2, 2.5, 8)
    start = np.array([0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    _, v = rollout(BOX, box_at(DEPTH / 4.0, 8), start, 300, parameters=on_slope(slopes))
    time = H * np.arange(1, 301)
    wanted = 0.5 + np.outer(G * (np.sin(slopes) - MU * np.cos(slopes)), time)
    np.testing.assert_allclose(v[..., 0] + MU * v[..., 2], wanted, rtol=1e-8)
    assert (np.abs(v[..., 2]) < MU * v[..., 0]).all()  # convex contacts that slide lift by no more


def test_the_block_starts_to_slide_at_the_angle_of_friction() -> None:
    slopes = np.arctan(MU * np.array([0.97, 0.99, 1.01, 1.03]))
    _, v = rollout(BOX, box_at(DEPTH / 4.0, 4), np.zeros(6), 1000, parameters=on_slope(slopes))
    along = v[..., 0] + MU * v[..., 2]
    gained = (along[:, -1] - along[:, 499]) / 0.5
    np.testing.assert_allclose(gained, np.maximum(0.0, G * (np.sin(slopes) - MU * np.cos(slopes))), atol=1e-6)
    assert (gained[2:] > 0.04).all()


def test_a_block_lies_as_deep_as_its_parameters_say() -> None:
    q, v = rollout(BOX, box_at(0.0), np.zeros(6), 400)
    np.testing.assert_allclose(0.05 - q[-1, 2], DEPTH / 4.0, rtol=1e-6)
    assert np.abs(v[-1]).max() < 1e-9


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_a_ball_lies_as_deep_as_its_parameters_say(cone: str) -> None:
    # A pyramid has four edges, with R = 2 μ² (1 + μ²) times that of the normal.
    factor = 1.0 if cone == "elliptic" else 2.0 * MU**2 * (1.0 + MU**2) / 4.0
    q, _ = rollout(POINTS[cone], [0.0, 0.0, 0.1], np.zeros(3), 400)
    np.testing.assert_allclose(0.1 - q[-1, 2], DEPTH * factor, rtol=1e-6)


def friction_at(cone: str, angles: Array) -> tuple[Array, Array, Array]:
    """The force per normal force along and across the velocity of a point that slides, and the normal force."""
    robot = POINTS[cone]
    along = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=-1)
    q = np.array([0.0, 0.0, 0.1 - 1e-4])
    a = kt.contact_dynamics(robot, q, 0.2 * along, np.zeros(3)).qdd
    normal = a[:, 2] + G
    across = np.stack([-np.sin(angles), np.cos(angles)], axis=-1)
    return (a * along).sum(-1) / normal, (a[:, :2] * across).sum(-1) / normal, normal


def test_friction_of_an_elliptic_cone_is_the_same_in_all_directions() -> None:
    along, across, normal = friction_at("elliptic", np.radians(np.arange(0.0, 360.0, 5.0)))
    np.testing.assert_allclose(along, -MU, rtol=1e-9)
    np.testing.assert_allclose(across, 0.0, atol=1e-9)
    np.testing.assert_allclose(normal, normal[0], rtol=1e-9)


def test_friction_of_a_pyramid_depends_on_the_direction() -> None:
    # It is that of the cone along the edges and √½ of it between them; and elsewhere it is not against the velocity.
    angles = np.arange(0.0, 360.0, 5.0)
    along, across, _ = friction_at("pyramidal", np.radians(angles))
    np.testing.assert_allclose(along[angles % 90.0 == 0.0], -MU, rtol=1e-9)
    np.testing.assert_allclose(along[angles % 90.0 == 45.0], -MU * np.sqrt(0.5), rtol=1e-9)
    np.testing.assert_allclose(across[angles % 45.0 == 0.0], 0.0, atol=1e-9)
    assert np.abs(across).max() > 0.1
    assert (np.hypot(along, across) < MU * (1.0 + 1e-9)).all()


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_a_pull_at_an_angle_moves_a_point_where_it_leaves_the_cone(cone: str) -> None:
    angles = np.radians([0.0, 15.0, 30.0, 45.0, 70.0, 135.0, 200.0])
    along = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=-1)
    holds = MU * G * np.ones(7)
    if cone == "pyramidal":
        holds /= np.abs(along).sum(-1)
    for share, moves in ((0.97, False), (1.03, True)):
        _, v = rollout(POINTS[cone], [0.0, 0.0, 0.1 - 1e-5], np.zeros(3), 1000, share * holds[:, None] * along)
        gained = np.linalg.norm(v[:, -1] - v[:, 499], axis=-1) / 0.5
        assert (gained > 0.03).all() if moves else (gained < 1e-6).all()


def test_accelerations_of_a_table_with_four_legs_are_unique() -> None:
    # Four corners bear it where three would do. Wherever the search begins, accelerations are the same.
    rng = np.random.default_rng(5)
    guesses = rng.normal(size=(50, 6)) * 10.0 ** rng.integers(-3, 4, size=(50, 1))
    q = box_at(DEPTH / 4.0)
    v, tau = 0.1 * rng.normal(size=6), rng.normal(size=6)
    found = kt.contact_dynamics(BOX, q, v, tau, guess=guesses)
    assert found.error.max() < 1e-9
    np.testing.assert_allclose(found.qdd, np.broadcast_to(found.qdd[0], (50, 6)), rtol=1e-8, atol=1e-8)
    assert np.ptp(found.iterations) > 0.0

"""Rows, columns and a cube of equal balls: how blows go through them, and how they come to rest on each other."""

from __future__ import annotations

from dataclasses import replace
from math import cos, sin, sqrt
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.contact_model import TouchSpec
from tests.closed_form.scenes import Array, G, H, Thing, contact, world
from tests.closed_form.settings import ALL, SETTINGS, R, moved

# -- Newton's cradle

ROW = world(
    *(
        Thing(
            "sphere", (R,), contact(condim=1, solref=(-1e4, 0.0), solimp=(0.9999, 0.9999, 1e-3, 0.5, 2.0)),
            kt.Prismatic([1, 0, 0]),
        )
        for _ in range(3)
    )
).with_gravity((0, 0, 0))  # fmt: skip
"""Elastic balls, in MuJoCo's setting."""
BLOWS: dict[str, dict[str, Any]] = {
    "mujoco": {"dt": 1e-4, "steps": 800},
    "compliant": {"dt": 2e-5, "steps": 2500, "more": {"stiffness": 1e4, "dissipation": 0.0}},
    "rigid": {"steps": 60, "more": {"restitution": 1.0}},
    "accurate": {"steps": 60, "more": {"restitution": 1.0}},
}


def after_a_blow(name: str, gap: float) -> Array:
    """Velocities after the first of three balls has come with 1 m/s."""
    blow = dict(BLOWS[name])
    blow["steps"] = int(blow["steps"] * (2.5 if gap else 1.0))
    _, v = moved(ROW, [-2.0 * R - gap, 0.0, 2.0 * R + gap], [1.0, 0.0, 0.0], name=name, **blow)
    found: Array = v[-1]
    return found


@pytest.mark.parametrize("name", ["mujoco", "rigid", "accurate"])
def test_balls_of_a_cradle_that_touch_all_part_from_each_other(name: str) -> None:
    # Newton's law for all contacts at once, with the pair at rest held together: v₂ - v₁ = v, v₃ = v₂, and momentum. It
    # is not what a cradle of steel does, where waves pass from ball to ball; energy and momentum are kept all the same.
    # MuJoCo's springs are ones of acceleration, which hold the pair together as well.
    share = {"mujoco": 1e-4, "rigid": 3e-3, "accurate": 1e-6}[name]
    np.testing.assert_allclose(after_a_blow(name, 0.0), [-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0], atol=share)


def test_balls_of_a_compliant_cradle_that_touch_are_masses_between_springs() -> None:
    # With depths δ₁ and δ₂ and √(k/m) = 1: δ̈₁ = δ₂ - 2 δ₁, δ̈₂ = δ₁ - 2 δ₂, from δ̇₁ = 1, until the first pair parts;
    # then the second one swings on by itself, δ̈₂ = -2 δ₂.
    low, high = 1.0, 3.0  # in which the first pair parts: sin t + sin(√3 t)/√3 = 0
    for _ in range(60):
        t = 0.5 * (low + high)
        low, high = (t, high) if sin(t) + sin(sqrt(3.0) * t) / sqrt(3.0) > 0.0 else (low, t)
    depth = 0.5 * (sin(low) - sin(sqrt(3.0) * low) / sqrt(3.0))
    first, second = (0.5 * (cos(low) + sign * cos(sqrt(3.0) * low)) for sign in (1.0, -1.0))
    middle = (1.0 - first + second) / 3.0
    mean, apart = middle - 0.5 * second, 0.5 * sqrt(second**2 + 2.0 * depth**2)
    wanted = [middle + first, mean - apart, mean + apart]
    np.testing.assert_allclose(wanted, [-0.130, 0.150, 0.980], atol=5e-4)
    np.testing.assert_allclose(after_a_blow("compliant", 0.0), wanted, atol=4e-3)


@ALL
def test_balls_of_a_cradle_with_gaps_hand_on_their_speed(name: str) -> None:
    gap = 0.005 if name in ("rigid", "accurate") else 0.02  # more than the depth of a blow
    share = {"mujoco": 2e-3, "compliant": 5e-3, "rigid": 3e-3, "accurate": 1e-6}[name]
    np.testing.assert_allclose(after_a_blow(name, gap), [0.0, 0.0, 1.0], atol=share)


# -- six by six by six


@ALL
def test_six_by_six_columns_of_six_balls_come_to_rest_on_each_other(name: str) -> None:
    # Each column falls with other gaps between its balls. Contact k from below bears the weight of 6 - k of them.
    column = world(*(Thing("sphere", (R,), contact(), kt.Prismatic([0, 0, 1])) for _ in range(6)), ground=contact())
    soft = kt.contact.soft_constraints(column, **SETTINGS[name])
    lattice = np.arange(6.0)[:, None] * [0.0, 0.0, 2.0 * R]
    soft = replace(soft, touches=tuple(touch for touch in soft.touches if _is_near(touch, lattice)))
    assert len(soft.touches) == 6
    gaps = np.random.default_rng(0).uniform(1e-3, 2e-2, (36, 6))
    q = R * (2.0 * np.arange(6) + 1.0) + np.cumsum(gaps, axis=1)
    states = kt.rollout(column, q, np.zeros((36, 6)), np.zeros((36, 2500, 6)), H, contact=soft)
    q, v = states[..., :6], states[..., 6:]
    apart = np.diff(q, axis=-1, prepend=-R) - 2.0 * R
    assert apart.min() > {"mujoco": -0.02, "compliant": -0.02, "rigid": -1e-4, "accurate": -1e-5}[name]
    energy = 0.5 * (v**2).sum(-1) + G * q.sum(-1)
    assert (energy <= energy[:, :1] + 0.5 * G * H * np.abs(v).sum(-1) + 1e-6).all()
    assert np.abs(v[:, -1]).max() < 1e-3
    if name != "mujoco":
        wanted = -G * np.arange(6, 0, -1) / 1e5 if name == "compliant" else np.zeros(6)
        np.testing.assert_allclose(apart[:, -1], np.broadcast_to(wanted, (36, 6)), rtol=1e-3, atol=2e-5)


def test_eight_balls_in_a_cube_come_down_without_going_into_each_other() -> None:
    spots = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    robot = world(*[Thing("sphere", (R,), contact(), kt.joints.Translation()) for _ in spots], ground=contact())
    soft = kt.contact.soft_constraints(robot, **SETTINGS["rigid"])
    place = np.array(spots) * (2.0 * R + 1e-3) + [0.0, 0.0, R + 1e-3]
    soft = replace(soft, touches=tuple(touch for touch in soft.touches if _is_near(touch, place)))
    states = kt.rollout(robot, place.ravel(), np.zeros(24), np.zeros((300, 24)), H, contact=soft)
    q = states[:, :24].reshape(-1, 8, 3)
    apart = np.linalg.norm(q[:, :, None] - q[:, None], axis=-1)[:, *np.triu_indices(8, 1)]
    assert min(apart.min() - 2.0 * R, q[..., 2].min() - R) > -1e-4
    assert np.abs(states[-1, 24:]).max() < 1e-3
    np.testing.assert_allclose(np.sort(q[-1, :, 2]), [R] * 4 + [3.0 * R] * 4, atol=1e-4)


def _is_near(touch: TouchSpec, place: Array) -> bool:
    """Whether two balls are neighbours in the lattice, or one is above the ground."""
    balls = [int(side.body[5:]) for side in (touch.first, touch.second) if side.body and side.body != "world"]
    if len(balls) == 1:
        return bool(place[balls[0], 2] < place[:, 2].min() + R)
    return float(np.linalg.norm(place[balls[0]] - place[balls[1]])) < 2.5 * R

"""A wheel of spokes without a rim that rolls down a slope: what each step leaves of its speed, and where that settles.

Source: McGeer, "Passive Dynamic Walking", International Journal of Robotics Research 9 (1990), section 3.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import kinetree as kt
from kinetree.model import Geometry
from kinetree.model.extras import SimulationOptions
from kinetree.spatial import Inertia, Sym3, Vec3
from tests.closed_form.scenes import Array, G, H, contact, floor
from tests.closed_form.settings import ALL, RIGID, SETTINGS, moved

LENGTH, INERTIA, TIP = 0.3, 1e-3, 1e-4
"""Spokes, the hub of 1 kg, and the radius of the small balls at the ends of spokes."""


def wheel(spokes: int) -> kt.Model:
    """It turns in the plane of x and -z."""
    hard = contact((2.0, 0.0, 0.0), solref=(0.001, 1.0), solimp=(0.99, 0.99, 0.001, 0.5, 2.0))
    builder = kt.ModelBuilder("wheel")
    builder.add_body("world", geometry=[floor(hard)])
    angles = 2.0 * np.pi * np.arange(spokes) / spokes
    places = [kt.lie.placement((LENGTH * np.sin(a), 0.0, -LENGTH * np.cos(a))) for a in angles]
    tips = [Geometry("collision", "sphere", (TIP,), place, contact=hard) for place in places]
    builder.add_body("hub", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(INERTIA)), geometry=tips)
    builder.add_joint("rolls", kt.joints.Planar([0, 1, 0], [1, 0, 0]), "world", "hub")
    builder.extras = replace(builder.extras, options=SimulationOptions(cone="elliptic"))
    return builder.build()


def left(half: float) -> float:
    """The angular momentum about the spoke that lands is kept: what it leaves of ω, with 2 α between spokes."""
    return float((LENGTH**2 * np.cos(2.0 * half) + INERTIA) / (LENGTH**2 + INERTIA))


@RIGID
def test_a_spoke_that_lands_leaves_the_cosine_of_its_angle_of_the_speed(name: str) -> None:
    robot, half, omega = wheel(6), np.pi / 6, 2.0
    # It turns about the spoke behind, at half of the angle between spokes, where the one ahead touches the ground.
    q = np.array([0.0, -(LENGTH * np.cos(half) + TIP), half])
    v = omega * np.array([LENGTH * np.cos(half), LENGTH * np.sin(half), 1.0])
    soft = kt.contact.soft_constraints(robot, H, **SETTINGS[name])
    found = kt.contact_dynamics(robot, q, v, np.zeros(3), contact=soft, parameters={"gravity": np.zeros(3)})
    after = v[2] + H * found.qdd[2]
    # The tips have a radius.
    np.testing.assert_allclose(after, omega * left(half), rtol=2e-5 if name == "accurate" else 5e-3)


@ALL
def test_a_wheel_that_rolls_down_a_slope_settles_at_one_speed(name: str) -> None:
    # Over a spoke at the angle φ from the slope's normal it is a pendulum, (m l² + I) ω² / 2 + m g l cos(φ - γ), from
    # -α to α; then the next one lands.
    robot, half, slope = wheel(8), np.pi / 8, 0.15
    per = 2.0 * G * LENGTH / (LENGTH**2 + INERTIA)
    up, down = per * (np.cos(slope - half) - np.cos(slope)), per * (np.cos(slope) - np.cos(slope + half))
    kept = left(half) ** 2
    settled = np.sqrt((kept * down + up) / (1.0 - kept))
    start, dt = settled * np.array([1.2, 0.9]), 2.5e-4
    q = np.tile([0.0, -(LENGTH + TIP), 0.0], (2, 1))
    v = start[:, None] * np.array([LENGTH, 0.0, 1.0])
    gravity = G * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    states = moved(robot, q, v, 7000, name, dt=dt, parameters={"gravity": gravity})
    for begin, angle, omega in zip(start, *(x[..., 2] for x in states), strict=True):
        expected = [begin]
        for _ in range(5):
            expected.append(np.sqrt(kept * (expected[-1] ** 2 + down) + up))
        np.testing.assert_allclose(_over_spokes(angle, omega, half)[:5], expected[1:], rtol=5e-3)
        assert abs(expected[-1] / settled - 1.0) < 0.01


def _over_spokes(angle: Array, omega: Array, half: float) -> Array:
    """ω where spokes are normal to the slope."""
    turns = angle / (2.0 * half)
    at = np.flatnonzero(np.diff(np.floor(turns)) > 0)
    share = (np.floor(turns[at + 1]) - turns[at]) / (turns[at + 1] - turns[at])
    found: Array = omega[at] + share * (omega[at + 1] - omega[at])
    return found

"""Things on what moves: a surface that goes round, and a plate that goes on."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from tests.closed_form.scenes import Array, G, H, Thing, contact, world
from tests.closed_form.settings import ALL, MU, R, moved

SPEED = 0.4
UNTIL = SPEED / (MU * G)


def check(along: Array, up: Array) -> None:
    """Friction accelerates it by μ g until it is as fast; convex contacts lift it meanwhile by up to μ v."""
    time = H * np.arange(1, len(along) + 1)
    early, late = time < 0.9 * UNTIL, time > 1.2 * UNTIL
    np.testing.assert_allclose((along - MU * up)[early], MU * G * time[early], rtol=1e-7)
    np.testing.assert_allclose(along[late], SPEED, atol=2e-6)


@ALL
def test_a_thing_on_a_belt_reaches_its_speed(name: str) -> None:
    robot = world(
        Thing("sphere", (R,), contact(), kt.joints.Translation()), ground=contact(surface_velocity=(SPEED, 0, 0))
    )
    _, v = moved(robot, [0.0, 0.0, R], np.zeros(3), 150, name)
    check(v[:, 0], v[:, 2])


@ALL
def test_a_thing_on_a_plate_that_slides_on_reaches_its_speed(name: str) -> None:
    plate = Thing("box", (4.0, 4.0, 0.2), contact(), kt.Prismatic([1, 0, 0]), at=(0.0, 0.0, -0.1), mass=1e7)
    robot = world(plate, Thing("sphere", (R,), contact(), kt.joints.Translation()))
    _, v = moved(robot, [0.0, 0.0, 0.0, R], [SPEED, 0.0, 0.0, 0.0], 150, name)
    check(v[:, 1], v[:, 3])

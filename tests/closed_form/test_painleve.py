"""Painlevé's rod: its tip slides on the ground in a way that no bounded rigid force can go with; each setting answers.

Source: Stewart, "Rigid-Body Dynamics with Friction and Impact", SIAM Review 42 (2000), section 1.1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.model import Geometry
from kinetree.model.extras import SimulationOptions
from kinetree.spatial import Inertia, Sym3, Vec3
from tests.closed_form.scenes import Array, G, H, contact, floor
from tests.closed_form.settings import ALL, SETTINGS, moved

MU, ANGLE, TIP, DEPTH = 2.5, -1.0, 1e-4, 1e-5
INERTIA = 1.0 / 12.0
"""About the middle of a rod of 1 m and 1 kg."""
DEEPEST = {"mujoco": 2e-4, "compliant": 3e-4, "rigid": 3e-3, "accurate": 2e-5}
"""How far the tip goes into the ground, m."""


@pytest.fixture(scope="module")
def rod() -> kt.Model:
    """In the plane of x and -z; its tip, behind and below the middle, is a small ball."""
    surface = contact((MU, 0.0, 0.0))
    builder = kt.ModelBuilder("rod")
    builder.add_body("world", geometry=[floor(surface)])
    tip = Geometry("collision", "sphere", (TIP,), kt.lie.placement((-0.5, 0.0, 0.0)), contact=surface)
    builder.add_body("rod", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(INERTIA)), geometry=[tip])
    builder.add_joint("moves", kt.joints.Planar([0, 1, 0], [1, 0, 0]), "world", "rod")
    builder.extras = replace(builder.extras, options=SimulationOptions(cone="elliptic"))
    return builder.build()


def energy(q: Array, v: Array) -> Array:
    found: Array = 0.5 * (v[..., 0] ** 2 + v[..., 1] ** 2 + INERTIA * v[..., 2] ** 2) - G * q[..., 1]
    return found


@ALL
def test_a_tip_that_slides_backwards_has_one_answer_which_is_finite(rod: kt.Model, name: str) -> None:
    across, along = 0.5 * np.cos(ANGLE), -0.5 * np.sin(ANGLE)
    # What a push of 1 N from the ground, with its friction, gives the tip upwards: less than nothing, so that it pulls
    # the tip in. A step has a solution all the same: an impact without a fall.
    assert 1.0 + across * (across - MU * along) / INERTIA < 0.0
    q, v = np.array([0.0, -(along + TIP - DEPTH), ANGLE]), np.array([-1.0, 0.0, 0.0])
    rng = np.random.default_rng(0)
    guesses = rng.normal(size=(20, 3)) * 10.0 ** rng.integers(-2, 4, size=(20, 1))
    found = kt.contact_dynamics(
        rod, q, v, np.zeros(3), contact=kt.contact.soft_constraints(rod, H, **SETTINGS[name]), guess=guesses
    )
    assert np.ptp(found.qdd, axis=0).max() < 1e-6 * np.abs(found.qdd[0]).max()
    if name != "rigid":  # with one round, friction's lift is that of the velocity before
        assert found.error.max() < 1e-8
    states = moved(rod, q, v, 100, name)
    height = -states[0][:, 1] + 0.5 * np.sin(states[0][:, 2]) - TIP
    assert height.min() > -DEEPEST[name]
    assert energy(*states).max() < energy(q, v)
    if name == "accurate":  # at once, so that the tip stays where it is
        falls = states[1][0, 1] - across * states[1][0, 2]
        assert falls < 1e-6 + DEPTH / H
        assert energy(*states)[0] < energy(q, v) - 0.2

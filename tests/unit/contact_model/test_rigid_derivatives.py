"""Derivatives through accurate rigid contacts, forward and in reverse, beside central differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.model import Geometry
from tests.closed_form.scenes import Thing, contact, world

Array = NDArray[Any]
H = 0.002
MU = "shape.ground.friction"


def tripod() -> kt.Model:
    """A body on three feet, whose contacts have more rows than it has degrees of freedom."""
    builder = kt.ModelBuilder("tripod")
    builder.add_body("world")
    places = [(0.2 * math.cos(x), 0.2 * math.sin(x), -0.1) for x in (0.0, 2.1, 4.2)]
    feet = [Geometry("collision", "sphere", (0.05,), kt.lie.placement(at), f"foot{k}") for k, at in enumerate(places)]
    builder.add_body("body", kt.solids.box(0.3, 0.2, 0.1, mass=2.0), geometry=feet)
    builder.add_joint("free", kt.joints.FloatingBase(), "world", "body")
    return builder.build().on_ground(friction=0.5)


TRIPOD = tripod()
RIGID = kt.contact.soft_constraints(TRIPOD, H, setting="rigid", accurate=True, tolerance=1e-11)
STANDING = np.array([0.0, 0.0, 0.15, 0.0, 0.0, 0.0, 1.0])
STATES = {
    "sticking": (STANDING, [0.0] * 6, [1.0, 0.5, 0.0, 0.1, 0.2, 0.1]),
    "sliding": (STANDING, [1.0, 0.3, 0.0, 0.0, 0.0, 0.2], [1.0, 0.5, 0.0, 0.0, 0.02, 0.01]),
    "sliding round": (STANDING, [0.1, 0.05, 0.0, 0.0, 0.0, 3.0], [1.0, 0.5, 0.0, 0.0, 0.02, 0.01]),
    "separating": (STANDING, [0.4, 0.1, 0.1, 0.0, 0.6, 0.2], [1.0, 0.5, 2.0, 0.3, 0.02, 0.01]),
    "hitting": (STANDING, [0.4, 0.1, -0.3, 0.2, -0.1, 0.5], [1.0, 0.5, 0.0, 0.0, 0.02, 0.01]),
}


def accelerations(q: Array, v: Array, tau: Array, friction: Array) -> Array:
    found = kt.contact_dynamics(TRIPOD, q, v, tau, contact=RIGID, parameters={MU: friction})
    assert np.all(found.error < 1e-10)
    return found.qdd


@pytest.mark.parametrize("state", STATES)
def test_they_agree_with_differences(state: str) -> None:
    q, *rest = STATES[state]
    at = {"v": np.array(rest[0]), "tau": np.array(rest[1]), MU: np.array([0.5, 0.005, 0.0001])}
    rng = np.random.default_rng(0)
    along = {"v": rng.normal(size=6), "tau": rng.normal(size=6), MU: np.array([1.0, 0.0, 0.0])}
    each = {name: np.stack([x * float(name == other) for other in along]) for name, x in along.items()}
    arguments, given = (q, at["v"], at["tau"]), {MU: at[MU]}
    _, slopes = kt.jvp(TRIPOD, kt.contact_dynamics, arguments, each, contact=RIGID, parameters=given)
    ends = [accelerations(q, *(at[name] + h * x for name, x in each.items())) for h in (1e-5, -1e-5)]
    expected = (ends[0] - ends[1]) / 2e-5
    np.testing.assert_allclose(slopes[:, :6], expected, atol=1e-6 * np.abs(expected).max())
    of_friction = np.abs(slopes[2, :6]).max()
    assert of_friction < 1e-6 if state == "sticking" else of_friction > 0.1
    weights = np.zeros(slopes.shape[-1])
    weights[:6] = rng.normal(size=6)
    _, back = kt.vjp(TRIPOD, kt.contact_dynamics, arguments, weights, wrt=list(along), contact=RIGID, parameters=given)
    products = [np.sum(back[name] * x) for name, x in along.items()]
    np.testing.assert_allclose(products, slopes @ weights, atol=1e-10 * np.abs(slopes).max())


BOX = world(Thing("box", (0.2, 0.2, 0.1), contact(), inertia=0.01), ground=contact())
ON_FOUR = np.array([0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0])
MASS, FLOOR, THING = "body.thing0.mass", "shape.floor.friction", "shape.thing0[0].friction"


@pytest.mark.parametrize(("name", "steps"), [(MASS, 100), (FLOOR, 1)])
def test_on_four_corners_they_are_those_of_the_forces_that_were_chosen(name: str, steps: int) -> None:
    # Any three corners would do, and how the box slides and spins depends on how four of them share its weight.
    soft = kt.contact.soft_constraints(BOX, H, setting="rigid", accurate=True)
    v, tau = np.array([1.0, 0.3, 0.0, 0.0, 0.0, 4.0]), np.zeros((steps, 6))
    tau[:, :2], tau[:, 5] = (1.0, 0.5), 0.01
    at = {key: np.asarray(BOX.parameter(key)) for key in (MASS, FLOOR, THING)}
    along = {key: np.zeros_like(x) for key, x in at.items()}
    for key in (MASS,) if name == MASS else (FLOOR, THING):
        along[key].flat[0] = 1.0

    def end(h: float) -> Array:
        given = {key: x + h * along[key] for key, x in at.items()}
        found: Array = kt.rollout(BOX, ON_FOUR, v, tau, 0.001, contact=soft, parameters=given)[-1]
        return found

    _, slopes = kt.jvp(BOX, kt.rollout, (ON_FOUR, v, tau, 0.001), along, contact=soft, parameters=at)
    expected = (end(1e-5) - end(-1e-5)) / 2e-5
    np.testing.assert_allclose(slopes[-1], expected, atol=1e-5 * np.abs(expected).max())


def test_forces_that_are_not_unique_are_shared_alike() -> None:
    soft = kt.contact.soft_constraints(BOX, H, setting="rigid", accurate=True)
    turning = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 4.0])  # about the middle: alike at all corners
    found = kt.contact_dynamics(BOX, ON_FOUR, turning, np.zeros(6), contact=soft)
    np.testing.assert_allclose(found.qdd[:5], 0.0, atol=1e-9)


def test_in_reverse_through_steps_that_land_and_slide() -> None:
    ball = world(Thing("sphere", (0.1,), contact()), ground=contact())
    soft = kt.contact.soft_constraints(ball, H, setting="rigid", accurate=True, tolerance=1e-12)
    q, v = np.array([0.0, 0.0, 0.101, 0.0, 0.0, 0.0, 1.0]), np.array([1.0, 0.2, -0.4, 0.0, 0.5, 0.1])
    tau, weights = np.zeros((4, 6)), np.random.default_rng(3).normal(size=(4, 13))

    def cost(v: Array) -> float:
        return float(np.sum(weights * kt.rollout(ball, q, v, tau, H, contact=soft)))

    _, back = kt.vjp(ball, kt.rollout, (q, v, tau, H), weights, wrt="v", contact=soft)
    expected = [(cost(v + h) - cost(v - h)) / 2e-5 for h in 1e-5 * np.eye(6)]
    np.testing.assert_allclose(back["v"], expected, atol=1e-6 * np.abs(expected).max())

"""Starts on a ground, raised out of it, and warnings of those that are inside it."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import OptionError
from kinetree.functions.above_ground import deepest_overlap, usual_start
from kinetree.sweeps.quantities import Quantities
from tests.calls import calls_of
from tests.closed_form.scenes import Thing, contact, world

BALLS = world(Thing("sphere", (0.1,), contact()), Thing("sphere", (0.2,), contact(), at=(1.0, 0.0, 0.0)))


@pytest.mark.parametrize("name", ["humanoid", "quadruped", "ragdoll"])
def test_what_floats_stands_on_its_ground(name: str) -> None:
    scene = kt.zoo.load(name).on_ground()
    q = kt.contact.above_ground(scene)
    assert q[2] > scene.neutral()[2] + 0.3
    np.testing.assert_array_equal(np.delete(q, 2), np.delete(scene.neutral(), 2))
    np.testing.assert_allclose(kt.contact.above_ground(scene, q), q, rtol=0, atol=1e-12)
    high = q + 1.0 * (np.arange(scene.nq) == 2)
    np.testing.assert_array_equal(kt.contact.above_ground(scene, high, clearance=0.5), high)
    both = kt.contact.above_ground(scene, [scene.neutral(), high], clearance=0.01)
    np.testing.assert_allclose(both[0] - q, 0.01 * (np.arange(scene.nq) == 2), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(both[1], high)


def test_a_robot_that_floats_without_a_ground_starts_where_it_is() -> None:
    robot = kt.zoo.load("quadruped")
    with pytest.raises(
        OptionError, match=r"'quadruped' has a floating base and nothing fixed below it; robot\.on_ground"
    ):
        kt.contact.above_ground(robot)
    np.testing.assert_array_equal(usual_start(robot, touches=True), robot.neutral())


@pytest.mark.parametrize("angle", [0.35, -0.6])
def test_on_a_slope_the_distance_is_along_its_normal(angle: float) -> None:
    scene = kt.zoo.load("ragdoll").with_free_body("sphere", 0.1, mass=1.0).on_slope(angle)
    q = kt.contact.above_ground(scene, clearance=0.2)
    assert q[-5] == pytest.approx(0.3 / np.cos(angle), abs=1e-12)


def test_a_ball_is_raised_onto_the_box_that_it_is_in_and_not_out_of_a_wall() -> None:
    scene = kt.zoo.load("double_pendulum").with_free_body("sphere", 0.1, mass=1.0)
    on_box = scene.with_obstacle("box", (1.0, 1.0, 0.4), kt.lie.placement((0.0, 0.0, 0.1)), name="step")
    q = np.zeros(on_box.nq)
    q[-1] = 1.0
    q[-7:-4] = 0.2, 0.1, 0.25
    assert kt.contact.above_ground(on_box, q)[-5] == pytest.approx(0.4, abs=1e-12)
    wall = scene.on_ground(-5.0, normal=(1.0, 0.0, 0.0), name="wall")
    q[-7:-4] = -3.0, 0.0, 0.0
    np.testing.assert_array_equal(kt.contact.above_ground(wall, q), q)


def test_hills_are_below_what_is_raised() -> None:
    scene = BALLS.on_terrain(size=(4.0, 4.0), spacing=0.5, steepness=0.3, seed=2)
    q = kt.contact.above_ground(scene, clearance=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kt.simulate(scene, q=q, contact=True, duration=0.002)


def test_wrong_clearances_are_refused() -> None:
    scene = kt.zoo.load("ragdoll").on_ground()
    for wrong in (-0.1, np.nan, np.inf, [0.1, 0.2]):
        with pytest.raises(kt.errors.OptionError, match="clearance must be a distance from 0 on"):
            kt.contact.above_ground(scene, clearance=wrong)  # type: ignore[arg-type]


def test_a_motion_begins_on_its_ground_and_warns_if_requested_not_to() -> None:
    scene = BALLS.on_ground()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = kt.simulate(scene, contact=True, duration=0.02)
    np.testing.assert_array_equal(motion.q[0], kt.contact.above_ground(scene))
    assert motion.kinetic.max() < 5.0
    starts = np.array([kt.contact.above_ground(scene), scene.neutral()])
    with pytest.warns(
        kt.errors.SimulationWarning, match=r"at the start of sample \(1,\) 'thing1.*inside each other by 0.2 m"
    ):
        kt.simulate(scene, q=starts, contact=True, duration=0.002)


def test_the_deepest_overlap_is_found_among_the_pairs_that_come_near_each_other() -> None:
    sizes = {"sphere": (0.1,), "box": (0.2, 0.1, 0.3), "capsule": (0.1, 0.2)}
    kinds = [*sizes] * 4
    things = [Thing(kind, sizes[kind], contact(), at=(0.5 * k, 0.0, 1.0)) for k, kind in enumerate(kinds)]
    scene = world(*things).on_ground(-0.5)
    constraints = kt.contact.soft_constraints(scene)
    deepest = partial(deepest_overlap, scene, constraints, parameters={})
    starts = np.tile(scene.neutral(), (4, 1))
    starts[1, 7 * 7] = -0.34
    starts[2, 7 * 8 + 2] = -1.35
    starts[3, 7 * 11] = -5.17
    depths = [None if one is None else (one.second[1:7], round(one.depth, 12)) for one in map(deepest, starts)]
    assert depths == [None, ("thing7", 0.04), ("thing8", 0.05), ("thing1", 0.03)]
    assert (whole := deepest(starts)) is not None
    assert (whole.sample, round(whole.depth, 12)) == ((2,), 0.05)
    assert calls_of(partial(deepest, starts[0])) < 50 * len(constraints.touches)


def test_a_study_begins_on_its_ground_too() -> None:
    scene = kt.zoo.load("ragdoll").on_ground()
    quantities = Quantities(scene, {"contact": True})
    np.testing.assert_array_equal(quantities.nominal("q"), kt.contact.above_ground(scene))
    np.testing.assert_array_equal(Quantities(scene, {}).nominal("q"), scene.neutral())


def test_robots_of_the_zoo_touch_the_ground_and_few_of_their_own_parts() -> None:
    for name in kt.zoo.names():
        constraints = kt.contact.soft_constraints(kt.zoo.load(name).on_ground())
        assert not constraints.unsupported
        assert len(constraints.touches) < 60


def test_a_refusal_names_what_leaves_contacts_out() -> None:
    robot = kt.load(kt.zoo.path("humanoid"), floating_base=True)
    with (
        pytest.warns(kt.errors.SimulationWarning, match="397 pairs"),
        pytest.raises(kt.errors.OptionError, match=r"without_self_contact\(\).*with_contacts\(bodies\)"),
    ):
        kt.simulate(robot.on_ground(), contact=True, duration=0.01)

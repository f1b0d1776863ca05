"""Several bodies, or several contacts, in compliant and rigid contact: closed forms, and what is kept."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinetree as kt
from tests.closed_form.scenes import G, H, Thing, contact, world
from tests.closed_form.settings import PER_STEP, SETTINGS, R, moved

BOX = world(Thing("box", (0.2, 0.2, 0.1), contact(), inertia=0.01), ground=contact())

LONG = world(
    Thing("box", (0.3, 0.1, 0.1), contact((0.6, 0.005, 0.0001)), inertia=0.01), ground=contact((0.6, 0.005, 0.0001))
).with_gravity((0, 0, 0))

FOUR = np.array([[0.3, -0.2, 0.4, 0.1, 0.5, -0.3], [0.0, 0.0, -1.0, 0.0, 0.0, 0.0], [1.0, 0.5, -0.5, 0.0, 0.0, 2.0]])


@PER_STEP
def test_accelerations_of_a_table_with_four_legs_are_unique(name: str) -> None:
    # Four corners bear it where three would do. Wherever the search begins, accelerations are the same.
    rng = np.random.default_rng(5)
    guesses = rng.normal(size=(50, 6)) * 10.0 ** rng.integers(-3, 4, size=(50, 1))
    q, soft = BOX.neutral(), kt.contact.soft_constraints(BOX, H, **SETTINGS[name])
    q[2] = 0.05 - 1e-5
    found = kt.contact_dynamics(BOX, q, 0.1 * rng.normal(size=6), rng.normal(size=6), contact=soft, guess=guesses)
    np.testing.assert_allclose(found.qdd, np.broadcast_to(found.qdd[0], (50, 6)), rtol=1e-7, atol=1e-7)
    assert np.ptp(found.iterations) > 0.0
    if name != "accurate":
        return
    q[2] = 0.05
    assert (kt.contact_dynamics(BOX, q, FOUR, np.zeros(6), contact=soft).error < 1e-8).all()
    rest = kt.contact_dynamics(BOX, q, np.zeros(6), [0.1 * G, 0.0, 0.0, 0.0, 0.0, 0.0], contact=soft)
    assert np.abs(rest.qdd).max() < 1e-4  # the residual, 1e-8 m/s, in a step of 1 ms
    np.testing.assert_allclose(rest.forces[[0, 2]], [-0.1 * G, G], atol=1e-4)


@PER_STEP
def test_a_stack_of_balls_comes_to_rest(name: str) -> None:
    up = kt.Prismatic([0, 0, 1])
    robot = world(*(Thing("sphere", (R,), contact(), up, mass=m) for m in (1.0, 10.0)), ground=contact())
    q, v = moved(robot, [R + 0.02, 3.0 * R + 0.05], np.zeros(2), 1500, name, passive=False)
    depth = np.array([R - q[-1, 0], 2.0 * R - (q[-1, 1] - q[-1, 0])])
    wanted = G * np.array([11.0, 10.0]) / 1e5 if name == "compliant" else np.zeros(2)
    np.testing.assert_allclose(depth, wanted, rtol=1e-5, atol=1e-4 * (name != "compliant"))
    assert np.abs(v[-1]).max() < 1e-6


PAIR = world(
    Thing("sphere", (R,), contact(), mass=1.0), Thing("sphere", (R,), contact(), mass=3.0, inertia=0.02)
).with_gravity((0, 0, 0))  # fmt: skip


@PER_STEP
def test_balls_that_meet_keep_their_momentum_and_gain_no_energy(name: str) -> None:
    q, v = np.tile(PAIR.neutral(), (2, 1)), np.zeros((2, 12))
    q[:, [0, 7]] = -0.2, 0.2
    q[:, 1] = 0.0, 0.1
    v[:, 0], v[:, 6], v[:, 3:6] = 1.0, -0.5, (3.0, -2.0, 5.0)
    q_all, v_all = moved(PAIR, q, v, 300, name)
    for before, after in zip(
        kt.dynamics.momentum(PAIR, q, v), kt.dynamics.momentum(PAIR, q_all[:, -1], v_all[:, -1]), strict=True
    ):
        np.testing.assert_allclose(after, before, atol=1e-11)
    energy = kt.kinetic_energy(PAIR, q_all, v_all)
    assert (np.abs(v_all[:, -1, 0] - v[:, 0]) > 0.1).all()  # they did meet
    assert (np.diff(energy, axis=1) < 1e-9 if name == "accurate" else energy <= energy[:, :1] + 1e-9).all()


@pytest.mark.parametrize(("e", "accurate"), [(0.3, False), (1.0, True)], ids=["one round", "accurate"])
def test_bounces_with_friction_make_no_energy(e: float, accurate: bool) -> None:
    # By Newton's law alone boxes that land on a corner would gain up to 40 % in one step.
    rng, count = np.random.default_rng(0), 1000
    q, half = np.tile(LONG.neutral(), (count, 1)), np.array([0.15, 0.05, 0.05])
    q[:, 3:] = rng.normal(size=(count, 4))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
    x, y, z, w = q[:, 3:].T
    down = np.stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)], axis=-1)
    q[:, 2] = np.abs(down) @ half + 2e-4
    v = rng.normal(size=(count, 6)) * [1, 1, 1, 6, 6, 6] - [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    soft = kt.contact.soft_constraints(LONG, H, setting="rigid", accurate=accurate, restitution=e)
    found = kt.contact_dynamics(LONG, q, v, np.zeros((count, 6)), contact=soft)
    after = v + H * found.qdd
    before = kt.kinetic_energy(LONG, q, v)
    assert (kt.kinetic_energy(LONG, q, after) < before + 1e-7).all()
    assert (np.abs(found.qdd).max(axis=1) > 1.0).mean() > 0.3  # they do land
    assert not accurate or (found.error < 1e-7).mean() > 0.99


@PER_STEP
def test_a_box_that_tumbles_never_has_more_energy_than_it_began_with(name: str) -> None:
    rng = np.random.default_rng(3)
    q = np.tile(BOX.neutral(), (8, 1))
    q[:, 2] = rng.uniform(0.2, 0.5, 8)
    q[:, 3:] = rng.normal(size=(8, 4))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
    v = rng.normal(size=(8, 6)) * [1, 1, 1, 6, 6, 6]
    start = kt.kinetic_energy(BOX, q, v) + kt.potential_energy(BOX, q)
    q_all, v_all = moved(BOX, q, v, 2500, name)
    energy = kt.kinetic_energy(BOX, q_all, v_all) + kt.potential_energy(BOX, q_all)
    assert (energy <= start[:, None] + 1e-9).all()
    assert np.abs(v_all[:, -1]).max() < 1e-2
    assert (q_all[..., 2] > 0.05 - 0.01).all()


@pytest.mark.deep
def test_steps_of_a_ragdoll_whose_limbs_overlap_are_solved() -> None:
    """Newton's method begins at the acceleration of the step before, which can be far from that of the next."""
    scene = kt.zoo.load("ragdoll").on_ground()
    q = kt.contact.above_ground(scene, scene.random(1), clearance=0.05)
    soft = kt.contact.soft_constraints(scene, setting="compliant")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.SimulationWarning)  # of the overlap
        motion = kt.simulate(scene, q=q, duration=0.65, contact=soft, integrator="discrete")
    assert motion.recorded["contact.error"].max() < 1e-8

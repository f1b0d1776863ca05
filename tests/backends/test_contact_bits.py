"""Motions with contacts are the same bits in batches of any size, at any place, on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.closed_form.scenes import Array, H, Thing, contact, world

MOST = 1000
STEPS = 40


@pytest.fixture(scope="module")
def robot() -> kt.Model:
    """A box and a pendulum with a limit and dry friction that may touch it, on a plane."""
    limits = kt.model.Limits((-1.0,), (0.5,), (np.inf,), (np.inf,))
    return world(
        Thing("box", (0.2, 0.2, 0.1), contact(), inertia=0.01),
        Thing("sphere", (0.1,), contact(), kt.Prismatic([1, 0, 0]), at=(0.3, 0.0, 0.06), limits=limits, friction=[0.3]),
        ground=contact(),
    )


def motions(robot: kt.Model, start: int, stop: int, threads: int | None = None) -> Array:
    rng = np.random.default_rng(0)
    q = np.tile(robot.neutral(), (MOST, 1))
    q[:, :3] += rng.uniform([-0.1, -0.1, 0.04], [0.2, 0.1, 0.1], (MOST, 3))
    q[:, 3:7] += 0.2 * rng.normal(size=(MOST, 4))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    v, tau = rng.normal(size=(MOST, robot.nv)), rng.normal(size=(MOST, 1, robot.nv))
    k = slice(start, stop)
    rows = np.repeat(tau[k], STEPS, axis=1)
    return kt.rollout(robot, q[k], v[k], rows, H, contact=True, passive=["friction"], threads=threads)


def test_batches_of_all_sizes_are_the_same_bits(robot: kt.Model) -> None:
    whole = motions(robot, 0, MOST, threads=1)
    assert np.isfinite(whole).all()
    assert (whole[:, -1, 7] != whole[0, -1, 7]).any()
    for start, stop in [(0, 1), (5, 6), (999, 1000), (0, 7), (3, 10), (0, 64), (500, 564), (936, 1000)]:
        assert (motions(robot, start, stop) == whole[start:stop]).all()
    assert (motions(robot, 0, MOST, threads=2) == whole).all()
    assert (motions(robot, 0, 64, threads=2) == whole[:64]).all()


def test_single_calls_and_halves_of_motions_are_the_same_bits(robot: kt.Model) -> None:
    whole = motions(robot, 0, 4)
    assert (motions(robot, 2, 3)[0] == whole[2]).all()
    found = kt.contact_dynamics(robot, whole[0, 5, : robot.nq], whole[0, 5, robot.nq :], np.zeros(robot.nv))
    many = kt.contact_dynamics(robot, whole[:, 5, : robot.nq], whole[:, 5, robot.nq :], np.zeros(robot.nv))
    for one, row in zip(found, many, strict=True):
        assert (one == row[0]).all()
    rows = np.zeros((4, STEPS, robot.nv))
    start = whole[:, -1]
    at_once = kt.rollout(robot, start[:, : robot.nq], start[:, robot.nq :], rows, H, contact=True)
    half = kt.rollout(robot, start[:, : robot.nq], start[:, robot.nq :], rows[:, :13], H, contact=True)
    rest = kt.rollout(robot, half[:, -1, : robot.nq], half[:, -1, robot.nq :], rows[:, 13:], H, contact=True)
    assert (np.concatenate([half, rest], axis=1) == at_once).all()

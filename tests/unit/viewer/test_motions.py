"""Motions as pages read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kinetree as kt
from kinetree.viewer.motions import Frames

PENDULUM = kt.zoo.load("double_pendulum")


def test_moments_between_rows_that_are_far_apart() -> None:
    motion = kt.simulate(PENDULUM, q=[1.0, 0.5], duration=1.0, every=100)
    frames = Frames(motion, PENDULUM)
    assert np.allclose(frames.q_at(0.1, [0]), motion.q[1])
    assert np.allclose(frames.q_at(0.15, [0]), 0.5 * (motion.q[1] + motion.q[2]))
    assert np.allclose(frames.q_at(7.0, [0]), motion.q[-1])
    v, _ = frames.rates_at(0.1, 0)
    assert np.allclose(v, motion.v[1])


class OnDisk:
    """A batch of motions that says how much of it was read."""

    robot, model, q_names = "double_pendulum", PENDULUM, tuple(PENDULUM.q_names)
    shape = (10, 100)

    def __init__(self) -> None:
        self.time = np.arange(5001) * 1e-3
        self.read = 0

    def configurations(self, rows: Any = slice(None), samples: Sequence[int] | None = None) -> NDArray[np.float64]:
        assert samples is not None
        chosen = np.arange(len(self.time))[rows]
        self.read += len(chosen) * len(samples)
        return np.broadcast_to(self.time[chosen, None], (len(samples), len(chosen), 2)) * np.array([1.0, 2.0])


def test_of_a_large_batch_only_what_is_seen_is_read() -> None:
    motion = OnDisk()
    with kt.view(motion, port=0) as viewer:
        for t in np.linspace(0.0, 5.0, 30):
            viewer.set_time(float(t))
    assert motion.read < 30 * len(motion.time)  # of a thousand


def test_rates_of_a_motion_on_disk_follow_from_its_rows() -> None:
    frames = Frames(OnDisk(), PENDULUM)
    for t in (0.0, 2.5, 5.0):
        v, qdd = frames.rates_at(t, 3)
        assert np.allclose(v, [1.0, 2.0])
        assert np.allclose(qdd, 0.0, atol=1e-6)

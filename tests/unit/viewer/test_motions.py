"""Motions as pages read them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kinetree as kt
from kinetree.viewer import Viewer
from kinetree.viewer.motions import Frames

from .pages import moved

PENDULUM = kt.zoo.load("double_pendulum")


def test_moments_between_rows_that_are_far_apart() -> None:
    motion = kt.simulate(PENDULUM, q=[1.0, 0.5], duration=1.0, record=kt.sim.Recording(every=100))
    frames = Frames(motion, PENDULUM)
    assert np.allclose(frames.q_at(0.1, [0]), motion.q[1])
    assert np.allclose(frames.q_at(0.15, [0]), 0.5 * (motion.q[1] + motion.q[2]))
    assert np.allclose(frames.q_at(7.0, [0]), motion.q[-1])
    v, _ = frames.rates_at(0.1, 0)
    assert np.allclose(v, motion.v[1])


class OnDisk:
    """A batch of motions that says what of it was read."""

    robot, model, q_names = "double_pendulum", PENDULUM, tuple(PENDULUM.q_names)
    shape = (10, 100)

    def __init__(self) -> None:
        self.time = np.arange(5001) * 1e-3
        self.read: list[tuple[list[int], int]] = []
        """(samples, how many rows)."""

    def configurations(self, rows: Any = slice(None), samples: Sequence[int] | None = None) -> NDArray[np.float64]:
        assert samples is not None
        chosen = np.arange(len(self.time))[rows]
        self.read.append((list(samples), len(chosen)))
        one = np.stack([self.time[chosen], 2.0 * self.time[chosen]], axis=-1)
        return one + 1e-3 * np.array(samples)[:, None, None]

    def rates(
        self, rows: Any = slice(None), samples: Sequence[int] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        assert samples is not None
        v = np.tile(self.time[rows, None], (len(samples), 1, 2)) * np.array([3.0, 4.0])
        return v, np.full(v.shape, np.nan)


def test_of_a_large_batch_only_what_is_seen_is_read() -> None:
    motion = OnDisk()
    with kt.view(motion, port=0) as viewer:
        for t in np.linspace(0.0, 5.0, 30):
            viewer.set_time(float(t))
    assert sum(len(samples) * rows for samples, rows in motion.read) < 30 * len(motion.time)  # of a thousand
    assert max(max(samples) for samples, _ in motion.read) == 11, "the first ones, which are at the file's beginning"


def test_other_samples_are_read_while_the_page_goes_on() -> None:
    begun, may_end = threading.Event(), threading.Event()

    class Slow(OnDisk):
        def configurations(self, rows: Any = slice(None), samples: Sequence[int] | None = None) -> NDArray[np.float64]:
            if 700 in (samples or ()):
                begun.set()
                assert may_end.wait(10.0)
            return super().configurations(rows, samples)

    with kt.view(Slow(), port=0, samples="one") as viewer:
        chooses = threading.Thread(target=moved, args=(viewer, "sample", 700))
        chooses.start()
        assert begun.wait(10.0)
        viewer.set_time(1.0)
        assert np.allclose(_shown(viewer), [1.0, 2.0])
        moved(viewer, "sample", 5)  # wanted next, once the reading has ended
        moved(viewer, "sample", 800)
        may_end.set()
        chooses.join(10.0)
        assert np.allclose(_shown(viewer), [1.8, 2.8])
        assert not any(samples == [5] for samples, _ in viewer._subject.motions[0].motion.read)  # type: ignore[attr-defined]


def test_samples_that_cannot_be_read_are_not_shown() -> None:
    class Broken(OnDisk):
        def configurations(self, rows: Any = slice(None), samples: Sequence[int] | None = None) -> NDArray[np.float64]:
            if 700 in (samples or ()):
                raise kt.errors.TrajectoryFileError("it is cut off")
            return super().configurations(rows, samples)

    with kt.view(Broken(), port=0, samples="one") as viewer:
        moved(viewer, "sample", 700)
        viewer.set_time(1.0)
        assert np.allclose(_shown(viewer), [1.0, 2.0])
        moved(viewer, "sample", 800)
        assert np.allclose(_shown(viewer), [1.8, 2.8])


def test_samples_may_be_spread_over_the_batch_or_be_its_first_ones() -> None:
    motion = OnDisk()
    with kt.view(motion, port=0) as viewer:
        moved(viewer, "others", "spread over all")
    assert motion.read[-1][0] == [k * 1000 // 12 for k in range(12)]


def _shown(viewer: Viewer) -> NDArray[np.float64]:
    """The angles of the pendulum, from where its bodies are."""
    placements = viewer.stages[0].placements
    turns = [np.arctan2(R[0, 2], R[0, 0]) for R in placements[1:, :3, :3]]
    return np.array([turns[0], turns[1] - turns[0]]) % (2.0 * np.pi)


def test_rates_are_those_that_were_recorded(tmp_path: Path) -> None:
    motion = kt.simulate(PENDULUM, q=[[1.0, 0.5], [0.3, 0.2]], duration=0.1)
    for there in (motion, kt.load_trajectory(motion.save(tmp_path / "run"))):
        v, qdd = Frames(there, PENDULUM).rates_at(0.05, 1)
        assert np.array_equal(v, motion.v[1, 50])
        assert np.array_equal(qdd, motion.qdd[1, 50])


def test_accelerations_that_were_not_recorded_are_the_slope_of_velocities() -> None:
    frames = Frames(OnDisk(), PENDULUM)
    for t in (0.0, 2.5, 5.0):
        v, qdd = frames.rates_at(t, 3)
        assert np.allclose(v, [3.0 * t, 4.0 * t])
        assert np.allclose(qdd, [3.0, 4.0])

"""Motions that are followed while they are computed: at a pace, with pauses, from the beginning again, ended early."""

from __future__ import annotations

import importlib
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.sim.live import FRAME, Live

pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")  # joints swing through their stops

ROBOT = kt.zoo.load("double_pendulum")
START: dict[str, Any] = {"q": [1.0, 0.5], "duration": 0.2}
FIELDS = ("time", "q", "v", "qdd", "tau", "kinetic", "potential", "work", "dissipated", "substeps", "ended")


def swing(t: Any, q: Any, v: Any) -> Any:
    return [0.3 * np.sin(t) - 0.1 * v[..., 0], -0.2 * q[..., 1]]


@kt.program(q=2, v=2, total=2)
def damped(q: Any, v: Any, total: Any) -> dict[str, Any]:
    return {"tau": -0.1 * v - 0.01 * total, "total": total + q}


CASES: dict[str, dict[str, Any]] = {
    "no torques": {},
    "rk45": {"integrator": "rk45"},
    "implicit, every seventh": {"integrator": "discrete", "record": kt.sim.Recording(every=7)},
    "rows of torques": {"tau": np.linspace(0.0, 0.4, 400).reshape(200, 2)},
    "a function": {"tau": swing, "control_dt": 0.005},
    "a function at stages": {"tau": swing, "control_dt": "stages"},
    "a function, rk45": {"tau": swing, "control_dt": 0.01, "integrator": "rk45"},
    "a program": {"tau": damped},
    "a program, rk45": {"tau": damped, "integrator": "rk45", "control_dt": 0.01},
    "an external force": {"f_ext": {"lower_rod": np.repeat(np.eye(2, 6), 100, axis=0)}},
    "an event": {"until": lambda _t, q, _v: q[..., 1] - 0.2},
    "soft rows": {"contact": True, "q": [3.0, 0.5]},
    "a batch": {"q": [[1.0, 0.5], [0.2, -0.4]]},
}


@pytest.fixture
def live_motion(monkeypatch: pytest.MonkeyPatch) -> Callable[..., kt.Trajectory]:
    """`kt.simulate` that somebody follows."""
    module = importlib.import_module("kinetree.sim.simulate")
    at_once, streamed = module.at_once, module.streamed

    def simulate(live: Live, **options: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(module, "at_once", lambda task, progress, _: at_once(task, progress, live))
            patch.setattr(module, "streamed", lambda *given: streamed(*given[:-1], live))
            return kt.simulate(ROBOT, **{**START, **options})

    return simulate


def assert_same(found: kt.Trajectory, wanted: kt.Trajectory) -> None:
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), err_msg=name)
    assert found.recorded.keys() == wanted.recorded.keys()
    for name, x in wanted.recorded.items():
        np.testing.assert_array_equal(found.recorded[name], x, err_msg=name)
    assert [(one.name, one.time) for one in found.events] == [(one.name, one.time) for one in wanted.events]


class Clock:
    """A clock that goes on by a little each time it is read."""

    def __init__(self, tick: float = 1e-3) -> None:
        self.now, self.tick = 0.0, tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


@pytest.mark.parametrize("case", CASES)
def test_a_motion_that_is_followed_is_the_same_to_the_bit(case: str, live_motion: Any) -> None:
    wanted = kt.simulate(ROBOT, **{**START, **CASES[case]})
    seen: list[float] = []
    for speed in (4.0, math.inf):
        assert_same(live_motion(Live(lambda t, *_: seen.append(t), speed=speed), **CASES[case]), wanted)
    assert seen[0] == 0.0
    assert len(seen) > 3


def test_a_continued_motion_is_the_same_to_the_bit(live_motion: Any) -> None:
    moment = kt.simulate(ROBOT, **START).snapshot()
    wanted = kt.simulate(ROBOT, resume=moment, duration=0.1)
    seen: list[float] = []
    live = Live(lambda t, *_: seen.append(t), speed=4.0)
    assert_same(live_motion(live, q=None, resume=moment, duration=0.1), wanted)
    assert seen[0] == 0.2


def test_a_stream_is_the_same_to_the_bit_and_goes_on_after_it_was_ended(live_motion: Any, tmp_path: Path) -> None:
    live = Live(lambda t, *_: live.stop() if t > 0.1 else None, speed=4.0)
    half = live_motion(live, record=kt.sim.Recording(stream=tmp_path / "run"))
    assert not half.is_complete
    assert 0.1 < half.time[-1] < 0.19
    whole = live_motion(Live(lambda *_: None, speed=4.0), record=kt.sim.Recording(stream=tmp_path / "run"))
    assert whole.is_complete
    np.testing.assert_array_equal(whole.read().q, kt.simulate(ROBOT, **START).q)


def test_states_are_those_of_their_moments(live_motion: Any) -> None:
    seen: list[tuple[float, Any]] = []
    motion = live_motion(Live(lambda *moment: seen.append(moment[:2]), speed=2.0))
    for t, q in seen:
        np.testing.assert_array_equal(q, motion.q[round(t / motion.dt)])


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
def test_a_motion_keeps_its_pace(speed: float, live_motion: Any) -> None:
    shown: list[tuple[float, float]] = []
    began = time.perf_counter()
    live_motion(Live(lambda t, *_: shown.append((t, time.perf_counter() - began)), speed=speed), duration=0.1)
    (first, then), (last, now) = shown[0], shown[-1]
    assert now - then >= (last - first) / speed - 1e-3
    gaps = np.diff([t for t, _ in shown])
    assert gaps.max() <= FRAME * max(speed, 1.0) + 1e-3


def test_a_motion_that_is_late_says_how_fast_it_is_and_does_not_hurry_afterwards(live_motion: Any) -> None:
    def slow(_t: float, _q: Any, _v: Any) -> Any:
        clock.now += 0.004  # four times as long as a step
        return np.zeros(2)

    clock = Clock(0.0)
    factors: list[float] = []
    live = Live(lambda *_: factors.append(live.factor), clock=clock)
    live_motion(live, tau=slow, duration=1.0)
    assert np.nanmax(factors) == pytest.approx(0.25, rel=0.05)
    assert np.nanmin(factors) == pytest.approx(0.25, rel=0.05)


def followed(live: Live, simulate: Callable[..., kt.Trajectory], **options: Any) -> tuple[threading.Thread, list[Any]]:
    """A motion in a thread of its own, and where its trajectory will be."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(simulate(live, **options)), daemon=True)
    thread.start()
    return thread, found


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 10.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(1e-3)


def test_pause_step_and_go(live_motion: Any) -> None:
    seen: list[float] = []
    live = Live(lambda t, *_: seen.append(t), speed=4.0)
    live.pause()
    thread, found = followed(live, live_motion)
    until(lambda: seen)
    time.sleep(0.02)
    assert seen == [0.0]
    assert live.is_paused
    assert math.isnan(live.factor)
    for count in (2, 3):
        live.step()
        until(lambda: len(seen) >= count)  # noqa: B023
        time.sleep(0.02)
        assert len(seen) == count
    live.go()
    thread.join(10.0)
    assert_same(found[0], kt.simulate(ROBOT, **START))


def test_a_single_step_is_a_frame_on_a_slow_machine_too(live_motion: Any) -> None:
    """Each look at the clock takes longer than a frame."""
    seen: list[float] = []
    live = Live(lambda t, *_: seen.append(t), clock=Clock(2.0 * FRAME))
    live.pause()
    thread, _ = followed(live, live_motion)
    until(lambda: seen)
    live.step()
    until(lambda: len(seen) == 2)
    assert seen[1] == pytest.approx(FRAME, abs=1e-3)
    live.stop()
    thread.join(10.0)


def test_a_pause_that_begins_while_a_moment_is_shown_is_shown_too(live_motion: Any) -> None:
    """The page may have read the state before the pause, and gets no further moment while the motion waits."""
    seen: list[bool] = []

    def show(*_: object) -> None:
        seen.append(live.is_paused)
        live.pause()

    live = Live(show, speed=4.0)
    thread, _ = followed(live, live_motion)
    until(lambda: True in seen)
    live.stop()
    thread.join(10.0)


def test_a_motion_that_waits_can_be_ended(live_motion: Any) -> None:
    live = Live(lambda t, *_: live.pause() if t > 0.1 else None, speed=4.0)
    thread, found = followed(live, live_motion)
    until(lambda: live.is_paused)
    live.stop()
    thread.join(10.0)
    count = len(found[0].time)
    assert 100 < count < 201
    whole = kt.simulate(ROBOT, **START)
    np.testing.assert_array_equal(found[0].q, whole.q[:count])
    rest = kt.simulate(ROBOT, resume=found[0].snapshot(), duration=0.05)
    np.testing.assert_array_equal(rest.q[:50], whole.q[count - 1 : count + 49])


def test_a_motion_begins_again(live_motion: Any) -> None:
    seen: list[float] = []

    def show(t: float, *_: Any) -> None:
        seen.append(t)
        if t > 0.1 and seen.count(0.0) == 1:
            live.reset()

    live = Live(show, speed=4.0)
    assert_same(live_motion(live), kt.simulate(ROBOT, **START))
    assert seen.count(0.0) == 2


def test_ctrl_c_in_a_pause_keeps_what_was_computed(live_motion: Any) -> None:
    def show(t: float, *_: Any) -> None:
        if t > 0.1:
            raise KeyboardInterrupt

    with pytest.raises(kt.sim.SimulationInterrupted) as stopped:
        live_motion(Live(show, speed=4.0))
    kept = stopped.value.trajectory
    np.testing.assert_array_equal(kept.q, kt.simulate(ROBOT, **START).q[: len(kept.time)])
    assert kept.time[-1] > 0.1


def test_a_motion_that_diverges_raises_the_same_error_when_watched(live_motion: Any) -> None:
    options: dict[str, Any] = {"v": [1e150, 0.0]}
    with pytest.raises(kt.errors.SimulationError) as wanted:
        kt.simulate(ROBOT, **START, **options)
    seen: list[Any] = []
    with pytest.raises(kt.errors.SimulationError) as found:
        live_motion(Live(lambda _, q, __: seen.append(q), speed=4.0), **options)
    assert str(found.value) == str(wanted.value)
    assert np.isfinite(seen).all()


def test_a_speed_needs_no_page(caplog: pytest.LogCaptureFixture) -> None:
    wanted, times = kt.simulate(ROBOT, **START), []
    began = time.perf_counter()

    def torque(t: float, q: Any, v: Any) -> Any:  # noqa: ARG001
        times.append((t, time.perf_counter()))
        return [0.0, 0.0]

    assert_same(
        kt.simulate(ROBOT, **START, view=kt.sim.Viewing(page=False, speed=2.0), tau=torque),
        kt.simulate(ROBOT, **START, tau=torque),
    )
    assert_same(kt.simulate(ROBOT, **START, view=kt.sim.Viewing(page=False, speed=2.0)), wanted)
    assert_same(kt.simulate(ROBOT, **START, view=kt.sim.Viewing(page=False, speed=math.inf)), wanted)
    assert time.perf_counter() - began >= 2 * 0.2 / 2.0 - FRAME
    (t0, first), (t1, last) = times[0], times[199]
    assert last - first >= (t1 - t0) / 2.0 - FRAME
    assert "keep up" not in caplog.text


def test_a_motion_that_cannot_keep_its_pace_says_so(caplog: pytest.LogCaptureFixture) -> None:
    def slow(t: float, q: Any, v: Any) -> Any:  # noqa: ARG001
        time.sleep(0.15)
        return [0.0, 0.0]

    kt.simulate(ROBOT, duration=0.1, control_dt=0.05, tau=slow, view=kt.sim.Viewing(page=False, speed=10.0))
    assert "computing did not keep up with speed=10" in caplog.text


@pytest.mark.parametrize("speed", [0.0, -1.0, math.nan, True, "fast"])
def test_what_is_no_speed_is_refused_without_a_page_too(speed: Any) -> None:
    with pytest.raises(kt.errors.OptionError, match="Viewing: speed must be a positive number"):
        kt.sim.Viewing(page=False, speed=speed)

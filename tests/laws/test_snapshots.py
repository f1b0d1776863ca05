"""A motion that goes on from a snapshot has the bits of one that never paused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt

pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")

ARM = kt.zoo.load("arm6")
Q, V = ARM.random(3), np.linspace(-0.5, 0.5, 6)
FIELDS = ("time", "q", "v", "work", "dissipated", "kinetic", "potential")


@kt.program(q=6, v=6, integral=6)
def pulls(q, v, integral):  # type: ignore[no-untyped-def]
    return {"tau": -0.03 * q - 0.01 * v - integral, "integral": integral + 0.0001 * q}


def counting(period: int) -> Any:
    """A controller whose command is held: it depends on the time."""
    return {"tau": lambda t, q, _v: 0.1 * np.cos(50.0 * t) - 0.02 * q, "control_dt": 0.002 * period}


# name: (settings, steps before the pause, steps after it)
CASES: dict[str, tuple[dict[str, Any], int, int]] = {
    "divided steps, between two looks": ({"q": Q, "v": V}, 13, 20),
    "divided steps, at a look": ({"q": Q, "v": V}, 10, 17),
    "semi-implicit Euler": ({"q": Q, "v": V, "integrator": "semi_implicit_euler"}, 13, 9),
    "a batch": ({"q": np.stack([Q, -Q, 0.5 * Q]), "v": V}, 13, 12),
    "a held command": ({"q": Q, **counting(4)}, 11, 9),
    "a controller at every stage": ({"q": Q, "tau": lambda t, q, _v: t - 0.01 * q, "control_dt": "stages"}, 7, 9),
    "a program with a state": ({"q": Q, "tau": pulls}, 11, 9),
    "a program that is held": ({"q": np.stack([Q, -Q]), "tau": pulls, "control_dt": 0.008}, 11, 9),
    "a frame that is held": ({"q": Q, "constraints": [kt.constraints.Contact("tool")]}, 11, 9),
}


@pytest.mark.parametrize("case", CASES)
def test_a_motion_goes_on_to_the_bit(case: str, tmp_path: Path) -> None:
    settings, before, after = CASES[case]
    dt = 0.002
    whole = kt.simulate(ARM, dt=dt, duration=dt * (before + after), **settings)
    first = kt.simulate(ARM, dt=dt, duration=dt * before, **settings)
    snapshot = kt.sim.Snapshot.load(first.snapshot().save(tmp_path / "pause"))
    assert (snapshot.step, snapshot.time) == (before, first.time[-1])
    np.testing.assert_array_equal(snapshot.q, first.q[..., -1, :])
    others = {name: x for name, x in settings.items() if name not in ("q", "v")}
    second = kt.simulate(ARM, dt=dt, duration=dt * after, resume=snapshot, **others)
    for name in FIELDS:
        expected = getattr(whole, name)
        axis = 0 if name == "time" else len(whole.shape)
        np.testing.assert_array_equal(getattr(second, name), np.split(expected, [before], axis=axis)[1], err_msg=name)
    for name, x in second.recorded.items():
        expected = np.split(whole.recorded[name], [before], axis=len(whole.shape))[1]
        np.testing.assert_array_equal(x, expected, err_msg=name)
    assert abs(second.balance_error).max() < 0.1 * abs(second.kinetic).max()
    again = second.snapshot()
    np.testing.assert_array_equal(again.q, whole.snapshot().q)
    assert again.step == before + after


def test_motions_that_have_ended_stay_where_they_are() -> None:
    robot = kt.zoo.load("double_pendulum")
    q = np.array([[0.3, 0.2], [1.5, 0.2]])
    until = {"level": kt.program(lambda q: q[0] - 0.29, q=2)}
    whole = kt.simulate(robot, q=q, duration=0.6, dt=0.01, until=until)
    first = kt.simulate(robot, q=q, duration=0.4, dt=0.01, until=until)
    assert whole.ended[0] < 0.4 < whole.ended[1]
    second = kt.simulate(robot, resume=first.snapshot(), duration=0.2, dt=0.01, until=until)
    np.testing.assert_array_equal(second.q, whole.q[:, 40:])
    np.testing.assert_array_equal(second.ended, whole.ended)


def test_with_contact() -> None:
    """Also a stop that is pressed at the pause."""
    robot = kt.zoo.load("cart_pole")
    start: dict[str, Any] = {"q": [robot.upper[0] - 0.001, 0.2], "v": [0.5, 0.0]}
    whole = kt.simulate(robot, duration=0.03, contact=True, record=(), **start)
    first = kt.simulate(robot, duration=0.011, contact=True, record=(), **start)
    second = kt.simulate(robot, resume=first.snapshot(), duration=0.019, contact=True, record=())
    assert whole.q[:, 0].max() > robot.upper[0]
    np.testing.assert_array_equal(second.q, whole.q[11:])
    np.testing.assert_array_equal(second.dissipated, whole.dissipated[11:])

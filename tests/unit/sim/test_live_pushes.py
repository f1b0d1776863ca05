"""Bodies that are pushed while their motion is computed."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.sim import pushed
from kinetree.sim.live import Live
from kinetree.sim.push import Push, PushLaw

pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")  # joints swing through their stops

ROBOT = kt.zoo.load("double_pendulum")
START: dict[str, Any] = {"q": [1.0, 0.5], "duration": 0.3}
RATE = 10.0


@kt.program(q=2, v=2, total=2)
def damped(q: Any, v: Any, total: Any) -> dict[str, Any]:
    return {"tau": -0.1 * v - 0.01 * total, "total": total + q}


CASES: dict[str, dict[str, Any]] = {
    "no torques": {},
    "implicit": {"integrator": "discrete"},
    "rk45": {"integrator": "rk45"},
    "a function": {"tau": lambda t, _q, _v: [np.sin(t), 0.1], "control_dt": 0.01},
    "a function at stages": {"tau": lambda t, _q, _v: [np.sin(t), 0.1], "control_dt": "stages"},
    "a program": {"tau": damped},
    "a program, rk45": {"tau": damped, "integrator": "rk45", "control_dt": 0.01},
    "rows of torques and a force": {
        "tau": np.linspace(0.0, 0.4, 600).reshape(300, 2),
        "f_ext": {
            "tip": [0.0, 0.3, 0.0, 0.0, 0.0, 0.0],
            kt.dynamics.WrenchOn("lower_rod", "local_world_aligned"): np.repeat(np.eye(3, 6), 100, axis=0),
        },
    },
}


class Waiting(Live):
    """Somebody who looks every ten steps, and waits for the kernel of the first push; so pushes are always the same."""

    waits = True

    def most(self, step: int) -> int:
        return 10 - step % 10

    def goes_on(self, step: int, row: Any) -> bool:
        if step % 10 == 0:
            self._show(step * 1e-3, row, row)
        return True


@pytest.fixture
def live_motion(monkeypatch: pytest.MonkeyPatch) -> Callable[..., kt.Trajectory]:
    """`kt.simulate` that somebody follows."""
    module = importlib.import_module("kinetree.sim.simulate")
    at_once = module.at_once

    def simulate(live: Live, robot: kt.Model = ROBOT, **options: Any) -> kt.Trajectory:
        with monkeypatch.context() as patch:
            patch.setattr(module, "at_once", lambda task, progress, _: at_once(task, progress, live))
            motion: kt.Trajectory = kt.simulate(robot, **{**START, **options})
            return motion

    return simulate


def pushing(begin: float, end: float, body: str = "lower_rod") -> Live:
    """A motion that is pushed for some time."""

    def show(t: float, *_: Any) -> None:
        if begin <= t < end:
            live.push(body, [0.0, 0.0, -0.2], [0.3 + t, 0.4, 0.5])
        else:
            live.release()

    live = Waiting(show)
    return live


def free_ball() -> kt.Model:
    builder = kt.ModelBuilder("ball", gravity=(0.0, 0.0, 0.0))
    builder.add_body("world")
    builder.add_body("ball", kt.solids.box(0.1, 0.2, 0.3, mass=3.0))
    builder.add_joint("free", kt.Free(), "world", "ball")
    return builder.build()


@pytest.mark.parametrize("case", CASES)
def test_a_push_is_an_external_force(case: str, live_motion: Any) -> None:
    options = CASES[case]
    motion = live_motion(pushing(0.1, 0.2), **options)
    body, force, point = (motion.recorded[f"push.{name}"] for name in ("body", "force", "point"))
    assert {*body.tolist()} == {-1, [*ROBOT.bodies].index("lower_rod")}
    assert (np.isnan(point).any(axis=-1) == (body < 0)).all()
    assert not force[body < 0].any()
    begin = int(np.argmax(body >= 0))
    first = PushLaw(ROBOT, {})(Push("lower_rod", (0.0, 0.0, -0.2), (0.4, 0.4, 0.5)), motion.q[begin], motion.v[begin])
    np.testing.assert_allclose(force[begin], first.wrench[:3], rtol=1e-12)
    alone = kt.simulate(ROBOT, **{**START, **options})
    np.testing.assert_array_equal(motion.q[: begin + 1], alone.q[: begin + 1])
    assert abs(motion.q[-1] - alone.q[-1]).max() > 0.1

    origins = kt.frame_placement(ROBOT, motion.q, "lower_rod")[..., :3, 3]
    levers = np.where(body[:, None] < 0, 0.0, point - origins)
    wrenches = np.concatenate((force, np.cross(levers, force)), axis=-1)[:-1]
    if options.get("integrator") == "rk45":  # the force is held from one moment that is shown to the next
        first = np.flatnonzero(np.any(force[1:] != force[:-1], axis=-1)) + 1
        for a, b in zip(first, [*first[1:], len(wrenches)], strict=True):
            wrenches[a:b] = wrenches[a]
    key = kt.dynamics.WrenchOn("lower_rod", "local_world_aligned")
    forces = dict(options.get("f_ext", {}))
    forces[key] = forces.get(key, 0.0) + wrenches
    again = kt.simulate(ROBOT, **{**START, **options, "f_ext": forces})
    for name in ("q", "v", "qdd", "work"):
        exact = 1e-3 if options.get("integrator") == "rk45" else 1e-9
        np.testing.assert_allclose(getattr(motion, name), getattr(again, name), rtol=exact, atol=exact, err_msg=name)
    for name, x in again.recorded.items():
        np.testing.assert_allclose(motion.recorded[name], x, rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("case", CASES)
def test_how_many_steps_there_is_room_for_changes_nothing(
    case: str, live_motion: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = pushing(0.0, 0.2)
    wanted = live_motion(live, **CASES[case])
    monkeypatch.setattr(pushed, "_WINDOW", 13)
    found = live_motion(live, **CASES[case])
    np.testing.assert_array_equal(found.q, wanted.q)
    np.testing.assert_array_equal(found.qdd, wanted.qdd)
    for name, x in wanted.recorded.items():
        np.testing.assert_array_equal(found.recorded[name], x, err_msg=name)


def test_the_mass_that_is_felt_at_a_point() -> None:
    ball = free_ball()
    at_rest, nothing = ball.neutral(), np.zeros(6)
    for point, mass in (((0.0, 0.0, 0.0), 3.0), ((0.0, 0.0, 0.3), None)):
        push = Push("ball", point, (0.1, 0.0, point[2]))
        found = PushLaw(ball, {})(push, at_rest, nothing)
        inertia = kt.mass_matrix(ball, at_rest)
        jacobian = kt.kinematics.point_jacobian(
            ball, at_rest, np.array(point), "ball", expressed_in="local_world_aligned"
        )[:3]
        felt = 3.0 / np.trace(jacobian @ np.linalg.inv(inertia) @ jacobian.T)
        assert mass is None or felt == pytest.approx(mass)
        np.testing.assert_allclose(found.wrench[:3], [felt * RATE**2 * 0.1, 0.0, 0.0], atol=1e-12)
        np.testing.assert_allclose(found.wrench[3:], np.cross(point, found.wrench[:3]), atol=1e-12)


def test_another_point_of_a_body_is_another_mass() -> None:
    ball, law = free_ball(), PushLaw(free_ball(), {})
    for point in ((0.0, 0.0, 0.0), (0.0, 0.0, 0.3), (0.0, 0.0, 0.0)):
        push = Push("ball", point, (0.1, 0.0, point[2]))
        found, fresh = (one(push, ball.neutral(), np.zeros(6)) for one in (law, PushLaw(ball, {})))
        np.testing.assert_array_equal(found.wrench, fresh.wrench)


def test_what_does_not_move_feels_as_heavy_as_the_robot() -> None:
    push = Push("upper_rod", (0.0, 0.0, 0.0), (0.0, 0.0, 1e3))
    law = PushLaw(ROBOT, {})
    found = law(push, np.zeros(2), np.zeros(2))
    assert np.linalg.norm(found.wrench[:3]) == pytest.approx(100.0 * ROBOT.mass)  # and no force beyond 100 m/s²


@pytest.mark.parametrize("integrator", ["rk4", "symplectic_euler", "discrete"])
def test_a_free_body_comes_to_the_cursor_without_swinging(integrator: str, live_motion: Any) -> None:
    live = Waiting(lambda *_: live.push("ball", [0.0, 0.0, 0.0], [0.1, 0.0, 0.0]))
    ball = free_ball()
    motion = live_motion(live, ball, q=ball.neutral(), duration=0.5, integrator=integrator)
    t = motion.time
    np.testing.assert_allclose(motion.q[:, 0], 0.1 * (1.0 - (1.0 + RATE * t) * np.exp(-RATE * t)), atol=2e-3)
    moved = motion.recorded["push.force"][:-1, 0] * np.diff(motion.q[:, 0])
    if integrator == "rk4":
        np.testing.assert_allclose(motion.work[-1], moved.sum(), rtol=1e-2)
    assert motion.units["push.force"] == "N"


def test_without_a_push_nothing_is_recorded_of_one(live_motion: Any) -> None:
    assert not live_motion(pushing(2.0, 3.0)).recorded


def test_a_push_of_a_batch_does_nothing(live_motion: Any) -> None:
    options = {"q": [[1.0, 0.5], [0.2, -0.4]]}
    np.testing.assert_array_equal(live_motion(pushing(0.1, 0.2), **options).q, kt.simulate(ROBOT, **START | options).q)


def test_a_motion_that_keeps_its_pace_does_not_wait_for_the_kernel_of_pushes(live_motion: Any) -> None:
    robot = kt.ModelBuilder("a new one")
    robot.add_body("base")
    robot.add_body("rod", kt.solids.box(0.1, 0.2, 0.3, mass=3.0))
    robot.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "rod")
    live = Live(lambda *_: live.push("rod", [0.0, 0.0, -0.1], [0.3, 0.0, 0.0]), speed=1.0)
    motion = live_motion(live, robot.build(), q=[0.1], duration=1.0)
    acted = motion.recorded["push.body"] >= 0
    assert not acted[0]
    assert acted[-1]


def test_the_kernel_of_pushes_is_begun_as_soon_as_somebody_looks(
    live_motion: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[pushed.Pushed] = []
    monkeypatch.setattr(pushed.Pushed, "_prepare", lambda self: begun.append(self))
    for is_seen in (False, True):
        live = Live(lambda *_: None, speed=math.inf)
        live.is_seen = is_seen
        motion = live_motion(live, duration=0.02)
        assert len(begun) == is_seen
        assert not live.is_preparing
        assert not [name for name in motion.recorded if name.startswith("push")]


def test_an_event_ends_a_motion_that_is_pushed(live_motion: Any) -> None:
    live = pushing(0.0, 0.3)
    motion = live_motion(live, until=lambda t, _q, _v: t - 0.2505)
    assert motion.time[-1] == pytest.approx(0.2505, abs=1e-9)
    assert motion.recorded["push.body"][-1] >= 0

"""`simulate`: what it takes, what it hands back, what it refuses."""

from __future__ import annotations

import importlib
import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree import zoo
from kinetree.compiler.calls import _kernels
from kinetree.errors import (
    ConfigurationError,
    DTypeError,
    KinetreeError,
    OptionError,
    ShapeError,
    SimulationError,
    SingularModelError,
)
from kinetree.joints import Prismatic, Revolute
from kinetree.model import Model, ModelBuilder
from kinetree.sim import simulate
from kinetree.sim.simulate import step_count
from kinetree.spatial import Inertia, Sym3, Transform, Vec3

INTEGRATORS = ("rk4", "semi_implicit_euler")


@pytest.fixture(scope="module")
def pendulum() -> Model:
    return zoo.load("double_pendulum")


def cart() -> Model:
    """2 kg on a rail."""
    builder = ModelBuilder("cart")
    builder.add_body("rail")
    builder.add_body("cart", Inertia.from_com(2.0, Vec3.zero(), Sym3.scalar(1.0)))
    builder.add_joint("slider", Prismatic([1, 0, 0]), "rail", "cart", Transform.identity())
    return builder.build()


def test_defaults_are_neutral_at_rest_for_five_seconds(pendulum: Model) -> None:
    motion = simulate(pendulum)
    assert motion.time.shape == (5001,)
    assert motion.time[-1] == pytest.approx(5.0, rel=1e-12)
    np.testing.assert_array_equal(motion.q, 0.0)
    assert (motion.robot, motion.integrator, motion.dt, motion.substeps) == ("double_pendulum", "rk4", 1e-3, 1)


def test_fields_have_their_shapes_and_names() -> None:
    robot = zoo.load("quadruped")
    motion = simulate(robot, q=robot.random(0), duration=0.01)
    assert motion.q.shape == (11, 19)
    assert motion.v.shape == motion.tau.shape == (11, 18)
    for series in (motion.time, motion.kinetic, motion.potential, motion.work, motion.dissipated, motion.total):
        assert series.shape == (11,)
    assert motion.q_names == tuple(robot.q_names)
    assert motion.v_names == tuple(robot.v_names)
    assert motion.q_units == ("m",) * 3 + ("",) * 4 + ("rad",) * 12
    assert motion.q_joints == ("root_joint",) * 7 + tuple(robot.joints)[1:]


def test_constant_torque_moves_a_cart_as_newton_says() -> None:
    motion = simulate(cart(), q=[0.5], v=[-1.0], tau=[4.0], duration=1.0, dt=1e-2)
    np.testing.assert_allclose(motion.q[:, 0], 0.5 - motion.time + motion.time**2, atol=1e-13)
    np.testing.assert_allclose(motion.work, 4.0 * (motion.q[:, 0] - 0.5), atol=1e-13)
    np.testing.assert_array_equal(motion.tau, 4.0)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_torque_samples_are_held_over_their_steps(integrator: str) -> None:
    samples = np.array([[2.0], [0.0], [-4.0]])
    motion = simulate(cart(), tau=samples, duration=0.3, dt=0.1, integrator=integrator)
    np.testing.assert_allclose(motion.v[:, 0], [0.0, 0.1, 0.1, -0.1], atol=1e-15)
    np.testing.assert_array_equal(motion.tau[:, 0], [2.0, 0.0, -4.0, -4.0])


def test_a_controller_is_called_with_time_and_state_at_every_stage_on_request() -> None:
    seen: list[float] = []

    def spring(t: float, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
        seen.append(t)
        assert v.shape == (1,)
        return -8.0 * q

    motion = simulate(cart(), q=[1.0], tau=spring, duration=2.0, dt=5e-3, control_dt="stages")
    np.testing.assert_allclose(motion.q[:, 0], np.cos(2.0 * motion.time), atol=1e-8)
    assert {0.0, 0.0025, 0.005} <= set(seen)


def test_a_controller_cannot_write_into_the_state() -> None:
    def vandal(t: float, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG001
        v *= 0.0
        return v

    with pytest.raises(ValueError, match="read-only"):
        simulate(cart(), tau=vandal)


def test_a_controller_is_warned_of_its_own_mistakes() -> None:
    """Overflows on the way to a motion without bounds are not reported, whether in the kernel or in the controller."""

    def divides(t: float, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG001
        return np.minimum(1.0 / np.zeros(1), 1.0)

    with pytest.warns(RuntimeWarning, match="divide by zero"):
        simulate(cart(), tau=divides, duration=0.002)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(cart(), tau=lambda _t, q, _v: 0.0 * np.minimum(np.exp(q + 1e4), 1.0), duration=0.002)


def test_the_caller_s_arrays_are_left_alone(pendulum: Model) -> None:
    q, v, tau = np.array([1.0, 0.5]), np.array([0.1, 0.2]), np.array([0.3, 0.0])
    simulate(pendulum, q=q, v=v, tau=tau, duration=0.01)
    assert (q.tolist(), v.tolist(), tau.tolist()) == ([1.0, 0.5], [0.1, 0.2], [0.3, 0.0])


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_progress_is_reported_for_every_step_of_a_controller(pendulum: Model, integrator: str) -> None:
    reports: list[tuple[int, int]] = []

    def progress(done: int, steps: int) -> None:
        reports.append((done, steps))

    simulate(
        pendulum,
        tau=lambda _t, _q, _v: np.zeros(2),
        duration=0.005,
        integrator=integrator,
        view=kt.sim.Viewing(page=False, progress=progress),
    )
    assert reports == [(k, 5) for k in range(1, 6)]


def test_progress_is_reported_after_every_block_of_steps(pendulum: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[int] = []
    monkeypatch.setattr(importlib.import_module("kinetree.sim.blocks"), "SECONDS_PER_BLOCK", 1e9)
    simulate(pendulum, duration=0.01, view=kt.sim.Viewing(page=False, progress=lambda done, _: reports.append(done)))
    assert reports == [1, 9, 10]  # each eight times as long as the last


@pytest.mark.parametrize("control_dt", [None, "stages"])
@pytest.mark.parametrize(
    ("name", "integrator", "limits"),
    [*product(["cart_pole", "arm6"], INTEGRATORS, [False, True]), ("quadruped", INTEGRATORS[0], True)],
)
@pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")
def test_known_torques_a_controller_and_a_rollout_give_the_same_motion(
    name: str, integrator: Any, limits: bool, control_dt: Any
) -> None:
    """Up to rounding: each is compiled by itself."""
    robot = zoo.load(name)
    rng = np.random.default_rng(4)
    q, v, dt, steps = robot.random(rng), 0.3 * rng.normal(size=robot.nv), 2e-4, 12
    tau = 80.0 * rng.normal(size=(steps, robot.nv)) * robot.actuated
    settings: dict[str, Any] = {"duration": dt * steps, "dt": dt, "integrator": integrator, "limits": limits}

    per_step = 4 if integrator == "rk4" and control_dt == "stages" else 1
    calls = 0

    def controller(t: float, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG001
        nonlocal calls
        calls += 1
        row = (calls - 1) // per_step
        return tau[min(row, steps - 1)]

    held = simulate(robot, q=q, v=v, tau=tau, **settings)
    called = simulate(robot, q=q, v=v, tau=controller, control_dt=control_dt, **settings)
    assert held.substeps == called.substeps == 1
    assert calls == steps * per_step + (control_dt == "stages")  # there once more at the end
    for field in ("q", "v", "tau", "kinetic", "potential", "work", "dissipated"):
        expected = getattr(held, field)
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(getattr(called, field), expected, rtol=0, atol=1e-13 * scale)
    states = kt.rollout(robot, q, v, tau, dt, integrator=integrator, passive=True, limits=limits)
    scale = max(1.0, np.abs(states).max())
    np.testing.assert_allclose(np.hstack([held.q, held.v])[1:], states, rtol=0, atol=1e-13 * scale)
    assert np.abs(held.v[-1] - v).max() > 1e-2


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_motion_does_not_depend_on_how_many_steps_a_kernel_takes_at_once(
    integrator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = zoo.load("arm7")
    motions = []
    for seconds in (0.0, 1e9):
        monkeypatch.setattr(importlib.import_module("kinetree.sim.blocks"), "SECONDS_PER_BLOCK", seconds)
        motions.append(simulate(robot, q=robot.random(1), duration=0.05, integrator=integrator))
    for field in ("q", "v", "tau", "work", "dissipated"):
        np.testing.assert_array_equal(getattr(motions[0], field), getattr(motions[1], field))


def test_a_motion_that_ceases_to_be_finite_within_a_block_stops_at_its_first_such_step() -> None:
    tau = np.zeros((40, 1))
    tau[25] = 1e308
    with pytest.raises(SimulationError, match=r"'cart' is no longer finite at t = 2[67]0 s \('slider' first\)"):
        simulate(cart(), tau=tau, duration=400.0, dt=10.0)


@pytest.mark.parametrize(("integrator", "other"), [("rk4", "semi_implicit_euler"), ("semi_implicit_euler", "rk4")])
def test_only_what_the_integrator_needs_is_compiled(integrator: str, other: str) -> None:
    """Neither the mass matrix nor the bias forces, and nothing of the other integrator."""
    robot = zoo.load("cart_pole")
    simulate(robot, duration=0.01, integrator=integrator)
    simulate(robot, tau=lambda _t, _q, v: -0.1 * v, duration=0.01, integrator=integrator)
    compiled = [key for key in _kernels[id(robot)] if isinstance(key, tuple)]
    assert {key[0].name for key in compiled} == {"simulate", "aba", "kinetic_energy", "potential_energy"}
    assert not [key for key in compiled if other in dict(key[1]).values()]


@pytest.mark.parametrize(
    ("duration", "dt", "steps"),
    [(5.0, 1e-3, 5000), (0.3, 0.1, 3), (1.0, 0.3, 4), (1e-9, 1.0, 1), (0.7, 0.1, 7), (np.float32(2.0), np.int64(1), 2)],
)
def test_steps_reach_the_duration(duration: float, dt: float, steps: int) -> None:
    assert step_count(duration, dt) == steps


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"q": [1.0]}, ShapeError, r"q has shape \(1,\), but 'double_pendulum' needs \(2,\)"),
        ({"q": [[1.0]]}, ShapeError, r"q has shape \(1, 1\), but 'double_pendulum' needs \(2,\), or \(…, 2\)"),
        ({"q": [[1.0, np.nan]]}, ConfigurationError, "q must be finite everywhere"),
        ({"q": np.zeros((3, 2)), "v": np.zeros((4, 2))}, ShapeError, r"do not broadcast together: q \(3,\), v \(4,\)"),
        ({"q": np.zeros((3000, 2)), "duration": 5.0}, OptionError, "3,000 motions of 5,000 steps are more than"),
        ({"q": [np.nan, 0.0]}, ConfigurationError, r"q\[0\] \(shoulder\) is nan: it must be finite"),
        ({"q": "1,2"}, DTypeError, "q must be an array of real numbers of shape .…, 2."),
        ({"v": [0.0, np.inf]}, ConfigurationError, r"v\[1\] \(elbow\) is inf"),
        ({"v": [0.0, 1j]}, DTypeError, "v must be an array of real numbers"),
        ({"tau": [1.0, 2.0, 3.0]}, ShapeError, r"tau has shape \(3,\), but"),
        ({"tau": np.zeros((9, 2)), "duration": 0.01}, ShapeError, r"with 10 steps needs .* or \(10, 2\) for one row"),
        ({"tau": [[0.0, np.nan]], "duration": 0.001}, ConfigurationError, r"tau\[0, 1\] \(elbow\) is nan"),
        ({"tau": lambda _t, _q, _v: [1.0]}, ShapeError, r"returned the shape \(1,\) at t = 0 s"),
        ({"dt": 0.0}, OptionError, "dt must be a positive number of seconds, not 0.0"),
        ({"dt": True}, OptionError, "dt must be a positive number of seconds, not True"),
        ({"duration": -1.0}, OptionError, "duration must be a positive number of seconds, not -1.0"),
        ({"duration": np.nan}, OptionError, "duration must be a positive"),
        ({"duration": "5"}, OptionError, "duration must be a positive number of seconds, not '5'"),
        ({"duration": 1e9}, OptionError, r"are 1e\+12 steps; at most 10,000,000 are taken"),
        ({"integrator": "rk3"}, OptionError, "there is no integrator 'rk3': did you mean 'rk4'"),
        ({"integrator": "euler"}, OptionError, "there is no integrator 'euler': did you mean 'symplectic_euler'"),
    ],
)
def test_unusable_arguments_are_refused(
    pendulum: Model, settings: dict[str, object], error: type[KinetreeError], message: str
) -> None:
    with pytest.raises(error, match=message):
        simulate(pendulum, **settings)  # type: ignore[arg-type]


def test_a_zero_quaternion_is_refused() -> None:
    robot = zoo.load("quadruped")
    with pytest.raises(ConfigurationError, match="quaternion of joint 'root_joint'"):
        simulate(robot, q=np.zeros(robot.nq))


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("control_dt", [None, "stages"])
def test_a_motion_without_bounds_stops_with_its_time(integrator: str, control_dt: Any) -> None:
    def feedback(t: float, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG001
        return np.clip(1e30 * v, -1e308, 1e308)

    with pytest.raises(
        SimulationError, match=r"'cart' is no longer finite at t = .* s \('slider' first\).*smaller step than 10"
    ):
        simulate(cart(), v=[1.0], tau=feedback, duration=400.0, dt=10.0, control_dt=control_dt, integrator=integrator)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("control_dt", [None, "stages"])
def test_a_controller_that_returns_nan_is_named_with_its_time(integrator: str, control_dt: Any) -> None:
    def controller(t: float, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG001
        return np.array([0.0, np.nan if t > 0.0295 else 1.0])

    message = r"the controller tau\(t, q, v\) returned nan at t = 0.0(295|3)\d* s, as entry 1 \(elbow\); the state"
    with pytest.raises(SimulationError, match=message):
        simulate(
            zoo.load("double_pendulum"), tau=controller, duration=0.1, control_dt=control_dt, integrator=integrator
        )


def test_a_controller_is_called_once_per_step_in_the_order_of_time_and_held() -> None:
    """So that it may remember: here it counts."""
    times: list[float] = []

    def counting(t: float, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG001
        times.append(t)
        return np.array([float(len(times))])

    motion = simulate(cart(), tau=counting, duration=0.5, dt=0.1)
    np.testing.assert_allclose(times, [0.0, 0.1, 0.2, 0.3, 0.4], atol=1e-15)
    np.testing.assert_array_equal(motion.tau[:, 0], [1.0, 2.0, 3.0, 4.0, 5.0, 5.0])
    np.testing.assert_allclose(motion.v[:, 0], [0.0, 0.05, 0.15, 0.3, 0.5, 0.75], atol=1e-14)
    times.clear()
    motion = simulate(cart(), tau=counting, duration=0.5, dt=0.1, control_dt=0.2)
    np.testing.assert_allclose(times, [0.0, 0.2, 0.4], atol=1e-15)
    np.testing.assert_array_equal(motion.tau[:, 0], [1.0, 1.0, 2.0, 2.0, 3.0, 3.0])


@pytest.mark.parametrize(
    ("control_dt", "message"),
    [
        (0.0015, r"control_dt must be a multiple of dt \(0.001 s\), and is 0.0015 s"),
        (0.0001, "control_dt must be a multiple of dt"),
        (-1.0, "control_dt must be a positive number of seconds or 'stages', not -1.0"),
        (np.nan, "control_dt must be a positive number of seconds or 'stages', not nan"),
        (True, "control_dt must be a positive number of seconds or 'stages', not True"),
        ("stage", "control_dt must be a positive number of seconds or 'stages', not 'stage'"),
    ],
)
def test_times_that_are_no_control_period_are_refused(control_dt: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        simulate(cart(), tau=lambda _t, _q, v: -v, control_dt=control_dt)
    with pytest.raises(
        OptionError, match="control_dt says how often tau, ctrl or a force of f_ext is called, so it needs a controller"
    ):
        simulate(cart(), tau=[1.0], control_dt=0.01)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_a_massless_moving_body_is_refused_by_name(integrator: str) -> None:
    builder = ModelBuilder("ghost")
    builder.add_body("base")
    builder.add_body("nothing")
    builder.add_joint("hinge", Revolute([0, 0, 1]), "base", "nothing", Transform.identity(), damping=[1.0])
    with pytest.raises(SingularModelError, match="hinge"):
        simulate(builder.build(), integrator=integrator)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_a_robot_that_cannot_move_stays(integrator: str) -> None:
    builder = ModelBuilder("statue")
    builder.add_body("stone", Inertia.from_com(3.0, Vec3(0.0, 0.0, 1.0), Sym3.scalar(1.0)))
    motion = simulate(builder.build(), duration=0.01, integrator=integrator)
    assert motion.q.shape == (11, 0)
    np.testing.assert_allclose(motion.potential, 3.0 * 9.81)


def test_what_is_no_robot_is_refused() -> None:
    with pytest.raises(DTypeError, match=r"the first argument must be a robot .*, not str"):
        simulate("double_pendulum")  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["x", [0.0, 1j], None])
def test_a_controller_that_returns_no_numbers_is_refused(value: object, pendulum: Model) -> None:
    with pytest.raises(DTypeError, match=r"what tau\(t, q, v\) returns must be an array of real numbers"):
        simulate(pendulum, tau=lambda _t, _q, _v: value, duration=0.01)  # type: ignore[arg-type, return-value]

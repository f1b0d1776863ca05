"""Simulations with a program as controller: against the same function called in Python."""

from __future__ import annotations

import importlib
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.sim.controlled import ProgramMotion

ARM = kt.zoo.load("arm7")
DT = 1e-3
TARGET = np.linspace(0.0, 0.5, 7)
NUMBERS = ("q", "v", "tau", "work", "dissipated", "kinetic", "potential")


def with_integral(t: Any, q: Any, v: Any, target: Any, integral: Any) -> dict[str, Any]:
    error = target - q
    tau = kt.gravity_forces(ARM, q) + 2.0 * error - 0.02 * v + 0.5 * integral + 0.1 * np.sin(5.0 * t)
    return {"tau": tau, "integral": integral + DT * error, "error": np.linalg.norm(error), "two": error[:2, None]}


def without_state(t: Any, q: Any, v: Any, target: Any) -> Any:
    return with_integral(t, q, v, target, np.zeros(7))["tau"]


INTEGRAL = kt.program(with_integral, t=(), q=ARM, v=7, target=7, integral=7)
PLAIN = kt.program(without_state, t=(), q=ARM, v=7, target=7)


def close(a: kt.Trajectory, b: kt.Trajectory) -> None:
    for name in NUMBERS:
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=0, atol=1e-10, err_msg=name)
    np.testing.assert_allclose(a.qdd, b.qdd, rtol=0, atol=1e-7)
    assert a.substeps == b.substeps


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("control_dt", [None, 0.004])
def test_a_program_moves_the_robot_as_the_function_does(integrator: str, control_dt: float | None) -> None:
    carried = [np.zeros(7)]
    said: list[Any] = []

    def function(t: float, q: Any, v: Any) -> Any:
        said.append(with_integral(t, q, v, TARGET, carried[0]))
        carried[0] = said[-1]["integral"]
        return said[-1]["tau"]

    options: dict[str, Any] = {
        "q": np.full(7, 0.1), "duration": 0.1, "integrator": integrator, "control_dt": control_dt,
    }  # fmt: skip
    motion = kt.simulate(ARM, tau=INTEGRAL, arguments={"target": TARGET}, **options)
    called = kt.simulate(ARM, tau=function, **options)
    close(motion, called)
    every = round((control_dt or DT) / DT)
    for name in ("integral", "error", "two"):
        rows = np.repeat([x[name] for x in said], every, axis=0)[:100]
        np.testing.assert_allclose(motion.recorded[name][:100], rows, rtol=0, atol=1e-11)
    assert set(motion.recorded) == {"integral", "error", "two"}
    assert called.recorded == {}


def test_at_every_stage() -> None:
    options: dict[str, Any] = {"q": np.full(7, 0.1), "duration": 0.05, "control_dt": "stages"}
    motion = kt.simulate(ARM, tau=PLAIN, arguments={"target": TARGET}, **options)
    close(motion, kt.simulate(ARM, tau=lambda t, q, v: without_state(t, q, v, TARGET), **options))


def test_the_last_command_is_a_state() -> None:
    @kt.program(q=ARM, tau=7)
    def slow(q, tau):  # type: ignore[no-untyped-def]
        return {"tau": 0.9 * tau + 0.1 * kt.gravity_forces(ARM, q)}

    motion = kt.simulate(ARM, tau=slow, duration=0.02, state={"tau": np.full(7, 0.01)})
    last = np.full(7, 0.01)
    for k in range(20):
        last = 0.9 * last + 0.1 * kt.gravity_forces(ARM, motion.q[k])
        np.testing.assert_allclose(motion.tau[k], last, rtol=0, atol=1e-12)


def test_motions_of_a_batch_are_each_the_same_as_alone(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    frame = list(ARM.frames)[-1]
    q, rows = 0.2 * rng.normal(size=(4, 7)), np.cumsum(np.full((4, 60, 7), 0.002), axis=1)
    push = np.concatenate([np.tile([1.0, 0, 0, 0, 0, 0], (30, 1)), np.zeros((30, 6))])
    gravity = np.array([[0.0, 0.0, -9.0 - 0.1 * k] for k in range(4)])
    options: dict[str, Any] = {"duration": 0.06, "f_ext": {frame: push}, "state": {"integral": np.ones(7)}}
    many = kt.simulate(ARM, q=q, tau=INTEGRAL, rows={"target": rows}, parameters={"gravity": gravity}, **options)
    for k in (0, 3):
        one = kt.simulate(
            ARM, q=q[k], tau=INTEGRAL, rows={"target": rows[k]}, parameters={"gravity": gravity[k]}, **options
        )
        for name in NUMBERS:
            assert np.array_equal(getattr(many[k], name), getattr(one, name))
        for name, x in one.recorded.items():
            assert np.array_equal(many[k].recorded[name], x)
    back = kt.Trajectory.load(many.save(tmp_path / "motions"))
    assert set(back.recorded) == set(many.recorded)
    assert all(np.array_equal(back.recorded[name], x) for name, x in many.recorded.items())
    film = many.resampled([0.0, 0.0105, 0.05])
    assert np.array_equal(film.recorded["two"], many.recorded["two"][:, [0, 10, 50]])


def springs() -> kt.Model:
    builder = kt.ModelBuilder("springs")
    builder.add_body("stand")
    for name, parent in (("upper", "stand"), ("lower", "upper")):
        builder.add_body(name, kt.solids.box(0.3, 0.1, 0.1, mass=1.0))
        builder.add_joint(
            f"{name}_axle", kt.Revolute([0, 1, 0]), parent, name, kt.lie.placement((0.3, 0.0, 0.0)), stiffness=[3000.0],
            damping=[0.1],
        )  # fmt: skip
    return builder.build()


@pytest.mark.parametrize("control_dt", [None, 0.007])
def test_steps_are_divided_motion_by_motion(control_dt: float | None, monkeypatch: Any) -> None:
    """Samples in different numbers of parts, which change on the way; and the same when each block is one step."""
    robot, rng = springs(), np.random.default_rng(2)
    push = 5.0 * rng.normal(size=(3, 150, 6))
    push[:, 40:90] = push[:, 40:41]
    size = np.array([0.02, 0.3, 0.021])

    def function(t, q, v, gain, integral):  # type: ignore[no-untyped-def]
        tau = gain * np.sin(30.0 * t) - 0.1 * v + integral
        return {"tau": tau, "integral": integral + 0.01 * q, "power": tau @ v}

    controller = kt.program(function, t=(), q=robot, v=2, gain=(), integral=2)
    gains, q = rng.normal(size=(3, 150)), rng.normal(size=(3, 2))
    options: dict[str, Any] = {"duration": 0.15, "control_dt": control_dt}
    inertia = np.multiply.outer(size, robot.parameter("body.lower.inertia"))
    many = kt.simulate(
        robot, q=q, tau=controller, rows={"gain": gains}, f_ext={"lower": push},
        parameters={"body.lower.mass": size, "body.lower.inertia": inertia}, **options,
    )  # fmt: skip
    most = []
    for k in range(3):
        own = {
            **options, "q": q[k], "f_ext": {"lower": push[k]},
            "parameters": {"body.lower.mass": size[k], "body.lower.inertia": inertia[k]},
        }  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(ProgramMotion, "most", lambda *_: 1)
            one = kt.simulate(robot, tau=controller, rows={"gain": gains[k]}, **own)
        carried = [np.zeros(2)]

        def torque(t, q, v, k=k, carried=carried):  # type: ignore[no-untyped-def]
            said = function(t, q, v, gains[k, round(t / DT)], carried[0])
            carried[0] = said["integral"]
            return said["tau"]

        close(one, kt.simulate(robot, tau=torque, **own))
        for name in NUMBERS:
            assert np.array_equal(getattr(many[k], name), getattr(one, name))
        for name, x in one.recorded.items():
            assert np.array_equal(many[k].recorded[name], x)
        most.append(one.substeps)
    assert most[1] < most[0] == many.substeps


def test_ctrl_c_keeps_what_was_recorded() -> None:
    def stop(done: int, _: int) -> None:
        if done > 40:
            raise KeyboardInterrupt

    options: dict[str, Any] = {"tau": INTEGRAL, "arguments": {"target": [TARGET, 2.0 * TARGET]}, "duration": 0.3}
    whole = kt.simulate(ARM, **options)
    with pytest.raises(kt.sim.SimulationInterrupted) as caught:
        kt.simulate(ARM, view=kt.sim.Viewing(page=False, progress=stop), **options)
    part = caught.value.trajectory
    count = part.time.size
    assert 41 <= count < 301
    for name, x in part.recorded.items():
        assert np.array_equal(x, whole.recorded[name][:, :count])


def test_what_is_recorded_is_kept_in_files_and_tables(tmp_path: Path) -> None:
    @kt.program(t=(), q=ARM, count=int)
    def watch(t, q, count):  # type: ignore[no-untyped-def]
        return {
            "tau": np.zeros(7), "count": count + 1, "late": t > 0.0025, "two": q[:2, None] + t, "größe": t + 1.0,
            "kinetic": q[0], "none": q[:0],
        }  # fmt: skip

    motion = kt.simulate(ARM, tau=watch, duration=0.005)
    back = kt.Trajectory.load(motion.save(tmp_path / "motion"))
    assert list(back.recorded) == list(motion.recorded)
    for name, x in motion.recorded.items():
        assert back.recorded[name].dtype == x.dtype
        assert np.array_equal(back.recorded[name], x)
    assert back.resampled([0.0, 0.0015]).recorded["none"].shape == (2, 0)
    table = back.to_dataframe()
    names = ["count", "late", "two[0, 0]", "two[1, 0]", "größe", "kinetic"]
    assert list(table.columns)[-6:] == [f"recorded.{name}" for name in names]
    assert table["recorded.late"].tolist() == [False, False, False, True, True, True]
    assert table["recorded.count"].tolist() == [1, 2, 3, 4, 5, 5]
    np.testing.assert_array_equal(table["recorded.two[1, 0]"], motion.recorded["two"][:, 1, 0])
    batch = kt.simulate(ARM, tau=watch, duration=0.005, state={"count": [0, 10]})
    assert batch.to_dataframe()["recorded.count"].tolist() == [1, 2, 3, 4, 5, 5, 11, 12, 13, 14, 15, 15]


def test_under_constraints() -> None:
    robot = kt.zoo.load("four_bar") if "four_bar" in kt.zoo.names() else kt.zoo.load("quadruped")
    feet = [name for name in robot.frames if "foot" in name][:2]
    constraints = [kt.constraints.Contact(name) for name in feet]
    motors = robot.actuated.astype(float)

    @kt.program(q=robot, v=robot.nv, stiffness=())
    def stand(q, v, stiffness):  # type: ignore[no-untyped-def]
        return motors * (kt.gravity_forces(robot, q) - stiffness * v)

    q = robot.neutral()
    options: dict[str, Any] = {"q": q, "duration": 0.02, "constraints": constraints}
    motion = kt.simulate(robot, tau=stand, arguments={"stiffness": 2.0}, **options)
    close(motion, kt.simulate(robot, tau=lambda t, q, v: stand.function(q, v, 2.0), **options))  # noqa: ARG005
    placed = [kt.constraints.Contact(name, at=kt.frame_placement(robot, q, name)[:3, 3]) for name in feet]
    assert abs(kt.constraints.constraint_errors(robot, motion.q[-1], placed)).max() < 1e-9


def test_a_python_function_that_takes_long_says_so(caplog: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(importlib.import_module("kinetree.sim.simulate"), "_WORTH_SAYING", 0.0)
    with caplog.at_level(logging.WARNING, logger="kinetree"):
        kt.simulate(ARM, tau=PLAIN, arguments={"target": TARGET}, duration=0.01)
        assert "Python function" not in caplog.text
        kt.simulate(ARM, tau=lambda t, q, v: np.zeros(7), duration=0.01)  # noqa: ARG005
        assert "tau, which is a Python function; as a program (kt.program) it would run in the kernel" in caplog.text


def simulated(tau: Any = INTEGRAL, **options: Any) -> Any:
    return kt.simulate(ARM, tau=tau, duration=0.01, **options)


@pytest.mark.parametrize(
    ("tau", "options", "error", "text"),
    [
        (INTEGRAL, {}, kt.errors.DTypeError, r"takes 'target': give arguments=\{'target': …\}"),
        (INTEGRAL, {"arguments": {"goal": TARGET}}, kt.errors.NameNotFoundError, "has no argument 'goal'; it has t, q"),
        (INTEGRAL, {"arguments": {"target": TARGET[:3]}}, kt.errors.ShapeError, r"target has shape \(3,\)"),
        (INTEGRAL, {"rows": {"target": TARGET}}, kt.errors.ShapeError, r"needs \(…, 10, 7\)"),
        (INTEGRAL, {"arguments": {"target": TARGET, "integral": TARGET}}, kt.errors.OptionError, "is given in state="),
        (
            INTEGRAL,
            {"arguments": {"target": TARGET}, "state": {"target": TARGET}},
            kt.errors.NameNotFoundError,
            "no state",
        ),
        (INTEGRAL, {"arguments": {"target": TARGET}, "control_dt": "stages"}, kt.errors.OptionError, "has a state"),
        (INTEGRAL, {"arguments": [TARGET]}, kt.errors.DTypeError, "arguments must be a dict"),
        (None, {"arguments": {}}, kt.errors.OptionError, "arguments= is for a controller that is a kt.program"),
        (
            lambda *moment: moment[2],
            {"state": {}},
            kt.errors.OptionError,
            "state= is for a controller that is a kt.program",
        ),
        (
            kt.program(lambda q: np.log(q - 5.0), q=7),
            {},
            kt.errors.SimulationError,
            r"returned nan at t = 0 s, as entry 0 \(",
        ),
        (kt.program(lambda q: q[:3], q=7), {}, kt.errors.ShapeError, r"returns tau of shape \(3,\)"),
    ],
)
def test_what_is_wrong_is_said(tau: Any, options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        simulated(tau, **options)


def test_forces_without_a_motor_are_refused() -> None:
    robot = kt.zoo.load("quadruped")
    push = kt.program(lambda v: 1.0 - v, v=robot.nv)
    with pytest.raises(kt.errors.ActuationError, match="has no motor, as the base floats"):
        kt.simulate(robot, tau=push, duration=0.01)

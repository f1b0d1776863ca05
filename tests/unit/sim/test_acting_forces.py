"""Forces from outside that functions and programs of time and state give: thrusters, wind, drag."""

# ruff: noqa: ARG001, ARG005 (a force is called with t, q and v, and not every one needs all of them)
from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.sim import stream

G = 9.81


def ball(mass: float = 2.0, name: str = "ball") -> kt.Model:
    builder = kt.ModelBuilder(name)
    builder.add_body("ball", kt.solids.sphere(0.1, mass=mass))
    return builder.build(floating_base=True)


BALL, ARM = ball(), kt.zoo.load("arm6")
WORLD = kt.dynamics.WrenchOn("ball", "local_world_aligned")
START = {"q": BALL.neutral(), "v": np.array([1.0, 0.0, 0.5, 0.0, 0.0, 0.0])}
LIFT = np.array([0.0, 0.0, 2.0 * G, 0.0, 0.0, 0.0])


@kt.program(v=BALL.nv, drag=())
def drag(v, drag=3.0):
    return np.concatenate([-drag * v[:3], np.zeros(3)])


def dragged(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.concatenate([-3.0 * v[..., :3], 0.0 * v[..., 3:]], axis=-1)


def test_a_constant_force_of_a_function_moves_as_the_array_does() -> None:
    known = kt.simulate(BALL, f_ext={WORLD: LIFT}, duration=0.2, **START)
    called = kt.simulate(BALL, f_ext={WORLD: lambda t, q, v: LIFT}, duration=0.2, **START)
    assert np.array_equal(called.q, known.q)
    assert np.array_equal(called.work, known.work)
    assert np.array_equal(called.qdd, known.qdd)
    assert np.array_equal(called.recorded["f_ext.ball"], np.broadcast_to(LIFT, (201, 6)))
    assert called.units["f_ext.ball"] == "N, N·m"


@pytest.mark.parametrize("force", [drag, dragged], ids=["program", "function"])
def test_drag_at_every_stage_is_exact_to_order_four(force: Any) -> None:
    motion = kt.simulate(BALL, f_ext={"ball": force}, control_dt="stages", duration=1.0, dt=5e-3, **START)
    rate = 3.0 / 2.0
    expected = (0.5 + G / rate) * math.exp(-rate) - G / rate
    assert motion.v[-1, 2] == pytest.approx(expected, abs=1e-9)
    assert motion.v[-1, 0] == pytest.approx(math.exp(-rate), abs=1e-9)
    assert np.abs(motion.balance_error).max() < 1e-8


@pytest.mark.parametrize("force", [drag, dragged], ids=["program", "function"])
def test_a_held_force_is_the_one_of_the_beginning_of_each_step(force: Any) -> None:
    motion = kt.simulate(BALL, f_ext={"ball": force}, duration=0.1, dt=1e-2, **START)
    held = motion.recorded["f_ext.ball"]
    assert np.allclose(held[:-1, :3], -3.0 * motion.v[:-1, :3], rtol=1e-14)
    assert np.array_equal(held[-1], held[-2])
    rows = kt.simulate(BALL, f_ext={"ball": held[:-1]}, duration=0.1, dt=1e-2, **START)
    np.testing.assert_allclose(motion.q, rows.q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(motion.qdd, rows.qdd, rtol=0, atol=1e-12)
    np.testing.assert_allclose(motion.work, rows.work, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["function", "program"])
def test_control_dt_says_how_often_it_is_called(kind: str) -> None:
    @kt.program(t=())
    def push(t):
        return np.concatenate([np.stack([t, 0.0 * t, 0.0 * t]), np.zeros(3)])

    force = push if kind == "program" else lambda t, q, v: [t, 0, 0, 0, 0, 0]
    motion = kt.simulate(BALL, f_ext={"ball": force}, control_dt=0.02, duration=0.1, dt=0.01)
    assert motion.recorded["f_ext.ball"][:, 0] == pytest.approx(
        [0.0, 0.0, 0.02, 0.02, 0.04, 0.04, 0.06, 0.06, 0.08, 0.08, 0.08]
    )


def test_several_forces_act_together_with_arrays_and_a_controller() -> None:
    hover = kt.program(lambda q, v: kt.gravity_forces(ARM, q) - 0.1 * v, q=ARM, v=6)
    wind = kt.program(lambda t: np.stack([np.sin(t), 1.0, 0, 0, 0, 0]), t=())
    keys = kt.dynamics.WrenchOn("tool", "world"), kt.dynamics.ForceOn("hand", "local_world_aligned")
    f_ext = {keys[0]: wind, keys[1]: wind, "forearm": [0, 0, 1.0, 0, 0, 0]}
    motion = kt.simulate(ARM, tau=hover, f_ext=f_ext, duration=0.1)
    rows = {**f_ext, **{key: motion.recorded[f"f_ext.{key.frame}"][:-1] for key in keys}}
    same = kt.simulate(ARM, tau=motion.tau[:-1], f_ext=rows, duration=0.1)
    np.testing.assert_allclose(motion.q, same.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(motion.work, same.work, rtol=0, atol=1e-12)


def test_two_forces_on_one_frame_have_names_of_their_own() -> None:
    up = kt.program(lambda t: np.stack([0, 0, 1.0 + 0.0 * t, 0, 0, 0]), t=())
    motion = kt.simulate(BALL, f_ext={"ball": up, WORLD: up}, duration=0.01)
    assert {"f_ext.ball", f"f_ext.{WORLD!r}"} <= set(motion.recorded)


def test_known_torques_act_together_with_a_program() -> None:
    tau = np.random.default_rng(0).normal(size=(50, 6))
    still = kt.program(lambda t: np.zeros(6), t=())
    moved = kt.simulate(ARM, tau=tau, f_ext={"tool": still}, duration=0.05)
    assert np.allclose(moved.q, kt.simulate(ARM, tau=tau, duration=0.05).q, rtol=0, atol=1e-13)
    assert np.array_equal(moved.tau[:-1], tau)
    held = kt.simulate(ARM, tau=tau[0], f_ext={"tool": lambda t, q, v: np.zeros(6)}, duration=0.05)
    assert np.allclose(held.q, kt.simulate(ARM, tau=tau[0], duration=0.05).q, rtol=0, atol=1e-13)


@kt.program(t=(), v=6, speed=(), gain=())
def thruster(t, v, speed, gain):
    """A motor that lags behind its command."""
    speed = speed + 0.1 * (gain - speed)
    return {"f_ext": np.stack([0.0, 0.0, speed, 0.0, 0.0, 0.0]), "speed": speed}


def test_a_force_has_a_state_and_arguments() -> None:
    motion = kt.simulate(BALL, f_ext={"ball": thruster}, arguments={"gain": 4.0}, state={"speed": 1.0}, duration=0.02)
    expected = 4.0 - 3.0 * 0.9 ** np.arange(1, 21)
    assert motion.recorded["f_ext.ball"][:-1, 2] == pytest.approx(expected)
    rolled = kt.rollout(
        BALL, BALL.neutral(), np.zeros(6), None, 1e-3, {"ball": thruster}, steps=20, arguments={"gain": 4.0},
        state={"speed": 1.0},
    )  # fmt: skip
    assert rolled.recorded["f_ext.ball"][:, 2] == pytest.approx(expected)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler", "discrete", "rk45"])
def test_each_motion_of_a_batch_is_the_same_as_alone(integrator: str) -> None:
    v = np.random.default_rng(0).normal(size=(5, 6))
    drags = np.linspace(0.5, 4.0, 5)
    for force, given in ((drag, {"arguments": {"drag": drags}}), (dragged, {})):
        together = kt.simulate(BALL, v=v, f_ext={WORLD: force}, duration=0.05, integrator=integrator, **given)
        for k in range(5):
            own = {"arguments": {"drag": drags[k]}} if given else {}
            alone = kt.simulate(BALL, v=v[k], f_ext={WORLD: force}, duration=0.05, integrator=integrator, **own)
            assert np.array_equal(together.q[k], alone.q)
            assert np.array_equal(together.work[k], alone.work)


def test_a_rollout_has_the_same_bits_for_any_batch_and_threads() -> None:
    rng = np.random.default_rng(1)
    q, v, drags = BALL.random(rng, size=300), rng.normal(size=(300, 6)), rng.uniform(0.5, 4.0, 300)

    def roll(some: slice | int, **options: Any) -> np.ndarray:
        return kt.rollout(
            BALL, q[some], v[some], None, 1e-3, {WORLD: drag}, steps=30, arguments={"drag": drags[some]}, **options
        ).states

    whole = roll(slice(None), threads=1)
    assert np.array_equal(whole, roll(slice(None), threads=2))
    assert np.array_equal(whole[17], roll(17))
    assert np.array_equal(whole[100:103], roll(slice(100, 103)))
    assert np.allclose(whole[3, -1, 7:10], kt.rollout(
        BALL, q[3], v[3], np.zeros((30, 6)), 1e-3, {WORLD: kt.program(lambda v: drag(v, drags[3]), v=6)}
    ).states[-1, 7:10])  # fmt: skip


@pytest.mark.parametrize("force", [drag, dragged], ids=["program", "function"])
@pytest.mark.parametrize("integrator", ["rk4", "rk45"])
def test_a_motion_goes_on_from_a_snapshot_to_the_same_bits(
    force: Any, integrator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "_NUMBERS_PER_PIECE", 800)
    given = {"f_ext": {"ball": force}, "control_dt": 5e-3, "integrator": integrator}
    whole = kt.simulate(BALL, duration=0.1, **START, **given)
    first = kt.simulate(BALL, duration=0.043, **START, **given)
    rest = kt.simulate(BALL, resume=first.snapshot(), duration=0.057, **given)
    assert np.array_equal(rest.q[-1], whole.q[-1])
    assert np.array_equal(rest.work[-1], whole.work[-1])
    streamed = kt.simulate(BALL, duration=0.1, record=kt.sim.Recording(stream=tmp_path / "motion"), **START, **given)
    assert np.array_equal(streamed.read().q, whole.q)


def test_error_control_ends_its_steps_where_a_force_changes() -> None:
    motion = kt.simulate(BALL, f_ext={"ball": dragged}, integrator="rk45", control_dt=0.01, duration=0.2, **START)
    held = motion.recorded["f_ext.ball"][:-1]
    rows = kt.simulate(BALL, f_ext={"ball": held}, integrator="rk45", duration=0.2, **START)
    np.testing.assert_allclose(motion.v, rows.v, rtol=0, atol=1e-6)
    program = kt.simulate(BALL, f_ext={"ball": drag}, integrator="rk45", control_dt=0.01, duration=0.2, **START)
    np.testing.assert_allclose(motion.v, program.v, rtol=0, atol=1e-6)
    with pytest.raises(kt.errors.OptionError, match="control_dt='stages'"):
        kt.simulate(BALL, f_ext={"ball": dragged}, integrator="rk45", control_dt="stages", **START)


@pytest.mark.parametrize("kind", ["function", "program"])
def test_forces_act_together_with_contacts(kind: str) -> None:
    scene = ball().on_ground(0.0)
    up = kt.program(lambda t: np.stack([0, 0, 2.0 * G + 1.0 + 0.0 * t, 0, 0, 0]), t=())
    force: Any = up if kind == "program" else lambda t, q, v: [0, 0, 2.0 * G + 1.0, 0, 0, 0]
    q = scene.neutral()
    q[2] = 0.1
    known = {WORLD: [0, 0, 2.0 * G + 1.0, 0, 0, 0]}
    a, b = (kt.simulate(scene, q=q, f_ext=f, contact=True, duration=0.1) for f in ({WORLD: force}, known))
    np.testing.assert_allclose(a.q, b.q, rtol=0, atol=1e-11)


@pytest.mark.parametrize("kind", ["function", "program"])
@pytest.mark.parametrize("has_controller", [False, True])
def test_forces_act_together_with_commands(kind: str, has_controller: bool) -> None:
    pole = kt.zoo.load("cart_pole").with_servos(kp=100.0, kd=20.0, joints=["slider"])
    wind = kt.program(lambda v: np.stack([-v[0], 0.5, 0, 0, 0, 0]), v=2)
    follow = kt.program(lambda t: np.stack([0.2 + 0.0 * t]), t=())
    force: Any = wind if kind == "program" else lambda t, q, v: [-v[0], 0.5, 0, 0, 0, 0]
    ctrl: Any = [0.2] if not has_controller else follow if kind == "program" else lambda t, q, v: [0.2]
    tau = np.zeros((100, 2))
    key = kt.dynamics.WrenchOn(list(pole.bodies)[-1], "local_world_aligned")
    motion = kt.simulate(pole, tau=tau, ctrl=ctrl, f_ext={key: force}, duration=0.1)
    rows = {key: motion.recorded[f"f_ext.{key.frame}"][:-1]}
    known = kt.simulate(pole, tau=tau, ctrl=[0.2], f_ext=rows, duration=0.1)
    np.testing.assert_allclose(motion.q, known.q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(motion.work, known.work, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(motion.recorded["ctrl"], known.recorded["ctrl"])


@pytest.mark.parametrize(
    ("f_ext", "error", "message"),
    [
        ({"ball": lambda t, q, v: [1.0, 2.0]}, kt.errors.ShapeError, r"f_ext\['ball'\]\(t, q, v\) returned the shape"),
        (
            {"ball": lambda t, q, v: [math.nan] * 6},
            kt.errors.SimulationError,
            r"f_ext\['ball'\]\(t, q, v\) returned nan",
        ),
        ({"ball": kt.program(lambda v: v[:3], v=6)}, kt.errors.ShapeError, r"f_ext\['ball'\].*\(3,\).*\(6,\)"),
        ({"ball": kt.program(lambda v: v / (v[0] - 1.0), v=6)}, kt.errors.SimulationError, r"'f_ext.ball'.*at t = 0 s"),
        ({"bowl": dragged}, kt.errors.NameNotFoundError, "ball"),
        ({"ball": dragged, WORLD: drag}, kt.errors.OptionError, "all programs or all Python functions"),
        ({"ball": kt.program(lambda v: {"tau": v}, v=6)}, kt.errors.OptionError, r"must return the wrench"),
        (dragged, kt.errors.DTypeError, "f_ext must be a dict"),
    ],
)
def test_what_cannot_be_a_force_is_refused(f_ext: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        kt.simulate(BALL, f_ext=f_ext, duration=0.01, **START)


def test_a_rollout_takes_no_python_function() -> None:
    with pytest.raises(kt.errors.OptionError, match=r"f_ext\['ball'\] is a Python function"):
        kt.rollout(BALL, BALL.neutral(), np.zeros(6), np.zeros((3, 6)), 1e-3, {"ball": dragged})


def test_one_motion_of_a_batch_ends_where_its_force_is_not_finite() -> None:
    v = np.array([[1.0, 0, 0, 0, 0, 0], [2.0, 0, 0, 0, 0, 0]])
    bad = kt.program(lambda t, v: np.sqrt(np.where((t > 0.005) & (v[0] > 1.5), -1.0, 1.0)) * np.ones(6), t=(), v=6)
    with pytest.warns(
        kt.errors.SimulationWarning, match=r"'f_ext.ball' was given a force that is not finite at t = 0.007 s"
    ):
        motion = kt.simulate(BALL, v=v, f_ext={WORLD: bad}, duration=0.02)
    alone = kt.simulate(BALL, v=v[0], f_ext={WORLD: bad}, duration=0.02)
    assert np.array_equal(motion.q[0], alone.q)

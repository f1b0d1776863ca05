"""Batches of motions, and parameters: each motion is the same as alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.functions.stiffness import Fastest, Search
from kinetree.sim import plot
from tests.robots import arm3, stork

pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")  # joints swing through their stops

Array = NDArray[np.float64]
FIELDS = ("q", "v", "tau", "kinetic", "potential", "work", "dissipated", "balance_error")
ARM = kt.zoo.load("arm6")
INTEGRATORS = ("rk4", "semi_implicit_euler")


def starts(robot: kt.Model, *shape: int) -> dict[str, Array]:
    rng = np.random.default_rng(7)
    q = np.stack([robot.random(rng) for _ in range(int(np.prod(shape)))]).reshape((*shape, robot.nq))
    return {"q": q, "v": 0.5 * rng.normal(size=(*shape, robot.nv))}


def same(batch: kt.Trajectory, index: Any, alone: kt.Trajectory) -> None:
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(batch[index], name), getattr(alone, name), err_msg=name)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("make", [arm3, stork])
def test_a_motion_of_a_batch_is_the_same_alone(make: Callable[[], kt.Model], integrator: str) -> None:
    robot = make()
    start, steps = starts(robot, 2, 3), 12
    tau = np.random.default_rng(1).normal(size=(3, steps, robot.nv)) * robot.actuated
    push = {list(robot.bodies)[-1]: np.linspace(0.0, 1.0, 2 * steps * 6).reshape(2, 1, steps, 6)}
    settings: dict[str, Any] = {"duration": 1e-3 * steps, "integrator": integrator, "limits": True}
    together = kt.simulate(robot, **start, tau=tau, f_ext=push, **settings)
    assert together.shape == (2, 3)
    assert together.q.shape == (2, 3, steps + 1, robot.nq)
    assert together.time.shape == (steps + 1,)
    for i, j in ((0, 0), (1, 2)):
        own = {key: rows[i, 0] for key, rows in push.items()}
        alone = kt.simulate(robot, q=start["q"][i, j], v=start["v"][i, j], tau=tau[j], f_ext=own, **settings)
        same(together, (i, j), alone)


def test_steps_are_divided_motion_by_motion() -> None:
    """A stretched arm is stopped more slowly than a folded one."""
    builder = kt.ModelBuilder("folding")
    for name in ("ground", "upper", "lower"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    axis = kt.Revolute([0, 0, 1])
    builder.add_joint("shoulder", axis, "ground", "upper", damping=[300.0])
    builder.add_joint("elbow", axis, "upper", "lower", kt.lie.placement((0.5, 0.0, 0.0)))
    builder.add_body("hand", kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    builder.add_joint("wrist", kt.Fixed(), "lower", "hand", kt.lie.placement((0.4, 0.0, 0.0)))
    robot = builder.build()
    q = np.array([[0.0, angle] for angle in np.linspace(0.0, np.pi, 5)])
    together = kt.simulate(robot, q=q, duration=0.02, dt=0.01)
    parts = [kt.simulate(robot, q=one, duration=0.02, dt=0.01) for one in q]
    assert len({alone.substeps for alone in parts}) > 1
    assert together.substeps == max(alone.substeps for alone in parts)
    for k, alone in enumerate(parts):
        same(together, k, alone)


def _damped() -> kt.Model:
    builder = kt.ModelBuilder("damped")
    for name in ("ground", "upper", "lower"):
        builder.add_body(name, kt.solids.box(0.4, 0.1, 0.1, mass=1.0))
    axis, spring = kt.Revolute([0, 1, 0]), {"damping": [25.0], "stiffness": [40.0]}
    builder.add_joint("shoulder", axis, "ground", "upper", kt.lie.placement((0.3, 0.0, 0.0)), **spring)
    builder.add_joint("elbow", axis, "upper", "lower", kt.lie.placement((0.5, 0.0, 0.0)), **spring)
    return builder.build()


def test_the_fastest_decay_of_a_batch_is_that_of_each_sample() -> None:
    q = starts(ARM, 5)["q"]
    names = ["damping", "friction"]
    together, alone = Fastest(Search.of(ARM, names)), [Fastest(Search.of(ARM, names)) for _ in q]
    for looks in (1, 3, 2):
        path = q[:, None] + 0.01 * np.arange(looks)[:, None]
        rates = together.along(path)
        for k, one in enumerate(alone):
            np.testing.assert_array_equal(rates[k], one.along(path[k]))
            assert together.joint((k,)) == one.joint()


def test_a_controller_gets_and_gives_the_batch() -> None:
    start = starts(ARM, 4)

    def controller(t: float, q: Array, v: Array) -> Array:
        assert q.shape[:-1] == v.shape[:-1]
        return -2.0 * q - v + t

    together = kt.simulate(ARM, **start, tau=controller, duration=0.01)
    for k in range(4):
        alone = kt.simulate(ARM, q=start["q"][k], v=start["v"][k], tau=controller, duration=0.01)
        same(together, k, alone)
    constant = kt.simulate(ARM, **start, tau=lambda _t, _q, _v: np.ones(6), duration=0.01)
    same(constant, 2, kt.simulate(ARM, q=start["q"][2], v=start["v"][2], tau=np.ones(6), duration=0.01))
    with pytest.raises(
        kt.errors.ShapeError, match=r"returned the shape \(4, 5\) at t = 0 s, but 'arm6' needs \(4, 6\)"
    ):
        kt.simulate(ARM, **start, tau=lambda _t, _q, _v: np.ones((4, 5)))
    with pytest.raises(
        kt.errors.OptionError, match=r"control_dt='stages' is for one motion, and this is a batch \(4,\)"
    ):
        kt.simulate(ARM, **start, tau=controller, control_dt="stages")


def test_constant_torques_and_forces_per_motion() -> None:
    start = starts(ARM, 3)
    tau, push = np.arange(18.0).reshape(3, 1, 6), {"tool": np.arange(18.0).reshape(3, 1, 6)}
    together = kt.simulate(ARM, **start, tau=tau, f_ext=push, duration=0.01)
    own = {"tool": push["tool"][2, 0]}
    same(together, 2, kt.simulate(ARM, q=start["q"][2], v=start["v"][2], tau=tau[2, 0], f_ext=own, duration=0.01))


@pytest.mark.parametrize("control_dt", [None, "stages"])
def test_parameters_are_those_of_a_robot_made_with_them(control_dt: Any) -> None:
    """Also where they make steps shorter: a light arm is stopped sooner by the same friction."""
    robot = _damped()
    start: dict[str, Any] = {"q": [0.3, 0.2], "v": [1.0, 0.0], "duration": 0.2, "dt": 0.01}
    if control_dt is not None:
        start |= {"tau": lambda _t, _q, v: -0.1 * v, "control_dt": control_dt}
    given = {"body.lower.mass": np.array(0.2), "gravity": np.array([0.0, 0.0, -1.6])}
    motion = kt.simulate(robot, **start, parameters=given)
    states = kt.rollout(
        robot, start["q"], start["v"], np.zeros((20 * motion.substeps, 2)), 0.01 / motion.substeps,
        integrator="rk4", passive=True, parameters=given,
    )[motion.substeps - 1 :: motion.substeps]  # fmt: skip
    if control_dt is None:
        np.testing.assert_allclose(np.hstack([motion.q, motion.v])[1:], states, atol=1e-12)
    assert motion.substeps > kt.simulate(robot, **start).substeps
    assert np.abs(motion.balance_error).max() < 1e-5
    np.testing.assert_array_equal(motion.kinetic, kt.kinetic_energy(robot, motion.q, motion.v, parameters=given))


def test_a_batch_of_parameters_is_a_batch_of_motions() -> None:
    masses = np.array([0.5, 1.0, 2.0])
    motion = kt.simulate(ARM, q=ARM.random(0), parameters={"body.tool.mass": masses}, duration=0.01)
    assert motion.shape == (3,)
    for k, mass in enumerate(masses):
        alone = kt.simulate(ARM, q=ARM.random(0), parameters={"body.tool.mass": mass}, duration=0.01)
        same(motion, k, alone)
    assert np.abs(motion.v[0, -1] - motion.v[2, -1]).max() > 1e-4


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"body.tool.mas": 1.0}, kt.errors.NameNotFoundError, "'arm6' has no parameter 'body.tool.mas'"),
        ({"gravity": [1.0]}, kt.errors.ShapeError, r"gravity has shape \(1,\), but 'arm6' needs \(…, 3\)"),
        ({"body.tool.mass": np.nan}, kt.errors.ConfigurationError, "body.tool.mass must be finite"),
        ([1.0], kt.errors.DTypeError, "parameters must be a dict from names such as"),
    ],
)
def test_parameters_that_are_none_are_refused(parameters: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        kt.simulate(ARM, parameters=parameters)


@pytest.mark.parametrize("make", [arm3, stork])
def test_an_empty_batch_is_one(make: Callable[[], kt.Model]) -> None:
    robot = make()
    contact = kt.constraints.Contact(list(robot.bodies)[-1])
    for more in ({}, {"constraints": contact}, {"tau": lambda _t, _q, v: 0.0 * v}):
        motions = kt.simulate(robot, q=np.zeros((0, robot.nq)), duration=0.01, **more)
        assert motions.q.shape == (0, 11, robot.nq)


def test_a_batch_is_saved_and_drawn_whole(tmp_path: Path) -> None:
    motions = kt.simulate(ARM, **starts(ARM, 2, 3), duration=0.01)
    back = kt.Trajectory.load(motions.save(tmp_path / "batch"))
    assert back.shape == (2, 3)
    same(back, (1, 2), motions[1, 2])
    assert plot(motions, tmp_path / "all").exists()
    assert plot(motions[1][0], tmp_path / "picture").exists()
    assert [motion.shape for motion in motions] == [(3,), (3,)]
    with pytest.raises(kt.errors.ShapeError, match="this trajectory is one motion, not a batch"):
        motions[0, 0][0]
    with pytest.raises(kt.errors.ShapeError, match=r"this trajectory is a batch \(2, 3\); its arrays are in fields"):
        motions[0, 0, 0]


def test_a_file_whose_fields_are_of_different_batches_is_refused(tmp_path: Path) -> None:
    motions = kt.simulate(ARM, **starts(ARM, 2), duration=0.01)
    with np.load(motions.save(tmp_path / "batch")) as archive:
        arrays = dict(archive)
    arrays["v"] = arrays["v"][:1]
    np.savez(tmp_path / "mixed.npz", **arrays)
    with pytest.raises(kt.errors.TrajectoryFileError, match="'v' has the shape"):
        kt.Trajectory.load(tmp_path / "mixed.npz")

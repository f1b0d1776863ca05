"""Batches of programs, leading axes inside them, several robots, single precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler import batch_pieces as module
from tests.backends.test_long_chains import chain
from tests.unit.programs.alike import assert_runs_as_it_is, assert_same

ARM = kt.zoo.load("arm6")
PENDULUM = kt.zoo.load("double_pendulum")
TIP = list(PENDULUM.frames)[-1]
RNG = np.random.default_rng(11)


@kt.program(q=2, v=2, gain=())
def several(q: Any, v: Any, gain: Any) -> dict[str, Any]:
    M = kt.crba(PENDULUM, q)
    return {"M": M, "tau": M @ v - gain * np.tanh(q), "x": kt.frame_placement(PENDULUM, q, TIP)[:3, 3], "is": q > gain}


def flat(results: Any) -> np.ndarray:
    """The numbers of each sample, side by side."""
    return np.concatenate([x.reshape(*results["is"].shape[:-1], -1) for x in results.values()], axis=-1)


def test_results_are_the_same_to_the_bit_for_any_batch_lane_and_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PIECE", 1e-8)  # every batch is cut
    q, v = RNG.normal(size=(2, 301, 2))
    gain = np.linspace(-1.0, 1.0, 301)
    expected = flat(several(q, v, gain, threads=1))
    for k in (0, 1, 7, 299, 300):
        assert (flat(several(q[k], v[k], gain[k])) == expected[k]).all()
    for count in (1, 2, 3, 5, 8, 17, 64, 300):
        for threads in (None, 2, 3):
            part = slice(301 - count, None)
            assert (flat(several(q[part], v[part], gain[part], threads=threads)) == expected[part]).all()
    assert (flat(several(q[:, None], v, gain[0], threads=3))[:, 5] == flat(several(q, v[5], gain[0]))).all()


def test_out_of_several_results_holds_all_numbers_and_the_results_are_views_of_it() -> None:
    q, v = RNG.normal(size=(2, 40, 2))
    expected = several(q, v, 0.3)
    for threads in (None, 1, 2):
        out = np.full((40, 11), np.nan)
        found = several(q, v, 0.3, out=out, threads=threads)
        assert (out == flat(expected)).all()
        assert np.shares_memory(found["M"], out)
        assert np.shares_memory(found["x"], out)
        assert found["is"].dtype == np.bool_
    one = np.full(11, np.nan)
    several(q[3], v[3], 0.3, out=one)
    assert (one == out[3]).all()
    rows = np.full((40, 2, 11), np.nan)[:, 1]
    several(q, v, 0.3, out=rows)
    assert (rows == out).all()
    with pytest.raises(kt.errors.ShapeError, match=r"out has shape \(40, 10\), but the result has \(40, 11\)"):
        several(q, v, 0.3, out=np.zeros((40, 10)))


def test_empty_batches() -> None:
    found = several(np.zeros((0, 2)), np.zeros(2), 1.0)
    assert {key: x.shape for key, x in found.items()} == {"M": (0, 2, 2), "tau": (0, 2), "x": (0, 3), "is": (0, 2)}


def test_points_and_configurations_have_leading_axes_inside() -> None:
    points = RNG.normal(size=(3, 4, 3))

    def clearances(q: Any, centre: Any) -> Any:
        seen = kt.kinematics.point_position(PENDULUM, q, points, TIP)
        moved = kt.kinematics.point_position(PENDULUM, np.stack([q, 2.0 * q])[:, None], centre + points[0], TIP)
        torques = kt.rnea(PENDULUM, [[q, q]], np.zeros((4, 1, 2)), q)
        return np.linalg.norm(seen - centre, axis=-1).min(axis=1), moved, torques

    assert_runs_as_it_is(clearances, RNG.normal(size=2), RNG.normal(size=3))


def test_programs_in_programs_broadcast_and_keep_their_kinds_of_numbers() -> None:
    @kt.program(q=2, on=bool, count=int)
    def inner(q: Any, on: Any, count: Any) -> Any:
        return np.where(on, q, -q) * count, q.sum(), on

    def outer(q: Any) -> Any:
        both = np.stack([q, 2.0 * q, -q])
        return (
            inner(q, True, 2),
            inner(both, q[0] > 0.0, 3),
            inner(both[:0], [], 1)[0],
            inner(q=q, on=1, count=np.floor(q[:1])),
        )

    q = RNG.normal(size=2)
    found = kt.program(outer, q=2)(q)
    assert_same(found, (inner(q, True, 2), *(outer(q)[1:])))
    with pytest.raises(kt.errors.DTypeError, match=r"inner: on holds booleans, and 0\.5 is none"):
        kt.program(lambda q: inner(q, 0.5, 1), q=2)(q)
    with pytest.raises(kt.errors.DTypeError, match=r"inner: count holds whole numbers, and 0\.5 is none"):
        kt.program(lambda q: inner(q, True, 0.5), q=2)(q)
    with pytest.raises(kt.errors.ShapeError, match=r"test_batches.py:\d+: inner: q has shape \(3,\)"):
        kt.program(lambda q: inner(np.append(q, 1.0), True, 1), q=2)(q)


def test_two_robots_and_one_with_other_numbers() -> None:
    heavy = kt.identification.with_inertial_parameters(PENDULUM, 2.0 * kt.identification.inertial_parameters(PENDULUM))
    body = list(PENDULUM.bodies)[-1]

    def relative(p: Any, q: Any, m: Any) -> Any:
        between = kt.frame_placement(ARM, p, "tool")[:3, 3] - kt.frame_placement(PENDULUM, q, TIP)[:3, 3]
        J = kt.frame_jacobian(ARM, p, "tool", expressed_in="local_world_aligned")[:3]
        loads = kt.gravity_forces(PENDULUM, q), kt.gravity_forces(heavy, q)
        return between, J.T @ between, loads, kt.gravity_forces(PENDULUM, q, parameters={f"body.{body}.mass": m})

    assert_runs_as_it_is(relative, RNG.normal(size=6), RNG.normal(size=2), np.array(2.5))


def test_single_precision_is_that_of_the_functions() -> None:
    @kt.program(q=6, v=6)
    def control(q: Any, v: Any) -> Any:
        place = kt.constraints.Contact("tool", at=[0.1, 0.2, 0.3])
        return (
            kt.rnea(ARM, q, v, v) - 0.1 * v,
            kt.frame_jacobian(ARM, q, "tool", expressed_in="world").T
            @ kt.lie.pose_log(kt.frame_placement(ARM, q, "tool")),
            kt.constraints.constrained_dynamics(ARM, q, v, v, place).qdd,
        )

    q, v = RNG.normal(size=(2, 30, 6)).astype(np.float32)
    found, exact = control(q, v), control(q.astype(float), v.astype(float))
    plain = [np.stack(x) for x in zip(*(control.function(*s) for s in zip(q, v, strict=True)), strict=True)]
    for x, y, z in zip(found, exact, plain, strict=True):
        assert (x.dtype, y.dtype, z.dtype) == (np.float32, np.float64, np.float32)
        scale = np.abs(y).max()
        np.testing.assert_allclose(x, y, rtol=0, atol=2e-5 * scale)
        np.testing.assert_allclose(x, z, rtol=0, atol=2e-5 * scale)


def test_a_robot_of_two_hundred_joints_is_called_in_loops() -> None:
    robot = chain(200)
    q, v = robot.random(3), RNG.normal(size=robot.nv)

    @kt.program(q=robot, v=robot.nv, gain=())
    def control(q: Any, v: Any, gain: Any) -> Any:
        return kt.rnea(robot, q, v, v) - gain * v, kt.aba(robot, q, v, kt.gravity_forces(robot, q))

    assert sum(1 for _ in control.traced().program.body.all_statements()) < 2000
    assert_same(control(q, v, 0.5), control.function(q, v, 0.5))


def test_what_is_left_out_does_not_decide_the_precision() -> None:
    ones = np.ones(3)

    @kt.program(x=3, offset=3, count=int)
    def moved(x: Any, offset: Any = ones, count: Any = 2) -> Any:
        return x + count * offset

    single = np.arange(3, dtype=np.float32)
    assert moved(single).dtype == moved(x=single).dtype == np.float32
    assert moved(single.astype(float)).dtype == moved(single, np.ones(3)).dtype == np.float64
    assert moved(single).tolist() == [2.0, 3.0, 4.0]
    assert kt.jacobian(moved, (single,), wrt="x").dtype == np.float32

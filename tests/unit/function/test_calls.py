"""Shapes, dtypes, broadcasting, and the errors for people."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.spatial import Inertia, Sym3, Vec3

ARM = kt.zoo.load("arm6")
QUADRUPED = kt.zoo.load("quadruped")
RNG = np.random.default_rng(3)
Q, V, TAU = RNG.normal(size=(3, 5, 6))


def test_leading_axes_broadcast_as_numpys_do() -> None:
    expected = kt.aba(ARM, Q, V, TAU)
    assert kt.aba(ARM, Q[0], V[0], TAU[0]).shape == (6,)
    assert (kt.aba(ARM, Q[:, None], V, TAU)[0, 0] == expected[0]).all()
    assert kt.aba(ARM, Q.reshape(5, 1, 6), V[0], TAU).shape == (5, 5, 6)
    assert kt.crba(ARM, Q.reshape(1, 5, 6)).shape == (1, 5, 6, 6)
    assert kt.aba(ARM, np.zeros((0, 6)), V[0], TAU[0]).shape == (0, 6)
    assert kt.kinetic_energy(ARM, Q, V).shape == (5,)


def test_lists_and_integers_are_taken_for_numbers() -> None:
    zeros = [0] * 6
    assert (kt.aba(ARM, zeros, zeros, np.zeros(6, int)) == kt.aba(ARM, *np.zeros((3, 6)))).all()


def test_float32_in_gives_float32_out_and_anything_else_float64() -> None:
    single = [x.astype(np.float32) for x in (Q, V, TAU)]
    assert kt.aba(ARM, *single).dtype == np.float32
    assert kt.aba(ARM, single[0], single[1], TAU).dtype == np.float64
    assert kt.aba(ARM, single[0], single[1], TAU[0].tolist()).dtype == np.float64
    np.testing.assert_allclose(kt.aba(ARM, *single), kt.aba(ARM, Q, V, TAU), rtol=1e-3, atol=1e-2)


def test_out_receives_the_result_and_is_returned() -> None:
    out = np.empty((5, 6))
    assert kt.aba(ARM, Q, V, TAU, out=out) is out
    assert (out == kt.aba(ARM, Q, V, TAU)).all()


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.empty((4, 6)), kt.errors.ShapeError, r"aba: out has shape \(4, 6\), but the result has \(5, 6\)"),
        (np.empty((5, 6), np.float32), kt.errors.DTypeError, "aba: out has dtype float32, but the result is float64"),
        ([[0.0] * 6] * 5, kt.errors.DTypeError, "aba: out must be a NumPy array, not list"),
        (np.broadcast_to(0.0, (5, 6)), kt.errors.ShapeError, "aba: out is read-only"),
    ],
)
def test_an_out_that_does_not_fit_is_refused(out: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        kt.aba(ARM, Q, V, TAU, out=out)


@pytest.mark.parametrize(
    ("q", "error", "message"),
    [
        (np.zeros(7), kt.errors.ShapeError, r"aba: q has shape \(7,\), but 'arm6' needs \(…, 6\)"),
        (0.0, kt.errors.ShapeError, r"aba: q has shape \(\), but 'arm6' needs \(…, 6\)"),
        (np.zeros((4, 6)), kt.errors.ShapeError, r"aba: the leading axes do not broadcast.*q \(4, 6\), v \(5, 6\)"),
        (np.zeros(6, complex), kt.errors.DTypeError, r"q must be an array of real numbers .* complex128"),
        ("straight", kt.errors.DTypeError, "q must be an array of real numbers"),
        ([None] * 6, kt.errors.DTypeError, "q must be an array of real numbers .* object"),
        ([[0.0] * 6, [0.0] * 5], kt.errors.DTypeError, "q must be an array of real numbers"),
        (np.zeros(6, bool), kt.errors.DTypeError, "q must be an array of real numbers .* bool"),
    ],
)
def test_an_argument_that_does_not_fit_is_refused(q: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        kt.aba(ARM, q, V, TAU)


def test_what_is_no_robot_is_refused() -> None:
    with pytest.raises(kt.errors.DTypeError, match=r"first argument must be a robot .* not str"):
        kt.aba("arm6", Q, V, TAU)  # type: ignore[arg-type]


def test_a_wrong_frame_is_answered_with_the_nearest() -> None:
    with pytest.raises(kt.errors.NameNotFoundError, match=r"this robot has no frame 'tol'.*did you mean.*tool"):
        kt.frame_placement(ARM, Q, "tol")
    with pytest.raises(kt.errors.OptionError, match="frame must be a name"):
        kt.frame_placement(ARM, Q, 3)  # type: ignore[arg-type]


def test_a_wrong_option_is_answered_with_the_right_ones() -> None:
    with pytest.raises(
        kt.errors.OptionError, match="expressed_in must be 'local', 'world' or 'local_world_aligned', not 'body'"
    ):
        kt.frame_jacobian(ARM, Q, "tool", expressed_in="body")  # type: ignore[arg-type]
    with pytest.raises(kt.errors.OptionError, match="kind must be 'spatial' or 'classical', not 'felt'"):
        kt.kinematics.frame_acceleration(ARM, Q, V, TAU, "tool", expressed_in="local", kind="felt")  # type: ignore[arg-type]
    with pytest.raises(kt.errors.OptionError, match="aba has no option 'frame'"):
        kt.compile(ARM, kt.aba, frame="tool")


def test_external_forces_must_be_named_and_six() -> None:
    with pytest.raises(kt.errors.DTypeError, match="f_ext must be a dict"):
        kt.aba(ARM, Q, V, TAU, f_ext=np.zeros(6))  # type: ignore[arg-type]
    with pytest.raises(kt.errors.NameNotFoundError, match="no frame 'gripper'"):
        kt.aba(ARM, Q, V, TAU, f_ext={"gripper": np.zeros(6)})
    with pytest.raises(kt.errors.NameNotFoundError, match="no frame 'gripper'"):
        kt.aba(ARM, Q, V, TAU, f_ext={kt.dynamics.WrenchOn("gripper", "world"): np.zeros(6)})
    with pytest.raises(
        kt.errors.ShapeError, match=r"f_ext\[ForceOn\('tool', 'world'\)\] has shape \(3,\), but 'arm6' needs"
    ):
        kt.aba(ARM, Q, V, TAU, f_ext={kt.dynamics.ForceOn("tool", "world"): np.zeros(3)})
    with pytest.raises(kt.errors.ShapeError, match=r"f_ext\['tool'\] has shape \(3,\), but 'arm6' needs \(…, 6\)"):
        kt.aba(ARM, Q, V, TAU, f_ext={"tool": np.zeros(3)})
    with pytest.raises(kt.errors.OptionError, match="crba takes no external forces"):
        kt.compile(ARM, kt.crba, f_ext=["tool"])


@pytest.mark.parametrize("which", [0, 8, 19])
def test_one_of_many_quaternions_is_refused_where_it_stands(which: int) -> None:
    """More than a few are looked at in a loop."""
    robot = kt.zoo.load("arm6")
    for k in range(20):
        robot = robot.with_free_body("sphere", 0.1, mass=1.0, name=f"ball{k}")
    q = np.tile(robot.neutral(), (9, 1))
    q[6, robot.joints[f"ball{which}_joint"].q_slice][3:] = 0.0
    v = np.ones((9, robot.nv))
    assert np.isfinite(kt.kinetic_energy(robot, q[:6], v[:6])).all()
    for rows, place in ((q, r"q\[6\]"), (q[6], "q")):
        with pytest.raises(kt.errors.ConfigurationError, match=rf"{place}: the quaternion of joint .ball{which}_joint"):
            kt.kinetic_energy(robot, rows, v[: len(rows)] if rows.ndim == 2 else v[0])


def test_a_zero_quaternion_is_refused_where_it_stands() -> None:
    q = np.stack([QUADRUPED.neutral()] * 4)
    v = np.zeros((4, QUADRUPED.nv))
    q[2, 3:7] = 0.0
    with pytest.raises(kt.errors.ConfigurationError, match=r"q\[2\]: the quaternion of joint 'root_joint' .* is zero"):
        kt.aba(QUADRUPED, q, v, v)
    with pytest.raises(kt.errors.ConfigurationError, match="quaternion"):
        kt.center_of_mass(QUADRUPED, q[2])


def test_a_quaternion_of_any_other_length_is_normalised() -> None:
    q = QUADRUPED.random(0)
    longer = q.copy()
    longer[3:7] *= 3.0
    v = np.ones(QUADRUPED.nv)
    np.testing.assert_allclose(kt.aba(QUADRUPED, longer, v, v), kt.aba(QUADRUPED, q, v, v), rtol=1e-11)


def test_what_is_not_finite_stays_in_its_sample() -> None:
    q = Q.copy()
    q[1, 2], q[3, 0] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        qdd = kt.aba(ARM, q, V, TAU)
    fine = [0, 2, 4]
    assert (qdd[fine] == kt.aba(ARM, Q, V, TAU)[fine]).all()
    assert np.isnan(qdd[1]).any()


def massless_arm() -> kt.Model:
    builder = kt.ModelBuilder("hollow")
    for name in ("base", "upper", "tip"):
        builder.add_body(name, Inertia.from_com(1.0, Vec3(0, 0, 1), Sym3.scalar(0.1)) if name == "upper" else None)
    builder.add_joint("shoulder", kt.Revolute([0, 1, 0]), "base", "upper")
    builder.add_joint("wrist", kt.Revolute([1, 0, 0]), "upper", "tip")
    return builder.build()


def test_a_joint_that_moves_nothing_is_named_and_the_rest_works() -> None:
    robot = massless_arm()
    q = [0.3, 0.1]
    with pytest.raises(
        kt.errors.SingularModelError, match="aba: joint 'wrist' of 'hollow' moves nothing that has mass"
    ):
        kt.aba(robot, q, q, q)
    assert np.isfinite(kt.rnea(robot, q, q, q)).all()
    assert np.isfinite(kt.frame_placement(robot, q, "tip")).all()


def test_a_robot_without_joints_has_empty_answers() -> None:
    builder = kt.ModelBuilder("rock")
    builder.add_body("rock", Inertia.from_com(2.0, Vec3(0.0, 0.0, 1.0), Sym3.scalar(1.0)))
    rock = builder.build()
    nothing = np.zeros((3, 0))
    assert kt.aba(rock, nothing, nothing, nothing).shape == (3, 0)
    assert kt.crba(rock, nothing).shape == (3, 0, 0)
    assert kt.center_of_mass(rock, nothing).tolist() == [[0.0, 0.0, 1.0]] * 3
    np.testing.assert_allclose(kt.potential_energy(rock, nothing), 2.0 * 9.81)


def test_compile_hands_out_the_bare_function() -> None:
    f = kt.compile(ARM, kt.frame_jacobian, expressed_in="world", frame="tool")
    assert (f(Q) == kt.frame_jacobian(ARM, Q, "tool", expressed_in="world")).all()
    pushed = kt.compile(ARM, kt.aba, f_ext=["tool"])
    push = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    assert (pushed(Q, V, TAU, push) == kt.aba(ARM, Q, V, TAU, f_ext={"tool": push})).all()
    with pytest.raises(kt.errors.DTypeError, match=r"aba takes 4 arrays \(q, v, tau, f_ext\['tool'\]\), not 3"):
        pushed(Q, V, TAU)


def test_compile_refuses_what_it_does_not_know() -> None:
    with pytest.raises(kt.errors.OptionError, match="not one of kinetree's functions"):
        kt.compile(ARM, np.sin)
    with pytest.raises(kt.errors.OptionError, match="dtype must be float64 or float32, not int64"):
        kt.compile(ARM, kt.aba, dtype="int64")


def test_first_use_from_many_threads_compiles_once() -> None:
    robot = kt.zoo.load("double_pendulum")
    results: list[np.ndarray] = []
    threads = [
        threading.Thread(target=lambda: results.append(kt.aba(robot, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0])))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all((r == results[0]).all() for r in results)
    assert kt.compile(robot, kt.aba) is kt.compile(robot, kt.aba)


def test_other_threads_run_while_a_kernel_does() -> None:
    big = np.zeros((1_500_000, 6))  # long enough for a ticker that has to share its core
    kt.aba(ARM, big[:1], big[:1], big[:1])
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(1e-4)

    ticker = threading.Thread(target=tick)
    ticker.start()
    kernel = kt.compile(ARM, kt.aba)
    start = time.perf_counter()
    kernel(big, big, big, threads=1)
    end = time.perf_counter()
    done.set()
    ticker.join()
    assert sum(start < t < end for t in ticks) >= 2


def test_a_dropped_robot_takes_its_kernels_along() -> None:
    robot = kt.zoo.load("cart_pole")
    kernel = weakref.ref(kt.compile(robot, kt.aba))
    assert kernel() is not None
    del robot
    gc.collect()
    assert kernel() is None

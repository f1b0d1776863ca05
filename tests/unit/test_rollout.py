"""Rollouts: shapes, dtypes, lengths, `out=`, errors for people, and as a compiled function."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.calls import _checked
from kinetree.functions.rollouts import _ANY_LENGTH
from kinetree.model.extras import Actuator
from kinetree.spatial import Inertia, Sym3, Vec3

ROBOT = kt.zoo.load("double_pendulum")
RNG = np.random.default_rng(12)
REST = np.zeros(2)
DT = 0.01


def state(*leading: int) -> tuple[np.ndarray, np.ndarray]:
    return RNG.normal(size=(*leading, 2)), RNG.normal(size=(*leading, 2))


def torques(*shape: int) -> np.ndarray:
    return RNG.normal(size=(*shape, 2))


def stepwise(q: Any, v: Any, tau: np.ndarray, dt: Any = DT) -> np.ndarray:
    """Step after step, by the public functions."""
    states = []
    for step in range(tau.shape[-2]):
        v = v + dt * kt.aba(ROBOT, q, v, tau[..., step, :])
        q = kt.integrate(ROBOT, q, dt * v)
        states.append(np.concatenate(np.broadcast_arrays(q, v), axis=-1))
    return np.stack(states, axis=-2)


# -- lengths


@pytest.mark.parametrize("total", [1, 2, 63, 64, 65, 130, 192])
def test_every_length_is_the_beginning_of_a_longer_one(total: int) -> None:
    (q, v), tau = state(3), torques(3, 200)
    longest = kt.rollout(ROBOT, q, v, tau, DT)
    states = kt.rollout(ROBOT, q, v, tau[:, :total], DT)
    assert states.shape == (3, total, 4)
    assert (states == longest[:, :total]).all()
    assert (kt.rollout(ROBOT, q[1], v[1], tau[1, :total], DT) == states[1]).all()


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_a_long_motion_is_two_shorter_ones(integrator: Any) -> None:
    (q, v), tau = state(), torques(100)
    whole = kt.rollout(ROBOT, q, v, tau, DT, integrator=integrator)
    first = kt.rollout(ROBOT, q, v, tau[:37], DT, integrator=integrator)
    second = kt.rollout(ROBOT, first[-1, :2], first[-1, 2:], tau[37:], DT, integrator=integrator)
    assert (whole == np.concatenate([first, second])).all()


def test_new_lengths_compile_nothing() -> None:
    (q, v), tau = state(), torques(200)
    kt.rollout(ROBOT, q, v, tau[:65], DT)
    kt.rollout(ROBOT, q[None], v, tau[:65], DT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kinetree.compiler.differentiation.Specialization", None)
        patch.setattr("kinetree.codegen.cpu.modules.compile_module", None)
        patch.setattr("kinetree.codegen.cpu.modules.found_module", None)
        for total in (0, 1, 5, 64, 130, 199):
            assert len(kt.rollout(ROBOT, q, v, tau[:total], DT)) == total
            assert kt.rollout(ROBOT, np.stack([q, q]), v, tau[:total], DT).shape == (2, total, 4)


@pytest.mark.parametrize("count", [(), (1,), (7,), (8,), (21,)])
@pytest.mark.parametrize("dtype", ["d", "f"])
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_as_many_steps_as_a_call_asks_are_those_of_a_kernel_made_for_them(
    count: tuple[int, ...], dtype: str, integrator: Any
) -> None:
    """To the bit, whether a sample is alone, in a full group of lanes or in the last one."""
    name = {"d": "float64", "f": "float32"}[dtype]
    for total in (1, 2, 5):
        f = kt.compile(ROBOT, kt.rollout, steps=total, integrator=integrator, dtype=name)
        given = [x.astype(dtype) for x in (*state(*count), torques(*count, total), np.full(count, DT))]
        expected = f(*given)
        states = kt.rollout(ROBOT, *given, integrator=integrator)
        assert states.dtype == expected.dtype
        np.testing.assert_array_equal(states, expected)


@pytest.mark.parametrize("unroll", [True, False])
def test_a_robot_with_quaternions_rolls_out_written_out_and_in_loops(*, unroll: bool) -> None:
    """Its configuration has more numbers than its velocity."""
    robot = kt.zoo.load("cart_pole", floating_base=True)
    q = np.stack([robot.random(RNG) for _ in range(11)])
    v, tau = RNG.normal(size=(11, robot.nv)), RNG.normal(size=(11, 7, robot.nv))
    expected = kt.compile(robot, kt.rollout, steps=7, unroll=unroll)(q, v, tau, np.full(11, DT))
    of_any_length = _checked(_ANY_LENGTH, robot, {"integrator": "semi_implicit_euler"}, (), (), "float64", unroll)
    np.testing.assert_array_equal(of_any_length(q, v, tau, DT), expected)
    np.testing.assert_array_equal(of_any_length(q[3], v[3], tau[3], DT), expected[3])


def test_a_single_motion_that_ends_nowhere_warns_of_nothing() -> None:
    (q, v), tau = state(), torques(3)
    tau[1] = np.inf
    with np.errstate(all="raise"):
        assert not np.isfinite(kt.rollout(ROBOT, q, v, tau, DT)[1:]).all()
    with pytest.warns(RuntimeWarning, match="invalid value encountered in rollout"):
        kt.rollout(ROBOT, q[None], v, tau, DT)


def test_no_steps_give_no_states() -> None:
    nothing = torques(0)
    assert kt.rollout(ROBOT, REST, REST, nothing, DT).shape == (0, 4)
    assert kt.rollout(ROBOT, np.zeros((5, 1, 2)), REST, nothing, np.full(3, DT)).shape == (5, 3, 0, 4)
    single = kt.rollout(ROBOT, REST.astype("f"), REST.astype("f"), nothing.astype("f"), DT)
    assert single.dtype == np.float32
    out = np.empty((0, 4))
    assert kt.rollout(ROBOT, REST, REST, nothing, DT, out=out) is out


def test_no_steps_are_checked_as_others_are() -> None:
    nothing = torques(0)
    with pytest.raises(kt.errors.ShapeError, match="q has shape"):
        kt.rollout(ROBOT, np.zeros(3), REST, nothing, DT)
    with pytest.raises(kt.errors.OptionError, match="there is no integrator 'euler'"):
        kt.rollout(ROBOT, REST, REST, nothing, DT, integrator="euler")  # type: ignore[arg-type]
    with pytest.raises(kt.errors.NameNotFoundError, match="no frame 'nowhere'"):
        kt.rollout(ROBOT, REST, REST, nothing, DT, {"nowhere": np.zeros(6)})
    with pytest.raises(kt.errors.DTypeError, match="out must be a NumPy array, not list"):
        kt.rollout(ROBOT, REST, REST, nothing, DT, out=[])  # type: ignore[arg-type]
    with pytest.raises(kt.errors.ShapeError, match=r"out has shape \(7, 0, 4\), but the result has \(0, 4\)"):
        kt.rollout(ROBOT, REST, REST, nothing, DT, out=np.empty((7, 0, 4)))


# -- leading axes and dtypes


def test_leading_axes_broadcast() -> None:
    q, v, tau, dt = np.ones((4, 1, 2)), RNG.normal(size=(3, 2)), torques(4, 1, 66), np.array([0.001, 0.002, 0.003])
    states = kt.rollout(ROBOT, q, v, tau, dt)
    assert states.shape == (4, 3, 66, 4)
    for i in range(4):
        for k in range(3):
            assert (states[i, k] == kt.rollout(ROBOT, q[i, 0], v[k], tau[i, 0], dt[k])).all()


def test_what_alone_has_leading_axes_makes_the_batch() -> None:
    one = {"q": REST, "v": REST, "tau": torques(3), "dt": np.array(DT)}
    for name, value in one.items():
        states = kt.rollout(ROBOT, **{**one, name: np.stack([value] * 5)})
        assert states.shape == (5, 3, 4)
        assert (states == kt.rollout(ROBOT, **one)).all()
    pushed = kt.rollout(ROBOT, **one, f_ext={"tip": np.ones((5, 6))}, parameters={"gravity": np.ones((2, 1, 3))})
    assert pushed.shape == (2, 5, 3, 4)


def test_no_motions_give_no_states() -> None:
    assert kt.rollout(ROBOT, np.zeros((0, 2)), REST, torques(70), DT).shape == (0, 70, 4)
    assert kt.rollout(ROBOT, REST, REST, np.zeros((0, 3, 2)), DT).shape == (0, 3, 4)


def test_each_motion_may_have_steps_of_its_own_length() -> None:
    (q, v), tau, dt = state(6), torques(6, 10), RNG.uniform(0.0, 0.02, 6)
    np.testing.assert_allclose(kt.rollout(ROBOT, q, v, tau, dt), stepwise(q, v, tau, dt[:, None]), rtol=0, atol=1e-13)


def test_float32_in_gives_float32_out() -> None:
    (q, v), tau = state(5), torques(5, 66)
    single = [x.astype(np.float32) for x in (q, v, tau)]
    states = kt.rollout(ROBOT, *single, DT)
    assert states.dtype == np.float32
    np.testing.assert_allclose(states, kt.rollout(ROBOT, *single, np.float64(DT)), rtol=1e-3, atol=1e-3)
    assert kt.rollout(ROBOT, *single, np.float32(DT)).dtype == np.float32
    assert kt.rollout(ROBOT, *single, np.full(5, DT)).dtype == np.float64
    assert kt.rollout(ROBOT, q, *single[1:], DT).dtype == np.float64


def test_lists_and_integers_are_taken_for_numbers() -> None:
    tau = [[0, 1], [1, 0], [0, 0]]
    expected = kt.rollout(ROBOT, REST, REST, np.array(tau, float), 1.0)
    assert (kt.rollout(ROBOT, [0, 0], [0, 0], tau, 1) == expected).all()


def test_arguments_are_left_as_they_were() -> None:
    arrays = [*state(3), torques(3, 66), np.full(3, DT)]
    before = [x.copy() for x in arrays]
    kt.rollout(ROBOT, *arrays)
    assert all((a == b).all() for a, b in zip(arrays, before, strict=True))


# -- forces, parameters, threads


def test_external_forces_act_at_every_step() -> None:
    (q, v), tau, push = state(4), torques(4, 66), {"tip": RNG.normal(size=(4, 6))}
    states = kt.rollout(ROBOT, q, v, tau, DT, push)
    for step in (0, 1, 64, 65):
        before = np.concatenate([q, v], axis=-1) if step == 0 else states[:, step - 1]
        a = kt.aba(ROBOT, before[:, :2], before[:, 2:], tau[:, step], push)
        np.testing.assert_allclose(states[:, step, 2:], before[:, 2:] + DT * a, rtol=1e-12, atol=1e-12)


def test_parameters_hold_at_every_step() -> None:
    (q, v), tau = state(4), torques(4, 66)
    given = {"gravity": RNG.normal(size=3), "body.lower_rod.mass": np.linspace(0.5, 2.0, 4)}
    states = kt.rollout(ROBOT, q, v, tau, DT, parameters=given)
    last = states[:, -2]
    a = kt.aba(ROBOT, last[:, :2], last[:, 2:], tau[:, -1], parameters=given)
    np.testing.assert_allclose(states[:, -1, 2:], last[:, 2:] + DT * a, rtol=1e-12, atol=1e-12)
    own = {name: ROBOT.parameter(name) for name in given}
    np.testing.assert_allclose(
        kt.rollout(ROBOT, q, v, tau, DT, parameters=own), kt.rollout(ROBOT, q, v, tau, DT), rtol=0, atol=1e-10
    )


def test_threads_change_no_bit() -> None:
    (q, v), tau = state(301), torques(301, 66)
    expected = kt.rollout(ROBOT, q, v, tau, DT, threads=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kinetree.compiler.batch_pieces._PIECE", 1e-8)
        for threads in (2, 3, 4, None):
            assert (kt.rollout(ROBOT, q, v, tau, DT, threads=threads) == expected).all()
    with pytest.raises(kt.errors.OptionError, match="threads must be a whole number from 1"):
        kt.rollout(ROBOT, q, v, tau, DT, threads=0)


# -- out=


@pytest.mark.parametrize("total", [1, 63, 64, 65, 130])
@pytest.mark.parametrize("leading", [(), (5,), (2, 3)])
def test_out_receives_the_states_and_is_returned(total: int, leading: tuple[int, ...]) -> None:
    (q, v), tau = state(*leading), torques(*leading, total)
    expected = kt.rollout(ROBOT, q, v, tau, DT)
    for out in (
        np.full_like(expected, np.nan),
        np.full((*expected.shape, 2), np.nan)[..., 1],
        np.full(expected.shape, np.nan, order="F"),
        np.full_like(expected, np.nan)[..., ::-1, ::-1],
    ):
        assert kt.rollout(ROBOT, q, v, tau, DT, out=out) is out
        assert (out == expected).all()


def test_out_may_lie_on_the_arguments() -> None:
    """Even where a later step's torque stands in an earlier step's place."""
    memory = RNG.normal(size=(132, 4))
    tau = memory[:130, ::2]
    (q, v), expected = state(), None
    expected = kt.rollout(ROBOT, q, v, tau.copy(), DT)
    for out in (memory[2:], memory[:130]):
        memory_before = memory.copy()
        kt.rollout(ROBOT, q, v, tau, DT, out=out)
        assert (out == expected).all()
        memory[:] = memory_before
    push = memory[5, :2].repeat(3)
    memory[100] = 0.01
    expected = kt.rollout(ROBOT, q, v, tau.copy(), memory[100, 0].copy(), {"tip": push})
    kt.rollout(ROBOT, q, v, tau, memory[100, 0:1].reshape(()), {"tip": push}, out=memory[:130])
    assert (memory[:130] == expected).all()


@pytest.mark.parametrize("total", [1, 3, 64, 66])
@pytest.mark.parametrize(
    ("shape", "dtype"), [((5,), "d"), ((2, 4), "d"), ((), "d"), ((5, 4), "d"), ((4,), "f"), ((4,), "i8")]
)
def test_an_out_that_does_not_fit_is_refused(total: int, shape: tuple[int, ...], dtype: str) -> None:
    out = np.empty((total, *shape) if shape != (2, 4) else (2, total, 4), dtype)
    error = kt.errors.ShapeError if dtype == "d" else kt.errors.DTypeError
    with pytest.raises(error, match=r"rollout: out has .*, but the result (has|is) ") as caught:
        kt.rollout(ROBOT, REST, REST, torques(total), DT, out=out)
    if dtype == "d":
        assert str(out.shape) in str(caught.value)
        assert f"({total}, 4)" in str(caught.value)


def test_an_out_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(kt.errors.ShapeError, match="rollout: out is read-only"):
        kt.rollout(ROBOT, REST, REST, torques(3), DT, out=np.broadcast_to(0.0, (3, 4)))
    with pytest.raises(kt.errors.DTypeError, match="rollout: out must be a NumPy array, not list"):
        kt.rollout(ROBOT, REST, REST, torques(3), DT, out=[[0.0] * 4] * 3)  # type: ignore[arg-type]


# -- errors


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"tau": REST}, kt.errors.ShapeError, r"rollout: tau has shape \(2,\), .* needs \(…, T, 2\), one row per step"),
        ({"tau": 0.0}, kt.errors.ShapeError, r"rollout: tau has shape \(\), .* needs \(…, T, 2\), one row per step"),
        ({"tau": np.zeros((3, 3))}, kt.errors.ShapeError, r"rollout: tau has shape \(3, 3\), .* needs \(…, T, 2\)"),
        ({"tau": "none"}, kt.errors.DTypeError, r"tau must be an array of real numbers of shape \(…, T, 2\)"),
        ({"tau": None}, kt.errors.DTypeError, "tau must be an array of real numbers"),
        ({"tau": [[0.0], [0.0, 0.0]]}, kt.errors.DTypeError, "tau must be an array of real numbers"),
        (
            {"q": np.zeros(3)},
            kt.errors.ShapeError,
            r"rollout: q has shape \(3,\), but 'double_pendulum' needs \(…, 2\)",
        ),
        ({"v": np.zeros((2, 1))}, kt.errors.ShapeError, r"rollout: v has shape \(2, 1\), .* needs \(…, 2\)"),
        (
            {"q": np.zeros((3, 2)), "v": np.zeros((4, 2))},
            kt.errors.ShapeError,
            "the leading axes do not broadcast together",
        ),
        ({"dt": "soon"}, kt.errors.DTypeError, r"dt must be an array of real numbers of shape \(…\)"),
        ({"dt": None}, kt.errors.OptionError, "not of one: give dt in s"),
        (
            {"dt": np.full(2, DT), "q": np.zeros((3, 2))},
            kt.errors.ShapeError,
            r"do not broadcast together: .* dt \(2,\)",
        ),
        (
            {"integrator": "euler"},
            kt.errors.OptionError,
            "there is no integrator 'euler': did you mean 'symplectic_euler' or ",
        ),
        ({"integrator": ["rk4"]}, kt.errors.OptionError, r"integrator must be .*, not \['rk4'\]"),
        ({"integrator": 4}, kt.errors.OptionError, "integrator must be .*, not 4"),
        ({"f_ext": np.zeros(6)}, kt.errors.DTypeError, "rollout: f_ext must be a dict from frame names"),
        ({"f_ext": {"tipp": np.zeros(6)}}, kt.errors.NameNotFoundError, "no frame 'tipp': did you mean 'tip'"),
        ({"f_ext": {"tip": np.zeros((4, 5))}}, kt.errors.ShapeError, r"f_ext\['tip'\] has shape \(4, 5\)"),
        ({"parameters": ["gravity"]}, kt.errors.DTypeError, "rollout: parameters must be a dict"),
        ({"parameters": {"mass": 1.0}}, kt.errors.NameNotFoundError, "no parameter 'mass'"),
        ({"robot": "double_pendulum"}, kt.errors.DTypeError, "the first argument must be a robot .* not str"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(change: dict[str, Any], error: type[Exception], words: str) -> None:
    given = {"robot": ROBOT, "q": REST, "v": REST, "tau": torques(3), "dt": DT, **change}
    with pytest.raises(error, match=words):
        kt.rollout(**given)


def test_a_zero_quaternion_is_refused_where_it_stands() -> None:
    robot = kt.zoo.load("cart_pole", floating_base=True)
    q = np.stack([robot.neutral()] * 3)
    q[2, 3:7] = 0.0
    v = np.zeros(robot.nv)
    with pytest.raises(kt.errors.ConfigurationError, match=r"q\[2\]: the quaternion of joint 'root_joint' .* is zero"):
        kt.rollout(robot, q, v, np.zeros((2, robot.nv)), DT)
    with pytest.raises(kt.errors.ConfigurationError, match=r"the quaternion of joint 'root_joint' .* is zero"):
        kt.rollout(robot, q[2], v, np.zeros((2, robot.nv)), DT)


def test_what_is_no_number_stays_in_its_motion_and_after_its_step() -> None:
    (q, v), tau = state(5), torques(5, 66)
    clean = kt.rollout(ROBOT, q, v, tau, DT)
    tau[3, 30] = np.nan
    with np.errstate(invalid="ignore"):
        states = kt.rollout(ROBOT, q, v, tau, DT)
    others = np.arange(5) != 3
    assert (states[others] == clean[others]).all()
    assert (states[3, :30] == clean[3, :30]).all()
    assert np.isnan(states[3, 30:]).all()


# -- robots of other kinds


def bare(name: str, *bodies: str) -> kt.ModelBuilder:
    builder = kt.ModelBuilder(name)
    for body in bodies:
        builder.add_body(body, Inertia.from_com(1.0, Vec3(0.0, 0.0, 1.0), Sym3.scalar(0.1)) if body == "a" else None)
    return builder


@pytest.mark.parametrize("total", [0, 1, 64, 70])
def test_a_robot_without_joints_has_states_without_numbers(total: int) -> None:
    rock = bare("rock", "a").build()
    nothing = np.zeros(0)
    assert kt.rollout(rock, nothing, nothing, np.zeros((total, 0)), DT).shape == (total, 0)
    assert kt.rollout(rock, nothing, nothing, np.zeros((3, total, 0)), [[DT], [DT]]).shape == (2, 3, total, 0)
    out = np.empty((total, 0))
    assert kt.rollout(rock, nothing, nothing, np.zeros((total, 0)), DT, out=out) is out
    with pytest.raises(kt.errors.ShapeError, match=r"tau has shape .* needs \(…, T, 0\)"):
        kt.rollout(rock, nothing, nothing, np.zeros((total, 1)), DT)
    f = kt.compile(rock, kt.rollout, steps=3)
    assert f(nothing, nothing, np.zeros((3, 0)), DT).shape == (3, 0)


def test_a_joint_that_moves_nothing_is_named() -> None:
    builder = bare("hollow", "base", "tip")
    builder.add_joint("wrist", kt.Revolute([1, 0, 0]), "base", "tip")
    robot = builder.build()
    with pytest.raises(
        kt.errors.SingularModelError, match="rollout: joint 'wrist' of 'hollow' moves nothing that has mass"
    ):
        kt.rollout(robot, [0.0], [0.0], [[0.0]], DT)


# -- compiled


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
@pytest.mark.parametrize("unroll", [True, False, None])
def test_compile_gives_all_steps_in_one_kernel(integrator: Any, unroll: bool | None) -> None:
    f = kt.compile(ROBOT, kt.rollout, steps=7, integrator=integrator, unroll=unroll)
    (q, v), tau = state(9), torques(9, 7)
    dt = np.full(9, DT)
    expected = kt.rollout(ROBOT, q, v, tau, DT, integrator=integrator)
    np.testing.assert_allclose(f(q, v, tau, dt), expected, rtol=0, atol=1e-13)
    out = np.empty((7, 4))
    assert f(q[2], v[2], tau[2], dt[2], out=out) is out
    assert (out == f(q, v, tau, DT)[2]).all()
    assert f(q[2], v[2], tau[2], np.array(DT)).tolist() == out.tolist()
    assert repr(f.__self__) == "<rollout(q[2], v[2], tau[7, 2], dt[]) compiled for 'double_pendulum', float64>"


def test_a_compiled_rollout_takes_forces_and_parameters_last() -> None:
    f = kt.compile(ROBOT, kt.rollout, steps=3, f_ext=["tip"], parameters=["gravity"])
    (q, v), tau, push, gravity = state(4), torques(4, 3), np.ones(6), np.array([0.0, 0.0, -1.0])
    expected = kt.rollout(ROBOT, q, v, tau, DT, {"tip": push}, parameters={"gravity": gravity})
    assert (f(q, v, tau, DT, push, gravity) == expected).all()


def test_a_compiled_rollout_says_what_does_not_fit() -> None:
    f = kt.compile(ROBOT, kt.rollout, steps=3)
    with pytest.raises(kt.errors.ShapeError, match=r"rollout: tau has shape \(4, 2\), but .* needs \(…, 3, 2\)"):
        f(REST, REST, torques(4), DT)
    with pytest.raises(kt.errors.DTypeError, match=r"rollout takes 4 arrays \(q, v, tau, dt\), not 3"):
        f(REST, REST, torques(3))
    with pytest.raises(kt.errors.ShapeError, match=r"out has shape \(2, 4\), but the result has \(3, 4\)"):
        f(REST, REST, torques(3), DT, out=np.empty((2, 4)))


def test_compile_without_steps_says_that_they_are_missing() -> None:
    with pytest.raises(
        kt.errors.OptionError, match="steps must be a whole number from 1 to 1000000, such as steps=100"
    ):
        kt.compile(ROBOT, kt.rollout)


@pytest.mark.parametrize("steps", [0, -1, 1.0, 3.0, "3", True, False, [3], None, 1_000_001, 10**18, np.float64(3)])
def test_what_is_no_number_of_steps_is_refused_whatever_was_compiled_before(steps: Any) -> None:
    kt.compile(ROBOT, kt.rollout, steps=1)
    kt.compile(ROBOT, kt.rollout, steps=3)
    with pytest.raises(kt.errors.OptionError, match="steps must be a whole number from 1 to 1000000"):
        kt.compile(ROBOT, kt.rollout, steps=steps)


def test_steps_may_be_a_number_of_numpys() -> None:
    assert kt.compile(ROBOT, kt.rollout, steps=np.int64(3)) is kt.compile(ROBOT, kt.rollout, steps=3)


def test_only_a_rollout_has_steps() -> None:
    with pytest.raises(kt.errors.OptionError, match="aba has no option 'steps'"):
        kt.compile(ROBOT, kt.aba, steps=3)
    with pytest.raises(
        kt.errors.OptionError, match=r"there is no integrator 'leapfrog': available: .*'semi_implicit_euler', "
    ):
        kt.compile(ROBOT, kt.rollout, steps=3, integrator="leapfrog")


def test_a_very_long_kernel_is_compiled_as_quickly_as_a_short_one() -> None:
    f = kt.compile(ROBOT, kt.rollout, steps=5000)
    q, v = state()
    tau = torques(5000)
    assert (f(q, v, tau, np.array(1e-3)) == kt.rollout(ROBOT, q, v, tau, 1e-3)).all()
    assert len(f.__self__.program.body.statements) < 100


MJCF = """<mujoco><option timestep="0.004" integrator="{integrator}"/><worldbody>
  <body name="arm"><joint name="hinge" axis="0 1 0" damping="0.3"/><geom name="rod" type="capsule" size="0.05 0.3"
    pos="0.3 0 0"/></body>
</worldbody></mujoco>"""


def of_file(folder: Path, integrator: str) -> kt.Model:
    path = folder / "arm.xml"
    path.write_text(MJCF.format(integrator=integrator), encoding="utf-8")
    return kt.load(path)


@pytest.mark.parametrize(
    ("integrator", "own"), [("Euler", "semi_implicit_euler"), ("RK4", "rk4"), ("implicitfast", "implicitfast")]
)
def test_the_integrator_and_the_step_are_those_of_an_mjcf_file(tmp_path: Path, integrator: str, own: str) -> None:
    robot = of_file(tmp_path, integrator)
    q, v, tau = np.array([0.4]), np.array([1.0]), np.full((5, 1), 0.2)
    explicit: Any = {"integrator": own, "passive": True}
    expected = kt.rollout(robot, q, v, tau, 0.004, **explicit)
    assert (kt.rollout(robot, q, v, tau, passive=True) == expected).all()
    assert (kt.compile(robot, kt.rollout, steps=5, passive=True)(q, v, tau, 0.004) == expected).all()

    @kt.program(q=robot, v=1)
    def hold(q, v):  # type: ignore[no-untyped-def]
        return {"tau": 0.2 - 0.1 * q - 0.1 * v}

    states = kt.rollout(robot, q, v, hold, steps=5, passive=True).states
    assert (states == kt.rollout(robot, q, v, hold, 0.004, steps=5, **explicit).states).all()
    (motor := kt.ModelBuilder.of(robot)).extras = replace(
        robot.extras, actuators=(Actuator("motor", "joint", "hinge"),)
    )
    robot, ctrl = motor.build(), np.full((5, 1), 0.3)
    driven = kt.rollout(robot, q, v, None, ctrl=ctrl)
    assert (driven == kt.rollout(robot, q, v, None, 0.004, ctrl=ctrl, integrator=own)).all()  # type: ignore[call-overload]
    assert (driven == kt.sim.actuated_rollout(robot, q, v, None, np.zeros((5, 1)), ctrl, 0.004)).all()


def test_an_integrator_of_a_file_that_kinetree_does_not_have_is_named(tmp_path: Path) -> None:
    robot = of_file(tmp_path, "implicit")
    with pytest.raises(kt.errors.OptionError, match="asks for the integrator 'implicit', which kinetree does not have"):
        kt.rollout(robot, [0.4], [1.0], np.zeros((5, 1)))
    kt.rollout(robot, [0.4], [1.0], np.zeros((5, 1)), integrator="implicitfast")


def test_a_robot_that_is_not_of_an_mjcf_file_needs_a_step() -> None:
    robot = kt.zoo.load("double_pendulum")
    with pytest.raises(kt.errors.OptionError, match=r"'double_pendulum' is not of one: give dt in s, such as dt=0.001"):
        kt.rollout(robot, robot.neutral(), np.zeros(2), np.zeros((5, 2)))
    tau = np.zeros((5, 2))
    own = kt.rollout(robot, robot.neutral() + 0.3, np.zeros(2), tau, 0.001)
    assert (
        own == kt.rollout(robot, robot.neutral() + 0.3, np.zeros(2), tau, 0.001, integrator="semi_implicit_euler")
    ).all()


def test_forces_where_there_is_no_motor_can_be_refused() -> None:
    robot = kt.zoo.load("quadruped")
    tau = np.zeros((2, 3, robot.nv))
    kt.rollout(robot, robot.neutral(), np.zeros(robot.nv), tau, 0.001, on_unactuated="error")
    tau[1, 2, 0] = 1.0
    kt.rollout(robot, robot.neutral(), np.zeros(robot.nv), tau, 0.001)
    with pytest.raises(kt.errors.ActuationError, match=r"tau\[1, 2, 0\] is 1"):
        kt.rollout(robot, robot.neutral(), np.zeros(robot.nv), tau, 0.001, on_unactuated="error")
    with pytest.raises(kt.errors.OptionError, match='on_unactuated must be "allow" or "error"'):
        kt.rollout(robot, robot.neutral(), np.zeros(robot.nv), tau, 0.001, on_unactuated="deny")  # type: ignore[call-overload]

    @kt.program(q=robot)
    def hold(q):  # type: ignore[no-untyped-def]
        return {"tau": 0.0 * q[: robot.nv]}

    with pytest.raises(kt.errors.OptionError, match="multiply those of a controller by"):
        kt.rollout(robot, robot.neutral(), np.zeros(robot.nv), hold, 0.001, steps=2, on_unactuated="error")


# -- where forces were evaluated


def test_forces_are_evaluated_last_at_the_fourth_stage_of_rk4() -> None:
    (q, v), tau = state(3), torques(3, 4)
    states, at_q, at_v, at_qdd = kt.rollout(ROBOT, q, v, tau, DT, integrator="rk4", report="evaluated")
    assert (states == kt.rollout(ROBOT, q, v, tau, DT, integrator="rk4")).all()
    q, v = states[:, 1, :2], states[:, 1, 2:]  # the third step by hand
    a1 = kt.aba(ROBOT, q, v, tau[:, 2])
    v2 = v + 0.5 * DT * a1
    a2 = kt.aba(ROBOT, q + 0.5 * DT * v, v2, tau[:, 2])
    v3 = v + 0.5 * DT * a2
    a3 = kt.aba(ROBOT, q + 0.5 * DT * v2, v3, tau[:, 2])
    q4, v4 = q + DT * v3, v + DT * a3
    assert np.allclose(at_q[:, 2], q4, rtol=0, atol=1e-14)
    assert np.allclose(at_v[:, 2], v4, rtol=0, atol=1e-13)
    assert np.allclose(at_qdd[:, 2], kt.aba(ROBOT, q4, v4, tau[:, 2]), rtol=1e-12)


def test_forces_of_contacts_are_those_of_where_they_were_evaluated() -> None:
    world = kt.ModelBuilder("world")
    world.add_body("world")
    robot = world.build().with_free_body("box", (0.2, 0.2, 0.2), mass=1.0).on_ground()
    q, v, tau = np.array([0.0, 0.0, 0.11, 0.0, 0.0, 0.0, 1.0]), np.zeros(6), np.zeros((100, 6))
    given: dict[str, Any] = {"contact": True}

    @kt.program(q=robot, v=robot.nv, tau=tau.shape)
    def moved(q: Any, v: Any, tau: Any) -> Any:
        return kt.rollout(robot, q, v, tau, 0.002, report="evaluated", **given)

    found = kt.rollout(robot, q, v, tau, 0.002, report="evaluated", **given)
    for own, inside in zip(found, moved(q, v, tau), strict=True):
        assert (own == inside).all()
    before = np.concatenate([np.concatenate([q, v])[None], found.states[:-1]])
    assert (np.concatenate([found.q, found.v], axis=-1) == before).all()  # Euler's method
    solved = kt.contact_dynamics(robot, found.q, found.v, tau).qdd
    assert np.allclose(found.qdd, solved, rtol=0, atol=1e-8)
    assert kt.contact.contact_forces(robot, found.q, found.v, found.qdd).forces[-1, :, 2].sum() > 5.0


@pytest.mark.parametrize("options", [{"integrator": "midpoint"}, {"out": np.zeros((1, 4))}, {"report": "evaluate"}])
def test_where_forces_were_evaluated_is_not_always_known(options: dict[str, Any]) -> None:
    with pytest.raises(kt.errors.OptionError, match="evaluated"):
        kt.rollout(ROBOT, REST, REST, np.zeros((1, 2)), DT, **{"report": "evaluated", **options})


def test_a_controller_does_not_say_where_forces_were_evaluated() -> None:
    still = kt.program(lambda q: 0.0 * q, q=ROBOT)
    with pytest.raises(kt.errors.OptionError, match="report must be True"):
        kt.rollout(ROBOT, REST, REST, still, DT, steps=1, report="evaluated")  # type: ignore[call-overload]

"""Derivatives of programs: against complex steps, differences, and derivatives of kinetree's own functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.derived_source import DerivedSource
from tests.kernels import interpreted

ARM, PENDULUM, QUADRUPED = map(kt.zoo.load, ("arm6", "double_pendulum", "quadruped"))
RNG = np.random.default_rng(5)
Q, V, W = RNG.normal(size=(3, 6))
X, Y = RNG.normal(size=(2, 3))


@kt.program(q=ARM, v=ARM.nv, target=ARM.nq, gain=())
def spring(q: Any, v: Any, target: Any, gain: Any = 300.0) -> Any:
    return gain * (target - q) - 2.0 * np.sqrt(gain) * v + kt.bias_forces(ARM, q, v)


@kt.program(x=3, y=3, s=())
def plain(x: Any, y: Any, s: Any) -> Any:
    """It takes complex numbers."""
    A = np.stack([x, y, np.cross(x, y) + np.array([1.0, 0.0, 2.0])])
    z = A @ A.T @ (np.tanh(s * x) + np.exp(0.1 * y))
    return np.sin(z) * np.sqrt(x @ x) / (1.0 + s * s) + np.log(2.0 + np.cos(z[::-1])) * y[0]


class Parts(NamedTuple):
    force: Any
    cost: Any


@dataclass
class Record:
    hand: Any
    parts: Parts


@kt.program(q=QUADRUPED, other=QUADRUPED, x=3, steps=int, near=bool)
def several(q: Any, other: Any, x: Any, steps: Any, near: Any) -> Any:
    away = kt.difference(QUADRUPED, q, other)
    weighted = np.where(near, 2.0, 0.5) * away * steps
    position = kt.frame_placement(QUADRUPED, q, "front_left_foot")[:3, 3] - x
    return Record(position, Parts(weighted, {"half square": 0.5 * weighted @ away + x @ x, "reached": x > 0.0}))


def complex_steps(function: Callable[..., Any], arguments: tuple[Any, ...], k: int) -> Any:
    """The derivative of a function by its argument k, from functions of complex numbers."""
    columns = []
    for index in np.ndindex(np.shape(arguments[k])):
        moved = [np.array(x, complex) for x in arguments]
        moved[k][index] += 1e-30j
        columns.append(np.asarray(function(*moved)).imag / 1e-30)
    return np.stack(columns, -1).reshape((*columns[0].shape, *np.shape(arguments[k])))


def differences(value: Callable[[Any], Any], size: int, step: float = 1e-5) -> Any:
    """The derivative of value(displacement) at zero, from central differences of fourth order."""
    columns = []
    for unit in np.eye(size) * step:
        near, far = (value(k * unit) - value(-k * unit) for k in (1, 2))
        columns.append((8.0 * near - far) / (12.0 * step))
    return np.stack(columns, -1)


# -- the four functions


@pytest.mark.parametrize("name", ["x", "y", "s"])
def test_a_jacobian_is_that_of_complex_steps(name: str) -> None:
    arguments = (X, Y, 0.7)
    expected = complex_steps(plain.function, arguments, ["x", "y", "s"].index(name))
    found = kt.jacobian(plain, arguments, wrt=name)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_all_modes_agree_with_the_jacobian() -> None:
    arguments = (X, Y, 0.7)
    J = kt.jacobian(plain, arguments, wrt=["s", "x"])
    assert list(J) == ["s", "x"]
    value, change = kt.jvp(plain, arguments, {"x": Y, "s": 2.0})
    np.testing.assert_allclose(value, plain.function(*arguments), rtol=1e-12)
    np.testing.assert_allclose(change, J["x"] @ Y + 2.0 * J["s"], rtol=1e-12)
    value, gradient = kt.vjp(plain, arguments, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(value, plain.function(*arguments), rtol=1e-12)
    assert list(gradient) == ["x", "y", "s"]
    np.testing.assert_allclose(gradient["x"], [1.0, 2.0, 3.0] @ J["x"], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(gradient["s"], [1.0, 2.0, 3.0] @ J["s"], rtol=1e-12, atol=1e-14)
    change = kt.hvp(plain, arguments, [1.0, 2.0, 3.0], {"x": Y}, wrt=["y", "s"])
    assert list(change) == ["y", "s"]

    def gradients(d: Any) -> Any:
        found = kt.vjp(plain, (X + d * Y, Y, 0.7), [1.0, 2.0, 3.0], wrt=["y", "s"])[1]
        return np.array([*found["y"], found["s"]])

    np.testing.assert_allclose(
        [*change["y"], change["s"]], differences(lambda d: gradients(d[0]), 1, 1e-3)[:, 0], rtol=1e-7
    )


def test_matrices_by_arguments_of_one_shape_and_of_several_come_from_one_program() -> None:
    each = {name: kt.jacobian(plain, (X, Y, 0.7), wrt=name) for name in "xys"}
    for names in (["y", "x"], ["x", "s"], ["s", "y", "x"]):
        found = kt.jacobian(plain, (X, Y, 0.7), wrt=names)
        assert list(found) == names
        for name in names:
            np.testing.assert_allclose(found[name], each[name], rtol=1e-13, atol=1e-15)


def test_a_program_of_one_function_has_its_derivatives() -> None:
    arguments = {"q": Q, "v": V, "target": W}
    J = kt.jacobian(spring, arguments, wrt=["q", "v", "gain"])
    by_q = kt.jacobian(ARM, kt.bias_forces, (Q, V), wrt="q")
    np.testing.assert_allclose(J["q"], by_q - 300.0 * np.eye(6), rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(J["gain"], W - Q - V / np.sqrt(300.0), rtol=1e-12, atol=1e-13)
    assert (kt.jacobian(spring, (Q, V, W), wrt="gain") == J["gain"]).all()


# -- configurations


def test_a_configuration_is_displaced_and_an_array_of_its_numbers_is_not() -> None:
    q, v = QUADRUPED.random(RNG), RNG.normal(size=QUADRUPED.nv)

    @kt.program(q=QUADRUPED, v=QUADRUPED.nv)
    def displaced(q: Any, v: Any) -> Any:
        return 0.5 * v @ kt.crba(QUADRUPED, q) @ v

    @kt.program(q=QUADRUPED.nq, v=QUADRUPED.nv)
    def counted(q: Any, v: Any) -> Any:
        return 0.5 * v @ kt.crba(QUADRUPED, q) @ v

    expected = kt.jacobian(QUADRUPED, kt.kinetic_energy, (q, v), wrt="q")
    by_q = kt.jacobian(displaced, (q, v), wrt="q")
    assert by_q.shape == (QUADRUPED.nv,)
    np.testing.assert_allclose(by_q, expected, rtol=1e-12, atol=1e-13)
    by_numbers = kt.jacobian(counted, (q, v), wrt="q")
    assert by_numbers.shape == (QUADRUPED.nq,)
    unit = np.zeros(QUADRUPED.nv)
    for k in range(QUADRUPED.nv):
        unit[:] = np.arange(QUADRUPED.nv) == k
        rates = kt.kinematics.coordinate_rates(QUADRUPED, q, unit)
        np.testing.assert_allclose(by_numbers @ rates, expected[k], rtol=1e-10, atol=1e-12)
    weighted = kt.vjp(displaced, (q, v), 2.0)[1]["q"], kt.vjp(QUADRUPED, kt.kinetic_energy, (q, v), 2.0)[1]["q"]
    np.testing.assert_allclose(*weighted, rtol=1e-12, atol=1e-12)
    changes = [
        kt.hvp(*f, (q, v), 2.0, {"q": v}, wrt=["q", "v"])  # type: ignore[call-overload]
        for f in ((displaced,), (QUADRUPED, kt.kinetic_energy))
    ]
    for name in "qv":
        np.testing.assert_allclose(changes[0][name], changes[1][name], rtol=1e-11, atol=1e-11)


def test_several_results_come_in_their_form() -> None:
    q, other, x = QUADRUPED.random(RNG), QUADRUPED.random(RNG), np.array([0.5, -1.0, 0.25])
    arguments, nv = (q, other, x, 3, True), QUADRUPED.nv
    J = kt.jacobian(several, arguments, wrt=["q", "x"])
    by_q, by_x = J["q"], J["x"]
    assert type(by_q) is Record
    assert type(by_q.parts) is Parts
    foot = kt.frame_jacobian(QUADRUPED, q, "front_left_foot", expressed_in="local_world_aligned")[:3]
    np.testing.assert_allclose(by_q.hand, foot, atol=1e-13)
    along = 6.0 * kt.kinematics.difference_jacobian(QUADRUPED, q, other, wrt="q0")
    np.testing.assert_allclose(by_q.parts.force, along, atol=1e-12)
    assert by_q.parts.cost["half square"].shape == (nv,)
    assert by_q.parts.cost["reached"].shape == (3, nv)
    assert not by_q.parts.cost["reached"].any()
    np.testing.assert_allclose(by_x.hand, -np.eye(3), atol=1e-15)
    np.testing.assert_allclose(by_x.parts.cost["half square"], 2.0 * x, atol=1e-13)

    d = RNG.normal(size=nv)
    value, change = kt.jvp(several, arguments, {"other": d})
    assert type(value) is type(change) is Record
    assert value.parts.cost["reached"].tolist() == [True, False, True]
    by_other = kt.jacobian(several, arguments, wrt="other")
    np.testing.assert_allclose(change.parts.force, by_other.parts.force @ d, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(change.parts.cost["half square"], by_other.parts.cost["half square"] @ d, rtol=1e-12)

    w, u = RNG.normal(size=3), RNG.normal(size=nv)
    expected = w @ by_q.hand + u @ by_q.parts.force + 0.5 * by_q.parts.cost["half square"]
    weights = Record(w, Parts(u, {"half square": 0.5}))
    value, gradient = kt.vjp(several, arguments, weights, wrt="q")
    assert type(value) is Record
    np.testing.assert_allclose(gradient["q"], expected, rtol=1e-11, atol=1e-12)
    gradient = kt.vjp(several, arguments, {"parts": (u, None)}, wrt="q")[1]
    np.testing.assert_allclose(gradient["q"], u @ by_q.parts.force, rtol=1e-11, atol=1e-12)
    changes = kt.hvp(several, arguments, Record(None, Parts(None, {"half square": 1.0})), {"x": x}, wrt="x")
    np.testing.assert_allclose(changes["x"], 2.0 * x, rtol=1e-13)


# -- batches, dtypes, threads


def test_batches_broadcast() -> None:
    q, v = RNG.normal(size=(4, 1, 6)), RNG.normal(size=(5, 6))
    J = kt.jacobian(spring, (q, v, W), wrt=["q", "gain"])
    assert (J["q"].shape, J["gain"].shape) == ((4, 5, 6, 6), (4, 5, 6))
    np.testing.assert_allclose(J["q"][2, 3], kt.jacobian(spring, (q[2, 0], v[3], W), wrt="q"), rtol=1e-12, atol=1e-11)
    value, change = kt.jvp(spring, (q[:, 0], V, W), {"q": v[:, None]})
    assert value.shape == change.shape == (5, 4, 6)
    value, gradient = kt.vjp(spring, (q[:, 0], V, W), v[:, None], wrt=["v", "gain"])
    assert (value.shape, gradient["v"].shape, gradient["gain"].shape) == ((5, 4, 6), (5, 4, 6), (5, 4))
    one, two = (kt.jacobian(spring, (np.tile(Q, (3000, 1)), V, W), wrt="v", threads=k) for k in (1, 2))
    assert (one == two).all()
    x = RNG.normal(size=(7, 3))
    found = kt.jacobian(several, (QUADRUPED.neutral(), QUADRUPED.neutral(), x, 2, False), wrt="x")
    assert found.hand.shape == (7, 3, 3)
    assert found.parts.cost["half square"].shape == (7, 3)
    weights = Record(np.ones((2, 1, 3)), Parts(None, {"half square": np.ones(7)}))
    gradient = kt.vjp(several, (QUADRUPED.neutral(), QUADRUPED.neutral(), x, 2, False), weights, wrt="x")[1]
    assert gradient["x"].shape == (2, 7, 3)


def test_float32_in_gives_float32_out() -> None:
    single = [a.astype(np.float32) for a in (X, Y)]
    for wrt in ("x", "s"):
        found, expected = (
            kt.jacobian(plain, (*single, 0.7), wrt=wrt),
            kt.jacobian(plain, (*single, np.float64(0.7)), wrt=wrt),
        )
        assert (found.dtype, expected.dtype) == (np.float32, np.float64)
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)
    assert kt.jvp(plain, (*single, 0.7), {"x": single[1]})[1].dtype == np.float32
    assert kt.jvp(plain, (*single, 0.7), {"x": Y})[1].dtype == np.float64
    value, gradient = kt.vjp(plain, (*single, 0.7), single[0])
    assert (value.dtype, gradient["y"].dtype) == (np.float32, np.float32)
    assert kt.vjp(plain, (*single, 0.7), X)[0].dtype == np.float64


# -- errors

REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a wrong name": (
        lambda: kt.jacobian(spring, (Q, V, W), wrt="gian"), kt.errors.NameNotFoundError,
        "spring cannot be differentiated by 'gian': did you mean 'gain'? (its arguments of real numbers are q, v, ",
    ),
    "a wrong tangent": (
        lambda: kt.jvp(spring, (Q, V, W), {"d_q": Q}), kt.errors.NameNotFoundError,
            "spring cannot be differentiated by 'd_q'",
    ),
    "whole numbers": (
        lambda: kt.jacobian(several, {}, wrt="steps"), kt.errors.DTypeError,
            "several takes 5 arrays (q, other, x, steps,",
    ),
    "truth values": (
        lambda: kt.jacobian(chosen, (1, True, 0.5), wrt="near"), kt.errors.OptionError,
        "chosen cannot be differentiated by 'near', which holds booleans; its arguments of real numbers are x",
    ),
    "counts": (
        lambda: kt.jvp(chosen, (1, True, 0.5), {"n": 1.0}), kt.errors.OptionError,
        "chosen cannot be differentiated by 'n', which holds whole numbers",
    ),
    "a count that is none": (
        lambda: kt.jacobian(chosen, (1.5, True, 0.5), wrt="x"), kt.errors.DTypeError,
            "chosen: n holds whole numbers, and 1.5",
    ),
    "a program after a robot": (
        lambda: kt.jacobian(ARM, spring, (Q, V, W), wrt="q"), kt.errors.DTypeError,
        "the program 'spring' knows its robots: give it without one, as in kt.jacobian(spring, (q, v, target, gain)",
    ),
    "a Python function": (
        lambda: kt.jacobian(lambda q: q, (Q,), wrt="q"), kt.errors.DTypeError,
            "is not a program yet: make it one with @kt.pr",
    ),
    "forces": (
        lambda: kt.jvp(spring, (Q, V, W), {"q": Q}, f_ext={"tool": Q}), kt.errors.OptionError,
        "spring is a program, which has no f_ext=: leave it out",
    ),
    "an option": (
        lambda: kt.jvp(spring, (Q, V, W), {"q": Q}, frame="tool"), kt.errors.OptionError,
            "spring is a program, which has no",
    ),
    "arguments in one array": (
        lambda: kt.jvp(spring, Q, {"q": Q}), kt.errors.DTypeError,
        "spring: arguments must be a tuple of its own (q, v, target, gain), not one array",
    ),
    "an argument too few": (
        lambda: kt.jvp(spring, (Q, V), {"q": Q}), kt.errors.DTypeError,
            "spring takes 4 arrays (q, v, target, gain); tar",
    ),
    "a wrong argument": (
        lambda: kt.jvp(spring, {"q": Q, "vv": V}, {"q": Q}), kt.errors.DTypeError,
            "spring has no argument 'vv': did you mean",
    ),
    "an argument of the wrong shape": (
        lambda: kt.jvp(spring, (Q, V[:5], W), {"q": Q}), kt.errors.ShapeError,
        "jvp of spring: v has shape (5,), but the program needs (…, 6)",
    ),
    "a direction of the wrong shape": (
        lambda: kt.jvp(spring, (Q, V, W), {"q": Q[:5]}), kt.errors.ShapeError,
        "jvp of spring: d_q has shape (5,), but the program needs (…, 6)",
    ),
    "weights of the wrong shape": (
        lambda: kt.vjp(spring, (Q, V, W), 1.0), kt.errors.ShapeError,
            "spring: weights have shape (), but the result has (…",
    ),
    "weights without form": (
        lambda: kt.vjp(chosen, (1, True, 0.5), 1.0), kt.errors.ShapeError,
        "chosen: weights must be in the form of the result, dict of a, b, and have type float; parts that are None",
    ),
    "weights of another form": (
        lambda: kt.vjp(chosen, (1, True, 0.5), (1.0,)), kt.errors.ShapeError,
        "chosen: weights must be in the form of the result, dict of a, b, and have 1 parts",
    ),
    "weights of a part that is none": (
        lambda: kt.vjp(chosen, (1, True, 0.5), {"aa": 1.0}), kt.errors.NameNotFoundError,
        "chosen: weights have no part 'aa': did you mean 'a'",
    ),
    "weights that do not broadcast": (
        lambda: kt.vjp(chosen, (1, True, 0.5), {"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0]}), kt.errors.ShapeError,
        "chosen: the leading axes of weights do not broadcast together: weights['a'] (2,), weights['b'] (3,)",
    ),
    "nothing to differentiate by": (
        lambda: kt.vjp(counted, (3,), 1.0), kt.errors.OptionError, "counted: wrt must name each argument once, and",
    ),
    "a matrix by nothing": (
        lambda: kt.jacobian(spring, (Q, V, W), wrt=None),  # type: ignore[call-overload]
        kt.errors.OptionError, "jacobian: wrt must be a name or a list of names, not None",
    ),
    "a zero quaternion": (
        lambda: kt.jacobian(several, (np.zeros(QUADRUPED.nq), QUADRUPED.neutral(), X, 1, True), wrt="x"),
        kt.errors.ConfigurationError, "q",
    ),
}  # fmt: skip


@kt.program(n=int, near=bool, x=())
def chosen(n: Any, near: Any, x: Any) -> Any:
    return {"a": np.where(near, n * x, x), "b": x * x}


@kt.program(n=int)
def counted(n: Any) -> Any:
    return 2.0 * n


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name: str) -> None:
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=re.escape(message)):
        call()


# -- what is kept


def test_machine_code_is_kept_by_what_is_differentiated_and_how() -> None:
    @kt.program(q=QUADRUPED.nq, other=QUADRUPED, x=3, steps=int, near=bool)
    def counted(q: Any, other: Any, x: Any, steps: Any, near: Any) -> Any:
        return several.function(q, other, x, steps, near)

    def key(program: kt.programs.Program, *how: Any) -> bytes | None:
        return program.compiled("float64", *how).source.key()

    keys = [
        key(several, "jacobian", ("q",)),
        key(several, "jacobian", ("other",)),
        key(several, "jvp", ("q",)),
        key(several, "vjp", ("q", "x")),
        key(several, "hvp", ("q",), ("x",)),
        key(several, "hvp", ("q",), ("q",)),
        key(counted, "jacobian", ("q",)),
        several.compiled("float64").source.key(),
    ]
    assert None not in keys
    assert len(set(keys)) == len(keys)
    again = kt.program(several.function, q=QUADRUPED, other=QUADRUPED, x=3, steps=int, near=bool)
    assert key(again, "hvp", ("q",), ("x",)) == keys[4]


def test_threads_that_ask_at_once_differentiate_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    derivative_of = DerivedSource.derivative_of

    def noted(self: DerivedSource, base: Any) -> Any:
        made.append(self)
        return derivative_of(self, base)

    monkeypatch.setattr(DerivedSource, "derivative_of", noted)
    fresh = kt.program(plain.function, x=3, y=3, s=())
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: kt.jacobian(fresh, (X, Y, 0.25), wrt=["x", "s"])["x"], range(8)))
    assert len(made) <= 1  # none, if the code was on the disk
    assert all((x == found[0]).all() for x in found)


def test_zeros_of_a_jacobian_are_known_where_each_result_depends_on_few_numbers() -> None:
    """Of 96 residuals by 60 directions: more than a program writes out, unless it knows what is zero."""
    weights = np.linspace(1.0, 2.0, 2 * QUADRUPED.nv)

    @kt.program(q=QUADRUPED, v=QUADRUPED.nv, u=24)
    def residuals(q: Any, v: Any, u: Any) -> Any:
        away = np.concatenate([kt.difference(QUADRUPED, QUADRUPED.neutral(), q), v])
        beyond = np.maximum(away - 1.0, 0.0)
        return np.concatenate([weights * away, beyond, np.sin(u)])

    @kt.program(q=QUADRUPED, v=QUADRUPED.nv, u=24)
    def gauss_newton(q: Any, v: Any, u: Any) -> Any:
        by = kt.jacobian(residuals, (q, v, u), wrt=["q", "v", "u"])
        J = np.hstack([by["q"], by["v"], by["u"]])
        return J.T @ J

    with interpreted():
        compiled: Any = gauss_newton.compile()
        assert compiled.__self__.program.operation_counts().total() < 1000
        rng = np.random.default_rng(5)
        q, v, u = QUADRUPED.random(rng), rng.normal(size=QUADRUPED.nv), rng.normal(size=24)
        columns = [
            kt.jvp(residuals, (q, v, u), {name: unit})[1]
            for name, size in (("q", QUADRUPED.nv), ("v", QUADRUPED.nv), ("u", 24))
            for unit in np.eye(size)
        ]
        J = np.stack(columns, axis=1)
        np.testing.assert_allclose(gauss_newton(q, v, u), J.T @ J, rtol=1e-12, atol=1e-12)

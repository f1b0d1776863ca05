"""Derivatives inside programs: of kinetree's functions and of other programs, and derivatives of such programs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.unit.programs.test_derivatives import differences

PENDULUM, ARM, QUADRUPED = map(kt.zoo.load, ("double_pendulum", "arm6", "quadruped"))
RNG = np.random.default_rng(6)
Q, V, TAU = RNG.normal(size=(3, 2))


@kt.program(q=ARM, target=3)
def reaching(q: Any, target: Any) -> Any:
    away = kt.frame_placement(ARM, q, "tool")[:3, 3] - target
    return 0.5 * away @ away + 0.05 * q @ q


@kt.program(q=ARM, target=3)
def newton(q: Any, target: Any) -> Any:
    gradient = kt.vjp(reaching, (q, target), 1.0, wrt="q")[1]["q"]
    rows = [kt.hvp(reaching, (q, target), 1.0, {"q": unit}, wrt="q")["q"] for unit in np.eye(6)]
    return gradient, q - np.linalg.solve(np.stack(rows) + 0.1 * np.eye(6), gradient)


@kt.program(q=ARM, target=3)
def slope(q: Any, target: Any) -> Any:
    return kt.jacobian(reaching, (q, target), wrt="q")


@kt.program(q=PENDULUM, v=2, tau=2)
def everything(q: Any, v: Any, tau: Any) -> Any:
    by_q = kt.jacobian(PENDULUM, kt.aba, (q, v, tau), wrt="q")
    several = kt.jacobian(
        PENDULUM, kt.kinematics.frame_velocity, (q, v), wrt=["q", "v"], frame="tip", expressed_in="local"
    )
    value, along = kt.jvp(PENDULUM, kt.crba, (q,), {"q": v})
    same, gradient = kt.vjp(PENDULUM, kt.aba, (q, v, tau), tau)
    change = kt.hvp(PENDULUM, kt.rnea, (q, v, tau), tau, {"q": v, "v": tau}, wrt=["q", "qdd"])
    return by_q, several, value, along, same, gradient, change


def leaves(x: Any) -> list[Any]:
    if isinstance(x, dict):
        return [leaf for part in x.values() for leaf in leaves(part)]
    return [leaf for part in x for leaf in leaves(part)] if isinstance(x, tuple) else [x]


def assert_equal(found: Any, expected: Any, rtol: float = 1e-12, atol: float = 1e-12) -> None:
    for a, b in zip(leaves(found), leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


def test_derivatives_of_functions_are_inlined() -> None:
    assert_equal(everything(Q, V, TAU), everything.function(Q, V, TAU))
    assert everything.traced().program.is_straight


@pytest.mark.parametrize("function", [kt.aba, kt.crba])
def test_what_a_function_and_its_derivatives_have_in_common_is_computed_once(function: Any) -> None:
    """The value that a derivative computes beside itself is that of the function: it costs nothing more."""

    def operations(*modes: str) -> int:
        def written(q: Any, v: Any, tau: Any) -> Any:
            arguments = (q, v, tau) if function is kt.aba else (q,)
            weights = tau if function is kt.aba else np.outer(v, tau)
            found = {
                "function": lambda: function(ARM, *arguments),
                "jvp": lambda: kt.jvp(ARM, function, arguments, {"q": v}),
                "vjp": lambda: kt.vjp(ARM, function, arguments, weights),
                "hvp": lambda: kt.hvp(ARM, function, arguments, weights, {"q": v}, wrt="q")["q"],
            }
            return [found[mode]() for mode in modes]

        return kt.program(written, q=ARM, v=6, tau=6).operation_counts().total()

    for mode in ("jvp", "vjp"):
        assert operations("function", mode) == operations(mode)
    alone = sum(map(operations, ("jvp", "vjp", "hvp")))
    assert operations("jvp", "vjp", "hvp") < 0.7 * alone


def test_programs_and_their_derivatives_share_too() -> None:
    def both(q: Any, target: Any) -> Any:
        return reaching(q, target), kt.vjp(reaching, (q, target), 1.0)[1]["q"]

    def gradient(q: Any, target: Any) -> Any:
        return kt.vjp(reaching, (q, target), 1.0)[1]["q"]

    counts = [kt.program(f, q=ARM, target=3).operation_counts().total() for f in (both, gradient)]
    assert counts[0] <= counts[1] + 20  # the cost itself, which its gradient does not need


@pytest.mark.parametrize("plain", ["q", "v", "tau", "weights", "tangent"])
def test_numbers_and_symbols_mix(plain: str) -> None:
    given = {"q": Q, "v": V, "tau": TAU, "weights": V + 1.0, "tangent": TAU - 1.0}

    def mixed(**symbols: Any) -> Any:
        q, v, tau, weights, tangent = {**given, **symbols}.values()
        gradient = kt.vjp(PENDULUM, kt.aba, (q, v, tau), weights, wrt="q")[1]["q"]
        change = kt.hvp(PENDULUM, kt.aba, (q, v, tau), weights, {"v": tangent}, wrt="q")["q"]
        return gradient, change, kt.jacobian(PENDULUM, kt.bias_forces, (q, v), wrt="v")

    def one(x: Any) -> Any:
        return mixed(**{plain: x})

    def others(x: Any) -> Any:
        return mixed(**{name: x + 0.0 * given[name] for name in given if name != plain})

    assert_equal(kt.program(one, x=2)(given[plain]), mixed())
    assert_equal(kt.program(others, x=2)(Q), others(Q))


def test_lists_of_symbols_forces_and_parameters() -> None:
    def given(q: Any, mass: Any) -> Any:
        more: dict[str, Any] = {
            "f_ext": {"tip": [q[0], 0.0, 1.0, 0.0, q[1], 0.0]},
            "parameters": {"body.lower_rod.mass": mass, "gravity": [0.0, mass, -9.81]},
        }
        arguments = (q, [q[1], 0.5], [0.0, mass])
        value, gradient = kt.vjp(PENDULUM, kt.aba, arguments, [q[0], 1.0], **more)
        change = kt.jvp(PENDULUM, kt.aba, arguments, {"q": [1.0, q[0]], "f_ext.tip": [mass, 0, 0, 0, 0, 0]}, **more)[1]
        return value, gradient, change, kt.jacobian(PENDULUM, kt.aba, arguments, wrt="gravity", **more)

    assert_equal(kt.program(given, q=2, mass=())(Q, 1.5), given(Q, 1.5))


def test_numbers_of_constraints_can_be_symbols() -> None:
    def errors(q: Any, at: Any) -> Any:
        held = [kt.constraints.Contact("tip", at=at)]
        found = kt.jacobian(
            PENDULUM, kt.constraints.constraint_errors, (q,), wrt=["q", "constraints.0.at"], constraints=held
        )
        return list(found.values())

    found = kt.program(errors, q=2, at=3)(Q, [0.1, 0.0, 0.2])
    assert_equal(tuple(found), tuple(errors(Q, np.array([0.1, 0.0, 0.2]))))


def test_a_newton_step_is_a_program() -> None:
    q, target = RNG.normal(size=(5, 6)), np.array([0.3, 0.2, 0.4])
    gradient, stepped = newton(q, target)
    for k in range(5):
        assert_equal((gradient[k], stepped[k]), newton.function(q[k], target), 1e-10, 1e-11)
    for _ in range(30):
        gradient, q = newton(q, target)
    assert np.abs(gradient).max() < 1e-6


def test_second_derivatives_are_derivatives_of_programs_with_derivatives() -> None:
    q, target = RNG.normal(size=6), np.array([0.3, 0.2, 0.4])
    H = kt.jacobian(slope, (q, target), wrt="q")
    rows = [kt.hvp(reaching, (q, target), 1.0, {"q": unit}, wrt="q")["q"] for unit in np.eye(6)]
    np.testing.assert_allclose(H, rows, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(H, H.T, rtol=1e-11, atol=1e-12)
    d = RNG.normal(size=6)
    third = kt.hvp(slope, (q, target), d, {"q": d}, wrt="target")["target"]  # of dᵀ ∂cost/∂q, by target, along d
    mixed = differences(lambda s: d @ kt.jacobian(slope, (q + s[0] * d, target), wrt="target"), 1, 1e-3)
    np.testing.assert_allclose(third, mixed[:, 0], rtol=1e-7, atol=1e-10)


def test_a_backward_pass_over_a_horizon_is_a_program() -> None:
    """One pass of iterative LQR about a motion, with the linearised dynamics in the program."""

    @kt.program(q=2, v=2, u=2)
    def step(q: Any, v: Any, u: Any) -> Any:
        v_next = v + 0.05 * kt.aba(PENDULUM, q, v, u)
        return np.concatenate([q + 0.05 * v_next, v_next])

    @kt.program(x=(4, 4), u=(4, 2))
    def gains(x: Any, u: Any) -> Any:
        P, found = np.eye(4), []
        for k in reversed(range(4)):
            by = kt.jacobian(step, (x[k, :2], x[k, 2:], u[k]), wrt=["q", "v", "u"])
            A, B = np.concatenate([by["q"], by["v"]], axis=1), by["u"]
            K = np.linalg.solve(0.1 * np.eye(2) + B.T @ P @ B, B.T @ P @ A)
            P = np.eye(4) + A.T @ P @ (A - B @ K)
            found.append(K)
        return np.stack(found[::-1])

    x, u = RNG.normal(size=(4, 4)), RNG.normal(size=(4, 2))
    assert_equal(gains(x, u), gains.function(x, u), 1e-10, 1e-11)
    change = kt.jvp(gains, (x, u), {"x": np.eye(4)})[1]
    moved = differences(lambda s: gains(x + s[0] * np.eye(4), u), 1, 1e-4)[..., 0]
    np.testing.assert_allclose(change, moved, rtol=1e-6, atol=1e-8)


def test_configurations_are_displaced_inside_too() -> None:
    q, v = QUADRUPED.random(RNG), RNG.normal(size=QUADRUPED.nv)

    @kt.program(q=QUADRUPED)
    def height(q: Any) -> Any:
        return {"height": kt.center_of_mass(QUADRUPED, q)[2], "q": q}

    @kt.program(q=QUADRUPED, v=QUADRUPED.nv)
    def climbing(q: Any, v: Any) -> Any:
        by_q = kt.jacobian(height, (q,), wrt="q")
        value, change = kt.jvp(height, (q,), {"q": v})
        gradient = kt.vjp(height, (q,), {"height": 2.0})[1]["q"]
        return by_q["height"] @ v, change["height"], gradient @ v, change["q"], value["q"], by_q["q"]

    found = climbing(q, v)
    rate = kt.kinematics.center_of_mass_velocity(QUADRUPED, q, v)[2]
    rates = kt.kinematics.coordinate_rates(QUADRUPED, q, v)
    assert_equal(found[:5], (rate, rate, 2.0 * rate, rates, q))
    assert found[5].shape == (QUADRUPED.nq, QUADRUPED.nv)
    assert_equal(found[5] @ v, rates)
    assert_equal(climbing.function(q, v), found)
    by_q = kt.jacobian(climbing, (q, v), wrt="q")[0]
    expected = kt.jacobian(QUADRUPED, kt.kinematics.center_of_mass_velocity, (q, v), wrt="q")[2]
    np.testing.assert_allclose(by_q, expected, rtol=1e-10, atol=1e-12)


def test_the_trace_decides_the_dtype() -> None:
    q, target = RNG.normal(size=6).astype(np.float32), np.array([0.3, 0.2, 0.4], np.float32)
    found = slope(q, target)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, slope(q.astype(float), target), rtol=1e-4, atol=1e-5)
    assert kt.jacobian(slope, (q, target), wrt="q").dtype == np.float32


def test_samples_of_a_batch_inside_are_differentiated_one_by_one() -> None:
    @kt.program(q=(3, 6), target=3)
    def all_slopes(q: Any, target: Any) -> Any:
        value, gradient = kt.vjp(reaching, (q, target), 1.0)
        return value, gradient, kt.jacobian(reaching, (q, target), wrt="target")

    q, target = RNG.normal(size=(3, 6)), np.array([0.3, 0.2, 0.4])
    found = all_slopes(q, target)
    assert [x.shape for x in leaves(found)] == [(3,), (3, 6), (3, 3), (3, 3)]
    assert_equal(found, all_slopes.function(q, target))


# -- errors


def test_a_program_cannot_contain_its_own_derivative() -> None:
    @kt.program(x=3)
    def own(x: Any) -> Any:
        return kt.jacobian(own, (x,), wrt="x") @ x

    @kt.program(x=3)
    def other(x: Any) -> Any:
        return third(x)

    @kt.program(x=3)
    def third(x: Any) -> Any:
        return kt.vjp(other, (x,), x)[1]["x"]

    for program, name in ((own, "own"), (other, "other"), (third, "third")):
        with pytest.raises(kt.errors.ProgramError, match=f"the program '{name}' calls itself, which would never end"):
            program(np.ones(3))
        with pytest.raises(kt.errors.ProgramError, match="calls itself, which would never end"):
            kt.jacobian(program, (np.ones(3),), wrt="x")


def test_a_program_that_is_differentiated_takes_arrays_of_the_one_around_it_as_arguments() -> None:
    @kt.program(x=3, y=3)
    def around(x: Any, y: Any) -> Any:
        @kt.program(z=3)
        def product(z: Any) -> Any:
            return y @ z

        return kt.jacobian(product, (x,), wrt="z")

    with pytest.raises(
        kt.errors.ProgramError, match="differentiated in another takes what it needs of it as arguments"
    ):
        around(np.ones(3), np.ones(3))


def test_the_nearest_configuration_has_no_derivatives_by_symbols() -> None:
    held: dict[str, Any] = {"constraints": [kt.constraints.Contact("tip", at=[0.3, 0.0, 0.9])]}
    cases = [
        (
            lambda x: kt.jacobian(PENDULUM, kt.constraints.nearest_configuration, (x,), wrt="q", **held),
            "how many steps it takes",
        ),
        (
            lambda x: kt.jvp(PENDULUM, kt.constraints.nearest_configuration, (Q,), {"q": x}, **held),
            "a direction or weight",
        ),
        (lambda x: kt.vjp(PENDULUM, kt.constraints.nearest_configuration, (Q,), x, **held), "a direction or weight"),
    ]
    for function, message in cases:
        with pytest.raises(kt.errors.ProgramError, match=re.escape(message)):
            kt.program(function, x=2)(V)


def test_the_nearest_configuration_of_numbers_is_a_constant() -> None:
    held: dict[str, Any] = {"constraints": [kt.constraints.Contact("tip", at=[0.3, 0.0, 0.9])]}

    def scaled(x: Any) -> Any:
        return kt.jacobian(PENDULUM, kt.constraints.nearest_configuration, (Q,), wrt="q", **held) @ x

    np.testing.assert_allclose(kt.program(scaled, x=2)(V), scaled(V), rtol=1e-12, atol=1e-13)

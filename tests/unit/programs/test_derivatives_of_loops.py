"""Derivatives of programs with loops, memory and calls: the four modes agree with each other and with steps."""

from __future__ import annotations

from typing import Any

import numpy as np

import kinetree as kt
from kinetree.expr import Call, Loop
from tests.unit.programs.looping import leaves
from tests.unit.programs.test_derivatives import differences
from tests.unit.programs.test_derivatives_inside import reaching

PENDULUM, ARM, QUADRUPED = map(kt.zoo.load, ("double_pendulum", "arm6", "quadruped"))
RNG = np.random.default_rng(7)


def flat(x: Any) -> Any:
    return np.concatenate([leaf.ravel() for leaf in leaves(x)])


def statements(program: kt.programs.Program) -> set[type]:
    return {type(s) for s in program.traced().program.body.all_statements()}


def assert_all_modes_agree(program: kt.programs.Program, arguments: tuple[Any, ...], wrt: list[str]) -> None:
    """The value along a direction is that of differences, and the other modes agree with it."""
    declared = program.arguments
    direction = {name: RNG.normal(size=declared[name].direction) for name in wrt}

    def displaced(step: float) -> list[Any]:
        moved = []
        for (name, argument), x in zip(declared.items(), arguments, strict=True):
            change = step * direction.get(name, np.zeros(argument.direction))
            moved.append(x + change if argument.robot is None else argument.robot.integrate(x, change))
        return moved

    value, change = kt.jvp(program, arguments, direction)
    np.testing.assert_allclose(flat(value), flat(program(*arguments)), rtol=1e-12, atol=1e-13)
    steps = differences(lambda s: flat(program(*displaced(s[0]))), 1, 1e-3)[:, 0]
    np.testing.assert_allclose(flat(change), steps, rtol=1e-6, atol=1e-7)

    total: Any = 0.0
    matrices = {}
    for name, found in kt.jacobian(program, arguments, wrt=wrt).items():
        size = direction[name].size
        matrices[name] = np.concatenate([leaf.reshape(-1, size) for leaf in leaves(found)])
        total = total + matrices[name] @ direction[name].ravel()
    np.testing.assert_allclose(total, flat(change), rtol=1e-11, atol=1e-12)

    weights = {k: RNG.normal(size=leaf.shape) for k, leaf in enumerate(leaves(value))}
    given = tuple(weights.values()) if isinstance(value, tuple) else weights[0]
    same, gradient = kt.vjp(program, arguments, given, wrt=wrt)
    np.testing.assert_allclose(flat(same), flat(value), rtol=1e-12, atol=1e-13)
    for name in wrt:
        expected = flat(given) @ matrices[name]
        np.testing.assert_allclose(gradient[name].ravel(), expected, rtol=1e-11, atol=1e-12)

    changes = kt.hvp(program, arguments, given, direction, wrt=wrt)
    for name in wrt:
        steps = differences(lambda s, n=name: kt.vjp(program, displaced(s[0]), given, wrt=wrt)[1][n].ravel(), 1, 1e-3)
        np.testing.assert_allclose(changes[name].ravel(), steps[:, 0], rtol=1e-6, atol=1e-7)


def test_a_program_that_calls_a_loop_over_time() -> None:
    @kt.program(q=PENDULUM, v=2, tau=(4, 2))
    def moved(q: Any, v: Any, tau: Any) -> Any:
        end = kt.rollout(PENDULUM, q, v, np.sin(tau), 0.02)[..., -1, :]
        return end[:2] * np.cos(q), kt.kinetic_energy(PENDULUM, end[:2], end[2:])

    assert Call in statements(moved)
    assert_all_modes_agree(moved, (*RNG.normal(size=(2, 2)), RNG.normal(size=(4, 2))), ["q", "v", "tau"])


def test_a_program_that_loops_over_rows() -> None:
    @kt.program(q=PENDULUM, v=2, u=(5, 2), damping=())
    def driven(q: Any, v: Any, u: Any, damping: Any) -> Any:
        def step(state: Any, u: Any) -> Any:
            q, v = state
            v = v + 0.05 * kt.aba(PENDULUM, q, v, u - damping * v)
            return (q + 0.05 * v, v), np.concatenate([q, v])

        (q, v), rows = kt.programs.scan(step, (q, v), u)
        return rows, 0.5 * v @ v

    assert Loop in statements(driven)
    arguments = (*RNG.normal(size=(2, 2)), RNG.normal(size=(5, 2)), 0.3)
    assert_all_modes_agree(driven, arguments, ["q", "v", "u", "damping"])


def test_a_loop_that_displaces_a_configuration() -> None:
    @kt.program(q=QUADRUPED, target=3)
    def approached(q: Any, target: Any) -> Any:
        def step(_: Any, q: Any) -> Any:
            away = kt.frame_placement(QUADRUPED, q, "front_left_foot")[:3, 3] - target
            J = kt.frame_jacobian(QUADRUPED, q, "front_left_foot", expressed_in="local_world_aligned")[:3]
            return kt.integrate(QUADRUPED, q, -J.T @ np.linalg.solve(J @ J.T + 0.1 * np.eye(3), away))

        return kt.programs.fori(3, step, q)

    assert_all_modes_agree(approached, (QUADRUPED.random(RNG), np.array([0.3, 0.2, 0.1])), ["q", "target"])


def test_derivatives_in_a_loop_and_of_loops() -> None:
    @kt.program(x=3)
    def repeated(x: Any) -> Any:
        return kt.programs.fori(4, lambda _, y: 0.5 * np.sin(y) * x + y, x)

    @kt.program(x=3, q=ARM, target=3)
    def nested(x: Any, q: Any, target: Any) -> Any:
        J = kt.jacobian(repeated, (x,), wrt="x")
        gradient = kt.vjp(repeated, (x,), x)[1]["x"]
        change = kt.hvp(repeated, (x,), x, {"x": x})["x"]
        along = kt.programs.fori(2, lambda _, y: 0.1 * kt.jvp(repeated, (y,), {"x": y})[1], x)
        lower = kt.programs.fori(3, lambda _, q: q - 0.3 * kt.jacobian(reaching, (q, target), wrt="q"), q)
        return J, gradient, change, along, lower

    arguments = (0.3 * RNG.normal(size=3), RNG.normal(size=6), np.array([0.3, 0.2, 0.4]))
    for a, b in zip(leaves(nested(*arguments)), leaves(nested.function(*arguments)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)
    assert_all_modes_agree(nested, arguments, ["x", "q", "target"])

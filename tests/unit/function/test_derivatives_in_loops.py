"""Derivatives of programs that loop over bodies: the same as those written out, and no longer for longer robots."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.definition import Strategy
from kinetree.compiler.derived_source import DerivedSource
from kinetree.compiler.differentiation import derived, specialized
from kinetree.compiler.specialization import TIMES_AS_LONG, Specialization
from kinetree.expr import Program, TraceTooLongError, interpret, trace
from kinetree.expr.program import Port
from kinetree.model.external_forces import acting
from tests import functions

RNG = np.random.default_rng(2)


def hinges(count: int, base: Any = None) -> kt.Model:
    """A chain that turns about x, y and z in turn; on a joint of its own, if one is given."""
    builder = kt.ModelBuilder(f"hinges {count}")
    builder.add_body("root")
    builder.add_body("link 0", kt.solids.box(0.1, 0.2, 0.3, mass=1.0))
    builder.add_joint("base", base or kt.Revolute([0, 0, 1]), "root", "link 0")
    for k in range(1, count + 1):
        builder.add_body(
            f"link {k}", kt.solids.box(0.1, 0.12, 0.2, mass=1.0, placement=kt.lie.placement((0, 0.02, 0.1)))
        )
        axis = [float(n == k % 3) for n in range(3)]
        builder.add_joint(
            f"joint {k}", kt.Revolute(axis), f"link {k - 1}", f"link {k}", kt.lie.placement((0, 0.05, 0.2))
        )
    return builder.build()


def derivative(robot: kt.Model, function: Any, mode: str, unroll: bool | None) -> DerivedSource:
    definition = function.definition
    given = functions.options_of(function, list(robot.bodies)[-1])
    options = {name: check(robot, given.get(name)) for name, check in definition.options.items()}
    by = tuple(name for name, _ in definition.inputs)
    along = by[:1] if mode == "hvp" else ()
    made = specialized(derived(definition, mode, by, along), robot, options, (), (), unroll)
    assert isinstance(made, DerivedSource)
    return made


def length(program: Program) -> int:
    return sum(1 for _ in program.body.all_statements())


@pytest.mark.parametrize("name", ["joint_torque_regressor", "kinematic_hessian"])
def test_matrices_with_many_entries_loop_over_directions_and_bodies(name: str) -> None:
    """Written out, such a program would store each of its zeros by itself."""
    assert length(derivative(hinges(30), functions.EVERY[name], "jacobian", None).program()) < 10_000


def test_a_gradient_of_many_numbers_is_one_backward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Column by column it would be as many forward passes, which take long to trace."""
    monkeypatch.setattr(DerivedSource, "_by_columns", None)
    program = derivative(hinges(60), kt.kinetic_energy, "jacobian", None).program()
    assert program.is_straight


@pytest.mark.parametrize("mode", ["jvp", "vjp", "hvp", "jacobian"])
@pytest.mark.parametrize("name", ["aba", "crba", "frame_jacobian", "integrate", "centroidal_momentum_matrix"])
def test_loops_give_what_the_straight_line_gives(name: str, mode: str) -> None:
    robot, function = hinges(2, kt.Free()), functions.EVERY[name]
    straight, looped = (derivative(robot, function, mode, unroll) for unroll in (True, False))
    assert straight.inputs == looped.inputs
    values = [RNG.normal(size=port.size) for port in looped.inputs]
    programs = straight.program(), looped.program()
    meant, found = (interpret(program, *values)[0] for program in programs)
    np.testing.assert_allclose(found, meant, rtol=1e-9, atol=1e-9 * np.abs(meant).max())
    assert not programs[1].is_straight


@pytest.mark.parametrize("mode", ["jvp", "vjp", "jacobian"])
@pytest.mark.parametrize("name", ["crba", "aba", "mass_matrix_inverse"])
def test_a_longer_robot_makes_no_longer_program(name: str, mode: str) -> None:
    """So what there is to compile does not grow: neither statements, nor results that are handed on one by one."""
    function = functions.EVERY[name]
    programs = [derivative(hinges(count), function, mode, False).program() for count in (12, 24)]
    assert length(programs[1]) <= length(programs[0]) + 4 * 12  # inputs that are read one by one


def test_a_derivative_that_would_be_long_loops_although_its_function_does_not() -> None:
    robot = hinges(44)
    made = derivative(robot, kt.aba, "jvp", None)
    assert made.of.program().is_straight
    assert length(made.program()) < 3000
    assert derivative(hinges(12), kt.aba, "jvp", None).program().is_straight


def test_a_trace_that_will_be_too_long_is_given_up() -> None:
    def many(x: list[Any]) -> list[list[Any]]:
        for _ in range(100):
            x[0] = x[0] * x[0] + 1.0
        return [x]

    with pytest.raises(TraceTooLongError):
        trace(many, [Port("x", (1,))], [Port("y", (1,))], "many", most=50)
    assert trace(many, [Port("x", (1,))], [Port("y", (1,))], "many", most=500).is_straight


def test_a_robot_that_is_too_large_is_not_written_out_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def lower(*_: object) -> None:
        raise AssertionError("the straight line was traced to its end")

    monkeypatch.setattr(importlib.import_module("kinetree.expr.trace"), "lower", lower)
    short = replace(kt.crba.definition, strategy=Strategy(longest=200))  # type: ignore[attr-defined]
    assert not Specialization(short, hinges(12), {}, (), ()).program().is_straight


@pytest.mark.parametrize("function", [kt.dynamics.aba_derivatives, kt.dynamics.rnea_derivatives])
def test_second_derivatives_of_large_robots_are_of_their_first_ones(function: Any) -> None:
    robot = hinges(160)
    made = derivative(robot, function, "jvp", None)
    assert made.output.shape == (2, 3, robot.nv, robot.nv)
    assert isinstance(made.of, DerivedSource)
    assert made.of.name == function.definition.strategy.when_large.name


def test_second_derivatives_under_forces_that_turn_are_of_the_first_ones() -> None:
    """Their first derivatives are a derivative already, whose own loops are not those of the function."""
    robot, definition = hinges(8), kt.dynamics.aba_derivatives.definition  # type: ignore[attr-defined]
    options = {name: check(robot, None) for name, check in definition.options.items()}
    forces = (acting(robot.frames, kt.dynamics.WrenchOn("link 8", expressed_in="world")),)
    first, second = (
        specialized(of, robot, options, forces, (), None) for of in (definition, derived(definition, "jvp", ("q",)))
    )
    assert TIMES_AS_LONG * length(first.program()) > definition.strategy.longest
    values = {port.name: RNG.normal(size=port.size) for port in second.inputs}
    (found,) = interpret(second.program(), *values.values())
    (expected,) = interpret(first.program(), *(values[port.name] for port in first.inputs))
    np.testing.assert_allclose(found[: len(expected)], expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())

"""Programs with arrays that hold no numbers are interpreted, and give what they would with a kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import kinetree as kt
from kinetree.compiler.calls import run
from kinetree.compiler.without_kernel import run_rounds
from kinetree.expr import Port, trace
from kinetree.functions import rollouts
from kinetree.model.extras import Actuator, Extras


def test_rounds_go_on_from_the_state_that_the_last_one_left() -> None:
    def step(x: Any, nothing: Any, row: Any) -> list[list[Any]]:
        assert not len(nothing)
        return [[x[0] + row[0], 2.0 * x[1]]]

    program = trace(step, [Port("x", (2,)), Port("nothing", (0,)), Port("row", (1, 1))], [Port("y", (1, 2))], "rounds")
    result = np.empty((2, 3, 2))
    x, rows = np.array([[0.0, 1.0], [10.0, 3.0]]), np.array([[1.0], [2.0], [4.0]])
    run_rounds(program, [2], [0, 1], [x, np.zeros(0), rows], result)
    assert result.tolist() == [[[1, 2], [3, 4], [7, 8]], [[11, 6], [13, 12], [17, 24]]]


def test_a_rollout_whose_state_has_an_empty_part_is_that_of_the_kernel_without_it() -> None:
    builder = kt.ModelBuilder.of(kt.zoo.load("cart_pole"))
    builder.extras = Extras(actuators=(Actuator("push", "joint", "slider", gear=(10.0, 0, 0, 0, 0, 0)),))
    robot = builder.build()
    ctrl = np.random.default_rng(0).normal(size=(4, 5, 1))
    usual = kt.rollout(robot, np.zeros(2), np.zeros(2), None, 0.01, ctrl=ctrl)
    options = {name: x for name, x in rollouts.ACTUATED_ROLLOUT.options.items() if name != "steps"}
    definition = replace(rollouts.ACTUATED_ROLLOUT, options=options)  # of any number of steps, with activations
    given = np.zeros(2), np.zeros(2), np.zeros(0), np.zeros((5, 2)), ctrl, 0.01
    np.testing.assert_allclose(run(definition, robot, given, integrator="semi_implicit_euler"), usual, rtol=1e-13)

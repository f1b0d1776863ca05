"""One step, in every form: a rollout's, a simulation's with its stages in a loop, and stage by stage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.algorithms import INTEGRATORS
from kinetree.compiler.calls import compile_function
from kinetree.functions.steps import evaluation, stage_state, steps
from tests.strategies import State, law, moving_trees

Array = np.ndarray[Any, Any]

DT = 1e-3


def in_one_kernel(robot: kt.Model, state: State, integrator: str, unroll: bool, **switches: Any) -> Array:
    f = compile_function(robot, steps, integrator=integrator, unroll=unroll, **switches)
    row: Array = f(state.q, state.v, np.zeros(2), state.tau[None], np.array(DT))[0]
    return row


def stage_by_stage(robot: kt.Model, state: State, integrator: str, unroll: bool, **switches: Any) -> Array:
    evaluate = compile_function(robot, evaluation, integrator=integrator, unroll=unroll, **switches)
    q, v, h, past, powers = state.q, state.v, np.array([DT]), [], []
    for k in range(INTEGRATORS[integrator].stages):
        found = evaluate(q, v, state.tau, h)
        past += [q, v, found[: robot.nv]]
        powers.append(found[robot.nv :])
        after = compile_function(robot, stage_state(k + 1), integrator=integrator, unroll=unroll)(h, *past)
        q, v = np.split(after, [robot.nq])
    return np.concatenate([q, v, DT * np.array(INTEGRATORS[integrator].weights) @ np.array(powers)])


FORMS = [(form, unroll) for form in (in_one_kernel, stage_by_stage) for unroll in (True, False)]


@pytest.mark.parametrize("integrator", INTEGRATORS)
@law(4)
@given(moving_trees(max_joints=4), st.sampled_from(FORMS))
def test_every_form_of_a_step_is_that_of_a_rollout(
    integrator: Any, moving: tuple[kt.Model, State], form: tuple[Any, bool]
) -> None:
    robot, state = moving
    step, unroll = form
    expected = kt.rollout(robot, state.q, state.v, state.tau[None], DT, integrator=integrator, passive=True)[0]
    found = step(robot, state, integrator, unroll, passive=True)
    scale = max(1.0, DT * np.abs(kt.aba(robot, state.q, state.v, state.tau)).max(), np.abs(expected).max())
    np.testing.assert_allclose(found[:-2], expected, rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_every_form_exchanges_the_same_energy(integrator: Any) -> None:
    robot = kt.zoo.load("quadruped")
    rng = np.random.default_rng(2)
    state = State(robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv), rng.normal(size=robot.nv))
    first, *others = (form(robot, state, integrator, unroll, passive=True, limits=True) for form, unroll in FORMS)
    for other in others:
        np.testing.assert_allclose(other, first, rtol=0, atol=1e-12 * np.abs(first).max())
    assert (first[-2:] != 0.0).all()

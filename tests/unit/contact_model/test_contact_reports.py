"""Errors of contacts: how exactly each step of a rollout is solved, and the warning where it is not."""

from __future__ import annotations

import importlib
import warnings
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.convex_dynamics import Effort
from kinetree.functions.contact_reports import unsolved
from tests.closed_form.scenes import Array, Thing, contact, world
from tests.unit.sim.test_commands import turning_link

BOX = world(Thing("box", (0.2, 0.2, 0.1), contact(), inertia=0.01), ground=contact())


def start(robot: kt.Model, count: int, steps: int = 12) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    q, v, tau = np.tile(robot.neutral(), (count, 1)), rng.normal(size=(count, 6)), rng.normal(size=(count, steps, 6))
    q[:, 2] = 0.05
    return q, v, tau


def test_errors_are_reported_and_states_are_the_same() -> None:
    q, v, tau = start(BOX, 5)
    found = kt.rollout(BOX, q, v, tau, 0.001, contact=True, report=True)
    assert (found.states.shape, found.contact_error.shape) == ((5, 12, 13), (5, 12))
    assert (found.contact_error < 1e-10).all()
    assert (found.contact_error > 0.0).any()
    exact = kt.compile(BOX, kt.rollout, steps=12, contact=True, integrator="semi_implicit_euler")
    assert (found.states == exact(q, v, tau, 0.001)).all()
    assert (found.states == kt.rollout(BOX, q, v, tau, 0.001, contact=True)).all()


def test_errors_of_each_row_are_those_of_its_accelerations() -> None:
    q, v, tau = start(BOX, 1, 1)
    found = kt.rollout(BOX, q[0], v[0], tau[0], 0.001, contact=True, report=True)
    alone = kt.contact_dynamics(BOX, q[0], v[0], tau[0, 0], passive=False)
    assert found.contact_error[0] == pytest.approx(alone.error, rel=0.5, abs=1e-14)


def test_results_go_where_they_are_wanted() -> None:
    q, v, tau = start(BOX, 3)
    out = np.empty((3, 12, 13))
    found = kt.rollout(BOX, q, v, tau, 0.001, contact=True, report=True, out=out)
    assert found.states is out
    assert (out == kt.rollout(BOX, q, v, tau, 0.001, contact=True)).all()
    assert kt.rollout(BOX, q, v, tau, 0.001, contact=True, out=out) is out
    with pytest.raises(kt.errors.ShapeError, match="out has shape"):
        kt.rollout(BOX, q, v, tau[:, :5], 0.001, contact=True, out=out)
    nothing = kt.rollout(BOX, q, v, tau[:, :0], 0.001, contact=True, report=True)
    assert (nothing.states.shape, nothing.contact_error.shape) == ((3, 0, 13), (3, 0))


def test_single_precision_stays_single_and_is_not_warned_of() -> None:
    q, v, tau = (x.astype(np.float32) for x in start(BOX, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kt.rollout(BOX, q, v, tau, np.float32(0.001), contact=True, report=True)
    assert found.states.dtype == found.contact_error.dtype == np.float32


def test_steps_that_are_not_solved_are_warned_of() -> None:
    """With a search of one iteration, of a box that no other test has."""
    robot = world(Thing("box", (0.21, 0.22, 0.1), contact(), inertia=0.012), ground=contact())
    q, v, tau = start(robot, 4)
    with (
        patch.object(importlib.import_module("kinetree.algorithms.contact_dynamics"), "Effort", lambda: Effort(1, 1)),
        pytest.warns(
            kt.errors.SimulationWarning, match=r"rollout: the contacts of \d+ of 48 steps are not solved to 1e-08"
        ) as warned,
    ):
        found = kt.rollout(robot, q, v, tau, 0.001, contact=True, report=True)
    sample, step = (int(k) for k in np.unravel_index(found.contact_error.argmax(), (4, 12)))
    assert f"step {step} of sample [{sample}]" in str(warned[0].message)
    assert warned[0].filename == __file__


def test_what_is_said_of_errors() -> None:
    assert unsolved(np.full((2, 3), 1e-9)) is None
    assert unsolved(np.full((2, 3), np.nan)) is None
    assert unsolved(np.empty((2, 0))) is None
    text = unsolved(np.array([[1e-12, np.nan], [3e-4, 1e-5]]))
    assert text == (
        "the contacts of 2 of 4 steps are not solved to 1e-08: the worst is step 0 of sample [1], with a relative "
        "error of 0.0003; smaller steps help, a lower impratio, or less friction (`kinetree docs contact`)"
    )
    text = unsolved(np.array([[1e-12, np.nan], [3e-4, np.inf]]))
    assert text is not None
    assert "there is room for, in 1 of 4 steps, from step 1 of sample (1,) on, so that some of them do not push" in text


def test_reports_are_asked_for_by_true() -> None:
    q, v, tau = start(BOX, 1)
    with pytest.raises(kt.errors.OptionError, match="report must be True, for"):
        kt.rollout(BOX, q, v, tau, 0.001, contact=True, report=1)  # type: ignore[call-overload]


def test_without_contacts_no_step_is_flagged() -> None:
    q, v, tau = start(BOX, 3)
    found = kt.rollout(BOX, q, v, tau, 0.001, report=True)
    np.testing.assert_array_equal(found.states, kt.rollout(BOX, q, v, tau, 0.001))
    assert not found.contact_error.any()
    assert not found.flagged.any()


@kt.program(q=1, v=1, gain=())
def servo(q: Any, v: Any, gain: Any) -> Any:
    return np.clip(gain * (40.0 * (0.3 - q) - v), -15.0, 15.0)


@pytest.mark.parametrize("contact", [False, True])
def test_a_controller_that_steps_do_not_resolve_is_flagged_with_sample_and_step(contact: bool) -> None:
    """h d / I is 0.4 in the first motion, and 37 in the second."""
    robot, gain = turning_link(2.7e-6), np.array([1e-3, 0.1])
    with pytest.warns(
        kt.errors.SimulationWarning, match=r"rollout: \d+ of 100 steps make energy, from step \d of sample \(1,\)"
    ):
        found = kt.rollout(
            robot, [0.0], [0.0], servo, 1e-3, steps=50, arguments={"gain": gain}, contact=contact, report=True
        )
    flagged = found.recorded["flagged"]
    assert flagged.sum(axis=-1)[1] >= 5
    assert not flagged[0].any()


def test_servos_that_steps_do_not_resolve_are_flagged_and_those_at_the_end_of_steps_are_not() -> None:
    robot, ctrl = turning_link(2.7e-6).with_servos(4.0, 0.1), np.full((50, 1), 0.3)
    with pytest.warns(kt.errors.SimulationWarning, match=r"steps make energy, from step \d on: velocities turn around"):
        found = kt.rollout(robot, [0.0], [0.0], None, 1e-3, ctrl=ctrl, report=True, divide=False)
    assert abs(found.states[:, 1]).max() > 1e3
    assert found.flagged.sum() > 40
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for more in ({"integrator": "discrete"}, {"divide": True}):
            found = kt.rollout(robot, [0.0], [0.0], None, 1e-3, ctrl=ctrl, report=True, **more)
            assert not found.flagged.any()
            assert abs(found.states[-1, 0] - 0.3) < 0.05


def test_programs_take_steps_as_before() -> None:
    @kt.program(q=BOX, v=6, tau=(1, 6))
    def after(q: Any, v: Any, tau: Any) -> Any:
        return kt.rollout(BOX, q, v, tau, 0.001, contact=True)

    q, v, tau = start(BOX, 1, 1)
    np.testing.assert_allclose(
        after(q[0], v[0], tau[0]), kt.rollout(BOX, q[0], v[0], tau[0], 0.001, contact=True), rtol=1e-12, atol=1e-14
    )

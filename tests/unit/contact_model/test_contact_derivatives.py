"""Derivatives of contacts beside central differences, at states whose solution has converged; and what they cost."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.convex_dynamics import Effort
from kinetree.compiler.differentiation import derived, specialized
from kinetree.compiler.requests import resolved_options
from kinetree.contact_model import soft_constraints
from kinetree.expr.slopes import without_slopes
from kinetree.functions.gradient_softness import softened
from kinetree.functions.rollouts import ROLLOUT
from kinetree.model import Model
from tests.closed_form.scenes import Array, Thing, contact, world

NAMES = ("friction", "solref", "margin", "placement")


def ball() -> Model:
    """An elliptic cone with sliding and torsion."""
    own = contact((0.4, 0.01, 0.0), condim=4, solref=(0.01, 0.9), solimp=(0.8, 0.95, 0.01, 0.5, 2.0))
    return world(Thing("sphere", (0.1,), own), ground=contact((0.3, 0.005, 0.0), solref=(0.02, 1.0)))


def rod() -> Model:
    """Two contacts with pyramids, on a capsule that a hinge holds above its stop."""
    own = contact((0.4, 0.0, 0.0), solref=(-800.0, -30.0), margin=0.002)
    return world(Thing("capsule", (0.05, 0.4), own), ground=contact((0.3, 0.0, 0.0)), cone="pyramidal")


STATES = {  # height above rest, velocity
    "sticking": (-0.002, (0.001, 0.0005, -0.01, 0.0, 0.0, 0.0)),
    "sliding": (-0.002, (0.9, 0.4, -0.05, 0.3, -0.2, 0.5)),
    "separating": (-0.002, (0.1, 0.05, 1.5, 0.3, 0.2, 0.1)),
    "apart": (0.05, (0.1, 0.05, 0.2, 0.3, 0.2, 0.1)),
}


class Case(NamedTuple):
    """A robot, its states, and the numbers that it is differentiated by."""

    robot: Model
    q: Array
    v: Array
    tau: Array
    parameters: dict[str, Array]
    f_ext: dict[str, Array]


def case(robot: Model, height: float) -> Case:
    q, v = np.tile(robot.neutral(), (len(STATES), 1)), np.zeros((len(STATES), robot.nv))
    for k, (above, velocity) in enumerate(STATES.values()):
        q[k, 2], v[k] = height + above, velocity
    if height < 0.1:  # the rod lies down
        q[:, 3:7] = np.array([0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5)])
    names = [f"shape.{shape}.{number}" for shape in ("floor", "thing0[0]") for number in NAMES]
    given = {name: robot.parameter(name) for name in ["shape.thing0[0].size", *names]}
    tau = np.random.default_rng(1).normal(size=v.shape) * 0.1
    return Case(robot, q, v, tau, given, {"thing0": np.array([0.1, -0.2, 0.3, 0.01, 0.02, -0.01])})


CASES = {"ball": (ball, 0.1), "rod": (rod, 0.05)}


@pytest.fixture(scope="module", params=CASES)
def on(request: pytest.FixtureRequest) -> Case:
    make, height = CASES[request.param]
    return case(make(), height)


def values(on: Case, function: Any, changed: dict[str, Array], more: Sequence[Any], **options: Any) -> Array:
    """The function where some arguments are others."""
    at = {"q": on.q, "v": on.v, "tau": on.tau, **on.parameters, "f_ext.thing0": on.f_ext["thing0"], **changed}
    given = {name: at[name] for name in on.parameters}
    tau = at["tau"][..., None, :] if function is kt.rollout else at["tau"]
    found = function(
        on.robot, at["q"], at["v"], tau, *more, f_ext={"thing0": at["f_ext.thing0"]}, parameters=given, **options
    )
    return np.asarray(found.qdd if function is kt.contact_dynamics else found[..., 0, :])


def differences(on: Case, function: Any, more: Sequence[Any], h: float, **options: Any) -> dict[str, Array]:
    """Central differences by each number of each argument, (states, numbers, results)."""
    found = {}
    arguments = {"q": on.v, "v": on.v, "tau": on.tau, **on.parameters, "f_ext.thing0": on.f_ext["thing0"]}
    for name, x in arguments.items():
        width = x.shape[-1] if x.ndim else 1
        own = np.broadcast_to(x, (len(on.q), width)) if name != "q" else np.zeros((len(on.q), width))
        sides = []
        for step in (h, -h):
            moved = own[:, None] + step * np.eye(width)
            if name == "q":
                moved = kt.integrate(on.robot, on.q[:, None], moved)
            value = moved[..., 0] if name.endswith("margin") else moved
            spread = {"q": on.q[:, None], "v": on.v[:, None], "tau": on.tau[:, None], name: value}
            sides.append(values(on, function, spread, more, **options))
        found[name] = (sides[0] - sides[1]) / (2.0 * h)
    return found


def compared(slopes: dict[str, Array], weights: Array, expected: dict[str, Array], rtol: float) -> None:
    for name, rows in expected.items():
        wanted = (rows * weights[:, None]).sum(axis=-1)
        size = np.abs(rows).max(axis=(1, 2))[:, None] + 1e-3
        off = np.abs(slopes[name].reshape(wanted.shape) - wanted) / size
        assert off.max() < rtol, (name, off.max(axis=1))


def test_accelerations_by_everything(on: Case) -> None:
    weights = np.random.default_rng(0).normal(size=(len(on.q), 2 * on.robot.nv + 2))
    weights[:, on.robot.nv :] = 0.0
    arguments = (on.q, on.v, on.tau, np.zeros_like(on.v))
    names = ["q", "v", "tau", "f_ext.thing0", *on.parameters]
    _, slopes = kt.vjp(
        on.robot, kt.contact_dynamics, arguments, weights, wrt=names, f_ext=on.f_ext, parameters=on.parameters
    )
    exact = values(on, kt.contact_dynamics, {}, [])
    expected = differences(on, kt.contact_dynamics, [], 1e-6, guess=exact[:, None])
    compared(slopes, weights[:, : on.robot.nv], expected, 1e-6)
    by_friction = slopes["shape.thing0[0].friction"][:, 0]  # the larger of the two
    assert abs(by_friction[1]) > 1.0  # it slides
    assert by_friction[3] == 0.0
    assert not slopes["shape.floor.friction"].any()


def test_states_of_a_step_by_everything(on: Case) -> None:
    n = on.robot.nq + on.robot.nv
    weights = np.random.default_rng(0).normal(size=(len(on.q), 1, n))
    names = ["q", "v", "tau", "f_ext.thing0", *on.parameters]
    arguments = (on.q, on.v, on.tau[:, None], 0.001)
    _, slopes = kt.vjp(
        on.robot, kt.rollout, arguments, weights, wrt=names, f_ext=on.f_ext, parameters=on.parameters, contact=True
    )
    expected = differences(on, kt.rollout, [0.001], 1e-5, contact=True)
    compared(slopes, weights[:, 0], expected, 2e-6)


def test_states_of_a_rollout_by_its_start_and_by_friction_and_size() -> None:
    robot, h = ball(), 1e-6
    q, v, tau = robot.neutral(), np.array([0.9, 0.4, -0.05, 0.3, -0.2, 0.5]), np.zeros((20, 6))
    q[2] = 0.0999
    own = {name: robot.parameter(name) for name in ("shape.thing0[0].friction", "shape.thing0[0].size")}
    along = {"v": np.array([0.3, -0.2, 0.1, 0.2, 0.4, -0.1]), **{name: 0.1 * x for name, x in own.items()}}
    _, slopes = kt.jvp(robot, kt.rollout, (q, v, tau, 0.001), along, parameters=own, contact=True)
    ahead, back = (
        kt.rollout(
            robot, q, v + s * along["v"], tau, 0.001, contact=True,
            parameters={name: x + s * along[name] for name, x in own.items()},
        )
        for s in (h, -h)
    )  # fmt: skip
    np.testing.assert_allclose(slopes, (ahead - back) / (2.0 * h), rtol=1e-6, atol=1e-6)
    assert np.abs(slopes[-1]).max() > 0.1


# -- softer ones


def test_softer_derivatives_are_those_of_softer_contacts() -> None:
    """The motion is the same; its derivatives are those of a robot whose contacts are softer."""
    on = case(ball(), 0.1)
    arguments = (on.q, on.v, on.tau, np.zeros_like(on.v))
    exact = kt.contact_dynamics(on.robot, *arguments[:3])
    value, slopes = kt.jvp(on.robot, kt.contact_dynamics, arguments, {"v": on.v, "tau": on.tau}, gradient_softness=2.0)
    np.testing.assert_allclose(value[:, :12], np.concatenate([exact.qdd, exact.forces], axis=1), rtol=1e-12, atol=1e-12)

    soft = softened(soft_constraints(on.robot), 2.0)
    sides = [
        kt.contact_dynamics(on.robot, on.q, (1.0 + h) * on.v, (1.0 + h) * on.tau, contact=soft)  # type: ignore[arg-type]
        for h in (1e-6, -1e-6)
    ]
    for k in range(2):
        expected = (sides[0][k] - sides[1][k]) / 2e-6
        np.testing.assert_allclose(slopes[:, 6 * k : 6 * k + 6], expected, rtol=1e-6, atol=1e-5)
    _, own = kt.jvp(on.robot, kt.contact_dynamics, arguments, {"v": on.v, "tau": on.tau})
    assert np.abs(slopes[1]).max() < 0.5 * np.abs(own[1]).max()


def test_softness_of_what_is_given() -> None:
    times = softened(soft_constraints(ball()), 1.0).touches[0].softness
    own = soft_constraints(ball()).touches[0].softness
    assert times.reference == (2.0 * own.reference[0], own.reference[1])
    assert times.regularisation(times.at(0.0)) == pytest.approx(2.0 * own.regularisation(own.at(0.0)))
    stiff = softened(soft_constraints(rod()), 1.0).touches[0].softness
    assert stiff.stiffness * stiff.impedance[1] ** 2 == pytest.approx(200.0)
    assert stiff.damping * stiff.impedance[1] == pytest.approx(15.0)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, True, "soft"])
def test_softness_is_a_number_that_is_not_negative(value: Any) -> None:
    robot = ball()
    with pytest.raises(kt.errors.OptionError, match="gradient_softness must be a number from 0"):
        kt.contact_dynamics(robot, robot.neutral(), np.zeros(6), np.zeros(6), gradient_softness=value)


# -- what they cost


def operations(robot: Model, wrt: tuple[str, ...] = (), parameters: tuple[str, ...] = (), **options: Any) -> int:
    """Of a step and its vjp with a search as it usually is: four iterations, each with two looks along the line."""
    usual = {"integrator": "semi_implicit_euler", "contact": True, "steps": 1}
    definition = derived(ROLLOUT, "vjp", wrt) if wrt else ROLLOUT
    resolved = resolved_options(definition, robot, usual | options)
    with patch.object(importlib.import_module("kinetree.algorithms.contact_dynamics"), "Effort", lambda: Effort(4, 2)):
        program = specialized(definition, robot, resolved, (), parameters, None).program()
    return without_slopes(program).operation_counts().total()


def test_a_vjp_of_a_step_costs_less_than_three_steps() -> None:
    robot = ball()
    own = operations(robot)
    assert operations(robot, ("q", "v", "tau")) < 2.0 * own
    parameters = tuple(name for name in robot.parameter_names if name.startswith("shape."))
    assert operations(robot, ("q", "v", "tau", *parameters), parameters) < 2.0 * operations(robot, (), parameters)
    assert operations(robot, ("q", "v", "tau"), gradient_softness=1.0) < 3.1 * own  # one more solution


def test_the_error_and_the_number_of_iterations_have_no_derivatives(on: Case) -> None:
    arguments, along = (on.q, on.v, on.tau), {"v": np.ones(on.robot.nv), "tau": np.ones(on.robot.nv)}
    _, slopes = kt.jvp(on.robot, kt.contact_dynamics, arguments, along)
    assert (slopes[..., : on.robot.nv] != 0.0).any()
    assert (slopes[..., -2:] == 0.0).all()

"""Derivatives of steps with contacts, servos and activations, beside central differences; and what they cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.differentiation import derived, specialized
from kinetree.functions.rollouts import ACTUATED_ROLLOUT

Array = np.ndarray[Any, Any]
HOPPER = """
<mujoco><option timestep="0.004"/><worldbody><geom type="plane" size="0 0 1"/>
  <body name="ball" pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
    <joint name="turn" axis="0 1 0" damping=".01"/><geom type="sphere" size=".1" mass="1"/>
    <body><joint name="swing" axis="0 1 0" stiffness="2" damping=".1"/>
      <geom type="capsule" size=".02 .1" pos="0 0 .2" mass=".3" contype="0" conaffinity="0"/></body></body>
</worldbody><actuator>
  <position joint="swing" kp="20" kv="1"/><general joint="turn" dyntype="filter" dynprm=".05" gainprm=".1"/>
</actuator></mujoco>"""
STATES = {
    "sticking": ([0.0, -3e-4, 0.2, 0.3], [0.01, 0.0, 0.1, 0.5]),
    "sliding": ([0.0, -3e-4, 0.2, 0.3], [2.0, 0.01, -0.3, 0.5]),
    "separating": ([0.0, -3e-4, 0.2, 0.3], [0.3, 0.8, -0.3, 0.5]),
}


@pytest.fixture(scope="module")
def hopper(tmp_path_factory: pytest.TempPathFactory) -> kt.Model:
    path: Path = tmp_path_factory.mktemp("hopper") / "hopper.xml"
    path.write_text(HOPPER)
    return kt.load(path)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicitfast", "discrete"])
@pytest.mark.parametrize("name", STATES)
def test_derivatives_of_steps_are_those_of_central_differences(hopper: kt.Model, name: str, integrator: Any) -> None:
    q, v = (np.array(x) for x in STATES[name])
    rng = np.random.default_rng(4)
    arguments = {
        "q": q, "v": v, "act": np.array([0.2]), "tau": 0.1 * rng.normal(size=(2, 4)), "ctrl": rng.normal(size=(2, 2)),
    }  # fmt: skip
    weights = rng.normal(size=(2, 9))
    options: dict[str, Any] = {"integrator": integrator, "passive": True, "contact": True, "divide": False}

    def value(given: dict[str, Array]) -> float:
        return float((weights * kt.sim.actuated_rollout(hopper, *given.values(), 0.004, **options)).sum())  # type: ignore[misc]

    _, slopes = kt.vjp(hopper, kt.sim.actuated_rollout, (*arguments.values(), 0.004), weights, **options)
    for which, x in arguments.items():
        direction, h = rng.normal(size=x.shape), 1e-6
        ends = [value({**arguments, which: x + sign * h * direction}) for sign in (1.0, -1.0)]
        expected = (ends[0] - ends[1]) / (2.0 * h)
        assert (slopes[which] * direction).sum() == pytest.approx(expected, rel=2e-6, abs=1e-7)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicitfast", "discrete"])
def test_a_vjp_of_one_step_costs_at_most_three_steps(hopper: kt.Model, integrator: str) -> None:
    asked = {"integrator": integrator, "passive": True, "contact": True, "steps": 1}
    options = {name: check(hopper, asked.get(name)) for name, check in ACTUATED_ROLLOUT.options.items()}

    def operations(definition: Any) -> int:
        return specialized(definition, hopper, options, (), (), None).program().operation_counts().total()

    by = ("q", "v", "act", "tau", "ctrl")
    own = operations(ACTUATED_ROLLOUT)
    assert operations(derived(ACTUATED_ROLLOUT, "vjp", by)) <= 3 * own


def test_derivatives_of_the_midpoint_rule_are_those_of_its_equation() -> None:
    robot, rng = kt.zoo.load("double_pendulum"), np.random.default_rng(0)
    arguments = {"q": rng.normal(size=2), "v": rng.normal(size=2), "tau": rng.normal(size=(2, 2))}
    weights = rng.normal(size=(2, 4))

    def value(given: dict[str, Array]) -> float:
        return float((weights * kt.rollout(robot, *given.values(), 0.01, integrator="midpoint")).sum())  # type: ignore[call-overload]

    _, slopes = kt.vjp(robot, kt.rollout, (*arguments.values(), 0.01), weights, integrator="midpoint")
    for which, x in arguments.items():
        direction, h = rng.normal(size=x.shape), 1e-6
        ends = [value({**arguments, which: x + sign * h * direction}) for sign in (1.0, -1.0)]
        assert (slopes[which] * direction).sum() == pytest.approx((ends[0] - ends[1]) / (2.0 * h), rel=1e-7)

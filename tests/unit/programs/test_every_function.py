"""Every public function of a robot's motion inside a program gives what it gives on plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from inspect import Parameter, Signature
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests import functions
from tests.kernels import interpreted
from tests.unit.programs.alike import assert_runs_as_it_is, assert_same

Array = NDArray[Any]


def chain(name: str, *kinds: kt.joints.JointKind, mimic: kt.model.Mimic | None = None) -> kt.Model:
    """Bodies one behind the other, with drives; the last joint may follow another. The last body carries a tool."""
    builder = kt.ModelBuilder(name)
    builder.add_body("body 0")
    for k, kind in enumerate(kinds, 1):
        solid = kt.solids.ellipsoid(0.3, 0.2, 0.1, mass=1.0 + k, placement=kt.lie.placement([0.1, -0.05, 0.2]))
        builder.add_body(f"body {k}", solid)
        builder.add_joint(
            f"joint {k}", kind, f"body {k - 1}", f"body {k}", kt.lie.placement([0.1, 0.2, -0.3], rpy=[0.1, 0.2 * k,
                0.3]),
            damping=[0.2] * kind.nv, friction=[0.1] * kind.nv, armature=[0.02] * kind.nv,
            mimic=mimic if k == len(kinds) else None,
        )  # fmt: skip
    builder.add_frame("tool", f"body {len(kinds)}", kt.lie.placement([0.1, 0.2, 0.3], rpy=[0.4, 0.5, 0.6]))
    return builder.build()


TURN, SLIDE = kt.Revolute([0, 1, 0]), kt.Prismatic([1, 0, 0])
ROBOTS: dict[str, Callable[[], kt.Model]] = {
    "arm": lambda: chain("arm", TURN, SLIDE),
    "floating": lambda: chain("floating", kt.Free(), TURN),
    "sharing": lambda: chain("sharing", SLIDE, TURN, TURN, mimic=kt.model.Mimic("joint 2", -2.0, 0.1)),
}


@cache
def robot_of(name: str) -> kt.Model:
    return ROBOTS[name]()


def options_of(function: Any) -> dict[str, Any]:
    options = functions.options_of(function, "tool")
    return options | (
        {"on_impossible": "least_squares"} if function is kt.constraints.constrained_inverse_dynamics else {}
    )


def sample_of(robot: kt.Model, function: Any) -> dict[str, Array]:
    """Arguments of one sample, by name."""
    arrays = [x[0] for x in functions.samples(robot, function, 1, np.random.default_rng(3))]
    named = {x: y for (x, _), y in zip(function.definition.inputs, arrays, strict=True)}
    return named | ({"restitution": np.array([0.5])} if function is kt.constraints.impact else {})


def named(function: Callable[..., Any], names: Sequence[str]) -> Any:
    """A function (**x) as one of arguments of these names."""
    function.__signature__ = Signature([Parameter(x, Parameter.KEYWORD_ONLY) for x in names])  # type: ignore[attr-defined]
    return function


@pytest.mark.parametrize(("name", "function"), functions.on(ROBOTS, floating=["floating"], sharing=["sharing"]))
def test_its_arguments_may_be_symbolic(name: str, function: Any) -> None:
    robot, options = robot_of(name), options_of(function)
    arrays = sample_of(robot, function)
    with interpreted():
        program = kt.program(
            named(lambda **x: function(robot, **x, **options), list(arrays)),
            **{x: robot if x == "q" else y.shape for x, y in arrays.items()},
        )
        found, expected = program(**arrays), function(robot, **arrays, **options)
    assert_same(found, expected)


@pytest.mark.parametrize("function", functions.FIXED.values(), ids=functions.FIXED)
def test_any_one_of_them_may_be_with_others_plain_in_lists_and_batched(function: Any) -> None:
    robot, options = robot_of("arm"), options_of(function)
    arrays = sample_of(robot, function)
    first, *_, last = [*arrays, *arrays]
    many = {**arrays, first: np.stack([arrays[first]] * 2) * [[1.0], [0.5]]}

    def calls(a: Any, b: Any) -> Any:
        return [
            function(robot, **{**arrays, last: b}, **options),
            function(robot, **{**arrays, first: list(a)}, **options),
            function(robot, **{**many, last: b}, **options),
            function(robot, **{**arrays, first: np.stack([a, 0.5 * a])[:, None]}, **options),
        ]

    assert_runs_as_it_is(calls, arrays[first], arrays[last])


TAKES = {x: f for x, f in functions.FIXED.items() if f.definition.takes_forces or f.definition.takes_parameters}


@pytest.mark.parametrize("function", TAKES.values(), ids=TAKES)
def test_forces_and_parameters_may_be(function: Any) -> None:
    robot, options, definition = robot_of("arm"), options_of(function), function.definition
    arrays, g, m, w = sample_of(robot, function), np.array([0.5, -1.0, -9.0]), 2.5, np.arange(6.0) - 2.0

    def call(g: Any, m: Any, w: Any) -> Any:
        more: dict[str, Any] = {}
        if definition.takes_parameters:
            more["parameters"] = {"gravity": g, "body.body 2.mass": m, "joint.joint 2.placement": [*g, 0, 0, m, 1]}
        if definition.takes_forces:
            more["f_ext"] = {
                "tool": w,
                kt.dynamics.WrenchOn("body 2", "world"): [m, 0, 0, *g],
                kt.dynamics.ForceOn("tool"): 2 * w,
            }
        return function(robot, **arrays, **options, **more)

    assert_runs_as_it_is(call, g, m, w)

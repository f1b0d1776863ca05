"""A function gives the same numbers in every form of a robot in which it is compiled, with every value of its options.

Kernels are traced in other body axes, as one system, and in loops over bodies, whichever is shortest; options are
resolved for the robot as it is. The robot's joints are about slanted axes, away from the origins of its bodies.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.forms.aligned import aligned
from kinetree.compiler.requests import default_options
from kinetree.compiler.specialization import Specialization, _as_it_is, _as_one_system
from kinetree.expr import Program, interpret
from tests.unit.function import test_remembered_kernels as every

TEXT = (
    every._TEXT.replace('pos="0.3 0 0.2" gravcomp', 'pos="0.3 0 0.2" euler="20 -50 70" gravcomp')
    .replace('axis="0 1 0"', 'axis="3 -1 2" pos="0.05 -0.07 0.11"')
    .replace(
        '<geom name="bob"',
        '<body name="held" pos="0.1 0.2 0.3" euler="40 10 -30"><geom name="part" type="ellipsoid" '
        'size="0.03 0.05 0.08" fluidshape="ellipsoid"/><site name="mark" pos="0.02 0.03 0.05" euler="10 20 30"/></body>'
        '<geom name="bob"',
    )
    .replace('pos="0.2 0 0" density="700"', 'pos="0.2 0.1 0" density="700"')
    .replace(
        "</actuator>",
        '<general name="thrust" site="mark" gear="1 2 3 0.1 0.2 0.3"/><general name="reach" site="mark" refsite="post" '
        'gear="1 0.5 2 0.1 0 0.2"/></actuator>',
    )
    .replace("</tendon>", '<spatial name="rope"><site site="post"/><site site="mark"/></spatial></tendon>')
    .replace(
        "</sensor>",
        '<accelerometer name="imu" site="mark"/><gyro name="gyro" site="mark"/><framepos name="place" objtype="site" '
        'objname="mark"/><force name="force" site="mark"/><torque name="torque" site="mark"/></sensor>',
    )
    .replace('<body name="base"', '<site name="post" pos="0.4 0.3 0.6"/><body name="base"')
)
PLAIN = {"damping", "tolerance", "gradient_softness", "integrator", "passive", "limits"}
"""Options whose values have no place on the robot: their defaults are enough."""


@cache
def robot(activations: bool) -> kt.Model:
    """The robot of the tests of options, with everything that has a place on its bodies."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(every, "_TEXT", TEXT)
        return every.prototype.__wrapped__(activations)


def programs(one: Specialization) -> Iterator[tuple[str, Program]]:
    """A function's programs, by the form of the robot."""
    if not one.definition.is_step and not one._is_dense():
        yield "its own axes", one._written_out(_as_it_is)
        yield "axes of its joints", one._written_out(aligned)
        if one._has_two_systems:
            yield "one system", one._written_out(lambda model: _as_one_system(aligned(model)))
    yield "recorded", one._recorded(rolled=False)
    if one.can_loop:
        yield "loops over bodies", one._recorded(rolled=True)


@pytest.mark.parametrize("name", [*every.EVERY])
def test_every_form_gives_the_same_numbers(name: str) -> None:
    function = every.EVERY[name]
    calls = every.Calls(function)
    calls.robot = robot(function is kt.sim.actuated_rollout)
    definition, count = calls.definition, 0
    for options in every.requests(calls):
        if PLAIN & options.keys():
            continue
        given = {**default_options(function), "steps": 2, **calls.required, **options}
        try:
            arguments = [x.ravel().tolist() for x in calls.arguments(options).values()]
            one = Specialization(definition, calls.robot, calls.resolved(options), (), ())
            own, left_out = len(definition.inputs), len(definition.optional)
            arguments[own - left_out : own] = [[0.1] * port.size for port in one.inputs[own - left_out : own]]
            arguments += [x.ravel().tolist() for x in definition.arrays_of_numbers(given)]
            expected = None if definition.is_step else one.one_sample(*arguments)
        except kt.errors.OptionError:  # not together with the others
            continue
        for form, program in programs(one):
            (result,) = interpret(program, *arguments)
            expected, count = result if expected is None else expected, count + 1
            np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9, err_msg=f"{options} in {form}")
    assert count > 0

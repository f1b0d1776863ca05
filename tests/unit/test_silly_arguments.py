"""Arguments that nobody means are answered in words, not with Python's own errors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinetree as kt

ARM = kt.zoo.load("double_pendulum")
Q = [0.1, 0.2]
HUGE = 10**400

SILLY: dict[str, tuple[Callable[[], object], str]] = {
    "a duration beyond all floats": (lambda: kt.simulate(ARM, duration=HUGE), "duration must be finite"),
    "a step beyond all floats": (lambda: kt.simulate(ARM, dt=HUGE), "dt must be finite"),
    "a negative step beyond all floats": (lambda: kt.simulate(ARM, dt=-HUGE), "dt must be finite"),
    "an array for an integrator": (lambda: kt.simulate(ARM, integrator=np.zeros(3)), "integrator must be"),
    "a number for progress": (lambda: kt.sim.Viewing(progress=5), "Viewing: progress must be a function"),
    "a number for forces": (lambda: kt.compile(ARM, kt.aba, f_ext=5), "f_ext must be a list of frame names, not 5"),
    "an array for forces": (lambda: kt.compile(ARM, kt.aba, f_ext=np.array("x")), "f_ext must be a list"),
    "numbers for parameters": (lambda: kt.compile(ARM, kt.aba, parameters=[5]), "parameters must be a list of names"),
    "lists for parameters": (lambda: kt.compile(ARM, kt.aba, parameters=[[]]), "parameters must be a list of names"),
    "a number for a parameter's name": (
        lambda: kt.vjp(ARM, kt.crba, (Q,), np.ones((2, 2)), parameters={1: 2}), "the names of parameters .* are strings"
    ),
    "an array for a parameter's name": (lambda: ARM.parameter(np.zeros(3)), "a parameter's name is a string"),
    "a word for a seed": (lambda: ARM.random("x"), "random takes a seed .* or a generator, not 'x'"),
    "a negative seed": (lambda: ARM.random(-1), "random takes a seed"),
    "half a seed": (lambda: ARM.random(1.5), "random takes a seed"),
    "a word for a bound": (lambda: ARM.near_singular(Q, "x"), "below must be a number, not 'x'"),
    "a bound beyond all floats": (lambda: ARM.near_singular(Q, HUGE), "below must be a number"),
    "a length beyond all floats": (lambda: ARM.scaled(HUGE), "length must be positive and finite"),
    "a list for a robot of the zoo": (lambda: kt.zoo.load(["arm6"]), "the zoo has no robot"),
    "a robot where a function belongs": (lambda: kt.compile(ARM, ARM), "^robot 'double_pendulum' is not one of kinet"),
    "a function before the robot": (
        lambda: kt.compile(kt.aba, ARM), r"^the robot comes first and then the function: \(robot, kt.aba, …\)$"
    ),
    "a function before the robot, for a derivative": (
        lambda: kt.jacobian(kt.rnea, ARM, (Q, Q, Q), wrt="q"), r"the robot comes first .* \(robot, kt.rnea, …\)$"
    ),
    "a function before the robot, for a product": (
        lambda: kt.vjp(kt.crba, ARM, (Q,), 1.0), r"the robot comes first .* \(robot, kt.crba, …\)$"
    ),
    "signs without an axis": (lambda: kt.joints.ExponentialMap(signs=np.array("x")), "signs must be 3 numbers"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "message"), SILLY.values(), ids=SILLY)
def test_it_is_refused_in_words(make: Callable[[], object], message: str) -> None:
    with pytest.raises(kt.KinetreeError, match=message):
        make()


@pytest.mark.parametrize("mass", [10**29, 10**30 - 1, 10**15, 3])
def test_a_whole_number_that_is_read_is_written(mass: int) -> None:
    text = (
        '{"kinetree": "model", "version": 1, "name": "r", "gravity": [0, 0, -9], "floating_base": false, '
        f'"bodies": [{{"name": "b", "mass": {mass}, "inertia": [1e28, 1e28, 1e28, 0, 0, 0]}}], "joints": []}}'
    )
    robot = kt.from_text(text)
    assert robot.mass == float(mass)
    assert kt.from_text(kt.to_text(robot)) == robot


class Numbered(kt.Revolute):
    """A user's kind that keeps a whole number."""

    def __init__(self, axis: object, number: int = 0) -> None:
        super().__init__(axis)  # type: ignore[arg-type]
        self.number = number


@pytest.mark.parametrize("number", [10**29, 10**30 - 1, -(10**30) + 1])
def test_so_is_one_that_a_kind_keeps(number: int) -> None:
    builder = kt.ModelBuilder("r")
    builder.add_body("a")
    builder.add_body("b", kt.solids.sphere(0.1, mass=1.0))
    builder.add_joint("j", Numbered([0, 0, 1], number), "a", "b")
    robot = builder.build()
    assert kt.from_text(kt.to_text(robot), kinds=[Numbered]) == robot

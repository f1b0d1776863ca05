"""What was called before never changes what a call returns: each value of each option has a kernel of its own.

Programs are interpreted here, and traced once each: the tests are about which kernel answers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.compiler.requests import default_options
from kinetree.compiler.specialization import Specialization
from kinetree.expr import Program, interpret, without_slopes
from kinetree.interop.subject import Subject
from tests.functions import PUBLIC
from tests.kernels import interpreted

Array = NDArray[Any]
Function = Callable[..., Any]

EVERY: dict[str, Any] = {function.__name__: function for function in PUBLIC.values() if hasattr(function, "definition")}
_TEXT = """
<mujoco model="everything">
  <option density="900" viscosity="0.1" timestep="0.01"/>
  <default><geom condim="1"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="base" pos="0 0 0.099" gravcomp="0.5">
      <freejoint name="root"/>
      <geom name="ball" type="sphere" size="0.1" density="800"/>
      <body name="tip" pos="0.3 0 0.2" gravcomp="0.3">
        <joint name="hinge" axis="0 1 0" damping="0.3" frictionloss="0.2" stiffness="2" range="-1 1" limited="true"
               actuatorgravcomp="true" armature="0.01" actuatorfrcrange="-1 1"/>
        <geom name="bob" type="sphere" size="0.05" pos="0.2 0 0" density="700" contype="0" conaffinity="0"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="cord" stiffness="3" damping="0.4" springlength="0.1"><joint joint="hinge" coef="0.5"/></fixed>
  </tendon>
  <actuator><motor name="drive" joint="hinge" gear="2" ctrlrange="-9 9"/></actuator>
  <sensor><jointpos name="angle" joint="hinge"/><jointvel name="rate" joint="hinge"/></sensor>
</mujoco>
"""
HELD = [kt.constraints.Contact("tip", "point", at=[0.3, 0.1, 0.2], position_gain=3.0, velocity_gain=2.0)]
VALUES: dict[str, list[Any]] = {
    "passive": [False, True, [], None, ["damping"], ["friction", "spring"]],
    "limits": [False, True, None],
    "expressed_in": ["world", "local", "local_world_aligned"],
    "kind": ["spatial", "classical"],
    "about": ["origin", "center_of_mass"],
    "frame": ["tip", "base"],
    "relative_to": [None, "base"],
    "frames": [None, ["tip"], ["tip", "base"]],
    "bodies": [None, ["tip"]],
    "drives": [False, True],
    "constraints": [HELD, [kt.constraints.Contact("base", "point")]],
    "method": ["kkt", "operational_space"],
    "damping": [0.0, 0.5],
    "tolerance": [None, 0, 1e-3],
    "smallest": ["forces", "torques", "both"],
    "torque_weights": [None, np.arange(1.0, 8.0)],
    "force_weights": [None, np.arange(1.0, 4.0)],
    "held_joints": [(), ["hinge"]],
    "prescribed": [(), ["hinge"]],
    "timestep": [None, 0.1],
    "names": [None, ["rate"]],
    "a": ["ball", "base"],
    "b": ["floor", "world"],
    "integrator": ["semi_implicit_euler", "symplectic_euler", "rk4"],
    "contact": [False, True, "compliant"],
    "gradient_softness": [0.0, 0.5],
    "divide": [True, False],
    "steps": [2],
}
"""Values of each option, the first of them for calls that must give it."""
PARTS = {"gravity_compensation": ["all", "passive", "actuators"], "tendon_forces": ["all", "springs", "dampers"]}
COMPILED_ONLY = {"steps"}
"""Options of `kt.compile` that the function itself has not, or takes from its arguments."""


def values_of(function: Any, option: str) -> list[Any]:
    if option == "part":
        return PARTS.get(function.__name__, ["full", "linear", "angular"])
    return [name for name, _ in function.definition.inputs] if option == "wrt" else VALUES[option]


@cache
def prototype(activations: bool) -> kt.Model:
    text = _TEXT.replace("<motor", '<general dyntype="filter" dynprm="0.1" gainprm="1"') if activations else _TEXT
    with TemporaryDirectory() as folder:
        path = Path(folder) / "everything.xml"
        path.write_text(text)
        return kt.load(path)


class Calls:
    """A public function on a robot that nothing has been called with yet: what it gives by each way to call it."""

    def __init__(self, function: Any) -> None:
        self.function, self.definition = function, function.definition
        self.robot = replace(prototype(function is kt.sim.actuated_rollout))
        """Equal to the prototype and another object, which has no kernels yet."""
        parameters = inspect.signature(function).parameters
        self.options = [x for x in self.definition.options if x in parameters and x not in COMPILED_ONLY]
        self.required = {x: values_of(function, x)[0] for x in self.options if parameters[x].default is inspect._empty}
        self.fixed = {"on_impossible": "least_squares"} if "on_impossible" in parameters else {}

    def resolved(self, options: Mapping[str, Any]) -> dict[str, Any]:
        known = {**default_options(self.function), "steps": 2, **self.required, **options}
        return {x: check(self.robot, known.get(x)) for x, check in self.definition.options.items()}

    def arguments(self, options: Mapping[str, Any]) -> dict[str, Array]:
        """One sample of each argument that must be given."""
        definition, rng = self.definition, np.random.default_rng(3)
        resolved = self.resolved(options)
        found = {}
        for k, (name, size) in enumerate(definition.inputs):
            if name not in definition.optional:
                shape = definition.input_shape(size, self.robot, resolved)
                shape = (2, *shape) if definition.is_step and k >= definition.state else shape
                found[name] = self.robot.neutral() if size == "nq" else 0.3 * rng.normal(size=shape)
                if size == "nq":
                    found[name][-1] = 0.7
        return found | ({"dt": np.array(0.01)} if definition.takes_dt else {})

    def flat(self, result: Any) -> Array:
        return np.concatenate([np.ravel(x) for x in (result if isinstance(result, tuple) else (result,))])

    def plainly(self, **options: Any) -> Array:
        """By the function on arrays."""
        return self.flat(self.function(self.robot, **self.arguments(options), **self.fixed, **self.required | options))

    def by_lists(self, **options: Any) -> Array:
        arguments = {name: x.tolist() for name, x in self.arguments(options).items()}
        return self.flat(self.function(self.robot, **arguments, **self.fixed, **self.required | options))

    def on_a_thread(self, **options: Any) -> Array:
        return self.plainly(**options, threads=1)

    def into_out(self, **options: Any) -> Array:
        if self.definition.is_step:
            state = [*self.arguments(options).values()][: self.definition.state]
            shape: tuple[int, ...] = (2, sum(x.size for x in state))
        else:
            shape = self.definition.shape(self.robot, self.resolved(options))
        return self.plainly(**options, out=np.empty(shape))

    def compiled(self, **options: Any) -> Any:
        steps = {"steps": 2} if self.definition.is_step else {}
        return kt.compile(self.robot, self.function, **steps | self.required | options)

    def by_compile(self, **options: Any) -> Array:
        return self.flat(self.compiled(**options)(*self.arguments(options).values()))

    def adapted(self, **options: Any) -> Array:
        """Through what the adapters of all frameworks are made of; without a call, which their own tests have."""
        steps = {"steps": 2} if self.definition.is_step else {}
        made = Subject(self.robot, self.function, options=steps | self.required | options)
        return self.flat(made.compiled("float64")(*made.bound([*self.arguments(options).values()], {})))


@contextmanager
def traced_once() -> Iterator[None]:
    """Each program is traced once, and run once for the same numbers, however many robots are equal."""
    traced, program = _PROGRAMS, Specialization.program
    results: dict[Any, list[list[float]]] = {}

    def known_results(program: Program, *numbers: list[float]) -> list[list[float]]:
        key = id(program), *map(tuple, numbers)  # all programs are kept
        if key not in results:
            results[key] = interpret(program, *numbers)
        return results[key]

    def known(self: Specialization) -> Program:
        key = self.key()
        assert key is not None
        if key not in traced:
            traced[key] = without_slopes(program(self))
        return traced[key]

    with patch.object(Specialization, "program", known), patch("tests.kernels.interpret", known_results):
        yield


_PROGRAMS: dict[bytes, Program] = {}


def requests(calls: Calls) -> list[dict[str, Any]]:
    """The options of calls that differ in one option from the plain one, and an empty dict for this."""
    changed = [{x: value} for x in calls.options for value in values_of(calls.function, x)]
    return [{}, *changed]


def test_an_option_left_out_is_the_default_one() -> None:
    """So it may be left out of a call, and calls without options share a kernel."""
    for function in EVERY.values():
        calls = Calls(function)
        for option, default in default_options(function).items():
            if option in calls.options and default is not None:
                check = calls.definition.options[option]
                with suppress(kt.errors.OptionError):  # it may not be left out
                    assert check(calls.robot, None) == check(calls.robot, default), (function.__name__, option)


def test_every_option_has_values() -> None:
    for function in EVERY.values():
        for option in Calls(function).options:
            assert len(values_of(function, option)) > 1, (function.__name__, option)


@pytest.mark.parametrize("name", [*EVERY])
def test_calls_before_change_nothing(name: str) -> None:
    function = EVERY[name]
    with interpreted(), traced_once():
        asked = [x for x in requests(Calls(function)) if is_taken(Calls(function), x)]
        plain, own = ([{way: way(Calls(function), **x) for way in WAYS} for x in some] for some in ([{}], asked))
        for turn, (options, expected) in enumerate(zip(asked, own, strict=True)):
            for k in {turn % len(WAYS), (turn + 3) % len(WAYS)}:  # each way with some of the options
                way = WAYS[k]
                ways = WAYS if way is Calls.plainly else {way, WAYS[k - 1], Calls.plainly}
                calls = Calls(function)
                way(calls, **options)
                for again in ways:
                    found, said = again(calls), f"{name} after {options}: {way.__name__}, {again.__name__}"
                    np.testing.assert_array_equal(found, plain[0][again], err_msg=said)
                calls = Calls(function)
                way(calls)
                for again in ways:
                    found, said = again(calls, **options), f"{name} with {options}: {way.__name__}, {again.__name__}"
                    np.testing.assert_array_equal(found, expected[again], err_msg=said)


WAYS = (Calls.plainly, Calls.by_lists, Calls.on_a_thread, Calls.into_out, Calls.by_compile, Calls.adapted)


def is_taken(calls: Calls, options: dict[str, Any]) -> bool:
    """Whether the robot and the function take this option."""
    try:
        calls.plainly(**options)
    except kt.KinetreeError:
        return False
    return True


@pytest.mark.parametrize("name", ["to_jax", "to_torch", "to_casadi", "to_c"])
def test_what_frameworks_called_changes_nothing(name: str) -> None:
    if name != "to_c":
        pytest.importorskip(name.removeprefix("to_"))
    plain = Calls(kt.dynamics.passive_forces).plainly()
    for passive in (False, ["damping"]):
        calls = Calls(kt.dynamics.passive_forces)
        made = getattr(kt.interop, name)(calls.robot, kt.dynamics.passive_forces, passive=passive)
        if name != "to_c":
            made(*calls.arguments({}).values())
        np.testing.assert_array_equal(calls.plainly(), plain)
        assert np.abs(calls.plainly(passive=passive) - plain).max() > 0.1
        np.testing.assert_array_equal(calls.plainly(), plain)

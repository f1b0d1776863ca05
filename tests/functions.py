"""The public functions of a robot's motion, for tests that hold for all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt

__all__ = [
    "EVERY",
    "FIXED",
    "LOOPING",
    "OF_CONTACTS",
    "OF_RECORDS",
    "OF_SHAPES",
    "PUBLIC",
    "gives_one_array",
    "numbers_of",
    "on",
    "options_of",
    "samples",
    "shapes",
]

Function = Callable[..., Any]

OF_SHAPES = {"distance", "closest_points", "ray_distance"}
"""Those of robots with collision shapes, which have tests of their own."""
OF_CONTACTS = {"contact_dynamics", "contact_forces"}
"""Those that push, which take long to compile and have tests of their own."""
OF_RECORDS = {"actuator_forces", "fluid_forces", "sensors"}
"""Those of robots with records of actuators, sensors or a medium, which have tests of their own, too."""
GROUPS = (kt.kinematics, kt.dynamics, kt.constraints, kt.contact, kt.lie, kt.interop, kt.sim)
PUBLIC: dict[str, Any] = {
    name: x for room in (*GROUPS, kt) for name in room.__all__ if not isinstance(x := getattr(room, name), ModuleType)
}
"""What kinetree offers, without the rooms above functions of a robot's motion."""
EVERY: dict[str, Function] = {
    function.__name__: function
    for function in (x for name, x in PUBLIC.items() if name not in OF_SHAPES | OF_CONTACTS | OF_RECORDS)
    if hasattr(function, "definition") and not function.definition.is_step
}
"""By name, without aliases; rollouts, whose ports are others, have tests of their own."""
FIXED = {name: function for name, function in EVERY.items() if name != "floating_inverse_dynamics"}
"""Those that a robot with a fixed base has."""
OWN_COORDINATES = {"articulated_inertias", "articulated_bias_forces", "articulated_joints"}
"""Those that a robot whose joints share coordinates does not have."""
LOOPING = {name: function for name, function in EVERY.items() if function.definition.strategy.loops}
"""Those whose algorithm can loop over bodies."""


def on(robots: Iterable[str], floating: Collection[str], sharing: Collection[str] = ()) -> list[Any]:
    """Every function with every robot it is for, by the robots' names.

    `floating` are those whose base floats, `sharing` those whose joints share coordinates.
    """
    return [
        pytest.param(name, function, id=f"{function_name}-{name}")
        for function_name, function in EVERY.items()
        for name in robots
        if function_name in FIXED or name in floating
        if function_name not in OWN_COORDINATES or name not in sharing
    ]


def gives_one_array(function: Function) -> bool:
    """Whether the public function returns what its kernel does, and no named parts of it."""
    return inspect.signature(function).return_annotation == "Array"


def options_of(function: Function, frame: str, expressed_in: str = "world", kind: str = "spatial") -> dict[str, Any]:
    """Values for the options that have no default."""
    values: dict[str, Any] = {"frame": frame, "expressed_in": expressed_in, "kind": kind}
    values["constraints"] = [kt.constraints.Contact(frame, [0.0, 0.0, 1.0], at=[0.1, -0.2, 0.3])]
    values["wrt"] = function.definition.inputs[-1][0]  # type: ignore[attr-defined]
    return {name: values[name] for name in function.definition.options if name in values}  # type: ignore[attr-defined]


def samples(robot: kt.Model, function: Function, count: int, rng: np.random.Generator) -> list[NDArray[np.float64]]:
    """Random arguments, a batch each."""
    return [
        np.stack([robot.random(rng) for _ in range(count)]) if size == "nq" else rng.normal(size=(count, *shape))
        for (_, size), shape in zip(function.definition.inputs, shapes(robot, function), strict=True)  # type: ignore[attr-defined]
    ]


def numbers_of(function: Function, options: dict[str, Any]) -> list[NDArray[np.float64]]:
    """The numbers of options, which a program takes after its own arguments."""
    return [x.ravel() for x in function.definition.arrays_of_numbers(options)]  # type: ignore[attr-defined]


def shapes(robot: kt.Model, function: Function) -> list[tuple[int, ...]]:
    """The shape of each argument, with the options of `options_of`."""
    definition = function.definition  # type: ignore[attr-defined]
    return [definition.input_shape(size, robot, options_of(function, robot.root)) for _, size in definition.inputs]

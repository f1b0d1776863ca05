"""The arrays that a controller is given from outside, in rollouts and in simulations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.definition import Array
from kinetree.errors import ShapeError
from kinetree.inputs import real_array, sample_shape
from kinetree.programs import Program

__all__ = ["controller_input"]


def controller_input(
    function: str, controller: Program, name: str, x: ArrayLike, dtype: np.dtype[Any], before: tuple[int, ...] = ()
) -> Array:
    """An argument of a controller (…, *before, *shape), checked; `function` is the one that messages begin with."""
    argument = controller.arguments[name]
    core = (*before, *argument.shape)
    wanted = sample_shape(core)
    array = real_array(name, argument.numbers(controller.name, name, x), wanted).astype(dtype)
    if array.shape[max(array.ndim - len(core), 0) :] != core:
        raise ShapeError(
            f"{function}: {name} has shape {array.shape}, but the controller {controller.name!r} needs {wanted}"
        )
    argument.refuse_zero_quaternions(name, array)
    return array

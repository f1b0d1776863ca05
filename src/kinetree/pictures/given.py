"""Values in the place of some of a robot's parameters, one for each copy that is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.compiler.forms.parameters import body_of_alternatives
from kinetree.errors import DTypeError, ShapeError
from kinetree.inputs import samples
from kinetree.model import Model
from kinetree.model.parameters import check_alternatives
from kinetree.sim.picking import Samples, sample_numbers

__all__ = ["Values", "checked_values", "leading", "of_copies", "of_motions", "with_objects"]

Values = Mapping[str, NDArray[np.float64]]
"""By the name of a parameter: (…, *shape of one), or (n, *shape of one) for n copies."""


def checked_values(function: str, robot: Model, parameters: Any) -> Values:
    """The checked values of `parameters=`; a `NameNotFoundError`, `DTypeError` or `ShapeError` reports a fault."""
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping):
        raise DTypeError(
            f"{function}: parameters must be a dict from names such as 'body.platform.placement' to arrays, not "
            f"{type(parameters).__name__}"
        )
    checked = {}
    for name, given in parameters.items():
        values = samples(f"{function}: {name}", given, robot.parameter(name).shape, repr(robot.name))
        checked[name] = np.asarray(values, np.float64)
        if (body := body_of_alternatives(robot, name)) is not None:
            check_alternatives(body, checked[name], f"{function}: {name}")
    return checked


def with_objects(robot: Model, values: Values) -> tuple[Model, Values]:
    """The robot with the objects whose numbers are among single values, and the other values."""
    others = dict(values)
    for name, x in values.items():
        if (body := body_of_alternatives(robot, name)) is not None:
            robot = robot.with_present(body.name, int(x))
            del others[name]
    return robot, others


def leading(robot: Model, values: Values) -> list[tuple[int, ...]]:
    """The leading axes of each value."""
    return [x.shape[: x.ndim - robot.parameter(name).ndim] for name, x in values.items()]


def of_copies(function: str, robot: Model, values: Values, shape: tuple[int, ...]) -> Values:
    """The values of copies with these leading axes, (n, *shape of one); a `ShapeError` if there are others."""
    of_copy = {}
    for name, x in values.items():
        one = robot.parameter(name).shape
        try:
            of_copy[name] = np.broadcast_to(x, (*shape, *one)).reshape(math.prod(shape), *one)
        except ValueError:
            raise ShapeError(
                f"{function}: {name} has shape {x.shape}, which does not fit the leading axes {shape} of the picture"
            ) from None
    return of_copy


def of_motions(function: str, robot: Model, parameters: Any, shape: tuple[int, ...], which: Samples | None) -> Values:
    """The given values for a batch of motions of this shape, for the motions that are shown."""
    values = of_copies(function, robot, checked_values(function, robot, parameters), shape)
    if which is None or not shape:
        return values
    return {name: x[sample_numbers(function, which, shape)] for name, x in values.items()}

"""Inputs of a controller that is a program, other than time and state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import DTypeError, NameNotFoundError, OptionError
from kinetree.functions.controllers import ways_to_give
from kinetree.programs import Program
from kinetree.records import record

if TYPE_CHECKING:
    from kinetree.functions.closed_loop import ClosedLoop

__all__ = ["Inputs", "check_complete", "program_inputs"]

Array = NDArray[np.float64]
_DOUBLE = np.dtype(np.float64)


@record(frozen=True, slots=True)
class Inputs:
    """Inputs of a controller other than time and state."""

    constants: Mapping[str, Array]
    """Constant over a motion, (…, *shape)."""
    rows: Mapping[str, Array]
    """One row per step, (…, steps, *shape)."""
    state: Mapping[str, ArrayLike]
    """Initial values of its own state, (…, *shape)."""

    def piece(self, begin: int, count: int, controller: Program) -> Inputs:
        """The inputs of `count` steps from number `begin` on."""
        ranks = {name: len(controller.arguments[name].shape) for name in self.rows}
        places: dict[str, Any] = {
            name: (..., slice(begin, begin + count), *(slice(None),) * rank) for name, rank in ranks.items()
        }
        return replace(self, rows={name: x[places[name]] for name, x in self.rows.items()})

    def leading(self, controller: Program) -> dict[str, tuple[int, ...]]:
        """The axes of a batch that each has."""
        ranks = {name: len(argument.shape) for name, argument in controller.arguments.items()}
        axes = {name: x.shape[: x.ndim - ranks[name]] for name, x in self.constants.items()}
        axes |= {name: x.shape[: x.ndim - ranks[name] - 1] for name, x in self.rows.items()}
        return axes | {name: np.shape(x)[: np.ndim(x) - ranks.get(name, 0)] for name, x in self.state.items()}


def program_inputs(
    controller: Program,
    steps: int,
    arguments: Mapping[str, ArrayLike] | None,
    rows: Mapping[str, ArrayLike] | None,
    state: Mapping[str, ArrayLike] | None,
) -> Inputs:
    """The given arrays, checked. Raises ShapeError, DTypeError, NameNotFoundError."""
    from kinetree.functions.controllers import controller_input

    named = {"arguments": arguments, "rows": rows, "state": state}
    for what, some in named.items():
        if some is not None and not isinstance(some, Mapping):
            raise DTypeError(f"simulate: {what} must be a dict from names to arrays, not {type(some).__name__}")
        for name in some or {}:
            if name not in controller.arguments:
                known = ", ".join(controller.arguments)
                raise NameNotFoundError(
                    f"simulate: the controller {controller.name!r} has no argument {name!r:.60}; it has {known}"
                )
    for name in rows or {}:
        if name in (arguments or {}):
            raise OptionError(f"simulate: {name!r} is given in arguments and in rows; it is one or the other")
    constants = {
        name: controller_input("simulate", controller, name, x, _DOUBLE)
        for name, x in {**controller.defaults, **(arguments or {})}.items()
    }
    per_step = {
        name: controller_input("simulate", controller, name, x, _DOUBLE, (steps,)) for name, x in (rows or {}).items()
    }
    return Inputs({k: x for k, x in constants.items() if k not in per_step}, per_step, dict(state or {}))


def check_complete(loop: ClosedLoop, controller: Program, inputs: Inputs) -> None:
    """Raise unless every argument of the controller is given. Raises OptionError, DTypeError."""
    for name in inputs.constants:
        if name not in loop.given and name not in controller.defaults:
            raise OptionError(
                f"simulate: {name!r} of the controller {controller.name!r} is not given by arguments={loop.hint(name)}"
            )
    for name in loop.given:
        if name not in inputs.constants and name not in inputs.rows:
            raise DTypeError(f"simulate: the controller {controller.name!r} takes {name!r}: {ways_to_give(name)}")

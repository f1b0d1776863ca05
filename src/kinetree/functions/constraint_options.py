"""The options of functions of constraints: the constraints themselves, and how dependent rows are treated."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.compiler.arguments import dtype_like
from kinetree.compiler.definition import Array
from kinetree.errors import OptionError, ShapeError
from kinetree.expr import Port, Scalar
from kinetree.functions.options import one_of
from kinetree.inputs import holds_symbols, real_array
from kinetree.model import Model
from kinetree.model.constraint_numbers import ConstraintNumbers, listed
from kinetree.model.constraints import Constraint, Contact, Loop, holds
from kinetree.records import record

__all__ = [
    "ALL",
    "DAMPING",
    "ERRORS",
    "IN_SINGLE",
    "ROWS",
    "RULE",
    "STABILISED",
    "Constraints",
    "acceleration_or_zeros",
    "apart",
    "check_on_impossible",
    "checked_constraints",
    "first_sample",
    "frame_or_constraints_option",
    "held",
    "listed",
    "restitution_of_rows",
    "row_count",
    "rule_apart",
]

Constraints = Contact | Loop | Sequence[Contact | Loop]


ROWS = ConstraintNumbers("none")
"""For functions that depend on the rows of constraints only: no numbers."""
ERRORS = ConstraintNumbers("places")
"""For position errors: places and lengths."""
STABILISED = ConstraintNumbers("gains")
"""For accelerations: gains, and for position gains the errors."""
ALL = ConstraintNumbers("all")
"""For steps of time, which end with a projection: all numbers."""


def held(numbers: ConstraintNumbers) -> dict[str, Callable[[Model, Any], Hashable]]:
    """The option `constraints` of a function that needs these numbers of them."""
    return {"constraints": lambda model, value: numbers.without(checked_constraints(model, value))}


def checked_constraints(model: Model, value: Any) -> tuple[Constraint, ...]:
    constraints = listed(value)
    expected = "constraints must be a list of kt.constraints.Contact and kt.constraints.Loop"
    if not isinstance(constraints, tuple):
        raise OptionError(f"{expected}, not {value!r:.60}")
    for k, constraint in enumerate(constraints):
        if not isinstance(constraint, Contact | Loop):
            hint = f", such as kt.constraints.Contact({constraint!r})" if isinstance(constraint, str) else ""
            raise OptionError(f"{expected}{hint}, but constraint {k} is {constraint!r:.60}")
    if not constraints:
        raise OptionError(f"{expected} with at least one of them; where nothing is held, use kt.aba")
    holds(model.frames, constraints)  # raises if there is no such frame
    return constraints


def frame_or_constraints_option(model: Model, value: Any) -> tuple[Constraint, ...]:
    constraints = Contact(value, "fixed") if isinstance(value, str) else value
    return ROWS.without(checked_constraints(model, constraints))


def apart(constraints: Any, numbers: ConstraintNumbers) -> tuple[Any, Sequence[Array]]:
    """Constraints without their numbers, as part of a kernel's key, and those numbers as its inputs.

    Anything that is not a list of constraints is returned as it is, to be rejected later.
    """
    checked = listed(constraints)
    if not isinstance(checked, tuple) or not all(isinstance(c, Contact | Loop) for c in checked):
        return checked, ()
    return numbers.without(checked), numbers.arrays(checked)


def _number(name: str, value: Any, most: float, default: float) -> float:
    if value is None:
        return default
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise OptionError(f"{name} must be a number, not {value!r:.60}")
    limit = "finite and not negative" if most == math.inf else f"between 0 and {most:g}"
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        raise OptionError(f"{name} must be {limit}, not a whole number beyond all floats")
    if not 0.0 <= value < most:
        raise OptionError(f"{name} must be {limit}, not {value:g}")
    return float(value)


def acceleration_or_zeros(acceleration: ArrayLike | None, constraints: Constraints, like: ArrayLike) -> ArrayLike:
    """The given acceleration, or zeros."""
    return np.zeros(_count(constraints), dtype_like(like)) if acceleration is None else acceleration


def _count(constraints: Any) -> int:
    """Number of rows, before validation: anything that is not a constraint counts as zero rows."""
    given = listed(constraints)
    return sum(c.size for c in given if isinstance(c, Contact | Loop)) if isinstance(given, tuple) else 0


def restitution_of_rows(value: ArrayLike, constraints: Constraints, like: ArrayLike) -> Array:
    """One number per row, from a single number or one for each row."""
    rows = _count(constraints)
    numbers = real_array("restitution", value, f"(…, {rows})")
    is_known = not holds_symbols(numbers)
    if is_known and not ((numbers >= 0.0) & (numbers <= 1.0)).all():
        wrong = numbers[~((numbers >= 0.0) & (numbers <= 1.0))].flat[0]
        raise OptionError(f"restitution must be between 0 (nothing comes back) and 1 (all does), not {wrong:g}")
    if numbers.ndim and numbers.shape[-1] not in (1, rows):
        raise ShapeError(
            f"impact: the constraints have {rows} rows, but restitution has {numbers.shape[-1]} numbers; give one "
            "number, or one for each row"
        )
    spread = np.broadcast_to(numbers, (*numbers.shape[:-1], rows))
    return spread.astype(dtype_like(like)) if is_known else spread


def check_on_impossible(value: object) -> None:
    """Raise unless it is a known treatment of demands that cannot be met."""
    if value not in ("error", "least_squares"):
        raise OptionError(f"on_impossible must be 'error' or 'least_squares', not {value!r:.60}")


def first_sample(wrong: NDArray[np.bool_]) -> tuple[tuple[int, ...], str]:
    """The index of the first sample that is wrong, and its part of a message: nothing for a single sample."""
    sample = tuple(map(int, np.unravel_index(int(np.argmax(wrong)), wrong.shape)))
    return sample, f" of sample {sample}" if sample else ""


_one_method = one_of("method", "kkt", "operational_space")


def _method_option(model: Model, value: Any) -> Hashable:
    return "kkt" if value is None else _one_method(model, value)


def row_count(constraints: Sequence[Constraint]) -> int:
    return sum(constraint.size for constraint in constraints)


@record(frozen=True, slots=True)
class _Damping:
    """The damping of rows as an input of a kernel, if it is not zero."""

    def ports(self, _: Model, options: Mapping[str, Any]) -> list[Port]:
        return [Port("damping", ())] if options["damping"] else []

    def arrays(self, value: Any) -> list[Array]:
        return [np.array(float(value))] if value else []

    def filled(self, value: Any, numbers: Sequence[Sequence[Scalar]]) -> Scalar:
        filled: Scalar = numbers[0][0] if numbers else value
        return filled


DAMPING = _Damping()
_SOME_DAMPING = 1.0
"""In place of any that is not zero."""


def _damping_option(_: Model, value: Any) -> Hashable:
    return _SOME_DAMPING if _number("damping", value, math.inf, 0.0) else 0.0


def _tolerance_option(_: Model, value: Any) -> Hashable:
    return _number("tolerance", value, 1.0, 1e-10)


def rule_apart(method: str, damping: float, tolerance: float | None) -> tuple[dict[str, Any], list[Array]]:
    """The options that say how rows are treated, those that are given, and the damping as an input of a kernel."""
    arrays = _damping_array(damping)
    return {"method": method, "damping": _SOME_DAMPING if arrays else 0.0, "tolerance": tolerance}, arrays


def _damping_array(damping: Any) -> list[Array]:
    """The damping, if it is not zero, or if it is a symbolic number, whose value is not known."""
    if holds_symbols(damping):
        return [real_array("damping", damping, "()")]
    return DAMPING.arrays(_number("damping", damping, math.inf, 0.0))


RULE: dict[str, Callable[[Model, Any], Hashable]] = {
    "method": _method_option,
    "damping": _damping_option,
    "tolerance": _tolerance_option,
}
"""How constraint forces are computed, and which rows count as dependent on others."""
IN_SINGLE = {"tolerance": 1e-7}
"""Defaults that differ in float32."""

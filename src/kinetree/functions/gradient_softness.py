"""The option `gradient_softness`: derivatives as if all soft constraints were softer, of a motion that is not.

A stiff contact has large derivatives where it touches and none where it does not. Those of the same problem with longer
time constants and more regularisation are smaller, and change more slowly from state to state.

Source: Howell, Le Cleac'h, Kolter, Schwager, Manchester, "Dojo: a differentiable physics engine for robotics" (2022),
whose gradients are those of a problem that is relaxed further than the one solved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

from kinetree.algorithms.convex_dynamics import Block
from kinetree.algorithms.softness import Softness
from kinetree.contact_model import SoftConstraints
from kinetree.errors import OptionError
from kinetree.model import Model

__all__ = ["gradient_softness_option", "softened", "softness_switch", "with_softer"]


def gradient_softness_option(_: Model, value: Any) -> float:
    """How much softer: zero or more."""
    if value is None:
        return 0.0
    try:
        softness = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError):
        softness = math.nan
    if not 0.0 <= softness < math.inf:
        raise OptionError(
            "gradient_softness must be a number from 0 (the contacts' own derivatives) on, such as 1.0 (those of "
            f"contacts twice as soft), not {value!r:.60}"
        )
    return softness


def softness_switch(robot: Model, value: Any) -> dict[str, float]:
    """The option in a call, if it is not the usual one."""
    softness = gradient_softness_option(robot, value)
    return {"gradient_softness": softness} if softness else {}


def softened(constraints: SoftConstraints, softness: float) -> SoftConstraints:
    """The constraints with time constants, widths and regularisations 1 + softness times as large."""
    times = 1.0 + softness
    changed: dict[str, Any] = {}
    for one in fields(constraints):
        rows = getattr(constraints, one.name)
        if isinstance(rows, Sequence) and all(isinstance(getattr(row, "softness", None), Softness) for row in rows):
            changed[one.name] = tuple(_softened(row, times) for row in rows)
    return replace(constraints, **changed)


def _softened(row: Any, times: float) -> Any:
    softness: Softness = row.softness
    row = replace(row, softness=softness.softer(times))
    across: tuple[float, float] = getattr(row, "friction_reference", (0.0, 0.0))
    if not any(across):
        return row
    return replace(row, friction_reference=replace(softness, reference=across).softer(times).reference)


def with_softer(
    rows: Callable[..., tuple[Sequence[Block], Any]], softer: Callable[..., tuple[Sequence[Block], Any]]
) -> Callable[..., tuple[Sequence[Block], Sequence[Any]]]:
    """The rows at a state, with the softer ones that derivatives are those of."""

    def at(*state: Any) -> tuple[Sequence[Block], Sequence[Any]]:
        pairs = zip(rows(*state)[0], softer(*state)[0], strict=True)
        return [row._replace(softer=soft) for row, soft in pairs], ()

    return at

"""The joint forces of all that acts when a robot is given commands, as a function of arrays.

It is not public: `kinetree.sim` computes the accelerations of a motion with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy
from kinetree.compiler.forms.form import Form
from kinetree.expr import Scalar
from kinetree.functions.commands import Commanded, activation_count, applied, command_count, commanded_option
from kinetree.functions.drives import Passive, passive_option, switched_on
from kinetree.model import Model

__all__ = ["commanded_forces"]


def _forces(
    model: Form, q: Slots, v: Slots, act: Sequence[Scalar], ctrl: Sequence[Scalar], dt: Sequence[Scalar], *,
    passive: Sequence[str], actuators: Commanded,
) -> list[Scalar]:  # fmt: skip
    pull = applied(model, actuators, passive, ctrl).at(model.tree, q, v, act, dt[0])
    return model.tree.joined(pull.forces[1:], "nv")


_FORCES = Definition(
    "simulate",
    (("q", "nq"), ("v", "nv"), ("act", "na"), ("ctrl", "nu"), ("dt", 1)),
    ("nv",),
    _forces,
    {"passive": passive_option, "actuators": commanded_option},
    sizes={"nu": command_count, "na": activation_count},
    strategy=Strategy(loops=False),
)


def commanded_forces(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    act: Array,
    ctrl: ArrayLike,
    dt: float,
    *,
    passive: Passive,
    parameters: Mapping[str, ArrayLike] | None = None,
) -> Array:
    """Joint forces (…, nv) of actuators, tendons, carried weights and the medium, in a step of dt; N·m, N."""
    switches = switched_on(robot, passive, False)
    return run(_FORCES, robot, (q, v, act, ctrl, np.array([dt])), parameters=parameters, **switches)

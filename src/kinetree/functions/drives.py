"""Friction, springs and motor limits, as functions of arrays and as options of the equations of motion."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots
from kinetree.compiler.usual_calls import defined_plainly_by
from kinetree.errors import OptionError, nearest_names
from kinetree.expr import Scalar
from kinetree.inputs import flag
from kinetree.model import Model, check_robot

if TYPE_CHECKING:
    from kinetree.compiler.forms import Form

__all__ = [
    "OnUnactuated",
    "Passive",
    "all_passive_option",
    "check_motors",
    "limited_forces",
    "limits_option",
    "passive_forces",
    "passive_option",
    "switched_on",
]

Passive = bool | Sequence[str]
"""True for all passive forces, False for none, or a list of names."""
OnUnactuated = Literal["allow", "error"]
"""Treatment of a force at a joint without a motor."""


def passive_option(_: Model, value: Any) -> Hashable:
    """The names of the selected passive forces, in a fixed order; none for None."""
    if value is None:
        return ()
    if isinstance(value, bool | np.bool_):
        return algorithms.PASSIVE if value else ()
    names = ", ".join(map(repr, algorithms.PASSIVE))
    if not isinstance(value, list | tuple | set | frozenset):
        hint = f", such as [{value!r}]" if isinstance(value, str) and value in algorithms.PASSIVE else ""
        raise OptionError(f"passive must be True, False or a list of names among {names}{hint}, not {value!r:.60}")
    for name in value:
        if name not in algorithms.PASSIVE:
            nearest = nearest_names(str(name), algorithms.PASSIVE)
            raise OptionError(f"passive: there is no passive force {name!r:.60}: {nearest}")
    return tuple([name for name in algorithms.PASSIVE if name in value])


def all_passive_option(model: Model, value: Any) -> Hashable:
    """`passive_option` for functions whose passive forces act by default: all of them for None."""
    return passive_option(model, True if value is None else value)


def limits_option(_: Model, value: Any) -> Hashable:
    """Whether motor limits apply; False for None."""
    if value is None or value is False:
        return False
    return flag("limits", value, "; the limits themselves belong to the joints")


def switched_on(robot: Model, passive: Passive, limits: bool = False) -> dict[str, Any]:
    """The two options for `run`, without those that are off, as they are by default in most functions."""
    if passive is False and limits is False:  # the usual call
        return {}
    asked = {"passive": passive_option(robot, passive), "limits": limits_option(robot, limits)}
    return {name: value for name, value in asked.items() if value}


def check_motors(robot: Model, tau: ArrayLike, on_unactuated: object) -> None:
    """Reject forces at joints without a motor if `on_unactuated` is "error"."""
    if not isinstance(on_unactuated, str) or on_unactuated not in ("allow", "error"):
        raise OptionError(f'on_unactuated must be "allow" or "error", not {on_unactuated!r:.60}')
    if on_unactuated == "error":
        check_robot(robot).check_actuation(tau)


def _passive_forces(model: Form, q: Slots, v: Slots, *, passive: Sequence[str]) -> list[Scalar]:
    return model.tree.joined(algorithms.passive_forces(model.tree, q, v, passive)[1:], "forces")


def _limited_forces(model: Form, tau: Slots, v: Slots) -> list[Scalar]:
    return model.tree.joined(algorithms.limited(model.tree, tau, v)[1:], "forces")


PASSIVE_FORCES = Definition(
    "passive_forces", (("q", "nq"), ("v", "nv")), ("nv",), _passive_forces, {"passive": all_passive_option}
)
LIMITED_FORCES = Definition(
    "limited_forces", (("tau", "forces"), ("v", "nv")), ("nv",), _limited_forces, takes_parameters=False
)


@defined_plainly_by(PASSIVE_FORCES, in_units=True)
def passive_forces(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    passive: Passive = True,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The forces of friction and springs along the joints, as `aba(…, passive=…)` adds them to tau.

    Args:
        passive: True for all, or a list of names among "damping" (-d v), "friction" (Coulomb's, -F tanh(v / v_s)) and
            "spring" (-∂/∂q of k/2 |q - rest|²). See `kinetree docs drives`.
        parameters: values that override some of the robot's parameters, as for `aba`.
        out: where to put the result, (…, nv), of the result's dtype.

    Returns:
        Joint forces (…, nv); N·m, N. Where joints share coordinates, those of followers are included in their leaders'.

    Raises:
        OptionError: unknown passive force.

    Source: viscous damping, Coulomb friction with its jump smoothed by tanh, and the gradient of a spring's energy.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("cart_pole")
    >>> kt.dynamics.passive_forces(robot, [0.0, 0.0], [2.0, 1.0]).tolist()
    [-0.1, -0.0005]
    """
    options: dict[str, Any] = {} if passive is True else {"passive": all_passive_option(check_robot(robot), passive)}
    return run(PASSIVE_FORCES, robot, (q, v), parameters=parameters, out=out, threads=threads, **options)


@defined_plainly_by(LIMITED_FORCES, in_units=True)
def limited_forces(
    robot: Model, tau: ArrayLike, v: ArrayLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """The joint forces that motors give when commanded tau, as in `aba(…, limits=True)`.

    They give no more than their effort limit in either direction. At or beyond its velocity limit a joint is not driven
    any faster, while forces that slow it down still act. There is a motor at each joint. Followers that mimic another
    joint have none that acts; the joints of a coupling share its forces so that the sum of their squares is least.

    Args:
        out: where to put the result, (…, nv), of the result's dtype.

    Returns:
        Joint forces (…, nv); N·m, N.

    Raises:
        ShapeError, DTypeError: as for `aba`.

    Source: a motor that saturates, with a steep end to its torque-speed curve.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("cart_pole")
    >>> robot.joints["slider"].limits.effort, robot.joints["slider"].limits.velocity
    ((50.0,), (10.0,))
    >>> kt.dynamics.limited_forces(robot, [80.0, 0.0], [0.0, 0.0]).tolist()
    [50.0, 0.0]
    >>> kt.dynamics.limited_forces(robot, [80.0, 0.0], [10.0, 0.0]).tolist()
    [0.0, 0.0]
    """
    return run(LIMITED_FORCES, robot, (tau, v), out=out, threads=threads)

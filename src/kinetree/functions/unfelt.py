"""Parameters that a motion does not feel: of shapes that touch nothing, and friction below that of all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.contact_model import SoftConstraints, TendonCoupling, TouchSpec
from kinetree.errors import OptionError, ShapeError, listed
from kinetree.functions.actuators import actuators_of
from kinetree.functions.contact_options import ContactOption, contact_option
from kinetree.functions.drives import Passive, passive_option
from kinetree.inputs import real_array
from kinetree.model import Body, Joint, Model, check_robot
from kinetree.model.actuator_parameters import ActuatorOf
from kinetree.model.parameters import find
from kinetree.model.row_parameters import RowsOf
from kinetree.model.shape_parameters import ShapeOf

__all__ = ["unfelt_parameters"]

Array = NDArray[np.float64]
Ranges = Mapping[str, tuple[Array, Array]]
Key = tuple[str | None, int]
"""A shape: its body, and its place there."""
_MIXED = ("friction", "solref", "solimp")
_DRIVES = {"damping": "damping", "friction": "friction", "stiffness": "spring", "rest": "spring"}
_COEFFICIENTS = (("sliding", 3), ("torsional", 4), ("rolling", 6))
"""The coefficients of friction, and the dimensions of contacts from which on they count."""


def unfelt_parameters(
    robot: Model,
    ranges: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    contact: ContactOption = True,
    passive: Passive = True,
) -> dict[str, str]:
    """The parameters that a motion does not feel, or not in all of their range, and why.

    Of two shapes that touch, the larger friction counts, or that of the shape with the higher priority. So friction of
    a floor below that of the feet changes nothing; neither does any number of a shape that touches nothing, of friction
    where it does not act, or of an actuator that is switched off.

    Args:
        robot: the robot.
        ranges: the smallest and the largest value of each parameter, by its name; numbers that broadcast to its shape.
            They are those of all samples: friction is compared with the other shapes' range, if it is given too.
        contact: as for `rollout`; False: nothing touches.
        passive: as for `rollout`: the passive forces that act.

    Returns:
        A sentence for each parameter with such values, by its name.

    Raises:
        NameNotFoundError: the robot has no such parameter.
        OptionError: a range is not a pair of numbers in order; or as for `rollout`.

    >>> import kinetree as kt
    >>> robot = kt.ModelBuilder("world")
    >>> robot.add_body("world")
    >>> robot = robot.build().with_free_body("sphere", 0.1, mass=1.0, name="ball").on_ground()
    >>> kt.contact.unfelt_parameters(robot, {"shape.ground.friction": ([0.1, 0.0, 0.0], [0.8, 0.0, 0.0])})
    {'shape.ground.friction': "its sliding friction changes nothing: that of 'ball' is at least 1"}
    """
    model = check_robot(robot)
    acting, soft = passive_option(model, passive), contact_option(model, contact)
    if not isinstance(ranges, Mapping):
        raise OptionError(f"unfelt_parameters: ranges must be a dict from names to pairs of values, not {ranges!r:.60}")
    known = {name: _range(model, name, x) for name, x in ranges.items()}
    soft = soft and soft.called_for(model, known)
    reasons = {}
    for name in known:
        reason = _why(model, name, known, soft, acting)
        if reason:
            reasons[name] = reason
    return reasons


def _range(model: Model, name: str, given: Any) -> tuple[Array, Array]:
    shape = model.parameter(name).shape
    try:
        low, high = (np.broadcast_to(real_array(name, x, str(shape)).astype(np.float64), shape) for x in given)
    except (TypeError, ValueError, ShapeError):
        raise OptionError(
            f"unfelt_parameters: the range of {name!r} is its smallest and its largest value, two arrays of the shape "
            f"{shape}, not {given!r:.60}"
        ) from None
    if not (low <= high).all():
        raise OptionError(
            f"unfelt_parameters: the smallest value of {name!r} is larger than the largest: {given!r:.60}"
        )
    return low, high


def _why(model: Model, name: str, ranges: Ranges, soft: SoftConstraints | None, passive: Any) -> str:
    """Why nothing feels a parameter; empty if something does."""
    owner, quantity = (parameter := find(model, name)).owner, parameter.quantity
    if isinstance(owner, ShapeOf):
        return "nothing touches without contact=" if soft is None else _of_shape(model, owner, quantity, ranges, soft)
    if isinstance(owner, RowsOf):
        if soft is None:
            return "it acts with contact= alone"
        return "" if owner.key in _rows(soft) else f"this {owner.what} is not among the soft constraints"
    if isinstance(owner, ActuatorOf):
        actuation = actuators_of(model)
        is_off = not actuation.is_on or actuation.actuators[owner.number].is_disabled
        return "the actuator is switched off by the robot's options" if is_off else ""
    if isinstance(owner, Joint):
        return _of_joint(owner, quantity, ranges, soft, passive)
    if isinstance(owner, Body) and quantity in ("mass", "com", "inertia") and not owner.slot:
        return "the body is fixed to the world"
    return ""


def _rows(soft: SoftConstraints) -> set[str]:
    """The names of the pairs, equalities and tendons that act."""
    tendons = (row.name if isinstance(row, TendonCoupling) else row.length.tendon for row in soft.tendons)
    pairs = (touch.pair for touch in soft.touches if touch.pair is not None)
    return {*pairs, *tendons, *(coupling.name for coupling in soft.couplings), *(one.name for one in soft.connections)}


def _of_joint(joint: Joint, quantity: str, ranges: Ranges, soft: SoftConstraints | None, passive: Any) -> str:
    if quantity in _DRIVES:
        if _DRIVES[quantity] not in passive:
            return f"passive= leaves out {_DRIVES[quantity]!r}"
        if quantity == "friction" and soft is not None and joint.name not in {one.joint for one in soft.frictions}:
            return "the robot's options switch dry friction off"
        if quantity == "rest" and not any(joint.stiffness) and f"joint.{joint.name}.stiffness" not in ranges:
            return "the joint has no spring"
        return ""
    if quantity in ("placement", "armature"):
        return ""
    if soft is None:
        return "it acts with contact= alone"
    if quantity.endswith("_friction"):
        return (
            ""
            if joint.name in {friction.joint for friction in soft.frictions} and "friction" in passive
            else "no dry friction acts"
        )
    return "" if joint.name in {limit.joint for limit in soft.limits} else "the limits of the joint do not act"


def _of_shape(model: Model, shape: ShapeOf, quantity: str, ranges: Ranges, soft: SoftConstraints) -> str:
    key = shape.body, shape.number
    pairs = [touch for touch in soft.touches if key in _keys(touch)]
    if not pairs:
        return "the shape touches nothing: it is in no pair of shapes that may touch"
    if quantity not in (*_MIXED, "margin"):
        return ""
    own = [touch for touch in pairs if touch.sides is not None]
    if not own:
        return "its pairs have numbers of their own, or the robot's options override them"
    if quantity == "margin":
        return ""
    asked = [touch for touch in own if _has_a_say(touch, key, quantity)]
    if not asked:
        return (
            f"in all of its pairs the numbers of the other shape count, by its priority or weight: {_others(own, key)}"
        )
    if quantity != "friction":
        return ""
    owners = ((find(model, name).owner, x) for name, x in ranges.items() if name.endswith(".friction"))
    given: dict[Key, tuple[Array, Array]] = {(one.body, one.number): x for one, x in owners if isinstance(one, ShapeOf)}
    return _of_friction(asked, key, given)


def _keys(touch: TouchSpec) -> list[Key]:
    return [(side.body, side.number) for side in (touch.first, touch.second)]


def _others(touches: Iterable[TouchSpec], key: tuple[str, int]) -> str:
    names = (touch.second.name if _keys(touch)[0] == key else touch.first.name for touch in touches)
    return listed([repr(name) for name in dict.fromkeys(names)], most=4)


def _has_a_say(touch: TouchSpec, key: tuple[str, int], quantity: str) -> bool:
    """Whether a number of a shape may count in a pair."""
    assert touch.sides is not None
    k = _keys(touch).index(key)
    own, other = touch.sides[k], touch.sides[1 - k]
    if own.priority != other.priority:
        return own.priority > other.priority
    return quantity == "friction" or not own.solmix < 1e-15 <= other.solmix


def _of_friction(touches: Sequence[TouchSpec], key: tuple[str, int], ranges: Mapping[Key, tuple[Array, Array]]) -> str:
    """The parts of its range in which friction is not felt, coefficient by coefficient."""
    low, high = ranges[key]
    reasons = []
    for k, (word, dimension) in enumerate(_COEFFICIENTS):
        counting = [touch for touch in touches if touch.dimension >= dimension]
        is_fixed = low[k] == high[k] and (low < high).any()
        if not counting or is_fixed:
            continue
        least = min(_least(touch, key, k, ranges) for touch in counting)
        others = _others(counting, key)
        if high[k] <= least:
            reasons.append(f"its {word} friction changes nothing: that of {others} is at least {least:g}")
        elif low[k] < least:
            reasons.append(f"below {least:g} its {word} friction changes nothing: that of {others} is larger")
    return "; ".join(reasons)


def _least(touch: TouchSpec, key: tuple[str, int], k: int, ranges: Mapping[Key, tuple[Array, Array]]) -> float:
    """The friction from which on that of a shape counts in a pair."""
    assert touch.sides is not None
    keys = _keys(touch)
    place = keys.index(key)
    own, other = touch.sides[place], touch.sides[1 - place]
    if own.priority > other.priority:
        return -np.inf
    of_other = keys[1 - place]
    return float(ranges[of_other][0][k] if of_other in ranges else other.friction[k])

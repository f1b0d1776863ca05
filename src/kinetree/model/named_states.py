"""Groups of joints and named states of a robot, as its SRDF file gives them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ModelError, NameNotFoundError, ShapeError, listed, nearest_names, quoted
from kinetree.inputs import real_array
from kinetree.model.extras import JointValues, NamedState
from kinetree.model.robot import Robot
from kinetree.model.specs import JointSpec

__all__ = ["group", "named_configuration"]


def group(model: Robot, name: str) -> list[str]:
    """See `Model.group`."""
    groups = {one.name: one for one in model.extras.groups}
    if name not in groups:
        raise NameNotFoundError(f"{model.name!r} has no group {quoted(name)}: {nearest_names(str(name), groups)}")
    above = {spec.child: spec for spec in model.parts.joints}
    joints: set[str] = set()
    pending, known = [name], {name}
    while pending:
        one = groups[pending.pop()]
        joints.update(one.joints)
        joints.update(above[body].name for body in one.bodies if body in above)
        for base, tip in one.chains:
            joints.update(_between(above, base, tip))
        for inside in one.groups:
            if inside in groups and inside not in known:
                known.add(inside)
                pending.append(inside)
    return [joint for joint in model.joints if joint in joints]


def _between(above: Mapping[str, JointSpec], base: str, tip: str) -> set[str]:
    """The joints on the way from one body to another."""
    ways = []
    for body in (base, tip):
        way = []
        while body in above:
            spec = above[body]
            way.append(spec.name)
            body = spec.parent
        ways.append(way)
    return set(ways[0]) ^ set(ways[1])


def named_configuration(model: Robot, name: str, group: str | None, q: ArrayLike | None) -> NDArray[np.float64]:
    """See `Model.named_configuration`."""
    state = _state(model, name, group)
    if q is None:
        result = model.neutral()
    else:
        result = np.array(real_array("q", q, f"({model.nq},)"), dtype=np.float64)
        if result.shape != (model.nq,):
            raise ShapeError(f"q has shape {result.shape}, but named_configuration takes one q of ({model.nq},)")
    for part in state.values:
        _put(model, state, part, result)
    model.check_configuration(result)
    return result


def _state(model: Robot, name: str, group: str | None) -> NamedState:
    states = model.extras.named_states
    named = [state for state in states if state.name == name]
    if not named:
        known = dict.fromkeys(state.name for state in states)
        raise NameNotFoundError(f"{model.name!r} has no named state {quoted(name)}: {nearest_names(str(name), known)}")
    groups = [state.group for state in named]
    if group is None:
        if len(named) > 1:
            raise ModelError(
                f"{model.name!r} has a state {name!r} of several groups; name one: {listed(map(repr, groups))}"
            )
        return named[0]
    for state in named:
        if state.group == group:
            return state
    raise NameNotFoundError(f"state {name!r} is not one of group {quoted(group)}: {nearest_names(str(group), groups)}")


def _put(model: Robot, state: NamedState, part: JointValues, q: NDArray[np.float64]) -> None:
    """Insert the values of one joint."""
    joint = model.joints.get(part.joint)
    if joint is None:
        virtual = {one.name: one for one in model.extras.virtual_joints}.get(part.joint)
        if not model.floating_base or (virtual is not None and virtual.child != model.root):
            return  # the base does not move, whatever the file says about it
        joint = next(iter(model.joints.values()))
    if joint.mimic is not None:
        return
    if joint.coupling is not None:
        raise ModelError(
            f"state {state.name!r} gives a value for joint {joint.name!r}, whose coordinates are those of coupling "
            f"{joint.coupling!r}; set q by that coupling's coordinates"
        )
    if len(part.values) != joint.kind.nq:
        raise ModelError(
            f"state {state.name!r} has {len(part.values)} values for joint {joint.name!r}, which has {joint.kind.nq} "
            "coordinates"
        )
    q[joint.q_slice] = part.values

"""Quaternions in a configuration, read and replaced by the name of a joint or of the body that it moves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import NameNotFoundError, listed, nearest_names
from kinetree.inputs import common_axes, holds_symbols, samples
from kinetree.model.robot import Robot, refuse_zero_quaternions

__all__ = ["quaternion", "with_quaternion"]


def quaternion(robot: Robot, q: ArrayLike, name: str) -> NDArray[Any]:
    """The quaternion (…, 4) of a joint in q (…, nq)."""
    place = _place(robot, name)
    return _array("q", q, robot.nq, f"{robot.name!r}")[..., place].copy()


def with_quaternion(robot: Robot, q: ArrayLike, name: str, given: ArrayLike) -> NDArray[Any]:
    """A copy of q (…, nq) with the quaternion of a joint replaced."""
    place = _place(robot, name)
    configuration = _array("q", q, robot.nq, f"{robot.name!r}")
    replacement = _array("quaternion", given, 4, "a quaternion")
    shape = common_axes("with_quaternion", {"q": configuration.shape[:-1], "quaternion": replacement.shape[:-1]})
    if not holds_symbols(replacement):
        refuse_zero_quaternions(replacement, {name: slice(0, 4)}, "quaternion")
    if holds_symbols(configuration) or holds_symbols(replacement):
        parts = configuration[..., : place.start], replacement, configuration[..., place.stop :]
        inside: NDArray[Any] = np.concatenate([np.broadcast_to(x, (*shape, x.shape[-1])) for x in parts], axis=-1)
        return inside
    result = np.empty((*shape, robot.nq), np.result_type(configuration, replacement))
    result[...] = configuration
    result[..., place] = replacement
    return result


def _array(name: str, x: ArrayLike, n: int, where: str) -> NDArray[Any]:
    """Check the last axis; integers become float64."""
    array = samples(name, x, (n,), where)
    return array if array.dtype == np.float32 else array.astype(np.float64, copy=False)


def _place(robot: Robot, name: str) -> slice:
    """Where the quaternion of a joint, or of the joint that moves a body, is in q."""
    places = robot.quaternions
    if not isinstance(name, str):
        raise NameNotFoundError(f"a joint or a body is given by its name, not {name!r:.60}")
    if name in places:
        return places[name]
    joint = robot.joints[name] if name in robot.joints else _joint_of(robot, name)
    if joint.name in places:
        return places[joint.name]
    which = f"joint {joint.name!r} ({joint.kind.description})"
    if joint.name != name:
        which += f", which moves body {name!r},"
    raise NameNotFoundError(f"{which} has no quaternion in q; {_that_have(places)}")


def _joint_of(robot: Robot, body: str) -> Any:
    """The joint that moves a body."""
    if body not in robot.bodies:
        near = nearest_names(body, [*robot.quaternions, *robot.joints, *robot.bodies])
        raise NameNotFoundError(f"{robot.name!r} has no joint or body {body!r}: {near}")
    for joint in robot.joints.values():
        if joint.child == body:
            return joint
    raise NameNotFoundError(f"no joint moves body {body!r}, which is fixed; {_that_have(robot.quaternions)}")


def _that_have(places: dict[str, slice]) -> str:
    return f"those that have one: {listed(map(repr, places), most=10)}" if places else "no joint of this robot has one"

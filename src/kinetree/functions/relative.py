"""Motion of one frame as seen from another, from only the joints between the two, as functions of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.errors import OptionError
from kinetree.expr import Scalar
from kinetree.functions.jacobians import Part, part_of, part_option, rows_of
from kinetree.functions.options import (
    ExpressedIn,
    Kind,
    classical,
    express,
    expressed_in_option,
    frame_option,
    kind_option,
)
from kinetree.model import Frame, Model
from kinetree.spatial import Transform

__all__ = ["relative_acceleration", "relative_jacobian", "relative_placement", "relative_velocity"]


def _relative_to_option(model: Model, name: Any) -> Frame:
    """The frame to see from; the root body's for None."""
    if name is None:
        return model.frames[model.root]
    if not isinstance(name, str):
        raise OptionError(f"relative_to must be a name, such as {model.root!r}, not {name!r:.60}")
    return model.frames[name]


def _placement(model: Form, q: Slots, *, frame: Frame, relative_to: Frame) -> Sequence[Scalar]:
    transforms = algorithms.seen_across(model.tree, q, relative_to.slot, relative_to.placement, frame.slot)
    return (frame.placement @ transforms[frame.slot]).homogeneous()


def _jacobian(model: Form, q: Slots, *, frame: Frame, relative_to: Frame, expressed_in: str, part: str) -> list[Scalar]:
    transforms = _seen(model, q, frame, relative_to, expressed_in)
    columns = algorithms.relative_jacobian(model.tree, q, frame.slot, relative_to.slot, transforms)
    J = model.tree.columns(rows_of(part))
    for j, _ in algorithms.joints_between(model.tree, frame.slot, relative_to.slot):
        J[j] = [part_of(m, part) for m in columns[j]]
    return J.flat()


def _velocity(
    model: Form, q: Slots, v: Slots, *, frame: Frame, relative_to: Frame, expressed_in: str
) -> Sequence[Scalar]:
    transforms = _seen(model, q, frame, relative_to, expressed_in)
    return algorithms.relative_velocity(model.tree, q, v, frame.slot, relative_to.slot, transforms).linear_first()


def _acceleration(
    model: Form, q: Slots, v: Slots, qdd: Slots, *, frame: Frame, relative_to: Frame, expressed_in: str, kind: str
) -> Sequence[Scalar]:
    tree = model.tree
    moves = algorithms.relative_motion(tree, q, v, qdd, frame.slot, relative_to.slot)
    transforms = algorithms.seen_across(tree, q, relative_to.slot, relative_to.placement, frame.slot)
    X = frame.placement @ transforms[frame.slot]
    a = express(frame.placement @ moves.a, X, expressed_in)
    if kind == "classical":
        a = classical(a, express(frame.placement @ moves.v, X, expressed_in))
    return a.linear_first()


def _seen(model: Form, q: Slots, frame: Frame, relative_to: Frame, expressed_in: str) -> Sequence[Transform]:
    """Transforms from the requested coordinates to those of the bodies between the two."""
    tree = model.tree
    if expressed_in == "local":
        return algorithms.seen_across(tree, q, frame.slot, frame.placement, relative_to.slot)
    transforms = algorithms.seen_across(tree, q, relative_to.slot, relative_to.placement, frame.slot)
    if expressed_in == "world":
        return transforms
    origin = (frame.placement @ transforms[frame.slot]).r
    return algorithms.seen_about(tree, frame.slot, transforms, origin, relative_to.slot)


_Q, _V, _QDD = ("q", "nq"), ("v", "nv"), ("qdd", "nv")
_FRAMES = {"frame": frame_option, "relative_to": _relative_to_option}
RELATIVE_PLACEMENT = Definition("relative_placement", (_Q,), (4, 4), _placement, _FRAMES)
RELATIVE_VELOCITY = Definition(
    "relative_velocity", (_Q, _V), (6,), _velocity, {**_FRAMES, "expressed_in": expressed_in_option}
)
RELATIVE_ACCELERATION = Definition(
    "relative_acceleration",
    (_Q, _V, _QDD),
    (6,),
    _acceleration,
    {**_FRAMES, "expressed_in": expressed_in_option, "kind": kind_option},
)
RELATIVE_JACOBIAN = Definition(
    "relative_jacobian",
    (_Q,),
    lambda _, options: (rows_of(options["part"]), "nv"),
    _jacobian,
    {**_FRAMES, "expressed_in": expressed_in_option, "part": part_option},
)


@defined_by(RELATIVE_PLACEMENT)
def relative_placement(
    robot: Model,
    q: ArrayLike,
    frame: str,
    relative_to: str | None = None,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The placement of one frame, as seen from another.

    It depends only on the joints between the two.

    Returns:
        Homogeneous matrix (…, 4, 4) that takes points of `frame` to the coordinates of `relative_to`, metres.

    Source: Featherstone, RBDA (2008), sections 4.1.4 and 5.2.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> tip = list(robot.bodies)[-1]
    >>> bool((kt.kinematics.relative_placement(robot, [0.3, 0.1], tip, tip) == np.eye(4)).all())
    True
    """
    return run(
        RELATIVE_PLACEMENT,
        robot,
        (q,),
        frame=frame,
        relative_to=relative_to,
        parameters=parameters,
        out=out,
        threads=threads,
    )


@defined_by(RELATIVE_VELOCITY)
def relative_velocity(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    relative_to: str | None = None,
    *,
    expressed_in: ExpressedIn,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The twist of one frame as seen from another.

    It corresponds to `relative_placement` as `frame_velocity` does to `frame_placement`. For the world's axes, rotate
    it by the rotation in `frame_placement` of `relative_to`.

    Args:
        expressed_in: as for `frame_velocity`, with `relative_to` in place of the world: "local" (the frame's axes and
            origin), "world" (those of `relative_to`) or "local_world_aligned" (the axes of `relative_to` at the
            frame's origin).

    Returns:
        [v; ω] (…, 6); m/s, rad/s.

    Source: Featherstone, RBDA (2008), eq. 5.7, outward from the body where their paths to the root meet.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> q, v = [0.3, 0.1], [5.0, 1.0]
    >>> kt.kinematics.relative_velocity(robot, q, v, "lower_rod", "upper_rod", expressed_in="local").tolist()
    [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    """
    return run(
        RELATIVE_VELOCITY,
        robot,
        (q, v),
        frame=frame,
        relative_to=relative_to,
        expressed_in=expressed_in,
        parameters=parameters,
        out=out,
        threads=threads,
    )


@defined_by(RELATIVE_ACCELERATION)
def relative_acceleration(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike,
    frame: str,
    relative_to: str | None = None,
    *,
    expressed_in: ExpressedIn,
    kind: Kind = "spatial",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The acceleration of one frame as seen from another, as if the other were at rest.

    It depends only on the joints between the two: an observer on `relative_to` measures it, without the centrifugal and
    Coriolis accelerations of its own motion.

    Args:
        expressed_in: "local", "world" or "local_world_aligned", as for `relative_velocity`.
        kind: "spatial" (relative_jacobian times qdd plus its rate times v, in "local" and "world";
            "local_world_aligned" shows the local one in the axes of `relative_to`), or "classical" (linear part: the
            acceleration of the body's point at the origin).

    Returns:
        [a; α] (…, 6); m/s², rad/s².

    Raises:
        OptionError: expressed_in or kind is not an allowed value.

    Source: Featherstone, RBDA (2008), eq. 5.8 from `relative_to` outward; the classical one by eq. 2.45.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> q, v, qdd = [0.3, 0.1], [5.0, 1.0], [9.0, 2.0]
    >>> kt.kinematics.relative_acceleration(robot, q, v, qdd, "lower_rod", "upper_rod", expressed_in="local").tolist()
    [0.0, 0.0, 0.0, 0.0, 2.0, 0.0]
    """
    return run(
        RELATIVE_ACCELERATION,
        robot,
        (q, v, qdd),
        frame=frame,
        relative_to=relative_to,
        expressed_in=expressed_in,
        kind=kind,
        parameters=parameters,
        out=out,
        threads=threads,
    )


@defined_by(RELATIVE_JACOBIAN)
def relative_jacobian(
    robot: Model,
    q: ArrayLike,
    frame: str,
    relative_to: str | None = None,
    *,
    expressed_in: ExpressedIn,
    part: Part = "full",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The matrix that takes v to the twist of one frame as seen from another: J v = relative_velocity.

    Columns of joints that move both frames, or neither, are exactly zero; only the joints between the two count.

    Args:
        expressed_in: as for `frame_velocity`, with `relative_to` in place of the world: "local" (the frame's axes and
            origin), "world" (those of `relative_to`) or "local_world_aligned" (the axes of `relative_to` at the
            frame's origin).

    Returns:
        J (…, 6, nv), linear rows first; (…, 3, nv) for one part.

    Raises:
        OptionError: expressed_in or part is not an allowed value.

    Source: Featherstone, RBDA (2008), section 4.1.4.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> J = kt.kinematics.relative_jacobian(robot, [0.3, 0.1], "lower_rod", "upper_rod", expressed_in="world")
    >>> J[3:].tolist()
    [[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    return run(
        RELATIVE_JACOBIAN,
        robot,
        (q,),
        frame=frame,
        relative_to=relative_to,
        expressed_in=expressed_in,
        part=part,
        parameters=parameters,
        out=out,
        threads=threads,
    )

"""Jacobians of frames, their time derivatives, and frame accelerations at q̈ = 0, as functions of arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.expr import Scalar
from kinetree.functions.kinematics import acceleration
from kinetree.functions.options import ExpressedIn, Kind, expressed_in_option, frame_option, kind_option, one_of
from kinetree.model import Frame, Model
from kinetree.spatial import Motion

__all__ = [
    "Part",
    "frame_bias_acceleration",
    "frame_jacobian",
    "frame_jacobian_rate",
    "kinematic_hessian",
    "part_of",
    "part_option",
    "rows_of",
]

Part = Literal["full", "linear", "angular"]

_one_of_them = one_of("part", "full", "linear", "angular")


def part_option(model: Model, value: Any) -> Hashable:
    """The selected part; all rows for None."""
    return "full" if value is None else _one_of_them(model, value)


def rows_of(part: str) -> int:
    """Number of rows of a part."""
    return 6 if part == "full" else 3


def part_of(m: Motion, part: str) -> Sequence[Scalar]:
    """The entries of a column that belong to a part."""
    if part == "linear":
        return m.linear.components()
    if part == "angular":
        return m.angular.components()
    return m.linear_first()


def _jacobian(model: Form, q: Slots, *, frame: Frame, expressed_in: str, part: str) -> list[Scalar]:
    transforms = algorithms.bodies_seen(model.tree, q, frame.slot, frame.placement, expressed_in)
    return _flat(model, frame, algorithms.jacobian(model.tree, q, frame.slot, transforms), part)


def _rate(model: Form, q: Slots, v: Slots, *, frame: Frame, expressed_in: str, part: str) -> list[Scalar]:
    transforms = algorithms.bodies_seen(model.tree, q, frame.slot, frame.placement, expressed_in)
    return _flat(model, frame, algorithms.jacobian_rate(model.tree, q, v, frame.slot, transforms, expressed_in), part)


def _flat(model: Form, frame: Frame, columns: Sequence[tuple[Motion, ...]], part: str) -> list[Scalar]:
    """The Jacobian row by row, with zero columns for joints that do not move the frame."""
    J = model.tree.columns(rows_of(part))
    for j, _ in model.tree.toward_root(frame.slot):
        J[j] = [part_of(m, part) for m in columns[j]]
    return J.flat()


def _bias_acceleration(
    model: Form, q: Slots, v: Slots, *, frame: Frame, expressed_in: str, kind: str
) -> Sequence[Scalar]:
    return acceleration(model, q, v, model.tree.at_rest(), frame=frame, expressed_in=expressed_in, kind=kind)


def _hessian(model: Form, q: Slots, *, frame: Frame, expressed_in: str) -> list[Scalar]:
    transforms = algorithms.bodies_seen(model.tree, q, frame.slot, frame.placement, expressed_in)
    return algorithms.kinematic_hessian(model.tree, q, frame.slot, transforms, expressed_in).flat()


_Q, _V = ("q", "nq"), ("v", "nv")
_FRAME = {"frame": frame_option, "expressed_in": expressed_in_option}
FRAME_JACOBIAN = Definition(
    "frame_jacobian",
    (_Q,),
    lambda _, options: (rows_of(options["part"]), "nv"),
    _jacobian,
    {**_FRAME, "part": part_option},
)
FRAME_JACOBIAN_RATE = Definition(
    "frame_jacobian_rate",
    (_Q, _V),
    lambda _, options: (rows_of(options["part"]), "nv"),
    _rate,
    {**_FRAME, "part": part_option},
)
FRAME_BIAS_ACCELERATION = Definition(
    "frame_bias_acceleration", (_Q, _V), (6,), _bias_acceleration, {**_FRAME, "kind": kind_option}
)
KINEMATIC_HESSIAN = Definition("kinematic_hessian", (_Q,), (6, "nv", "nv"), _hessian, _FRAME)


@defined_by(FRAME_JACOBIAN)
def frame_jacobian(
    robot: Model,
    q: ArrayLike,
    frame: str,
    *,
    expressed_in: ExpressedIn,
    part: Part = "full",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The matrix that takes v to the twist of one frame: J v = frame_velocity.

    Returns:
        J (…, 6, nv), linear rows first; (…, 3, nv) for one part: J_v or J_ω.

    Raises:
        OptionError: expressed_in or part is not an allowed value.

    Source: Featherstone, RBDA (2008), section 4.1.4 (a column is S_j in the body's coordinates).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.frame_jacobian(robot, [0.3, 0.1], robot.root, expressed_in="world").any()
    np.False_
    >>> tip = list(robot.bodies)[-1]
    >>> kt.frame_jacobian(robot, [0.3, 0.1], tip, expressed_in="world", part="angular").tolist()
    [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    """
    return run(
        FRAME_JACOBIAN,
        robot,
        (q,),
        frame=frame,
        expressed_in=expressed_in,
        part=part,
        parameters=parameters,
        out=out,
        threads=threads,
    )


@defined_by(FRAME_JACOBIAN_RATE)
def frame_jacobian_rate(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    *,
    expressed_in: ExpressedIn,
    part: Part = "full",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The time derivative of `frame_jacobian` at velocity v.

    J̇ is the derivative of the matrix as `frame_jacobian` gives it with the same `expressed_in`. So J q̈ + J̇ v is the
    spatial acceleration of the frame in "local" and in "world", and the classical one in "local_world_aligned", whose
    origin moves with the frame.

    Returns:
        J̇ (…, 6, nv), linear rows first; (…, 3, nv) for one part.

    Raises:
        OptionError: expressed_in or part is not an allowed value.

    Source: Featherstone, RBDA (2008), section 2.10: (V_j − V_C) × J_j + S̊_j, with the velocity V_C of the coordinates.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> tip = list(robot.bodies)[-1]
    >>> kt.kinematics.frame_jacobian_rate(robot, [0.3, 0.1], [0.0, 0.0], tip, expressed_in="world").any()
    np.False_
    """
    return run(
        FRAME_JACOBIAN_RATE,
        robot,
        (q, v),
        frame=frame,
        expressed_in=expressed_in,
        part=part,
        parameters=parameters,
        out=out,
        threads=threads,
    )


@defined_by(FRAME_BIAS_ACCELERATION)
def frame_bias_acceleration(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    *,
    expressed_in: ExpressedIn,
    kind: Kind = "spatial",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The acceleration of one frame at q̈ = 0: `frame_acceleration` without J q̈.

    The spatial one is J̇ v in "local" and in "world", the classical one in "local_world_aligned", with J̇ from
    `frame_jacobian_rate`.

    Returns:
        [a; α] (…, 6); m/s², rad/s².

    Raises:
        OptionError: expressed_in or kind is not an allowed value.

    Source: Featherstone, RBDA (2008), eq. 5.8 with q̈ = 0; the classical one by eq. 2.45.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> tip = list(robot.bodies)[-1]
    >>> kt.kinematics.frame_bias_acceleration(robot, [0.3, 0.1], [0.0, 1.0], tip, expressed_in="local").shape
    (6,)
    """
    return run(
        FRAME_BIAS_ACCELERATION,
        robot,
        (q, v),
        frame=frame,
        expressed_in=expressed_in,
        kind=kind,
        parameters=parameters,
        out=out,
        threads=threads,
    )


@defined_by(KINEMATIC_HESSIAN)
def kinematic_hessian(
    robot: Model,
    q: ArrayLike,
    frame: str,
    *,
    expressed_in: ExpressedIn,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The derivative of `frame_jacobian` with respect to q.

    Entry [:, j, k] is the derivative of column j by a displacement along degree of freedom k, that of
    `frame_jacobian(robot, robot.integrate(q, δ), …)` by δ_k at δ = 0. So H v, summed over the last axis, is J̇. It is
    not symmetric in j and k in any of the coordinates.

    Returns:
        H (…, 6, nv, nv), linear rows first.

    Source: Featherstone, RBDA (2008), section 2.10, for displacements: J_k × J_j for a joint k between j and the root.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> tip, q, v = list(robot.bodies)[-1], [0.3, 0.1], [1.0, 2.0]
    >>> H = kt.kinematics.kinematic_hessian(robot, q, tip, expressed_in="world")
    >>> bool(np.allclose(H @ v, kt.kinematics.frame_jacobian_rate(robot, q, v, tip, expressed_in="world")))
    True
    """
    return run(
        KINEMATIC_HESSIAN,
        robot,
        (q,),
        frame=frame,
        expressed_in=expressed_in,
        parameters=parameters,
        out=out,
        threads=threads,
    )

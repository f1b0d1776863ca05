"""Where bodies and frames are and how they move, as functions of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.compiler.usual_calls import defined_plainly_by
from kinetree.expr import Scalar
from kinetree.functions.chosen_frames import CHOICE, About, Names, asked, frame_rows, numbered_frames, row_per_frame
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

__all__ = [
    "acceleration",
    "body_accelerations",
    "body_velocities",
    "difference",
    "forward_kinematics",
    "frame_acceleration",
    "frame_placement",
    "frame_velocity",
    "integrate",
]


def _placement(model: Form, q: Slots, *, frame: Frame) -> Sequence[Scalar]:
    return (frame.placement @ algorithms.placements(model.tree, q)[frame.slot]).homogeneous()


def _all_placements(model: Form, q: Slots, *, frames: Names, about: str) -> list[Scalar]:
    X_0 = algorithms.placements(model.tree, q)
    rows = frame_rows(model, frames)
    for k, frame in numbered_frames(model, frames, about):
        rows[k] = (frame.placement @ X_0[frame.slot]).homogeneous()
    return rows.flat()


def _velocity(model: Form, q: Slots, v: Slots, *, frame: Frame, expressed_in: str) -> Sequence[Scalar]:
    X_0 = algorithms.placements(model.tree, q)[frame.slot]
    velocity = algorithms.velocities(model.tree, q, v)[frame.slot]
    return express(frame.placement @ velocity, frame.placement @ X_0, expressed_in).linear_first()


def acceleration(
    model: Form, q: Slots, v: Slots, qdd: Slots, *, frame: Frame, expressed_in: str, kind: str
) -> Sequence[Scalar]:
    """The acceleration of one frame for one sample, as scalar expressions."""
    X = frame.placement @ algorithms.placements(model.tree, q)[frame.slot]
    a = express(frame.placement @ algorithms.accelerations(model.tree, q, v, qdd)[frame.slot], X, expressed_in)
    if kind == "classical":
        a = classical(
            a, express(frame.placement @ algorithms.velocities(model.tree, q, v)[frame.slot], X, expressed_in)
        )
    return a.linear_first()


def _all_velocities(model: Form, q: Slots, v: Slots, *, frames: Names, expressed_in: str, about: str) -> list[Scalar]:
    X_0, velocities = algorithms.placements(model.tree, q), algorithms.velocities(model.tree, q, v)
    rows = frame_rows(model, frames)
    for k, frame in numbered_frames(model, frames, about):
        X = frame.placement @ X_0[frame.slot]
        rows[k] = express(frame.placement @ velocities[frame.slot], X, expressed_in).linear_first()
    return rows.flat()


def _all_accelerations(
    model: Form, q: Slots, v: Slots, qdd: Slots, *, frames: Names, expressed_in: str, kind: str, about: str
) -> list[Scalar]:
    X_0, velocities = algorithms.placements(model.tree, q), algorithms.velocities(model.tree, q, v)
    accelerations = algorithms.accelerations(model.tree, q, v, qdd)
    rows = frame_rows(model, frames)
    for k, frame in numbered_frames(model, frames, about):
        X = frame.placement @ X_0[frame.slot]
        a = express(frame.placement @ accelerations[frame.slot], X, expressed_in)
        if kind == "classical":
            a = classical(a, express(frame.placement @ velocities[frame.slot], X, expressed_in))
        rows[k] = a.linear_first()
    return rows.flat()


def _integrate(model: Form, q: Slots, v: Slots) -> list[Scalar]:
    return model.tree.joined(algorithms.integrate(model.tree, q, v), "nq")


def _difference(model: Form, q0: Slots, q1: Slots) -> list[Scalar]:
    return model.tree.joined(algorithms.difference(model.tree, q0, q1), "nv")


_Q, _V, _QDD = ("q", "nq"), ("v", "nv"), ("qdd", "nv")
FRAME_PLACEMENT = Definition("frame_placement", (_Q,), (4, 4), _placement, {"frame": frame_option})
FORWARD_KINEMATICS = Definition("forward_kinematics", (_Q,), row_per_frame(4, 4), _all_placements, CHOICE)
FRAME_VELOCITY = Definition(
    "frame_velocity", (_Q, _V), (6,), _velocity, {"frame": frame_option, "expressed_in": expressed_in_option}
)
FRAME_ACCELERATION = Definition(
    "frame_acceleration",
    (_Q, _V, _QDD),
    (6,),
    acceleration,
    {"frame": frame_option, "expressed_in": expressed_in_option, "kind": kind_option},
)
BODY_VELOCITIES = Definition(
    "body_velocities", (_Q, _V), row_per_frame(6), _all_velocities, {**CHOICE, "expressed_in": expressed_in_option}
)
BODY_ACCELERATIONS = Definition(
    "body_accelerations",
    (_Q, _V, _QDD),
    row_per_frame(6),
    _all_accelerations,
    {**CHOICE, "expressed_in": expressed_in_option, "kind": kind_option},
)
INTEGRATE = Definition("integrate", (_Q, _V), ("nq",), _integrate, takes_parameters=False)
DIFFERENCE = Definition("difference", (("q0", "nq"), ("q1", "nq")), ("nv",), _difference, takes_parameters=False)


@defined_plainly_by(FORWARD_KINEMATICS)
def forward_kinematics(
    robot: Model,
    q: ArrayLike,
    *,
    frames: Sequence[str] | None = None,
    about: About = "origin",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The placements of all bodies, or of several frames.

    Args:
        about: "origin" for the frames themselves, or "center_of_mass" for bodies alone: axes parallel to the body's at
            its own centre of mass, or at its origin if it has no mass.

    Returns:
        Homogeneous matrices (…, B, 4, 4) that take points of each body to the world, metres; B = len(robot.bodies),
        in that order, bodies on fixed joints included, or len(frames).

    Raises:
        NameNotFoundError: the robot has no such frame.
        OptionError: frames is not a list of names, or is empty; about is not one of the two, or is "center_of_mass"
            for a frame that is not a body.

    Source: Featherstone, RBDA (2008), section 5.2.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.forward_kinematics(robot, robot.neutral()).shape == (len(robot.bodies), 4, 4)
    True
    >>> kt.forward_kinematics(robot, robot.neutral(), frames=["upper_rod"], about="center_of_mass")[0, 2, 3].tolist()
    -0.5
    """
    return run(FORWARD_KINEMATICS, robot, (q,), parameters=parameters, out=out, threads=threads, **asked(frames, about))


@defined_by(FRAME_PLACEMENT)
def frame_placement(
    robot: Model,
    q: ArrayLike,
    frame: str,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The placement of one frame.

    Args:
        frame: a name in `robot.frames`: any body's, or one that was added.

    Returns:
        Homogeneous matrix (…, 4, 4) that takes points of the frame to the world, metres.

    Source: Featherstone, RBDA (2008), section 5.2.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.frame_placement(robot, robot.neutral(), robot.root)[:3, 3].tolist()
    [0.0, 0.0, 0.0]
    """
    return run(FRAME_PLACEMENT, robot, (q,), frame=frame, parameters=parameters, out=out, threads=threads)


@defined_by(FRAME_VELOCITY)
def frame_velocity(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    *,
    expressed_in: ExpressedIn,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The twist of one frame.

    Args:
        expressed_in: "local" (the frame's axes and origin), "world" (the world's), or "local_world_aligned" (the
            world's axes at the frame's origin).

    Returns:
        [v; ω] (…, 6); m/s, rad/s.

    Source: Featherstone, RBDA (2008), eq. 5.7.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.kinematics.frame_velocity(robot, [0.3, 0.1], [0.0, 1.0], robot.root, expressed_in="local").tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    return run(
        FRAME_VELOCITY,
        robot,
        (q, v),
        frame=frame,
        expressed_in=expressed_in,
        parameters=parameters,
        out=out,
        threads=threads,
    )


@defined_by(FRAME_ACCELERATION)
def frame_acceleration(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike,
    frame: str,
    *,
    expressed_in: ExpressedIn,
    kind: Kind = "spatial",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The acceleration of one frame, gravity not included.

    Args:
        kind: "spatial" (J qdd + Jdot v, in "local" and "world"; "local_world_aligned" shows the local one in the
            world's axes), or "classical" (linear part: the acceleration of the body's point at the origin).

    Returns:
        [a; α] (…, 6); m/s², rad/s².

    Raises:
        OptionError: expressed_in or kind is not an allowed value.

    Source: Featherstone, RBDA (2008), eq. 5.8; the classical one by eq. 2.45.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> q, v, qdd = [0.3, 0.1], [0.0, 1.0], [0.0, 0.0]
    >>> kt.kinematics.frame_acceleration(robot, q, v, qdd, robot.root, expressed_in="world", kind="classical").tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    return run(
        FRAME_ACCELERATION,
        robot,
        (q, v, qdd),
        frame=frame,
        expressed_in=expressed_in,
        kind=kind,
        parameters=parameters,
        out=out,
        threads=threads,
    )


@defined_by(BODY_VELOCITIES)
def body_velocities(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    frames: Sequence[str] | None = None,
    expressed_in: ExpressedIn,
    about: About = "origin",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The twists of all bodies, or of several frames.

    Args:
        about: "origin" or "center_of_mass", as for `forward_kinematics`: the point that takes the place of the frame's
            origin. In "world" both are the same.

    Returns:
        [v; ω] (…, B, 6) in the order of `robot.bodies`, or of `frames`; m/s, rad/s.

    Raises:
        OptionError: expressed_in is not one of the three.
        NameNotFoundError, OptionError: frames and about as for `forward_kinematics`.

    Source: Featherstone, RBDA (2008), eq. 5.7.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.kinematics.body_velocities(robot, [0.3, 0.1], [0.0, 1.0], expressed_in="world").shape
    (4, 6)
    """
    return run(
        BODY_VELOCITIES,
        robot,
        (q, v),
        expressed_in=expressed_in,
        parameters=parameters,
        out=out,
        threads=threads,
        **asked(frames, about),
    )


@defined_by(BODY_ACCELERATIONS)
def body_accelerations(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike,
    *,
    frames: Sequence[str] | None = None,
    expressed_in: ExpressedIn,
    kind: Kind = "spatial",
    about: About = "origin",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The accelerations of all bodies, or of several frames, gravity not included.

    Args:
        about: "origin" or "center_of_mass", as for `body_velocities`. The linear part of a classical acceleration is
            that of this point.

    Returns:
        [a; α] (…, B, 6) in the order of `robot.bodies`, or of `frames`; m/s², rad/s².

    Raises:
        OptionError: expressed_in or kind is not an allowed value.
        NameNotFoundError, OptionError: frames and about as for `forward_kinematics`.

    Source: Featherstone, RBDA (2008), eq. 5.8; the classical ones by eq. 2.45.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> a = kt.kinematics.body_accelerations(robot, [0.3, 0.1], [0.0, 1.0], [0.0, 0.0], expressed_in="local")
    >>> a.shape == (len(robot.bodies), 6)
    True
    """
    return run(
        BODY_ACCELERATIONS,
        robot,
        (q, v, qdd),
        expressed_in=expressed_in,
        kind=kind,
        parameters=parameters,
        out=out,
        threads=threads,
        **asked(frames, about),
    )


@defined_plainly_by(INTEGRATE)
def integrate(
    robot: Model, q: ArrayLike, v: ArrayLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """The configuration reached from q in unit time at constant velocity v: `robot.integrate`, compiled.

    Args:
        v: velocity (…, nv); pass `v * dt` for a step of dt seconds.

    Returns:
        Configuration (…, nq), with unit quaternions.

    Source: the exponential map of rigid motions for free joints (RBDA section 4.5 for the manifold).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.integrate(robot, [0.5, 0.0], [0.25, 1.0]).tolist()
    [0.75, 1.0]
    """
    return run(INTEGRATE, robot, (q, v), out=out, threads=threads)


@defined_plainly_by(DIFFERENCE)
def difference(
    robot: Model, q0: ArrayLike, q1: ArrayLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """The constant velocity that takes q0 to q1 in unit time: `robot.difference`, compiled.

    Args:
        q0: configuration (…, nq).
        q1: configuration (…, nq).

    Returns:
        Velocity (…, nv); angles of rotation are at most pi.

    Source: the logarithm of rigid motions for free joints; the inverse of `integrate`.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.difference(robot, [0.5, 0.0], [0.75, 1.0]).tolist()
    [0.25, 1.0]
    """
    return run(DIFFERENCE, robot, (q0, q1), out=out, threads=threads)

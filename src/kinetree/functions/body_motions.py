"""Where all bodies are and how they move and accelerate, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.expr import Scalar
from kinetree.functions.chosen_frames import CHOICE, About, Names, asked, frame_rows, numbered_frames, row_per_frame
from kinetree.functions.options import ExpressedIn, Kind, classical, express, expressed_in_option, kind_option
from kinetree.model import Model
from kinetree.spatial import Motion

__all__ = ["BodyMotions", "body_motions"]


class BodyMotions(NamedTuple):
    """How several frames move: parts of one array (…, B, 28), with one row per frame."""

    placements: Array
    """Homogeneous matrices (…, B, 4, 4) that take points of each frame to the world, metres."""
    velocities: Array
    """[v; ω] (…, B, 6); m/s, rad/s."""
    accelerations: Array
    """[a; α] (…, B, 6), gravity not included; m/s², rad/s²."""


def _motions(
    model: Form, q: Slots, v: Slots, qdd: Slots, *, frames: Names, expressed_in: str, kind: str, about: str
) -> list[Scalar]:
    X_0 = algorithms.placements(model.tree, q)
    motions = algorithms.motions(model.tree, q, v, qdd, Motion.zero())
    rows = frame_rows(model, frames)
    for k, frame in numbered_frames(model, frames, about):
        X = frame.placement @ X_0[frame.slot]
        velocity = express(frame.placement @ motions.v[frame.slot], X, expressed_in)
        a = express(frame.placement @ motions.a[frame.slot], X, expressed_in)
        if kind == "classical":
            a = classical(a, velocity)
        rows[k] = (*X.homogeneous(), *velocity.linear_first(), *a.linear_first())
    return rows.flat()


BODY_MOTIONS = Definition(
    "body_motions",
    (("q", "nq"), ("v", "nv"), ("qdd", "nv")),
    row_per_frame(28),
    _motions,
    {**CHOICE, "expressed_in": expressed_in_option, "kind": kind_option},
)


@defined_by(BODY_MOTIONS)
def body_motions(
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
) -> BodyMotions:
    """The placements, twists and accelerations of all bodies, or of several frames, from one pass over the robot.

    Args:
        expressed_in: "local", "world" or "local_world_aligned", as for `frame_velocity`; placements are always those
            in the world.
        about: "origin" or "center_of_mass", as for `forward_kinematics` and `body_velocities`.
        out: where to put the result: (…, B, 28), in each row the placement row by row, the twist, the acceleration.

    Returns:
        A named tuple (placements (…, B, 4, 4), velocities (…, B, 6), accelerations (…, B, 6)), parts of one array, as
        from `forward_kinematics`, `body_velocities` and `body_accelerations`; B = len(robot.bodies) or len(frames).

    Raises:
        NameNotFoundError: the robot has no such frame.
        OptionError: expressed_in or kind is not an allowed value; frames is not a list of names, or is empty; about is
            not one of the two, or is "center_of_mass" for a frame that is not a body.

    Source: Featherstone, RBDA (2008), section 5.2, eqs. 5.7 and 5.8; classical accelerations by eq. 2.45.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> q, v, qdd = [0.3, 0.1], [0.0, 1.0], [0.0, 0.0]
    >>> T, twists, a = kt.kinematics.body_motions(robot, q, v, qdd, frames=["tip", "base"], expressed_in="local")
    >>> T.shape, twists.shape, a.shape
    ((2, 4, 4), (2, 6), (2, 6))
    """
    rows = run(
        BODY_MOTIONS,
        robot,
        (q, v, qdd),
        expressed_in=expressed_in,
        kind=kind,
        parameters=parameters,
        out=out,
        threads=threads,
        **asked(frames, about),
    )
    return BodyMotions(rows[..., :16].reshape(*rows.shape[:-1], 4, 4), rows[..., 16:22], rows[..., 22:])

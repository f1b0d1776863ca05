"""Jacobians of all bodies, or of several frames, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.expr import Scalar
from kinetree.functions.chosen_frames import CHOICE, About, Names, asked, frame_count, numbered_frames, row_per_frame
from kinetree.functions.jacobians import Part, part_of, part_option, rows_of
from kinetree.functions.options import ExpressedIn, expressed_in_option
from kinetree.model import Model
from kinetree.spatial import Vec3

__all__ = ["body_jacobians"]


def _jacobians(model: Form, q: Slots, *, frames: Names, expressed_in: str, part: str, about: str) -> list[Scalar]:
    tree, rows = model.tree, rows_of(part)
    J = tree.columns(rows * frame_count(model.one_by_one, frames))
    if expressed_in == "local":
        for k, frame in numbered_frames(model, frames, about):
            transforms = algorithms.seen_from(tree, q, frame.slot, frame.placement)
            columns = algorithms.jacobian(tree, q, frame.slot, transforms)
            for j, _ in tree.toward_root(frame.slot):
                J[j, k * rows] = [part_of(column, part) for column in columns[j]]
        return J.flat()
    X_0 = algorithms.placements(tree, q)
    columns = algorithms.aligned_columns(tree, q, X_0)
    for k, frame in numbered_frames(model, frames, about):
        origin = Vec3.zero() if expressed_in == "world" else (frame.placement @ X_0[frame.slot]).r
        for j, _ in tree.toward_root(frame.slot):
            moved = [algorithms.moved_column(column, X_0[j].r - origin) for column in columns[j]]
            J[j, k * rows] = [part_of(column, part) for column in moved]
    return J.flat()


def _shape(model: Model, options: Mapping[str, Any]) -> tuple[int | str, ...]:
    return row_per_frame(rows_of(options["part"]), "nv")(model, options)


BODY_JACOBIANS = Definition(
    "body_jacobians",
    (("q", "nq"),),
    _shape,
    _jacobians,
    {**CHOICE, "expressed_in": expressed_in_option, "part": part_option},
)


@defined_by(BODY_JACOBIANS)
def body_jacobians(
    robot: Model,
    q: ArrayLike,
    *,
    frames: Sequence[str] | None = None,
    expressed_in: ExpressedIn,
    part: Part = "full",
    about: About = "origin",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The Jacobians of all bodies, or of several frames: J_k v is row k of `body_velocities`.

    With about="center_of_mass", expressed_in="local_world_aligned" and part="linear" or "angular" they are J_v and J_ω
    of each link, from which the mass matrix is Σ m J_vᵀ J_v + J_ωᵀ R I_c Rᵀ J_ω.

    Args:
        frames: names in `robot.frames`, for one Jacobian each in the order given; all bodies if None.
        about: "origin" or "center_of_mass", as for `forward_kinematics` and `body_velocities`.

    Returns:
        J (…, B, 6, nv), linear rows first, or (…, B, 3, nv) for one part; B = len(robot.bodies) in that order, bodies
        on fixed joints included, or len(frames). Columns of joints that do not move a frame are zero.

    Raises:
        NameNotFoundError: the robot has no such frame.
        OptionError: expressed_in or part is not an allowed value; frames is not a list of names, or is empty; about is
            not one of the two, or is "center_of_mass" for a frame that is not a body.

    Source: Featherstone, RBDA (2008), section 4.1.4 (a column is S_j in the requested coordinates).

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> rods = {"frames": ["upper_rod", "lower_rod"], "about": "center_of_mass"}
    >>> J_v, J_w = (
    ...     kt.kinematics.body_jacobians(robot, [0.3, 0.1], expressed_in="local_world_aligned", part=part, **rods)
    ...     for part in ("linear", "angular")
    ... )
    >>> J_v.shape, J_w[:, 1].tolist()
    ((2, 3, 2), [[1.0, 0.0], [1.0, 1.0]])
    """
    return run(
        BODY_JACOBIANS,
        robot,
        (q,),
        expressed_in=expressed_in,
        part=part,
        parameters=parameters,
        out=out,
        threads=threads,
        **asked(frames, about),
    )

"""Articulated-body inertias and bias forces, as functions of arrays.

They run on the robot's own inertias: regrouping moves inertia from a body to its parent, which all joint accelerations
survive, but not the inertia of each articulated body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, defined_by
from kinetree.compiler.forms.bodies import body_rows, first_dof, moved_frames, numbered_bodies
from kinetree.compiler.forms.form import Form
from kinetree.errors import ModelError, listed
from kinetree.expr import Scalar
from kinetree.functions.drives import Passive, limits_option, passive_option, switched_on
from kinetree.functions.options import ExpressedIn, expressed_in_option, rows_of_bodies
from kinetree.model import Model
from kinetree.model.external_forces import ExternalForces
from kinetree.spatial import Force

__all__ = ["ArticulatedJoints", "articulated_bias_forces", "articulated_inertias", "articulated_joints"]

Forces = dict[int, Force]


class ArticulatedJoints(NamedTuple):
    """Contributions of the joints to articulated bodies: parts of one array (…, nv, 7 + nv), a row per entry of v."""

    U: Array
    """Rows of Uᵀ (…, nv, 6): [f; n] on the articulated body for a unit acceleration, in its own axes."""
    D: Array
    """Sᵀ U (…, nv, nv), with one block per joint on its diagonal; kg·m², kg."""
    u: Array
    """τ - Sᵀ pᴬ (…, nv); N·m, N."""


def _inertias(model: Form, q: Slots, *, expressed_in: str) -> list[Scalar]:
    _need_coordinates_of_their_own(model, "articulated_inertias")
    IA = algorithms.articulated(model.tree, q).IA
    X_0 = algorithms.placements(model.tree, q)
    return rows_of_bodies(body_rows(model), numbered_bodies(model), X_0, IA, expressed_in)


def _bias_forces(
    model: Form,
    q: Slots,
    v: Slots,
    tau: Slots,
    *,
    expressed_in: str,
    passive: Sequence[str],
    limits: bool,
    f_ext: Forces,
) -> list[Scalar]:
    _need_coordinates_of_their_own(model, "articulated_bias_forces")
    acting = algorithms.driven(model.tree, q, v, tau, passive, limits)
    pA = algorithms.articulated_bias(model.tree, q, v, acting, f_ext).pA
    X_0 = algorithms.placements(model.tree, q)
    return rows_of_bodies(body_rows(model), numbered_bodies(model), X_0, pA, expressed_in)


def _joints(
    model: Form, q: Slots, v: Slots, tau: Slots, *, passive: Sequence[str], limits: bool, f_ext: Forces
) -> list[Scalar]:
    _need_coordinates_of_their_own(model, "articulated_joints")
    tree = model.tree
    acting = algorithms.driven(tree, q, v, tau, passive, limits)
    bodies = algorithms.articulated_bias(tree, q, v, acting, f_ext)
    frames = moved_frames(model)
    rows = tree.rows(7 + model.one_by_one.nv)
    for i, _ in tree.outward:
        local = bodies.U[i].taken_back(frames[i].inverse)
        D = bodies.S[i].inertia(bodies.S[i].carried_by(bodies.IA[i]), tree.armature[i])
        rows[i, 0] = [(*U.linear_first(), u) for U, u in zip(local.columns, bodies.u[i], strict=True)]
        rows[i, 7 + first_dof(model, i)] = D
    return rows.flat()


def _need_coordinates_of_their_own(model: Form, function: str) -> None:
    """Raise if joints share coordinates: the motion of a body then depends on joints that it does not carry."""
    robot = model.one_by_one
    if robot.tree.coordinates is None:
        return
    sharing = [joint.name for joint in robot.joints.values() if not joint.has_coordinates]
    raise ModelError(
        f"{function}: joints of {model.name!r} share coordinates ({listed(sharing, most=4)}), so a body cannot be "
        "accelerated without others that it does not carry, and has no articulated inertia of its own; load the robot "
        "with mimic=False, lock these joints (robot.lock), or use kt.constraints.operational_space_inertia for the "
        "inertia felt at a frame"
    )


_Q, _V, _TAU = ("q", "nq"), ("v", "nv"), ("tau", "forces")
_EXPRESSED = {"expressed_in": expressed_in_option}
_DRIVE = {"passive": passive_option, "limits": limits_option}


def _rows_of_joints(model: Model, _: Mapping[str, Any]) -> tuple[int, int]:
    return (model.nv, 7 + model.nv)


ARTICULATED_INERTIAS = Definition(
    "articulated_inertias", (_Q,), ("bodies", 6, 6), _inertias, _EXPRESSED, divides_by_inertia=True
)
ARTICULATED_BIAS_FORCES = Definition(
    "articulated_bias_forces", (_Q, _V, _TAU), ("bodies", 6), _bias_forces, {**_EXPRESSED, **_DRIVE},
    takes_forces=True, divides_by_inertia=True,
)  # fmt: skip
ARTICULATED_JOINTS = Definition(
    "articulated_joints", (_Q, _V, _TAU), _rows_of_joints, _joints, _DRIVE, takes_forces=True, divides_by_inertia=True
)


@defined_by(ARTICULATED_INERTIAS, in_units=True)
def articulated_inertias(
    robot: Model,
    q: ArrayLike,
    *,
    expressed_in: ExpressedIn,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The articulated-body inertia Iᴬ of every body: its inertia together with the bodies it carries on free joints.

    A wrench f on a body that only carries others, and is held by nothing, changes its acceleration by (Iᴬ)⁻¹ f. For the
    bodies at the tips Iᴬ is their own inertia; for a floating base it is the inverse of the first six rows and columns
    of `mass_matrix_inverse`.

    Args:
        robot: the robot. Its joints must not share coordinates.
        expressed_in: "local" for the axes and the origin of each body's frame, "world" for the world's, or
            "local_world_aligned" for the world's axes at the origin of each body's frame.
        parameters: values that override some of the robot's parameters, such as {"body.NAME.mass": (…)}; see
            `kinetree docs parameters`.

    Returns:
        Symmetric matrices (…, B, 6, 6) from spatial accelerations [a; α] to wrenches [f; n]; kg, kg·m, kg·m²;
        B = len(robot.bodies), in that order. Bodies on fixed joints are one with the body they are fixed to: they have
        its inertia, as seen in their own frame.

    Raises:
        ModelError: joints share coordinates.
        SingularModelError: a joint moves nothing that has inertia.
        OptionError: expressed_in is not an allowed value.

    Source: Featherstone, RBDA (2008), Table 7.1: Iᴬ.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("quadruped")
    >>> q = robot.neutral()
    >>> trunk = kt.dynamics.articulated_inertias(robot, q, expressed_in="local")[list(robot.bodies).index("trunk")]
    >>> bool(np.allclose(np.linalg.inv(trunk), kt.mass_matrix_inverse(robot, q)[:6, :6]))
    True
    """
    return run(
        ARTICULATED_INERTIAS,
        robot,
        (q,),
        expressed_in=expressed_in,
        parameters=parameters,
        out=out,
        threads=threads,
    )


@defined_by(ARTICULATED_BIAS_FORCES, in_units=True)
def articulated_bias_forces(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    expressed_in: ExpressedIn,
    passive: Passive = False,
    limits: bool = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The articulated-body bias force pᴬ of every body: the wrench it takes to keep it from accelerating.

    The wrench that reaches a body through its joint is f = Iᴬ a + pᴬ (`joint_wrenches`), with Iᴬ of
    `articulated_inertias` and the body's spatial acceleration a, which does not contain gravity: gravity is one of the
    forces in pᴬ. For the base this is f₀ = Iᴬ₀ a₀ + pᴬ₀ (`base_wrench`).

    Args:
        robot: the robot. Its joints must not share coordinates.
        expressed_in: "local", "world" or "local_world_aligned", as for `articulated_inertias`.

    Returns:
        [f; n] (…, B, 6); N, N·m; B = len(robot.bodies), in that order, as for `articulated_inertias`.

    Raises:
        ModelError: joints share coordinates.
        SingularModelError: a joint moves nothing that has inertia.
        ShapeError, DTypeError, ConfigurationError, OptionError: as for `aba`.

    Source: Featherstone, RBDA (2008), Table 7.1: pᴬ, with gravity as a force on each body.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("quadruped")
    >>> q, rest = robot.neutral(), np.zeros(robot.nv)
    >>> p = kt.dynamics.articulated_bias_forces(robot, q, rest, rest, expressed_in="local")
    >>> bool(np.allclose(p[list(robot.bodies).index("trunk")], kt.dynamics.base_wrench(robot, q, rest, rest)))
    True
    """
    result: Array = run(
        ARTICULATED_BIAS_FORCES,
        robot,
        (q, v, tau),
        f_ext=f_ext,
        expressed_in=expressed_in,
        parameters=parameters,
        out=out,
        threads=threads,
        **switched_on(robot, passive, limits),
    )
    return result


@defined_by(ARTICULATED_JOINTS, in_units=True)
def articulated_joints(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    passive: Passive = False,
    limits: bool = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> ArticulatedJoints:
    """U, D and u of the articulated-body algorithm, for every joint.

    U = Iᴬ S, D = Sᵀ U and u = τ - Sᵀ pᴬ, with the quantities of `articulated_inertias` and `articulated_bias_forces`,
    so gravity is in u. They give the joint's acceleration from that of the body it is on: q̈ = D⁻¹ (u - Uᵀ a'), where
    a' is the acceleration of the joint's body at q̈ = 0. Armatures and rotors are part of D; a geared rotor on the
    carrying body adds its couple to U, and its part of Uᵀ c to u.

    Args:
        robot: the robot. Its joints must not share coordinates.
        out: where to put the result: (…, nv, 7 + nv), in each row U, u and D.

    Returns:
        A named tuple (U, D, u): Uᵀ (…, nv, 6), one row [f; n] per degree of freedom, in the axes of the body that the
        joint moves; D (…, nv, nv), zero outside the joints' blocks on the diagonal; u (…, nv).

    Raises:
        ModelError: joints share coordinates.
        SingularModelError: a joint moves nothing that has inertia.
        ShapeError, DTypeError, ConfigurationError, OptionError: as for `aba`.

    Source: Featherstone, RBDA (2008), Table 7.1: U, D and u, with gravity as a force on each body.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("cart_pole")
    >>> U, D, u = kt.dynamics.articulated_joints(robot, [0.0, 0.0], [0.0, 0.0], [3.0, 0.0])
    >>> U.shape, bool(abs(u[0] / D[0, 0] - kt.aba(robot, [0.0, 0.0], [0.0, 0.0], [3.0, 0.0])[0]) < 1e-12)
    ((2, 6), True)
    """
    rows = run(
        ARTICULATED_JOINTS,
        robot,
        (q, v, tau),
        f_ext=f_ext,
        parameters=parameters,
        out=out,
        threads=threads,
        **switched_on(robot, passive, limits),
    )
    return ArticulatedJoints(rows[..., :6], rows[..., 7:], rows[..., 6])

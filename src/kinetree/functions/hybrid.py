"""Hybrid dynamics, floating bases and the wrench on the base, as functions of arrays.

They run on the tree with regrouped inertias: the same results with fewer operations. For the wrench on the base this
holds because the part of a body that its joint's motion never shows has the same momentum when the parent carries it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.arguments import dtype_like
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.errors import ModelError, NameNotFoundError, OptionError, SingularModelError, nearest_names
from kinetree.expr import Scalar, Symbol
from kinetree.functions.drives import Passive, limits_option, passive_option, switched_on
from kinetree.functions.options import ExpressedIn, expressed_in_option
from kinetree.model import Coupling, Joint, Model, check_robot
from kinetree.model.checks.singularity import singular_joints
from kinetree.model.external_forces import ExternalForces
from kinetree.spatial import Force, Motion, Vec3
from kinetree.tree import Tree, UnrolledTree

__all__ = ["HybridDynamics", "base_wrench", "floating_inverse_dynamics", "hybrid_dynamics"]

Forces = dict[int, Force]
HYBRID = "hybrid_dynamics"


class HybridDynamics(NamedTuple):
    """Accelerations and the corresponding joint forces, both complete."""

    qdd: Array
    """(…, nv); rad/s², m/s²."""
    tau: Array
    """(…, nv); N·m, N."""


# -- which joints, and in which coordinates


def _expressed_in_option(model: Model, value: Any) -> Hashable:
    """The selected coordinates; "local" for None."""
    return "local" if value is None else expressed_in_option(model, value)


def prescribed_option(model: Model, value: Any) -> Hashable:
    """The names of joints and couplings, in the order of v; none for None."""
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, list | tuple | set | frozenset):
        hint = f", such as [{value!r}]" if isinstance(value, str) else ""
        raise OptionError(f"prescribed must be a list of joint names{hint}, not {value!r:.60}")
    owners = {name: _owner(model, name) for name in value}
    return tuple(sorted(owners, key=lambda name: owners[name].v_start))


def _owner(model: Model, name: object) -> Joint | Coupling:
    """The joint or coupling of this name, whose coordinates are in v."""
    if isinstance(name, str) and name in model.joints:
        joint = model.joints[name]
        if joint.has_coordinates:
            return joint
        if joint.coupling is not None:
            raise OptionError(
                f"prescribed: the coordinates of joint {name!r} are those of coupling {joint.coupling!r}; name "
                f"{joint.coupling!r}, and its joints are prescribed together"
            )
        assert joint.mimic is not None
        raise OptionError(
            f"prescribed: joint {name!r} follows {joint.mimic.joint!r} and has no coordinates of its own; name the "
            "joint that it follows, and both are prescribed"
        )
    if isinstance(name, str) and name in model.couplings:
        return model.couplings[name]
    known = [owner.name for owner in model.owners]
    raise NameNotFoundError(f"prescribed: {model.name!r} has no joint {name!r:.60}: {nearest_names(str(name), known)}")


def _base_joint(model: Model) -> Joint | None:
    """The joint with six degrees of freedom that alone carries everything; None if the base is fixed.

    A root with mass that carries such a joint is itself the base, and fixed.
    """
    first = [i for i, p in model.tree.outward if p == 0]
    if len(first) != 1 or model.tree.joint[first[0]].nv != 6 or model.tree.I[0].mass != 0.0:
        return None
    joint = list(model.joints.values())[first[0] - 1]
    return joint if joint.has_coordinates else None


def _base(robot: Model, _options: object = None) -> set[int]:
    """A set of the base's slot: that of the joint on which it floats, or the root's."""
    joint = _base_joint(robot)
    return {0 if joint is None else joint.slot}


def _needs_inertia(model: Model, held: Collection[int], function: str) -> None:
    """Raise if a joint outside the slots `held` moves nothing that has inertia."""
    if not model.singular_joints:
        return
    numbers = (x for I in model.tree.I for x in (I.mass, *I.h.components(), *I.I.components()))
    if not any(isinstance(x, Symbol) for x in numbers):
        # With a rotor on each held joint, only motions that do not involve held joints can be without inertia.
        rows = [tuple(1.0 for _ in row) if i in held else row for i, row in enumerate(model.tree.armature)]
        singular = singular_joints(replace(model.tree, armature=tuple(rows)), model.joints.values())
    elif held:
        return  # depends on the values of inertia given with the call
    else:
        singular = model.singular_joints
    if singular:
        raise _undefined(model, singular[0], function)


def _undefined(model: Model, joint: str, function: str) -> SingularModelError:
    return SingularModelError(
        f"{function}: the acceleration of joint {joint!r} of {model.name!r} is not defined: it moves nothing that has "
        "mass or inertia, or only what another joint that is free moves in the same way; give the bodies behind it "
        "mass and inertia, or the joint an armature, or prescribe its acceleration (kt.dynamics.hybrid_dynamics)"
    )


# -- computations


def _hybrid_dynamics(
    model: Form,
    q: Slots,
    v: Slots,
    tau: Slots,
    qdd: Slots,
    *,
    prescribed: Sequence[str],
    passive: Sequence[str],
    f_ext: Forces,
) -> list[Scalar] | None:
    robot = model.one_by_one
    held = _held(robot, prescribed)
    _needs_inertia(robot, held, HYBRID)
    tree = model.tree
    acting = algorithms.driven(tree, q, v, tau, passive, limits=False)
    try:
        if tree.coordinates is not None:
            return _of_system(robot, tree, q, v, tau, acting, qdd, prescribed, passive, f_ext)
        slots = {model.frames[joint.child].slot for joint in robot.joints.values() if joint.slot in held}
        accelerations, forces = algorithms.hybrid_dynamics(tree, q, v, acting, qdd, slots, f_ext)
    except ZeroDivisionError:  # for any values of inertia given with the call
        free = [name for name in robot.joints if robot.joints[name].slot not in held]
        raise _undefined(robot, next((x for x in free if x in robot.singular_joints), free[0]), HYBRID) from None
    taken = tree.in_slots(algorithms.undriven(tree, q, v, forces, passive))
    some, left = tree.some(slots), tree.pieces()
    for i, _ in tree.outward:
        left[i] = taken[i] if i in some else tau[i]
    return tree.stacked((accelerations, "nv"), (left[1:], "forces"))


def _of_system(
    robot: Model,
    tree: Tree,
    q: Slots,
    v: Slots,
    tau: Slots,
    acting: Slots,
    qdd: Slots,
    prescribed: Sequence[str],
    passive: Sequence[str],
    f_ext: Forces,
) -> list[Scalar]:
    """The result where joints share coordinates: a prescribed degree of freedom may move several joints."""
    owners = [_owner(robot, name) for name in prescribed]
    own = {k for owner in owners for k in range(owner.v_slice.start, owner.v_slice.stop)}
    accelerations, forces = algorithms.hybrid_system(tree, q, v, acting, qdd, own, f_ext)
    given = tree.joined(tau[1:], "forces")
    taken = tree.joined(algorithms.undriven(tree, q, v, forces, passive), "forces")
    return [*tree.joined(accelerations, "nv"), *(taken[k] if k in own else t for k, t in enumerate(given))]


def _held(robot: Model, prescribed: Sequence[str]) -> set[int]:
    """The slots of all joints that are prescribed."""
    owners = [_owner(robot, name) for name in prescribed]
    return {joint.slot for joint in robot.joints.values() if _moves_with(robot, joint, owners)}


def _moves_with(model: Model, joint: Joint, owners: Sequence[Joint | Coupling]) -> bool:
    """Whether all coordinates that move a joint belong to these owners."""
    tree = model.tree
    first = tree.v_starts[joint.slot]
    columns = set(range(first, first + joint.kind.nv))
    if tree.coordinates is not None:
        columns = {k for row in tree.coordinates.v_rows[first : first + joint.kind.nv] for k, _ in row}
    return all(any(k in range(o.v_slice.start, o.v_slice.stop) for o in owners) for k in columns)


def _floating_inverse_dynamics(
    model: Form, q: Slots, v: Slots, qdd: Slots, *, passive: Sequence[str], f_ext: Forces
) -> list[Scalar]:
    robot = model.one_by_one
    base = _base_joint(robot)
    if base is None:
        raise ModelError(
            f"floating_inverse_dynamics: the base of {model.name!r} does not float, so nothing is left to be found "
            "except the joint forces; use kt.rnea, or load the robot with floating_base=True"
        )
    _needs_inertia(robot, {joint.slot for joint in robot.joints.values()} - {base.slot}, "floating_inverse_dynamics")
    tree, slot = model.tree, model.frames[base.child].slot
    free: list[Scalar] = [0.0] * 6
    if passive:
        free = algorithms.passive_forces(tree, q, v, passive)[slot]
    accelerations, forces = algorithms.floating_inverse_dynamics(tree, q, v, qdd, slot, free, f_ext)
    left: Any = tree.in_slots(algorithms.undriven(tree, q, v, forces, passive))
    left[slot] = [0.0] * 6
    return tree.stacked((accelerations, "nv"), (left[1:], "forces"))


def _base_wrench(
    model: Form,
    q: Slots,
    v: Slots,
    tau: Slots,
    base_acceleration: Sequence[Scalar],
    *,
    expressed_in: str,
    passive: Sequence[str],
    limits: bool,
    f_ext: Forces,
) -> Sequence[Scalar]:
    robot = model.one_by_one
    joint = _base_joint(robot)
    frame = model.frames[robot.root if joint is None else joint.child]
    slot = frame.slot
    _needs_inertia(robot, _base(robot), "base_wrench")
    tree = model.tree
    acting = algorithms.driven(tree, q, v, tau, passive, limits)
    acceleration: Motion = frame.placement.back(Motion(Vec3(*base_acceleration[3:]), Vec3(*base_acceleration[:3])))
    try:
        if isinstance(tree, UnrolledTree) and tree.coordinates is not None:
            f = algorithms.base_wrench_of_system(tree, q, v, acting, slot, acceleration, f_ext)
        else:
            f = algorithms.base_wrench(tree, q, v, acting, slot, acceleration, f_ext)
    except ZeroDivisionError:  # for any values of inertia given with the call
        behind = [name for name in robot.joints if joint is None or name != joint.name]
        name = next((x for x in behind if x in robot.singular_joints), behind[0])
        raise _undefined(robot, name, "base_wrench") from None
    if expressed_in == "local":
        return frame.placement.inverse.back(f).linear_first()
    X_0 = algorithms.placements(tree, q)[slot]
    world = X_0.back(f)
    if expressed_in == "world":
        return world.linear_first()
    r = (frame.placement @ X_0).r
    return Force(world.angular - r.cross(world.linear), world.linear).linear_first()


_Q, _V, _TAU, _QDD = ("q", "nq"), ("v", "nv"), ("tau", "forces"), ("qdd", "nv")
_PASSIVE = {"passive": passive_option}
HYBRID_DYNAMICS = Definition(
    HYBRID, (_Q, _V, _TAU, _QDD), (2, "nv"), _hybrid_dynamics,
    {"prescribed": prescribed_option, **_PASSIVE}, takes_forces=True, regroups=True,
    strategy=Strategy(
        loops_where_shared=False, distinguished=lambda robot, options: _held(robot, options["prescribed"])
    ),
)  # fmt: skip
FLOATING_INVERSE_DYNAMICS = Definition(
    "floating_inverse_dynamics", (_Q, _V, _QDD), (2, "nv"), _floating_inverse_dynamics, _PASSIVE,
    takes_forces=True, regroups=True, strategy=Strategy(distinguished=_base),
)  # fmt: skip
BASE_WRENCH = Definition(
    "base_wrench", (_Q, _V, _TAU, ("base_acceleration", 6)), (6,), _base_wrench,
    {"expressed_in": _expressed_in_option, **_PASSIVE, "limits": limits_option}, optional=("base_acceleration",),
    takes_forces=True, regroups=True, strategy=Strategy(loops_where_shared=False, distinguished=_base),
)  # fmt: skip


@defined_by(HYBRID_DYNAMICS, in_units=True)
def hybrid_dynamics(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    qdd: ArrayLike,
    prescribed: Collection[str] = (),
    f_ext: ExternalForces | None = None,
    *,
    passive: Passive = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> HybridDynamics:
    """Hybrid dynamics: accelerations are given for some joints and forces for the others; the rest is computed.

    With no joint prescribed this is `aba`, at its cost; each prescribed joint reduces the cost, as it is not
    eliminated; with all of them prescribed it is `rnea`, which is cheaper. Programs for robots whose joints share
    coordinates are always written out, and take long to compile above 150 degrees of freedom.

    Args:
        tau: joint forces (…, nv); N·m, N. Those of prescribed joints are ignored.
        qdd: accelerations (…, nv); rad/s², m/s². Only those of prescribed joints are used.
        prescribed: the names of the joints whose accelerations are given. For joints that share coordinates, name the
            joint that others follow, or the coupling: all joints that it moves are prescribed together.
        passive: which passive forces of the joints act, as for `aba` where tau is given and as for `rnea` where it is
            computed: True for all, False for none, or a list of names among "damping", "friction" and "spring".
        out: where to put the result: (…, 2, nv), accelerations and then forces.

    Returns:
        A named tuple (qdd, tau) of two arrays (…, nv), both complete: given values are returned unchanged.

    Raises:
        NameNotFoundError: the robot has no joint of a name in `prescribed`.
        OptionError: a prescribed joint has no coordinates of its own; or as for `aba`.
        SingularModelError: a joint that is not prescribed moves nothing that has inertia.

    Source: Featherstone, RBDA (2008), section 9.2; where joints share coordinates, eq. 9.1 as one dense system.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> q, v, tau, first = [0.3, 0.1], [0.0, 1.0], [0.0, 0.5], list(robot.joints)[:1]
    >>> found = kt.dynamics.hybrid_dynamics(robot, q, v, tau, [2.0, 0.0], first)
    >>> float(found.qdd[0]), float(found.tau[1])
    (2.0, 0.5)
    >>> bool(abs(kt.rnea(robot, [0.3, 0.1], [0.0, 1.0], found.qdd) - found.tau).max() < 1e-12)
    True
    """
    options = switched_on(robot, passive)
    if names := prescribed_option(check_robot(robot), prescribed):
        options["prescribed"] = names
    given = {"f_ext": f_ext, "parameters": parameters, "out": out, "threads": threads}
    rows = run(HYBRID_DYNAMICS, robot, (q, v, tau, qdd), **given, **options)  # type: ignore[arg-type]
    return HybridDynamics(rows[..., 0, :], rows[..., 1, :])


@defined_by(FLOATING_INVERSE_DYNAMICS, in_units=True)
def floating_inverse_dynamics(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    passive: Passive = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> HybridDynamics:
    """Inverse dynamics of a floating-base robot: joint accelerations are given, and nothing drives the base.

    The base's acceleration follows from the motion of the joints and from external forces, and with it the joint
    forces: for example, those of a ragdoll that moves its limbs in a prescribed way.

    Args:
        robot: the robot. Its base must float: it was loaded with `floating_base=True`, or one joint with six degrees of
            freedom on a massless root carries all of it.
        qdd: accelerations (…, nv); rad/s², m/s². Those of the base are ignored.
        passive: which passive forces of the joints act, as for `rnea`.
        out: where to put the result: (…, 2, nv), accelerations and then forces.

    Returns:
        A named tuple (qdd, tau) of two arrays (…, nv): accelerations, including those of the base, and joint forces,
        with zeros for the base.

    Raises:
        ModelError: the base does not float.
        SingularModelError: the robot as a whole has no inertia against some motion of the base.
        ShapeError, DTypeError, ConfigurationError, OptionError: as for `aba`.

    Source: Featherstone, RBDA (2008), Table 9.6.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("ragdoll")
    >>> q, rest = robot.neutral(), np.zeros(robot.nv)
    >>> found = kt.dynamics.floating_inverse_dynamics(robot, q, rest, rest)
    >>> (found.qdd[:6].round(9) + 0.0).tolist(), bool(abs(found.tau).max() < 1e-9)
    ([0.0, 0.0, -9.81, 0.0, 0.0, 0.0], True)
    """
    options = switched_on(robot, passive)
    given = {"f_ext": f_ext, "parameters": parameters, "out": out, "threads": threads}
    rows = run(FLOATING_INVERSE_DYNAMICS, robot, (q, v, qdd), **given, **options)  # type: ignore[arg-type]
    return HybridDynamics(rows[..., 0, :], rows[..., 1, :])


@defined_by(BASE_WRENCH, in_units=True)
def base_wrench(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    base_acceleration: ArrayLike | None = None,
    f_ext: ExternalForces | None = None,
    *,
    expressed_in: ExpressedIn = "local",
    passive: Passive = False,
    limits: bool = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The wrench that must act on the base body for a given acceleration of the base, under joint forces tau.

    It is f₀ = Iᴬ₀ a₀ + pᴬ₀. For a robot on a fixed base it is the wrench of the foundation, including the base's own
    weight, and the acceleration is zero unless the foundation itself moves. For a robot whose base floats (as in
    `floating_inverse_dynamics`) it is the wrench that must act on the base itself in addition to the given external
    forces; at the acceleration that `aba` gives with nothing acting on the base, it is zero. Forces on other bodies,
    such as the ground's on the feet, belong in f_ext; if the accelerations of all joints are known, the first six of
    `rnea` are the total wrench of everything outside.

    Args:
        v: velocity (…, nv); rad/s, m/s. A fixed base is at rest.
        tau: joint forces (…, nv); N·m, N. Those of a floating base's joint are ignored.
        base_acceleration: the base's spatial acceleration [a; α] (…, 6) in its own axes, without gravity; zero by
            default.
        expressed_in: "local" for the base's axes and about its origin, "world" for the world's, or
            "local_world_aligned" for the world's axes and about the base's origin.
        out: where to put the result, (…, 6), of the result's dtype.

    Returns:
        The wrench [f; n] (…, 6); N, N·m.

    Raises:
        SingularModelError: a joint behind the base moves nothing that has inertia.
        ShapeError, DTypeError, ConfigurationError, OptionError: as for `aba`.

    Source: Featherstone, RBDA (2008), eq. 7.1 at the base, with Iᴬ and pᴬ by Table 7.1.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> f = kt.dynamics.base_wrench(robot, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0])  # it hangs at rest
    >>> bool(abs(f[:3] - [0.0, 0.0, 9.81 * robot.mass]).max() < 1e-12)
    True
    """
    if base_acceleration is None:
        base_acceleration = np.zeros(6, dtype_like(q))
    options = switched_on(robot, passive, limits)
    if not isinstance(expressed_in, str) or expressed_in != "local":
        options["expressed_in"] = expressed_in
    given = {"f_ext": f_ext, "parameters": parameters, "out": out, "threads": threads}
    result: Array = run(BASE_WRENCH, robot, (q, v, tau, base_acceleration), **given, **options)  # type: ignore[arg-type]
    return result

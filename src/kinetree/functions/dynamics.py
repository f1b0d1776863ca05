"""Equations of motion, as functions of arrays.

They run on the tree with regrouped inertias: the same results with fewer operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots
from kinetree.compiler.usual_calls import defined_plainly_by
from kinetree.expr import Scalar
from kinetree.functions.drives import OnUnactuated, Passive, check_motors, limits_option, passive_option, switched_on
from kinetree.model import Model
from kinetree.model.external_forces import ExternalForces
from kinetree.spatial import Force, Motion

if TYPE_CHECKING:
    from kinetree.compiler.forms import Form

__all__ = [
    "aba",
    "bias_forces",
    "coriolis_forces",
    "crba",
    "forward_dynamics",
    "gravity_forces",
    "inverse_dynamics",
    "mass_matrix",
    "rnea",
]

Forces = dict[int, Force]
_ALLOW: Literal["allow"] = "allow"


def _aba(
    model: Form, q: Slots, v: Slots, tau: Slots, *, passive: Sequence[str], limits: bool, f_ext: Forces
) -> list[Scalar]:
    acting = algorithms.driven(model.tree, q, v, tau, passive, limits)
    return model.tree.joined(algorithms.forward_dynamics(model.tree, q, v, acting, f_ext), "nv")


def _rnea(model: Form, q: Slots, v: Slots, qdd: Slots, *, passive: Sequence[str], f_ext: Forces) -> list[Scalar]:
    tau = algorithms.rnea(model.tree, q, v, qdd, f_ext)
    return model.tree.joined(algorithms.undriven(model.tree, q, v, tau, passive), "forces")


def _bias_forces(model: Form, q: Slots, v: Slots, *, passive: Sequence[str], f_ext: Forces) -> list[Scalar]:
    return _rnea(model, q, v, model.tree.at_rest(), passive=passive, f_ext=f_ext)


def _coriolis_forces(model: Form, q: Slots, v: Slots) -> list[Scalar]:
    tree = model.tree.with_gravity(Motion.zero())
    return model.tree.joined(algorithms.rnea(tree, q, v, model.tree.at_rest()), "forces")


def _gravity_forces(model: Form, q: Slots) -> list[Scalar]:
    rest = model.tree.at_rest()
    return model.tree.joined(algorithms.rnea(model.tree, q, rest, rest), "forces")


def _crba(model: Form, q: Slots) -> list[Scalar]:
    return algorithms.crba(model.tree, q).flat()


_Q, _V, _TAU, _QDD = ("q", "nq"), ("v", "nv"), ("tau", "forces"), ("qdd", "nv")
_PASSIVE = {"passive": passive_option}
_DRIVE = {**_PASSIVE, "limits": limits_option}
ABA = Definition(
    "aba", (_Q, _V, _TAU), ("nv",), _aba, _DRIVE, takes_forces=True, divides_by_inertia=True, regroups=True
)
RNEA = Definition("rnea", (_Q, _V, _QDD), ("nv",), _rnea, _PASSIVE, takes_forces=True, regroups=True)
CRBA = Definition("crba", (_Q,), ("nv", "nv"), _crba, regroups=True)
BIAS_FORCES = Definition("bias_forces", (_Q, _V), ("nv",), _bias_forces, _PASSIVE, takes_forces=True, regroups=True)
CORIOLIS_FORCES = Definition("coriolis_forces", (_Q, _V), ("nv",), _coriolis_forces, regroups=True)
GRAVITY_FORCES = Definition("gravity_forces", (_Q,), ("nv",), _gravity_forces, regroups=True)


@defined_plainly_by(ABA, in_units=True)
def aba(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    passive: Passive = False,
    limits: bool = False,
    on_unactuated: OnUnactuated = _ALLOW,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Forward dynamics by the articulated-body algorithm: the accelerations due to joint forces.

    The model has rigid bodies, rotors and gravity. Friction, springs and motor limits are included on request; see
    `kinetree docs drives`.

    Args:
        f_ext: external wrenches by frame name: [f; n] (…, 6) in the frame's own axes and about its origin; N, N·m. With
            `kt.dynamics.WrenchOn` or `kt.dynamics.ForceOn` in place of the name: wrenches in other axes, and forces at
            points.
        passive: which passive forces of the joints act in addition to tau: True for all, False for none, or a list of
            names among "damping", "friction" and "spring".
        limits: whether motor limits apply: motors give at most their effort limit of tau, and drive no joint beyond its
            velocity limit.
        on_unactuated: treatment of a tau that is not zero at a degree of freedom that has no motor (`robot.actuated`),
            such as a floating base's: "allow" takes it for a force like any other, which makes `aba` the inverse of
            `rnea`; "error" rejects it. Kernels from `kt.compile` never reject it.
        out: where to put the result, (…, nv), of the result's dtype.

    Returns:
        Accelerations (…, nv); rad/s², m/s². For a free joint: the derivative of v, which is the body's spatial
        acceleration in its own axes.

    Raises:
        ShapeError: the length of an argument's last axis is wrong, or the leading axes do not broadcast.
        DTypeError: an argument is not an array of real numbers.
        ConfigurationError: a quaternion in q is zero, or the coordinates of a joint are singular.
        OptionError: unknown passive force, or `on_unactuated` is neither of the two.
        ActuationError: tau acts at a joint without a motor, and `on_unactuated` is "error".
        SingularModelError: a joint moves nothing that has inertia.

    Source: Featherstone, RBDA (2008), Table 7.1.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.aba(robot, np.zeros((100, 2)), np.zeros(2), np.zeros(2)).shape
    (100, 2)
    """
    if on_unactuated is not _ALLOW:  # the usual call skips even the check of the option
        check_motors(robot, tau, on_unactuated)
    options = switched_on(robot, passive, limits)
    return run(ABA, robot, (q, v, tau), f_ext=f_ext, parameters=parameters, out=out, threads=threads, **options)


@defined_plainly_by(RNEA, in_units=True)
def rnea(
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
) -> Array:
    """Inverse dynamics by the recursive Newton-Euler algorithm: the joint forces that give accelerations.

    Args:
        passive: which passive forces of the joints act, so that the drives need not provide them: True for
            all, False for none, or a list of names among "damping", "friction" and "spring".
        out: where to put the result, (…, nv), of the result's dtype.

    Returns:
        Joint forces (…, nv); N·m, N. For a free joint: the wrench [f; n] in the body's axes. These are the forces that
        the accelerations require, regardless of motor limits; see `kt.dynamics.limited_forces`.

    Raises:
        ShapeError, DTypeError, ConfigurationError, OptionError: as for `aba`.

    Source: Featherstone, RBDA (2008), Table 5.1.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> qdd = kt.aba(robot, [0.3, 0.1], [0.0, 1.0], [2.0, 0.5])
    >>> kt.rnea(robot, [0.3, 0.1], [0.0, 1.0], qdd).round(9).tolist()
    [2.0, 0.5]
    """
    options = switched_on(robot, passive)
    return run(RNEA, robot, (q, v, qdd), f_ext=f_ext, parameters=parameters, out=out, threads=threads, **options)


@defined_plainly_by(CRBA)
def crba(
    robot: Model,
    q: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The mass matrix by the composite-rigid-body algorithm, full and symmetric.

    Args:
        out: where to put the result, (…, nv, nv), of the result's dtype.

    Returns:
        M (…, nv, nv), including rotor inertias: kg·m² between angles, kg between displacements.

    Source: Featherstone, RBDA (2008), Table 6.2.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.crba(robot, [0.3, 0.1]).shape
    (2, 2)
    """
    return run(CRBA, robot, (q,), parameters=parameters, out=out, threads=threads)


@defined_plainly_by(BIAS_FORCES)
def bias_forces(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    passive: Passive = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The joint forces at zero acceleration: Coriolis, centrifugal and gravity terms, minus external forces.

    Passive forces are subtracted too, on request.

    Args:
        f_ext: external wrenches by frame name, as for `rnea`.
        passive: which passive forces count as part of the robot, as for `rnea`.
        out: where to put the result, (…, nv).

    Returns:
        h (…, nv) of M q̈ + h = τ; N·m, N.

    Source: Featherstone, RBDA (2008), eq. 6.2 and Table 5.1 with q̈ = 0.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.bias_forces(robot, [0.3, 0.1], [0.0, 1.0]).shape
    (2,)
    """
    options = switched_on(robot, passive)
    return run(BIAS_FORCES, robot, (q, v), f_ext=f_ext, parameters=parameters, out=out, threads=threads, **options)


@defined_plainly_by(CORIOLIS_FORCES)
def coriolis_forces(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The joint forces due to the velocity alone: Coriolis and centrifugal terms, without gravity.

    They are `bias_forces` minus `gravity_forces`, at less than the cost of the former, and `coriolis_matrix` times v.

    Args:
        parameters: values that override some of the robot's parameters, such as
            {"body.NAME.mass": (…)}; see `kinetree docs parameters`.
        out: where to put the result, (…, nv).

    Returns:
        C(q, v) v (…, nv); N·m, N.

    Source: Featherstone, RBDA (2008), Table 5.1 with q̈ = 0 and no gravity.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> float(abs(kt.dynamics.coriolis_forces(robot, [0.3, 0.1], [0.0, 0.0])).max())
    0.0
    """
    return run(CORIOLIS_FORCES, robot, (q, v), parameters=parameters, out=out, threads=threads)


@defined_plainly_by(GRAVITY_FORCES)
def gravity_forces(
    robot: Model,
    q: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The joint forces that hold the robot still against gravity.

    Args:
        out: where to put the result, (…, nv).

    Returns:
        g (…, nv), the gradient of the potential energy; N·m, N.

    Source: Featherstone, RBDA (2008), Table 5.1 with q̇ = q̈ = 0.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.gravity_forces(robot, [0.0, 0.0]).round(12).tolist()
    [0.0, 0.0]
    """
    return run(GRAVITY_FORCES, robot, (q,), parameters=parameters, out=out, threads=threads)


forward_dynamics = aba
inverse_dynamics = rnea
mass_matrix = crba

"""Momentum, about any point and about the centre of mass, and power, as functions of arrays.

They run on the tree with regrouped inertias: the part of a body's inertia that its joint's motion never shows has the
same momentum when the parent carries it, and the sum of all inertias is unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.arguments import dtype_like
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.compiler.usual_calls import defined_plainly_by
from kinetree.errors import ModelError
from kinetree.expr import Scalar
from kinetree.functions.drives import Passive, limits_option, passive_option, switched_on
from kinetree.model import Model
from kinetree.model.external_forces import ExternalForces
from kinetree.spatial import Force, Vec3

__all__ = [
    "centroidal_inertia",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "centroidal_momentum_matrix_rate",
    "centroidal_momentum_rate",
    "mechanical_power",
    "momentum",
]


def _momentum(model: Form, q: Slots, v: Slots, point: Sequence[Scalar]) -> Sequence[Scalar]:
    h = algorithms.momentum(model.tree, q, v)
    return Force(h.angular - Vec3(*point).cross(h.linear), h.linear).linear_first()


def _centroidal_momentum(model: Form, q: Slots, v: Slots) -> Sequence[Scalar]:
    mass = _total_mass(model, "centroidal_momentum")
    return algorithms.centroidal_momentum(model.tree, q, v, mass).linear_first()


def _centroidal_momentum_rate(model: Form, q: Slots, v: Slots, qdd: Slots) -> Sequence[Scalar]:
    mass = _total_mass(model, "centroidal_momentum_rate")
    return algorithms.centroidal_momentum_rate(model.tree, q, v, qdd, mass).linear_first()


def _centroidal_momentum_matrix(model: Form, q: Slots) -> list[Scalar]:
    mass = _total_mass(model, "centroidal_momentum_matrix")
    return algorithms.centroidal_momentum_matrix(model.tree, q, mass).flat()


def _centroidal_momentum_matrix_rate(model: Form, q: Slots, v: Slots) -> list[Scalar]:
    mass = _total_mass(model, "centroidal_momentum_matrix_rate")
    return algorithms.centroidal_momentum_matrix_rate(model.tree, q, v, mass).flat()


def _centroidal_inertia(model: Form, q: Slots) -> list[Scalar]:
    m = _total_mass(model, "centroidal_inertia")
    rows = algorithms.centroidal_inertia(model.tree, q, m).full
    return [
        *(m, 0.0, 0.0, 0.0, 0.0, 0.0),
        *(0.0, m, 0.0, 0.0, 0.0, 0.0),
        *(0.0, 0.0, m, 0.0, 0.0, 0.0),
        *(x for row in (rows.x, rows.y, rows.z) for x in (0.0, 0.0, 0.0, *row.components())),
    ]


def _mechanical_power(
    model: Form, q: Slots, v: Slots, tau: Slots, *, passive: Sequence[str], limits: bool, f_ext: dict[int, Force]
) -> list[Scalar]:
    acting = algorithms.driven(model.tree, q, v, tau, passive, limits)
    return [algorithms.mechanical_power(model.tree, q, v, acting, f_ext)]


def _total_mass(model: Form, function: str) -> float:
    if model.mass == 0.0:
        raise ModelError(
            f"{function}: {model.name!r} has no mass at all, so it has no centre of mass; give a body mass, or use "
            "kt.dynamics.momentum, which is about a point of the world"
        )
    return model.mass


_Q, _V, _QDD, _TAU, _POINT = ("q", "nq"), ("v", "nv"), ("qdd", "nv"), ("tau", "forces"), ("point", 3)
MOMENTUM = Definition("momentum", (_Q, _V, _POINT), (6,), _momentum, optional=("point",), regroups=True)
CENTROIDAL_MOMENTUM = Definition("centroidal_momentum", (_Q, _V), (6,), _centroidal_momentum, regroups=True)
CENTROIDAL_MOMENTUM_RATE = Definition(
    "centroidal_momentum_rate", (_Q, _V, _QDD), (6,), _centroidal_momentum_rate, regroups=True
)
CENTROIDAL_MOMENTUM_MATRIX = Definition(
    "centroidal_momentum_matrix", (_Q,), (6, "nv"), _centroidal_momentum_matrix, regroups=True
)
CENTROIDAL_MOMENTUM_MATRIX_RATE = Definition(
    "centroidal_momentum_matrix_rate", (_Q, _V), (6, "nv"), _centroidal_momentum_matrix_rate, regroups=True
)
CENTROIDAL_INERTIA = Definition("centroidal_inertia", (_Q,), (6, 6), _centroidal_inertia, regroups=True)
MECHANICAL_POWER = Definition(
    "mechanical_power",
    (_Q, _V, _TAU),
    (),
    _mechanical_power,
    {"passive": passive_option, "limits": limits_option},
    takes_forces=True,
)


@defined_by(MOMENTUM)
def momentum(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    point: ArrayLike | None = None,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The momentum of everything that moves, in the world's axes, about a point.

    Geared rotors count, with their own spin. Armatures do not: they are inertia about a joint alone, which nothing
    outside the robot can feel. Bodies fixed to a stationary root have none.

    Args:
        point: the point (…, 3) in the world about which the angular part is taken, m; by default the world's origin. A
            kernel made by `kt.compile` takes it with each call.
        out: where to put the result, (…, 6), of the result's dtype.

    Returns:
        [linear; angular] (…, 6); kg·m/s, kg·m²/s.

    Raises:
        ShapeError, DTypeError, ConfigurationError: as for `aba`; the point is not of shape (…, 3).

    Source: Featherstone, RBDA (2008), section 2.12: h = I v, summed over bodies.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("cart_pole")
    >>> kt.dynamics.momentum(robot, [0.0, 0.0], [2.0, 0.0])[0].round(9).tolist()
    2.2
    """
    if point is None:
        point = np.zeros(3, dtype_like(q))
    return run(MOMENTUM, robot, (q, v, point), parameters=parameters, out=out, threads=threads)


@defined_plainly_by(CENTROIDAL_MOMENTUM)
def centroidal_momentum(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The momentum of everything that moves, in the world's axes, about the centre of mass.

    The centre of mass is that of `kt.center_of_mass`, which includes bodies fixed to a stationary root. So the linear
    part is always the total mass times the velocity of that point.

    Args:
        out: where to put the result, (…, 6), of the result's dtype.

    Returns:
        [linear; angular] (…, 6); kg·m/s, kg·m²/s. If parameters make all masses zero, the centre of mass does not
        exist, and the angular part is NaN or infinite.

    Raises:
        ModelError: the robot has no mass.

    Source: Orin, Goswami and Lee, "Centroidal dynamics of a humanoid robot" (2013).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("cart_pole")
    >>> kt.dynamics.centroidal_momentum(robot, [5.0, 0.0], [2.0, 0.0])[0].round(9).tolist()
    2.2
    """
    return run(CENTROIDAL_MOMENTUM, robot, (q, v), parameters=parameters, out=out, threads=threads)


@defined_plainly_by(CENTROIDAL_MOMENTUM_RATE)
def centroidal_momentum_rate(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The derivative of `centroidal_momentum`, A q̈ + Ȧ v: the wrench about the centre of mass that motion requires.

    For a robot that nothing holds, it is the sum of the weight and the external wrenches.

    Args:
        out: where to put the result, (…, 6), of the result's dtype.

    Returns:
        [f; n] (…, 6) in the world's axes; N, N·m. Zero mass is treated as in `centroidal_momentum`.

    Raises:
        ModelError: the robot has no mass.

    Source: Featherstone, RBDA (2008), Table 5.1 without gravity, passed to the root.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("cart_pole")
    >>> kt.dynamics.centroidal_momentum_rate(robot, [0.0, 0.0], [0.0, 0.0], [3.0, 0.0])[0].round(9).tolist()
    3.3
    """
    return run(CENTROIDAL_MOMENTUM_RATE, robot, (q, v, qdd), parameters=parameters, out=out, threads=threads)


@defined_plainly_by(CENTROIDAL_MOMENTUM_MATRIX)
def centroidal_momentum_matrix(
    robot: Model,
    q: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The matrix A with `centroidal_momentum` = A v.

    Args:
        out: where to put the result, (…, 6, nv), of the result's dtype.

    Returns:
        A (…, 6, nv), the linear rows first, in the world's axes; rotors, the mass of a fixed base and zero mass are
        treated as in `centroidal_momentum`.

    Raises:
        ModelError: the robot has no mass.

    Source: Orin, Goswami and Lee, "Centroidal dynamics of a humanoid robot" (2013); its columns by composite
    inertias, RBDA Table 6.2.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("cart_pole")
    >>> kt.dynamics.centroidal_momentum_matrix(robot, [0.0, 0.0])[0, 0].round(9).tolist()
    1.1
    """
    return run(CENTROIDAL_MOMENTUM_MATRIX, robot, (q,), parameters=parameters, out=out, threads=threads)


@defined_plainly_by(CENTROIDAL_MOMENTUM_MATRIX_RATE)
def centroidal_momentum_matrix_rate(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The derivative Ȧ of `centroidal_momentum_matrix` along the motion.

    Args:
        out: where to put the result, (…, 6, nv), of the result's dtype.

    Returns:
        Ȧ (…, 6, nv), the linear rows first, in the world's axes. Zero mass is treated as in `centroidal_momentum`.

    Raises:
        ModelError: the robot has no mass.

    Source: the columns of the composite-rigid-body algorithm differentiated, d(Iᶜ S)/dt, with d(I)/dt = v x* I - I v x
    (Featherstone, RBDA (2008), section 2.13).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("cart_pole")
    >>> kt.dynamics.centroidal_momentum_matrix_rate(robot, [0.0, 0.0], [1.0, 0.0]).tolist() == [[0.0, 0.0]] * 6
    True
    """
    return run(CENTROIDAL_MOMENTUM_MATRIX_RATE, robot, (q, v), parameters=parameters, out=out, threads=threads)


@defined_plainly_by(CENTROIDAL_INERTIA)
def centroidal_inertia(
    robot: Model,
    q: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The inertia of the robot as one rigid body, about its centre of mass, in the world's axes.

    It includes bodies fixed to a stationary root, as `kt.center_of_mass` does. Its first entry is the total mass:
    `robot.mass`, or its value with the masses given in the parameters.

    Args:
        out: where to put the result, (…, 6, 6), of the result's dtype.

    Returns:
        [[m 1, 0], [0, I]] (…, 6, 6), linear part first; kg, kg·m². Zero mass is treated as in `centroidal_momentum`.

    Raises:
        ModelError: the robot has no mass.

    Source: Orin, Goswami and Lee, "Centroidal dynamics of a humanoid robot" (2013); Featherstone, RBDA (2008),
    eq. 2.63 and Table 6.2.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("cart_pole")
    >>> bool(kt.dynamics.centroidal_inertia(robot, robot.neutral())[0, 0] == robot.mass)
    True
    """
    return run(CENTROIDAL_INERTIA, robot, (q,), parameters=parameters, out=out, threads=threads)


@defined_plainly_by(MECHANICAL_POWER)
def mechanical_power(
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
) -> Array:
    """The power that joint forces and external wrenches put into the robot.

    It is the derivative of `kinetic_energy` plus `potential_energy` along the motion that `aba` gives for the same
    tau, f_ext, passive and limits. This energy does not include that of springs: where they act, their power is
    included here, as is the power that friction dissipates.

    Args:
        passive: which passive forces act in addition to tau, as for `aba`.
        limits: whether motor limits apply to tau, as for `aba`.
        out: where to put the result, (…), of the result's dtype.

    Returns:
        Power (…); W. Positive where the robot gains energy.

    Raises:
        ShapeError, DTypeError, ConfigurationError, OptionError: as for `aba`.

    Source: τ · v + Σ f · v of the frames, Featherstone, RBDA (2008), section 2.6.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> float(kt.dynamics.mechanical_power(robot, [0.3, 0.1], [2.0, 1.0], [3.0, -1.0]))
    5.0
    """
    options = switched_on(robot, passive, limits)
    return run(
        MECHANICAL_POWER, robot, (q, v, tau), f_ext=f_ext, parameters=parameters, out=out, threads=threads, **options
    )

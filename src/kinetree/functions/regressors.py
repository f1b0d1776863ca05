"""Quantities linear in the robot's inertial parameters, as functions of arrays: regressor @ parameters."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.bodies import bodies_behind, body_columns, body_rows, numbered_bodies, numbered_drives
from kinetree.compiler.forms.form import Form
from kinetree.compiler.usual_calls import defined_plainly_by
from kinetree.errors import OptionError
from kinetree.expr import Scalar
from kinetree.functions.options import frame_option
from kinetree.inputs import flag, repeated
from kinetree.model import Frame, Model, check_robot

__all__ = [
    "body_wrench_regressor",
    "joint_torque_regressor",
    "kinetic_energy_regressor",
    "momentum_regressor",
    "potential_energy_regressor",
]


def bodies_option(model: Model, value: Any) -> Hashable:
    """The names of bodies, in the order given; all for None."""
    if value is None:
        return tuple(model.bodies)
    if isinstance(value, str) or not isinstance(value, Sequence):
        hint = f", such as [{value!r}]" if isinstance(value, str) else ""
        raise OptionError(f"bodies must be a list of names{hint}, or None for all, not {value!r:.60}")
    if not value:
        raise OptionError("bodies is empty, so the regressor would have no columns; name at least one, or leave it out")
    names = tuple(model.bodies[name].name for name in value)
    if len(set(names)) < len(names):
        raise OptionError(f"body {repeated(names)!r} is named twice in bodies; name each once")
    return names


def drives_option(_: Model, value: Any) -> Hashable:
    """Whether drives have columns; False for None."""
    return value is not None and flag("drives", value)


def _torque_shape(model: Model, options: Mapping[str, Any]) -> tuple[int | str, ...]:
    return ("nv", 10 * len(options["bodies"]) + (3 * model.driven_nv if options["drives"] else 0))


def _joint_torque(model: Form, q: Slots, v: Slots, qdd: Slots, *, bodies: Sequence[str], drives: bool) -> list[Scalar]:
    tree = model.tree
    ten, three = 10 * len(bodies), 3 * model.driven_nv if drives else 0
    Y = tree.rows(ten + three)
    for j, coefficients in algorithms.joint_torque_regressor(tree, q, v, qdd):
        for k, body in bodies_behind(model, j, bodies):
            Y[j, 10 * k] = [c.of(body.placement).ten() for c in coefficients(body.slot)]
    for k, j in numbered_drives(model) if drives else ():
        rows = algorithms.drive_columns(tree, v, qdd, j)
        Y[j, ten + 3 * k] = [
            [x if a == b else 0.0 for b, row in enumerate(rows) for x in row] for a in range(len(rows))
        ]
    return Y.flat()


def _momentum(model: Form, q: Slots, v: Slots) -> list[Scalar]:
    coefficients = algorithms.momentum_regressor(model.tree, q, v)
    columns = body_columns(model)
    for k, body in numbered_bodies(model):
        columns[k] = [c.of(body.placement).ten() for c in coefficients[body.slot]]
    return columns.flat()


def _kinetic_energy(model: Form, q: Slots, v: Slots) -> list[Scalar]:
    coefficients = algorithms.kinetic_energy_regressor(model.tree, q, v)
    rows = body_rows(model)
    for k, body in numbered_bodies(model):
        rows[k] = coefficients[body.slot].of(body.placement).ten()
    return rows.flat()


def _potential_energy(model: Form, q: Slots) -> list[Scalar]:
    coefficients = algorithms.potential_energy_regressor(model.tree, q)
    rows = body_rows(model)
    for k, body in numbered_bodies(model):
        rows[k] = coefficients[body.slot].of(body.placement).ten()
    return rows.flat()


def _body_wrench(model: Form, q: Slots, v: Slots, qdd: Slots, *, frame: Frame) -> list[Scalar]:
    columns = algorithms.net_force_columns(model.tree, q, v, qdd, frame.slot, frame.placement)
    return [x for row in zip(*(f.linear_first() for f in columns), strict=True) for x in row]


def _ten_a_body(model: Model, _: Mapping[str, Any]) -> tuple[int | str, ...]:
    return (10 * len(model.bodies),)


def _six_rows(model: Model, _: Mapping[str, Any]) -> tuple[int | str, ...]:
    return (6, 10 * len(model.bodies))


_Q, _V, _QDD = ("q", "nq"), ("v", "nv"), ("qdd", "nv")
JOINT_TORQUE_REGRESSOR = Definition(
    "joint_torque_regressor",
    (_Q, _V, _QDD),
    _torque_shape,
    _joint_torque,
    {"bodies": bodies_option, "drives": drives_option},
    strategy=Strategy(longest=20_000),  # a batch for a humanoid takes five times as long in loops
)
MOMENTUM_REGRESSOR = Definition("momentum_regressor", (_Q, _V), _six_rows, _momentum)
KINETIC_ENERGY_REGRESSOR = Definition("kinetic_energy_regressor", (_Q, _V), _ten_a_body, _kinetic_energy)
POTENTIAL_ENERGY_REGRESSOR = Definition("potential_energy_regressor", (_Q,), _ten_a_body, _potential_energy)
BODY_WRENCH_REGRESSOR = Definition(
    "body_wrench_regressor", (_Q, _V, _QDD), (6, 10), _body_wrench, {"frame": frame_option}
)


@defined_plainly_by(JOINT_TORQUE_REGRESSOR, in_units=True)
def joint_torque_regressor(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike,
    *,
    bodies: Sequence[str] | None = None,
    drives: bool = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The matrix that takes the inertial parameters of the bodies to the joint forces: Y(q, v, qdd) π = τ.

    With π = `kt.identification.inertial_parameters(robot)`, Y π is `rnea(robot, q, v, qdd)` minus the contribution of
    rotors: armatures and geared rotors are not among the ten parameters of a body. With `drives=True` there are three
    more columns for each degree of freedom of each joint, for its armature, damping and Coulomb friction, and then Y π,
    with π = `kt.identification.inertial_parameters(robot, drives=True)`, is `rnea(…, passive=["damping", "friction"])`.
    Geared rotors (`Rotor`, including their ratio² inertia) and springs are left out even then.

    Args:
        bodies: names of the bodies to have columns, in that order; by default all, in the order of `robot.bodies`.
        drives: whether columns of the joints' drives follow those of the bodies: q̈, v and tanh(v / v_s) in the row of
            the degree of freedom, with v_s the joint's `friction_speed`; joints in the order of `robot.joints`,
            including followers, without that of a floating base.
        parameters: values that override some of the robot's parameters, such as {"gravity": (…, 3)}; masses and
            inertias have no influence. See `kinetree docs parameters`.

    Returns:
        Y (…, nv, 10 B), ten columns per body: m, h_x, h_y, h_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz (the order of
        Pinocchio), with the first moment h = m c and I about the origin of the body's own frame, in its axes. Bodies
        on fixed joints have columns of their own; those of a fixed base are zero. With drives: (…, nv, 10 B + 3 n).

    Raises:
        NameNotFoundError: the robot has no such body.
        OptionError: `bodies` is not a list of distinct names, or `drives` is neither True nor False.

    Source: Atkeson, An, Hollerbach, "Estimation of inertial parameters of manipulator loads and links" (1986).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> q, v, qdd = [0.3, 0.1], [0.0, 1.0], [2.0, 3.0]
    >>> Y = kt.dynamics.joint_torque_regressor(robot, q, v, qdd)
    >>> tau = Y @ kt.identification.inertial_parameters(robot)
    >>> bool(abs(tau - kt.rnea(robot, q, v, qdd)).max() < 1e-12)
    True
    """
    options: dict[str, Any] = {}
    if bodies is not None:
        options["bodies"] = bodies_option(check_robot(robot), bodies)
    if drives is not False and drives_option(robot, drives):
        options["drives"] = True
    return run(
        JOINT_TORQUE_REGRESSOR, robot, (q, v, qdd), parameters=parameters, out=out, threads=threads, **options
    )  # fmt: skip


@defined_plainly_by(MOMENTUM_REGRESSOR)
def momentum_regressor(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The matrix that takes the inertial parameters to the robot's momentum about the world's origin.

    It covers the bodies only: the additional spin of geared rotors is not among the parameters.

    Args:
        parameters: values that override some of the robot's parameters, such as {"joint.NAME.placement": (…, 7)};
            masses and inertias have no influence. See `kinetree docs parameters`.

    Returns:
        (…, 6, 10 B), in the world's axes: three rows for the linear momentum, kg·m/s, three for the angular one about
        the world's origin, kg·m²/s; columns as for `joint_torque_regressor`.

    Source: Featherstone, RBDA (2008), eq. 2.61, by the columns of the inertia.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.dynamics.momentum_regressor(robot, [0.3, 0.1], [0.0, 1.0]).shape == (6, 10 * len(robot.bodies))
    True
    """
    return run(MOMENTUM_REGRESSOR, robot, (q, v), parameters=parameters, out=out, threads=threads)


@defined_plainly_by(KINETIC_ENERGY_REGRESSOR)
def kinetic_energy_regressor(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The row that takes the inertial parameters to the kinetic energy of the bodies.

    `kt.kinetic_energy` also includes that of armatures and geared rotors.

    Args:
        parameters: values that override some of the robot's parameters, such as {"joint.NAME.placement": (…, 7)};
            masses and inertias have no influence. See `kinetree docs parameters`.

    Returns:
        (…, 10 B); its product with `kt.identification.inertial_parameters(robot)` is in J; columns as for
        `joint_torque_regressor`.

    Source: Gautier and Khalil, "On the identification of the inertial parameters of robots" (1988), for the energy
    as a linear function of them.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> q, v = [0.3, 0.1], [0.0, 1.0]
    >>> energy = kt.dynamics.kinetic_energy_regressor(robot, q, v) @ kt.identification.inertial_parameters(robot)
    >>> bool(abs(energy - kt.kinetic_energy(robot, q, v)) < 1e-12)
    True
    """
    return run(KINETIC_ENERGY_REGRESSOR, robot, (q, v), parameters=parameters, out=out, threads=threads)


@defined_plainly_by(POTENTIAL_ENERGY_REGRESSOR)
def potential_energy_regressor(
    robot: Model,
    q: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The row that takes the inertial parameters to the potential energy in the field of gravity.

    Springs are not included.

    Args:
        parameters: values that override some of the robot's parameters, such as {"gravity": (…, 3)}; masses and
            inertias have no influence. See `kinetree docs parameters`.

    Returns:
        (…, 10 B); its product with `kt.identification.inertial_parameters(robot)` is in J, and zero with the centre of
        mass at the world's origin; columns as for `joint_torque_regressor`, those of inertias zero.

    Source: Gautier and Khalil, "On the identification of the inertial parameters of robots" (1988), for the energy
    as a linear function of them.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> parameters = kt.identification.inertial_parameters(robot)
    >>> energy = kt.dynamics.potential_energy_regressor(robot, [0.3, 0.1]) @ parameters
    >>> bool(abs(energy - kt.potential_energy(robot, [0.3, 0.1])) < 1e-12)
    True
    """
    return run(POTENTIAL_ENERGY_REGRESSOR, robot, (q,), parameters=parameters, out=out, threads=threads)


@defined_by(BODY_WRENCH_REGRESSOR)
def body_wrench_regressor(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike,
    frame: str,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The matrix that takes one body's inertial parameters to the wrench that moves it, as a force sensor measures it.

    It is I a + v x* I v minus the body's weight: the sum of all wrenches on it except that of gravity. For the net
    wrench, set gravity to zero: `parameters={"gravity": (0, 0, 0)}`.

    Args:
        frame: a name in `robot.frames`: a body, or a frame on it; the ten parameters are then those in this frame.
        parameters: values that override some of the robot's parameters, such as {"gravity": (…, 3)}; masses and
            inertias have no influence. See `kinetree docs parameters`.

    Returns:
        (…, 6, 10); its product with a body's ten parameters is the wrench [f; n] in the frame's own axes and about its
        origin, N and N·m; the columns are in the order of `joint_torque_regressor`.

    Source: Atkeson, An, Hollerbach, "Estimation of inertial parameters of manipulator loads and links" (1986).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> tip = list(robot.bodies)[-1]
    >>> kt.dynamics.body_wrench_regressor(robot, [0.3, 0.1], [0.0, 1.0], [2.0, 3.0], tip).shape
    (6, 10)
    """
    return run(
        BODY_WRENCH_REGRESSOR, robot, (q, v, qdd), frame=frame, parameters=parameters, out=out, threads=threads
    )  # fmt: skip

"""Motion of the centre of mass, as functions of arrays; its position is in `kinetree.functions.energy`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots
from kinetree.compiler.forms.form import Form
from kinetree.compiler.usual_calls import defined_plainly_by
from kinetree.errors import ModelError
from kinetree.expr import Scalar
from kinetree.model import Model

__all__ = ["center_of_mass_acceleration", "center_of_mass_jacobian", "center_of_mass_velocity"]


def _velocity(model: Form, q: Slots, v: Slots) -> Sequence[Scalar]:
    mass = _mass(model, "center_of_mass_velocity")
    return algorithms.center_of_mass_velocity(model.tree, q, v, mass).components()


def _acceleration(model: Form, q: Slots, v: Slots, qdd: Slots) -> Sequence[Scalar]:
    mass = _mass(model, "center_of_mass_acceleration")
    return algorithms.center_of_mass_acceleration(model.tree, q, v, qdd, mass).components()


def _jacobian(model: Form, q: Slots) -> list[Scalar]:
    columns = algorithms.center_of_mass_jacobian(model.tree, q, _mass(model, "center_of_mass_jacobian"))
    J = model.tree.columns(3)
    for j, _ in model.tree.outward:
        J[j] = [column.components() for column in columns[j]]
    return J.flat()


def _mass(model: Form, function: str) -> float:
    if model.mass == 0.0:
        raise ModelError(f"{function}: {model.name!r} has no mass at all, so it has no centre of mass")
    return model.mass


_Q, _V, _QDD = ("q", "nq"), ("v", "nv"), ("qdd", "nv")
CENTER_OF_MASS_VELOCITY = Definition("center_of_mass_velocity", (_Q, _V), (3,), _velocity)
CENTER_OF_MASS_ACCELERATION = Definition("center_of_mass_acceleration", (_Q, _V, _QDD), (3,), _acceleration)
CENTER_OF_MASS_JACOBIAN = Definition("center_of_mass_jacobian", (_Q,), (3, "nv"), _jacobian)


@defined_plainly_by(CENTER_OF_MASS_VELOCITY)
def center_of_mass_velocity(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The velocity of the robot's centre of mass.

    Bodies fixed to the root count in the mass, as for `center_of_mass`.

    Returns:
        Velocity (…, 3) in the world's axes; m/s.

    Raises:
        ModelError: the robot has no mass at all.

    Source: the time derivative of Σ m c / Σ m.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.kinematics.center_of_mass_velocity(robot, [0.3, 0.1], [0.0, 0.0]).tolist()
    [0.0, 0.0, 0.0]
    """
    return run(
        CENTER_OF_MASS_VELOCITY,
        robot,
        (q, v),
        parameters=parameters,
        out=out,
        threads=threads,
    )


@defined_plainly_by(CENTER_OF_MASS_ACCELERATION)
def center_of_mass_acceleration(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The acceleration of the robot's centre of mass, gravity not included.

    Multiplied by the total mass, it is the sum of all external forces, including gravity and the root's support.

    Returns:
        Acceleration (…, 3) in the world's axes; m/s².

    Raises:
        ModelError: the robot has no mass at all.

    Source: the second time derivative of Σ m c / Σ m.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.kinematics.center_of_mass_acceleration(robot, [0.3, 0.1], [0.0, 0.0], [0.0, 0.0]).tolist()
    [0.0, 0.0, 0.0]
    """
    return run(
        CENTER_OF_MASS_ACCELERATION,
        robot,
        (q, v, qdd),
        parameters=parameters,
        out=out,
        threads=threads,
    )


@defined_plainly_by(CENTER_OF_MASS_JACOBIAN)
def center_of_mass_jacobian(
    robot: Model,
    q: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The matrix that takes v to the velocity of the centre of mass: J v = center_of_mass_velocity.

    Returns:
        J (…, 3, nv) in the world's axes.

    Raises:
        ModelError: the robot has no mass at all.

    Source: the derivative of Σ m c / Σ m with respect to joint displacements.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.kinematics.center_of_mass_jacobian(robot, [0.3, 0.1]).shape
    (3, 2)
    """
    return run(
        CENTER_OF_MASS_JACOBIAN,
        robot,
        (q,),
        parameters=parameters,
        out=out,
        threads=threads,
    )

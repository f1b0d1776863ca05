"""A robot's inertial parameters as one vector, and a robot with other ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ModelError
from kinetree.functions.regressors import drives_option
from kinetree.inputs import refuse_symbols, sample
from kinetree.model import Joint, Model, check_robot
from kinetree.model.changes.common import closed, opened
from kinetree.model.checks.masses import ten
from kinetree.spatial import Inertia, Sym3, Vec3

__all__ = [
    "OF_A_BODY",
    "OF_A_DRIVE",
    "driven_names",
    "inertial_parameters",
    "parameter_names",
    "with_inertial_parameters",
]

OF_A_BODY = ("m", "h_x", "h_y", "h_z", "I_xx", "I_xy", "I_yy", "I_xz", "I_yz", "I_zz")
OF_A_DRIVE = ("armature", "damping", "friction")


def inertial_parameters(robot: Model, *, drives: bool = False) -> NDArray[np.float64]:
    """The numbers that inverse dynamics is linear in: ten per body and, with `drives`, three per degree of freedom.

    Those of a body are m, h_x, h_y, h_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz (the order of Pinocchio), with the first
    moment h = m c and the inertia about the origin of the body's own frame, in its axes; kg, kg·m, kg·m². They are
    those of the file, body by body: bodies on fixed joints have their own.

    Args:
        robot: the robot.
        drives: whether armature, damping and Coulomb friction follow, for each degree of freedom of each joint:
            joints in the order of `robot.joints`, including followers, without a floating base.

    Returns:
        (10 B,) in the order of `robot.bodies`, or (10 B + 3 n,).

    Raises:
        OptionError: drives is neither True nor False.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.identification.inertial_parameters(robot).shape == (10 * len(robot.bodies),)
    True
    """
    model = check_robot(robot)
    numbers: list[float] = []
    for body in model.bodies.values():
        m, hx, hy, hz, xx, yy, zz, xy, xz, yz = ten(body.inertia)
        numbers += (m, hx, hy, hz, xx, xy, yy, xz, yz, zz)
    for joint in model.driven_joints if drives_option(model, drives) else ():
        for triple in zip(joint.armature, joint.damping, joint.friction, strict=True):
            numbers += triple
    return np.array(numbers, dtype=np.float64)


def with_inertial_parameters(robot: Model, parameters: ArrayLike, *, drives: bool = False) -> Model:
    """The same robot with these inertial parameters: the inverse of `kt.identification.inertial_parameters`.

    They are checked like those of a file: impossible numbers are rejected, suspicious ones cause a warning.

    Args:
        robot: the robot.
        parameters: (10 B,), or with drives (10 B + 3 n,), as `kt.identification.inertial_parameters` returns them.
        drives: whether armature, damping and Coulomb friction of the joints are included.

    Returns:
        A new robot; the first of its `notes` says so.

    Raises:
        ShapeError: the number of parameters is not the robot's.
        DTypeError: they are not real numbers.
        OptionError: drives is neither True nor False.
        ModelError: naming the body or joint: numbers that are not finite, a negative mass or armature, a first moment
            without mass, an inertia with a negative principal moment about the centre of mass.

    Warns:
        ModelWarning: of principal moments that violate the triangle inequality. Negative friction is noted in `notes`.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> heavier = kt.identification.with_inertial_parameters(robot, 2.0 * kt.identification.inertial_parameters(robot))
    >>> round(heavier.mass / robot.mass, 12)
    2.0
    """
    model = check_robot(robot)
    refuse_symbols(
        "with_inertial_parameters: a robot whose numbers depend on arguments of a program",
        "give them with each call, as parameters={'body.NAME.inertia': …} of the function",
        parameters,
    )
    drives = bool(drives_option(model, drives))
    numbers = _numbers(model, parameters, drives)
    inertias = [_inertia(x) for x in numbers[: 10 * len(model.bodies)].reshape(-1, 10).tolist()]
    rest = iter(numbers[10 * len(model.bodies) :].reshape(-1, 3).tolist())
    of_joints = {joint.name: [next(rest) for _ in range(joint.kind.nv)] for joint in _driven(model, drives)}
    joints = []
    for spec in model.parts.joints:
        if spec.name in of_joints:
            armature, damping, friction = zip(*of_joints[spec.name], strict=True)
            spec = replace(
                spec, drive=replace(spec.drive, damping=damping, friction=friction), armature=armature, where=""
            )
        joints.append(spec)
    also = " and drives" if drives else ""
    note = f"other inertial parameters: the inertias of all bodies{also} were given as numbers"
    builder = opened(replace(model.parts, links=(), joints=tuple(joints)), note)
    for link, inertia in zip(model.parts.links, inertias, strict=True):
        builder.add_body(link.name, inertia, geometry=link.geometry)  # so that it is checked like a new one
    return Model.of(closed(builder, floating_base=model.floating_base))


def parameter_names(model: Model, bodies: list[str], drives: bool) -> list[str]:
    """Readable names: m(link), h_x(link), …, and armature(joint), damping(joint), friction(joint)."""
    names = [f"{what}({body})" for body in bodies for what in OF_A_BODY]
    return names + [f"{what}({owner})" for owner in driven_names(model) if drives for what in OF_A_DRIVE]


def driven_names(model: Model) -> list[str]:
    """The names of the degrees of freedom that have drives: joints in their order, including followers."""
    named = ((joint.name, suffix) for joint in model.driven_joints for suffix in joint.kind.v_names)
    return [f"{name}.{suffix}" if suffix else name for name, suffix in named]


def _driven(model: Model, drives: bool) -> list[Joint]:
    return model.driven_joints if drives else []


def _numbers(model: Model, parameters: ArrayLike, drives: bool) -> NDArray[np.float64]:
    count = 10 * len(model.bodies)
    parts = f"ten for each of its {len(model.bodies)} bodies"
    if drives:
        n = model.driven_nv
        count, parts = count + 3 * n, f"{parts}, and three for each of {n} degrees of freedom"
    array = sample("parameters", parameters, (count,), repr(model.name), f": {parts}")
    finite = np.isfinite(array)
    if not finite.all():
        k = int(np.argmin(finite))
        name = parameter_names(model, list(model.bodies), drives)[k]
        raise ModelError(f"parameters[{k}], {name}, is {array[k]}; give finite numbers")
    return array.astype(np.float64)


def _inertia(numbers: list[float]) -> Inertia:
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = numbers
    return Inertia(m, Vec3(hx, hy, hz), Sym3(xx, yy, zz, xy, xz, yz))

"""Numbers of a robot by name.

    gravity                 (3,)     acceleration of free fall in the world's axes, m/s²
    body.NAME.mass          ()       kg
    body.NAME.com           (3,)     centre of mass in the body's own frame, m
    body.NAME.inertia       (6,)     xx, yy, zz, xy, xz, yz about the centre of mass in the body's axes, kg·m²
    body.NAME.alternative   ()       which of several objects it is, by number (`Model.with_alternatives`)
    body.NAME.placement     (7,)     of a body on a fixed joint: its frame in that of the body it is fixed to
    joint.NAME.placement    (7,)     the joint's frame in the parent body's: position, m, and quaternion x, y, z, w
    joint.NAME.armature     (n,)     rotor inertia, one number per degree of freedom of the joint, kg·m² or kg
    joint.NAME.damping, joint.NAME.friction, joint.NAME.stiffness
                            (n,)     of the joint's drive, one number per degree of freedom
    joint.NAME.rest         (n,)     the coordinates at which its spring is at rest
    joint.NAME.lower        ()       the position at which a joint with one coordinate ends, rad or m; and its `upper`
    shape.NAME.friction     (3,)     coefficients of sliding, torsional (m) and rolling (m) friction
    shape.NAME.size, shape.NAME.placement, …: shape_parameters.py
    joint.NAME.solref_limit, pair.NAME.friction, equality.NAME.solref, …: row_parameters.py
    actuator.NAME.kp, actuator.NAME.gear, …: actuator_parameters.py

NAME is between the first dot and the last, so it may contain dots itself, and a joint may have the same name as a body.
`kinetree docs parameters_names` explains each one's meaning when others are left out.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ConfigurationError, ModelError, NameNotFoundError, OptionError, nearest_names, quoted
from kinetree.expr import Scalar, equal, select
from kinetree.model.actuator_parameters import (
    ActuatorOf,
    find_actuator,
    names_of_actuators,
    no_such_actuator,
    nominal_of_actuator,
    overlapping,
)
from kinetree.model.checks.parts import hint
from kinetree.model.elements import Body, Joint
from kinetree.model.robot import Robot
from kinetree.model.row_parameters import KINDS as ROWS_OF
from kinetree.model.row_parameters import (
    RowsOf,
    find_rows,
    names_of_rows,
    no_such_rows,
    nominal_of_joint_rows,
    nominal_of_rows,
    rows_of_joint,
)
from kinetree.model.shape_parameters import (
    PLACEMENT_SIZE,
    ShapeOf,
    find_shape,
    names_of_shapes,
    no_such_shape,
    nominal_of_shape,
)
from kinetree.records import record
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3
from kinetree.spatial.rotations import from_quaternion

__all__ = [
    "OF_A_DRIVE",
    "PLACEMENT_SIZE",
    "ROWS",
    "GivenNumbers",
    "Parameter",
    "check_alternatives",
    "find",
    "nominal",
    "number_of_alternative",
    "numbers_of",
    "overlapping",
    "parameter_names",
    "placement_from",
    "selected",
]

ROWS = "[:]"
"""Suffix of a parameter that has one row per step."""
OF_A_BODY = {"mass": (), "com": (3,), "inertia": (6,)}
OF_A_JOINT = ("placement", "armature")
OF_A_DRIVE = ("damping", "friction", "stiffness", "rest")
ENDS = ("lower", "upper")


@record(frozen=True, slots=True)
class Parameter:
    """A parsed name."""

    owner: Body | Joint | ShapeOf | RowsOf | ActuatorOf | None
    """None for gravity."""
    quantity: str
    shape: tuple[int, ...]


@record(frozen=True, slots=True)
class GivenNumbers:
    """Numbers of a robot's contacts and limits that are given in a call: floats or symbols, by quantity."""

    shapes: Mapping[tuple[str, int], Mapping[str, Sequence[Scalar]]]
    """By body and place in the body's `geometry`."""
    joints: Mapping[str, Mapping[str, Sequence[Scalar]]]
    rows: Mapping[str, Mapping[str, Sequence[Scalar]]]
    """Numbers of pairs, equalities and tendons, by the names of their rows."""
    alternatives: Mapping[str, Scalar] = field(default_factory=dict)
    """By body, the number of the object that it is."""
    actuators: Mapping[int, Mapping[str, Sequence[Scalar]]] = field(default_factory=dict)
    """By their numbers in the file."""


def parameter_names(model: Robot) -> list[str]:
    """The names of all parameters of this robot.

    >>> import kinetree as kt
    >>> parameter_names(kt.zoo.load("double_pendulum"))[:3]
    ['gravity', 'body.base.mass', 'body.base.com']
    """
    return [
        "gravity",
        *(f"body.{name}.{quantity}" for name, body in model.bodies.items() for quantity in _of_a_body(model, body)),
        *(f"joint.{name}.{quantity}" for name, joint in model.joints.items() for quantity in _of_a_joint(model, joint)),
        *names_of_shapes(model),
        *names_of_rows(model),
        *names_of_actuators(model),
    ]


def nominal(model: Robot, name: str) -> NDArray[np.float64]:
    """The robot's own value of a parameter, in the shape of its port.

    A body without mass has its centre of mass at its origin.

    Raises:
        NameNotFoundError: the robot has no such parameter.

    >>> import kinetree as kt
    >>> nominal(kt.zoo.load("double_pendulum"), "gravity").tolist()
    [0.0, 0.0, -9.81]
    """
    parameter = find(model, name)
    owner, quantity = parameter.owner, parameter.quantity
    numbers: Sequence[Scalar]
    if owner is None:
        numbers = model.gravity
    elif isinstance(owner, RowsOf):
        numbers = nominal_of_rows(owner, quantity)
    elif isinstance(owner, ActuatorOf):
        numbers = nominal_of_actuator(model, owner, quantity)
    elif quantity == "placement":
        placement = _placement(model, owner)
        numbers = (*placement.r.components(), *_quaternion(placement.E.T))
    elif isinstance(owner, Body):
        numbers = (float(owner.present),) if quantity == "alternative" else numbers_of(owner)[quantity]
    elif isinstance(owner, ShapeOf):
        numbers = nominal_of_shape(owner, quantity)
    elif quantity in ENDS:
        numbers = getattr(owner.limits, quantity)
    elif quantity in rows_of_joint(model, owner):
        numbers = nominal_of_joint_rows(model, owner, quantity)
    else:
        numbers = getattr(owner, quantity)
    return np.array(numbers, dtype=np.float64).reshape(parameter.shape)


def find(model: Robot, name: str) -> Parameter:
    if not isinstance(name, str):
        raise OptionError(f"a parameter's name is a string, such as 'gravity' or 'body.NAME.mass', not {name!r:.60}")
    if name == "gravity":
        return Parameter(None, "gravity", (3,))
    what, _, rest = name.partition(".")
    part, _, quantity = rest.rpartition(".")
    if what == "body" and part in model.bodies and quantity in (sizes := _of_a_body(model, model.bodies[part])):
        return Parameter(model.bodies[part], quantity, sizes[quantity])
    if what == "joint" and part in model.joints and quantity in (sizes := _of_a_joint(model, model.joints[part])):
        return Parameter(model.joints[part], quantity, sizes[quantity])
    if what in ROWS_OF and (rows := find_rows(model, what, part, quantity)) is not None:
        return Parameter(rows[0], quantity, rows[1])
    if what == "shape" and (place := find_shape(model, part, quantity)) is not None:
        return Parameter(place[0], quantity, place[1])
    if what == "actuator" and (acting := find_actuator(model, part, quantity)) is not None:
        return Parameter(acting[0], quantity, acting[1])
    raise NameNotFoundError(f"{model.name!r} has no parameter {name!r}: {_advice(model, what, part, quantity, name)}")


def _of_a_body(model: Robot, body: Body) -> Mapping[str, tuple[int, ...]]:
    """The quantities of a body, and their sizes; its placement is one where a fixed joint holds it."""
    is_held = body.is_fixed and body.name != model.root
    sizes = {**OF_A_BODY, "placement": (PLACEMENT_SIZE,)} if is_held else OF_A_BODY
    return {**sizes, "alternative": ()} if body.alternatives else sizes


def _placement(model: Robot, owner: Body | Joint | ShapeOf) -> Transform:
    if isinstance(owner, Body):
        return next(spec.placement for spec in model.parts.joints if spec.child == owner.name)
    return owner.geometry.placement if isinstance(owner, ShapeOf) else owner.placement


def _of_a_joint(model: Robot, joint: Joint) -> Mapping[str, tuple[int, ...]]:
    """The quantities of a joint, and their sizes."""
    n = (joint.kind.nv,)
    own = {"placement": (PLACEMENT_SIZE,), "armature": n, "damping": n, "friction": n, "stiffness": n}
    rest = {} if _has_curved_spring(model, joint) else {"rest": (joint.kind.nq,)}
    return {**own, **rest, **dict.fromkeys(_ends(joint), ()), **rows_of_joint(model, joint)}


def _has_curved_spring(model: Robot, joint: Joint) -> bool:
    """Whether its spring has quadratic or cubic terms, which are of the file (`actuation.tendons`)."""
    return any(any(one.stiffness[1:]) for one in model.extras.joints if one.joint == joint.name)


def _ends(joint: Joint) -> tuple[str, ...]:
    """The limits that are parameters: finite ones of a joint with one coordinate."""
    return tuple(end for end in ENDS if joint.kind.nq == 1 and math.isfinite(getattr(joint.limits, end)[0]))


def _advice(model: Robot, what: str, part: str, quantity: str, name: str) -> str:
    """A message about an unknown name, with the closest ones."""
    if name.endswith(ROWS):
        return "parameters with one row per step are for kt.rollout without a controller; give one value for all steps"
    if what == "body" and quantity == "placement" and part in model.bodies:
        above = [joint.name for joint in model.joints.values() if joint.child == part]
        if above:
            return f"a body is where its joint places it; did you mean 'joint.{above[0]}.placement'?"
        return f"{part!r} is the root, which is where the world is; bodies on joints have a placement"
    if what == "body" and quantity == "alternative" and part in model.bodies:
        return f"body {part!r} is one object alone; robot.with_alternatives gives it others"
    if what == "body" and quantity in (*OF_A_BODY, "alternative"):
        return f"there is no body {part!r}; {hint(part, model.bodies)}"
    if what == "shape":
        return no_such_shape(model, part)
    if what in ROWS_OF:
        return no_such_rows(model, what, part)
    if what == "actuator":
        return no_such_actuator(model, part, quantity)
    if what == "joint" and part in model.joints and quantity in ENDS:
        return (
            f"joint {part!r} has no {quantity} limit of one coordinate, so there are no rows for it; give the robot one"
        )
    if what == "joint" and part in model.joints and quantity == "rest":
        return f"the spring of joint {part!r} has quadratic or cubic terms, whose rest position is the robot's own"
    if what == "joint" and quantity in (*OF_A_JOINT, *OF_A_DRIVE, *ENDS):
        return f"there is no joint {part!r} that moves (fixed ones are merged); {hint(part, model.joints)}"
    if what == "body" and part in model.bodies:
        return f"a body has {', '.join(_of_a_body(model, model.bodies[part]))}"
    if what == "joint" and part in model.joints:
        return f"a joint has {', '.join(_of_a_joint(model, model.joints[part]))}"
    return f"{hint(name, parameter_names(model))} (names are 'gravity', 'body.NAME.mass', 'joint.NAME.placement', …)"


def numbers_of(body: Body) -> dict[str, Sequence[Scalar]]:
    """Mass, centre of mass and the inertia about it; a body without mass has its centre at its origin."""
    inertia = body.inertia
    com = Vec3(*(x / inertia.mass if inertia.mass != 0.0 else 0.0 for x in inertia.h.components()))
    central = inertia.I - Inertia.from_com(inertia.mass, com, Sym3.zero()).I
    return {"mass": (inertia.mass,), "com": com.components(), "inertia": central.components()}


def number_of_alternative(body: Body, which: Any) -> int:
    """The number of one of the objects that a body may be, by its number or name."""
    names = [alternative.name for alternative in body.alternatives]
    if not names:
        raise ModelError(f"body {body.name!r} is one object alone; robot.with_alternatives gives it others")
    if isinstance(which, str):
        if which not in names:
            near = nearest_names(which, names)
            raise NameNotFoundError(f"body {body.name!r} has no alternative {quoted(which)}: {near}")
        return names.index(which)
    try:
        k = -1 if isinstance(which, bool) else operator.index(which)
    except TypeError:
        k = -1
    if not 0 <= k < len(names):
        raise OptionError(f"{_alternatives(body)}; not {which!r:.60}")
    return k


def check_alternatives(body: Body, x: NDArray[Any], name: str) -> None:
    """Raise unless all numbers are of objects that a body may be."""
    wrong = ~((x >= 0.0) & (x < len(body.alternatives)) & (x == np.floor(x)))
    if wrong.any():
        place = tuple(int(k) for k in np.argwhere(wrong)[0])
        raise ConfigurationError(f"{name}{list(place) or ''} is {x[place]:g}: {_alternatives(body)}")


def _alternatives(body: Body) -> str:
    named = ", ".join(f"{k} ({one.name})" for k, one in enumerate(body.alternatives[:_SHOWN]))
    more = ", …" if len(body.alternatives) > _SHOWN else ""
    return f"body {body.name!r} is one of {len(body.alternatives)} objects, by their numbers {named}{more}"


_SHOWN = 8
"""Objects that messages name."""


def selected(index: Scalar, rows: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """The row of this number; if no row has it, the first of its numbers is NaN."""
    row: list[Scalar] = []
    for n, column in enumerate(zip(*rows, strict=True)):
        x: Scalar = math.nan if n == 0 else column[0]
        if n == 0 or any(other != column[0] for other in column):
            for k, own in enumerate(column):
                x = select(equal(index, float(k)), own, x)
        row.append(x)
    return row


def placement_from(numbers: Sequence[Scalar]) -> Transform:
    """The placement whose position and quaternion, of any length, are given."""
    x, y, z, *quaternion = numbers
    return Transform(from_quaternion(*quaternion).T, Vec3(x, y, z))


def _quaternion(R: Mat3) -> tuple[float, float, float, float]:
    """x, y, z, w of a rotation, w not negative; from its largest entry, so that the divisor is never small."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = map(float, R.components())
    four = {
        "w": (zy - yz, xz - zx, yx - xy, 1.0 + xx + yy + zz),
        "x": (1.0 + xx - yy - zz, xy + yx, xz + zx, zy - yz),
        "y": (xy + yx, 1.0 - xx + yy - zz, yz + zy, xz - zx),
        "z": (xz + zx, yz + zy, 1.0 - xx - yy + zz, yx - xy),
    }
    x, y, z, w = four[max((xx + yy + zz, "w"), (xx, "x"), (yy, "y"), (zz, "z"))[1]]
    length = math.copysign(math.sqrt(x * x + y * y + z * z + w * w), w)
    return x / length, y / length, z / length, w / length

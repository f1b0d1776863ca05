"""Numbers of a robot by name, and the same robot with other numbers in their place: floats, or symbols of a trace.

    gravity                 (3,)     acceleration of free fall in the world's axes, m/s²
    body.NAME.mass          ()       kg
    body.NAME.com           (3,)     centre of mass in the body's own frame, m
    body.NAME.inertia       (6,)     xx, yy, zz, xy, xz, yz about the centre of mass in the body's axes, kg·m²
    joint.NAME.placement    (7,)     the joint's frame in the parent body's: position, m, and quaternion x, y, z, w
    joint.NAME.armature     (n,)     rotor inertia, a number a degree of freedom of the joint, kg·m² or kg

NAME stands between the first dot and the last, so it may hold dots itself, and a joint may be called as a body is.
What each means while others are left out stands in docs/parameters.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import NameNotFoundError, OptionError, ShapeError
from kinetree.expr import Port, Scalar, Symbol
from kinetree.inputs import repeated
from kinetree.model.assembly import reflected_inertia
from kinetree.model.checks import hint
from kinetree.model.elements import Body, Joint, Named
from kinetree.model.singularity import singular_slots
from kinetree.model.tree import Tree
from kinetree.spatial import Inertia, Mat3, Motion, Sym3, Transform, Vec3
from kinetree.spatial.rotations import from_quaternion

if TYPE_CHECKING:
    from kinetree.model.model import Model

__all__ = [
    "always_singular",
    "nominal",
    "parameter_names",
    "parameter_ports",
    "parameter_quaternions",
    "with_parameters",
]

_OF_A_BODY = {"mass": (), "com": (3,), "inertia": (6,)}
_OF_A_JOINT = ("placement", "armature")
_PLACEMENT_SIZE = 7
_IDENTITY = Transform.identity()

Values = Mapping[str, Sequence[Scalar]]
"""The numbers of one body or joint, by what they are."""


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A name taken apart."""

    owner: Body | Joint | None
    """None for gravity."""
    quantity: str
    shape: tuple[int, ...]


def parameter_names(model: Model) -> list[str]:
    """Every name that this robot's parameters have.

    >>> import kinetree as kt
    >>> parameter_names(kt.zoo.load("double_pendulum"))[:3]
    ['gravity', 'body.base.mass', 'body.base.com']
    """
    return [
        "gravity",
        *(f"body.{name}.{quantity}" for name in model.bodies for quantity in _OF_A_BODY),
        *(f"joint.{name}.{quantity}" for name in model.joints for quantity in _OF_A_JOINT),
    ]


def parameter_ports(model: Model, names: Sequence[str]) -> list[Port]:
    """A port for each parameter, in the order given, with the shape of its numbers.

    Raises:
        OptionError: `names` is no sequence of strings, or holds one twice.
        NameNotFoundError: the robot has no such parameter.

    >>> import kinetree as kt
    >>> parameter_ports(kt.zoo.load("double_pendulum"), ["gravity", "body.upper_rod.mass"])
    [Port(name='gravity', shape=(3,)), Port(name='body.upper_rod.mass', shape=())]
    """
    if isinstance(names, str):
        raise OptionError(f"parameters must be a list of names, such as [{names!r}], not one name")
    if (twice := repeated(names)) is not None:
        raise OptionError(f"parameter {twice!r} is named twice; name each once")
    return [Port(name, _find(model, name).shape) for name in names]


def parameter_quaternions(model: Model, name: str) -> dict[str, slice]:
    """Where in this parameter a quaternion stands, by the joint it belongs to; as `Model.quaternions` for q."""
    parameter = _find(model, name)
    if isinstance(parameter.owner, Joint) and parameter.quantity == "placement":
        return {parameter.owner.name: slice(3, _PLACEMENT_SIZE)}
    return {}


def nominal(model: Model, name: str) -> NDArray[np.float64]:
    """The robot's own value of a parameter, in the shape of its port.

    A body without mass has its centre of mass at its origin.

    Raises:
        NameNotFoundError: the robot has no such parameter.

    >>> import kinetree as kt
    >>> nominal(kt.zoo.load("double_pendulum"), "gravity").tolist()
    [0.0, 0.0, -9.81]
    """
    parameter = _find(model, name)
    owner, quantity = parameter.owner, parameter.quantity
    numbers: Sequence[Scalar]
    if owner is None:
        numbers = model.gravity
    elif isinstance(owner, Body):
        numbers = _numbers_of(owner)[quantity]
    elif quantity == "placement":
        numbers = (*owner.placement.r.components(), *_quaternion(owner.placement.E.T))
    else:
        numbers = owner.armature
    return np.array(numbers, dtype=np.float64).reshape(parameter.shape)


def with_parameters(model: Model, names: Sequence[str], values: Sequence[Sequence[Scalar]]) -> Model:
    """The same robot with other numbers for some of its parameters: a flat sequence each, floats or symbols.

    Floats are not checked as those of a file are. `singular_joints` of the result names what is singular at these
    numbers; for symbols, what is singular whatever they stand for.

    Raises:
        OptionError, NameNotFoundError: as for `parameter_ports`.
        ShapeError: the values are not as many as the parameters take.

    >>> import kinetree as kt
    >>> robot = with_parameters(kt.zoo.load("double_pendulum"), ["gravity"], [(0.0, 0.0, -1.62)])
    >>> robot.gravity
    (0.0, 0.0, -1.62)
    """
    ports = parameter_ports(model, names)
    if len(ports) != len(values):
        raise ShapeError(f"{len(ports)} parameters are named, but values are given for {len(values)}")
    for port, numbers in zip(ports, values, strict=True):
        if len(numbers) != port.size:
            raise ShapeError(f"{port.name} takes {port.size} numbers, not {len(numbers)}")
    changed = _changed(model, names, values)
    if any(isinstance(x, Symbol) for numbers in values for x in numbers):
        return replace(changed, singular_joints=always_singular(model, names))
    return replace(changed, singular_joints=_singular_joints(changed))


def always_singular(model: Model, names: Sequence[str]) -> tuple[str, ...]:
    """The joints at which forward dynamics is not defined, whatever values these parameters have.

    Told from one set of values with nothing special about them; where the robot as it is has no such joint, none
    has it for other values either, but for special ones (a mass of zero), which are the caller's affair.

    >>> import kinetree as kt
    >>> always_singular(kt.zoo.load("double_pendulum"), ["gravity"])
    ()
    """
    if not model.singular_joints:
        return ()
    return _singular_joints(_changed(model, names, _generic(parameter_ports(model, names))))


def _singular_joints(model: Model) -> tuple[str, ...]:
    joints = list(model.joints)
    return tuple(joints[slot - 1] for slot in singular_slots(model.tree))


def _find(model: Model, name: str) -> _Parameter:
    if not isinstance(name, str):
        raise OptionError(f"a parameter's name is a string, such as 'gravity' or 'body.NAME.mass', not {name!r:.60}")
    if name == "gravity":
        return _Parameter(None, "gravity", (3,))
    what, _, rest = name.partition(".")
    part, _, quantity = rest.rpartition(".")
    if what == "body" and part in model.bodies and quantity in _OF_A_BODY:
        return _Parameter(model.bodies[part], quantity, _OF_A_BODY[quantity])
    if what == "joint" and part in model.joints and quantity in _OF_A_JOINT:
        joint = model.joints[part]
        return _Parameter(joint, quantity, (_PLACEMENT_SIZE if quantity == "placement" else joint.kind.nv,))
    raise NameNotFoundError(f"{model.name!r} has no parameter {name!r}: {_advice(model, what, part, quantity, name)}")


def _advice(model: Model, what: str, part: str, quantity: str, name: str) -> str:
    """What is wrong with a name that is none, and what to write instead."""
    if what == "body" and quantity == "placement" and part in model.bodies:
        above = [joint.name for joint in model.joints.values() if joint.child == part]
        if above:
            return f"a body stands where its joint places it; did you mean 'joint.{above[0]}.placement'?"
        return f"nothing moves {part!r}, so its placement is a constant; joints that move have a placement"
    if what == "body" and quantity in _OF_A_BODY:
        return f"there is no body {part!r}; {hint(part, model.bodies)}"
    if what == "joint" and quantity in _OF_A_JOINT:
        return f"there is no joint {part!r} that moves (fixed ones are merged); {hint(part, model.joints)}"
    if what == "body" and part in model.bodies:
        return f"a body has {', '.join(_OF_A_BODY)}"
    if what == "joint" and part in model.joints:
        return f"a joint has {', '.join(_OF_A_JOINT)}"
    return f"{hint(name, parameter_names(model))} (names are 'gravity', 'body.NAME.mass', 'joint.NAME.placement', …)"


def _changed(model: Model, names: Sequence[str], values: Sequence[Sequence[Scalar]]) -> Model:
    tree = model.tree
    bodies: dict[str, dict[str, Sequence[Scalar]]] = {}
    joints: dict[str, dict[str, Sequence[Scalar]]] = {}
    for name, numbers in zip(names, values, strict=True):
        parameter = _find(model, name)
        if parameter.owner is None:
            tree = replace(tree, gravity=Motion(Vec3.zero(), Vec3(*numbers)))
        else:
            owners = bodies if isinstance(parameter.owner, Body) else joints
            owners.setdefault(parameter.owner.name, {})[parameter.quantity] = numbers
    new_joints = {name: _with_joint_values(model.joints[name], given) for name, given in joints.items()}
    return replace(
        model,
        tree=_with_joints(_with_inertias(tree, model, bodies), model, new_joints),
        bodies=Named(
            "body",
            {
                name: replace(body, inertia=_inertia(body, bodies[name], _IDENTITY)) if name in bodies else body
                for name, body in model.bodies.items()
            },
        ),
        joints=Named("joint", {name: new_joints.get(name, joint) for name, joint in model.joints.items()}),
    )


def _with_inertias(tree: Tree, model: Model, given: Mapping[str, Values]) -> Tree:
    """The tree with the inertias of the bodies that are given values, and of what those are merged with, anew."""
    I = list(tree.I)
    slots = {model.bodies[name].slot for name in given}
    for slot in slots:
        I[slot] = Inertia.zero()
    merged = [body for body in model.bodies.values() if body.slot in slots]
    # Numbers first: what is known stays one constant.
    for body in merged:
        if body.name not in given:
            I[body.slot] = I[body.slot] + body.placement.back(body.inertia)
    for body in merged:
        if body.name in given:
            I[body.slot] = I[body.slot] + _inertia(body, given[body.name], body.placement)
    return replace(tree, I=tuple(I))


def _inertia(body: Body, given: Values, X: Transform) -> Inertia:
    """A body's inertia with some of its numbers given, in the coordinates in which X places the body.

    A point mass at the centre of mass, and the rotational inertia about it: the mass takes no part in the latter,
    so what is a constant of it stays one.
    """
    numbers = {**_numbers_of(body), **given}
    (mass,) = numbers["mass"]
    R = X.E.T
    com = R @ Vec3(*numbers["com"]) + X.r
    central = Sym3(*numbers["inertia"]).rotated(R)
    if "com" in given:
        point = Inertia.from_com(mass, com, Sym3.zero())
    else:  # a constant times the mass
        unit = Inertia.from_com(1.0, com, Sym3.zero())
        point = Inertia(mass, com * mass, Sym3(*(x * mass for x in unit.I.components())))
    return point + Inertia(0.0, Vec3.zero(), central)


def _numbers_of(body: Body) -> dict[str, Sequence[Scalar]]:
    """Mass, centre of mass and the inertia about it; a body without mass has its centre at its origin."""
    inertia = body.inertia
    com = Vec3(*(x / inertia.mass if inertia.mass != 0.0 else 0.0 for x in inertia.h.components()))
    central = inertia.I - Inertia.from_com(inertia.mass, com, Sym3.zero()).I
    return {"mass": (inertia.mass,), "com": com.components(), "inertia": central.components()}


def _with_joint_values(joint: Joint, given: Values) -> Joint:
    if "armature" in given:
        joint = replace(joint, armature=tuple(given["armature"]))  # type: ignore[arg-type]  # symbols in a trace
    if "placement" in given:
        x, y, z, *quaternion = given["placement"]
        joint = replace(joint, placement=Transform(from_quaternion(*quaternion).T, Vec3(x, y, z)))
    return joint


def _with_joints(tree: Tree, model: Model, changed: Mapping[str, Joint]) -> Tree:
    """The tree with other placements and armatures of some joints."""
    X_T, armature = list(tree.X_T), list(tree.armature)
    for name, joint in changed.items():
        armature[joint.slot] = reflected_inertia(joint)
        if joint.placement is not model.joints[name].placement:
            # X_T begins at the moving body; a floating base's joint stands on no body.
            parent = model.bodies[joint.parent].placement if joint.parent else _IDENTITY
            X_T[joint.slot] = (joint.placement @ parent).factored()
    return replace(tree, X_T=tuple(X_T), armature=tuple(armature))


def _generic(ports: Sequence[Port]) -> list[list[float]]:
    """Values with nothing special about them, and possible ones: masses, armatures and inertias are positive."""
    rng = np.random.default_rng(0)
    values: list[list[float]] = []
    for port in ports:
        quantity = port.name.rpartition(".")[2]
        if quantity == "inertia":
            values.append([*rng.uniform(1.0, 1.5, 3).tolist(), *rng.uniform(-0.1, 0.1, 3).tolist()])
        else:
            values.append(rng.uniform(0.5, 1.5, port.size).tolist())
    return values


def _quaternion(R: Mat3) -> tuple[float, float, float, float]:
    """x, y, z, w of a rotation, w not negative; from its largest entry, so that nothing is divided by a small one."""
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

"""The same robot with other numbers for some of its parameters: floats, or symbols of a trace.

The names of parameters, and the meaning of each, are in `kinetree.model.parameters`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinetree.errors import OptionError, ShapeError
from kinetree.expr import Port, Scalar, Symbol
from kinetree.inputs import repeated
from kinetree.model import Body, Frame, Joint, Model, Named
from kinetree.model.actuator_parameters import ActuatorOf
from kinetree.model.assembly import reflected_inertia
from kinetree.model.checks.singularity import singular_joints
from kinetree.model.parameters import (
    OF_A_DRIVE,
    OF_A_JOINT,
    PLACEMENT_SIZE,
    ROWS,
    GivenNumbers,
    find,
    numbers_of,
    overlapping,
    placement_from,
    selected,
)
from kinetree.model.row_parameters import RowsOf
from kinetree.model.shape_parameters import ShapeOf
from kinetree.spatial import Inertia, Motion, Sym3, Transform, Vec3
from kinetree.tree import UnrolledTree

__all__ = [
    "always_singular",
    "body_of_alternatives",
    "given_numbers",
    "has_rows",
    "parameter_ports",
    "parameter_quaternions",
    "with_parameters",
]

Placed = Mapping[str, Transform]
"""Placements in the moving body that a body is merged into, by name."""


def placed_bodies(model: Model, given: Mapping[str, Sequence[Scalar]]) -> Placed:
    """The bodies that are given a placement in the frame of the body they are fixed to, and those fixed to them."""
    if not given:
        return {}
    above = {spec.child: spec for spec in model.parts.joints}
    placements: dict[str, Transform] = {}
    for body in model.bodies.values():
        chain: list[str] = []
        name = body.name
        while name not in placements and model.bodies[name].is_fixed and name in above:
            chain.append(name)
            name = above[name].parent
        for name in reversed(chain):
            parent = above[name].parent
            if name in given or parent in placements:
                own = placement_from(given[name]) if name in given else above[name].placement
                placements[name] = own @ placements.get(parent, model.bodies[parent].placement)
    return placements


def placed_frames(model: Model, placed: Placed) -> Named[Frame]:
    """All frames, where those of the bodies that are placed again follow them."""
    own = {spec.name: spec.placement for spec in model.parts.frames}
    frames = {}
    for name, frame in model.frames.items():
        if frame.body in placed:
            X = placed[frame.body]
            frame = replace(frame, placement=own[name] @ X if name in own else X)
        frames[name] = frame
    return Named("frame", frames)


_IDENTITY = Transform.identity()
_OF_INERTIA = frozenset({"mass", "com", "inertia", "alternative"})
Values = Mapping[str, Sequence[Scalar]]
"""The numbers of one body or joint, by quantity."""


def body_of_alternatives(model: Model, name: str) -> Body | None:
    """The body for which this parameter says which object it is; None for another parameter."""
    if not isinstance(name, str) or not _plain(name).endswith(".alternative"):
        return None
    parameter = find(model, _plain(name))
    return parameter.owner if parameter.quantity == "alternative" and isinstance(parameter.owner, Body) else None


def has_rows(name: str) -> bool:
    """Whether a parameter has one row per step: its name ends with `[:]`."""
    return isinstance(name, str) and name.endswith(ROWS)


def parameter_ports(model: Model, names: Sequence[str], steps: int = 1) -> list[Port]:
    """A port for each parameter, in the order given, with the shape of its numbers, or of all their rows.

    Raises:
        OptionError: `names` is not a sequence of strings, or contains one twice, or two that say the same number.
        NameNotFoundError: the robot has no such parameter.

    >>> import kinetree as kt
    >>> parameter_ports(kt.zoo.load("double_pendulum"), ["gravity", "body.upper_rod.mass"])
    [Port(name='gravity', shape=(3,)), Port(name='body.upper_rod.mass', shape=())]
    """
    if isinstance(names, str):
        raise OptionError(f"parameters must be a list of names, such as [{names!r}], not one name")
    if (twice := repeated(map(_plain, names))) is not None:
        raise OptionError(f"parameter {twice!r} is named twice; name each once")
    ports = [Port(name, (*((steps,) if has_rows(name) else ()), *find(model, _plain(name)).shape)) for name in names]
    if (both := overlapping([*map(_plain, names)])) is not None:
        raise OptionError(
            f"parameters {both[0]!r} and {both[1]!r} say the same number of an actuator; name one of them"
        )
    return ports


def _plain(name: str) -> str:
    """The parameter's name, whether it has rows or not."""
    return name.removesuffix(ROWS) if has_rows(name) else name


def parameter_quaternions(model: Model, name: str) -> dict[str, slice]:
    """The slice of this parameter that is a quaternion, by its owner; as `Model.quaternions` for q."""
    if has_rows(name):
        return {}  # each row is read in its step
    parameter = find(model, name)
    if isinstance(parameter.owner, Body | Joint | ShapeOf) and parameter.quantity == "placement":
        return {parameter.owner.name: slice(3, PLACEMENT_SIZE)}
    if isinstance(parameter.owner, Joint) and parameter.quantity == "rest":
        name, starts = parameter.owner.name, parameter.owner.kind.quaternions
        several = len(starts) > 1
        return {f"{name}[{k}]" if several else name: slice(first, first + 4) for k, first in enumerate(starts)}
    return {}


def with_parameters(model: Model, names: Sequence[str], values: Sequence[Sequence[Scalar]]) -> Model:
    """The same robot with other numbers for some of its parameters: one flat sequence each, floats or symbols.

    Floats are not checked as a file's are. `singular_joints` of the result lists the joints that are singular at these
    numbers; for symbols, at all numbers.

    Raises:
        OptionError, NameNotFoundError: as for `parameter_ports`.
        ShapeError: the number of values differs from that of the parameters.

    >>> import kinetree as kt
    >>> robot = with_parameters(kt.zoo.load("double_pendulum"), ["gravity"], [(0.0, 0.0, -1.62)])
    >>> robot.gravity
    (0.0, 0.0, -1.62)
    """
    names = [*map(_plain, names)]
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


def given_numbers(model: Model, names: Sequence[str], values: Sequence[Sequence[Scalar]]) -> GivenNumbers:
    """The numbers among them that options depend on, and not the tree: of shapes, pairs, limits, equalities …"""
    shapes: dict[tuple[str, int], dict[str, Sequence[Scalar]]] = {}
    joints: dict[str, dict[str, Sequence[Scalar]]] = {}
    rows: dict[str, dict[str, Sequence[Scalar]]] = {}
    alternatives: dict[str, Scalar] = {}
    actuators: dict[int, dict[str, Sequence[Scalar]]] = {}
    for name, numbers in zip(names, values, strict=True):
        owner, quantity = (parameter := find(model, _plain(name))).owner, parameter.quantity
        if isinstance(owner, ShapeOf):
            shapes.setdefault((owner.body, owner.number), {})[quantity] = numbers
        elif isinstance(owner, RowsOf):
            rows.setdefault(owner.key, {})[quantity] = numbers
        elif isinstance(owner, ActuatorOf):
            actuators.setdefault(owner.number, {})[quantity] = numbers
        elif isinstance(owner, Joint) and quantity not in OF_A_JOINT:
            joints.setdefault(owner.name, {})[quantity] = numbers
        elif isinstance(owner, Body) and quantity == "alternative":
            (alternatives[owner.name],) = numbers
    return GivenNumbers(shapes, joints, rows, alternatives, actuators)


def always_singular(model: Model, names: Sequence[str]) -> tuple[str, ...]:
    """The joints at which forward dynamics is not defined for any values of these parameters.

    Determined from one generic set of values; if the robot as it is has no such joint, none has it for other values
    either, except for special ones (a mass of zero), which are the caller's responsibility.

    >>> import kinetree as kt
    >>> always_singular(kt.zoo.load("double_pendulum"), ["gravity"])
    ()
    """
    if not model.singular_joints:
        return ()
    names = [*map(_plain, names)]
    return _singular_joints(_changed(model, names, _generic(parameter_ports(model, names))))


def _singular_joints(model: Model) -> tuple[str, ...]:
    return singular_joints(model.tree, model.joints.values())


def _changed(model: Model, names: Sequence[str], values: Sequence[Sequence[Scalar]]) -> Model:
    tree = model.tree
    bodies: dict[str, dict[str, Sequence[Scalar]]] = {}
    joints: dict[str, dict[str, Sequence[Scalar]]] = {}
    for name, numbers in zip(names, values, strict=True):
        parameter = find(model, name)
        if parameter.owner is None:
            tree = replace(tree, gravity=Motion(Vec3.zero(), Vec3(*numbers)))
        elif isinstance(parameter.owner, Body | Joint):
            owners = bodies if isinstance(parameter.owner, Body) else joints
            owners.setdefault(parameter.owner.name, {})[parameter.quantity] = numbers
    new_joints = {name: _with_joint_values(model.joints[name], given) for name, given in joints.items()}
    placed = placed_bodies(model, {name: given["placement"] for name, given in bodies.items() if "placement" in given})
    return replace(
        model,
        tree=_with_joints(_with_inertias(tree, model, bodies, placed), model, new_joints, placed),
        bodies=Named(
            "body", {name: _with_body_values(body, bodies.get(name, {}), placed) for name, body in model.bodies.items()}
        ),
        joints=Named("joint", {name: new_joints.get(name, joint) for name, joint in model.joints.items()}),
        frames=placed_frames(model, placed) if placed else model.frames,
    )


def _with_body_values(body: Body, given: Values, placed: Placed) -> Body:
    if _OF_INERTIA.intersection(given):
        body = replace(body, inertia=_inertia(body, given, _IDENTITY))
    return replace(body, placement=placed[body.name]) if body.name in placed else body


def _with_inertias(tree: UnrolledTree, model: Model, given: Mapping[str, Values], placed: Placed) -> UnrolledTree:
    """The tree with recomputed inertias of the bodies that are given values and of those merged with them."""
    I = list(tree.I)
    slots = {model.bodies[name].slot for name in (*given, *placed)}
    for slot in slots:
        I[slot] = Inertia.zero()
    merged = [body for body in model.bodies.values() if body.slot in slots]
    # Numbers first, so that known ones are summed into one constant.
    for body in merged:
        if body.name not in given and body.name not in placed:
            I[body.slot] = I[body.slot] + body.placement.back(body.inertia)
    for body in merged:
        X = placed.get(body.name, body.placement)
        if _OF_INERTIA.intersection(given.get(body.name, ())):
            I[body.slot] = I[body.slot] + _inertia(body, given[body.name], X)
        elif body.name in placed:
            I[body.slot] = I[body.slot] + X.back(body.inertia)
    return replace(tree, I=tuple(I))


def _inertia(body: Body, given: Values, X: Transform) -> Inertia:
    """A body's inertia with some of its numbers given, in the coordinates in which X places the body.

    The sum of a point mass at the centre of mass and the rotational inertia about it: the latter does not involve the
    mass, so its constants stay constant.
    """
    if "alternative" in given:
        (index,), objects = given["alternative"], [one.inertia for one in body.alternatives]
        given = {name: numbers for name, numbers in given.items() if name != "alternative"}
        if not _OF_INERTIA.intersection(given):
            if all(one == objects[0] for one in objects):
                return X.back(body.inertia)
            rows = [[one.mass, *one.h.components(), *one.I.components()] for one in objects]
            mass, hx, hy, hz, *six = selected(index, rows)
            return X.back(Inertia(mass, Vec3(hx, hy, hz), Sym3(*six)))
        rows = [[x for part in numbers_of(alternative).values() for x in part] for alternative in body.alternatives]
        mass, cx, cy, cz, *six = selected(index, rows)
        given = {"mass": (mass,), "com": (cx, cy, cz), "inertia": six, **given}
    numbers = {**numbers_of(body), **given}
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


def _with_joint_values(joint: Joint, given: Values) -> Joint:
    if "armature" in given:
        joint = replace(joint, armature=tuple(given["armature"]))  # type: ignore[arg-type]  # symbols in a trace
    if "placement" in given:
        joint = replace(joint, placement=placement_from(given["placement"]))
    drive: dict[str, Any] = {name: tuple(given[name]) for name in OF_A_DRIVE if name in given}
    return replace(joint, drive=replace(joint.drive, **drive)) if drive else joint


def _with_joints(tree: UnrolledTree, model: Model, changed: Mapping[str, Joint], placed: Placed) -> UnrolledTree:
    """The tree with other numbers of some joints, and other placements of those on bodies that are placed again."""
    X_T, armature, drive = list(tree.X_T), list(tree.armature), list(tree.drive)
    for name, old in model.joints.items():
        joint = changed.get(name, old)
        if joint is not old:
            armature[joint.slot], drive[joint.slot] = reflected_inertia(joint), joint.drive
        if joint.placement is not old.placement or joint.parent in placed:
            # X_T begins at the moving body; a floating base's joint has no parent body.
            parent = _IDENTITY
            if joint.parent:
                parent = placed.get(joint.parent, model.bodies[joint.parent].placement)
            X_T[joint.slot] = (joint.placement @ parent).factored()
    return replace(tree, X_T=tuple(X_T), armature=tuple(armature), drive=tuple(drive))


def _generic(ports: Sequence[Port]) -> list[list[float]]:
    """Generic, physically possible values: masses, armatures and inertias are positive."""
    rng = np.random.default_rng(0)
    values: list[list[float]] = []
    for port in ports:
        quantity = port.name.rpartition(".")[2]
        if quantity == "alternative":
            values.append([0.0])
        elif quantity == "inertia":
            values.append([*rng.uniform(1.0, 1.5, 3).tolist(), *rng.uniform(-0.1, 0.1, 3).tolist()])
        else:
            values.append(rng.uniform(0.5, 1.5, port.size).tolist())
    return values

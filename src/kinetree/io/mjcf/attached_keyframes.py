"""Keyframes of attached models: their numbers among those of the whole robot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from kinetree.io.document import Element
from kinetree.io.mjcf.actuators import Origins, read_actuators
from kinetree.io.mjcf.bodies import BodyPart, Part, body_tree
from kinetree.io.mjcf.joints import joint_type
from kinetree.io.mjcf.names import Names
from kinetree.io.mjcf.orientations import quaternion_of
from kinetree.io.mjcf.scopes import Namespace, Scope
from kinetree.io.mjcf.tendons import read_tendons
from kinetree.io.mjcf.values import many
from kinetree.io.notes import Notes
from kinetree.model.extras import Actuator
from kinetree.model.problems import STRICT
from kinetree.records import record

__all__ = ["SIZES", "Layout", "attached_keyframes", "control_count", "layout_of"]

SIZES = {"free": (7, 6), "ball": (4, 3), "hinge": (1, 1), "slide": (1, 1)}
"""How many coordinates and velocities a joint has."""

_MOST = 20_000_000

Key = tuple[int, Namespace]
"""An element by its identity, with the namespace in which it is there."""
Pieces = list[tuple[Key, tuple[float, ...]]]
"""Elements in the order of their numbers, with the numbers that are there by default."""


@record(slots=True)
class Layout:
    """The elements whose numbers the attributes of a model's keyframes hold."""

    pieces: dict[str, Pieces] = field(default_factory=dict)
    """By attribute."""


def control_count(one: Actuator) -> int:
    """How many controls an actuator has."""
    if one.gain == "so3":
        return 4 if one.inputs == ("quat",) else 3
    if one.inputs == ("none",):
        return 0
    return len(one.inputs) if one.gain in ("pid", "dcmotor") else 1


def layout_of(
    bodies: Sequence[BodyPart],
    actuators: Sequence[Actuator],
    origins: Origins,
    references: Mapping[int, Sequence[float]] | None = None,
) -> Layout:
    """The layout of a model; `references` are joints' coordinates where the file places bodies, by their parts."""
    pieces: dict[str, Pieces] = {name: [] for name in ("qpos", "qvel", "act", "ctrl", "mpos", "mquat")}
    for body in bodies:
        for part in body.joints:
            nq, nv = SIZES[joint_type(part)]
            q = (0.0,) * nq if references is None else tuple(references[id(part)])
            pieces["qpos"].append((_key(part), q))
            pieces["qvel"].append((_key(part), (0.0,) * nv))
        if body.part.attributes.flag("mocap"):
            pieces["mpos"].append((_key(body.part), tuple(map(float, body.placement.r.components()))))
            pieces["mquat"].append((_key(body.part), tuple(quaternion_of(body.placement.E.T))))
    for one in actuators:
        pieces["act"].append((origins[id(one)], (0.0,) * one.activation_size))
        pieces["ctrl"].append((origins[id(one)], (0.0,) * control_count(one)))
    return Layout(pieces)


def attached_keyframes(scope: Scope, whole: Layout, notes: Notes) -> Iterator[Element]:
    """The keyframes of all attached models, as a file would have them whose model is the `whole` robot.

    What is not part of the attached model is at its reference. A model that is replicated has them once, for the first
    replica; what of it is not in the robot is left out.
    """
    layouts: dict[int, Layout] = {}
    size = sum(len(default) for pieces in whole.pieces.values() for _, default in pieces)
    total = 0
    seen: set[tuple[int, str]] = set()
    for owner, space in scope.instances:
        if owner is scope or (id(owner), space.prefix) in seen:
            continue
        seen.add((id(owner), space.prefix))
        for element in (element for section in owner.sections("keyframe") for element in section.children):
            if id(owner) not in layouts:
                layouts[id(owner)] = _alone(owner)
            total += size
            if total > _MOST:
                element.fail(
                    f"the keyframes of attached models hold more than {_MOST:,} numbers together, which is the limit",
                    "too-large",
                )
            yield _in_whole(element, space, layouts[id(owner)], whole, notes)


def _key(part: Part) -> Key:
    return id(part.element), part.names


def _alone(scope: Scope) -> Layout:
    """The layout of an attached model by itself."""
    world = body_tree(scope)
    notes, origins = Notes(), Origins()
    names = Names(world, STRICT)
    actuators = read_actuators(scope, names, read_tendons(scope, names, notes, STRICT), notes, STRICT, origins)
    bodies, pending = [], [world]
    while pending:
        bodies.append(pending.pop())
        pending += reversed(bodies[-1].children)
    return layout_of(bodies, actuators, origins)


def _in_whole(element: Element, space: Namespace, alone: Layout, whole: Layout, notes: Notes) -> Element:
    name = Namespace(space.prefix).of(element.attributes.get("name", ""))
    attributes = {"name": name, "time": element.attributes.get("time", "0")}
    for attribute, pieces in alone.pieces.items():
        values = many(element, attribute)
        if not values:
            continue
        count = sum(len(default) for _, default in pieces)
        if len(values) != count:
            element.fail(
                f"{attribute} holds {len(values)} numbers, but its model has {count} of them; correct the keyframe",
                "bad-number",
            )
        held: dict[Key, tuple[float, ...]] = {}
        for (place, names), default in pieces:
            held[place, space.inside(names.prefix, names.suffix)] = values[: len(default)]
            values = values[len(default) :]
        full = [number for key, default in whole.pieces[attribute] for number in held.get(key, default)]
        attributes[attribute] = " ".join(map(repr, full))
    if "plastic" in element.attributes:
        notes.add("rest positions of springs that yield (plastic) in keyframes of attached models are left out", name)
    return Element(element.tag, attributes, element.line, element.parent, element.file)

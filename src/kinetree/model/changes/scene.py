"""More than one thing in a world: another robot next to a robot, free bodies, fixed obstacles; and one of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kinetree import solids
from kinetree.errors import ModelError, NameNotFoundError, listed, nearest_names, quoted
from kinetree.inputs import real_array
from kinetree.joints import Fixed, Free
from kinetree.model.changes.common import (
    Changed,
    base_joint,
    changed,
    check_clashes,
    check_robot,
    closed,
    joint_names,
    placement_of,
    prefixed,
    unused,
)
from kinetree.model.changes.world import (
    Scenery,
    Thing,
    in_the_world,
    scenery_of,
    shape_name,
    surface_contact,
    world_of,
)
from kinetree.model.collector import Collector
from kinetree.model.elements import Body, Geometry
from kinetree.model.extras import AbsentShape, Extras, Keyframe, ShapeSettings, Unused
from kinetree.model.parameters import number_of_alternative
from kinetree.model.robot import Robot
from kinetree.model.specs import LinkSpec
from kinetree.spatial import Inertia, Transform
from kinetree.spatial.placement import placement
from kinetree.spatial.poses import Pose, pose

__all__ = ["beside", "with_alternatives", "with_free_body", "with_mocap", "with_obstacle", "with_present"]

FREE = 6
"""Degrees of freedom of a joint that leaves a body free."""
_SOLIDS: Mapping[str, tuple[int, Callable[..., Inertia]]] = {
    "box": (3, solids.box),
    "sphere": (1, solids.sphere),
    "capsule": (2, solids.capsule),
    "cylinder": (2, solids.cylinder),
    "ellipsoid": (3, solids.ellipsoid),
}
"""How many lengths each shape has, and the solid of these lengths."""


def beside(model: Robot, other: Robot, placement: Pose | None, *, prefix: str) -> Changed:
    """See `Model.beside`."""
    check_robot(other, "the other robot")
    place = placement_of(placement)
    bases = [prefix + name for name in base_joint(other)]
    parts = prefixed(other.parts, prefix, base=base_joint(other))
    check_clashes(
        [(model.name, model.parts, base_joint(model)), (other.name, parts, bases)],
        "give a prefix, which is put before all names of the second",
    )
    world, root = world_of(model), f"{prefix}{other.root}"
    taken = joint_names(model) | {spec.name for spec in parts.joints}
    joint = bases[0] if bases else unused(f"{world}_to_{root}", taken)
    sentence = f"put robot {other.name!r} beside it: joint {joint!r} joins {root!r} to {world!r}"
    if other.gravity != model.gravity:
        sentence += f"; its gravity {other.gravity} gave way to {model.gravity}"
    collector = in_the_world(model, sentence)
    collector.add_joint(joint, Free() if other.floating_base else Fixed(), world, root, place)
    collector.add_parts(parts)
    return closed(collector, floating_base=False)


def with_free_body(
    model: Robot,
    shape: str,
    size: float | Sequence[float],
    placement: Pose | None,
    *,
    mass: float | None,
    density: float | None,
    friction: float | Sequence[float] | None,
    name: str,
) -> Scenery:
    """See `Model.with_free_body`."""
    scenery = scenery_of(model)
    geometry = _geometry(scenery, shape, size, Transform.identity(), friction, name, "the body")
    if friction is None:
        geometry = replace(geometry, contact=None)  # as the shapes of files that say nothing of contacts
    if scenery.has_frame(name):
        raise ModelError(f"{scenery.name!r} has a body or frame {name!r} already; give the new body another name=")
    inertia = _SOLIDS[shape][1](*geometry.size, mass=mass, density=density)
    joint, world = unused(f"{name}_joint", scenery.ledger.joints), scenery.ledger.world
    sentence = f"put a free body {name!r} into its world ({shape}, {inertia.mass:.6g} kg), on joint {joint!r}"
    alone = Collector(scenery.name)
    alone.add_body(world)
    alone.add_body(name, inertia, geometry=[geometry])
    alone.add_joint(joint, Free(), world, name, placement_of(placement))
    return scenery.with_thing(Thing(sentence, geometry, alone.parts(floating_base=False)))


def with_obstacle(
    model: Robot,
    shape: str,
    size: float | Sequence[float],
    placement: Pose | None,
    *,
    friction: float | Sequence[float] | None,
    name: str,
) -> Scenery:
    """See `Model.with_obstacle`."""
    scenery = scenery_of(model)
    geometry = _geometry(scenery, shape, size, placement_of(placement), friction, name, "the obstacle")
    sentence = f"put an obstacle {name!r} into its world, a {shape} on {scenery.ledger.world!r}"
    return scenery.with_thing(Thing(sentence, geometry))


def _geometry(
    scenery: Scenery, shape: Any, size: Any, place: Transform, friction: Any, name: str, what: str
) -> Geometry:  # fmt: skip
    """A shape for collisions."""
    if not isinstance(shape, str) or shape not in _SOLIDS:
        raise ModelError(f"{what} can be no {quoted(shape)}: {nearest_names(str(shape), _SOLIDS)}")
    lengths = real_array("size", size, "() or (n,)").ravel().tolist()
    count = _SOLIDS[shape][0]
    if len(lengths) != count or not all(0.0 < x < float("inf") for x in lengths):
        raise ModelError(f"the size of a {shape} is {_LENGTHS[shape]}, positive numbers of metres, not {size!r:.60}")
    contact = surface_contact(scenery, friction)
    return Geometry("collision", shape, tuple(lengths), place, shape_name(scenery, name, what), contact=contact)


_LENGTHS = {
    "box": "its edges along x, y and z",
    "sphere": "its radius",
    "capsule": "its radius, and the length between the centres of its ends",
    "cylinder": "its radius and its length",
    "ellipsoid": "its half axes along x, y and z",
}


def with_alternatives(model: Robot, body: str, objects: Mapping[str, Robot]) -> Changed:
    """See `Model.with_alternatives`."""
    own = model.bodies[body]
    if not isinstance(objects, Mapping) or not objects:
        raise ModelError(f"with_alternatives takes robots by name, such as {{'can': can}}, not {objects!r:.60}")
    known = [alternative.name for alternative in own.alternatives] or [body]
    for name in objects:
        if not isinstance(name, str) or not name or name in known:
            raise ModelError(f"an alternative needs a name of its own, not {name!r:.60}; those of {body!r} are {known}")
    more = [_object(name, one) for name, one in objects.items()]
    if reason := _why_it_keeps_its_inertia(model, own):
        for one in more:
            if one.inertia != own.inertia and one.inertia != Inertia.zero():
                raise ModelError(
                    f"alternative {one.name!r} of body {body!r} has an inertia of its own, but {reason}, so that it "
                    "counts for other bodies; give objects without mass, which have shapes alone"
                )
        more = [replace(one, inertia=own.inertia) for one in more]
    elif massless := [one.name for one in more if not float(one.inertia.mass) > 0.0]:
        raise ModelError(f"alternative {massless[0]!r} of body {body!r}, which moves freely, needs a mass")
    parts = model.parts
    links = tuple(
        replace(link, alternatives=(*(link.alternatives or (_placeholder(body),)), *more))
        if link.name == body
        else link
        for link in parts.links
    )
    extras = parts.extras
    for name, other in objects.items():
        extras = _with_assets(extras, body, name, other)
    sentence = f"body {body!r} is one of {len(known) + len(more)} objects: {listed([*known, *objects])}"
    return changed(replace(parts, links=links, extras=extras), sentence)


def _placeholder(name: str) -> LinkSpec:
    """The alternative that is present: its inertia and shapes are those of the body."""
    return LinkSpec(name, Inertia.zero(), ())


def _object(name: str, robot: Robot) -> LinkSpec:
    """A robot of one rigid body as an alternative: its inertia and shapes in the frame of the body that moves."""
    check_robot(robot, f"alternative {name!r}")
    slots = {body.slot for body in robot.bodies.values() if body.inertia.mass or body.geometry}
    if len(slots) > 1 or robot.nv not in (0, 6) or len(robot.joints) > 1:
        raise ModelError(
            f"alternative {name!r}: {robot.name!r} is not one rigid body: it has {robot.nv} degrees of freedom; an "
            "object has one body, or several on fixed joints, and a free joint or none"
        )
    bodies = [body for body in robot.bodies.values() if body.slot in slots]
    inertia = robot.tree.I[slots.pop()] if slots else Inertia.zero()
    shapes = tuple(
        replace(shape, placement=(shape.placement @ body.placement).plain())
        for body in bodies
        for shape in body.geometry
    )
    return LinkSpec(name, inertia, shapes)


def _with_assets(extras: Extras, body: str, name: str, robot: Robot) -> Extras:
    """The extras with the data of an object's shapes; assets defined in its file itself are called NAME/ASSET."""
    places = [(one.name, k) for one in robot.bodies.values() for k in range(len(one.geometry))]
    shapes = [
        AbsentShape(body, name, places.index((one.body, one.index)), one.asset and f"{name}/{one.asset}", one.smooth)
        for one in robot.extras.shapes
        if one.asset or one.smooth
    ]
    made = {shape.asset for shape in robot.extras.shapes if shape.asset}

    def called(one: Unused) -> Unused:
        attributes = dict(one.attributes)
        if one.tag not in ("mesh", "hfield") or attributes.get("name") not in made or "file" in attributes:
            return one
        return replace(one, attributes=(*(attributes | {"name": f"{name}/{attributes['name']}"}).items(),))

    assets = [
        replace(one, children=tuple(map(called, one.children))) for one in robot.extras.unused if one.tag == "asset"
    ]
    return replace(extras, unused=(*extras.unused, *assets), absent_shapes=(*extras.absent_shapes, *shapes))


def _why_it_keeps_its_inertia(model: Robot, body: Body) -> str:
    """Why the inertia of a body does not vary; empty for one that moves freely in the world, with nothing on it."""
    joint = next((one for one in model.joints.values() if one.child == body.name), None)
    if joint is None:
        return "the body is on a fixed joint"
    if joint.kind.nv != FREE or (joint.parent and model.bodies[joint.parent].slot):
        return f"joint {joint.name!r} does not let it move freely in the world"
    on_it = [one.name for one in model.bodies.values() if one.slot == body.slot and one.name != body.name]
    on_it += [one.child for one in model.joints.values() if one.parent in (body.name, *on_it)]
    return f"it carries {listed(map(repr, on_it))}" if on_it else ""


def with_present(model: Robot, body: str, which: int | str) -> Changed:
    """See `Model.with_present`."""
    own = model.bodies[body]
    k = number_of_alternative(own, which)
    one, name = own.alternatives[k], own.alternatives[own.present].name

    def exchanged(link: LinkSpec) -> LinkSpec:
        objects = list(link.alternatives)
        objects[link.present] = replace(link, name=name, alternatives=(), present=0)
        objects[k] = _placeholder(one.name)
        return replace(link, inertia=one.inertia, geometry=one.geometry, alternatives=tuple(objects), present=k)

    parts = model.parts
    if k == own.present:
        return changed(parts, f"body {body!r} is {one.name!r}")
    links = tuple(exchanged(link) if link.name == body else link for link in parts.links)
    before = [other for other in parts.extras.shapes if other.body == body]
    shapes = [other for other in parts.extras.shapes if other.body != body]
    absent = [other for other in parts.extras.absent_shapes if (other.body, other.alternative) != (body, one.name)]
    here = [other for other in parts.extras.absent_shapes if other not in absent]
    shapes += [ShapeSettings(body, other.index, asset=other.asset, smooth=other.smooth) for other in here]
    kept = [other for other in before if other.asset or other.smooth]
    absent += [AbsentShape(body, name, other.index, other.asset, other.smooth) for other in kept]
    sentence = f"body {body!r} is {one.name!r}"
    plain = [ShapeSettings(body, other.index, other.name, asset=other.asset, smooth=other.smooth) for other in before]
    if plain != before:
        sentence += "; settings of its shapes beyond contacts, such as groups and materials, were dropped"
    extras = replace(parts.extras, shapes=tuple(shapes), absent_shapes=tuple(absent))
    return changed(replace(parts, links=links, extras=extras), sentence)


def with_mocap(model: Robot, poses: Mapping[str, Pose] | str) -> Changed:
    """See `Model.with_mocap`."""
    bodies = [body.body for body in model.extras.bodies if body.mocap]
    if not bodies:
        raise ModelError(f"{model.name!r} has no bodies that are moved from outside (mocap, in an MJCF file)")
    if isinstance(poses, str):
        where, places = f"as in the keyframe {poses!r}", _of_keyframe(model, poses, bodies)
    elif isinstance(poses, Mapping):
        for name in poses:
            if name not in bodies:
                near = nearest_names(str(name), bodies)
                raise NameNotFoundError(f"{model.name!r} has no mocap body {quoted(name)}: {near}")
        places = {name: pose(f"the pose of {name!r}", given, ModelError) for name, given in poses.items()}
        where = listed(repr(name) for name in places)
    else:
        raise ModelError(f"with_mocap takes poses by body, or the name of a keyframe, not {poses!r:.60}")
    parts = model.parts
    joints = tuple(
        replace(spec, placement=places[spec.child]) if spec.child in places else spec for spec in parts.joints
    )
    return changed(replace(parts, joints=joints), f"mocap bodies put elsewhere: {where}")


def _of_keyframe(model: Robot, name: str, bodies: list[str]) -> dict[str, Transform]:
    keyframes: dict[str, Keyframe] = {keyframe.name: keyframe for keyframe in model.extras.keyframes if keyframe.name}
    if name not in keyframes:
        raise NameNotFoundError(f"{model.name!r} has no keyframe {quoted(name)}: {nearest_names(name, keyframes)}")
    one = keyframes[name]
    if len(one.mocap_positions) != len(bodies):
        count = len(one.mocap_positions)
        raise ModelError(f"the keyframe {name!r} places {count} mocap bodies, but {model.name!r} has {len(bodies)}")
    return {
        body: placement(position, quaternion=turn)
        for body, position, turn in zip(bodies, one.mocap_positions, one.mocap_rotations, strict=True)
    }

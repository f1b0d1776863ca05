"""Shared by the changes: names, and checks of arguments."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from kinetree.errors import ModelError, NameNotFoundError, listed, nearest_names
from kinetree.joints import Fixed
from kinetree.model.changes.extras import with_extras_of
from kinetree.model.collector import Collector
from kinetree.model.elements import Geometry, Joint, Mimic
from kinetree.model.robot import Robot
from kinetree.model.specs import JointSpec, LinkSpec, Parts
from kinetree.records import record
from kinetree.spatial import Transform
from kinetree.spatial.poses import Pose, pose

__all__ = [
    "Changed",
    "base_joint",
    "changed",
    "check_clashes",
    "check_robot",
    "closed",
    "frame_names",
    "joint_names",
    "leader_of",
    "opened",
    "place_of",
    "placement_of",
    "prefixed",
    "shapes_renamed",
    "unused",
    "welded",
]


@record(frozen=True, slots=True)
class Changed:
    """The result of a change: the parts of another robot."""

    parts: Parts
    known: tuple[Parts, ...]
    """Parts of robots that were built before; suspicious values in them are not warned of again."""


def changed(parts: Parts, sentence: str) -> Changed:
    """The change to these parts; the sentence becomes the first note."""
    parts = replace(parts, notes=(sentence, *parts.notes))
    return Changed(parts, (parts,))


def opened(parts: Parts, sentence: str) -> Collector:
    """A collector that holds these parts, whose first note is the sentence."""
    collector = Collector(parts.name, gravity=parts.gravity, source=parts.source)
    collector.add_parts(replace(parts, notes=(sentence, *parts.notes)))
    return collector


def closed(collector: Collector, *, floating_base: bool) -> Changed:
    """The change to the parts that were collected."""
    return Changed(collector.parts(floating_base=floating_base), tuple(collector.known))


def check_robot(thing: object, what: str) -> None:
    """Raise unless it is a robot."""
    if not isinstance(thing, Robot):
        raise ModelError(f"{what} must be a Model, such as kinetree.load returns, not {thing!r:.60}")


def placement_of(thing: Pose | None) -> Transform:
    """The placement that is given; the identity for None."""
    return Transform.identity() if thing is None else pose("a placement", thing, ModelError)


def check_clashes(robots: Sequence[tuple[str, Parts, Collection[str]]], advice: str) -> None:
    """Raise if parts of two robots share a name; each robot is its name, its parts, and any additional joints."""
    owner: dict[tuple[str, str], int] = {}
    for k, (robot, parts, joints) in enumerate(robots):
        for what, names in (
            ("bodies or frames", frame_names(parts)),
            ("joints", [*(spec.name for spec in parts.joints), *joints]),
            ("couplings", [spec.name for spec in parts.couplings]),
            ("groups", [group.name for group in parts.extras.groups]),
        ):
            both = [name for name in names if owner.setdefault((what, name), k) != k]
            if both:
                first = robots[owner[what, both[0]]][0]
                raise ModelError(f"{first!r} and {robot!r} both have {what} named {listed(map(repr, both))}; {advice}")


def frame_names(parts: Parts) -> list[str]:
    """The names of all bodies and frames."""
    return [*(spec.name for spec in parts.links), *(spec.name for spec in parts.frames)]


def base_joint(model: Robot) -> list[str]:
    """The name of the floating base's joint, which is not among the parts; empty if the base is fixed."""
    return [next(iter(model.joints))] if model.floating_base else []


def leader_of(model: Robot, joint: Joint) -> Joint:
    """The joint at the end of the mimic chain; the joint itself if it follows none."""
    while joint.mimic is not None:
        joint = model.joints[joint.mimic.joint]
    return joint


def place_of(model: Robot, to: str, placement: Pose | None) -> tuple[str, Transform]:
    """The body that a body or frame belongs to, and a placement in `to` converted to one in that body."""
    own = placement_of(placement)
    if not isinstance(to, str) or to not in model.frames:
        raise NameNotFoundError(
            f"{model.name!r} has no body or frame {to!r:.60}: {nearest_names(str(to), model.frames)}"
        )
    if to in model.bodies:
        return to, own
    frame = next(spec for spec in model.parts.frames if spec.name == to)
    return frame.body, own @ frame.placement


def welded(name: str, parent: str, child: str, placement: Transform, where: object = "") -> JointSpec:
    """A fixed joint."""
    return JointSpec.bare(name, Fixed(), parent, child, placement, where=where)


def prefixed(parts: Parts, prefix: str, *, base: Collection[str], same_root: bool = True) -> Parts:
    """The parts with a prefix before every name, and the robot's name before every note.

    `base` holds the name of a floating base's joint, and `same_root` says whether the root stays on its base.
    """
    if not isinstance(prefix, str):
        raise ModelError(f"a prefix must be a string, not {prefix!r:.60}")

    def follows(mimic: Mimic | None) -> Mimic | None:
        return None if mimic is None else replace(mimic, joint=prefix + mimic.joint)

    result = replace(
        parts,
        links=tuple(
            replace(shapes_renamed(link, lambda name: prefix + name), name=prefix + link.name) for link in parts.links
        ),
        joints=tuple(
            replace(
                joint,
                name=prefix + joint.name,
                parent=prefix + joint.parent,
                child=prefix + joint.child,
                mimic=follows(joint.mimic),
            )
            for joint in parts.joints
        ),
        frames=tuple(replace(frame, name=prefix + frame.name, body=prefix + frame.body) for frame in parts.frames),
        couplings=tuple(
            replace(coupling, name=prefix + coupling.name, joints=tuple(prefix + name for name in coupling.joints))
            for coupling in parts.couplings
        ),
    )
    result = with_extras_of(parts, result, base=base, rename=lambda name: prefix + name, same_root=same_root)
    return replace(result, notes=tuple(f"{parts.name}: {note}" for note in result.notes))


def shapes_renamed(link: LinkSpec, to: Callable[[str], str]) -> LinkSpec:
    """The link with its shapes under new names, where they have any."""

    def renamed(shape: Geometry) -> Geometry:
        return replace(shape, name=to(shape.name)) if shape.name else shape

    return link.changed(lambda one: replace(one, geometry=tuple(map(renamed, one.geometry))))


def joint_names(model: Robot) -> set[str]:
    """The names of all joints, including the floating base's and fixed ones."""
    return {*model.joints, *(spec.name for spec in model.parts.joints)}


def unused(name: str, taken: Collection[str]) -> str:
    """The name, with underscores appended until it is unused."""
    while name in taken:
        name += "_"
    return name

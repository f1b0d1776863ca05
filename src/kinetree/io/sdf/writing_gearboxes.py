"""Couplings of two hinges as gearboxes.

A gearbox's coordinate is the angle of its first hinge, and the angle from its reference body to its child is minus the
ratio times that to its parent, so the reference body is one that both hinges are on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kinetree.io.losses import Losses
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.joints import Continuous, Fixed, Placed, Revolute
from kinetree.model.specs import CouplingSpec, JointSpec
from kinetree.spatial import Vec3

__all__ = ["write_gearbox"]


def write_gearbox(
    model: Tag,
    coupling: CouplingSpec,
    joints: Mapping[str, JointSpec],
    above: Mapping[str, JointSpec],
    names: Mapping[str, str],
    taken: Collection[str],
    losses: Losses,
) -> None:
    """Add a coupling, or lose it.

    `above` is the joint that carries each body, `names` are those of joints in the file, and `taken` are others there.
    """
    coupled = [joints[name] for name in coupling.joints if name in joints]
    why = _why_not(coupling, coupled)
    ends = None if why else _ends(coupled, above)
    if ends is None:
        quoted = ", ".join(map(repr, coupling.joints))
        losses.lost.append(
            f"coupling {coupling.name!r} has no place in SDF: its joints ({quoted}) would move independently. A "
            f"gearbox couples two hinges on one body that is not the world by one ratio{why}"
        )
        return
    reference, parent, child, sense = ends
    if coupling.name in taken or coupling.name in names.values():
        losses.lost.append(f"coupling {coupling.name!r} has the name of a joint, body or frame, and is left out of SDF")
        return
    if coupling.actuated not in (None, (True,)):
        losses.lost.append(f"coupling {coupling.name!r} has no motor, and SDF cannot say so of a gearbox")
    element = model.add("joint", name=coupling.name, type="gearbox")
    element.add("parent", parent)
    element.add("child", child)
    element.add("gearbox_ratio", shown_number(-coupling.matrix[1][0] * sense))
    element.add("gearbox_reference_body", reference)
    for joint, tag in zip(coupled, ("axis", "axis2"), strict=True):
        axis = element.add(tag)
        axis.add("xyz", shown_numbers([float(x) for x in _axis(joint).components()]), expressed_in=names[joint.name])


def _why_not(coupling: CouplingSpec, joints: list[JointSpec]) -> str:
    """Why a coupling is not a gearbox, as the end of a sentence; "" if it is."""
    if len(joints) != 2 or len(coupling.joints) != 2 or any(_hinge(joint) is None for joint in joints):
        return ", and these are not two hinges"
    if len(coupling.coordinates) != 1 or coupling.matrix[0] != (1.0,) or any(coupling.offset):
        return ", and this one has offsets, or another coordinate than the first hinge's angle"
    if coupling.coordinates != ("angle",):
        return f', whose coordinate is called "angle", and not {coupling.coordinates[0]!r}'
    return ""


def _hinge(joint: JointSpec) -> Revolute | Continuous | None:
    kind = joint.kind.kind if type(joint.kind) is Placed and isinstance(joint.kind, Placed) else joint.kind
    return kind if isinstance(kind, Revolute | Continuous) else None


def _axis(joint: JointSpec) -> Vec3:
    hinge = _hinge(joint)
    assert hinge is not None
    return hinge.axis


def _ends(joints: list[JointSpec], above: Mapping[str, JointSpec]) -> tuple[str, str, str, float] | None:
    """Reference body, parent and child, and 1 or -1: the product of the senses in which the hinges count."""
    first, second = joints
    one, other = _carriers(first, above), _carriers(second, above)
    common = next((body for body in one if body in other and body != "world"), None)
    if common is not None:
        return common, first.child, second.child, 1.0
    if first.child in other and first.parent != "world":
        return first.child, first.parent, second.child, -1.0
    if second.child in one and second.parent != "world":
        return second.child, first.child, second.parent, -1.0
    return None


def _carriers(joint: JointSpec, above: Mapping[str, JointSpec]) -> list[str]:
    """The bodies that a joint is on: its own, and those to which that is fixed."""
    bodies = [joint.parent]
    while (carrying := above.get(bodies[-1])) is not None and isinstance(carrying.kind, Fixed):
        bodies.append(carrying.parent)
    return bodies

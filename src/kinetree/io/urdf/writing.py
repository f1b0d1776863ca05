"""Robots as URDF: every number that the format has a place for, and a sentence on everything else.

URDF has no gravity, springs, armature, rotors, motors, couplings, and no word for whether the base floats. Frames are
links without mass, as in ROS. Placements are written as xyz and rpy, not in the newest revision's quaternions, because
older readers skip those without a word.
"""

from __future__ import annotations

import math

from kinetree.io.chains import free_name
from kinetree.io.decimals import about_center_of_mass, roll_pitch_yaw
from kinetree.io.losses import Losses
from kinetree.io.substitutes import with_substitutes
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.joints import Continuous, Fixed, Free, JointKind, Planar, Prismatic, Revolute
from kinetree.model.elements import Geometry
from kinetree.model.extras import Extras, Unused
from kinetree.model.extras.transmissions import TransmissionActuator, TransmissionJoint
from kinetree.model.specs import JointSpec, LinkSpec, Parts
from kinetree.spatial import Inertia, Transform, Vec3
from kinetree.tree.drive import Limits

__all__ = ["write_urdf"]

_GRAVITY = (0.0, 0.0, -9.81)
_NO_BOUND = 1e30
"""Read as infinity, and as a number by readers that do not know infinity."""
_HERE = Transform.identity()
_NOTHING = Inertia.zero()
_ON_AXIS = {Revolute: "revolute", Continuous: "continuous", Prismatic: "prismatic"}
_SHAPES = {
    "box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length"),
    "mesh": ("scale",),
}  # fmt: skip


def write_urdf(parts: Parts, losses: Losses) -> str:
    """The text of a URDF file with these parts; anything it cannot hold goes into `losses`."""
    return _Writer(with_substitutes(parts, losses, _has_word), losses).document()


class _Writer:
    def __init__(self, parts: Parts, losses: Losses) -> None:
        self._parts = parts
        self._losses = losses
        self._root = Tag("robot", name=parts.name)
        self._colors: dict[tuple[float, ...], str] = {}
        self._textures = {(texture.body, texture.shape): texture for texture in parts.extras.textures}
        self._joints = {joint.name for joint in parts.joints}

    def document(self) -> str:
        parts, lose = self._parts, self._losses.lost.append
        self._check_names()
        if parts.gravity != _GRAVITY:
            lose(
                f"gravity is ({', '.join(map(shown_number, parts.gravity))}), which URDF has no place for: its readers "
                "take (0, 0, -9.81)"
            )
        if parts.floating_base:
            lose("the base floats, which URDF leaves to its reader: kt.load(path, floating_base=True)")
        self._materials()
        for link in parts.links:
            self._link(link)
        for joint in parts.joints:
            self._joint(joint)
        for coupling in parts.couplings:
            joints = ", ".join(map(repr, coupling.joints))
            lose(f"coupling {coupling.name!r} has no place in URDF: its joints ({joints}) would move independently")
        for frame in parts.frames:
            self._losses.changed.append(f"frame {frame.name!r} is a link without mass on a fixed joint in URDF")
            self._fixed_link(frame.name, frame.body, frame.placement)
        write_extras(self._root, parts.extras, self._losses)
        return self._root.document()

    def _check_names(self) -> None:
        parts = self._parts
        if parts.name != parts.name.strip():
            self._losses.lost.append(f"the robot's name {parts.name!r} begins or ends with blanks, which are not kept")
        for what, specs in (("body", parts.links), ("joint", parts.joints), ("frame", parts.frames)):
            for spec in specs:
                self._losses.refuse_long(what, spec.name)

    def _materials(self) -> None:
        images = {texture.material for texture in self._parts.extras.textures}
        for link in self._parts.links:
            for shape in link.geometry:
                if shape.color is not None and shape.color not in self._colors:
                    name = free_name(f"material_{len(self._colors) + 1}", images)
                    self._colors[shape.color] = name
                    self._root.add("material", name=name).add("color", rgba=shown_numbers(shape.color))

    def _link(self, link: LinkSpec) -> None:
        element = self._root.add("link", name=link.name)
        if link.inertia != _NOTHING:
            _write_inertia(element, link.inertia)
        for place, shape in enumerate(link.geometry):
            self._geometry(element, shape, link.name, place)
        self._losses.lose_contacts(link)

    def _geometry(self, link: Tag, shape: Geometry, body: str, place: int) -> None:
        what = f"the {shape.role} shape {shape.name!r}" if shape.name else f"a {shape.role} shape"
        if shape.shape not in _SHAPES and shape.may_touch:
            self._losses.lost.append(f"body {body!r}: {what} is of kind {shape.shape!r}, which URDF does not have")
            return
        if shape.shape not in _SHAPES:
            self._losses.leave_out("visual shapes of kinds that URDF does not have", f"{shape.shape} of {body!r}")
            return
        if self._losses.lose_unfit(shape, f"body {body!r}: {what}"):
            return
        element = link.add(shape.role, name=shape.name or None)
        _write_origin(element, shape.placement)
        geometry = element.add("geometry")
        if shape.shape == "mesh":
            scale = None if shape.size == (1.0, 1.0, 1.0) else shown_numbers(shape.size)
            geometry.add("mesh", filename=shape.mesh, scale=scale)
        elif shape.shape == "box":
            geometry.add("box", size=shown_numbers(shape.size))
        else:
            sizes = map(shown_number, shape.size)
            geometry.add(shape.shape, **dict(zip(_SHAPES[shape.shape], sizes, strict=True)))
        texture = self._textures.get((body, place))
        if texture is not None:
            material = element.add("material", name=texture.material or None)
            if shape.color is not None:
                material.add("color", rgba=shown_numbers(shape.color))
            material.add("texture", filename=texture.file)
        elif shape.color is not None:
            element.add("material", name=self._colors[shape.color])

    def _fixed_link(self, name: str, body: str, placement: Transform) -> None:
        self._root.add("link", name=name)
        self._fixed_joint(name, body, name, placement)

    def _fixed_joint(self, name: str, parent: str, child: str, placement: Transform) -> None:
        name = free_name(f"{name}_joint", self._joints)
        self._joints.add(name)
        self._joint(JointSpec.bare(name, Fixed(), parent, child, placement))

    def _joint(self, joint: JointSpec) -> None:
        kind = joint.kind
        element = self._root.add("joint", name=joint.name, type=_word(kind))
        _write_origin(element, joint.placement)
        element.add("parent", link=joint.parent)
        element.add("child", link=joint.child)
        if isinstance(kind, Revolute | Prismatic):
            element.add("axis", xyz=_components(kind.axis))
        elif isinstance(kind, Planar):
            element.add("axis", xyz=_components(kind.normal))
        self._dynamics(element, joint)
        self._limit(element, joint)
        if joint.mimic is not None:
            mimic = joint.mimic
            element.add(
                "mimic",
                joint=mimic.joint,
                multiplier=shown_number(mimic.multiplier) if mimic.multiplier != 1.0 else None,
                offset=shown_number(mimic.offset) if mimic.offset else None,
            )
        write_controllers(element, joint.name, self._parts.extras)
        self._losses.lose_numbers(joint, held=("limits", "damping", "friction", "mimic"))

    def _dynamics(self, element: Tag, joint: JointSpec) -> None:
        written = {}
        for name in ("damping", "friction"):
            values = getattr(joint.drive, name)
            if not any(values):
                continue
            if len(set(values)) > 1:
                self._losses.lost.append(
                    f"joint {joint.name!r} has a {name} for each of its degrees of freedom, and URDF has one number "
                    "for all: it would have none"
                )
            else:
                written[name] = shown_number(values[0])
        if written:
            element.add("dynamics", **written)

    def _limit(self, element: Tag, joint: JointSpec) -> None:
        kind, limits = joint.kind, joint.limits
        lose = self._losses.lost.append
        if not isinstance(kind, Revolute | Prismatic):
            if limits != Limits.none(kind):
                lose(f"joint {joint.name!r} ({kind.description}) has limits, for which URDF has no place")
            return
        for what, values in (
            ("position", (*limits.lower, *limits.upper)),
            ("velocity", limits.velocity),
            ("effort", limits.effort),
        ):
            if any(_NO_BOUND <= abs(x) < math.inf for x in values):
                lose(f"joint {joint.name!r} has a {what} limit of 1e30 or more, which files use for no limit")
        (lower,), (upper,) = limits.lower, limits.upper
        (velocity,), (effort,) = limits.velocity, limits.effort
        if lower >= _NO_BOUND or upper <= -_NO_BOUND:  # equal infinite limits would be refused
            lower, upper = -math.inf, math.inf
        if isinstance(kind, Continuous):
            if math.isfinite(lower) or math.isfinite(upper):
                lose(f"joint {joint.name!r} is continuous, but has position limits, for which URDF then has no place")
            if math.isinf(velocity) and math.isinf(effort):
                return
            element.add("limit", effort=_bound(effort), velocity=_bound(velocity))
            return
        element.add("limit", lower=_bound(lower), upper=_bound(upper), effort=_bound(effort), velocity=_bound(velocity))


def _has_word(kind: JointKind) -> bool:
    return _word(kind) is not None


def _word(kind: JointKind) -> str | None:
    """URDF's type for a kind; None if it has none."""
    cls = type(kind)
    if cls in _ON_AXIS:
        return _ON_AXIS[cls]
    if cls is Fixed:
        return "fixed"
    if cls is Free:
        return "floating"
    return "planar" if isinstance(kind, Planar) and kind == Planar(kind.normal) else None


def _bound(x: float) -> str:
    return shown_number(math.copysign(_NO_BOUND, x) if math.isinf(x) else x)


def _write_inertia(link: Tag, inertia: Inertia) -> None:
    element = link.add("inertial")
    com, I = about_center_of_mass(inertia)
    if any(com.components()):
        element.add("origin", xyz=_components(com))
    element.add("mass", value=shown_number(float(inertia.mass)))
    xx, yy, zz, xy, xz, yz = (shown_number(float(x)) for x in I.components())
    element.add("inertia", ixx=xx, ixy=xy, ixz=xz, iyy=yy, iyz=yz, izz=zz)


def _write_origin(element: Tag, placement: Transform) -> None:
    """Nothing for an identity; rpy only where there is a rotation."""
    turned = placement.E != _HERE.E
    if not turned and not any(placement.r.components()):
        return
    rpy = shown_numbers(roll_pitch_yaw(placement.E.T)) if turned else None
    element.add("origin", xyz=_components(placement.r), rpy=rpy)


def _components(vector: Vec3) -> str:
    return shown_numbers([float(x) for x in vector.components()])


_HELD = frozenset(("motion_limits", "safety_limits", "calibrations", "transmissions", "textures"))
_RAW = frozenset(("gazebo", "sensor", "ros2_control", "transmission"))
"""Elements of URDF files that say nothing about rigid bodies."""


def write_controllers(joint: Tag, name: str, extras: Extras) -> None:
    """Add the controllers' data about a joint to its element."""
    for limits in extras.motion_limits:
        if limits.joint == name:
            limit = next((child for child in joint.children if child.tag == "limit"), None)
            if limit is None:
                limit = joint.add("limit", effort="1e+30", velocity="1e+30")
            for what in ("acceleration", "deceleration", "jerk"):
                limit.attributes[what] = _bound(getattr(limits, what))
    for safety in extras.safety_limits:
        if safety.joint == name:
            joint.add(
                "safety_controller",
                soft_lower_limit=_optional(safety.soft_lower),
                soft_upper_limit=_optional(safety.soft_upper),
                k_position=_optional(safety.k_position),
                k_velocity=_bound(safety.k_velocity),
            )
    for places in extras.calibrations:
        if places.joint == name:
            joint.add(
                "calibration",
                rising=_optional(places.rising),
                falling=_optional(places.falling),
                reference_position=_optional(places.reference_position),
            )


def write_extras(root: Tag, extras: Extras, losses: Losses) -> None:
    """Add everything that is not inside a joint or a link; records that URDF does not know are lost."""
    for transmission in extras.transmissions:
        element = root.add("transmission", name=transmission.name or None)
        if transmission.type:
            element.add("type", transmission.type)
        for joint in transmission.joints:
            _write_part(element.add("joint", name=joint.joint), joint)
        for actuator in transmission.actuators:
            _write_part(element.add("actuator", name=actuator.name), actuator)
        if transmission.reduction is not None:
            element.add("mechanicalReduction", shown_number(transmission.reduction))
        for part in transmission.other:
            _write_raw(element, part)
    others = [part for part in extras.unused if part.tag not in _RAW]
    for part in extras.unused:
        if part.tag in _RAW:
            _write_raw(root, part)
    if others:
        tags = ", ".join(sorted({f"<{part.tag}>" for part in others}))
        losses.lost.append(f"robot.extras.unused has parts of another format, {tags}, which have no place in URDF")
    losses.lose_extras(extras, supported=_HELD | {"unused"})


def _write_part(element: Tag, part: TransmissionJoint | TransmissionActuator) -> None:
    if part.role:
        element.add("role", part.role)
    for interface in part.interfaces:
        element.add("hardwareInterface", interface)
    if part.reduction is not None:
        element.add("mechanicalReduction", shown_number(part.reduction))
    if isinstance(part, TransmissionJoint) and part.offset is not None:
        element.add("offset", shown_number(part.offset))
    for other in part.other:
        _write_raw(element, other)


def _write_raw(parent: Tag, part: Unused) -> None:
    element = parent.add(part.tag, part.text or None)
    element.attributes = dict(part.attributes)
    for child in part.children:
        _write_raw(element, child)


def _optional(x: float | None) -> str | None:
    return None if x is None else _bound(x)

"""A robot's records in an MJCF file: parts of bodies and joints as these are written, and the sections after.

Settings for simulators of joints, bodies and shapes are added to their elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.io.losses import Losses
from kinetree.io.mjcf.writing_actuators import write_actuators
from kinetree.io.mjcf.writing_bodies import Assets, write_camera, write_site
from kinetree.io.mjcf.writing_joints import Series
from kinetree.io.mjcf.writing_keyframes import WrittenJoint, coordinates_of, write_keyframes
from kinetree.io.mjcf.writing_sections import write_contacts, write_equalities, write_sensors, write_tendons
from kinetree.io.mjcf.writing_values import Raw, Written, changed, limit, raw_numbers, raw_tag, trimmed
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.joints import Spherical
from kinetree.model.elements import Geometry
from kinetree.model.extras import BodySettings, JointSettings, ShapeSettings, Unused
from kinetree.model.specs import FrameSpec, LinkSpec, Parts

__all__ = ["Records"]

_JOINT = JointSettings("")
_OF_JOINTS = {
    "margin": "margin", "solref_limit": "solreflimit", "solimp_limit": "solimplimit",
    "solref_friction": "solreffriction", "solimp_friction": "solimpfriction", "spring_damper": "springdamper",
    "spring_yield": "springyield", "actuators_carry_gravity": "actuatorgravcomp", "group": "group",
}  # fmt: skip
_BODY = BodySettings("")
_OF_BODIES = {"gravity_compensation": "gravcomp", "mocap": "mocap", "sleep": "sleep", "simple": "simple"}
_SHAPE = ShapeSettings("", 0)
_OF_SHAPES = {"group": "group", "fluid_shape": "fluidshape", "casts_shadow": "castshadow"}
_HELD = frozenset((
    "options", "actuators", "tendons", "equalities", "sensors", "contact_pairs", "contact_exclusions", "keyframes",
    "reference_configuration", "joints", "bodies", "shapes", "sites", "cameras", "unused",
))  # fmt: skip
_UNNEEDED = frozenset((
    "motion_limits", "safety_limits", "calibrations", "transmissions", "textures", "groups", "named_states",
    "end_effectors", "virtual_joints", "passive_joints", "joint_properties", "body_spheres",
))  # fmt: skip
"""Data of URDF and SRDF for controllers, planners and pictures."""


def _set_joint(element: Tag, settings: JointSettings, losses: Losses) -> None:
    """Add the settings of a joint."""
    what = f"joint {settings.joint!r}"
    added = changed(settings, _JOINT, _OF_JOINTS)
    for name, polynomial in (("stiffness", settings.stiffness), ("damping", settings.damping)):
        if not any(polynomial):
            continue
        is_kept_elsewhere = name == "stiffness" and element.attributes.get("type") == "free"
        own = element.attributes.get(name, "0")
        if element.tag == "joint" and own != shown_number(polynomial[0]) and not is_kept_elsewhere:
            losses.lost.append(
                f"{what}: its settings give {name} as {shown_numbers(polynomial)}, but the joint's own is {own}: the "
                "quadratic and cubic terms are lost"
            )
            continue
        added[name] = trimmed(polynomial)
    if settings.limited or any(settings.range):
        added |= limit("limited", "range", settings.limited, settings.range, losses, what)
    if settings.actuator_force_limited or any(settings.actuator_force_range):
        element.attributes.pop("actuatorfrcrange", None)
        bounds = settings.actuator_force_range
        added |= limit("actuatorfrclimited", "actuatorfrcrange", settings.actuator_force_limited, bounds, losses, what)
    if user := raw_numbers(settings.user):
        added["user"] = user
    if element.tag == "freejoint" and added.keys() - {"group"}:
        element.tag = "joint"
        element.attributes["type"] = "free"
    element.attributes |= added


def _set_body(element: Tag, settings: BodySettings) -> None:
    """Add the settings of a body."""
    element.attributes |= changed(settings, _BODY, _OF_BODIES)
    if user := raw_numbers(settings.user):
        element.attributes["user"] = user
    if settings.massless_center:
        inertial = next((child for child in element.children if child.tag == "inertial"), None)
        if inertial is None:
            inertial = element.add("inertial", mass="0", diaginertia="0 0 0")
        if inertial.attributes["mass"] == "0":
            inertial.attributes["pos"] = shown_numbers(settings.massless_center)
    _plugin(element, settings.plugin)


def _set_shape(
    element: Tag, shape: Geometry, settings: ShapeSettings, raw: Raw, written: Written, losses: Losses
) -> None:
    """Add the settings of a shape; its colour is not written again where its material gives it."""
    element.attributes |= changed(settings, _SHAPE, _OF_SHAPES)
    name = f" {settings.name!r}" if settings.name else ""
    what = f"shape {settings.index}{name} of body {settings.body!r}"
    if settings.smooth:
        losses.lost.append(f"{what} is smooth, and made of triangles in MJCF")
    if material := written.optional(what, "material", settings.material, losses):
        element.attributes["material"] = material
        if shape.color is not None and tuple(shape.color) == raw.color(material):
            del element.attributes["rgba"]
    if settings.fluid_coefficients != _SHAPE.fluid_coefficients:
        element.attributes["fluidcoef"] = trimmed(settings.fluid_coefficients, _SHAPE.fluid_coefficients)
    if user := raw_numbers(settings.user):
        element.attributes["user"] = user
    _plugin(element, settings.plugin)
    if settings.plugin is not None and element.attributes.get("type") == "mesh":
        element.attributes["type"] = "sdf"  # plugins of shapes compute distances


def _plugin(element: Tag, plugin: Unused | None) -> None:
    if plugin is not None:
        element.children.append(raw_tag(plugin))


class Records:
    """The records of one robot, and the contents of the file so far."""

    def __init__(self, parts: Parts, losses: Losses) -> None:
        extras = parts.extras
        self._parts = parts
        self._losses = losses
        self._written = Written()
        self._raw = Raw(extras.unused, self._written, losses)
        self._joints = {joint.joint: joint for joint in extras.joints}
        self._bodies = {body.body: body for body in extras.bodies}
        self._shapes = {(shape.body, shape.index): shape for shape in extras.shapes}
        self._sites = {site.frame: site for site in extras.sites}
        self._cameras = {camera.frame: camera for camera in extras.cameras}
        self._targets: list[tuple[str, Tag]] = []
        self._in_order: list[WrittenJoint] = []
        self.reference: dict[str, tuple[float, ...]] = self._reference()
        """The coordinates of each joint where the file places the bodies."""

    def _reference(self) -> dict[str, tuple[float, ...]]:
        reference = self._parts.extras.reference_configuration
        if reference is None:
            return {}
        what = "robot.extras.reference_configuration"
        states = coordinates_of((), reference, self._parts.joints, what, self._losses)
        if any(any(state.v) for state in reference.joints):
            self._losses.lost.append(f"{what} has velocities, which it does not have in MJCF")
        return {name: q for name, (q, _) in states.items()}

    def assets(self) -> Assets:
        """The assets; those that are written as they were have names."""
        return Assets(self._raw.named_assets())

    def asset_of(self, body: str, shape: int) -> str:
        """The name of the mesh or height field of a shape, if that is made in the file."""
        settings = self._shapes.get((body, shape))
        tags = ("mesh", "hfield")
        is_there = settings is not None and any(self._written.has(tag, settings.asset) for tag in tags)
        return settings.asset if settings is not None and is_there else ""

    @property
    def raw_assets(self) -> list[Tag]:
        """Assets that are written as they were."""
        return [raw_tag(asset) for asset in self._raw.assets]

    def compiler(self, element: Tag) -> None:
        """Add the contents of <compiler>."""
        element.children += [raw_tag(one) for one in self._raw.compiler]

    def joints(self, element: Tag, series: Series) -> None:
        """Settings of the joints in a body."""
        tags = [child for child in element.children if child.tag in ("joint", "freejoint")]
        for tag, joint, origin in zip(tags, series.joints, series.origins, strict=True):
            self._written.add("joint", joint.name)
            self._in_order.append(WrittenJoint(origin.joint, joint.kind, origin.q, origin.v))
            if (settings := self._joints.pop(joint.name, None)) is not None:
                _set_joint(tag, settings, self._losses)
            if isinstance(joint.kind, Spherical) and joint.name in self.reference:
                x, y, z, _ = self.reference[joint.name]
                if x or y or z:
                    self._losses.lost.append(
                        f"robot.extras.reference_configuration turns the ball joint {joint.name!r}, and MJCF places "
                        "bodies where balls are not turned"
                    )

    def body(self, element: Tag, link: LinkSpec, shapes: Sequence[Tag | None], frames: Sequence[FrameSpec]) -> None:
        """Settings of a body and of its shapes, its frames, and its other elements."""
        self._written.add("body", link.name)
        if (settings := self._bodies.pop(link.name, None)) is not None:
            _set_body(element, settings)
        for k, (tag, shape) in enumerate(zip(shapes, link.geometry, strict=True)):
            of_shape = self._shapes.pop((link.name, k), None)
            if tag is not None:
                self._written.add("geom", shape.name)
                if of_shape is not None:
                    _set_shape(tag, shape, of_shape, self._raw, self._written, self._losses)
        for frame in frames:
            camera = self._cameras.pop(frame.name, None)
            if camera is None:
                site = self._sites.pop(frame.name, None)
                write_site(element, frame, site, self._written, self._losses)
            else:
                write_camera(element, frame, camera, self._written, self._losses)
                if camera.target:
                    self._targets.append((f"camera {camera.name!r}", element.children[-1]))
        self._raw.write_body(element, link.name)

    def sections(self, root: Tag, equality: Tag) -> None:
        """Everything after the bodies; `equality` may hold constraints already."""
        extras, written, losses = self._parts.extras, self._written, self._losses
        self._report_homeless()
        for what, element in self._targets:
            if written.optional(what, "body", element.attributes["target"], losses) is None:
                del element.attributes["target"]
                element.attributes.pop("mode", None)
        self._raw.write_sections(root)
        write_contacts(root, extras, written, losses)
        write_tendons(root, extras, written, losses)
        write_equalities(equality, extras, written, losses)
        if equality.children:
            root.children.append(equality)
        actuators = write_actuators(root, extras, written, losses)
        write_sensors(root, extras, written, losses)
        write_keyframes(root, extras, self._in_order, self._parts.joints, actuators, losses)
        losses.lose_extras(extras, supported=_HELD, unneeded=_UNNEEDED)

    def _report_homeless(self) -> None:
        """Lose the records of objects that are not in the file."""
        for field, records in (
            ("joints", self._joints), ("bodies", self._bodies), ("sites", self._sites), ("cameras", self._cameras),
        ):  # fmt: skip
            for name in records:
                self._losses.lost.append(f"robot.extras.{field}: there is no element for {name!r} in the file")
        for name, index in self._shapes:
            self._losses.lost.append(f"robot.extras.shapes: body {name!r} has no shape {index} in the file")
        self._raw.report_homeless()

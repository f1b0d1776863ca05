"""Settings for simulators of joints, bodies and shapes, added to their elements."""

from __future__ import annotations

from kinetree.io.losses import Losses
from kinetree.io.mjcf.writing_known import Written
from kinetree.io.mjcf.writing_raw import Raw, raw_tag
from kinetree.io.mjcf.writing_values import changed, limit, raw_numbers, trimmed
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.model.elements import Geometry
from kinetree.model.extras import BodySettings, JointSettings, ShapeSettings, Unused

__all__ = ["set_body", "set_joint", "set_shape"]

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


def set_joint(element: Tag, settings: JointSettings, losses: Losses) -> None:
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


def set_body(element: Tag, settings: BodySettings) -> None:
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


def set_shape(
    element: Tag, shape: Geometry, settings: ShapeSettings, raw: Raw, written: Written, losses: Losses
) -> None:
    """Add the settings of a shape; its colour is not written again where its material gives it."""
    element.attributes |= changed(settings, _SHAPE, _OF_SHAPES)
    name = f" {settings.name!r}" if settings.name else ""
    what = f"shape {settings.index}{name} of body {settings.body!r}"
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

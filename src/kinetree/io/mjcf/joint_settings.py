"""What <joint> says beyond the joint's place in the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kinetree.io.mjcf.bodies import Part
from kinetree.io.mjcf.joints import MovingJoint
from kinetree.io.mjcf.values import chosen, limited, polynomial, solimp, solref, user_data
from kinetree.io.notes import Notes
from kinetree.model.extras import JointSettings

__all__ = ["read_joint_settings"]

_OWN = frozenset({
    "margin", "solreflimit", "solimplimit", "solreffriction", "solimpfriction", "springdamper", "stiffness",
    "springyield", "damping", "actuatorfrcrange", "actuatorfrclimited", "actuatorgravcomp", "group", "user",
})  # fmt: skip
"""Attributes from which settings come."""


def read_joint_settings(
    joints: Iterable[Part], names: Mapping[int, str], made_of: Mapping[str, MovingJoint], notes: Notes
) -> list[JointSettings]:
    """The settings of those joints that have any; `names` are the joints' names by the identity of their parts;
    those left out have none. `made_of` are the joints by name."""
    made = []
    for part in joints:
        if id(part) not in names or not (part.attributes.has_any(_OWN) or _may_be_limited(part)):
            continue
        settings = _settings(part, names[id(part)], made_of, notes)
        if settings != JointSettings(settings.joint):
            made.append(settings)
    return made


def _may_be_limited(part: Part) -> bool:
    """Whether it is a ball joint with a range."""
    a = part.attributes
    return a.text("type") == "ball" and ("range" in a or "limited" in a)


def _settings(part: Part, name: str, made_of: Mapping[str, MovingJoint], notes: Notes) -> JointSettings:
    a = part.attributes
    if part.element.tag == "freejoint":
        return JointSettings(name, group=a.whole("group"))
    kind = a.text("type", "hinge")
    is_turning = kind in ("hinge", "ball")
    stiffness, damping = polynomial(a, "stiffness"), polynomial(a, "damping")
    force_limited, force_range = False, (0.0, 0.0)
    if kind in ("hinge", "slide"):
        force_limited, force_range = limited(a, part.scope.settings, "actuatorfrclimited", "actuatorfrcrange")
    is_limited, bounds = _range(part) if kind == "ball" else (False, (0.0, 0.0))
    spring_yield = a.number("springyield")
    joint = made_of[name]
    if joint.spring is not None:
        stiffness, damping = (joint.spring[0], *stiffness[1:]), (joint.spring[1], *damping[1:])
        notes.add(
            "stiffness and damping are those that springdamper gives with the inertia in the reference configuration",
            name,
        )
    if any(stiffness[1:]) or any(damping[1:]):
        notes.add("quadratic and cubic terms of springs and dampers are forces of kt.dynamics.tendon_forces", name)
    if spring_yield:
        notes.add("springs that yield are elastic here; their thresholds are kept as data", name)
    if kind == "free" and any(stiffness):
        notes.add("springs of free joints are kept as data", name)
    if is_limited:
        notes.add("the largest angles of ball joints are kept as data", name)
    if force_limited and force_range[0] != -force_range[1]:
        notes.add("ranges of forces that are not alike in both directions are kept as data", name)
    is_plain = not any(stiffness[1:]) and kind in ("hinge", "slide")
    return JointSettings(
        name,
        limited=is_limited,
        range=bounds,
        margin=a.number("margin"),
        solref_limit=solref(a, "solreflimit"),
        solimp_limit=solimp(a, "solimplimit"),
        solref_friction=solref(a, "solreffriction"),
        solimp_friction=solimp(a, "solimpfriction"),
        spring_damper=joint.spring_damper,
        stiffness=(0.0, 0.0, 0.0) if is_plain else stiffness,
        spring_yield=part.scope.settings.radians(spring_yield) if is_turning else spring_yield,
        damping=damping if any(damping[1:]) else (0.0, 0.0, 0.0),
        actuator_force_limited=force_limited and force_range[0] != -force_range[1],
        actuator_force_range=force_range if force_range[0] != -force_range[1] else (0.0, 0.0),
        actuators_carry_gravity=a.flag("actuatorgravcomp"),
        group=a.whole("group"),
        user=user_data(a),
    )


def _range(part: Part) -> tuple[bool, tuple[float, float]]:
    """Zero and the largest angle of a ball joint, rad, and whether it is limited to that."""
    a, settings = part.attributes, part.scope.settings
    low, high = a.numbers("range", (0.0, 0.0))
    is_limited = chosen(a, settings, "limited", "range", (low, high))
    return is_limited, (settings.radians(low), settings.radians(high))

"""A spring between a joint's motor and its load, as harmonic drives and series-elastic actuators have it."""

from __future__ import annotations

from dataclasses import replace

from kinetree.errors import ModelError, NameNotFoundError, OptionError, nearest_names, quoted
from kinetree.inputs import number_between, real_number
from kinetree.joints import Revolute
from kinetree.joints.revolute import Continuous
from kinetree.model.changes.common import Changed, base_joint, closed, frame_names, joint_names, opened, unused
from kinetree.model.robot import Robot
from kinetree.spatial import Transform

__all__ = ["with_elastic_joint"]


def with_elastic_joint(model: Robot, name: str, stiffness: float, damping: float, rotor_inertia: float) -> Changed:
    """See `Model.with_elastic_joint`."""
    if not isinstance(name, str) or name not in model.joints:
        near = nearest_names(str(name), model.joints)
        raise NameNotFoundError(f"{model.name!r} has no moving joint {quoted(name)}: {near}")
    joint = model.joints[name]
    if joint.kind.nv != 1 or name in base_joint(model):
        raise ModelError(
            f"with_elastic_joint: {name!r} is {joint.kind.description}; it must have one degree of freedom"
        )
    if joint.mimic is not None or joint.coupling is not None:
        raise ModelError(f"with_elastic_joint: {name!r} has no coordinate of its own; make its motor's joint elastic")
    if any(joint.stiffness):
        raise ModelError(f"with_elastic_joint: {name!r} has a spring of its own, from the body before it to the link")
    stiffness = number_between("with_elastic_joint: stiffness", stiffness)
    rotor_inertia = number_between("with_elastic_joint: rotor_inertia", rotor_inertia)
    lost = real_number(damping)
    if lost is None or not 0.0 <= lost < float("inf"):
        raise OptionError(f"with_elastic_joint: damping must be zero or a positive number, not {damping!r:.60}")
    parts = model.parts
    spec = next(spec for spec in parts.joints if spec.name == name)
    rotor = unused(f"{name}_rotor", frame_names(parts))
    spring = unused(f"{name}_spring", joint_names(model))
    motor = replace(spec, child=rotor, armature=(rotor_inertia,), rotor=None)
    joints = tuple(motor if one is spec else one for one in parts.joints)
    builder = opened(
        replace(parts, joints=joints),
        f"joint {name!r} is elastic: {stiffness:g} from its motor, of inertia {rotor_inertia:g}, to {spec.child!r}, "
        f"by joint {spring!r}",
    )
    builder.add_body(rotor)
    kind = Revolute(spec.kind.axis) if isinstance(spec.kind, Continuous) else spec.kind
    builder.add_joint(
        spring, kind, rotor, spec.child, Transform.identity(), stiffness=[stiffness], damping=[lost], actuated=False
    )
    return closed(builder, floating_base=model.floating_base)

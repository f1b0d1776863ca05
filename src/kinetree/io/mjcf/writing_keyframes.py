"""<keyframe>: states in MuJoCo's coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.io.losses import Losses
from kinetree.io.mjcf.keyframes import control_count
from kinetree.io.mjcf.writing_values import raw_numbers
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.joints import Fixed, Free, JointKind
from kinetree.model.extras import Actuator, Extras, JointState, Keyframe
from kinetree.model.specs import JointSpec
from kinetree.records import record
from kinetree.spatial import Vec3
from kinetree.spatial.rotations import from_quaternion

__all__ = ["WrittenJoint", "coordinates_of", "write_keyframes"]


@record(frozen=True, slots=True)
class WrittenJoint:
    """A joint of the file: one of the robot's, or a part of one."""

    whole: str
    """The robot's joint."""
    kind: JointKind
    q: int
    """The index of its first coordinate among those of the robot's joint."""
    v: int

    def q_of(self, q: Sequence[float]) -> tuple[float, ...]:
        """Its own coordinates, in MuJoCo's order."""
        own = tuple(q[self.q : self.q + self.kind.nq])
        if len(own) < 4:
            return own
        *position, x, y, z, w = own
        return (*position, w, x, y, z)

    def v_of(self, q: Sequence[float], v: Sequence[float]) -> tuple[float, ...]:
        """Its own velocities, in MuJoCo's order: the linear one of a free joint is in the world's axes there."""
        own = tuple(v[self.v : self.v + self.kind.nv])
        if type(self.kind) is not Free:
            return own
        linear = from_quaternion(*q[self.q + 3 : self.q + 7]) @ Vec3(*own[:3])
        return (*map(float, linear.components()), *own[3:])


def write_keyframes(
    root: Tag,
    extras: Extras,
    joints: Sequence[WrittenJoint],
    specs: Sequence[JointSpec],
    actuators: Sequence[Actuator],
    losses: Losses,
) -> None:
    """Add the section, if there are any; `actuators` are those in the file."""
    if not extras.keyframes:
        return
    section = root.add("keyframe")
    mocap = sum(settings.mocap for settings in extras.bodies)
    for one in extras.keyframes:
        what = f"keyframe {one.name!r}" if one.name else "a keyframe without a name"
        state = coordinates_of(one.joints, extras.reference_configuration, specs, what, losses)
        q = [x for joint in joints for x in joint.q_of(state[joint.whole][0])]
        v = [x for joint in joints for x in joint.v_of(*state[joint.whole])]
        element = section.add("key", name=one.name or None, time=shown_number(one.time) if one.time else None)
        for attribute, numbers in (
            ("qpos", q),
            ("qvel", v if any(v) else []),
            ("act", _of_actuators(one.activations, [a.activation_size for a in extras.actuators], extras, actuators)),
            ("ctrl", _of_actuators(one.controls, [control_count(a) for a in extras.actuators], extras, actuators)),
        ):
            if numbers is None:
                losses.lost.append(f"{what}: its {attribute} has another count of numbers than the actuators, and none")
            elif text := raw_numbers(numbers):
                element.attributes[attribute] = text
        positions, turns = one.mocap_positions, one.mocap_rotations
        if len(positions) != mocap or len(turns) != mocap:
            losses.lost.append(f"{what}: it places {len(positions)} bodies that are moved from outside, of {mocap}")
        elif mocap:
            element.attributes["mpos"] = shown_numbers([x for p in positions for x in p])
            element.attributes["mquat"] = shown_numbers([c for x, y, z, w in turns for c in (w, x, y, z)])
        if text := raw_numbers(one.plastic):
            element.attributes["plastic"] = text


def coordinates_of(
    states: Sequence[JointState], reference: Keyframe | None, specs: Sequence[JointSpec], what: str, losses: Losses
) -> dict[str, tuple[tuple[float, ...], tuple[float, ...]]]:
    """Coordinates and velocities of all joints; those without a state are as in the reference configuration."""
    kinds = {joint.name: joint.kind for joint in specs if not isinstance(joint.kind, Fixed)}
    coordinates = {name: (tuple(kind.neutral()), (0.0,) * kind.nv) for name, kind in kinds.items()}
    for state in (*(reference.joints if reference is not None else ()), *states):
        kind = kinds.get(state.joint)
        if kind is None or (len(state.q), len(state.v)) != (kind.nq, kind.nv):
            losses.lost.append(f"{what}: its state of joint {state.joint!r} fits none of the file")
        else:
            coordinates[state.joint] = (state.q, state.v if state in states else (0.0,) * kind.nv)
    for joint in specs:
        if joint.mimic is not None and joint.mimic.joint in coordinates and joint.kind.nq == 1:
            (q,), (v,) = coordinates[joint.mimic.joint]
            coordinates[joint.name] = (joint.mimic.multiplier * q + joint.mimic.offset,), (joint.mimic.multiplier * v,)
    return coordinates


def _of_actuators(
    numbers: Sequence[float], counts: Sequence[int], extras: Extras, written: Sequence[Actuator]
) -> list[float] | None:
    """The numbers of the actuators in the file, none if all are zero; None if there are more or fewer."""
    if any(actuator.plugin is not None for actuator in extras.actuators) and len(written) == len(extras.actuators):
        return list(numbers) if any(numbers) else []
    if numbers and len(numbers) != sum(counts):
        return None
    values: list[float] = []
    start = 0
    for one, count in zip(extras.actuators, counts, strict=True):
        values += numbers[start : start + count] if any(one is other for other in written) else ()
        start += count
    return values if any(values) else []

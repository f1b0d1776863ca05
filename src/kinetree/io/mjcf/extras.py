"""Everything of a file that bodies, joints and shapes do not hold, as typed records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kinetree.io.document import Element
from kinetree.io.mjcf.actuators import Origins, read_actuators
from kinetree.io.mjcf.assembly import Assembly
from kinetree.io.mjcf.attached_keyframes import attached_keyframes, layout_of
from kinetree.io.mjcf.bodies import BodyPart
from kinetree.io.mjcf.body_settings import read_body_settings, read_cameras, read_shape_settings, read_sites
from kinetree.io.mjcf.contacts import read_contacts
from kinetree.io.mjcf.equalities import read_equalities
from kinetree.io.mjcf.joint_settings import read_joint_settings
from kinetree.io.mjcf.joints import joint_type
from kinetree.io.mjcf.keyframes import Joints, read_keyframes, reference_q, reference_state
from kinetree.io.mjcf.leftovers import read_leftovers
from kinetree.io.mjcf.motors import NO_MOTORS, Motors, anatomy_of, read_motors
from kinetree.io.mjcf.names import Names
from kinetree.io.mjcf.options import read_options
from kinetree.io.mjcf.scopes import Scope
from kinetree.io.mjcf.sensors import read_sensors
from kinetree.io.mjcf.tendons import read_tendons
from kinetree.io.notes import Notes
from kinetree.model.extras import Extras
from kinetree.model.problems import Problems

__all__ = ["ExtrasReader"]


class ExtrasReader:
    """Reads tendons and actuators, which joints depend on, and then the rest."""

    def __init__(self, scope: Scope, world: BodyPart, notes: Notes, problems: Problems) -> None:
        self._scope = scope
        self._notes = notes
        self._problems = problems
        self._names = Names(world, problems)
        self._tendons = read_tendons(scope, self._names, notes, problems)
        self._origins = Origins()
        self._actuators = read_actuators(scope, self._names, self._tendons, notes, problems, self._origins)
        self.motors: Motors = NO_MOTORS
        if self._actuators or self._tendons:
            self.motors = read_motors(self._actuators, self._tendons, anatomy_of(self._names), notes)

    def extras(self, assembly: Assembly) -> Extras:
        """All records; `assembly` knows the names of joints and frames in the robot."""
        scope, names, notes, problems = self._scope, self._names, self._notes, self._problems
        attempt = problems.attempt
        bodies, frames = assembly.bodies, assembly.frame_names
        parts = [part for body in bodies for part in body.joints]
        around = {
            assembly.joint_names[id(part)]: body
            for body in bodies
            for part in body.joints
            if id(part) in assembly.joint_names
        }
        joints = {name: (joint, assembly.placement_of(around[name])) for name, joint in assembly.joints.items()}
        elements = [element for section in scope.sections("keyframe") for element in section.children]
        if any(owner.sections("keyframe") for owner, _ in scope.instances if owner is not scope):
            elements += attempt([], self._attached_keyframes, assembly, joints)
        attempt(None, _check_scales, elements, bodies)
        pairs, exclusions = read_contacts(scope, names, notes, problems)
        options = attempt(None, read_options, scope.sections("option"))
        is_immersed = options is not None and (options.density or options.viscosity)
        sensors = tuple(read_sensors(scope, names, notes, problems))
        axes = assembly.inertia_axes if is_immersed else {}
        measures_bodies = any("body" in (one.object_type, one.reference_type) for one in sensors)
        centers = assembly.massless_centers if measures_bodies else {}
        extras = Extras(
            options=options,
            actuators=tuple(self._actuators),
            tendons=tuple(self._tendons),
            equalities=tuple(read_equalities(scope, names, notes, problems)),
            sensors=sensors,
            contact_pairs=tuple(pairs),
            contact_exclusions=tuple(exclusions),
            keyframes=tuple(read_keyframes(elements, joints, bodies, self._actuators, problems)),
            reference_configuration=reference_state(joints),
            joints=tuple(attempt([], read_joint_settings, parts, assembly.joint_names, assembly.joints, notes)),
            bodies=tuple(attempt([], read_body_settings, bodies, axes, centers, notes)),
            shapes=tuple(attempt([], read_shape_settings, bodies)),
            sites=tuple(attempt([], read_sites, bodies, frames)),
            cameras=tuple(attempt([], read_cameras, bodies, frames, names.bodies)),
            unused=tuple(attempt([], read_leftovers, scope, bodies, frames, notes)),
        )
        self._note(extras)
        return extras

    def _attached_keyframes(self, assembly: Assembly, joints: Joints) -> list[Element]:
        references = {}
        for body in assembly.bodies:
            for part in body.joints:
                if id(part) not in assembly.joint_names:
                    return []  # there are problems with joints, which are reported
                references[id(part)] = reference_q(*joints[assembly.joint_names[id(part)]])
        whole = layout_of(assembly.bodies, self._actuators, self._origins, references)
        return list(attached_keyframes(self._scope, whole, self._notes))

    def _note(self, extras: Extras) -> None:
        """Say what is kept and not used."""
        counts = {
            "actuator": len(extras.actuators),
            "tendon": len(extras.tendons),
            "equality constraint": len(extras.equalities),
            "sensor": len(extras.sensors),
            "contact pair": len(extras.contact_pairs),
            "contact exclusion": len(extras.contact_exclusions),
            "keyframe": len(extras.keyframes),
        }
        kept = [one for part in extras.unused for one in (part.children if part.tag in _GROUPS else (part,))]
        counted = [_told(what, count) for what, count in counts.items() if count]
        counted += [
            _told(f"<{tag}>", count) for tag, count in Counter(one.tag for one in kept).items() if tag != "mesh"
        ]
        if counted:
            self._notes.add("kept as data in robot.extras", ", ".join(counted))


_GROUPS = ("asset", "body", "custom", "deformable", "extension")


def _check_scales(keyframes: Sequence[Element], bodies: Sequence[BodyPart]) -> None:
    """Refuse keyframes whose numbers would have to be scaled."""
    scaled = [part for body in bodies for part in body.joints if joint_type(part) in ("free", "slide")]
    scaled += [body.part for body in bodies if body.part.attributes.flag("mocap")]
    for part in scaled:
        if keyframes and part.scale.length != 1.0:
            keyframes[0].fail(
                f"it holds positions of {part.name or part.element!r}, which is in a frame with scale; these would be "
                "scaled as well, which is not read yet: load and save the file with MuJoCo",
                "not-allowed-here",
            )


def _told(what: str, count: int) -> str:
    return f"{count} {what}{'s' if count > 1 and not what.startswith('<') else ''}"

"""Builds a model from an MJCF file.

Everything of the file that bodies, joints and shapes do not hold becomes typed records; of <option>, the settings of
the simulation.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from kinetree.errors import OptionError
from kinetree.io.document import Element
from kinetree.io.meshes import MeshFinder
from kinetree.io.mjcf.actuators import Origins, read_actuators
from kinetree.io.mjcf.assembly import Assembly
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.bodies import BodyPart, body_tree
from kinetree.io.mjcf.body_settings import (
    read_body_settings,
    read_cameras,
    read_joint_settings,
    read_shape_settings,
    read_sites,
)
from kinetree.io.mjcf.constraints import read_contacts, read_equalities
from kinetree.io.mjcf.joints import joint_type
from kinetree.io.mjcf.keyframes import (
    Joints,
    attached_keyframes,
    layout_of,
    read_keyframes,
    reference_q,
    reference_state,
)
from kinetree.io.mjcf.leftovers import read_leftovers
from kinetree.io.mjcf.motors import NO_MOTORS, Motors, anatomy_of, read_motors
from kinetree.io.mjcf.names import Names
from kinetree.io.mjcf.scopes import Scope, read_scope
from kinetree.io.mjcf.sensors import read_sensors
from kinetree.io.mjcf.tendons import read_tendons
from kinetree.io.mjcf.values import many, same, solimp, solref
from kinetree.io.notes import Notes
from kinetree.model import Model, ModelBuilder
from kinetree.model.extras import Extras, SimulationFlags, SimulationOptions
from kinetree.model.problems import STRICT, Problems

__all__ = ["read_file"]

_MOST_GROUPS = 31
_DEFAULT = SimulationOptions()
_SWITCH = {"enable": True, "disable": False}
_GRAVITY = (0.0, 0.0, -9.81)


def _read_options(sections: Sequence[Element]) -> SimulationOptions | None:
    """The options of all sections together, the last that has an attribute deciding; None without any."""
    if not sections:
        return None
    a = Attributes(sections[-1], sections[:-1])
    own: dict[str, Any] = {
        entry.name: _value(a, entry.name, getattr(_DEFAULT, entry.name))
        for entry in fields(SimulationOptions)
        if entry.name in _PLAIN
    }
    if own["timestep"] <= 0.0:
        a.fail(f"timestep is {own['timestep']:g} s, but it must be positive", "bad-number")
    return SimulationOptions(
        **own,
        integrator=a.word("integrator", same("Euler", "RK4", "implicit", "implicitfast", "discrete"), "Euler"),
        cone=a.word("cone", same("pyramidal", "elliptic"), "pyramidal"),
        jacobian=a.word("jacobian", same("dense", "sparse", "auto"), "auto"),
        solver=a.word("solver", same("PGS", "CG", "Newton"), "Newton"),
        override_margin=a.number("o_margin"),
        override_solref=solref(a, "o_solref"),
        override_solimp=solimp(a, "o_solimp"),
        override_friction=a.numbers("o_friction", _DEFAULT.override_friction, least=1),
        disabled_actuator_groups=_groups(sections),
        flags=_flags(sections),
    )


_PLAIN = frozenset({
    "timestep", "gravity", "wind", "magnetic", "density", "viscosity", "iterations", "tolerance", "ls_iterations",
    "ls_tolerance", "noslip_iterations", "noslip_tolerance", "ccd_iterations", "ccd_tolerance", "sdf_iterations",
    "sdf_initpoints", "sleep_tolerance", "impratio",
})  # fmt: skip
"""Options that are numbers under MuJoCo's names."""


def _value(a: Attributes, name: str, default: Any) -> Any:
    if isinstance(default, tuple):
        return a.numbers(name, default)
    return a.whole(name, default) if isinstance(default, int) else a.number(name, default)


def _groups(sections: Sequence[Element]) -> tuple[int, ...]:
    groups: set[int] = set()
    for section in sections:
        for group in many(section, "actuatorgroupdisable"):
            if group != int(group) or not 0 <= group < _MOST_GROUPS:
                section.fail(
                    f"actuatorgroupdisable holds {group:g}, but groups are whole numbers from 0 to 30", "bad-number"
                )
            groups.add(int(group))
    return tuple(sorted(groups))


def _flags(sections: Sequence[Element]) -> SimulationFlags:
    elements = [flag for section in sections for flag in section.all("flag")]
    a = Attributes(elements[-1], elements[:-1]) if elements else Attributes(Element("flag", {}, 0, None, ""))
    flags: dict[str, Any] = {
        entry.name: a.word(entry.name, _SWITCH, entry.default) for entry in fields(SimulationFlags)
    }
    return SimulationFlags(**flags)


class _ExtrasReader:
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
        options = attempt(None, _read_options, scope.sections("option"))
        is_immersed = options is not None and (options.density or options.viscosity)
        sensors = tuple(read_sensors(scope, names, notes, problems))
        axes = assembly.inertia_axes if is_immersed else {}
        measures_bodies = any("body" in (sensor.object_type, sensor.reference_type) for sensor in sensors)
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
        layout = layout_of(assembly.bodies, self._actuators, self._origins, references)
        return list(attached_keyframes(self._scope, layout, self._notes))

    def _note(self, extras: Extras) -> None:
        """Note the elements that are kept and not used."""
        counts = {
            "actuator": len(extras.actuators),
            "tendon": len(extras.tendons),
            "equality constraint": len(extras.equalities),
            "sensor": len(extras.sensors),
            "contact pair": len(extras.contact_pairs),
            "contact exclusion": len(extras.contact_exclusions),
            "keyframe": len(extras.keyframes),
        }
        unused = [one for part in extras.unused for one in (part.children if part.tag in _GROUPS else (part,))]
        counted = [_counted(what, count) for what, count in counts.items() if count]
        counted += [
            _counted(f"<{tag}>", count) for tag, count in Counter(one.tag for one in unused).items() if tag != "mesh"
        ]
        if counted:
            self._notes.add("kept as data in robot.extras", ", ".join(counted))


_GROUPS = ("asset", "body", "custom", "deformable", "extension")


def _check_scales(keyframes: Sequence[Element], bodies: Sequence[BodyPart]) -> None:
    """Reject keyframes whose numbers would have to be scaled."""
    scaled = [part for body in bodies for part in body.joints if joint_type(part) in ("free", "slide")]
    scaled += [body.part for body in bodies if body.part.attributes.flag("mocap")]
    for part in scaled:
        if keyframes and part.scale.length != 1.0:
            keyframes[0].fail(
                f"it holds positions of {part.name or part.element!r}, which is in a frame with scale; these would be "
                "scaled as well, which is not read yet: load and save the file with MuJoCo",
                "not-allowed-here",
            )


def _counted(what: str, count: int) -> str:
    return f"{count} {what}{'s' if count > 1 and not what.startswith('<') else ''}"


def read_file(
    data: bytes,
    path: Path,
    *,
    floating_base: bool | None = None,
    mimic: bool = True,
    package_roots: Sequence[str | os.PathLike[str]] = (),
    ros_packages: bool = False,
    problems: Problems = STRICT,
) -> Model:
    """The model of a file's contents, with the meaning that MuJoCo's compiler gives them.

    The root is the world, a body called "world". Joints have MuJoCo's coordinates. `mimic` has no meaning for MJCF,
    whose equality constraints leave every joint its coordinate.
    """
    del mimic
    if floating_base is not None:
        raise OptionError(
            f"{path}: an MJCF file says by its joints which bodies float, so leave floating_base out; robot.rerooted "
            "and kt.ModelBuilder change a robot that was loaded"
        )
    finder = MeshFinder(path, package_roots, ros_packages=ros_packages)
    scope = read_scope(path, data, finder, problems)
    world = body_tree(scope, problems)
    notes = Notes()
    name = scope.tree.root.attributes.get("model", "").strip() or path.stem
    builder = ModelBuilder(name, gravity=_gravity(scope.sections("option"), notes), source=str(path), problems=problems)
    reader = _ExtrasReader(scope, world, notes, problems)
    assembly = Assembly(builder, world, notes, scale_to=scope.settings.total_mass, motors=reader.motors)
    builder.extras = reader.extras(assembly)
    for where, sentence, code in notes.suspicions:
        builder.suspect(where, sentence, code)
    for sentence in (*notes.sentences(), *filter(None, [finder.note()])):
        builder.note(sentence)
    return builder.build(floating_base=False)


def _gravity(options: Sequence[Element], notes: Notes) -> tuple[float, ...]:
    """The acceleration of free fall; zero if a flag disables it."""
    if not options:
        return _GRAVITY
    flags = [flag for option in options for flag in option.all("flag")]
    is_on = True
    if flags:
        is_on = Attributes(flags[-1], flags[:-1]).word("gravity", {"enable": True, "disable": False}, True)
    if not is_on:
        notes.add("gravity is zero", '<flag gravity="disable">')
        return (0.0, 0.0, 0.0)
    return Attributes(options[-1], options[:-1]).numbers("gravity", _GRAVITY)

"""Collecting the parts of a robot, in any order; each is checked by itself as it comes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from kinetree.errors import ModelError, ModelWarning
from kinetree.joints import JointKind
from kinetree.model.checks.kinds import check_counts
from kinetree.model.checks.masses import check_inertias
from kinetree.model.elements import Geometry, Mimic, Rotor
from kinetree.model.extras import NO_EXTRAS, Extras
from kinetree.model.given import (
    body_name,
    flags,
    floats,
    gravity_of,
    name_of,
    names,
    plain_limits,
    plain_mimic,
    plain_rotor,
    sentence_of,
    shapes,
)
from kinetree.model.problems import STRICT, Problems
from kinetree.model.specs import (
    CouplingSpec,
    FrameSpec,
    JointSpec,
    LinkSpec,
    Parts,
    at,
    fault,
    suspicion,
    usual_motors,
)
from kinetree.spatial import Inertia, Sym3, Transform, Vec3
from kinetree.spatial.plain import plain_inertia, plain_transform
from kinetree.spatial.poses import Pose, pose
from kinetree.tree.drive import Drive, Limits

__all__ = ["Collector"]

Spec = TypeVar("Spec", LinkSpec, JointSpec, FrameSpec, CouplingSpec)

_MASSLESS = Inertia.zero()
_IDENTITY = Transform.identity()


class Collector:
    """The parts of a robot so far; see `ModelBuilder`, which is one."""

    def __init__(
        self,
        name: str,
        *,
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        source: str = "",
        problems: Problems = STRICT,
    ) -> None:
        self.name: str = name_of("robot", name, "")
        self.gravity: tuple[float, float, float] = gravity_of(gravity)
        if not isinstance(source, str):
            raise ModelError(f"source must be a string, where the robot comes from, not {source!r:.60}")
        self.source: str = str.__str__(source)
        self._links: dict[str, LinkSpec] = {}
        self._joints: dict[str, JointSpec] = {}
        self._frames: dict[str, FrameSpec] = {}
        self._couplings: dict[str, CouplingSpec] = {}
        self.extras: Extras = NO_EXTRAS
        self.notes: list[str] = []
        self.suspicions: list[ModelWarning] = []
        self.problems = problems
        """Where problems go; see `kinetree.model.problems`."""
        self.known: list[Parts] = []

    def __repr__(self) -> str:
        counts = [
            f"{len(held)} {one if len(held) == 1 else many}"
            for held, one, many in (
                (self._links, "body", "bodies"),
                (self._joints, "joint", "joints"),
                (self._frames, "frame", "frames"),
                (self._couplings, "coupling", "couplings"),
            )
            if held
        ]
        return f"<{type(self).__name__} {self.name!r}: {', '.join(counts) or 'empty'}>"

    def add_parts(self, parts: Parts) -> None:
        """Add all bodies, joints, frames, couplings and notes of a robot (`Model.parts`), in their order.

        Its root is a body like the others and needs a joint above it, unless it becomes the root here as well. Anything
        suspicious about these parts stays in the notes, but is not warned about again.
        """
        if not isinstance(parts, Parts):
            raise ModelError(f"add_parts takes the parts of a robot, Model.parts, not {parts!r:.60}")
        _hold("bodies", self._links, parts.links)
        _hold("joints", self._joints, parts.joints)
        _hold("frames", self._frames, parts.frames)
        _hold("couplings", self._couplings, parts.couplings)
        for name in self.extras.single_in_both(parts.extras):
            self.note(f"extras of {parts.name!r}: its {name.replace('_', ' ')} gave way to that of {self.name!r}")
        self.extras = self.extras.with_those_of(parts.extras)
        self.notes += parts.notes
        self.known.append(parts)

    def add_body(
        self,
        name: str,
        inertia: Inertia | None = None,
        *,
        geometry: Sequence[Geometry] = (),
        where: object = "",
    ) -> None:
        """Add a body with its inertia in its own frame (massless by default)."""
        name = name_of("body", name, where)
        if inertia is not None and not isinstance(inertia, Inertia):
            raise fault(where, f"body {name!r}: its inertia must be an Inertia, not {inertia!r:.60}")
        if inertia is None:
            inertia = _MASSLESS
        elif not (isinstance(inertia.h, Vec3) and isinstance(inertia.I, Sym3)):
            raise fault(
                where,
                f"body {name!r}: its inertia must hold a Vec3 as h and a Sym3 as I, not {inertia!r:.60}; "
                "kinetree.solids.inertia makes one from numbers",
            )
        if name in self._links:
            raise fault(where, f"there are two bodies named {name!r}; rename one of them", "duplicate-name")
        held = shapes(geometry, name, where)
        for shape in held:
            if shape.contact is not None and min(shape.contact.friction) < 0.0:
                sentence = f"a shape has negative friction, {shape.contact.friction}; it counts as almost none"
                self.suspect(where, f"body {name!r}: {sentence}", "bad-value")
        self._links[name] = LinkSpec(name, plain_inertia(inertia), held, where)

    def add_alternatives(self, body: str, objects: Sequence[LinkSpec], present: float, *, where: object = "") -> None:
        """Add the objects that a body of this collector may be, and the number of the one that it is."""
        body = name_of("body", body, where)
        names = [name_of("alternative", one.name, where) for one in objects]
        if len({*names}) < len(names):
            raise fault(where, f"body {body!r}: two of its alternatives have one name", "duplicate-name")
        if present not in range(len(names)):
            raise fault(where, f"body {body!r}: present is {present:g}, but it has {len(names)} alternatives")
        held = tuple(
            LinkSpec(name, plain_inertia(one.inertia), shapes(one.geometry, body, where), where)
            for name, one in zip(names, objects, strict=True)
        )
        _, indefinite = check_inertias(held)
        for error in indefinite.values():
            raise error
        self._links[body] = replace(self._links[body], present=int(present), alternatives=held)

    def add_joint(
        self,
        name: str,
        kind: JointKind,
        parent: str,
        child: str,
        placement: Pose | None = None,
        *,
        limits: Limits | None = None,
        damping: Sequence[float] | None = None,
        friction: Sequence[float] | None = None,
        friction_speed: Sequence[float] | None = None,
        stiffness: Sequence[float] | None = None,
        rest: Sequence[float] | None = None,
        armature: Sequence[float] | None = None,
        rotor: Rotor | None = None,
        mimic: Mimic | None = None,
        actuated: bool | Sequence[bool] | None = None,
        where: object = "",
    ) -> None:
        """Add a joint whose fixed side is at `placement` in the parent; its moving side is the child's frame.

        The placement is a `Transform`, such as `kt.lie.placement` makes, or an array (4, 4), such as
        `kt.frame_placement` returns; by default the two frames coincide.

        damping, friction, friction_speed, stiffness and armature take one number per degree of freedom, rest one number
        per coordinate; see `Joint` for their units. By default, a spring is at rest at the joint's neutral
        configuration.

        `actuated` says whether the joint has a motor: True, False, or one of them per degree of freedom. By default
        every joint has one, except free ones (`Free`, `FloatingBase`, `FreeRPY`) and those that mimic another.
        """
        name = name_of("joint", name, where)
        if not isinstance(kind, JointKind):
            raise fault(
                where,
                f"joint {name!r}: its kind must be a joint kind such as Revolute([0, 0, 1]), not {kind!r:.60}",
            )
        if name in self._joints:
            name = self._renamed("joints", name, self._joints, where)
        parent = body_name(f"joint {name!r}: its parent", parent, where)
        child = body_name(f"joint {name!r}: its child", child, where)
        if parent == child:
            raise fault(where, f"joint {name!r} attaches body {child!r} to itself; name two bodies", "circle")
        check_counts(kind, name, where)
        kind.freeze()
        default = Drive.none(kind)

        def numbers(what: str, given: Sequence[float] | None, otherwise: tuple[float, ...]) -> tuple[float, ...]:
            return otherwise if given is None else floats(f"joint {name!r}: {what}", given, where)

        follows = None if mimic is None else plain_mimic(mimic, name, where)
        motors = None if actuated is None else flags(f"joint {name!r}: actuated", actuated, kind.nv, where)

        self._joints[name] = JointSpec(
            name,
            kind,
            parent,
            child,
            _IDENTITY if placement is None else _plain_placement("joint", name, placement, where),
            Limits.none(kind) if limits is None else plain_limits(limits, name, where),
            Drive(
                numbers("damping", damping, default.damping),
                numbers("friction", friction, default.friction),
                numbers("friction_speed", friction_speed, default.friction_speed),
                numbers("stiffness", stiffness, default.stiffness),
                numbers("rest", rest, default.rest),
            ),
            numbers("armature", armature, (0.0,) * kind.nv),
            None if rotor is None else plain_rotor(rotor),
            follows,
            None if motors is None or motors == usual_motors(kind, follows) else motors,
            where,
        )

    def add_coupling(
        self,
        name: str,
        joints: Sequence[str],
        matrix: Sequence[Sequence[float]],
        *,
        coordinates: Sequence[str],
        offset: Sequence[float] | None = None,
        actuated: bool | Sequence[bool] | None = None,
        where: object = "",
    ) -> None:
        """Add joints that share coordinates: theirs are `matrix` z + `offset`, and q contains z in their place.

        `matrix` has one row per coordinate of the joints, in the order given, and one column per entry of z, which
        `coordinates` names; their names in q are "name.coordinate". A differential of two joints:
        `add_coupling("wrist", ["left", "right"], [[1, 1], [1, -1]], coordinates=["pitch", "roll"])`.

        `actuated` says which entries of z have a motor: True (the default), False, or one of them per entry.
        """
        name = name_of("coupling", name, where)
        if name in self._couplings:
            name = self._renamed("couplings", name, self._couplings, where)
        what = f"coupling {name!r}"
        coupled = names(f"{what}: its joints", joints, where)
        named = names(f"{what}: its coordinates", coordinates, where)
        try:
            given = list(matrix)
        except TypeError:
            raise fault(where, f"{what}: its matrix must be rows of numbers, not {matrix!r:.60}") from None
        rows = tuple(floats(f"{what}: a row of its matrix", row, where) for row in given)
        shift = (0.0,) * len(rows) if offset is None else floats(f"{what}: its offset", offset, where)
        motors = None if actuated is None else flags(f"{what}: actuated", actuated, len(named), where)
        if motors is not None and all(motors):
            motors = None
        self._couplings[name] = CouplingSpec(name, coupled, rows, shift, named, motors, where)

    def add_frame(self, name: str, body: str, placement: Pose, *, where: object = "") -> None:
        """Add a named frame to a body, at a placement in it: a `Transform` or an array (4, 4)."""
        name = name_of("frame", name, where)
        body = body_name(f"frame {name!r}: its body", body, where)
        if name in self._frames:
            name = self._renamed("frames", name, self._frames, where)
        self._frames[name] = FrameSpec(name, body, _plain_placement("frame", name, placement, where), where)

    def suspect(self, where: object, sentence: str, code: str = "invalid", *, repair: str = "") -> None:
        """Record something suspicious but possible; `build` warns about it. `code` is one of `problems.CODES`."""
        sentence = sentence_of("the suspicion", sentence, where)
        self.suspicions.append(suspicion(where, sentence, code, repair=repair))

    def note(self, sentence: str) -> None:
        """Record an assumption for `Model.notes`."""
        self.notes.append(sentence_of("a note", sentence, ""))

    def _renamed(self, what: str, name: str, held: Collection[str], where: object) -> str:
        """Another name for a part whose name is taken, if that may be mended."""
        count = 2
        while (other := f"{name}__{count}") in held:
            count += 1
        self.problems.add(
            fault(
                where,
                f"there are two {what} named {name!r}; rename one of them",
                "duplicate-name",
                repair=f"it is renamed {other!r}",
            )
        )
        self.problems.renamed(name)
        return other

    def parts(self, *, floating_base: bool) -> Parts:
        """All parts, not yet checked for consistency with each other."""
        return Parts(
            self.name,
            self.gravity,
            tuple(self._links.values()),
            tuple(self._joints.values()),
            tuple(self._frames.values()),
            tuple(self._couplings.values()),
            floating_base,
            tuple(self.notes),
            self.source,
            self.extras,
        )


def _plain_placement(what: str, name: str, placement: Pose, where: object) -> Transform:
    """A plain placement; a Transform that is not one is left for the checks to reject."""
    if not isinstance(placement, Transform):
        placement = pose(at(where, f"{what} {name!r}: its placement"), placement, ModelError)
    return plain_transform(placement)


def _hold(what: str, held: dict[str, Spec], given: Sequence[Spec]) -> None:
    for spec in given:
        if spec.name in held:
            raise fault(spec.where, f"there are two {what} named {spec.name!r}; rename one of them", "duplicate-name")
        held[spec.name] = spec

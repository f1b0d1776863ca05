"""Building a robot: bodies and joints in any order, then one `build` that checks and freezes it."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from kinetree.errors import ModelError, ModelWarning, OptionError, brief
from kinetree.model.assembly import assemble_frames, assemble_joints, assemble_tree, merge_notes
from kinetree.model.checks import check_joints, check_mimics, check_names, check_placements
from kinetree.model.drive import FRICTION_SPEED
from kinetree.model.elements import Geometry, Limits, Mimic, Named, Rotor
from kinetree.model.given import (
    body_name,
    floats,
    name_of,
    names,
    plain_limits,
    plain_mimic,
    plain_rotor,
    sentence_of,
    shapes,
)
from kinetree.model.joints import Fixed, Free, JointKind
from kinetree.model.kind_checks import check_counts, check_kinds
from kinetree.model.masses import check_inertias, check_merged
from kinetree.model.model import Model
from kinetree.model.sharing import Layout, check_couplings
from kinetree.model.singularity import singular_slots
from kinetree.model.specs import CouplingSpec, FrameSpec, JointSpec, LinkSpec, Parts, at
from kinetree.model.structure import Structure
from kinetree.spatial import Inertia, Sym3, Transform, Vec3
from kinetree.spatial.plain import plain_inertia, plain_transform

__all__ = ["ModelBuilder", "built"]

Spec = TypeVar("Spec", LinkSpec, JointSpec, FrameSpec, CouplingSpec)

_MASSLESS = Inertia.zero()
_IDENTITY = Transform.identity()
_WARNED = 20
_NOTED = 1000
"""Of what is suspicious so much is warned of, and so much noted."""


class ModelBuilder:
    """Collects the parts of a robot.

    Parts may come in any order; `where` (file, line, element) begins the message if a part is refused: a string,
    or an object that prints as one.

    >>> import kinetree as kt
    >>> from kinetree.spatial import Inertia, Sym3, Transform, Vec3
    >>> builder = kt.ModelBuilder("pendulum")
    >>> builder.add_body("base")
    >>> builder.add_body("bob", Inertia.from_com(1.0, Vec3(0.0, 0.0, -1.0), Sym3.scalar(0.01)))
    >>> builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "bob", Transform.identity())
    >>> builder.build().nq
    1
    """

    def __init__(self, name: str, *, gravity: Sequence[float] = (0.0, 0.0, -9.81), source: str = "") -> None:
        self.name = name_of("robot", name, "")
        numbers = floats("gravity", gravity, "")
        if len(numbers) != 3 or not all(map(math.isfinite, numbers)):
            raise ModelError(f"gravity must be three finite numbers, not {numbers}")
        self.gravity = (numbers[0], numbers[1], numbers[2])
        if not isinstance(source, str):
            raise ModelError(f"source must be a string, where the robot comes from, not {source!r:.60}")
        self.source = str.__str__(source)
        self._links: dict[str, LinkSpec] = {}
        self._joints: dict[str, JointSpec] = {}
        self._frames: dict[str, FrameSpec] = {}
        self._couplings: dict[str, CouplingSpec] = {}
        self._notes: list[str] = []
        self._suspicions: list[tuple[object, str]] = []
        self._floating_base = False
        self._known: list[Parts] = []

    @classmethod
    def of(cls, robot: Model | Parts) -> ModelBuilder:
        """A builder that holds all parts of a robot, so that more can be added.

        `build` then gives the robot a floating base if it had one.

        >>> import kinetree as kt
        >>> builder = kt.ModelBuilder.of(kt.zoo.load("double_pendulum"))
        >>> builder.add_body("flag")
        >>> builder.add_joint("pole", kt.Fixed(), "base", "flag")
        >>> "flag" in builder.build().bodies
        True
        """
        parts = robot.parts if isinstance(robot, Model) else robot
        if not isinstance(parts, Parts):
            raise ModelError(f"a builder starts from a Model or from its parts, not from {robot!r:.60}")
        builder = cls(parts.name, gravity=parts.gravity, source=parts.source)
        builder._floating_base = parts.floating_base
        builder.add_parts(parts)
        return builder

    def add_parts(self, parts: Parts) -> None:
        """All bodies, joints, frames, couplings and notes of a robot (`Model.parts`), in their order.

        Its root is a body like the others and needs a joint above it, unless it is to be the root here as well. What
        is suspicious about these parts stays in the notes, but is not warned of again.
        """
        if not isinstance(parts, Parts):
            raise ModelError(f"add_parts takes the parts of a robot, Model.parts, not {parts!r:.60}")
        _hold("bodies", self._links, parts.links)
        _hold("joints", self._joints, parts.joints)
        _hold("frames", self._frames, parts.frames)
        _hold("couplings", self._couplings, parts.couplings)
        self._notes += parts.notes
        self._known.append(parts)

    def add_body(
        self,
        name: str,
        inertia: Inertia | None = None,
        *,
        geometry: Sequence[Geometry] = (),
        where: object = "",
    ) -> None:
        """A body with its inertia in its own frame (none: massless)."""
        name = name_of("body", name, where)
        if inertia is not None and not isinstance(inertia, Inertia):
            raise ModelError(at(where, f"body {name!r}: its inertia must be an Inertia, not {inertia!r:.60}"))
        if inertia is None:
            inertia = _MASSLESS
        elif not (isinstance(inertia.h, Vec3) and isinstance(inertia.I, Sym3)):
            raise ModelError(
                at(
                    where,
                    f"body {name!r}: its inertia must hold a Vec3 as h and a Sym3 as I, not {inertia!r:.60}; "
                    "kinetree.solids.inertia makes one from numbers",
                )
            )
        if name in self._links:
            raise ModelError(at(where, f"there are two bodies named {name!r}; rename one of them"))
        self._links[name] = LinkSpec(name, plain_inertia(inertia), shapes(geometry, name, where), where)

    def add_joint(
        self,
        name: str,
        kind: JointKind,
        parent: str,
        child: str,
        placement: Transform | None = None,
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
        where: object = "",
    ) -> None:
        """A joint whose fixed side stands at `placement` in the parent; its moving side is the child's frame.

        damping, friction, friction_speed, stiffness and armature take a number a degree of freedom, rest a number a
        coordinate; see `Joint` for their units. Without `rest` a spring is at rest where the joint is neutral.
        """
        name = name_of("joint", name, where)
        if not isinstance(kind, JointKind):
            raise ModelError(
                at(
                    where,
                    f"joint {name!r}: its kind must be a joint kind such as Revolute([0, 0, 1]), not {kind!r:.60}",
                )
            )
        if name in self._joints:
            raise ModelError(at(where, f"there are two joints named {name!r}; rename one of them"))
        parent = body_name(f"joint {name!r}: its parent", parent, where)
        child = body_name(f"joint {name!r}: its child", child, where)
        if parent == child:
            raise ModelError(at(where, f"joint {name!r} attaches body {child!r} to itself; name two bodies"))
        check_counts(kind, name, where)
        kind.freeze()
        nothing = (0.0,) * kind.nv

        def numbers(what: str, given: Sequence[float] | None, default: tuple[float, ...]) -> tuple[float, ...]:
            return default if given is None else floats(f"joint {name!r}: {what}", given, where)

        self._joints[name] = JointSpec(
            name,
            kind,
            parent,
            child,
            _IDENTITY if placement is None else _plain_placement(placement),
            Limits.none(kind) if limits is None else plain_limits(limits, name, where),
            numbers("damping", damping, nothing),
            numbers("friction", friction, nothing),
            numbers("friction_speed", friction_speed, (FRICTION_SPEED,) * kind.nv),
            numbers("stiffness", stiffness, nothing),
            numbers("rest", rest, kind.neutral()),
            numbers("armature", armature, nothing),
            None if rotor is None else plain_rotor(rotor),
            None if mimic is None else plain_mimic(mimic, name, where),
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
        where: object = "",
    ) -> None:
        """Joints that share coordinates: theirs are `matrix` z + `offset`, and z stands in q in their place.

        `matrix` has a row a coordinate of the joints, in the order given, and a column for each of z, which
        `coordinates` names; their names in q are "name.coordinate". A differential of two joints:
        `add_coupling("wrist", ["left", "right"], [[1, 1], [1, -1]], coordinates=["pitch", "roll"])`.
        """
        name = name_of("coupling", name, where)
        if name in self._couplings:
            raise ModelError(at(where, f"there are two couplings named {name!r}; rename one of them"))
        what = f"coupling {name!r}"
        coupled = names(f"{what}: its joints", joints, where)
        named = names(f"{what}: its coordinates", coordinates, where)
        try:
            given = list(matrix)
        except TypeError:
            raise ModelError(at(where, f"{what}: its matrix must be rows of numbers, not {matrix!r:.60}")) from None
        rows = tuple(floats(f"{what}: a row of its matrix", row, where) for row in given)
        shift = (0.0,) * len(rows) if offset is None else floats(f"{what}: its offset", offset, where)
        self._couplings[name] = CouplingSpec(name, coupled, rows, shift, named, where)

    def add_frame(self, name: str, body: str, placement: Transform, *, where: object = "") -> None:
        """A named frame on a body."""
        name = name_of("frame", name, where)
        body = body_name(f"frame {name!r}: its body", body, where)
        if name in self._frames:
            raise ModelError(at(where, f"there are two frames named {name!r}; rename one of them"))
        self._frames[name] = FrameSpec(name, body, _plain_placement(placement), where)

    def suspect(self, where: object, sentence: str) -> None:
        """Something that is suspicious but possible; `build` warns of it."""
        self._suspicions.append((where, sentence_of("what is suspected", sentence, where)))

    def note(self, sentence: str) -> None:
        """Something that was assumed, for `Model.notes`."""
        self._notes.append(sentence_of("a note", sentence, ""))

    def build(self, *, floating_base: bool | None = None) -> Model:
        """Check the parts and freeze them into a robot; `floating_base` puts a free joint under the root.

        Without it the base is fixed, or as it was in the robot that the builder was made `of`.
        Raises `ModelError` for what cannot be, naming the part, and `OptionError` for a `floating_base` that is neither
        True, False nor None; warns with `ModelWarning` about what is suspicious.
        """
        if floating_base is None:
            floating_base = self._floating_base
        elif not isinstance(floating_base, bool | np.bool_):
            raise OptionError(f"floating_base must be True, False or None, not {floating_base!r:.60}")
        floating_base = bool(floating_base)
        structure = Structure(self.name, self.source, self._links, self._joints)
        links, specs = list(self._links.values()), list(self._joints.values())
        frames, couplings = list(self._frames.values()), list(self._couplings.values())
        check_placements(specs, "joint")
        check_placements(frames, "frame")
        check_kinds(specs)
        check_mimics(self._joints)
        check_couplings(couplings, self._joints)
        suspicions, indefinite = check_inertias(links)
        told = [at(*suspicion) for suspicion in self._suspicions[:_NOTED]]
        suspicions += [*check_joints(specs), *told]

        joints = [spec for spec in specs if not isinstance(spec.kind, Fixed)]
        if floating_base:
            joints.insert(0, self._root_joint(structure.root))
        check_names(joints, couplings, self._joints)
        layout = Layout.of(joints, couplings)
        tree, bodies = assemble_tree(structure, links, joints, self.gravity, layout)
        suspicions += check_merged(indefinite, {body.name: body.slot for body in bodies.values()}, tree.I)
        model = Model(
            name=self.name,
            tree=tree,
            bodies=Named("body", bodies),
            joints=Named("joint", assemble_joints(joints, layout)),
            couplings=Named("coupling", layout.couplings),
            frames=Named("frame", assemble_frames(frames, bodies)),
            root=structure.root,
            floating_base=floating_base,
            notes=(*self._notes, *merge_notes(bodies, structure.root), *suspicions[:_NOTED]),
            singular_joints=tuple(joints[slot - 1].name for slot in singular_slots(tree)),
            parts=Parts(
                self.name,
                self.gravity,
                tuple(links),
                tuple(specs),
                tuple(frames),
                tuple(couplings),
                floating_base,
                (*self._notes, *told),
                self.source,
            ),
            source=self.source,
        )
        known = self._known_suspicions() if suspicions else set()
        _warn([sentence for sentence in suspicions if sentence not in known])
        return model

    def _known_suspicions(self) -> set[str]:
        """What was warned of when the robots were made whose parts these are."""
        known: set[str] = set()
        for parts in self._known:
            suspicions, indefinite = check_inertias(parts.links)
            known.update(suspicions, indefinite.values(), check_joints(parts.joints))
        return known

    def _root_joint(self, root: str) -> JointSpec:
        name = "root_joint"
        while name in self._joints or name in self._couplings:
            name += "_"
        kind, six = Free(), (0.0,) * 6
        return JointSpec(
            name, kind, "", root, Transform.identity(), Limits.none(kind),
            six, six, (FRICTION_SPEED,) * 6, six, kind.neutral(), six, where=self.source,
        )  # fmt: skip


def _plain_placement(placement: Transform) -> Transform:
    """What is no placement is for the checks to refuse."""
    return plain_transform(placement) if isinstance(placement, Transform) else placement


def _hold(what: str, held: dict[str, Spec], given: Sequence[Spec]) -> None:
    for spec in given:
        if spec.name in held:
            raise ModelError(at(spec.where, f"there are two {what} named {spec.name!r}; rename one of them"))
        held[spec.name] = spec


def built(parts: Parts) -> Model:
    """The robot of these parts."""
    return ModelBuilder.of(parts).build()


def _warn(suspicions: Sequence[str]) -> None:
    """Warn of each, at the line of the user that had the robot made."""
    depth = 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
        frame = frame.f_back
        depth += 1
    for sentence in suspicions[:_WARNED]:
        warnings.warn(f"{brief(sentence)}; it is loaded as written", ModelWarning, stacklevel=depth)
    if len(suspicions) > _WARNED:
        more = len(suspicions) - _WARNED
        warnings.warn(
            f"{more} more warnings of this kind are in the notes of the model", ModelWarning, stacklevel=depth
        )

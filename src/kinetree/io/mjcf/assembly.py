"""From the tree of bodies to the parts of a robot."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kinetree.io.mjcf.bodies import IDENTITY, BodyPart, Part
from kinetree.io.mjcf.geoms import Geom, kind_of, read_geom, shape_placement
from kinetree.io.mjcf.inertias import Mass, body_mass, is_weighed
from kinetree.io.mjcf.joints import Moved, MovingJoint, read_joint, set_springs
from kinetree.io.mjcf.mesh_assets import MeshAssets
from kinetree.io.mjcf.motors import NO_MOTORS, Motors
from kinetree.io.notes import Notes
from kinetree.joints import Fixed, FloatingBase
from kinetree.model import ModelBuilder
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3

__all__ = ["Assembly"]

_MINIMUM = 1e-15
"""MuJoCo's smallest mass, kg, and moment of inertia, kg·m², of a body that moves."""


class Assembly:
    """Adds bodies, joints and frames to a builder, and remembers under which names."""

    def __init__(
        self, builder: ModelBuilder, world: BodyPart, notes: Notes, *, scale_to: float, motors: Motors = NO_MOTORS
    ) -> None:
        self._builder = builder
        self._problems = builder.problems
        self._notes = notes
        self._motors = motors
        self._meshes = MeshAssets(notes)
        self.joints: dict[str, MovingJoint] = {}
        """All joints by name, in the order of q."""
        self.joint_names: dict[int, str] = {}
        """The names of joints by the identity of their parts, those that have none in the file as well."""
        self.frame_names: dict[int, str] = {}
        """The names of the frames of sites and cameras, by the identity of their parts."""
        self._bodies = list(_outward(world))
        self.bodies: list[BodyPart] = [body for body, _ in self._bodies]
        """All bodies, in the order of the file."""
        self._inertias: dict[int, Inertia] = {}
        self._heavy: set[int] = set()
        """Bodies with the mass and moments that MuJoCo demands; sums about an origin far away round those off."""
        self.inertia_axes: dict[str, Mat3] = {}
        """The principal axes of bodies' inertias, as rows."""
        self.massless_centers: dict[str, Vec3] = {}
        """Where the centres of mass of bodies without mass are, in the bodies' frames."""
        self._moved: dict[int, Transform] = {}
        """The placement of the file's frame of a body in the robot's, where they are not the same."""
        self._geoms: dict[int, list[Geom]] = {}
        self._taken_bodies = {body.name for body, _ in self._bodies}
        self._taken_joints = {part.name for body, _ in self._bodies for part in body.joints}
        for body, above in self._bodies:
            self._read_body(body, above)
        if scale_to > 0.0:
            self._scale(scale_to)
        self._read: dict[int, list[tuple[Part, MovingJoint | None]]] = {}
        for body, _ in self._bodies:
            with self._problems.of(body.name):
                self._read[id(body)] = [(part, self._problems.attempt(None, read_joint, part)) for part in body.joints]
        self._set_springs()
        for body, above in self._bodies:
            if not self._problems.doubts(body.name):
                self._problems.attempt(None, self._check_moves, body)
            with self._problems.of(body.name):
                self._add_body(body, above)
        self._add_frames()

    def _read_body(self, body: BodyPart, above: BodyPart | None) -> None:
        geoms = []
        for part in body.parts.get("geom", []):
            weighs = above is not None and is_weighed(body, part.attributes.whole("group"))
            geom = self._problems.attempt(None, read_geom, part, self._meshes, weighs=weighs)
            if geom is None:
                self._problems.doubt(body.name)
            else:
                geoms.append(geom)
        self._geoms[id(body)] = geoms
        if above is None:
            self._inertias[id(body)] = Inertia.zero()
            return
        mass = self._problems.attempt(None, body_mass, body, geoms)
        if mass is None:
            self._problems.doubt(body.name)
            self._inertias[id(body)] = Inertia.zero()
            return
        if _is_aligned(body):
            self._moved[id(body)] = mass.frame.inverse
            mass = Mass(mass.mass, mass.moments, IDENTITY)
            self._notes.add("frames of bodies with free joints were aligned with their inertia, as asked", body.name)
        if min(mass.mass, *mass.moments) >= _MINIMUM:
            self._heavy.add(id(body))
        self._inertias[id(body)] = mass.inertia()
        self.inertia_axes[body.name] = mass.frame.E
        if mass.mass == 0.0:
            self.massless_centers[body.name] = mass.frame.r

    def _scale(self, total: float) -> None:
        mass = sum(float(inertia.mass) for inertia in self._inertias.values())
        if mass > 0.0:
            factor = total / mass
            self._inertias = {key: _scaled(inertia, factor) for key, inertia in self._inertias.items()}
            self._notes.add(f"all masses and inertias were multiplied by {factor:.6g}", "settotalmass")

    def _set_springs(self) -> None:
        """Fill the stiffness and damping that depend on the inertia of all bodies."""
        joints = [joint for read in self._read.values() for _, joint in read if joint is not None]
        if not any(min(joint.spring_damper) > 0.0 for joint in joints):
            return
        places = {id(body): k - 1 for k, (body, _) in enumerate(self._bodies)}
        moved = [
            Moved(
                places[id(above)],
                self.placement_of(body),
                self._inertias[id(body)],
                [
                    (joint, self._motors.armature.get(part.name, 0.0))
                    for part, joint in self._read[id(body)]
                    if joint is not None
                ],
            )
            for body, above in self._bodies
            if above is not None
        ]
        with contextlib.suppress(np.linalg.LinAlgError):  # a body that moves without inertia, which is refused below
            set_springs(moved)

    def _check_moves(self, body: BodyPart) -> None:
        """A body with joints needs mass and inertia, its own or those of a body that is fixed to it."""
        if not body.joints:
            return
        pending = [body]
        while pending:
            one = pending.pop()
            if id(one) in self._heavy:
                return
            pending += [child for child in one.children if not child.joints]
        body.part.element.fail(
            f"body {body.name!r} moves but has no mass or no inertia, and nothing that is fixed to it has; give it an "
            "<inertial> or geoms with a mass",
            "massless-moving-body",
        )

    def _add_body(self, body: BodyPart, above: BodyPart | None) -> None:
        where = body.part.element
        shapes = [
            geom.geometry(self._placement(body, geom.shown), self._mesh_path(geom)) for geom in self._geoms[id(body)]
        ]
        chain = self._add_between(body)
        self._builder.add_body(body.name, self._inertias[id(body)], geometry=shapes, where=where)
        if above is None:
            return
        if not body.joints:
            name = body.name
            while name in self._taken_joints:
                name += "_"
            self._taken_joints.add(name)
            self._builder.add_joint(name, Fixed(), above.name, body.name, body.placement, where=where)
            return
        self._add_joints(body, above, chain)

    def _add_between(self, body: BodyPart) -> list[tuple[str, str]]:
        """The names of a body's joints and of the bodies they move: all but the last are massless, and added here."""
        chain = []
        for k, part in enumerate(body.joints):
            name, child = self._joint_name(part, body, k), body.name
            if k < len(body.joints) - 1:
                child = f"{body.name}:{name}"
                while child in self._taken_bodies:
                    child += "_"
                self._taken_bodies.add(child)
                self._builder.add_body(child, where=part.element)
            chain.append((name, child))
        return chain

    def _add_joints(self, body: BodyPart, above: BodyPart, chain: Sequence[tuple[str, str]]) -> None:
        """The joints in a chain, with massless bodies between them that have the body's frame."""
        read = self._read[id(body)]
        moving = [(part, self._motors.moved(part.name, joint)) for part, joint in read if joint is not None]
        if len(moving) < len(read):
            self._problems.leave_out(body.name)
            return
        self._check_combination(body, above, moving)
        parent, X = above.name, body.placement
        for (part, joint), (name, child) in zip(moving, chain, strict=True):
            self.joints[name] = joint
            self.joint_names[id(part)] = name
            if joint.type == "free":
                X = IDENTITY
                if isinstance(joint.kind, FloatingBase):
                    self._notes.add(
                        "free joints with armature or dry friction have their linear velocity in the world's axes, "
                        "along which these act",
                        name,
                    )
            self._builder.add_joint(
                name,
                joint.kind,
                parent,
                child,
                X if joint.before is IDENTITY else joint.before @ X,
                limits=joint.limits,
                damping=joint.damping,
                friction=joint.friction,
                stiffness=joint.stiffness,
                rest=joint.rest,
                armature=joint.armature,
                actuated=self._motors.actuated(part.name, joint.kind.nv),
                where=part.element,
            )
            parent, X = child, IDENTITY

    def _check_combination(self, body: BodyPart, above: BodyPart, moving: Sequence[tuple[Part, MovingJoint]]) -> None:
        types = [joint.type for _, joint in moving]
        if "free" in types:
            part = next(part for part, joint in moving if joint.type == "free")
            if len(types) > 1:
                part.element.fail(
                    f"body {body.name!r} has a free joint and others; a free joint is a body's only one", "bad-joint"
                )
            if above is not self._bodies[0][0]:
                part.element.fail(
                    f"a free joint can only be in a body of the world, and {body.name!r} is in another", "bad-joint"
                )
        if sum(joint.kind.nv for _, joint in moving) > 6:
            body.part.element.fail(
                f"body {body.name!r} has joints with more than six degrees of freedom together", "bad-joint"
            )
        if "ball" in types:
            after = types[types.index("ball") + 1 :]
            if "ball" in after or "hinge" in after:
                body.part.element.fail(
                    f"body {body.name!r} has a ball joint followed by another that turns it; remove one", "bad-joint"
                )

    def _joint_name(self, part: Part, body: BodyPart, k: int) -> str:
        name = part.name
        if not name:
            default = f"{body.name}_joint{k + 1 if k else ''}"
            name = default
            while name in self._taken_joints:
                name += "_"
            self._taken_joints.add(name)
            self._notes.add("joints without a name are called after their bodies", name)
        return name

    def _mesh_path(self, geom: Geom) -> Path | None:
        if geom.type not in ("mesh", "sdf", "hfield"):
            return None
        part, kind = geom.part, kind_of(geom.type)
        asset = part.scope.asset(kind, part.attributes.text(kind), part.element, kind)
        return self._meshes.located(part.scope, asset)

    def _add_frames(self) -> None:
        """Sites and cameras as frames."""
        for tag in ("site", "camera"):
            for body, _ in self._bodies:
                for part in body.parts.get(tag, []):
                    if not part.name:
                        continue
                    name = part.name
                    if name in self._taken_bodies:
                        name = f"{name}_{tag}"
                        self._notes.add(f"{tag}s that have the name of a body or another frame have another one", name)
                        while name in self._taken_bodies:
                            name += "_"
                    self._taken_bodies.add(name)
                    self.frame_names[id(part)] = name
                    X = self._problems.attempt(IDENTITY, shape_placement, part.attributes, part.scope.settings)
                    X = self._placement(body, part.in_body(X))
                    self._builder.add_frame(name, body.name, X, where=part.element)

    def placement_of(self, body: BodyPart) -> Transform:
        """The placement of a body of the robot in the body around it, where the file places it."""
        X = body.placement
        return self._moved[id(body)].inverse @ X if id(body) in self._moved else X

    def _placement(self, body: BodyPart, X: Transform) -> Transform:
        """A placement in the file's frame of a body as one in the robot's."""
        return X @ self._moved[id(body)] if id(body) in self._moved else X


def _outward(world: BodyPart) -> list[tuple[BodyPart, BodyPart | None]]:
    """The bodies in the order of the file, each after the one around it, with that."""
    bodies_outward: list[tuple[BodyPart, BodyPart | None]] = []
    pending: list[tuple[BodyPart, BodyPart | None]] = [(world, None)]
    while pending:
        body, above = pending.pop()
        bodies_outward.append((body, above))
        pending += [(child, body) for child in reversed(body.children)]
    return bodies_outward


def _is_aligned(body: BodyPart) -> bool:
    """Whether the frame of a body moves to its inertial frame: only if a free joint moves it alone."""
    if len(body.joints) != 1 or body.children:
        return False
    joint = body.joints[0]
    if joint.element.tag == "joint" and joint.attributes.text("type") != "free":
        return False
    choice = joint.attributes.choice("align") if joint.element.tag == "freejoint" else None
    return joint.scope.settings.align_free if choice is None else choice


def _scaled(inertia: Inertia, factor: float) -> Inertia:
    I = Sym3(*(factor * x for x in inertia.I.components()))
    return Inertia(inertia.mass * factor, inertia.h * factor, I)

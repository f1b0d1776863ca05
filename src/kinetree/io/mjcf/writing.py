"""Robots as MJCF: a tree of bodies with all their joints, and a sentence on everything that MJCF has no place for.

Inertias are written as they are, and the compiler is set to leave them so; angles are in radians. Massless bodies
between joints become several joints of one body, which is how MJCF has them. Names that MJCF has no place for, as they
have another meaning there or several shapes have them, are replaced first.
"""

from __future__ import annotations

from dataclasses import replace

from kinetree.errors import listed
from kinetree.io.chains import distinct_names, free_name
from kinetree.io.decimals import about_center_of_mass
from kinetree.io.fit_inertias import with_fit_inertias
from kinetree.io.free_on_world import with_free_joints_on_world
from kinetree.io.losses import Losses
from kinetree.io.mjcf.motors import without_actuators
from kinetree.io.mjcf.writing_bodies import LEAST, Fitness, fitness_of, write_geom, write_inertia
from kinetree.io.mjcf.writing_joints import Series, series_of, write_joints
from kinetree.io.mjcf.writing_records import Records
from kinetree.io.mjcf.writing_sections import write_options
from kinetree.io.mjcf.writing_values import pose
from kinetree.io.xml_text import Tag, shown_number
from kinetree.joints import Fixed, FloatingBase, Free
from kinetree.model.changes.extras import with_extras_of
from kinetree.model.specs import FrameSpec, JointSpec, LinkSpec, Parts, floating_joint
from kinetree.spatial import Inertia, Transform

__all__ = ["write_mjcf"]

_WORLD = "world"
_HERE = Transform.identity()
_NOTHING = Inertia.zero()
_FAR = 1e50
"""No body that has the mass MuJoCo demands, but none of its own, is that far from its frame, in m."""


def write_mjcf(parts: Parts, losses: Losses) -> str:
    """The text of an MJCF file with these parts; anything it cannot hold goes into `losses`."""
    named = without_actuators(with_free_joints_on_world(_with_fit_names(parts, losses), losses))
    fit = with_fit_inertias(named, losses, lambda inertia: fitness_of(inertia).is_refused, ", which MuJoCo refuses")
    return _Writer(fit, losses).document()


class _Writer:
    def __init__(self, parts: Parts, losses: Losses) -> None:
        self._parts = parts
        self._losses = losses
        self._links = {link.name: link for link in parts.links}
        self._below: dict[str, list[JointSpec]] = {}
        for joint in parts.joints:
            self._below.setdefault(joint.parent, []).append(joint)
        self._frames: dict[str, list[FrameSpec]] = {}
        for frame in parts.frames:
            self._frames.setdefault(frame.body, []).append(frame)
        carried = {joint.child for joint in parts.joints}
        self._root = next(link for link in parts.links if link.name not in carried)
        self._on_world = self._root.name == _WORLD and not parts.floating_base
        self._joint_names = {joint.name for joint in parts.joints}
        self._held = {_WORLD} if self._on_world else set[str]()
        """Bodies that nothing moves, and the world."""
        self._bodies: list[str] = []
        self._joints: list[str] = []
        self._records = Records(parts, losses)
        self._assets = self._records.assets()

    def document(self) -> str:
        parts, lose = self._parts, self._losses.lost.append
        root = Tag("mujoco", model=parts.name)
        compiler = root.add("compiler", angle="radian", autolimits="true", inertiafromgeom="false")
        self._records.compiler(compiler)
        write_options(root, parts)
        world = Tag("worldbody")
        if parts.name != parts.name.strip():
            lose(f"the robot's name {parts.name!r} begins or ends with blanks, which are not kept")
        self._write_tree(world)
        self._assets.write(root, self._records.raw_assets)
        root.children.append(world)
        equality = Tag("equality")
        self._equalities(equality)
        for coupling in parts.couplings:
            joints = ", ".join(map(repr, coupling.joints))
            lose(f"coupling {coupling.name!r} has no place in MJCF: its joints ({joints}) would move independently")
        self._records.sections(root, equality)
        self._report_order()
        return root.document()

    def _write_tree(self, world: Tag) -> None:
        """Bodies outward from the root, not by recursion: a tree may be thousands of bodies deep."""
        pending: list[tuple[Tag, LinkSpec, list[JointSpec]]] = []
        if self._on_world:
            if self._root.inertia != _NOTHING:
                self._losses.lost.append("body 'world' has a mass, for which MJCF's world has no place")
            self._fill(world, self._root)
            pending += self._children(world, self._root.name)
        else:
            joints = [floating_joint(self._free_name(), _WORLD, self._root.name)] if self._parts.floating_base else []
            how = "moved by a free joint" if joints else "fixed"
            self._losses.changed.append(
                f"the root {self._root.name!r} is {how} in MJCF's world, which is a body 'world' when the file is read"
            )
            pending.append((world, self._root, joints))
        while pending:
            around, link, joints = pending.pop()
            element = self._body(around, link, joints)
            pending += self._children(element, link.name)

    def _children(self, element: Tag, name: str) -> list[tuple[Tag, LinkSpec, list[JointSpec]]]:
        """The bodies around which an element is, the first one last, each with the joints that move it."""
        children = []
        for joint in self._below.get(name, []):
            joints = [joint]
            while self._is_between(joint):
                (joint,) = self._below[joint.child]
                joints.append(joint)
            children.append((element, self._links[joint.child], joints))
        return children[::-1]

    def _is_between(self, joint: JointSpec) -> bool:
        """Whether a joint moves a body without mass, shapes and frames that only carries another joint."""
        link, below = self._links[joint.child], self._below.get(joint.child, [])
        if link.inertia != _NOTHING or link.geometry or link.name in self._frames or len(below) != 1:
            return False
        kinds = joint.kind, below[0].kind
        return not any(isinstance(kind, Fixed | Free | FloatingBase) for kind in kinds)

    def _body(self, around: Tag, link: LinkSpec, joints: list[JointSpec]) -> Tag:
        series = series_of(
            joints,
            self._joint_names,
            self._losses,
            on_world=around.tag == "worldbody",
            reference=self._records.reference,
        )
        self._report_names(link, joints)
        self._bodies += [joint.child for joint in joints] or [link.name]
        self._joints += [joint.name for joint in joints]
        element = around.add("body", name=link.name, **pose(series.placement))
        if not series.moves and (around.tag == "worldbody" or joints[0].parent in self._held):
            self._held.add(link.name)
        self._inertial(element, link, series)
        write_joints(element, series, self._losses)
        self._records.joints(element, series)
        self._fill(element, link)
        return element

    def _report_names(self, link: LinkSpec, joints: list[JointSpec]) -> None:
        changed = self._losses.changed.append
        if len(joints) == 1 and isinstance(joints[0].kind, Fixed) and joints[0].name != link.name:
            changed(f"fixed joint {joints[0].name!r} has no name in MJCF, and gets that of its body, {link.name!r}")
        for joint in joints[:-1]:
            if joint.child != f"{link.name}:{joint.name}":
                changed(
                    f"body {joint.child!r}, without mass, has no place of its own in MJCF: its joint {joint.name!r} "
                    f"becomes one of {link.name!r}"
                )

    def _inertial(self, element: Tag, link: LinkSpec, series: Series) -> None:
        if fitness_of(link.inertia) is Fitness.INDEFINITE:
            self._losses.impossible.append(
                f"body {link.name!r} has an inertia with a negative principal moment, which MuJoCo refuses"
            )
        lacks = series.moves and not self._has_mass(link)
        if lacks:
            self._losses.lost.append(
                f"body {link.name!r} moves, but neither it nor a part fixed to it has a mass and an inertia, which "
                f"MuJoCo demands: it would have at least {LEAST:g} kg and {LEAST:g} kg·m²"
            )
        if lacks or link.inertia != _NOTHING:
            com, I = about_center_of_mass(link.inertia)
            if lacks and max(abs(float(x)) for x in com.components()) >= _FAR:
                self._losses.impossible.append(
                    f"body {link.name!r} would have the mass that MuJoCo demands {_FAR:g} m or more away from its frame"
                )
            write_inertia(element, link.inertia, com, I, least=LEAST if lacks else 0.0)

    def _has_mass(self, link: LinkSpec) -> bool:
        pending = [link]
        while pending:
            one = pending.pop()
            if fitness_of(one.inertia) is not Fitness.NOTHING:
                return True
            below = self._below.get(one.name, [])
            pending += [self._links[joint.child] for joint in below if isinstance(joint.kind, Fixed)]
        return False

    def _fill(self, element: Tag, link: LinkSpec) -> None:
        """Shapes and frames."""
        shapes = [
            None
            if shape.shape == "plane" and self._lose_plane(link)
            else write_geom(element, shape, link.name, self._assets, self._losses, self._records.asset_of(link.name, k))
            for k, shape in enumerate(link.geometry)
        ]
        if any(shape.contact is None or shape.color is None for shape in link.geometry):
            self._losses.changed.append(
                f"body {link.name!r}: shapes without contact parameters or colours have MuJoCo's when the file is read"
            )
        self._records.body(element, link, shapes, self._frames.get(link.name, []))

    def _lose_plane(self, link: LinkSpec) -> bool:
        """Whether a plane of a body is lost, because MuJoCo has planes only on bodies that nothing moves."""
        if link.name in self._held:
            return False
        self._losses.lost.append(
            f"body {link.name!r} moves and has a plane, and MuJoCo has planes only on fixed bodies"
        )
        return True

    def _equalities(self, section: Tag) -> None:
        """Followers as soft constraints."""
        for joint in self._parts.joints:
            mimic = joint.mimic
            if mimic is None:
                continue
            self._losses.lost.append(
                f"joint {joint.name!r} follows {mimic.joint!r} exactly, but MuJoCo holds it there by a soft "
                "constraint, and it has a coordinate of its own"
            )
            section.add(
                "joint",
                joint1=joint.name,
                joint2=mimic.joint,
                polycoef=f"{shown_number(mimic.offset)} {shown_number(mimic.multiplier)} 0 0 0",
            )

    def _report_order(self) -> None:
        joints = [joint.name for joint in self._parts.joints]
        if self._joints != joints and set(self._joints) >= set(joints):
            self._losses.changed.append(
                "bodies and joints come in the order of the tree, each after what carries it: so do coordinates"
            )
            return
        bodies = [_WORLD, *self._bodies] if self._on_world else self._bodies
        inside = [frame.name for body in bodies for frame in self._frames.get(body, [])]
        cameras = {camera.frame for camera in self._parts.extras.cameras}
        frames = sorted(inside, key=cameras.__contains__)  # sites come first
        if bodies != [link.name for link in self._parts.links] or frames != [
            frame.name for frame in self._parts.frames
        ]:
            self._losses.changed.append("bodies and frames come in the order of the tree")

    def _free_name(self) -> str:
        name = "root_joint"
        while name in self._joint_names or name in {coupling.name for coupling in self._parts.couplings}:
            name += "_"
        return name


def _with_fit_names(parts: Parts, losses: Losses) -> Parts:
    """The parts without a body "world" that is not MuJoCo's world, and with shapes whose names differ."""
    return _with_distinct_shapes(_with_fit_bodies(parts, losses), losses)


def _with_distinct_shapes(parts: Parts, losses: Losses) -> Parts:
    """The parts, in which no two shapes have one name. Records that refer to it mean the first of them."""
    named = [shape.name for link in parts.links for shape in link.geometry if shape.name]
    distinct = distinct_names(named)
    if distinct == named:
        return parts
    new = [f"{old!r} becomes {name!r}" for old, name in zip(named, distinct, strict=True) if old != name]
    losses.changed.append(f"the names of all shapes differ in MJCF: {listed(new)}")
    names = iter(distinct)
    links = [
        replace(link, geometry=tuple(replace(x, name=next(names)) if x.name else x for x in link.geometry))
        for link in parts.links
    ]
    return replace(parts, links=tuple(links))


def _with_fit_bodies(parts: Parts, losses: Losses) -> Parts:
    """The parts without a body "world" that is not MuJoCo's world: one that moves, or that something carries."""
    carried = {joint.child for joint in parts.joints}
    names = {link.name for link in parts.links}
    if _WORLD not in names or not (parts.floating_base or _WORLD in carried):
        return parts
    name = free_name(f"{_WORLD}_2", names | {frame.name for frame in parts.frames})
    losses.lost.append(f"the name of body {_WORLD!r} has another meaning in MJCF: it would be {name!r}")

    def to(old: str) -> str:
        return name if old == _WORLD else old

    new = replace(
        parts,
        links=tuple(replace(link, name=to(link.name)) for link in parts.links),
        joints=tuple(replace(joint, parent=to(joint.parent), child=to(joint.child)) for joint in parts.joints),
        frames=tuple(replace(frame, body=to(frame.body)) for frame in parts.frames),
    )
    return with_extras_of(parts, new, base=(), rename=to)

"""Builds a model from an SDF file."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kinetree.errors import nearest_names
from kinetree.io.document import Document, Element, shown
from kinetree.io.notes import Notes
from kinetree.io.sdf.files import Files
from kinetree.io.sdf.gearboxes import Edge, read_gearbox
from kinetree.io.sdf.geometry import read_geometry
from kinetree.io.sdf.inertia import read_inertia
from kinetree.io.sdf.joints import ends, joint_type, read_joint
from kinetree.io.sdf.scopes import Node, between, body_of, resolve
from kinetree.io.sdf.scoping import Scoping
from kinetree.io.sdf.shapes import LISTED, SHAPES
from kinetree.io.sdf.values import child, flag, numbers
from kinetree.io.urdf.raw import as_written
from kinetree.joints import Fixed, Free
from kinetree.model import Model, ModelBuilder
from kinetree.model.building import NOTED
from kinetree.model.extras import Extras, Unused
from kinetree.model.problems import STRICT, Problems, coded
from kinetree.problems import place_of

__all__ = ["read_file"]

_GRAVITY = (0.0, 0.0, -9.8)
"""The default acceleration of free fall in a world, m/s²."""


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
    """The model of a file's contents; see `kinetree docs sdf`."""
    files = Files(path, data, package_roots, ros_packages=ros_packages, problems=problems)
    notes = Notes()
    scoping = Scoping(files, path, notes)
    resolve(scoping.nodes)
    builder = ModelBuilder(scoping.top.text("name").strip(), source=str(path), problems=problems)
    if scoping.world is not None:
        builder.gravity = _gravity(scoping.world, scoping.scope.version, builder)
    edges, gearboxes = _edges(scoping, notes, problems, mimic=mimic)
    above: dict[Node, Edge] = {}
    for edge in edges:
        above.setdefault(edge.child, edge)
    base = Base(scoping, edges, above, floating_base)
    base.add_world(builder)
    standing = _standing(scoping.links, above)
    for link in scoping.links:
        with problems.of(link.full):
            _add_link(link, builder, files, notes, moves=link not in standing)
    base.add_joints(scoping, builder)
    for edge in edges:
        with problems.of(edge.joint.full):
            read_joint(edge.joint, edge.parent, edge.child, builder, notes, mimic=mimic)
    for gearbox in gearboxes:
        with problems.of(gearbox.full), coded("bad-coupling"):
            read_gearbox(gearbox, above, builder, notes)
    for frame in scoping.frames:
        with problems.of(frame.full):
            body = body_of(frame)
            builder.add_frame(frame.full, body.full, between(body, frame), where=frame.element)
    for sentence in (*notes.sentences(), *files.notes()):
        builder.note(sentence)
    keep_leftovers(files.documents.values(), builder)
    return builder.build(floating_base=not base.has_world)


def _edges(scoping: Scoping, notes: Notes, problems: Problems, *, mimic: bool) -> tuple[list[Edge], list[Node]]:
    """The joints that connect links, and the gearboxes that couple some of them."""
    edges: list[Edge] = []
    gearboxes: list[Node] = []
    for joint in scoping.joints:
        with problems.of(joint.full):
            type_ = joint_type(joint)
            assert joint.scope is not None
            if joint.scope.static:
                if type_ != "fixed":
                    notes.add("joints in static models do not move and were left out", joint.full)
            elif type_ != "gearbox":
                edges.append(Edge(joint, type_, *_ends(joint)))
            elif mimic:
                gearboxes.append(joint)
            else:
                notes.add("gearboxes were left out, as asked: their joints move on their own", joint.full)
    return edges, gearboxes


def _ends(joint: Node) -> tuple[Node, Node]:
    """The two links of a joint; the second moves."""
    parent, link = ends(joint)
    assert link.scope is not None
    if link.scope.static:
        joint.element.fail(f"its child {link.full!r} is in a static model, which nothing moves", "bad-joint")
    return parent, link


def _standing(links: Sequence[Node], above: Mapping[Node, Edge]) -> set[Node]:
    """The links that are fixed to the world, so that their inertias do not matter."""
    standing: dict[Node, bool] = {}
    for link in links:
        path: dict[Node, None] = {}
        stands = None
        while stands is None:
            edge = above.get(link)
            if link.kind == "world" or (link.scope is not None and link.scope.static):
                stands = True
            elif link in standing or link in path or edge is None or edge.type != "fixed":
                stands = standing.get(link, False)
            else:
                path[link] = None
                link = edge.parent
        standing.update(dict.fromkeys((*path, link), stands))
    return {link for link, stands in standing.items() if stands}


def _add_link(link: Node, builder: ModelBuilder, files: Files, notes: Notes, *, moves: bool) -> None:
    """Add a link to the builder."""
    element = link.element
    if moves:
        for tag, default, meaning in (
            ("gravity", True, "gravity acts on every body in kinetree"),
            ("kinematic", False, "forces move every body in kinetree"),
        ):
            if flag(element, tag, default=default) != default:
                word = "false" if default else "true"
                builder.suspect(
                    child(element, tag), f"link {link.full!r} has <{tag}>{word}</{tag}>, but {meaning}", "kept-as-data"
                )
    _refuse_twins(element)
    problems = builder.problems
    described = [part for part in element.children if part.tag in ("visual", "collision")]
    shapes = [problems.attempt(None, read_geometry, part, link, files, notes) for part in described]
    inertial = child(element, "inertial")
    before = problems.fatal
    inertia = problems.attempt(None, read_inertia, link, builder, files, notes, moves=moves)
    if problems.fatal > before:
        problems.doubt(link.full)
    builder.add_body(
        link.full,
        inertia,
        geometry=[shape for shape in shapes if shape is not None],
        where=element if inertial is None else inertial,
    )


def _refuse_twins(link: Element) -> None:
    """Reject shapes of one link that have the same name."""
    for tag in ("visual", "collision"):
        firsts: dict[str, Element] = {}
        for part in link.all(tag):
            name = part.text("name").strip()
            if name in firsts:
                part.fail(
                    f"the link has another <{tag}> of this name (line {firsts[name].line}); rename one of them",
                    "repeated-shape-name",
                )
            firsts[name] = part


def _gravity(world: Element, version: int, builder: ModelBuilder) -> tuple[float, float, float]:
    """The acceleration of free fall in a world; before SDF 1.6 it was in <physics>."""
    element = child(world, "gravity")
    if element is None and version < 6:
        for physics in world.all("physics"):
            element = element or child(physics, "gravity")
    if element is None:
        builder.note("the world has no <gravity>; it is (0, 0, -9.8), SDF's default")
        return _GRAVITY
    x, y, z = numbers(element, 3)
    return x, y, z


WORLD = "world"


class Base:
    """The links that no joint carries, and their treatment.

    A robot that is one tree and floats has its first link as root, under kinetree's own floating base. In all other
    cases the root is a body "world", on which the links stand that are fixed to it, and from which free joints lead to
    those that float.
    """

    def __init__(
        self, scoping: Scoping, edges: Sequence[Edge], above: Mapping[Node, Edge], floating: bool | None
    ) -> None:
        free = [link for link in scoping.links if link not in above]
        self.static: list[Node] = [link for link in free if link.scope is not None and link.scope.static]
        self.floating: list[Node] = [link for link in free if link.scope is not None and not link.scope.static]
        on_world = next((edge for edge in edges if edge.parent.kind == "world"), None)
        if floating and (on_world or self.static or not self.floating):
            what = on_world.joint if on_world else (self.static or scoping.links or [scoping.root])[0]
            why = (
                f"the joint {shown(what.full)!r} attaches its child to the world"
                if on_world
                else f"the link {shown(what.full)!r} is in a static model"
            )
            what.element.fail(
                f"{why}, so the robot has no floating base; load it without floating_base=True", "bad-joint"
            )
        self.fixed: bool = floating is False
        frames = any(body_of(frame).kind == "world" for frame in scoping.frames)
        self.has_world: bool = bool(
            scoping.world is not None or on_world or self.static or frames or len(self.floating) != 1 or self.fixed
        )

    def add_world(self, builder: ModelBuilder) -> None:
        """Add the body "world", if there is one."""
        if self.has_world:
            builder.add_body(WORLD)

    def add_joints(self, scoping: Scoping, builder: ModelBuilder) -> None:
        """Add the joints between the world and the links that no joint of the file carries."""
        if not self.has_world:
            self._note_poses(builder)
            return
        names = {joint.full for joint in scoping.joints}
        fixed = {*self.static, *(self.floating if self.fixed else ())}
        for link in scoping.links:
            if link not in fixed and link not in self.floating:
                continue
            name = f"{link.full}_joint"
            while name in names:
                name += "_"
            names.add(name)
            if link in fixed:
                builder.add_joint(name, Fixed(), WORLD, link.full, link.in_world(), where=link.element)
            else:
                builder.add_joint(name, Free(), WORLD, link.full, where=link.element)
                self._note_pose(link, builder, name)

    def _note_poses(self, builder: ModelBuilder) -> None:
        for link in self.floating:
            self._note_pose(link, builder, "root_joint")

    def _note_pose(self, link: Node, builder: ModelBuilder, joint: str) -> None:
        X = link.in_world()
        numbers = [*X.r.components(), *map(float, X.quaternion)]
        if numbers != [0.0] * 6 + [1.0]:
            shown_ = ", ".join(f"{x + 0.0:.9g}" for x in numbers)
            builder.note(f"the file places {link.full} at the coordinates ({shown_}) of {joint}, in q")


_LOOKS = frozenset({"material", "light", "actor", "gui", "scene", "audio", "road", "meta", "cast_shadows"})
"""Elements that only concern how things look or sound, which are not kept."""
_USED = frozenset({"drake:rotor_inertia", "drake:gear_ratio"})
_ACTS = re.compile("drake:.*(joint|mimic|constraint|bushing|spring|deformable)")
"""Drake's own elements that act on the motion there."""
_MOST_LISTED = 12
_MOST_KINDS = 1000


def keep_leftovers(documents: Iterable[Document], builder: ModelBuilder) -> None:
    """Keep and list everything in the files that was not used; warn of names that SDF does not have."""
    counts: Counter[str] = Counter()
    kept = [_leftover(document.root, counts, builder) for document in documents]
    if counts:
        counted = ", ".join(f"{what} ({count})" for what, count in counts.most_common(_MOST_LISTED))
        more = f" and {len(counts) - _MOST_LISTED} kinds more" if len(counts) > _MOST_LISTED else ""
        builder.note(f"elements without effect on the motion were not used; see extras.unused: {counted}{more}")
    unused = tuple(part for part in kept if part is not None)
    if unused:
        builder.extras = builder.extras.with_those_of(Extras(unused=unused))


def _leftover(element: Element, counts: Counter[str], builder: ModelBuilder) -> Unused | None:
    """The unused rest of an element; None if nothing remains. Elements nest at most 100 deep."""
    shape = SHAPES[element.tag]
    listed = LISTED.get(element.tag, frozenset())
    remaining: list[Unused] = []
    if not element.attributes.keys() <= shape.attributes:
        _count_attributes(element, shape.attributes, counts, builder)
    for part in element.children:
        if part.tag in shape.children:
            left = _leftover(part, counts, builder)
            if left is not None:
                remaining.append(left)
            continue
        if part.tag in _USED:
            continue
        if part.tag not in listed and ":" not in part.tag and len(builder.suspicions) < NOTED:
            builder.suspect(
                part,
                f"SDF has no element <{shown(part.tag)}> in <{element.tag}>, so it is not used: "
                f"{nearest_names(shown(part.tag), sorted({*shape.children, *listed}))}",
                "unknown-element",
            )
        if _ACTS.fullmatch(part.tag):
            builder.suspect(
                part, f"<{shown(part.tag)}> acts on the motion in Drake, but has no effect in kinetree", "kept-as-data"
            )
        _count(counts, f"{element.tag}/{shown(part.tag)}")
        if part.tag not in _LOOKS and element.tag != "material":
            remaining.append(as_written(part))
    if not remaining:
        return None
    named = tuple((key, value) for key, value in element.attributes.items() if key == "name")
    return Unused(element.tag, named, tuple(remaining), where=place_of(element))


def _count_attributes(element: Element, names: frozenset[str], counts: Counter[str], builder: ModelBuilder) -> None:
    for name in element.attributes:
        if name in names or name == "xmlns" or name.startswith("xmlns:"):
            continue
        _count(counts, f"{element.tag} {shown(name)}")
        if ":" not in name and len(builder.suspicions) < NOTED:
            builder.suspect(
                element,
                f'SDF has no attribute "{shown(name)}" of <{element.tag}>, so it is not used: '
                f"{nearest_names(shown(name), sorted(names))}",
                "unknown-attribute",
            )


def _count(counts: Counter[str], what: str) -> None:
    """Count a name, unless the file has too many different ones."""
    counts[what if what in counts or len(counts) < _MOST_KINDS else "others"] += 1

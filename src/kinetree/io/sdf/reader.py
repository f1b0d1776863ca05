"""Builds a model from an SDF file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from kinetree.io.document import Element
from kinetree.io.notes import Notes
from kinetree.io.sdf.base import Base
from kinetree.io.sdf.files import Files
from kinetree.io.sdf.gearboxes import Edge, read_gearbox
from kinetree.io.sdf.geometry import read_geometry
from kinetree.io.sdf.inertia import read_inertia
from kinetree.io.sdf.joints import ends, joint_type, read_joint
from kinetree.io.sdf.leftovers import keep_leftovers
from kinetree.io.sdf.scopes import Node, between, body_of, resolve
from kinetree.io.sdf.scoping import Scoping
from kinetree.io.sdf.values import child, flag, numbers
from kinetree.model import Model, ModelBuilder
from kinetree.model.problems import STRICT, Problems, coded

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
    """The model of a file's contents; see docs/sdf.md."""
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

"""From the elements of SDF files to frames with names: models inside models, inclusions, and merged models."""

from __future__ import annotations

import os
from pathlib import Path

from kinetree.errors import ModelError
from kinetree.io.document import Element, shown
from kinetree.io.notes import Notes
from kinetree.io.sdf.files import Files, version_of
from kinetree.io.sdf.scopes import Node, Scope
from kinetree.io.sdf.values import child, flag, flag_of, word

__all__ = ["Scoping"]

_MAX_DEPTH = 100
_MAX_PARTS = 60_000


class Scoping:
    """All frames of a robot, in the order of the file."""

    def __init__(self, files: Files, path: Path, notes: Notes) -> None:
        self._files = files
        self._notes = notes
        self.nodes: list[Node] = []
        self.links: list[Node] = []
        self.joints: list[Node] = []
        self.frames: list[Node] = []
        root = files.first.root
        version = version_of(root)
        worlds, models = root.all("world"), root.all("model")
        if not worlds and not models:
            root.fail("has neither a <model> nor a <world>; add one", "no-bodies")
        if worlds and models:
            models[0].fail(f"is beside a <world> (line {worlds[0].line}); move it into the world", "not-allowed-here")
        if len(worlds) + len(models) > 1:
            second = (worlds or models)[1]
            second.fail(
                f"is the second <{second.tag}> of the file (the first is in line {(worlds or models)[0].line}); keep "
                + ("one" if worlds else "one, or put them in a <world>, where they are one robot together"),
                "repeated-element",
            )
        self.world: Element | None = worlds[0] if worlds else None
        self.top: Element = worlds[0] if worlds else models[0]
        self.root: Node = Node("world", "world", self.top, None, None)
        self.scope: Scope = Scope(self.root, "", version, os.path.dirname(os.path.abspath(path)), static=False)
        self.root.inner = self.scope
        if self.world is None:
            self._model(self.top, self.scope, version, self.scope.folder, prefix="", depth=0)
        else:
            self._name(self.world, self.scope)
            for part in self.world.all("population"):
                part.fail(
                    "makes copies of a model, which kinetree does not make; write the models out", "not-allowed-here"
                )
            self._inside(self.world, self.scope, 0)

    def _inside(self, element: Element, scope: Scope, depth: int) -> None:
        """Everything in a model or world."""
        for part in element.children:
            if part.tag in ("link", "joint", "frame"):
                self._part(part, scope)
            elif part.tag == "model":
                self._model(part, scope, scope.version, scope.folder, depth=depth)
            elif part.tag == "include":
                self._include(part, scope, depth)

    def _part(self, element: Element, scope: Scope) -> None:
        """A link, a joint or a <frame>."""
        node = Node(element.tag, self._name(element, scope), element, scope, child(element, "pose"))
        self._add(node, scope)
        {"link": self.links, "joint": self.joints, "frame": self.frames}[element.tag].append(node)

    def _add(self, node: Node, *scopes: Scope) -> None:
        for scope in scopes:
            scope.add(node)
        self.nodes.append(node)
        if len(self.nodes) > _MAX_PARTS:
            node.element.fail(f"there are more than {_MAX_PARTS:,} links, joints, frames and models", "too-large")

    def _model(
        self,
        element: Element,
        outer: Scope,
        version: int,
        folder: str,
        *,
        depth: int,
        include: Element | None = None,
        prefix: str | None = None,
    ) -> None:
        """A model, in a scope around it; an <include> may give it another name, pose and so on."""
        if depth > _MAX_DEPTH:
            element.fail(f"models are nested more than {_MAX_DEPTH} deep", "too-large")
        named = None if include is None else child(include, "name")
        name = self._name(element, outer) if named is None else self._allowed(named, word(named), outer)
        posed = None if include is None else child(include, "pose")
        merged = include is not None and flag_of(include, "merge")
        node = Node(
            "merged" if merged else "model",
            f"_merged__{name}__model__" if merged else name,
            element,
            outer,
            child(element, "pose") if posed is None else posed,
        )
        placing = None if include is None else child(include, "placement_frame")
        if placing is not None:
            if posed is None:
                placing.fail(
                    "has no meaning without a <pose> beside it; add the pose that this frame is to have",
                    "missing-attribute",
                )
            node.placement_frame = word(placing)
        else:
            node.placement_frame = element.attributes.get("placement_frame", "").strip()
        static = flag(element, "static")
        if include is not None and not merged:
            static = flag(include, "static", default=static)
        self._add(node, outer)
        inner = Scope(
            node,
            outer.prefix if merged else f"{outer.prefix}{name}::" if prefix is None else prefix,
            version,
            folder,
            static=outer.static or (static and not merged),
        )
        node.inner = inner
        first = len(self.nodes)
        self._inside(element, inner, depth + 1)
        if merged:
            for part in self.nodes[first:]:
                if part.scope is inner:
                    outer.add(part)
        if not inner.static and not any(part.kind in ("link", "model", "merged") for part in inner.names.values()):
            element.fail("has no links; a model needs at least one", "no-bodies")

    def _include(self, include: Element, scope: Scope, depth: int) -> None:
        root, folder = self._files.include(include, scope.folder)
        try:
            version = version_of(root)
            models = root.all("model")
            if len(models) != 1 or root.all("world"):
                if (
                    not models
                    and not root.all("world")
                    and any(part.tag in ("light", "actor") for part in root.children)
                ):
                    self._notes.add("lights and actors that were included were left out", root.file)
                    return
                root.fail("is included here and must hold one <model>; it holds " + _holds(root), "missing-element")
            if flag_of(include, "merge") and scope.frame.kind == "world":
                include.fail(
                    "merge has no meaning in a world: a model's links cannot be the world's own; remove it",
                    "not-allowed-here",
                )
            try:
                self._model(models[0], scope, version, folder, depth=depth, include=include)
            except ModelError as error:
                if include.file == root.file or f"{include.file}:{include.line}" in str(error):
                    raise
                message = f"{error} (included in {include.file}:{include.line})"
                raise ModelError(message, problems=error.problems) from None
        finally:
            self._files.close()

    def _name(self, element: Element, scope: Scope) -> str:
        return self._allowed(element, element.text("name").strip(), scope)

    def _allowed(self, element: Element, name: str, scope: Scope) -> str:
        if name == "world" and element.tag != "world":
            element.fail("the name world is that of the world in SDF; choose another", "bad-name")
        if len(name) >= 4 and name.startswith("__") and name.endswith("__"):
            element.fail(
                f"names that begin and end with __, as {shown(name)!r}, are reserved in SDF; choose another", "bad-name"
            )
        if "::" in name and scope.version >= 8:
            element.fail(
                f"{shown(name)!r} contains ::, which separates the names of models and their parts; remove it",
                "bad-name",
            )
        return name


def _holds(root: Element) -> str:
    counts = [f"{len(root.all(tag))} <{tag}>" for tag in ("model", "world") if root.all(tag)]
    return " and ".join(counts) or "none"

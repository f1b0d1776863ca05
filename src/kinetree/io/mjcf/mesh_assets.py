"""<mesh> in <asset>: read and compiled when a geom needs it, once."""

from __future__ import annotations

from pathlib import Path

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.scopes import Scope
from kinetree.io.notes import Notes
from kinetree.model.problems import coded
from kinetree.solids.meshes import (
    CompiledMesh,
    InertiaMode,
    Triangles,
    builtin_mesh,
    compile_mesh,
    inline_mesh,
    read_mesh,
)

__all__ = ["MeshAssets"]

_MODES: dict[str, InertiaMode] = {"legacy": "legacy", "exact": "exact", "convex": "convex", "shell": "shell"}


class MeshAssets:
    """The meshes of a model."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._read: dict[Path, Triangles] = {}
        self._compiled: dict[tuple[int, bool], CompiledMesh] = {}
        self._kept: list[Element] = []

    def located(self, scope: Scope, asset: Element) -> Path | None:
        """Its file, if it has one and it is inside the given folders."""
        return scope.finder.find(scope.address(asset)) if "file" in asset.attributes else None

    def compiled(self, scope: Scope, asset: Element, *, collides: bool) -> CompiledMesh:
        """The properties that geoms need."""
        key = id(asset), collides
        if key not in self._compiled:
            self._kept.append(asset)
            with coded("bad-mesh", all=False):
                self._compiled[key] = self._compile(scope, asset, collides=collides)
        return self._compiled[key]

    def _compile(self, scope: Scope, asset: Element, *, collides: bool) -> CompiledMesh:
        a = scope.attributes(asset, "mesh")
        mesh, is_shell = self._triangles(scope, asset, a)
        return compile_mesh(
            asset,
            mesh,
            inertia="shell" if is_shell else a.word("inertia", _MODES, "legacy"),
            scale=a.numbers("scale", (1.0, 1.0, 1.0)),
            refpos=a.numbers("refpos", (0.0, 0.0, 0.0)),
            refquat=a.numbers("refquat", (1.0, 0.0, 0.0, 0.0)),
            maxhullvert=a.whole("maxhullvert", -1),
            collides=collides,
        )

    def _triangles(self, scope: Scope, asset: Element, a: Attributes) -> tuple[Triangles, bool]:
        """The mesh, and whether it is a shell regardless of its settings."""
        kind = a.text("builtin", "none")
        if kind != "none":
            return builtin_mesh(asset, kind, _listed(asset, "params"))
        if "file" not in asset.attributes:
            if "vertex" not in asset.attributes:
                asset.fail('has neither a "file" nor vertices in "vertex"; add one of them', "missing-attribute")
            return inline_mesh(asset, _listed(asset, "vertex"), _listed(asset, "face")), False
        path = self.located(scope, asset)
        if path is None:
            asset.fail(
                f"the file {asset.text('file')!r}, which gives a body its inertia, "
                f"{scope.finder.why_not(scope.address(asset))}",
                "missing-mesh",
            )
        if path not in self._read:
            mesh = self._read[path] = read_mesh(path, asset.attributes.get("content_type", ""))
            if mesh.left_out:
                remark = f"{path.name} ({mesh.left_out:,})"
                self._notes.add("triangles of polygons that MuJoCo cannot cut were left out, as it does", remark)
        return self._read[path], False


def _listed(asset: Element, attribute: str) -> list[float]:
    try:
        return [float(word) for word in asset.attributes.get(attribute, "").split()]
    except ValueError:
        asset.fail(f"{attribute} must hold numbers separated by blanks", "bad-number")

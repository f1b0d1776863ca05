"""Mesh files that trimesh reads: GLB and GLTF, PLY, OFF and 3MF."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.appearance.formats.piece import Piece
from kinetree.errors import MissingPackageError, ModelError

__all__ = ["OTHERS", "read_other"]

OTHERS = (".glb", ".gltf", ".ply", ".off", ".3mf")


def read_other(path: Path, data: bytes, companion: Callable[[str], bytes | None]) -> list[Piece]:
    """The triangles of a file, one piece per mesh of its scene; others are opened by `companion` alone."""
    try:
        import trimesh
    except ImportError:
        raise MissingPackageError(
            f"reading {path.suffix.lower()} files needs trimesh: pip install 'kinetree[view]'"
        ) from None

    class Companions:
        def get(self, name: str) -> bytes:
            found = companion(name)
            if found is None:
                raise FileNotFoundError(name)
            return found

    try:
        read: Any = trimesh.load_scene
        scene = read(io.BytesIO(data), file_type=path.suffix[1:].lower(), resolver=Companions(), process=False)
        meshes = scene.dump(concatenate=False)
    except Exception as error:  # each reader raises its own
        raise ModelError(f"{path}: trimesh cannot read it as a mesh ({type(error).__name__}: {error})") from error
    return [_piece(mesh) for mesh in meshes if isinstance(mesh, trimesh.Trimesh)]


def _piece(mesh: Any) -> Piece:
    visual = mesh.visual
    color = colors = uv = image = None
    if visual.kind == "texture":
        material = visual.material
        base = getattr(material, "baseColorFactor", None)
        if base is None:
            base = getattr(material, "diffuse", None)
        if base is not None:
            given = np.asarray(base, dtype=float)
            color = tuple((given / 255.0 if np.asarray(base).dtype == np.uint8 else given).tolist())
        picture = getattr(material, "baseColorTexture", None)
        if picture is None:
            picture = getattr(material, "image", None)
        if picture is not None and visual.uv is not None:
            image = np.asarray(picture.convert("RGBA"), dtype=np.uint8)
            uv = np.asarray(visual.uv, dtype=np.float64)
    elif visual.kind == "vertex":
        colors = np.asarray(visual.vertex_colors, dtype=np.uint8)
    elif visual.kind == "face":
        mesh = mesh.copy()
        shades = np.repeat(np.asarray(visual.face_colors, dtype=np.uint8), 3, axis=0)
        corners = np.asarray(mesh.vertices, dtype=np.float64)[np.asarray(mesh.faces).reshape(-1)]
        return Piece(corners, np.arange(len(corners)).reshape(-1, 3), colors=shades)
    has_normals = "vertex_normals" in mesh._cache.cache
    return Piece(
        np.asarray(mesh.vertices, dtype=np.float64),
        np.asarray(mesh.faces, dtype=np.int64),
        np.asarray(mesh.vertex_normals, dtype=np.float64) if has_normals else None,
        uv, colors, color, image,
    )  # fmt: skip

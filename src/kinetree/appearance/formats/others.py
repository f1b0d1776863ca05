"""Mesh files that trimesh reads: GLB and GLTF, PLY, OFF and 3MF.

Colours of GLB and GLTF are amounts of light, except in images (glTF 2.0, sections 3.7.2.1 and 3.9.2).
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.formats.piece import Piece, color_bytes
from kinetree.appearance.srgb import srgb_of
from kinetree.errors import MissingPackageError, ModelError

__all__ = ["OTHERS", "read_other"]

Floats = NDArray[np.float64]

_PLAIN = 8 * 2**20
"""Bytes that any archive may unpack to."""
_RATIO = 30
"""How many times its own size an archive may unpack to beyond that; the text of meshes shrinks to a tenth."""
_LINEAR = (".glb", ".gltf")
OTHERS = (*_LINEAR, ".ply", ".off", ".3mf")


def read_other(path: Path, kind: str, data: bytes, companion: Callable[[str], bytes | None]) -> list[Piece]:
    """The triangles of a file, one piece per mesh of its scene; others are opened by `companion` alone."""
    try:
        import trimesh
    except ImportError:
        raise MissingPackageError(f"reading {kind} files needs trimesh: pip install 'kinetree[view]'") from None

    if kind == ".3mf":
        _check_archive(path, data)

    class Companions:
        def get(self, name: str) -> bytes:
            content = companion(name)
            if content is None:
                raise FileNotFoundError(name)
            return content

        __getitem__ = get  # readers of some formats use this one

    try:
        read: Any = trimesh.load_scene
        scene = read(io.BytesIO(data), file_type=kind[1:], resolver=Companions(), process=False)
        meshes = scene.dump(concatenate=False)
    except Exception as error:  # each reader raises its own
        raise ModelError(f"{path}: trimesh cannot read it as a mesh ({type(error).__name__}: {error})") from error
    is_linear = kind in _LINEAR
    # The copies of meshes at their places in the scene lose colours of vertices that have a material.
    return [
        _piece(mesh, scene.geometry[mesh.metadata["name"]].visual, is_linear=is_linear)
        for mesh in meshes
        if isinstance(mesh, trimesh.Trimesh)
    ]


def _check_archive(path: Path, data: bytes) -> None:
    """Raise a `ModelError` for an archive that unpacks to very much more than it has."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise ModelError(f"{path}: the file is not an archive of 3MF: {error}") from None
    if unpacked > max(_PLAIN, _RATIO * len(data)):
        raise ModelError(
            f"{path}: the file unpacks to {unpacked / 2**20:,.0f} MiB, more than {_RATIO} times its own size; simplify "
            "the mesh"
        )


def _piece(mesh: Any, visual: Any, *, is_linear: bool) -> Piece:
    encoded = _encoded if is_linear else _as_it_is
    color = colors = uv = image = None
    if visual.kind == "texture":
        base = _first(visual.material, "baseColorFactor", "diffuse")
        factor = np.ones(4) if base is None else _fractions(base)
        picture = _first(visual.material, "baseColorTexture", "image")
        shades = visual.vertex_attributes.get("color")
        if picture is not None and visual.uv is not None:
            image = np.asarray(picture.convert("RGBA"), dtype=np.uint8)
            uv = np.asarray(visual.uv, dtype=np.float64)
        elif shades is not None:
            colors = color_bytes(encoded(factor * _fractions(shades)))
        if base is not None:
            color = tuple(encoded(factor).tolist())
    elif visual.kind == "vertex":
        colors = color_bytes(encoded(_fractions(visual.vertex_colors)))
    elif visual.kind == "face":
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


def _first(material: Any, *names: str) -> Any:
    """The first of these attributes that a material has; materials of different kinds have different ones."""
    return next((value for name in names if (value := getattr(material, name, None)) is not None), None)


def _fractions(colors: Any) -> Floats:
    """Colours (…, 4) from 0 to 1; whole numbers are parts of the largest one, and a missing opacity is 1."""
    given = np.asarray(colors)
    most = np.iinfo(given.dtype).max if np.issubdtype(given.dtype, np.integer) else 1.0
    rgba = np.ones((*given.shape[:-1], 4))
    rgba[..., : given.shape[-1]] = given / most
    return rgba


def _encoded(colors: Floats) -> Floats:
    """Colours in sRGB, of amounts of light; opacities remain."""
    return np.concatenate([srgb_of(colors[..., :3]), colors[..., 3:]], axis=-1)


def _as_it_is(colors: Floats) -> Floats:
    return colors

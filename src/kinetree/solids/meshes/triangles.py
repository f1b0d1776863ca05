"""Triangles as they were read, before anything is done with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.records import record

__all__ = ["Triangles", "check_size", "checked", "inline_mesh"]

Vertices = NDArray[np.float64]
Faces = NDArray[np.int64]

MAX_VERTICES, MAX_FACES = 1_000_000, 1_000_000
_FEWEST = 4


@record(frozen=True, slots=True, eq=False)
class Triangles:
    """A mesh before scaling: the numbers of its file, rounded to 32 bits as MuJoCo keeps them."""

    vertices: Vertices
    """(n, 3), at least four."""
    faces: Faces
    """(m, 3) indices of vertices, counter-clockwise seen from outside; without any, the convex hull is meant."""
    left_out: int = 0
    """How many triangles of the file's polygons MuJoCo leaves out, and so do we."""
    normals: Vertices | None = None
    """(n, 3), of any length, from MSH files that have them."""
    uv: Vertices | None = None
    """(n, 2), from the lower left of an image, from MSH files that have them."""


def check_size(where: object, vertices: int, faces: int) -> None:
    """Reject meshes that would take seconds and gigabytes."""
    for count, most, what in ((vertices, MAX_VERTICES, "vertices"), (faces, MAX_FACES, "faces")):
        if count > most:
            raise ModelError(f"{where}: the mesh has {count:,} {what}; the limit is {most:,}: simplify it")


def checked(
    where: object,
    vertices: NDArray[np.float32],
    faces: Faces,
    left_out: int = 0,
    *,
    normals: Vertices | None = None,
    uv: Vertices | None = None,
) -> Triangles:
    """Check the conditions on every mesh, wherever it comes from."""
    if len(vertices) < _FEWEST:
        raise ModelError(f"{where}: the mesh has {len(vertices)} vertices; a mesh has at least {_FEWEST}")
    finite = np.isfinite(vertices).all(axis=1)
    if not finite.all():
        wrong = int(np.argmin(finite))
        raise ModelError(
            f"{where}: vertex {wrong} of the mesh is {vertices[wrong].tolist()}; coordinates are finite numbers of at "
            "most 3.4e38"
        )
    if len(faces):
        inside = (faces.min(axis=1) >= 0) & (faces.max(axis=1) < len(vertices))
        if not inside.all():
            wrong = int(np.argmin(inside))
            raise ModelError(
                f"{where}: face {wrong} of the mesh has the vertices {faces[wrong].tolist()}, but there are "
                f"{len(vertices)}, numbered from 0 here; correct the face or add the vertices"
            )
    return Triangles(vertices.astype(np.float64), faces, left_out, normals, uv)


def inline_mesh(where: object, vertex: Sequence[float], face: Sequence[float] = ()) -> Triangles:
    """The mesh that is written in the attributes `vertex` and `face` of a `<mesh>`.

    Args:
        where: the element, for messages.
        vertex: three numbers per vertex.
        face: three whole numbers per triangle; none for the convex hull.

    Raises:
        ModelError: if they do not describe a mesh.
    """
    for attribute, values in (("vertex", vertex), ("face", face)):
        if len(values) % 3:
            raise ModelError(
                f"{where}: {attribute} holds {len(values)} numbers, which is not a multiple of three; write three per "
                + ("vertex" if attribute == "vertex" else "triangle")
            )
    with np.errstate(over="ignore"):
        vertices = np.asarray(vertex, dtype=np.float64).reshape(-1, 3).astype(np.float32)
    indices = np.asarray(face, dtype=np.float64)
    whole = indices == np.rint(indices)
    if not (whole & (np.abs(indices) < 2.0**53)).all():
        wrong = indices[int(np.argmin(whole & (np.abs(indices) < 2.0**53)))]
        raise ModelError(f'{where}: face="… {wrong} …": faces are whole numbers, indices of vertices')
    return checked(where, vertices, indices.astype(np.int64).reshape(-1, 3))

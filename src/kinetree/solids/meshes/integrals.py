"""Volume, centre of mass and moments of the solid that triangles enclose, in each of MuJoCo's modes.

The triangles and a point span pyramids. "exact" and "convex" add them up with their signs, so that the interior of a
closed mesh remains, for any point. "legacy" takes every pyramid as positive: first from the centroid of the surface,
which gives a centre, then from that centre, which gives the volume and the moments. "shell" puts the mass on the
triangles. For a pyramid of volume V with the corners 0, a, b and c: ∫ x xᵀ = V (s sᵀ + a aᵀ + b bᵀ + c cᵀ) / 20 with s
= a + b + c; for a triangle of area A, the same with 12.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.records import record

__all__ = ["Amounts", "InertiaMode", "amounts", "check_orientation"]

InertiaMode = Literal["convex", "exact", "legacy", "shell"]

_SMALLEST = 1e-15
"""The area or volume, in SI units, that MuJoCo takes for zero."""
_SMALL_FACE = _SMALLEST**0.5
_TOGETHER = 8192

_Floats = NDArray[np.float64]


@record(frozen=True, slots=True, eq=False)
class Amounts:
    """The enclosed solid: its volume, m³, or in the mode "shell" the area, m²; its centre; its inertia per density."""

    amount: float
    center: _Floats
    inertia: _Floats
    """(3, 3) about the centre."""


class _Facets:
    """Some triangles, by their corners (3, axis, face), their normals as long as twice their areas, and centroids."""

    def __init__(self, columns: _Floats, faces: NDArray[np.int64]) -> None:
        self.corners = a, b, c = [columns[:, faces[:, k]] for k in range(3)]
        d, e = b - a, c - a
        self.normal = np.stack([d[1] * e[2] - d[2] * e[1], d[2] * e[0] - d[0] * e[2], d[0] * e[1] - d[1] * e[0]])
        length = np.sqrt((self.normal * self.normal).sum(axis=0))
        counts = length >= _SMALLEST
        if not counts.all():
            self.normal = self.normal * counts
            length = length * counts
        self.area: _Floats = 0.5 * length
        self.centroid = (a + b + c) / 3.0

    def volumes(self, point: _Floats, mode: str) -> _Floats:
        """The volume of each pyramid over a point, negative where the point is in front of the triangle."""
        d = self.centroid - point[:, None]
        result: _Floats = (d[0] * self.normal[0] + d[1] * self.normal[1] + d[2] * self.normal[2]) / 6.0
        return np.abs(result) if mode == "legacy" else result


def _facets(vertices: _Floats, faces: NDArray[np.int64]) -> Iterator[_Facets]:
    """The triangles, as many at a time as fit into a processor's cache."""
    columns = np.ascontiguousarray(vertices.T)
    for k in range(0, len(faces), _TOGETHER):
        yield _Facets(columns, faces[k : k + _TOGETHER])


def check_orientation(where: object, vertices: _Floats, faces: NDArray[np.int64]) -> None:
    """Raise for two faces that run through an edge in the same direction.

    As in MuJoCo, faces below 3.2e-8 of the file's unit of area do not count, and holes are not looked for.
    """
    areas = np.concatenate([facets.area for facets in _facets(vertices, faces)])
    large = faces[areas > _SMALL_FACE]
    n = len(vertices)
    edges = np.sort((large * n + np.roll(large, -1, axis=1)).reshape(-1))
    twice = np.flatnonzero(edges[1:] == edges[:-1])
    if len(twice):
        start, end = divmod(int(edges[twice[0]]), n)
        raise ModelError(
            f'{where}: the mesh has inertia="exact", but two of its faces run from vertex {start} to vertex {end} '
            f"(numbered from 0) in the same direction, and so do {len(twice) - 1} more pairs: one face of each is "
            'turned over; repair the mesh, or set inertia="convex"'
        )


def amounts(
    where: object, vertices: _Floats, faces: NDArray[np.int64], mode: InertiaMode, hull: NDArray[np.int64] | None
) -> Amounts:
    """The integrals over a mesh with these vertices (n, 3) and faces; `hull` has the faces of its convex hull.

    Raises `ModelError` where MuJoCo rejects the mesh.
    """
    total, moment = 0.0, np.zeros(3)
    for facets in _facets(vertices, faces):
        total += float(facets.area.sum())
        moment += facets.centroid @ facets.area
    if not total >= _SMALLEST:
        raise ModelError(
            f"{where}: the surface of the mesh measures {total:.3g} m², too little for MuJoCo; check its scale"
        )
    centroid = center = moment / total
    solid = faces if mode != "convex" or hull is None else hull
    if mode != "shell":
        volume, moment = 0.0, np.zeros(3)
        for facets in _facets(vertices, solid):
            volumes = facets.volumes(centroid, mode)
            volume += float(volumes.sum())
            moment += facets.centroid @ volumes
        _check_volume(where, volume)
        center = (0.75 * moment + 0.25 * volume * centroid) / volume
    amount, second = 0.0, np.zeros((3, 3))
    for facets in _facets(vertices, solid):
        weights = facets.area if mode == "shell" else facets.volumes(center, mode)
        amount += float(weights.sum())
        a, b, c = (corner - center[:, None] for corner in facets.corners)
        for x in (a + b + c, a, b, c):
            second += (x * weights) @ x.T
    second /= 12.0 if mode == "shell" else 20.0
    inertia = np.trace(second) * np.eye(3) - second
    return Amounts(amount, center, 0.5 * (inertia + inertia.T))


def _check_volume(where: object, volume: float) -> None:
    if volume >= _SMALLEST:
        return
    if volume < 0.0:
        raise ModelError(
            f"{where}: the volume of the mesh is negative ({volume:.3g} m³): its faces look inward; reverse the order "
            'of their vertices, or set inertia="convex"'
        )
    raise ModelError(
        f"{where}: the volume of the mesh is {volume:.3g} m³, too small for MuJoCo; if its scale is right, set "
        'inertia="shell", or give the body an <inertial>'
    )

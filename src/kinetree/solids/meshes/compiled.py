"""A mesh as geoms see it: moved, turned and scaled, with its volume, centre of mass and principal axes; and simple
shapes fitted to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.records import record
from kinetree.solids.meshes.hulls import check_thickness, convex_hull
from kinetree.solids.meshes.integrals import InertiaMode, amounts, check_orientation
from kinetree.solids.meshes.principal import principal_axes, rotation
from kinetree.solids.meshes.triangles import Triangles

__all__ = ["CompiledMesh", "compile_mesh", "fitted"]

_Floats = NDArray[np.float64]
_TRIANGLE = 1e-6, 1e-9
"""How far, relative and absolute, one principal moment may exceed the sum of the others."""
_ROUNDING = 1e-12


@record(frozen=True, slots=True, eq=False)
class CompiledMesh:
    """A mesh as geoms use it. Its frame is at its centre of mass, its axes are the principal axes of inertia."""

    amount: float
    """Its volume, m³; in the mode "shell" its area, m²."""
    position: _Floats
    """(3,) the origin of its frame in that of the vertices, after `refpos`, `refquat` and `scale`, m."""
    quaternion: _Floats
    """(4,) the axes of its frame, scalar part first."""
    box: _Floats
    """(3,) half sizes of the box of the same volume and inertia, m."""
    low: _Floats
    """(3,) the smallest coordinates of its vertices in its frame, m."""
    high: _Floats
    """(3,) the largest, m."""
    vertices: _Floats
    """(n, 3) in its frame, rounded to 32 bits as MuJoCo keeps them, m."""

    @property
    def moments(self) -> _Floats:
        """(3,) principal moments of inertia per mass, m²."""
        squares = self.box * self.box
        result: _Floats = (squares.sum() - squares) / 3.0
        return result


def compile_mesh(
    where: object,
    mesh: Triangles,
    *,
    inertia: InertiaMode = "legacy",
    scale: Sequence[float] = (1.0, 1.0, 1.0),
    refpos: Sequence[float] = (0.0, 0.0, 0.0),
    refquat: Sequence[float] = (1.0, 0.0, 0.0, 0.0),
    maxhullvert: int = -1,
    collides: bool = False,
) -> CompiledMesh:
    """Compile a mesh as MuJoCo does.

    Args:
        where: the mesh's place, for messages.
        mesh: as it was read.
        inertia: the attribute of that name.
        scale: factors along the axes; an odd number of negative ones turns the faces over.
        refpos: subtracted from the vertices first.
        refquat: scalar part first, of any length but zero; the vertices are turned by its inverse before scaling.
        maxhullvert: maximum number of vertices of the convex hull; -1 for no limit.
        collides: whether a geom of this mesh takes part in collisions: MuJoCo rejects a flat mesh then.

    Raises:
        ModelError: for a mesh that MuJoCo rejects, such as one without a volume.
        MissingPackageError: if a convex hull is needed and SciPy is not installed.
    """
    vertices, faces = mesh.vertices, mesh.faces
    if len(faces) and inertia == "exact":
        check_orientation(where, vertices, faces)
    hull = convex_hull(where, vertices, maxhullvert) if inertia == "convex" or not len(faces) else None
    if collides and hull is None:
        check_thickness(where, vertices)
    if hull is not None and not len(faces):
        faces = hull
    with np.errstate(all="ignore"):  # numbers that overflow are reported below
        factors = np.asarray(scale, dtype=np.float64)
        if not factors.prod() > 0.0:
            faces = faces[:, [0, 2, 1]]
            hull = None if hull is None else hull[:, [0, 2, 1]]
        vertices = _placed(where, vertices, factors, refpos, refquat)
        whole = amounts(where, vertices, faces, inertia, hull)
        moments, quaternion = principal_axes(whole.inertia)
        box = _box(where, moments, whole.amount)
        local = (vertices - whole.center) @ rotation(quaternion)
        near = local.astype(np.float32).astype(np.float64)
        result = CompiledMesh(whole.amount, whole.center, quaternion, box, local.min(axis=0), local.max(axis=0), near)
        if not all(np.isfinite(x).all() for x in (result.position, box, result.low, result.high)):
            raise ModelError(f"{where}: the mesh is too large for numbers of 64 bits; give its vertices in metres")
    return result


def _placed(
    where: object, vertices: _Floats, scale: _Floats, refpos: Sequence[float], refquat: Sequence[float]
) -> _Floats:
    quaternion = np.asarray(refquat, dtype=np.float64)
    length = float(np.sqrt(quaternion @ quaternion))
    if not length > 0.0:
        raise ModelError(f'{where}: refquat="0 0 0 0" is not an orientation; "1 0 0 0" is not a rotation')
    moved = vertices - np.asarray(refpos, dtype=np.float64)
    if (quaternion != (1.0, 0.0, 0.0, 0.0)).any():
        moved = moved @ rotation(quaternion / length)
    return moved * scale


def _box(where: object, moments: _Floats, amount: float) -> _Floats:
    """Half sizes of the box with these moments per density, if there is one."""
    relative, absolute = _TRIANGLE
    sums = moments.sum() - 2.0 * moments  # of the two others, less itself
    if not moments[2] > 0.0 or (sums < -(relative * moments + absolute)).any():
        raise ModelError(
            f"{where}: the mesh has the principal moments of inertia {', '.join(f'{x:.3g}' for x in moments)} m⁵, "
            'which no solid body can have: its surface has holes, or faces turned over; set inertia="convex"'
        )
    # A flat shell has a box without a thickness, up to rounding.
    box: _Floats = 0.5 * np.sqrt(6.0 * np.where(np.abs(sums) < _ROUNDING * moments[0], 0.0, sums) / amount)
    if np.isnan(box).any():
        raise ModelError(
            f"{where}: the principal moments of inertia of the mesh, {', '.join(f'{x:.3g}' for x in moments)} m⁵, "
            'violate the triangle inequality; repair the mesh, or set inertia="convex"'
        )
    return box


def fitted(
    where: object, mesh: CompiledMesh, shape: str, *, fitscale: float = 1.0, fitaabb: bool = False
) -> tuple[_Floats, _Floats]:
    """The sizes (3,) that a geom of another type gets from its mesh, and its position (3,) in the mesh's vertices.

    Its axes are those of the mesh. The sizes are MuJoCo's: the radius and half the length of a capsule and a cylinder,
    three half axes of an ellipsoid and a box, and zeros after them.

    Args:
        where: the geom, for messages.
        mesh: the mesh that it names.
        shape: its type: "sphere", "capsule", "cylinder", "ellipsoid" or "box".
        fitscale: the geom's attribute, a factor of all sizes.
        fitaabb: the compiler's setting: fit to the bounding box instead of the box of the same inertia.

    Raises:
        ModelError: for other types.
    """
    center = np.zeros(3)
    if fitaabb:
        center = 0.5 * (mesh.low + mesh.high)
        half = mesh.high - center
        across, radius = max(half[0], half[1]), float(half.max())
        length = half[2] - across if shape == "capsule" else half[2]
    else:
        half = mesh.box
        across, radius = 0.5 * (half[0] + half[1]), float(half.sum()) / 3.0
        length = max(0.0, half[2] - 0.5 * across) if shape == "capsule" else half[2]
    sizes = {
        "sphere": (radius, 0.0, 0.0),
        "capsule": (across, length, 0.0),
        "cylinder": (across, length, 0.0),
        "ellipsoid": tuple(half),
        "box": tuple(half),
    }
    if shape not in sizes:
        raise ModelError(
            f"{where}: a geom of the type {shape!r} cannot be fitted to a mesh; use one of {', '.join(sizes)}, or mesh"
        )
    return np.array(sizes[shape]) * fitscale, mesh.position + rotation(mesh.quaternion) @ center

"""Primitive shapes fitted to a mesh: geoms of another type that name one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.io.mjcf.meshes.compiled import CompiledMesh
from kinetree.io.mjcf.meshes.principal import rotation

__all__ = ["fitted"]

_Floats = NDArray[np.float64]


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

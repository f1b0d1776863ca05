"""Volume, or area, and moments of inertia of geoms of simple shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree import solids
from kinetree.errors import ModelError, OptionError
from kinetree.io.mjcf.meshes import shells
from kinetree.spatial import Inertia

__all__ = ["primitive"]

Amount = tuple[float, tuple[float, float, float]]

_SOLIDS: dict[str, Callable[[Sequence[float]], Inertia]] = {
    "sphere": lambda s: solids.sphere(s[0], density=1.0),
    "capsule": lambda s: solids.capsule(s[0], 2.0 * s[1], density=1.0),
    "cylinder": lambda s: solids.cylinder(s[0], 2.0 * s[1], density=1.0),
    "ellipsoid": lambda s: solids.ellipsoid(s[0], s[1], s[2], density=1.0),
    "box": lambda s: solids.box(2.0 * s[0], 2.0 * s[1], 2.0 * s[2], density=1.0),
}
_SHELLS: dict[str, Callable[[Sequence[float]], Amount]] = {
    "sphere": shells.sphere,
    "capsule": shells.capsule,
    "cylinder": shells.cylinder,
    "ellipsoid": shells.ellipsoid,
    "box": shells.box,
}


def primitive(where: object, shape: str, size: Sequence[float], *, shell: bool = False) -> Amount:
    """The mass per density and the principal moments of inertia per mass of a geom, about its centre along its axes.

    Args:
        where: the geom, for messages.
        shape: its type: "sphere", "capsule", "cylinder", "ellipsoid" or "box"; a height field counts as the box
            around it. A plane has no mass.
        size: its sizes as MuJoCo has them: radii, half lengths and half edges, m.
        shell: whether all of the mass is on its surface, so that the density is per area.

    Returns:
        The volume, m³, or the area, m², and the three moments per mass, m².

    Raises:
        ModelError: for sizes that are not positive, and other types.
    """
    if shape == "plane":
        return 0.0, (0.0, 0.0, 0.0)
    name = "box" if shape == "hfield" else shape
    if name not in _SOLIDS:
        raise ModelError(
            f"{where}: a geom of the type {shape!r} has no inertia by its sizes; known: {', '.join(_SOLIDS)}"
        )
    try:
        body = _SOLIDS[name](size)
    except OptionError as error:
        raise ModelError(f"{where}: {error}") from None
    if shell:
        return _SHELLS[name](size)
    mass, (xx, yy, zz, *_) = float(body.mass), map(float, body.I.components())
    return mass, (xx / mass, yy / mass, zz / mass)

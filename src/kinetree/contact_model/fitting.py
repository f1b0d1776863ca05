"""Simple shapes in the place of meshes: by MuJoCo's rules for geoms that are fitted to a mesh."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np

from kinetree.contact_model.assets import Assets
from kinetree.contact_model.meshes import hull_of
from kinetree.errors import ModelError, OptionError, listed, quoted
from kinetree.model import Geometry, Model, check_robot
from kinetree.model.changes.common import changed
from kinetree.solids.meshes import Triangles, compile_mesh, convex_hull, fitted, rotation
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["FittedKind", "with_fitted_shapes"]

FittedKind = Literal["sphere", "capsule", "cylinder", "ellipsoid", "box"]
_KINDS = ("sphere", "capsule", "cylinder", "ellipsoid", "box")
_BY = ("inertia", "bounds")


def with_fitted_shapes(
    robot: Model,
    kind: FittedKind,
    bodies: Iterable[str] | None = None,
    *,
    by: Literal["inertia", "bounds"] = "inertia",
) -> Model:
    """The robot with simple shapes in the place of meshes for collisions.

    Args:
        robot: the robot.
        kind: "sphere", "capsule", "cylinder", "ellipsoid" or "box".
        bodies: names of the bodies whose meshes are replaced; by default all.
        by: "inertia" for the box that has the volume and the inertia of the mesh's convex hull, or the shape nearest to
            it; "bounds" for the box around the hull along its principal axes. Sizes of the other kinds follow from the
            box by MuJoCo's rules (`fitaabb`): shapes made so are not around the mesh everywhere.

    Shapes keep their names and how they touch; visual shapes are left as they are.

    Raises:
        NameNotFoundError: the robot has no such body.
        OptionError: a kind or rule that is not one of these, or no meshes to replace.
        ModelError: a mesh whose file is not known or cannot be read.
        MissingPackageError: SciPy is not installed; `pip install kinetree[mesh]`.

    Source: MuJoCo's documentation, "XML Reference", geom/mesh.

    >>> import kinetree as kt
    >>> kt.contact.with_fitted_shapes(kt.zoo.load("arm6"), "capsule")
    Traceback (most recent call last):
    kinetree.errors.OptionError: 'arm6' has no meshes for collisions on these bodies
    """
    model = check_robot(robot)
    if kind not in _KINDS:
        raise OptionError(f"kind must be one of {', '.join(map(repr, _KINDS))}, not {kind!r:.60}")
    if by not in _BY:
        raise OptionError(f"by must be 'inertia' or 'bounds', not {by!r:.60}")
    if isinstance(bodies, str):
        raise OptionError(f"bodies are names, such as [{bodies!r}], not one string")
    selection = set(model.bodies) if bodies is None else {model.bodies[name].name for name in bodies}
    fitting = _Fitting(model, kind, by)
    parts = model.parts
    links = tuple(
        replace(link, geometry=tuple(fitting.of(link.name, k, one) for k, one in enumerate(link.geometry)))
        if link.name in selection
        else link
        for link in parts.links
    )
    if not fitting.done:
        raise OptionError(f"{quoted(model.name)} has no meshes for collisions on these bodies")
    settings = tuple(
        replace(one, asset="") if (one.body, one.index) in fitting.done else one for one in parts.extras.shapes
    )
    names = listed(dict.fromkeys(repr(body) for body, _ in fitting.done))
    new = replace(parts, links=links, extras=replace(parts.extras, shapes=settings))
    return Model.of(changed(new, f"meshes for collisions became shapes of the kind {kind!r} by their {by}: {names}"))


class _Fitting:
    """Shapes of one kind, and which were replaced by them."""

    def __init__(self, robot: Model, kind: str, by: str) -> None:
        self._assets = Assets(robot)
        self._kind, self._by = kind, by
        self.done: dict[tuple[str, int], None] = {}

    def of(self, body: str, index: int, shape: Geometry) -> Geometry:
        """The shape that takes the place of a mesh for collisions; any other shape as it is."""
        if shape.shape != "mesh" or shape.role != "collision":
            return shape
        where = shape.name or f"{body}[{index}]"
        try:
            asset = self._assets.of(body, index, shape)
            hull = hull_of(shape, asset, None)
        except ModelError as error:
            raise ModelError(f"{where}: {error}") from None
        vertices = np.array(hull.hull.vertices)
        solid = compile_mesh(where, Triangles(vertices, convex_hull(where, vertices)), inertia="convex", collides=True)
        size, position = fitted(where, solid, self._kind, fitaabb=self._by == "bounds")
        axes = rotation(solid.quaternion).T.tolist()
        placement = Transform(Mat3(*(Vec3(*row) for row in axes)), Vec3(*position.tolist()))
        self.done[body, index] = None
        return replace(
            shape,
            shape=self._kind,
            size=_lengths(self._kind, size.tolist()),
            placement=placement @ hull.placement @ shape.placement,
            mesh=None,
            mesh_path=None,
        )


def _lengths(kind: str, size: list[float]) -> tuple[float, ...]:
    """From MuJoCo's half lengths."""
    if kind == "box":
        return tuple(2.0 * x for x in size)
    if kind == "ellipsoid":
        return tuple(size)
    return (size[0],) if kind == "sphere" else (size[0], 2.0 * size[1])

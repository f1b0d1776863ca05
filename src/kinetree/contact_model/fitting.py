"""Other shapes in the place of meshes: simple ones by MuJoCo's rules for geoms that are fitted to a mesh, or convex
parts of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Literal

import numpy as np

from kinetree.contact_model.assets import Assets
from kinetree.contact_model.meshes import hull_of, surface_of
from kinetree.contact_model.shapes import MOST_CORNERS
from kinetree.errors import ModelError, OptionError, listed, quoted
from kinetree.model import Geometry, Model, check_robot
from kinetree.model.changes.common import changed, unused
from kinetree.model.extras import ShapeSettings, Unused
from kinetree.model.specs import LinkSpec
from kinetree.solids.meshes import Triangles, compile_mesh, convex_hull, convex_parts, fitted, rotation
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["FittedKind", "with_convex_parts", "with_fitted_shapes"]

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
        MissingPackageError: SciPy is not installed; `pip install 'kinetree[mesh]'`.

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
    selection = _selection(model, bodies)
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


def with_convex_parts(
    robot: Model,
    bodies: Iterable[str] | None = None,
    *,
    threshold: float = 0.05,
    most: int | None = None,
    seed: int = 0,
) -> Model:
    """The robot with several convex meshes in the place of each mesh for collisions, so that a cup has an inside.

    Args:
        robot: the robot.
        bodies: names of the bodies whose meshes are divided; by default all.
        threshold: the concavity that a part may have, from 0.01 for many parts to 1 for few.
        most: the largest number of parts of a mesh; by default any.
        seed: of the search, a whole number; the same seed always gives the same parts.

    The package coacd divides a mesh, in seconds to minutes, so save the result: as .json, or .xml, which MuJoCo reads,
    too. The first part keeps the name of the shape and its place, the others are called NAME_1, NAME_2, … and come
    after the body's other shapes. They touch as the shape does; explicit pairs are pairs with each part. Visual shapes
    are left as they are.

    Raises:
        NameNotFoundError: the robot has no such body.
        OptionError: an option out of its range, or no meshes to divide.
        ModelError: a mesh whose file is not known or cannot be read.
        MissingPackageError: coacd is not installed; `pip install 'kinetree[coacd]'`.

    Source: Wei, Liu, Ling and Su, "Approximate convex decomposition for 3D meshes with collision-aware concavity and
    tree search" (2022).

    >>> import kinetree as kt
    >>> kt.contact.with_convex_parts(kt.zoo.load("arm6"))
    Traceback (most recent call last):
    kinetree.errors.OptionError: 'arm6' has no meshes for collisions on these bodies
    """
    model = check_robot(robot)
    if not (isinstance(threshold, float | int) and _LEAST_THRESHOLD <= threshold <= 1.0):
        raise OptionError(f"threshold must be a number from {_LEAST_THRESHOLD} to 1, not {threshold!r:.60}")
    for name, value, least in (("most", 1 if most is None else most, 1), ("seed", seed, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise OptionError(f"{name} must be a whole number from {least} on, not {value!r:.60}")
    selection, division = _selection(model, bodies), _Division(model, (threshold, -1 if most is None else most, seed))
    parts, extras = model.parts, model.parts.extras
    links = tuple(division.of(link) if link.name in selection else link for link in parts.links)
    if not division.names:
        raise OptionError(f"{quoted(model.name)} has no meshes for collisions on these bodies")
    named = {names[0]: names for names in division.names if names[0]}
    pairs = [
        replace(pair, shape1=one, shape2=other, name="" if k else pair.name)
        for pair in extras.contact_pairs
        for k, (one, other) in enumerate(
            product(named.get(pair.shape1, [pair.shape1]), named.get(pair.shape2, [pair.shape2]))
        )
    ]
    extras = replace(
        extras,
        shapes=tuple(division.settings.values()),
        contact_pairs=tuple(pairs),
        unused=(*extras.unused, Unused("asset", (), tuple(division.assets))),
    )
    count = sum(map(len, division.names))
    sentence = f"meshes for collisions became convex parts: {len(division.names)} became {count}"
    return Model.of(changed(replace(parts, links=links, extras=extras), sentence))


_LEAST_THRESHOLD = 0.01


def _selection(model: Model, bodies: Iterable[str] | None) -> set[str]:
    """The bodies whose meshes are replaced."""
    if isinstance(bodies, str):
        raise OptionError(f"bodies are names, such as [{bodies!r}], not one string")
    return set(model.bodies) if bodies is None else {model.bodies[name].name for name in bodies}


class _Division:
    """Convex parts of meshes, with their assets and settings."""

    def __init__(self, robot: Model, choice: tuple[float, int, int]) -> None:
        extras = robot.parts.extras
        self._assets, self._choice = Assets(robot), choice
        self._taken = {dict(one.attributes).get("name", "") for section in extras.unused for one in section.children}
        self._taken |= {shape.name for body in robot.bodies.values() for shape in body.geometry}
        self.settings: dict[tuple[str, int], ShapeSettings] = {(one.body, one.index): one for one in extras.shapes}
        self.assets: list[Unused] = []
        self.names: list[list[str]] = []
        """The names of the parts of each mesh, the first of which is the shape's own."""

    def of(self, link: LinkSpec) -> LinkSpec:
        """The link with parts in the place of meshes."""
        shapes = list(link.geometry)
        for k, shape in enumerate(link.geometry):
            if shape.shape != "mesh" or shape.role != "collision":
                continue
            own = self.settings.get((link.name, k)) or ShapeSettings(link.name, k, shape.name)
            names: list[str] = []
            for part, asset in self._parts(link.name, k, shape):
                place = len(shapes) if names else k
                shapes[place : place + 1] = [part]
                self.settings[link.name, place] = replace(own, index=place, name=part.name, asset=asset)
                names.append(part.name)
            self.names.append(names)
        return replace(link, geometry=tuple(shapes))

    def _parts(self, body: str, index: int, shape: Geometry) -> Iterator[tuple[Geometry, str]]:
        """The parts of a mesh, and the names of their assets."""
        where = shape.name or f"{body}[{index}]"
        try:
            mesh, placement = surface_of(shape, self._assets.of(body, index, shape))
            vertices, faces = np.array(mesh.vertices), np.array(mesh.faces)
            parts = convex_parts(where, vertices, faces, *self._choice, corners=MOST_CORNERS)
        except ModelError as error:
            raise ModelError(f"{where}: {error}") from None
        for k, corners in enumerate(parts):
            asset = unused(f"{where}_{k}", self._taken)
            name = shape.name and (unused(f"{shape.name}_{k}", self._taken) if k else shape.name)
            self._taken |= {asset, name}
            vertex = " ".join(f"{x:.9g}" for x in corners.ravel())
            self.assets.append(Unused("mesh", (("name", asset), ("vertex", vertex))))
            yield (
                replace(
                    shape,
                    size=(1.0, 1.0, 1.0),
                    placement=placement @ shape.placement,
                    name=name,
                    mesh=None,
                    mesh_path=None,
                ),
                asset,
            )


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

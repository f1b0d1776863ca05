"""The shapes of a robot that may touch others, in the order of its file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kinetree.collision import Plane, Shape
from kinetree.collision.shapes import simple_shape
from kinetree.errors import MissingPackageError, ModelError
from kinetree.model import Geometry, Model
from kinetree.model.extras import ContactParameters
from kinetree.records import record
from kinetree.spatial import Transform

if TYPE_CHECKING:
    from kinetree.contact_model.meshes import MeshHull

__all__ = ["MOST_CORNERS", "Shapes", "Surface", "kind_of", "surfaces"]

MOST_CORNERS = 64
"""How many corners a hull may have where it touches: programs look at every one, some ninety times for each pair."""
_USUAL = ContactParameters()


@record(frozen=True, slots=True)
class Surface:
    """A shape of a body, and how it touches."""

    place: tuple[int, int]
    """The body's place in `robot.bodies`, and the shape's in the body's `geometry`."""
    body: str
    name: str
    """Its own, or the body's with its place in the body's `geometry`, such as "foot[0]"."""
    geometry: Geometry
    contact: ContactParameters
    is_plain: bool
    """Whether its file says nothing of contacts; then these are the usual parameters."""
    alternative: int | None = None
    """Which of the objects that its body may be has it; None if there is one alone."""


def surfaces(robot: Model) -> list[Surface]:
    """All shapes with contact parameters, and those for collisions of files that have none; of all alternatives."""
    surfaces = []
    for i, body in enumerate(robot.bodies.values()):
        for k, (which, shape) in enumerate(body.every_shape):
            if shape.may_touch:
                name = shape.name or f"{body.name}[{k}]"
                surfaces.append(
                    Surface(
                        (i, k), body.name, name, shape, shape.contact or _USUAL, is_plain=shape.contact is None,
                        alternative=which if body.alternatives else None,
                    )
                )  # fmt: skip
    return surfaces


def kind_of(geometry: Geometry) -> str:
    """Its kind among those of collisions."""
    return _KINDS.get(geometry.shape, geometry.shape)


@record(frozen=True, slots=True)
class FoundShape:
    """A shape as collisions see it, and where it is."""

    shape: Shape
    placement: Transform
    """Its frame in the body's."""
    within: Transform | None = None
    """Its frame in the geometry's, if that is another."""


class Shapes:
    """The shapes of a robot as collisions see them, each read when it is first asked for."""

    def __init__(self, robot: Model, most_corners: int | None = MOST_CORNERS) -> None:
        from kinetree.contact_model.assets import Assets

        self._assets = Assets(robot)
        self._most = most_corners
        self._found: dict[tuple[str, int], FoundShape | str] = {}
        self._reduced: dict[str, MeshHull] = {}

    def placed(self, body: str, index: int, geometry: Geometry) -> FoundShape:
        """The geometry of this index of a body, and its placement in the body.

        Raises:
            ModelError: if it cannot be used: one of a kind that touches nothing, or whose mesh cannot be read.
            MissingPackageError: for a mesh, if SciPy is not installed.
        """
        simple = simple_shape(geometry.shape, geometry.size)
        if simple is not None:
            return FoundShape(simple, geometry.placement)
        if geometry.shape == "heightfield":
            from kinetree.contact_model.height_fields import height_field_of

            asset, is_smooth = self._assets.of(body, index, geometry), self._assets.is_smooth(body, index)
            return FoundShape(height_field_of(geometry, asset, is_smooth=is_smooth), geometry.placement)
        if geometry.shape == "mesh":
            from kinetree.contact_model.meshes import hull_of

            asset = self._assets.of(body, index, geometry)
            hull = hull_of(geometry, asset, self._most)
            if len(hull.hull.vertices) < hull.corners:
                self._reduced[geometry.name or f"{body}[{index}]"] = hull
            return FoundShape(hull.hull, hull.placement @ geometry.placement, hull.placement)
        raise ModelError(
            f"a shape of the kind {geometry.shape!r} touches nothing; put spheres, capsules, cylinders, ellipsoids or "
            "boxes in its place"
        )

    def surface(self, body: str, index: int, geometry: Geometry) -> FoundShape:
        """The shape as rays meet it: a mesh by its triangles, not by its hull, and a plane as far as it is drawn."""
        if geometry.shape == "plane":
            x, y = geometry.size[:2]
            return FoundShape(Plane(0.5 * x, 0.5 * y), geometry.placement)
        if geometry.shape != "mesh":
            return self.placed(body, index, geometry)
        from kinetree.contact_model.meshes import surface_of

        mesh, placement = surface_of(geometry, self._assets.of(body, index, geometry))
        return FoundShape(mesh, placement @ geometry.placement, placement)

    def of(self, side: Surface) -> FoundShape | None:
        """A shape that touches, and its placement in its body; None if it cannot be used."""
        result = self._tried(side)
        return None if isinstance(result, str) else result

    def why_not(self, side: Surface) -> str:
        """Why it cannot be used; empty if it can."""
        result = self._tried(side)
        return result if isinstance(result, str) else ""

    def remarks(self) -> Iterable[str]:
        """Corners left out of the requested hulls."""
        if not self._reduced:
            return ()
        name, worst = max(self._reduced.items(), key=lambda one: one[1].excess)
        return (
            f"hulls of meshes reduced to {self._most} corners: {len(self._reduced)}; the largest height of a corner "
            f"that was left out is {1000.0 * worst.excess:.2g} mm, of {name!r} with {worst.corners} corners",
        )

    def _tried(self, side: Surface) -> FoundShape | str:
        key = side.body, side.place[1]
        if key not in self._found:
            try:
                self._found[key] = self.placed(side.body, side.place[1], side.geometry)
            except (ModelError, MissingPackageError) as error:
                self._found[key] = str(error)
        return self._found[key]


_KINDS = {"mesh": "hull"}

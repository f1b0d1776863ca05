"""Collision shapes of bodies by name, as options of functions."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kinetree.contact_model.shapes import Shapes
from kinetree.errors import ModelError, NameNotFoundError, OptionError, listed, nearest_names, quoted
from kinetree.model import Body, Geometry, Model
from kinetree.model.parameters import GivenNumbers
from kinetree.records import record
from kinetree.spatial import Transform

if TYPE_CHECKING:
    from kinetree import collision

__all__ = ["PlacedShape", "shape_option"]


@record(frozen=True, slots=True)
class PlacedShape:
    """A collision shape of a body."""

    body: str
    placement: Transform
    """Its frame in the body's."""
    shape: collision.Shape
    number: int
    """Its place in the body's `geometry`."""
    within: Transform | None = None
    """Its frame in the geometry's, if that is another."""

    def with_parameters(self, given: GivenNumbers) -> PlacedShape:
        """The same with the size and the placement that a call gives."""
        from kinetree.contact_model.given import placed_again, resized  # only functions of shapes need it

        own = given.shapes.get((self.body, self.number), {})
        return replace(self, shape=resized(self.shape, own), placement=placed_again(self.placement, self.within, own))


def shape_option(argument: str) -> Callable[[Model, Any], Hashable]:
    """How an argument that names a collision shape is resolved."""

    def resolve(model: Model, name: Any) -> PlacedShape:
        if not isinstance(name, str):
            raise OptionError(f"{argument} must be the name of a shape or of a body, not {name!r:.60}")
        body, geometry = _found(model, name)
        index = next(k for k, one in enumerate(body.geometry) if one is geometry)
        try:
            placed = Shapes(model, most_corners=None).placed(body.name, index, geometry)
        except ModelError as error:
            raise ModelError(f"{quoted(body.name)}: {error}") from None
        return PlacedShape(body.name, placed.placement, placed.shape, index, placed.within)

    return resolve


def _found(model: Model, name: str) -> tuple[Body, Geometry]:
    """The shape of a name: its own name, NAME[k] for a body's shape k, or the name of a body with one shape."""
    named: list[tuple[Body, Geometry]] = []
    numbered: dict[str, tuple[Body, Geometry]] = {}
    for body in model.bodies.values():
        for k, geometry in enumerate(_colliding(body)):
            numbered[f"{body.name}[{k}]"] = body, geometry
            if geometry.name == name:
                named.append((body, geometry))
    if len(named) > 1:
        owners = listed(repr(body.name) for body, _ in named)
        raise OptionError(
            f"{len(named)} collision shapes of {quoted(model.name)} are called {quoted(name)}, on {owners}; "
            "name one by its body and its number, such as "
            f"{named[0][0].name + '[0]'!r}"
        )
    if named:
        return named[0]
    if name in model.bodies:
        return _only_one(model, model.bodies[name])
    if name in numbered:
        return numbered[name]
    known = {geometry.name for _, geometry in numbered.values()} - {""}
    known |= {body.name for body, _ in numbered.values()}
    raise NameNotFoundError(
        f"{quoted(model.name)} has no collision shape {quoted(name)}: {nearest_names(name, sorted(known))}"
    )


def _only_one(model: Model, body: Body) -> tuple[Body, Geometry]:
    shapes = _colliding(body)
    if len(shapes) == 1:
        return body, shapes[0]
    if shapes:
        each = listed(f"{f'{body.name}[{k}]'!r} ({shape.shape})" for k, shape in enumerate(shapes))
        raise OptionError(f"the body {quoted(body.name)} has {len(shapes)} collision shapes; name one of them: {each}")
    owners = [other.name for other in model.bodies.values() if _colliding(other)]
    have = f"bodies that have one are {listed(map(repr, owners), most=10)}" if owners else "no body has one"
    raise OptionError(f"the body {quoted(body.name)} has no collision shape; {have}")


def _colliding(body: Body) -> list[Geometry]:
    return [geometry for geometry in body.geometry if geometry.role == "collision"]

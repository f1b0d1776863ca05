"""How far two collision shapes of a robot are apart, as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.contact_model.shapes import Shapes
from kinetree.errors import ModelError, NameNotFoundError, OptionError, listed, nearest_names, quoted
from kinetree.expr import Scalar
from kinetree.model import Body, Geometry, Model
from kinetree.model.parameters import GivenNumbers
from kinetree.records import record
from kinetree.spatial import Transform

if TYPE_CHECKING:
    from kinetree import collision

__all__ = ["closest_points", "distance"]


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
        from kinetree.contact_model.overrides import placed_again, resized  # only functions of shapes need it

        own = given.shapes.get((self.body, self.number), {})
        return replace(self, shape=resized(self.shape, own), placement=placed_again(self.placement, self.within, own))


def _shape_option(argument: str) -> Callable[[Model, Any], Hashable]:
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
            f"name one by its body and its number, such as {named[0][0].name + '[0]'!r}"
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


def _closest(model: Form, q: Slots, a: PlacedShape, b: PlacedShape) -> collision.ContactPoint:
    from kinetree.collision import closest  # only these functions need it

    X_0 = algorithms.placements(model.tree, q)
    frames = (model.frames[shape.body] for shape in (a, b))
    X_a, X_b = (s.placement @ f.placement @ X_0[f.slot] for s, f in zip((a, b), frames, strict=True))
    return closest(a.shape, X_a, b.shape, X_b)


def _distance(model: Form, q: Slots, *, a: PlacedShape, b: PlacedShape) -> Sequence[Scalar]:
    return (_closest(model, q, a, b).distance,)


def _points(model: Form, q: Slots, *, a: PlacedShape, b: PlacedShape) -> Sequence[Scalar]:
    on_a, on_b = _closest(model, q, a, b).ends
    return (*on_a.components(), *on_b.components())


def _iterates(_: Model, options: Mapping[str, Any]) -> bool:
    """Whether the distance is found by iterations, which are loops of the program."""
    from kinetree.collision import has_loops

    return has_loops(options["a"].shape.kind, options["b"].shape.kind)


_SHAPES = {"a": _shape_option("a"), "b": _shape_option("b")}
_STRATEGY = Strategy(is_dense=_iterates)
DISTANCE = Definition("distance", (("q", "nq"),), (), _distance, _SHAPES, strategy=_STRATEGY)
CLOSEST_POINTS = Definition("closest_points", (("q", "nq"),), (2, 3), _points, _SHAPES, strategy=_STRATEGY)


@defined_by(DISTANCE)
def distance(
    robot: Model,
    q: ArrayLike,
    a: str,
    b: str,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The distance between two collision shapes of a robot; negative where they overlap.

    Args:
        a, b: each the name of a collision shape, the name of a body that has one collision shape, or "NAME[k]" for the
            collision shape k of the body NAME, counted from zero.

    Returns:
        Distance (…); m. Of overlapping shapes it is minus the depth: the shortest translation that separates them, or
        an upper bound of it. docs/collision.md lists exact, approximate and unsupported pairs.

    Raises:
        NameNotFoundError: the robot has no such shape.
        OptionError: a body that has several collision shapes or none, or a pair of shapes that is not computed.
        ModelError: a shape that cannot be used, such as a cone, or a mesh whose file is gone.
        MissingPackageError: a mesh, whose convex hull needs SciPy (`pip install kinetree[mesh]`).

    Source: Ericson, Real-Time Collision Detection (2005), chapter 5; signs and degenerate cases as in MuJoCo.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("ragdoll")
    >>> round(float(kt.contact.distance(robot, robot.neutral(), "left_upper_arm", "head")), 6)
    0.159682
    """
    return run(DISTANCE, robot, (q,), a=a, b=b, parameters=parameters, out=out, threads=threads)


@defined_by(CLOSEST_POINTS)
def closest_points(
    robot: Model,
    q: ArrayLike,
    a: str,
    b: str,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The points of two collision shapes of a robot that are nearest to each other.

    Args:
        a, b: each the name of a collision shape, the name of a body that has one collision shape, or "NAME[k]" for the
            collision shape k of the body NAME, counted from zero.

    Returns:
        Points (…, 2, 3) in the world, on a and on b; m. They are |distance| apart; of overlapping shapes, moving b by
        the first point minus the second one parts them. Where several points are nearest, such as those of parallel
        faces, it is one of them.

    Raises:
        NameNotFoundError: the robot has no such shape.
        OptionError: a body that has several collision shapes or none, or a pair of shapes that is not computed.
        ModelError: a shape that cannot be used, such as a cone, or a mesh whose file is gone.
        MissingPackageError: a mesh, whose convex hull needs SciPy (`pip install kinetree[mesh]`).

    Source: Ericson, Real-Time Collision Detection (2005), chapter 5; signs and degenerate cases as in MuJoCo.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("ragdoll")
    >>> kt.contact.closest_points(robot, robot.neutral(), "left_upper_arm", "head").round(6).tolist()
    [[0.0, 0.18854, 0.457175], [0.0, 0.076903, 0.571349]]
    """
    return run(CLOSEST_POINTS, robot, (q,), a=a, b=b, parameters=parameters, out=out, threads=threads)

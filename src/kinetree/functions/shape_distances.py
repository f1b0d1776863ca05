"""How far collision shapes of a robot are apart, and from where a ray begins, as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf, nan
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.contact_model.shapes import Shapes
from kinetree.errors import ModelError, NameNotFoundError, OptionError, listed, nearest_names, quoted
from kinetree.expr import Scalar, absolute, less, less_equal, minimum, otherwise, select, sqrt
from kinetree.functions.options import frame_option
from kinetree.model import Body, Frame, Model
from kinetree.model.parameters import GivenNumbers
from kinetree.records import record
from kinetree.spatial import Transform, Vec3

if TYPE_CHECKING:
    from kinetree import collision

__all__ = ["closest_points", "distance", "nearest_places", "ray_distance", "shape_pairs"]


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
        """A copy with the size and the placement that a call gives."""
        from kinetree.contact_model.overrides import placed_again, resized  # only functions of shapes need it

        own = given.shapes.get((self.body, self.number), {})
        return replace(self, shape=resized(self.shape, own), placement=placed_again(self.placement, self.within, own))


@record(frozen=True, slots=True)
class Seen:
    """The shapes that rays may meet."""

    shapes: tuple[PlacedShape, ...]
    are_all: bool
    """Whether nobody chose them: then those of the body that carries the rays do not count."""

    def with_parameters(self, given: GivenNumbers) -> Seen:
        """A copy with the sizes and the placements that a call gives."""
        return replace(self, shapes=tuple(shape.with_parameters(given) for shape in self.shapes))


def _shape_option(argument: str) -> Callable[[Model, Any], Hashable]:
    """How an argument that names a collision shape is resolved."""

    def resolve(model: Model, name: Any) -> PlacedShape:
        if not isinstance(name, str):
            raise OptionError(f"{argument} must be the name of a shape or of a body, not {name!r:.60}")
        body, numbers = _named(model, name)
        if len(numbers) > 1:
            each = listed(f"{f'{body.name}[{k}]'!r} ({body.geometry[i].shape})" for k, i in enumerate(numbers))
            raise OptionError(
                f"the body {quoted(body.name)} has {len(numbers)} collision shapes; name one of them: {each}"
            )
        return _placed(model, body, numbers[0])

    return resolve


def shape_pairs(model: Model, pairs: Sequence[tuple[str, str]]) -> tuple[tuple[PlacedShape, PlacedShape], ...]:
    """All pairs of shapes of pairs of names: a body's name stands for each of its shapes."""
    return tuple(
        (_placed(model, body_a, i), _placed(model, body_b, j))
        for (body_a, of_a), (body_b, of_b) in ((_named(model, a), _named(model, b)) for a, b in pairs)
        for i in of_a
        for j in of_b
    )


def _placed(model: Model, body: Body, number: int, *, by_rays: bool = False) -> PlacedShape:
    shapes = Shapes(model, most_corners=None)
    find = shapes.surface if by_rays else shapes.placed
    try:
        placed = find(body.name, number, body.geometry[number])
    except ModelError as error:
        raise ModelError(f"{quoted(body.name)}: {error}") from None
    return PlacedShape(body.name, placed.placement, placed.shape, number, placed.within)


def _named(model: Model, name: str) -> tuple[Body, list[int]]:
    """The shapes of a name, by their places in a body's `geometry`: one of that name, all of a body, or NAME[k]."""
    named: list[tuple[Body, list[int]]] = []
    numbered: dict[str, tuple[Body, list[int]]] = {}
    for body in model.bodies.values():
        for k, i in enumerate(_colliding(body)):
            numbered[f"{body.name}[{k}]"] = body, [i]
            if body.geometry[i].name == name:
                named.append((body, [i]))
    if len(named) > 1:
        owners = listed(repr(body.name) for body, _ in named)
        raise OptionError(
            f"{len(named)} collision shapes of {quoted(model.name)} are called {quoted(name)}, on {owners}; "
            f"name one by its body and its number, such as {named[0][0].name + '[0]'!r}"
        )
    if named:
        return named[0]
    if name in model.bodies:
        body = model.bodies[name]
        if numbers := _colliding(body):
            return body, numbers
        having = list(dict.fromkeys(other.name for other, _ in numbered.values()))
        have = f"bodies that have one are {listed(map(repr, having), most=10)}" if having else "no body has one"
        raise OptionError(f"the body {quoted(body.name)} has no collision shape; {have}")
    if name in numbered:
        return numbered[name]
    known = {body.geometry[numbers[0]].name for body, numbers in numbered.values()} - {""}
    known |= {body.name for body, _ in numbered.values()}
    raise NameNotFoundError(
        f"{quoted(model.name)} has no collision shape {quoted(name)}: {nearest_names(name, sorted(known))}"
    )


def _colliding(body: Body) -> list[int]:
    return [k for k, geometry in enumerate(body.geometry) if geometry.role == "collision"]


def _closest(model: Form, q: Slots, a: PlacedShape, b: PlacedShape) -> collision.ContactPoint:
    from kinetree.collision import closest  # only these functions need it

    X_a, X_b = _placements(model, algorithms.placements(model.tree, q), a, b)
    return closest(a.shape, X_a, b.shape, X_b)


def _placements(model: Form, X_0: Sequence[Transform], *shapes: PlacedShape) -> list[Transform]:
    frames = [model.frames[shape.body] for shape in shapes]
    return [s.placement @ f.placement @ X_0[f.slot] for s, f in zip(shapes, frames, strict=True)]


def _distance(model: Form, q: Slots, *, a: PlacedShape, b: PlacedShape) -> Sequence[Scalar]:
    return (_closest(model, q, a, b).distance,)


def _points(model: Form, q: Slots, *, a: PlacedShape, b: PlacedShape) -> Sequence[Scalar]:
    on_a, on_b = _closest(model, q, a, b).ends
    return (*on_a.components(), *on_b.components())


def _frame_option(model: Model, name: Any) -> Frame | None:
    return None if name is None else frame_option(model, name)


def _bodies_option(model: Model, names: Any) -> Seen:
    """The shapes of these bodies, of all for None."""
    if names is not None and (isinstance(names, str) or not isinstance(names, Sequence)):
        hint = f", such as [{names!r}]" if isinstance(names, str) else ""
        raise OptionError(f"bodies must be a list of names of bodies{hint}, or None for all, not {names!r:.60}")
    bodies = [model.bodies[name] for name in (model.bodies if names is None else names)]
    shapes = tuple(_placed(model, body, i, by_rays=True) for body in bodies for i in _colliding(body))
    if not shapes:
        who = quoted(model.name) if names is None else listed(map(repr, names), most=8)
        raise OptionError(f"there is nothing that a ray may meet: {who} has no collision shape")
    return Seen(shapes, names is None)


def _ray(
    model: Form, q: Slots, origin: Sequence[Scalar], direction: Sequence[Scalar], *, frame: Frame | None, bodies: Seen
) -> Sequence[Scalar]:
    from kinetree.collision import MISSED, ray_distance

    X_0 = algorithms.placements(model.tree, q)
    p, d = Vec3(*origin), Vec3(*direction)
    if frame is not None:
        X = frame.placement @ X_0[frame.slot]
        p, d = X.r + X.E.T @ p, X.E.T @ d
    d = d * (1.0 / sqrt(d.dot(d)))
    distance: Scalar = MISSED
    for shape in bodies.shapes:
        if bodies.are_all and frame is not None and frame.body == shape.body:
            continue
        (placed,) = _placements(model, X_0, shape)
        distance = minimum(distance, ray_distance(shape.shape, placed, p, d))
    is_known = less_equal(absolute(p.dot(d)), inf)
    return (select(is_known, select(less(distance, MISSED), distance, inf), nan),)


def _nearest(
    model: Form, q: Slots, *, pairs: Sequence[tuple[PlacedShape, PlacedShape]], margin: float, is_clipped: bool
) -> list[Scalar]:
    """The distance, the normal from a to b and the point between, pair by pair, as `nearest_places` says."""
    from kinetree.collision import FAR, closest, has_loops
    from kinetree.collision.contact_point import between_spheres
    from kinetree.collision.far_apart import enclosing_radius

    X_0 = algorithms.placements(model.tree, q)
    numbers: list[Scalar] = []
    for a, b in pairs:
        X_a, X_b = _placements(model, X_0, a, b)
        shapes = a.shape, X_a, b.shape, X_b
        r_a, r_b = enclosing_radius(a.shape), enclosing_radius(b.shape)
        if r_a is None or r_b is None or not has_loops(a.shape.kind, b.shape.kind):
            numbers += _numbers(closest(*shapes))
            continue
        balls = between_spheres(X_a.r, r_a, X_b.r, r_b)
        is_far = less(margin if is_clipped else margin + r_a + r_b, balls.distance)
        near = otherwise(is_far, [0.0] * _NUMBERS, partial(_iterated, *shapes, margin if is_clipped else FAR))
        numbers += [select(is_far, x, y) for x, y in zip(_numbers(balls), near, strict=True)]
    return numbers


_NUMBERS = 7


def _iterated(*pair: Any) -> list[Scalar]:
    from kinetree.collision.convex import convex_convex

    return _numbers(*convex_convex(*pair))


def _numbers(point: collision.ContactPoint) -> list[Scalar]:
    return [point.distance, *point.normal.components(), *point.position.components()]


def _iterates(_: Model, options: Mapping[str, Any]) -> bool:
    """Whether the distance is found by iterations, which are loops of the program."""
    from kinetree.collision import has_loops

    return has_loops(options["a"].shape.kind, options["b"].shape.kind)


_SHAPES = {"a": _shape_option("a"), "b": _shape_option("b")}
_STRATEGY = Strategy(is_dense=_iterates)
DISTANCE = Definition("distance", (("q", "nq"),), (), _distance, _SHAPES, strategy=_STRATEGY)
CLOSEST_POINTS = Definition("closest_points", (("q", "nq"),), (2, 3), _points, _SHAPES, strategy=_STRATEGY)
RAY_DISTANCE = Definition(
    "ray_distance", (("q", "nq"), ("origin", 3), ("direction", 3)), (), _ray,
    {"frame": _frame_option, "bodies": _bodies_option},
    strategy=Strategy(is_dense=lambda _, o: any(x.shape.kind in ("mesh", "heightfield") for x in o["bodies"].shapes)),
)  # fmt: skip
NEAREST = Definition(
    "nearest_places", (("q", "nq"),), lambda _, options: (len(options["pairs"]), _NUMBERS), _nearest,
    {"pairs": shape_pairs, "margin": lambda _, x: x, "is_clipped": lambda _, x: x}, takes_parameters=False,
    strategy=Strategy(is_dense=lambda model, o: any(_iterates(model, {"a": a, "b": b}) for a, b in o["pairs"])),
)  # fmt: skip


def nearest_places(
    robot: Model, q: ArrayLike, pairs: Sequence[tuple[str, str]], margin: float, *, is_clipped: bool
) -> tuple[Array, Array, Array]:
    """How far pairs of shapes are apart (…, p), the normals (…, p, 3) from a to b and the points between (…, p, 3).

    Shapes that are found by iterations count as balls around them where these are farther apart than the margin and
    their radii together: their distance is less, and needs no search. If distances are clipped, any number above the
    margin may be in the place of a larger distance.
    """
    numbers = run(NEAREST, robot, (q,), pairs=pairs, margin=margin, is_clipped=is_clipped)
    return numbers[..., 0], numbers[..., 1:4], numbers[..., 4:]


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
        an upper bound of it. `kinetree docs collision_pairs` lists exact, approximate and unsupported pairs.

    Raises:
        NameNotFoundError: the robot has no such shape.
        OptionError: a body that has several collision shapes or none, or a pair of shapes that is not computed.
        ModelError: a shape that cannot be used, such as a cone, or a mesh whose file is gone.
        MissingPackageError: a mesh, whose convex hull needs SciPy (`pip install 'kinetree[mesh]'`).

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
        MissingPackageError: a mesh, whose convex hull needs SciPy (`pip install 'kinetree[mesh]'`).

    Source: Ericson, Real-Time Collision Detection (2005), chapter 5; signs and degenerate cases as in MuJoCo.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("ragdoll")
    >>> kt.contact.closest_points(robot, robot.neutral(), "left_upper_arm", "head").round(6).tolist()
    [[0.0, 0.18854, 0.457175], [0.0, 0.076903, 0.571349]]
    """
    return run(CLOSEST_POINTS, robot, (q,), a=a, b=b, parameters=parameters, out=out, threads=threads)


@defined_by(RAY_DISTANCE)
def ray_distance(
    robot: Model,
    q: ArrayLike,
    origin: ArrayLike,
    direction: ArrayLike,
    *,
    frame: str | None = None,
    bodies: Sequence[str] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """How far a ray goes until it meets a collision shape of a robot.

    From inside a shape it goes until it leaves the shape. Meshes count as they are, not as their convex hulls, and a
    plane as far as its file says. All of origin, direction and q may have leading axes, so one call casts the rays of
    a lidar or of a scan of the ground.

    Args:
        origin: the point at which a ray begins (…, 3); m.
        direction: where it goes (…, 3), of any length; that of one of length zero is NaN.
        frame: the frame in which both are given, which carries the rays along; by default the world.
        bodies: the names of the bodies whose shapes count; by default all except that of the frame. Grounds and other
            scenery are of the root.

    Returns:
        Distance (…); m; infinite where the ray meets nothing.

    Raises:
        NameNotFoundError: the robot has no such frame or body.
        OptionError: bodies is not a list of names, or none of them has a collision shape.
        ModelError: a shape that cannot be used, such as a cone, or a mesh whose file is gone.

    Source: Ericson, Real-Time Collision Detection (2005), section 5.3; as `mj_ray` of MuJoCo has it.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("ragdoll")
    >>> round(float(kt.contact.ray_distance(robot, robot.neutral(), [2.0, 0.0, 0.0], [-1.0, 0.0, 0.0])), 6)
    1.90202
    """
    options: dict[str, Any] = {} if frame is None else {"frame": frame}
    if bodies is not None:
        options["bodies"] = tuple(bodies) if isinstance(bodies, list) else bodies
    return run(RAY_DISTANCE, robot, (q, origin, direction), parameters=parameters, out=out, threads=threads, **options)

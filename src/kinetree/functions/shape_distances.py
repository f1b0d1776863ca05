"""How far two collision shapes of a robot are apart, as functions of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.expr import Scalar
from kinetree.functions.collision_shapes import PlacedShape, shape_option
from kinetree.model import Model

if TYPE_CHECKING:
    from kinetree.collision import ContactPoint

__all__ = ["closest_points", "distance"]


def _closest(model: Form, q: Slots, a: PlacedShape, b: PlacedShape) -> ContactPoint:
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


_SHAPES = {"a": shape_option("a"), "b": shape_option("b")}
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
        an upper bound of it. docs/collision.md says for which pairs of shapes what is exact, and what is not computed.

    Raises:
        NameNotFoundError: there is no such shape.
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
        NameNotFoundError: there is no such shape.
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

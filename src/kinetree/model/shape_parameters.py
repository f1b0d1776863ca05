"""Numbers of a robot's shapes by name: those that their contacts depend on.

    shape.NAME.size         (n,)     lengths as in its `Geometry`, m: of spheres, capsules, cylinders, ellipsoids, boxes
    shape.NAME.placement    (7,)     the shape's frame in its body's: position, m, and quaternion x, y, z, w
    shape.NAME.friction     (3,)     coefficients of sliding, torsional (m) and rolling (m) friction
    shape.NAME.solref       (2,)     time constant, s, and damping ratio; or stiffness and damping, both negative
    shape.NAME.solimp       (5,)     impedance at the surface and from the width on, width (m), midpoint, power
    shape.NAME.margin       ()       the distance below which its contacts act, m

NAME is the shape's own name, if no other shape has it; or BODY[k], for the shape k of `robot.bodies[BODY].geometry`.
Shapes of a body's other alternatives follow those of the one that is present.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kinetree.expr import Scalar
from kinetree.model.checks.parts import hint
from kinetree.model.elements import Geometry
from kinetree.model.extras.contacts import ContactParameters
from kinetree.model.robot import Robot
from kinetree.records import record

__all__ = ["PLACEMENT_SIZE", "ShapeOf", "find_shape", "names_of_shapes", "no_such_shape", "nominal_of_shape"]

PLACEMENT_SIZE = 7
_OF_ALL = {"placement": (PLACEMENT_SIZE,), "friction": (3,), "solref": (2,), "solimp": (5,), "margin": ()}
_LENGTHS = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
_USUAL = ContactParameters()


@record(frozen=True, slots=True)
class ShapeOf:
    """A shape, by its place in the geometry of a body."""

    name: str
    body: str
    number: int
    geometry: Geometry


def names_of_shapes(model: Robot) -> Iterator[str]:
    """The names of all parameters of the shapes that may touch others."""
    for name, shape in _shapes(model).items():
        if shape.name == name:
            yield from (f"shape.{name}.{quantity}" for quantity in _quantities(shape.geometry))


def find_shape(model: Robot, name: str, quantity: str) -> tuple[ShapeOf, tuple[int, ...]] | None:
    """The shape of a name and the size of one of its quantities, if there are such."""
    shape = _shapes(model).get(name)
    sizes = {} if shape is None else _quantities(shape.geometry)
    return None if shape is None or quantity not in sizes else (shape, sizes[quantity])


def nominal_of_shape(shape: ShapeOf, quantity: str) -> Sequence[Scalar]:
    """The shape's own numbers; shapes of files that say nothing of contacts have the usual ones."""
    if quantity == "size":
        return shape.geometry.size
    own = shape.geometry.contact or _USUAL
    numbers: float | tuple[float, ...] = getattr(own, quantity)
    return numbers if isinstance(numbers, tuple) else (numbers,)


def no_such_shape(model: Robot, name: str) -> str:
    """A message about an unknown name, with the closest ones."""
    shapes = _shapes(model)
    if name in shapes:
        return f"the {shapes[name].geometry.shape} {name!r} has {', '.join(_quantities(shapes[name].geometry))}"
    return f"there is no shape {name!r} that touches others; {hint(name, shapes)}"


def _quantities(geometry: Geometry) -> dict[str, tuple[int, ...]]:
    lengths = _LENGTHS.get(geometry.shape)
    return _OF_ALL if lengths is None else {"size": (lengths,), **_OF_ALL}


def _shapes(model: Robot) -> dict[str, ShapeOf]:
    """All shapes that may touch others, by the names that each of them has; its own first."""
    every = [
        (body.name, k, shape)
        for body in model.bodies.values()
        for k, (_, shape) in enumerate(body.every_shape)
        if shape.may_touch
    ]
    numbered = {f"{body}[{k}]": (body, k, shape) for body, k, shape in every}
    often = Counter(shape.name for _, _, shape in every)
    shapes: dict[str, ShapeOf] = {}
    for place, (body, k, shape) in numbered.items():
        own = shape.name if often[shape.name] == 1 and shape.name and shape.name not in numbered else place
        shapes[own] = shapes[place] = ShapeOf(own, body, k, shape)
    return shapes

"""Numbers that a call gives in place of a robot's own: of shapes, pairs, limits, dry friction and equalities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kinetree.algorithms.softness import Softness
from kinetree.collision.shapes import Shape, simple_shape
from kinetree.contact_model.mixing import LEAST_FRICTION, FiveNumbers, Touch, impedance, mixed, usual_where_mixed
from kinetree.expr import Scalar, maximum
from kinetree.model.extras import ContactParameters, SimulationOptions
from kinetree.model.parameters import placement_from
from kinetree.spatial import Transform

__all__ = ["frictions_again", "margin_again", "mixed_again", "placed_again", "resized", "softened_again"]

Numbers = Mapping[str, Sequence[Scalar]]
"""By quantity, as in the names of parameters."""


def resized(shape: Shape, numbers: Numbers) -> Shape:
    """The shape with the lengths that are given."""
    if "size" not in numbers:
        return shape
    simple = simple_shape(shape.kind, numbers["size"])
    assert simple is not None
    return simple


def placed_again(placement: Transform, within: Transform | None, numbers: Numbers) -> Transform:
    """The placement that is given to a geometry, with that of the shape within it; or the present one."""
    if "placement" not in numbers:
        return placement
    own = placement_from(numbers["placement"])
    return own if within is None else within @ own


def mixed_again(
    sides: tuple[ContactParameters, ContactParameters] | None, sides_numbers: tuple[Numbers, Numbers]
) -> Touch | None:
    """The parameters of a contact of two shapes with the numbers that are given; None where these are not of them."""
    if sides is None or not any(_MIXED.intersection(numbers) for numbers in sides_numbers):
        return None
    one, other = (_with(side, numbers) for side, numbers in zip(sides, sides_numbers, strict=True))
    touch = mixed(one, other, SimulationOptions())
    return replace(touch, solref=usual_where_mixed(touch.solref), solimp=impedance(touch.solimp))


def softened_again(own: Softness, values: Numbers, of: str = "") -> Softness:
    """The softness with the reference and the impedance that are given; `of` ends their names, such as "_limit"."""
    if (reference := values.get(f"solref{of}")) is not None:
        own = replace(own, reference=usual_where_mixed((reference[0], reference[1])))
    if (numbers := values.get(f"solimp{of}")) is not None:
        own = replace(own, impedance=impedance(numbers))
    return own


def margin_again(own: Scalar, numbers: Numbers) -> Scalar:
    """The margin that is given, or the present one."""
    (margin,) = numbers.get("margin", (own,))
    return margin


def frictions_again(own: FiveNumbers, numbers: Numbers) -> FiveNumbers:
    """The coefficients of a pair that are given, or the present ones."""
    if "friction" not in numbers:
        return own
    a, b, c, d, e = (maximum(x, LEAST_FRICTION) for x in numbers["friction"])
    return a, b, c, d, e


def _with(side: ContactParameters, numbers: Numbers) -> ContactParameters:
    changed: dict[str, Any] = {name: tuple(numbers[name]) for name in _MIXED.intersection(numbers)}
    if "margin" in changed:
        (changed["margin"],) = numbers["margin"]
    return replace(side, **changed)


_MIXED = frozenset({"friction", "solref", "solimp", "margin"})

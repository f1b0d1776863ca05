"""How the forces of a medium on boxes (fluid.py) decrease with velocity; those on ellipsoids count as given.

Each force acts along a direction in which a box moves, and depends on the velocity in that direction alone. So with the
names of fluid.py -∂f₁/∂v₁ and -∂n₁/∂ω₁ are

    3 π d β + ρ b c |v₁|,    π d³ β + ρ/32 a (b⁴ + c⁴) |ω₁|
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

from kinetree.algorithms.fluid import Immersed, ImmersedBox, Medium
from kinetree.algorithms.implicit_forces import Slope
from kinetree.algorithms.transmissions import View, at_site, reach_velocity
from kinetree.expr import Scalar, absolute
from kinetree.spatial import Vec3

__all__ = ["fluid_slopes"]


def fluid_slopes(
    view: View, qd: Sequence[Sequence[Scalar]], shapes: Sequence[tuple[int, Immersed]], medium: Medium
) -> list[Slope]:
    """The slopes along the axes of all boxes, given with the slots of their bodies."""
    found: list[Slope] = []
    beta, rho = medium.viscosity, medium.density
    for i, box in shapes:
        if not isinstance(box, ImmersedBox):
            continue
        wind = (box.frame.E @ (view.X_0[i].E @ Vec3(*medium.wind))).components()
        d = sum(box.sides) / 3.0
        for k, axis in enumerate(_AXES):
            a, b, c = box.sides[k], box.sides[k - 2], box.sides[k - 1]
            along, about = at_site(view, i, box.frame, axis, _ZERO), at_site(view, i, box.frame, _ZERO, axis)
            v_k, w_k = reach_velocity(along, qd) - wind[k], reach_velocity(about, qd)
            found.append(Slope(along.moment, 3.0 * pi * d * beta + rho * b * c * absolute(v_k), 0.0))
            found.append(Slope(about.moment, pi * d**3 * beta + rho / 32.0 * a * (b**4 + c**4) * absolute(w_k), 0.0))
    return found


_ZERO = Vec3(0.0, 0.0, 0.0)
_AXES = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))

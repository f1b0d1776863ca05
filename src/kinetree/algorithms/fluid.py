"""Joint forces of the medium in which bodies move, each taken for the box that has its mass and inertia, or for others.

With the velocity v of the centre of mass relative to the medium and the angular velocity ω, along the box's axes, with
its sides a, b and c, their mean d, the density ρ and the viscosity β, the first components are

    f₁ = -3 π d β v₁ - ρ/2 b c |v₁| v₁,    n₁ = -π d³ β ω₁ - ρ/64 a (b⁴ + c⁴) |ω₁| ω₁

Source: MuJoCo documentation, "Computation", section on fluid forces, inertia model; version 4. The forces are passed
inward as in Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 5.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi
from typing import Protocol

from kinetree.algorithms.implicit_forces import Slope
from kinetree.algorithms.transmissions import View, at_site, reach_velocity
from kinetree.expr import Scalar, absolute
from kinetree.records import record
from kinetree.spatial import Force, Mat3, Motion, Subspace, Transform, Vec3
from kinetree.tree import Tree

__all__ = ["Immersed", "ImmersedBox", "Medium", "fluid_forces", "fluid_slopes"]

Pieces = Sequence[Sequence[Scalar]]


@record(frozen=True, slots=True)
class Medium:
    """The medium that bodies move in."""

    density: float = 0.0
    """kg/m³"""
    viscosity: float = 0.0
    """Pa·s"""
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Its velocity in the world, m/s."""


class Immersed(Protocol):
    """A shape in a medium."""

    @property
    def frame(self) -> Transform:
        """From the moving body's coordinates to those of the shape."""
        ...

    def wrench(self, motion: Motion, medium: Medium) -> Force:
        """The force of the medium, from the motion relative to it; both in the shape's coordinates."""
        ...


@record(frozen=True, slots=True)
class ImmersedBox:
    """The box of a body."""

    frame: Transform
    """From the moving body's coordinates to those of the box."""
    sides: tuple[float, float, float]
    """m"""

    def wrench(self, motion: Motion, medium: Medium) -> Force:
        """The force of the medium, from the motion relative to it; both in the box's coordinates."""
        d = sum(self.sides) / 3.0
        beta, rho = medium.viscosity, medium.density
        force: list[Scalar] = []
        torque: list[Scalar] = []
        for k, (v, w) in enumerate(zip(motion.linear.components(), motion.angular.components(), strict=True)):
            a, b, c = self.sides[k], self.sides[k - 2], self.sides[k - 1]
            force.append(-((3.0 * pi * d * beta + 0.5 * rho * b * c * absolute(v)) * v))
            torque.append(-((pi * d**3 * beta + rho / 64.0 * a * (b**4 + c**4) * absolute(w)) * w))
        return Force(Vec3(*torque), Vec3(*force))


def fluid_forces(
    tree: Tree, q: Pieces, qd: Pieces, shapes: Mapping[int, Sequence[Immersed]], medium: Medium
) -> list[Sequence[Scalar]]:
    """Joint forces of the medium on these shapes, by the slots of their bodies."""
    X = tree.slots(Transform)
    S = tree.slots(Subspace)
    v = tree.slots(Motion)
    E_0 = tree.slots(Mat3)
    f = tree.slots(Force)
    tau = tree.pieces()
    v[0], E_0[0], f[0] = Motion.zero(), Mat3.identity(), Force.zero()
    wind = Vec3(*medium.wind)
    for i, p in tree.outward:
        X_J, S[i], v_J, _ = tree.joint[i].calc(q[i], qd[i])
        X[i] = X_J @ tree.X_T[i]
        v[i] = X[i] @ v[p] + v_J
        E_0[i] = X[i].E.times(E_0[p])
        f[i] = Force.zero()
        for shape in shapes.get(i, ()):
            own = shape.frame @ v[i]
            flow = own.linear - shape.frame.E @ (E_0[i] @ wind)
            f[i] = f[i] + shape.frame.back(shape.wrench(Motion(own.angular, flow), medium))
    for i, p in tree.inward:
        tau[i] = S[i].project(f[i])
        f[p] = f[p] + X[i].back(f[i])
    return tau[1:]


def fluid_slopes(
    view: View, qd: Sequence[Sequence[Scalar]], shapes: Sequence[tuple[int, Immersed]], medium: Medium
) -> list[Slope]:
    """How forces on boxes decrease with velocity, with the slots of their bodies; those on ellipsoids count as given.

    Each force acts along a direction in which a box moves, and depends on the velocity there alone: -∂f₁/∂v₁ is
    3 π d β + ρ b c |v₁|, and -∂n₁/∂ω₁ is π d³ β + ρ/32 a (b⁴ + c⁴) |ω₁|.
    """
    slopes: list[Slope] = []
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
            slopes.append(Slope(along.moment, 3.0 * pi * d * beta + rho * b * c * absolute(v_k), 0.0))
            slopes.append(Slope(about.moment, pi * d**3 * beta + rho / 32.0 * a * (b**4 + c**4) * absolute(w_k), 0.0))
    return slopes


_ZERO = Vec3(0.0, 0.0, 0.0)
_AXES = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))

"""From a robot to the medium of its file and the bodies in it, as MuJoCo takes them from an MJCF file.

Shapes as ellipsoids in a medium, with their virtual masses and inertias: MuJoCo's `fluidshape`.

    κ_x = ∫₀^∞ r_x r_y r_z dλ / √((r_x² + λ)³ (r_y² + λ) (r_z² + λ)),    m_x = V κ_x / (2 - κ_x)
    I_x = V/5 (r_y² - r_z²)² |κ_z - κ_y| / |2 (r_y² - r_z²) + (r_y² + r_z²) (κ_y - κ_z)|

MuJoCo finds κ by the 15-point rule of Kronrod with λ = (r_x³ r_y r_z)^(2/5) x³ / (1 - x)², 0 < x < 1, whose places and
weights it rounds to eight digits; so it is here.

Source: MuJoCo documentation, "Computation", section on fluid forces, ellipsoid model; version 4. The rule: Kronrod,
*Nodes and Weights of Quadrature Formulas* (1965).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kinetree.algorithms.fluid import ImmersedBox, Medium
from kinetree.algorithms.fluid_ellipsoids import ImmersedEllipsoid
from kinetree.errors import OptionError
from kinetree.model import Body, Model
from kinetree.model.extras import ShapeSettings, SimulationOptions
from kinetree.records import record
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["Immersion", "immersion"]

Floats = NDArray[np.float64]

_TINY = 1e-15
_OFF_AXES = 1e-6
"""The largest product of inertia about principal axes, relative to the largest moment."""


@record(frozen=True, slots=True)
class Immersion:
    """A medium, and the bodies in it: the boxes of bodies, or ellipsoids in their place."""

    medium: Medium = Medium()
    shapes: tuple[tuple[str, ImmersedBox | ImmersedEllipsoid], ...] = ()
    """With the name of each body. Their frames are from its own coordinates."""

    def in_slots(self, bodies: Mapping[str, Body]) -> tuple[tuple[int, ImmersedBox | ImmersedEllipsoid], ...]:
        """The shapes by slots, with frames from the coordinates of moving bodies, which depend on a robot's form."""
        placed = ((bodies[name], shape) for name, shape in self.shapes)
        return tuple((body.slot, replace(shape, frame=shape.frame @ body.placement)) for body, shape in placed)


def immersion(robot: Model) -> Immersion:
    """The medium of a robot's file, and the bodies in it.

    Raises:
        OptionError: the medium acts as on an ellipsoid on a shape that has no half axes; the message names its body.
    """
    options = robot.extras.options or SimulationOptions()
    if not options.density and not options.viscosity:
        return Immersion()
    given = {one.body: one.principal_axes for one in robot.extras.bodies if one.principal_axes}
    settings: dict[str, list[ShapeSettings]] = {}
    for shape in robot.extras.shapes:
        if shape.fluid_shape != "none":
            settings.setdefault(shape.body, []).append(shape)
    shapes: list[tuple[str, ImmersedBox | ImmersedEllipsoid]] = []
    for name, body in robot.bodies.items():
        if not body.slot or float(body.inertia.mass) < _TINY:
            continue
        if name in settings:
            shapes += [(name, immersed_ellipsoid(robot.name, body, one)) for one in settings[name]]
        else:
            shapes.append((name, _box(body, given.get(name))))
    return Immersion(Medium(options.density, options.viscosity, options.wind), tuple(shapes))


def _box(body: Body, given: tuple[float, ...] | None) -> ImmersedBox:
    mass = float(body.inertia.mass)
    central = body.inertia.about_center_of_mass
    axes = np.array(given).reshape(3, 3) if given else np.linalg.eigh(central)[1].T
    turned = axes @ central @ axes.T
    if np.abs(turned - np.diag(turned.diagonal())).max() > _OFF_AXES * turned.max():  # given for another inertia
        axes = np.linalg.eigh(central)[1].T
        turned = axes @ central @ axes.T
    x, y, z = (float(m) for m in turned.diagonal())
    a, b, c = (math.sqrt(6.0 * max(s, _TINY) / mass) for s in (y + z - x, x + z - y, x + y - z))
    E = Mat3(*(Vec3(*map(float, row)) for row in axes))
    center = Vec3(*map(float, body.inertia.center_of_mass))
    return ImmersedBox(Transform(E, center), (a, b, c))


Axes = tuple[float, float, float]

_PLACES = (0.00427231, 0.02544604, 0.06756779, 0.12923441, 0.20695638, 0.29707742, 0.39610752, 0.5)
"""The lower half; the others are as far from 1."""
_WEIGHTS = (0.01146766, 0.03154605, 0.05239501, 0.07032663, 0.08450236, 0.09517529, 0.10221647, 0.10474107)
_LEAST = 2.220446049250313e-16


def immersed_ellipsoid(robot: str, body: Body, one: ShapeSettings) -> ImmersedEllipsoid:
    """The ellipsoid in the place of a shape, with the frame from the body's own coordinates.

    Raises:
        OptionError: the shape has no half axes.
    """
    geometry = body.geometry[one.index]
    axes = _axes(geometry.shape, geometry.size)
    if axes is None:
        raise OptionError(
            f"{robot!r}: the medium acts as on an ellipsoid on the {geometry.shape} of {one.body!r}, whose half axes "
            'are not computed; give it fluidshape="none", or fit a simple shape to it'
        )
    coefficients = (*one.fluid_coefficients, *(0.5, 0.25, 1.5, 1.0, 1.0)[len(one.fluid_coefficients) :])
    blunt, slender, angular, kutta, magnus = coefficients
    x, y, z = axes
    volume = 4.0 / 3.0 * math.pi * x * y * z
    kx, ky, kz = (_kappa(*turned) for turned in ((x, y, z), (y, z, x), (z, x, y)))
    masses = [volume * k / max(2.0 - k, _LEAST) for k in (kx, ky, kz)]
    inertias = [0.2 * volume * _swirl(*both) for both in ((y, z, ky, kz), (z, x, kz, kx), (x, y, kx, ky))]
    return ImmersedEllipsoid(
        geometry.placement, axes, blunt, slender, angular, kutta, magnus, (masses[0], masses[1], masses[2]),
        (inertias[0], inertias[1], inertias[2]),
    )  # fmt: skip


def _axes(kind: str, size: tuple[float, ...]) -> Axes | None:
    match kind:
        case "sphere":
            return size[0], size[0], size[0]
        case "capsule":
            return size[0], size[0], size[0] + 0.5 * size[1]
        case "cylinder":
            return size[0], size[0], 0.5 * size[1]
        case "box":
            return 0.5 * size[0], 0.5 * size[1], 0.5 * size[2]
        case "ellipsoid":
            return size[0], size[1], size[2]
    return None


def _kappa(x: float, y: float, z: float) -> float:
    scale = (x**3 * y * z) ** 0.4
    total = 0.0
    for place, weight in zip(_PLACES, _WEIGHTS, strict=True):
        for u in {place, 1.0 - place}:
            length = scale * u**3 / (1.0 - u) ** 2
            slope = scale * u**2 * (3.0 - u) / (1.0 - u) ** 3
            a, b, c = (1.0 + length / r**2 for r in (x, y, z))
            total += weight * slope / (a * math.sqrt(a * b * c))
    return total / x**2


def _swirl(b: float, c: float, kb: float, kc: float) -> float:
    """Five times the virtual inertia about the third axis, per volume."""
    apart, together = b * b - c * c, b * b + c * c
    return apart**2 * abs(kc - kb) / max(abs(2.0 * apart + together * (kb - kc)), _LEAST)

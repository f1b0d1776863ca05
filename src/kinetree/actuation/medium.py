"""From a robot to the medium of its file and the bodies in it, as MuJoCo takes them from an MJCF file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kinetree.actuation.ellipsoids import immersed_ellipsoid
from kinetree.algorithms.fluid import ImmersedBox, Medium
from kinetree.algorithms.fluid_ellipsoids import ImmersedEllipsoid
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
    for one in robot.extras.shapes:
        if one.fluid_shape != "none":
            settings.setdefault(one.body, []).append(one)
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
    seen = axes @ central @ axes.T
    if np.abs(seen - np.diag(seen.diagonal())).max() > _OFF_AXES * seen.max():  # given for another inertia
        axes = np.linalg.eigh(central)[1].T
        seen = axes @ central @ axes.T
    x, y, z = (float(m) for m in seen.diagonal())
    a, b, c = (math.sqrt(6.0 * max(s, _TINY) / mass) for s in (y + z - x, x + z - y, x + y - z))
    E = Mat3(*(Vec3(*map(float, row)) for row in axes))
    center = Vec3(*map(float, body.inertia.center_of_mass))
    return ImmersedBox(Transform(E, center), (a, b, c))

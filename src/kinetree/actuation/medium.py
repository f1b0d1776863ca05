"""From a robot to the medium of its file and the boxes that move in it: what MuJoCo takes from an MJCF file."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kinetree.algorithms.fluid import ImmersedBox, Medium
from kinetree.errors import OptionError
from kinetree.model import Body, Model
from kinetree.model.extras import SimulationOptions
from kinetree.records import record
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["Immersion", "immersion"]

Floats = NDArray[np.float64]

_TINY = 1e-15
_OFF_AXES = 1e-6
"""The largest product of inertia about principal axes, in parts of the largest moment."""


@record(frozen=True, slots=True)
class Immersion:
    """A medium, and the boxes of the bodies that move in it, with the slot of each."""

    medium: Medium = Medium()
    boxes: tuple[tuple[int, ImmersedBox], ...] = ()


def immersion(robot: Model) -> Immersion:
    """The medium of a robot's file, and what moves in it.

    Raises:
        OptionError: the medium acts on a shape as on an ellipsoid, which is not computed; the message names its body.
    """
    options = robot.extras.options or SimulationOptions()
    if not options.density and not options.viscosity:
        return Immersion()
    for shape in robot.extras.shapes:
        if shape.fluid_shape != "none":
            raise OptionError(
                f"{robot.name!r}: the medium acts on a shape of {shape.body!r} as on an {shape.fluid_shape}, which is "
                'not computed; give it fluidshape="none", or compute its force yourself and give it as tau'
            )
    given = {one.body: one.principal_axes for one in robot.extras.bodies if one.principal_axes}
    boxes = [
        (body.slot, _box(body, given.get(name)))
        for name, body in robot.bodies.items()
        if body.slot and float(body.inertia.mass) >= _TINY
    ]
    return Immersion(Medium(options.density, options.viscosity, options.wind), tuple(boxes))


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
    return ImmersedBox(Transform(E, center) @ body.placement, (a, b, c))

"""The law that carries the robot's weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.control.laws.law import applicable, driven, makes_a_law
from kinetree.functions.dynamics import gravity_forces
from kinetree.model import Model
from kinetree.programs import Program, program

__all__ = ["weight_compensation"]


@makes_a_law
def weight_compensation(robot: Model) -> Program:
    """A law that carries the robot's weight and brakes: τ = g(q) − D v.

    With D = 0 the robot floats: pushed, it coasts with constant kinetic energy. With D > 0 it comes to rest anywhere:
    the kinetic energy falls by vᵀ D v per second. (`kt.dynamics.gravity_compensation` is something else: the buoyancy
    of bodies in MJCF files.)

    Args:
        robot: the robot; every degree of freedom has a motor. A payload is a body of it (`robot.attach_body`).

    Returns:
        The program (q, v, damping) of the joint forces (nv,): q (nq,), v (nv,), damping (nv,), N·m·s/rad, by default 0.
        If they are not finite, all are zero.

    Source: Takegaki and Arimoto, "A new feedback method for dynamic control of manipulators", J. Dynamic Systems,
    Measurement and Control 103 (1981).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm6")
    >>> law = kt.control.weight_compensation(robot)
    >>> q = robot.random(0)
    >>> bool(np.allclose(law(q, np.zeros(6)), kt.gravity_forces(robot, q)))
    True
    """
    model = driven(robot, "weight_compensation")
    n, none = model.nv, np.zeros(model.nv)

    def weight_compensation(q: Any, v: Any, damping: Any = none) -> Any:
        return applicable(gravity_forces(model, q) - damping * v)

    return program(weight_compensation, q=model, v=n, damping=n)

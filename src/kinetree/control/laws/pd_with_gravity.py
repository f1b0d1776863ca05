"""Springs and dampers of the joints about a configuration, with the weight carried."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.control.laws.law import applicable, driven, makes_a_law
from kinetree.control.laws.tracking import Tracking
from kinetree.functions.dynamics import gravity_forces
from kinetree.model import Model
from kinetree.programs import Program, program

__all__ = ["pd_with_gravity", "weight_compensation"]


@makes_a_law
def pd_with_gravity(robot: Model) -> Program:
    """A law that leads to a configuration at rest: τ = K e − D v + g(q), with e = `kt.difference` from q to the target.

    **Stability.** For all K > 0 and D > 0 the target is asymptotically stable, from every start if v is the rate of q:
    V = ½ vᵀ M v + ½ eᵀ K e falls by vᵀ D v per second. For ball and free joints the spring is the gradient of ½ eᵀ K e,
    so V falls likewise; e jumps at half a turn. How quickly it settles depends on M(q): for a motion that is the same
    everywhere take `computed_torque`, for a damping ratio `joint_impedance`.

    Returns:
        The program (q, v, target, stiffness, damping) of the joint forces (nv,): q (nq,), v (nv,), target (nq,),
        stiffness (nv,), N·m/rad or N/m, damping (nv,), N·m·s/rad or N·s/m. If they are not finite, all are zero.

    Source: Takegaki and Arimoto, "A new feedback method for dynamic control of manipulators", J. Dynamic Systems,
    Measurement and Control 103 (1981).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm6")
    >>> law = kt.control.pd_with_gravity(robot)
    >>> target, at_rest = robot.random(0), [0.0] * 6
    >>> tau = law(target + 0.1, at_rest, target, [50.0] * 6, [10.0] * 6) - kt.gravity_forces(robot, target + 0.1)
    >>> tau.round(6).tolist()
    [-5.0, -5.0, -5.0, -5.0, -5.0, -5.0]
    """
    model = driven(robot, "pd_with_gravity")
    n, tracking = model.nv, Tracking(model)

    def pd_with_gravity(q: Any, v: Any, target: Any, stiffness: Any, damping: Any) -> Any:
        spring = tracking.force(q, target, stiffness * tracking.error(q, target))
        return applicable(spring - damping * v + gravity_forces(model, q))

    return program(pd_with_gravity, q=model, v=n, target=model, stiffness=n, damping=n)


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

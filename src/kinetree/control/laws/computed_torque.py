"""Computed torque: inverse dynamics that turns every joint into the same linear system."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.control.laws.law import applicable, driven, makes_a_law
from kinetree.control.laws.tracking import Tracking
from kinetree.functions.dynamics import rnea
from kinetree.model import Model
from kinetree.programs import Program, program

__all__ = ["computed_torque"]


@makes_a_law
def computed_torque(robot: Model) -> Program:
    """A law under which the error obeys ë + D ė + K e = 0: τ = rnea(q, v, v̇_d + D ė + K e).

    The error e is `kt.difference` from q to the target. D and K are diagonal: with D = 2 ζ ω and K = ω² a joint has the
    natural frequency ω and the damping ratio ζ in every configuration. For ball joints and free joints the target's
    velocity and acceleration are in its own axes, and the same equation holds exactly, within half a turn.

    **Stability.** The error decays exponentially for all K, D > 0, if the robot is as modelled and forces are
    continuous in time; a force d that is not modelled leaves the error K⁻¹ M⁻¹ d. Called every h seconds, ω h should be
    below about 0.2.

    Returns:
        The program (q, v, target, stiffness, damping, target_velocity, target_acceleration) of the joint forces (nv,):
        q and target (nq,); v, target_velocity and target_acceleration (nv,), the last two by default 0; stiffness (nv,)
        in 1/s², damping (nv,) in 1/s. If the forces are not finite, all are zero.

    Source: Luh, Walker and Paul, "Resolved-acceleration control of mechanical manipulators", IEEE Trans. Automatic
    Control 25 (1980); Siciliano et al., *Robotics: Modelling, Planning and Control* (2009), section 8.5.2.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm6")
    >>> law = kt.control.computed_torque(robot)
    >>> q, at_rest, target = robot.random(0), np.zeros(6), robot.random(1)
    >>> tau = law(q, at_rest, target, stiffness=np.full(6, 25.0), damping=np.full(6, 10.0))
    >>> bool(np.allclose(kt.aba(robot, q, at_rest, tau), 25.0 * (target - q)))
    True
    """
    model = driven(robot, "computed_torque")
    n, tracking, none = model.nv, Tracking(model), np.zeros(model.nv)

    def computed_torque(
        q: Any, v: Any, target: Any, stiffness: Any, damping: Any,
        target_velocity: Any = none, target_acceleration: Any = none,
    ) -> Any:  # fmt: skip
        feedback = -damping * tracking.rate(q, v, target, target_velocity) - stiffness * tracking.error(q, target)
        qdd = tracking.acceleration(q, v, target, target_velocity, target_acceleration, feedback)
        return applicable(rnea(model, q, v, qdd))

    return program(
        computed_torque, q=model, v=n, target=model, stiffness=n, damping=n, target_velocity=n, target_acceleration=n
    )

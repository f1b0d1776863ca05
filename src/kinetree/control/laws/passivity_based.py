"""The tracking law of Slotine and Li, which keeps the robot's own passivity."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.control.laws.law import applicable, driven, makes_a_law
from kinetree.control.laws.reference_forces import reference_forces
from kinetree.control.laws.tracking import Tracking
from kinetree.model import Model
from kinetree.programs import Program, program

__all__ = ["passivity_based"]


@makes_a_law
def passivity_based(robot: Model) -> Program:
    """A tracking law that cancels no Coriolis force: τ = M v̇_r + C(q, v) v_r + g + K s, with s = v_r − v.

    The reference velocity v_r = v_d + Λ e is that at which the error, `kt.difference` from q to the target, decays as
    ė = −Λ e. C is that of `kt.dynamics.coriolis_matrix`. For ball and free joints v_r is the same velocity on the
    manifold, and the target's velocity and acceleration are in its own axes.

    **Stability.** For all K > 0 and Λ > 0 the error tends to zero, less than half a turn from the target where there
    are rotations: M ṡ + (C + K) s = 0, and since Ṁ − 2 C is skew, V = ½ sᵀ M s falls by sᵀ K s per second. A force d
    that is not modelled leaves at most |s| = |d| / K. `adaptive` is this law with unknown masses.

    Returns:
        The program (q, v, target, rate, gain, target_velocity, target_acceleration) of the joint forces (nv,): q and
        target (nq,), v (nv,); rate (nv,), the diagonal of Λ in 1/s; gain (nv,), that of K in N·m·s/rad or N·s/m;
        target_velocity and target_acceleration (nv,), by default 0. If the forces are not finite, all are zero.

    Source: Slotine and Li, "On the adaptive control of robot manipulators", Int. J. Robotics Research 6 (1987); on
    manifolds Bullo and Murray, "Tracking for fully actuated mechanical systems: a geometric framework" (1999).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm6")
    >>> law = kt.control.passivity_based(robot)
    >>> q, v = robot.random(0), np.full(6, 0.3)
    >>> tau = law(q, v, q, np.full(6, 5.0), np.full(6, 10.0), v)  # on the way, where q̈ should be zero
    >>> bool(np.allclose(tau, kt.bias_forces(robot, q, v)))
    True
    """
    model = driven(robot, "passivity_based")
    n, tracking, none = model.nv, Tracking(model), np.zeros(model.nv)

    def passivity_based(
        q: Any, v: Any, target: Any, rate: Any, gain: Any,
        target_velocity: Any = none, target_acceleration: Any = none,
    ) -> Any:  # fmt: skip
        reference = tracking.reference(q, v, target, target_velocity, target_acceleration, rate)
        return applicable(reference_forces(model, q, v, *reference) + gain * (reference[0] - v))

    return program(
        passivity_based, q=model, v=n, target=model, rate=n, gain=n, target_velocity=n, target_acceleration=n
    )

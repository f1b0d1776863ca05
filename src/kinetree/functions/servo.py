"""Position and velocity servos of any robot, as a program that simulations and rollouts take as their controller."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import OptionError
from kinetree.functions.dynamics import gravity_forces
from kinetree.functions.kinematics import difference
from kinetree.inputs import flag, number_or_row
from kinetree.model import Model, check_robot
from kinetree.programs import Program, program

__all__ = ["servo"]


def servo(robot: Model, kp: ArrayLike, kd: ArrayLike, *, limits: bool = True, gravity: bool = False) -> Program:
    """Servos at all joints that have motors: tau = kp (target ⊖ q) + kd (target_v - v).

    The result is a program (`kt.program`) of q (nq,), v (nv,), target (nq,) and target_v (nv,), by default zero.
    `kt.simulate` and `kt.rollout` take it as `tau`, with the targets in `arguments` or, one row per step, in `rows`.
    It holds tau over a step, so that stiff servos need short steps. Servos that are actuators, as in MJCF files, take
    commands as `ctrl` and go with implicit integrators: `robot.with_servos(kp, kd)` gives them to any robot.

    Args:
        robot: the robot.
        kp: stiffness, one for all or (nv,); N·m/rad, N/m. Of a velocity servo it is 0.
        kd: damping, one for all or (nv,); N·m·s/rad, N·s/m.
        limits: whether the forces stay within the effort limits of the joints, `robot.effort_limit`.
        gravity: whether the gravity forces at q are added, so that the servo has no error at rest.

    Returns:
        The program. Its tau (nv,) is zero at joints without a motor, such as a floating base.

    Raises:
        OptionError: a gain is negative, or `limits` or `gravity` is not True or False.
        ShapeError: gains are neither one number nor (nv,).
        DTypeError: gains are not real numbers.

    Source: proportional and derivative control; the difference is that of `kt.difference`, along the joints.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("cart_pole")
    >>> servo = kt.dynamics.servo(robot, kp=100.0, kd=20.0)
    >>> motion = kt.simulate(robot, tau=servo, arguments={"target": [0.5, 0.0]}, duration=3.0)
    >>> round(float(motion.q[-1, 0]), 2)
    0.5
    """
    model = check_robot(robot)
    stiffness, damping = _gain(model, "kp", kp), _gain(model, "kd", kd)
    flag("servo: limits", limits)
    flag("servo: gravity", gravity)
    n = model.nv
    motors = np.asarray(model.actuated, dtype=np.float64)
    effort = np.asarray(model.effort_limit, dtype=np.float64)

    def servo(q: Any, v: Any, target: Any, target_v: Any = np.zeros(n)) -> Any:  # noqa: B008
        tau = stiffness * difference(model, q, target) + damping * (target_v - v)
        if gravity:
            tau = tau + gravity_forces(model, q)
        tau = tau * motors
        return np.clip(tau, -effort, effort) if limits else tau

    return program(servo, q=model, v=n, target=model, target_v=n)


def _gain(model: Model, name: str, value: ArrayLike) -> np.ndarray[Any, np.dtype[np.float64]]:
    gain = number_or_row(f"servo: {name}", value, model.nv, "v")
    if not (gain >= 0.0).all() or not np.isfinite(gain).all():
        raise OptionError(f"servo: {name} must be finite and not negative, not {value!r:.60}")
    return gain

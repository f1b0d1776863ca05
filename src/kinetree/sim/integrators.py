"""One step of time, on the configuration manifold.

q moves only through `move(q, v h)`, the robot's own `integrate`, so quaternions stay quaternions and a new kind of
joint needs nothing here. The work of the torques and the loss to friction are integrated by the same formula as the
motion: the error of the energy balance is then an error of the integrator, not of the bookkeeping.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Move", "Push", "Rates", "State", "rk4", "semi_implicit_euler"]

Array = NDArray[np.float64]


class State(NamedTuple):
    """Where the robot is, and what its energy went through since the beginning."""

    q: Array
    v: Array
    work: float
    """Done by the torques, J."""
    loss: float
    """To friction, J."""


Move = Callable[[Array, Array], Array]
"""(q, displacement) -> q."""

Rates = Callable[[float, Array, Array], tuple[Array, float, float]]
"""(t, q, v) -> (acceleration, power of the torques, power lost to friction)."""

Push = Callable[[float, Array, Array, float], tuple[Array, Array, Array]]
"""(t, q, v, h) -> (acceleration over the step, torque, what friction takes at the velocity it leads to)."""


def rk4(rates: Rates, move: Move, t: float, s: State, h: float) -> State:
    """A step of order four.

    The classical Runge-Kutta formula in its commutator-free form for Lie groups: Celledoni, Marthinsen, Owren,
    "Commutator-free Lie group methods", Future Generation Computer Systems 19 (2003), the method of order four there,
    with displacements applied on the right because v is in the body's own axes. Where displacements commute (every
    joint of one axis) it is the classical formula.
    """
    v1 = s.v
    a1, w1, l1 = rates(t, s.q, v1)
    q2, v2 = move(s.q, h / 2 * v1), s.v + h / 2 * a1
    a2, w2, l2 = rates(t + h / 2, q2, v2)
    q3, v3 = move(s.q, h / 2 * v2), s.v + h / 2 * a2
    a3, w3, l3 = rates(t + h / 2, q3, v3)
    q4, v4 = move(q2, h * v3 - h / 2 * v1), s.v + h * a3
    a4, w4, l4 = rates(t + h, q4, v4)

    middle = 2 * (v2 + v3)
    q = move(move(s.q, h / 12 * (3 * v1 + middle - v4)), h / 12 * (middle - v1 + 3 * v4))
    return State(
        q,
        s.v + h / 6 * (a1 + 2 * (a2 + a3) + a4),
        s.work + h / 6 * (w1 + 2 * (w2 + w3) + w4),
        s.loss + h / 6 * (l1 + 2 * (l2 + l3) + l4),
    )


def semi_implicit_euler(push: Push, move: Move, t: float, s: State, h: float) -> State:
    """A step of order one: the new velocity first, then the position with it.

    Friction acts at the new velocity, so it brakes without overshooting however stiff it is.
    """
    a, tau, brake = push(t, s.q, s.v, h)
    v = s.v + h * a
    return State(move(s.q, h * v), v, s.work + h * float(tau @ v), s.loss + h * float(brake @ v))

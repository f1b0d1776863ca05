"""One time step on the configuration manifold, as a sequence of stages.

A method says at which state each stage evaluates the acceleration, given the earlier stages, and the state after the
last stage; `stages.py` has what a stage evaluates. `step` runs all stages; a simulation whose torques come from outside
runs them one by one.

    symplectic_euler, semi_implicit_euler,
    implicitfast, discrete                    euler_steps.py; they differ in what acts at the end of the step
    rk4                                       runge_kutta.py

`variational.py` has the midpoint rule, which has no stages but an equation for the state after the step.

Under constraints each stage has the acceleration that they allow, and a step ends with a projection onto the states
that satisfy them (`projected_state`), which leaves the order as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kinetree.algorithms.euler_steps import euler_step
from kinetree.algorithms.implicit_forces import AT_THE_END, AtTheEnd
from kinetree.algorithms.runge_kutta import rk4_step
from kinetree.algorithms.stages import Loads, Slots, Stage, State, evaluated
from kinetree.expr import Scalar, maximum
from kinetree.records import record
from kinetree.tree import Tree

__all__ = ["INTEGRATORS", "Integrator", "StepEnd", "step"]


@record(frozen=True, slots=True)
class Integrator:
    """A method: the states of its stages, and the weights of what is integrated along the motion."""

    state: Callable[[Tree, Sequence[Stage], Scalar], State]
    """state(tree, past, h): the state of the next stage, given those before it; after the last, that after the step.
    The first stage is at the state before the step."""
    tableau: tuple[tuple[float, ...], ...]
    """For numbers that are not on a manifold: x at stage k is x₀ + h Σ tableau[k][j] ẋ(stage j)."""
    weights: tuple[float, ...]
    """∫ f dt over a step is h Σ weights[k] f(stage k)."""
    at_the_end: AtTheEnd
    """What acts as it does at the end of the step, to first order; powers are then taken there."""

    @property
    def stages(self) -> int:
        return len(self.weights)

    @property
    def times(self) -> tuple[float, ...]:
        """When each stage is, as a fraction of the step."""
        return tuple(sum(row) for row in self.tableau)


class StepEnd(NamedTuple):
    """The state after a step, from slot 1 on, and the activations of actuators."""

    q: Slots
    v: Slots
    act: Sequence[Scalar]
    error: Scalar
    """The largest error of the convex problems of the stages, in parts of their accelerations; 0 without any."""


def step(
    tree: Tree, integrator: Integrator, q: Slots, v: Slots, dt: Scalar, loads: Loads, act: Sequence[Scalar] = ()
) -> StepEnd:
    """The state after a step of dt; the loads' tau and commands are constant over it."""
    past: list[Stage] = []
    rates: list[Sequence[Scalar]] = []
    error: Scalar = 0.0
    for row in integrator.tableau:
        at = integrator.state(tree, past, dt) if past else (q, v)
        found = evaluated(tree, integrator.at_the_end, *at, dt, loads, added(act, row, rates, dt))
        past.append(Stage(*at, found.a))
        rates.append(found.rates)
        error = maximum(error, found.error)
    q_next, v_next = integrator.state(tree, past, dt)
    mean = added([0.0] * len(act), integrator.weights, rates, 1.0)
    return StepEnd(q_next[1:], v_next[1:], loads.applied.after(act, mean, dt) if loads.applied else act, error)


def added(x: Sequence[Scalar], row: Sequence[float], rates: Sequence[Sequence[Scalar]], h: Scalar) -> Sequence[Scalar]:
    """x + h Σ row[j] rates[j]."""
    for c, rate in zip(row, rates, strict=True):
        if c:
            x = [x_k + (h * c) * r for x_k, r in zip(x, rate, strict=True)]
    return x


_EULER = ((),)
_RK4 = ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0))
_RK4_WEIGHTS = (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0)

INTEGRATORS = {
    **{name: Integrator(euler_step, _EULER, (1.0,), at_the_end) for name, at_the_end in AT_THE_END.items()},
    "rk4": Integrator(rk4_step, _RK4, _RK4_WEIGHTS, AT_THE_END["rk4"]),
}

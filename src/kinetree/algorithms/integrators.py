"""One time step on the configuration manifold, as a sequence of stages.

A method says at which state each stage evaluates the acceleration, given the earlier stages, and the state after the
last stage; `stages.py` has the evaluation of a stage. `step` is all of a step, for rollouts, simulations and
controllers; reports on its stages change nothing. A simulation whose torques come from outside runs the stages itself.

Euler's method is semi-implicit, on the configuration manifold: the new velocity first, then the displacement by it.

    v⁺ = v + h a,    q⁺ = q ⊕ h v⁺

symplectic_euler, semi_implicit_euler, implicitfast and discrete differ in the forces that act at the end of the step.
Velocities are added in axes that do not turn (`JointKind.seen_from_fixed`): a free body that spins keeps its linear
momentum exactly, and MuJoCo, whose free joints have such velocities, takes the same step. A step ends in coordinates
far from their singularities (`JointKind.rechart`). First order.

rk4 is the classical Runge-Kutta method, with one displacement of the start for each stage.

    ḋ = B(d)⁻¹ v(q₀ ⊕ d),    v̇ = a

is integrated from d = 0 by the classical formula; B(d) v is the velocity of q₀ ⊕ d for a rate v of d
(`JointKind.displacement_rate`). Where displacements commute, B is the identity. Velocities are in axes that do not
turn, as MuJoCo's are, whose steps these are. Fourth order.

`variational.py` has the midpoint rule, which has no stages but an equation for the state after the step.

Under constraints each stage has the acceleration that they allow, and a step ends with a projection onto the states
that satisfy them (`projected_state`), which leaves the order as it is.

Sources: Munthe-Kaas, "High order Runge-Kutta methods on manifolds", Applied Numerical Mathematics 29 (1999); MuJoCo
documentation, "Computation", section on numerical integration, version 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

from kinetree.algorithms.constrained_dynamics import projected_state
from kinetree.algorithms.implicit_forces import AT_THE_END, AtTheEnd
from kinetree.algorithms.stages import Evaluation, Loads, Slots, Stage, State, evaluated
from kinetree.expr import Numbers, Scalar, maximum
from kinetree.records import record
from kinetree.tree import Tree

__all__ = ["INTEGRATORS", "Integrator", "StepEnd", "step"]


class Rates(NamedTuple):
    """Rates at a stage, by slots from 0 on, in axes that do not turn."""

    d: Slots
    """ḋ; Euler's method displaces by the new velocity instead."""
    v: Slots


@record(frozen=True, slots=True)
class Integrator:
    """A method: the states of its stages, and the weights of quantities integrated along the motion."""

    tableau: tuple[tuple[float, ...], ...]
    """Numbers that are not on a manifold are x₀ + h Σ tableau[k][j] ẋ(stage j) at stage k."""
    weights: tuple[float, ...]
    """∫ f dt over a step is h Σ weights[k] f(stage k)."""
    at_the_end: AtTheEnd
    """The forces that act as at the end of the step, to first order; powers are then taken there."""

    @property
    def stages(self) -> int:
        return len(self.weights)

    @property
    def times(self) -> tuple[float, ...]:
        """When each stage is, as a fraction of the step."""
        return tuple(sum(row) for row in self.tableau)

    def rates(self, tree: Tree, start: Slots, earlier: Sequence[Rates], stage: Stage, h: Scalar) -> Rates:
        """The rates at a stage of a step from q = start, given those of the stages before it."""
        d_rate, v_rate = tree.pieces(2)
        for i, _ in tree.outward:
            joint, q, v = tree.joint[i], stage.q[i], stage.v[i]
            if self.stages > 1:
                d_rate[i] = joint.seen_from_fixed(q, v)
            if earlier:
                d = added([0.0] * joint.nv, self.tableau[len(earlier)], [of_stage.d[i] for of_stage in earlier], h)
                d_rate[i] = joint.displacement_rate(start[i], d, d_rate[i])
            a = [x + y for x, y in zip(stage.a[i], joint.turning_rate(v), strict=True)]
            v_rate[i] = joint.seen_from_fixed(q, a)
        return Rates(d_rate, v_rate)

    def state(self, tree: Tree, start: State, rates: Sequence[Rates], h: Scalar) -> State:
        """The state of the next stage, given the rates of those before it; after the last, that after the step.

        The first stage is at the state before the step.
        """
        q_next, v_next = tree.pieces(2)
        is_end = len(rates) == self.stages
        row = self.weights if is_end else self.tableau[len(rates)]
        for i, _ in tree.outward:
            joint, q = tree.joint[i], start[0][i]
            w = added(joint.seen_from_fixed(q, start[1][i]), row, [of_stage.v[i] for of_stage in rates], h)
            if self.stages == 1:
                d: Sequence[Scalar] = [h * x for x in w]
            else:
                d = added([0.0] * joint.nv, row, [of_stage.d[i] for of_stage in rates], h)
            q_i = joint.displaced(q, d)
            v_i = joint.seen_from_moving(q_i, w)
            q_next[i], v_next[i] = joint.rechart(q_i, v_i) if is_end else (q_i, v_i)
        return q_next, v_next


class StepEnd(NamedTuple):
    """The state after a step, from slot 1 on, and the activations of actuators."""

    q: Slots
    v: Slots
    act: Sequence[Scalar]
    trees: Slots
    """The numbers of sleeping_islands.py after the step, from slot 1 on, if bodies may sleep."""
    reported: Sequence[Sequence[Numbers]]
    """The rows of numbers that each stage reports."""

    def largest(self, place: int) -> Scalar:
        """The largest of the first numbers of the rows that stages report at this place."""
        return reduce(maximum, (of_stage[place][0] for of_stage in self.reported))


Rows = Callable[[], Sequence[Numbers]]
Stages = Callable[..., tuple[Sequence[Any], Sequence[Sequence[Numbers]]]]
"""stages(count, start, evaluate, rates, state): runs the stages of a step; `one_by_one` says how."""


def one_by_one(
    count: int,
    start: Sequence[Any],
    evaluate: Callable[..., tuple[Sequence[Any], Rows]],
    rates: Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], Sequence[Any]],
    state: Callable[[Sequence[Any]], Sequence[Any]],
) -> tuple[Sequence[Any], Sequence[Sequence[Numbers]]]:
    """Run the stages of a step one after the other.

    Args:
        count: how many there are.
        start: q, v and perhaps activations before the step.
        evaluate: the evaluation of a stage at its state, and a function for the rows that are reported of it.
        rates: the rates at a stage, from those of the stages before it, its state and its evaluation.
        state: the state at the next stage, or after the step, from the rates of all stages before.

    Returns:
        The state after the step, with q and v from slot 0 on, and the rows that each stage reports.
    """
    at, past = start, list[Sequence[Any]]()
    reports: list[Rows] = []
    for _ in range(count):
        found, rows = evaluate(*at)
        past.append(rates(past, at, found))
        reports.append(rows)
        at = state(past)
    return at, [rows() for rows in reports]


def step(
    tree: Tree,
    method: Integrator,
    q: Slots,
    v: Slots,
    dt: Scalar,
    loads: Loads,
    act: Sequence[Scalar] = (),
    *,
    stages: Stages = one_by_one,
    rows: Callable[[Slots, Slots, Evaluation], Sequence[Numbers]] = lambda _q, _v, evaluation: [[evaluation.error]],
) -> StepEnd:
    """The state after a step of dt; the loads' tau and commands are constant over it.

    `rows(q, v, found)` are reported of each stage: by default the error of its convex problem.
    """

    def evaluate(q: Slots, v: Slots, act: Sequence[Scalar] = ()) -> tuple[Sequence[Any], Rows]:
        evaluation = evaluated(tree, method.at_the_end, q, v, dt, loads, act)
        return (evaluation.a, evaluation.rates) if act else (evaluation.a,), lambda: rows(q, v, evaluation)

    def rates(earlier: Sequence[Any], at: Sequence[Any], evaluation: Sequence[Any]) -> Sequence[Any]:
        stage = Stage(at[0], at[1], evaluation[0])
        return *method.rates(tree, q, [Rates(*of_stage[:2]) for of_stage in earlier], stage, dt), *evaluation[1:]

    def state(past: Sequence[Any]) -> Sequence[Any]:
        at = method.state(tree, (q, v), [Rates(*of_stage[:2]) for of_stage in past], dt)
        if not act:
            return at
        of_act = [of_stage[2] for of_stage in past]
        if len(past) < method.stages:
            return *at, added(act, method.tableau[len(past)], of_act, dt)
        assert loads.applied is not None
        return *at, loads.applied.after(act, added([0.0] * len(act), method.weights, of_act, 1.0), dt)

    start = (q, v, *([act] if act else ()))
    (q_next, v_next, *moved), reported = stages(method.stages, start, evaluate, rates, state)
    trees: Any = ()
    if loads.sleep is not None:
        q_next, v_next, trees = loads.sleep.after(q, q_next, v_next, dt)
    ends = (q_next[1:], v_next[1:])
    if loads.rule is not None:
        ends = projected_state(tree, loads.holds, q_next, v_next, loads.rule)
    return StepEnd(*ends, moved[0] if moved else act, trees[1:], reported)


def added(x: Sequence[Scalar], row: Sequence[float], rates: Sequence[Sequence[Scalar]], h: Scalar) -> Sequence[Scalar]:
    """x + h Σ row[j] rates[j]."""
    for c, rate in zip(row, rates, strict=True):
        if c:
            x = [x_k + (h * c) * r for x_k, r in zip(x, rate, strict=True)]
    return x


_RK4 = ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0))
_RK4_WEIGHTS = (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0)

INTEGRATORS = {
    **{name: Integrator(((),), (1.0,), at_the_end) for name, at_the_end in AT_THE_END.items()},
    "rk4": Integrator(_RK4, _RK4_WEIGHTS, AT_THE_END["rk4"]),
}

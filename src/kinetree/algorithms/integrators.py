"""One time step on the configuration manifold, as a sequence of stages.

A method says at which state each stage evaluates the acceleration, given the earlier stages, and the state after the
last stage. `step` runs all stages; a simulation whose torques come from outside runs them one by one.

Sources: semi-implicit Euler, with the new velocity first; and the fourth-order method of Celledoni, Marthinsen and
Owren, "Commutator-free Lie group methods", Future Generation Computer Systems 19 (2003), with displacements applied on
the right because v is in the bodies' own axes. Where displacements commute, this is the classical Runge-Kutta formula.
A step ends in coordinates far from their singularities (`JointKind.rechart`).

With contacts, limits and dry friction each stage solves a convex problem (convex_dynamics.py). Where friction acts at
the end of the step, so does that problem's M: with D for the damping, M + h D.

Under constraints each stage has the acceleration that they allow, and a step ends with a projection onto the states
that satisfy them (`projected_state`), which leaves the order as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from kinetree.algorithms.constrained_dynamics import ConstraintRule, constrained_dynamics
from kinetree.algorithms.contact_dynamics import contact_dynamics
from kinetree.algorithms.convex_dynamics import Block
from kinetree.algorithms.drives import BRAKES, braked, driven, power
from kinetree.algorithms.forward_dynamics import forward_dynamics
from kinetree.algorithms.momentum import mechanical_power
from kinetree.expr import Scalar, maximum
from kinetree.records import record
from kinetree.spatial import Force
from kinetree.tree import Tree
from kinetree.tree.holds import Hold

__all__ = [
    "INTEGRATORS",
    "Integrator",
    "Stage",
    "StepEnd",
    "pushed_stage",
    "stage_acceleration",
    "stage_powers",
    "step",
]

Slots = Sequence[Sequence[Scalar]]
Forces = Callable[[Slots], Mapping[int, Force]]
"""External forces at q, in the bodies' own coordinates."""
Soft = Callable[[Tree, Slots, Slots, Scalar], Sequence[Block]]
"""soft(tree, q, v, h): the soft constraints at a state, for a step of h."""
State = tuple[Slots, Slots]
"""q and v, starting at slot 0, which is never read."""


class Stage(NamedTuple):
    """A state at which the acceleration was evaluated."""

    q: Slots
    v: Slots
    a: Slots


class StepEnd(NamedTuple):
    """The state after a step, from slot 1 on."""

    q: Slots
    v: Slots
    error: Scalar
    """The largest error of the convex problems of the stages, in parts of their accelerations; 0 without any."""


@record(frozen=True, slots=True)
class Integrator:
    """A method: the states of its stages, and the weights of what is integrated along the motion."""

    state: Callable[[Tree, Sequence[Stage], Scalar], State]
    """state(tree, past, h): the state of the next stage, given those before it; after the last, that after the step.
    The first stage is at the state before the step."""
    times: tuple[float, ...]
    """When each stage is, as a fraction of the step."""
    weights: tuple[float, ...]
    """∫ f dt over a step is h Σ weights[k] f(stage k)."""
    brakes_at_the_end: bool
    """Whether friction acts at the velocity v + h a that the stage leads to, and powers are taken there."""

    @property
    def stages(self) -> int:
        return len(self.weights)


def step(
    tree: Tree,
    integrator: Integrator,
    q: Slots,
    v: Slots,
    tau: Slots,
    dt: Scalar,
    f_ext: Forces | None = None,
    passive: Collection[str] = (),
    limits: bool = False,
    soft: Soft | None = None,
) -> StepEnd:
    """The state after a step of dt; tau is constant over the step, and f_ext gives the forces at q."""
    past: list[Stage] = []
    error: Scalar = 0.0
    for k in range(integrator.stages):
        at = integrator.state(tree, past, dt) if k else (q, v)
        if soft is None:
            a = stage_acceleration(tree, integrator, *at, tau, dt, f_ext, passive, limits)
        else:
            a, _, left = pushed_stage(tree, integrator, *at, tau, dt, soft, f_ext, passive, limits)
            error = maximum(error, left)
        past.append(Stage(*at, a))
    q_next, v_next = integrator.state(tree, past, dt)
    return StepEnd(q_next[1:], v_next[1:], error)


def stage_acceleration(
    tree: Tree,
    integrator: Integrator,
    q: Slots,
    v: Slots,
    tau: Slots,
    dt: Scalar,
    f_ext: Forces | None = None,
    passive: Collection[str] = (),
    limits: bool = False,
    holds: Sequence[Hold] = (),
    rule: ConstraintRule | None = None,
) -> Any:
    """The acceleration of a stage, under constraints if there is a rule for them."""
    acting = driven(tree, q, v, tau, passive, limits)
    tree = _braked_at_the_end(tree, integrator, v, dt, passive)
    if rule is not None:
        nothing = [0.0] * sum(hold.size for hold in holds)
        found = constrained_dynamics(tree, holds, q, v, acting, f_ext and f_ext(q), nothing, rule)
        return tree.split(found.motion, "nv")
    return tree.in_slots(forward_dynamics(tree, q, v, acting, f_ext and f_ext(q)))


def pushed_stage(
    tree: Tree,
    integrator: Integrator,
    q: Slots,
    v: Slots,
    tau: Slots,
    dt: Scalar,
    soft: Soft,
    f_ext: Forces | None = None,
    passive: Collection[str] = (),
    limits: bool = False,
) -> tuple[Any, Any, Scalar]:
    """The acceleration of a stage with soft constraints, what these push along the joints, and the problem's error."""
    acting = driven(tree, q, v, tau, passive, limits)
    blocks = soft(tree, q, v, dt)
    tree = _braked_at_the_end(tree, integrator, v, dt, passive)
    found = contact_dynamics(tree, q, v, acting, blocks, f_ext and f_ext(q))
    return tree.split(found.acceleration, "nv"), tree.split(found.push(blocks), "forces"), found.error


def _braked_at_the_end(tree: Tree, integrator: Integrator, v: Slots, dt: Scalar, passive: Collection[str]) -> Tree:
    """The tree in which friction acts at the end of the step, for methods where it does."""
    if not integrator.brakes_at_the_end:
        return tree
    return braked(tree, v, dt, [name for name in passive if name in BRAKES])


def stage_powers(
    tree: Tree,
    integrator: Integrator,
    q: Slots,
    v: Slots,
    a: Slots,
    tau: Slots,
    dt: Scalar,
    f_ext: Forces | None = None,
    passive: Collection[str] = (),
    limits: bool = False,
    push: Slots | None = None,
) -> tuple[Scalar, Scalar]:
    """The power of motors and external forces, and the power lost to friction, of a stage with acceleration a.

    What soft constraints push along the joints (`push`) counts as lost, though their springs give some of it back; it
    acts at the mean velocity, since an impact changes the velocity within one step.
    """
    at = _sum(tree, (1.0, v), (dt, a)) if integrator.brakes_at_the_end else v
    given, lost = power(tree, v, at, tau, passive, limits)
    if push is not None:
        for i, _ in tree.outward:
            for f, x, y in zip(push[i], v[i], at[i], strict=True):
                lost = lost - f * (0.5 * (x + y))
    forces = f_ext and f_ext(q)
    return given + mechanical_power(tree, q, at, tree.at_rest(), forces) if forces else given, lost


def _semi_implicit_euler(tree: Tree, past: Sequence[Stage], h: Scalar) -> State:
    """First order. Friction acts at the new velocity, so it brakes without overshooting however stiff it is."""
    ((q, v, a),) = past
    q_next, v_next = tree.pieces(2)
    for i, _ in tree.outward:
        v_i = _combined(i, ((1.0, v), (h, a)))
        q_i = tree.joint[i].integrate(q[i], [h * x for x in v_i])
        q_next[i], v_next[i] = tree.joint[i].rechart(q_i, v_i)
    return q_next, v_next


def _rk4(tree: Tree, past: Sequence[Stage], h: Scalar) -> State:
    """Fourth order."""
    q, v, a1 = past[0]
    if len(past) == 1:
        return _moved(tree, q, (0.5 * h, v)), _sum(tree, (1.0, v), (0.5 * h, a1))
    q2, v2, a2 = past[1]
    if len(past) == 2:
        return _moved(tree, q, (0.5 * h, v2)), _sum(tree, (1.0, v), (0.5 * h, a2))
    _, v3, a3 = past[2]
    if len(past) == 3:
        return _moved(tree, q2, (h, v3), (-0.5 * h, v)), _sum(tree, (1.0, v), (h, a3))
    _, v4, a4 = past[3]
    t = h * (1.0 / 12.0)
    half_way = _moved(tree, q, (3.0 * t, v), (2.0 * t, v2), (2.0 * t, v3), (-t, v4))
    q_next, v_next = tree.pieces(2)
    for i, _ in tree.outward:
        q_i = tree.joint[i].integrate(half_way[i], _combined(i, ((-t, v), (2.0 * t, v2), (2.0 * t, v3), (3.0 * t, v4))))
        v_i = _combined(i, ((1.0, v), (2.0 * t, a1), (4.0 * t, a2), (4.0 * t, a3), (2.0 * t, a4)))
        q_next[i], v_next[i] = tree.joint[i].rechart(q_i, v_i)
    return q_next, v_next


INTEGRATORS = {
    "semi_implicit_euler": Integrator(_semi_implicit_euler, (0.0,), (1.0,), brakes_at_the_end=True),
    "rk4": Integrator(
        _rk4, (0.0, 0.5, 0.5, 1.0), (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0), brakes_at_the_end=False
    ),
}


def _sum(tree: Tree, *terms: tuple[Scalar, Any]) -> Any:
    """Σ coefficient · v."""
    total = tree.pieces()
    for i, _ in tree.outward:
        total[i] = _combined(i, terms)
    return total


def _moved(tree: Tree, q: Any, *terms: tuple[Scalar, Any]) -> Any:
    """q after a displacement Σ coefficient · v."""
    moved = tree.pieces()
    for i, _ in tree.outward:
        moved[i] = tree.joint[i].integrate(q[i], _combined(i, terms))
    return moved


def _combined(i: int, terms: Sequence[tuple[Scalar, Any]]) -> list[Scalar]:
    first, *rest = ([c * x for x in v[i]] for c, v in terms)
    return [sum(others, x) for x, *others in zip(first, *rest, strict=True)]

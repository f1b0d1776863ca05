"""The quantities that one stage of a time step evaluates: the acceleration, forces of soft constraints, and powers.

A method may let forces act as they do at the end of the step (implicit_forces.py). With contacts, limits and dry
friction each stage solves a convex problem (convex_dynamics.py). In "discrete" this problem has the matrix of the end
of the step and rows that act there; in the other methods it has M, and its forces then count as given, as in MuJoCo.

Source: MuJoCo documentation, "Computation", section on numerical integration; version 4.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from kinetree.algorithms.constrained_dynamics import ConstraintRule, constrained_dynamics
from kinetree.algorithms.contact_dynamics import contact_dynamics
from kinetree.algorithms.convex_dynamics import Block, LoopedTable
from kinetree.algorithms.drives import driven, limited, power
from kinetree.algorithms.free_bodies import FREE, FREE_OR_BALL, with_gyroscopic_forces
from kinetree.algorithms.implicit_forces import AtTheEnd, EndOfStep, Slope, end_of_step
from kinetree.algorithms.momentum import mechanical_power
from kinetree.algorithms.sleeping_islands import Sleep
from kinetree.expr import Scalar
from kinetree.records import record
from kinetree.spatial import Force
from kinetree.tree import Tree
from kinetree.tree.holds import Hold

__all__ = ["Applied", "Evaluation", "Loads", "Pull", "Slots", "Stage", "State", "evaluated", "stage_powers"]

Slots = Sequence[Sequence[Scalar]]
State = tuple[Slots, Slots]
"""q and v, starting at slot 0, which is never read."""
Forces = Callable[[Slots], Mapping[int, Force]]
"""External forces at q, in the bodies' own coordinates."""
Soft = Callable[[Tree, Slots, Slots, Scalar, bool], tuple[Sequence[Block], Sequence[LoopedTable]]]
"""soft(tree, q, v, h, at_the_end): the soft constraints at a state, for a step of h; or as at the end of that step. The
contacts in loops are a table."""


class Stage(NamedTuple):
    """A state at which the acceleration was evaluated."""

    q: Slots
    v: Slots
    a: Slots


class Pull(NamedTuple):
    """The action of actuators, tendons and similar parts in a state."""

    forces: Slots
    """Along joints, by slots, the root's included."""
    rates: Sequence[Scalar]
    """The rates of activations."""
    slopes: Sequence[Slope]


@record(frozen=True, slots=True)
class Applied:
    """Forces along joints that follow from the state and from commands."""

    at: Callable[[Tree, Slots, Slots, Sequence[Scalar], Scalar], Pull]
    """at(tree, q, v, activations, h), for a step of h."""
    after: Callable[[Sequence[Scalar], Sequence[Scalar], Scalar], Sequence[Scalar]]
    """after(activations, their mean rates, h): the activations after a step."""


@record(frozen=True, slots=True)
class Loads:
    """The forces on a robot during a step, and their laws."""

    tau: Slots
    f_ext: Forces | None = None
    passive: Collection[str] = ()
    limits: bool = False
    soft: Soft | None = None
    applied: Applied | None = None
    holds: Sequence[Hold] = ()
    rule: ConstraintRule | None = None
    """How the holds are satisfied, if there are any."""
    sleep: Sleep | None = None
    """Which bodies sleep in this step; its stage is the only one."""


class Evaluation(NamedTuple):
    """The results of a stage."""

    a: Any
    push: Any
    """Forces of soft constraints along the joints; None without any."""
    rates: Sequence[Scalar]
    """The rates of activations."""
    error: Scalar
    """The error of the convex problem, relative to its accelerations; 0 without soft constraints."""
    given: Any
    """Forces of motors and actuators at the beginning of the step."""
    end: EndOfStep
    """The losses of these forces until its end."""
    solved: Any
    """The acceleration at which soft constraints push; a without any."""


def evaluated(
    tree: Tree, at_the_end: AtTheEnd, q: Slots, v: Slots, dt: Scalar, loads: Loads, act: Sequence[Scalar] = ()
) -> Evaluation:
    """The acceleration of a stage, under constraints if there is a rule for them, or with soft ones."""
    given, pull = limited(tree, loads.tau, v) if loads.limits else loads.tau, None
    acting = driven(tree, q, v, loads.tau, loads.passive, loads.limits)
    if loads.applied is not None:
        pull = loads.applied.at(tree, q, v, act, dt)
        given, acting = _total(tree, given, pull.forces), _total(tree, acting, pull.forces)
    f_ext = loads.f_ext and loads.f_ext(q)
    end = end_of_step(tree, at_the_end, v, dt, loads.passive, pull.slopes if pull else ())
    rates = pull.rates if pull else ()
    if loads.rule is not None:
        nothing = [0.0] * sum(hold.size for hold in loads.holds)
        solution = constrained_dynamics(end.tree, loads.holds, q, v, acting, f_ext, nothing, loads.rule)
        a = tree.split(solution.motion, "nv")
        return Evaluation(a, None, rates, 0.0, given, end.in_armatures(), a)
    push: Any = None
    solved: Any = None
    error: Scalar = 0.0
    if loads.sleep is not None:
        loads.sleep.disturb(v, given, f_ext)
    if loads.soft is not None:
        blocks, looped = loads.soft(tree, q, v, dt, at_the_end == "everything")
        if at_the_end == "everything":
            least = contact_dynamics(
                end.tree, q, v, end.shifted(acting), blocks, f_ext, more=[(t.row, t.inertia) for t in end.couplings],
                looped=looped, sleep=loads.sleep,
            )  # fmt: skip
        else:
            least = contact_dynamics(tree, q, v, acting, blocks, f_ext, looped=looped, sleep=loads.sleep)
        forces = least.push(blocks)
        push, error = tree.split(forces, "forces"), least.error
        a = solved = tree.split(least.acceleration, "nv")
        if at_the_end != "everything" and end.differs and least.system is not None and not end.couplings:
            a = end.moved(tree, least.system, forces)
        elif at_the_end != "everything" and end.differs:
            a = end.acceleration(q, v, _total(tree, acting, push), f_ext)
    else:
        a = end.acceleration(q, v, acting, f_ext)
    if at_the_end == "velocity forces":
        a = with_gyroscopic_forces(end.tree, q, v, a, dt, tree.armature, end.couplings, FREE)
    elif at_the_end == "everything":
        a = with_gyroscopic_forces(end.tree, q, v, a, 0.5 * dt, tree.armature, end.couplings, FREE_OR_BALL)
    if loads.sleep is not None:
        a = loads.sleep.still(a)
    if solved is None or at_the_end == "everything":
        solved = a
    return Evaluation(a, push, rates, error, given, end, solved)


def stage_powers(
    tree: Tree, at_the_end: AtTheEnd, q: Slots, v: Slots, dt: Scalar, loads: Loads, found: Evaluation
) -> tuple[Scalar, Scalar]:
    """The power of motors and external forces, and the power lost to friction, of a stage.

    The energy of soft constraints along the joints counts as lost, though their springs give some of it back; their
    force acts at the mean velocity, since an impact changes the velocity within one step. The work of actuators and
    tendons counts as given, with the forces that act: those at the end of the step, if the method takes these.
    """
    a, at = found.a, v
    if at_the_end != "nothing":
        end = tree.pieces()
        for i, _ in tree.outward:
            end[i] = [x + dt * y for x, y in zip(v[i], a[i], strict=True)]
        at = end
    given, lost = power(tree, v, at, found.given, loads.passive)
    given = given - found.end.power_lost(q, found.a, at)
    if found.push is not None:
        left = tree.scalars()
        left[0] = lost
        for i, _ in tree.outward:
            for f, x, y in zip(found.push[i], v[i], at[i], strict=True):
                left[0] = left[0] - f * (0.5 * (x + y))
        lost = left[0]
    forces = loads.f_ext and loads.f_ext(q)
    return given + mechanical_power(tree, q, at, tree.at_rest(), forces) if forces else given, lost


def _total(tree: Tree, a: Slots, b: Slots) -> Any:
    total = tree.pieces()
    for i, _ in tree.outward:
        total[i] = [x + y for x, y in zip(a[i], b[i], strict=True)]
    return total

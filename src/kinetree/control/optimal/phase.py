"""A phase of an optimal control problem: steps with the same cost and the same kind of motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.errors import OptionError
from kinetree.functions.constraint_options import Constraints
from kinetree.inputs import number_between, real_number, whole_between
from kinetree.model import Model
from kinetree.model.constraints import Contact, Loop
from kinetree.programs import Program
from kinetree.programs.content import content
from kinetree.records import record

__all__ = ["Phase", "returned_by"]

_MOST_STEPS = 1_000_000


@record(frozen=True, slots=True, eq=False)
class Phase:
    """Steps of an optimal control problem that have the same length, cost and dynamics.

    Args:
        steps: their number.
        dt: the length of each, in seconds.
        cost: a `kt.program` of any of t (), q (robot), v (nv) and u, of other arguments that are given when the problem
            is solved, and of results of `dynamics` other than the next state, by name. It returns the cost of one step:
            a scalar, whose Hessian is exact; or a vector r, which costs ½ rᵀr and has the Hessian of Gauss and Newton;
            or a dict of both, {"cost": …, "residual": …}, which are added. Costs of steps are added without dt.
        dynamics: a `kt.program` of such arguments that returns {"q": …, "v": …}, the state after a step, and more if
            the cost needs it. By default the robot moves by its own equations, under torques u of its motors.
        constraints: `kt.constraints.Contact` and `kt.constraints.Loop` records that hold during the phase, m rows in
            total, as for `kt.constraints.constrained_dynamics`; the cost may then take `forces` (m). Rows that depend
            on each other in any configuration share their forces, which have the least norm.

    Raises:
        OptionError: the number of steps or dt is not positive, a cost or dynamics is not a program, or constraints are
            given together with dynamics, which contain their own.

    >>> import numpy as np
    >>> import kinetree as kt
    >>> robot = kt.zoo.load("cart_pole")
    >>> @kt.program(q=robot, v=robot.nv, u=1)
    ... def cost(q, v, u):
    ...     return 0.1 * np.concatenate([q, v, 0.1 * u])
    >>> kt.control.Phase(50, 0.02, cost).steps
    50
    """

    steps: int
    dt: float
    cost: Program
    dynamics: Program | None = None
    constraints: tuple[Contact | Loop, ...] = ()
    is_impact: bool = False
    """Whether it is an impact."""
    restitution: float = 0.0
    """The part of the velocity that an impact reverses."""

    def __init__(
        self,
        steps: int,
        dt: float,
        cost: Program,
        dynamics: Program | None = None,
        *,
        constraints: Constraints = (),
    ) -> None:
        count = whole_between("the steps of a Phase", steps, 1, _MOST_STEPS)
        for name, program in (("cost", cost), ("dynamics", dynamics)):
            if not (isinstance(program, Program) or (program is None and name == "dynamics")):
                raise OptionError(f"the {name} of a Phase must be a program, made by kt.program, not {program!r:.60}")
        held = _constraints_of(constraints)
        if held and dynamics is not None:
            raise OptionError("a Phase has constraints or dynamics=, which contain their own, but not both")
        self._set(count, number_between("dt of a Phase", dt, unit="seconds"), cost, dynamics, held, False, 0.0)

    @classmethod
    def impact(cls, cost: Program, constraints: Constraints, *, restitution: float = 0.0) -> Phase:
        """A sudden contact between two phases: one step that takes no time, and leaves q unchanged.

        The velocity becomes that of `kt.constraints.impact`. Controls have no effect in an instant; they stay.

        Args:
            cost: as for other phases, by the state before the impact; it may take `impulses` (m).
            constraints: `kt.constraints.Contact` and `kt.constraints.Loop` records hit at once, m rows in total.
            restitution: from 0 (stops) to 1 (bounces).

        Raises:
            OptionError: the cost is not a program, constraints are missing, or the restitution is not between 0 and 1.

        >>> import numpy as np
        >>> import kinetree as kt
        >>> robot = kt.zoo.load("quadruped")
        >>> @kt.program(v=robot.nv, impulses=3)
        ... def soft(v, impulses):
        ...     return np.concatenate([0.1 * v, impulses])
        >>> kt.control.Phase.impact(soft, kt.constraints.Contact("front_left_foot")).is_impact
        True
        """
        if not isinstance(cost, Program):
            raise OptionError(f"the cost of an impact must be a program, made by kt.program, not {cost!r:.60}")
        held, e = _constraints_of(constraints), real_number(restitution)
        if not held:
            raise OptionError(
                "an impact needs constraints: the list of kt.constraints.Contact and kt.constraints.Loop that are hit"
            )
        if e is None or not 0.0 <= e <= 1.0:
            raise OptionError(f"the restitution of an impact must be a number from 0 to 1, not {restitution!r:.60}")
        phase: Phase = object.__new__(cls)
        phase._set(1, 0.0, cost, None, held, True, e)
        return phase

    def likeness(self, *, of_any_length: bool = False) -> object:
        """A key that phases share if their steps are alike and, unless `of_any_length`, as many.

        A phase with a program whose content is unknown shares its key with no other. The key is not kept: the program
        may use objects that change.
        """
        of_steps = {name: getattr(self, name) for name in self.__slots__ if name != "steps"}
        return (content(of_steps) or self), (0 if of_any_length else self.steps)

    def _set(self, *values: Any) -> None:
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)


def _constraints_of(constraints: Constraints) -> tuple[Contact | Loop, ...]:
    if isinstance(constraints, Contact | Loop):
        return (constraints,)
    several = tuple(constraints) if isinstance(constraints, Sequence) else ()
    if not isinstance(constraints, Sequence) or not all(isinstance(x, Contact | Loop) for x in several):
        raise OptionError(
            f"the constraints of a Phase must be a list of kt.constraints.Contact and kt.constraints.Loop, not "
            f"{constraints!r:.60}"
        )
    return several


def returned_by(robot: Model, phase: Phase) -> dict[str, tuple[int, ...]]:
    """The results of a phase's dynamics other than the next state, with shapes."""
    dynamics = phase.dynamics
    if dynamics is None:
        name = "impulses" if phase.is_impact else "forces"
        return {name: (sum(x.size for x in phase.constraints),)} if phase.constraints else {}
    leaves = {leaf.name.strip("[].'\""): leaf.shape for leaf in dynamics.traced().results.leaves}
    for name, shape in (("q", (robot.nq,)), ("v", (robot.nv,))):
        if leaves.get(name) != shape:
            raise OptionError(
                f"the dynamics {dynamics.name!r} must return a dict with the state after a step, q ({robot.nq},) and v "
                f"({robot.nv},), and returns {', '.join(f'{n} {s}' for n, s in leaves.items())}"
            )
    return {name: shape for name, shape in leaves.items() if name not in ("q", "v")}

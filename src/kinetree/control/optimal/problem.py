"""Optimal control problems as records: the robot, its phases, and their costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.compiler.reference import on_numbers
from kinetree.control.optimal.phase import Phase, returned_by
from kinetree.errors import NameNotFoundError, OptionError, ShapeError, nearest_names
from kinetree.functions.constrained import CONSTRAINT_JACOBIAN
from kinetree.functions.integrator_options import rollout_integrator_option
from kinetree.inputs import real_array
from kinetree.model import Model, check_robot
from kinetree.programs import Argument, Program
from kinetree.records import record

__all__ = ["LEAST_PART", "OptimalControl"]

Limits = Literal["effort"] | tuple[ArrayLike, ArrayLike] | None


@record(frozen=True, slots=True, eq=False)
class OptimalControl:
    """Minimise the sum of the costs of a robot's steps, and of its last state, over the motors' controls.

        min Σ ℓₖ(qₖ, vₖ, uₖ) + ℓ_T(q_T, v_T)   where   (qₖ₊₁, vₖ₊₁) = f(qₖ, vₖ, uₖ),   lower ≤ uₖ ≤ upper

    Its programs are compiled when it is first solved, and are kept as long as it lives: references, goals and weights
    that change are arguments.

    Args:
        robot: the robot.
        phases: one `Phase`, or several in the order of time.
        terminal_cost: a program of t, q, v and other arguments, as `Phase.cost`; None for no cost of the last state.
        motors: the degrees of freedom whose forces are the controls, by their names in `robot.v_names`; by default all
            that have motors.
        limits: (lower, upper), each a number or (nu,), in N·m or N; "effort" for the effort limits of the robot's
            motors; None for none.
        integrator: how the robot's own equations become steps: one of `kt.rollout`'s integrators; None
            for that of the robot's MJCF file.
        passive: whether friction, damping and springs of joints act, as in `kt.aba`.

    Raises:
        OptionError: an unknown argument, or programs have arguments without a value.
        ShapeError: phases differ in the number of controls, or an argument has two shapes.

    >>> import numpy as np
    >>> import kinetree as kt
    >>> robot = kt.zoo.load("cart_pole")
    >>> @kt.program(q=robot, v=robot.nv, u=1)
    ... def cost(q, v, u):
    ...     return 0.1 * np.concatenate([q, v, 0.1 * u])
    >>> phase = kt.control.Phase(50, 0.02, cost)
    >>> problem = kt.control.OptimalControl(robot, phase, motors=["slider"], limits=(-20.0, 20.0))
    >>> problem.steps, problem.nu
    (50, 1)
    """

    DETERMINED_BY: ClassVar = (
        "robot", "phases", "terminal_cost", "selection", "limits", "integrator", "passive", "given", "nu", "ranks",
    )  # fmt: skip
    """The attributes that its programs depend on (`kinetree.programs.content`)."""

    robot: Model
    phases: tuple[Phase, ...]
    terminal_cost: Program | None
    selection: NDArray[np.float64]
    """S (nu, nv), with τ = Sᵀ u where the robot moves by its own equations."""
    limits: tuple[NDArray[np.float64], NDArray[np.float64]]
    integrator: str
    passive: bool
    given: Mapping[str, Argument]
    """The arguments that are given when the problem is solved."""
    nu: int
    """How many controls a step has."""
    ranks: Mapping[Phase, int]
    """How many rows of each phase's constraints are independent; where these are not all, rows share their forces."""
    made: list[Any]
    """The programs that have been compiled of it."""

    def __init__(
        self,
        robot: Model,
        phases: Phase | Sequence[Phase],
        terminal_cost: Program | None = None,
        *,
        motors: Sequence[str] | None = None,
        limits: Limits = None,
        integrator: str | None = "semi_implicit_euler",
        passive: bool = False,
    ) -> None:
        check_robot(robot)
        several = (phases,) if isinstance(phases, Phase) else tuple(phases) if isinstance(phases, Sequence) else ()
        if not several or not all(isinstance(phase, Phase) for phase in several):
            raise OptionError(f"phases must be a kt.control.Phase or a list of them, not {phases!r:.60}")
        if not (terminal_cost is None or isinstance(terminal_cost, Program)):
            raise OptionError(f"terminal_cost must be a program, made by kt.program, not {terminal_cost!r:.60}")
        if not isinstance(passive, bool):
            raise OptionError(f"passive must be True, or False for joints without friction, not {passive!r:.60}")
        integrator = rollout_integrator_option(robot, integrator)
        selection = _selection(robot, motors)
        nu = number_of_controls(robot, several, len(selection))
        if any(phase.constraints and not phase.is_impact for phase in several) and (
            integrator != "semi_implicit_euler" or passive
        ):
            raise OptionError(
                "phases with constraints take steps of semi_implicit_euler without passive forces; for others give the "
                "steps as dynamics=, a program"
            )
        object.__setattr__(self, "robot", robot)
        object.__setattr__(self, "phases", several)
        object.__setattr__(self, "terminal_cost", terminal_cost)
        object.__setattr__(self, "selection", selection)
        object.__setattr__(self, "limits", _limits(robot.effort_limit[selection.argmax(axis=1)], limits, nu))
        object.__setattr__(self, "integrator", integrator)
        object.__setattr__(self, "passive", passive)
        object.__setattr__(self, "given", arguments_given(robot, several, terminal_cost, nu))
        object.__setattr__(self, "nu", nu)
        object.__setattr__(self, "ranks", {phase: usual_rank(robot, phase) for phase in dict.fromkeys(several)})
        object.__setattr__(self, "made", [])

    @property
    def defaults(self) -> dict[str, Any]:
        """Values of arguments that need not be given."""
        programs = [x for phase in self.phases for x in (phase.dynamics, phase.cost)] + [self.terminal_cost]
        return {k: x for program in programs if program is not None for k, x in program.defaults.items()}

    def is_redundant(self, phase: Phase) -> bool:
        """Whether rows of a phase's constraints depend on each other in any configuration."""
        return self.ranks[phase] < sum(x.size for x in phase.constraints)

    @property
    def steps(self) -> int:
        """The number of steps of all phases."""
        return sum(phase.steps for phase in self.phases)

    @property
    def times(self) -> NDArray[np.float64]:
        """When each step begins, and the end of the last one, in seconds: (steps + 1,)."""
        lengths = np.repeat([phase.dt for phase in self.phases], [phase.steps for phase in self.phases])
        return np.concatenate([[0.0], np.cumsum(lengths)])

    def __repr__(self) -> str:
        return f"<OptimalControl of {self.robot.name}: {self.steps} steps, {self.nu} controls>"


def _selection(robot: Model, motors: Sequence[str] | None) -> NDArray[np.float64]:
    if motors is None:
        return robot.selection_matrix
    if isinstance(motors, str) or not isinstance(motors, Sequence):
        raise OptionError(f"motors must be a list of names, such as {robot.v_names[:1]}, not {motors!r:.60}")
    rows = []
    for name in motors:
        if name not in robot.v_names:
            raise NameNotFoundError(
                f"{robot.name!r} has no degree of freedom {name!r:.60}: {nearest_names(str(name), robot.v_names)}"
            )
        k = robot.v_names.index(name)
        if not robot.actuated[k] or k in rows:
            raise OptionError(f"motors: {name!r} {'is named twice' if k in rows else 'has no motor'}")
        rows.append(k)
    return np.eye(robot.nv)[rows]


def _limits(own: NDArray[np.float64], limits: Limits, nu: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lower and the upper limits; `own`: those of the motors."""
    if limits is None:
        limits = (-np.inf, np.inf)
    elif isinstance(limits, str):
        if limits != "effort" or len(own) != nu:
            raise OptionError(
                f"limits must be (lower, upper), None, or 'effort' where the {nu} controls are the forces of "
                f"{len(own)} motors, not {limits!r:.60}"
            )
        limits = (-own, own)
    if not (isinstance(limits, tuple | list) and len(limits) == 2):
        raise OptionError(f"limits must be a pair (lower, upper), 'effort' or None, not {limits!r:.60}")
    pair = [real_array(f"limits[{k}]", x, "(nu,)").astype(np.float64) for k, x in enumerate(limits)]
    for x in pair:
        if x.shape not in ((), (nu,)):
            raise ShapeError(f"limits of {nu} controls are numbers or have shape ({nu},), not {x.shape}")
    lower, upper = (np.broadcast_to(x, (nu,)) for x in pair)
    if not np.all(lower < upper):
        k = int(np.argmin(lower < upper))
        raise OptionError(f"lower limits must be below upper ones; control {k} has {lower[k]} and {upper[k]}")
    return lower, upper


def number_of_controls(robot: Model, phases: Sequence[Phase], motors: int) -> int:
    """How many controls a step has: one per motor, or as many as all dynamics say."""
    sizes = {motors for phase in phases if phase.dynamics is None}
    for phase in phases:
        for program in (phase.dynamics, phase.cost):
            if program is not None and "u" in program.arguments:
                shape = program.arguments["u"].shape
                if len(shape) != 1:
                    raise ShapeError(f"the program {program.name!r} takes u of shape {shape}; controls are (nu,)")
                sizes.add(shape[0])
    if len(sizes) != 1:
        words = ", ".join(map(str, sorted(sizes))) or "none"
        raise ShapeError(
            f"all programs must have the same number of controls u, not {words}; where {robot.name!r} moves by its own "
            f"equations it has {motors}, one per motor: name those that are meant, as in motors={robot.v_names[:1]}"
        )
    return sizes.pop()


def arguments_given(robot: Model, phases: Sequence[Phase], terminal: Program | None, nu: int) -> dict[str, Argument]:
    """The arguments of programs other than the motion and the results of dynamics."""
    arguments: dict[str, Argument] = {}
    for phase in phases:
        returned = set(returned_by(robot, phase))
        if phase.dynamics is not None:
            _collect(arguments, robot, phase.dynamics, nu, set())
        _collect(arguments, robot, phase.cost, nu, returned)
    if terminal is not None:
        if "u" in terminal.arguments:
            raise OptionError(f"the terminal cost {terminal.name!r} takes u, but the last state has no controls")
        _collect(arguments, robot, terminal, nu, set())
    return arguments


def _collect(arguments: dict[str, Argument], robot: Model, program: Program, nu: int, returned: set[str]) -> None:
    motion = {"t": (), "q": (robot.nq,), "v": (robot.nv,), "u": (nu,)}
    for name, argument in program.arguments.items():
        if name in motion:
            if argument.shape != motion[name]:
                raise ShapeError(
                    f"the program {program.name!r} takes {name} of shape {argument.shape}, but here it is "
                    f"{motion[name]}"
                )
        elif name not in returned and arguments.setdefault(name, argument).shape != argument.shape:
            raise ShapeError(f"programs take {name} of shapes {arguments[name].shape} and {argument.shape}")


LEAST_PART = 1e-10
"""The part of a row's mobility that must be its own, and not shared with other rows; that of `constrained_dynamics`."""

_SAMPLES = 5


def usual_rank(robot: Model, phase: Phase) -> int:
    """The rank of the constraints' Jacobian in all configurations but special ones: the largest of some at random."""
    if not phase.constraints:
        return 0
    ranks, rng = [], np.random.default_rng(0)
    for _ in range(_SAMPLES):
        q = robot.random(rng).tolist()
        J = np.reshape(on_numbers(CONSTRAINT_JACOBIAN, robot, (q,), constraints=phase.constraints), (-1, robot.nv))
        size = np.linalg.norm(J, axis=1, keepdims=True)
        ranks.append(int(np.linalg.matrix_rank(J / np.where(size > 0.0, size, 1.0), tol=LEAST_PART**0.5)))
    return max(ranks)

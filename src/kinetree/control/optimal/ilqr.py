"""`ilqr`: optimal motions by the iterative linear-quadratic regulator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.compiler.helper_threads import on_threads
from kinetree.compiler.thread_count import at_most, thread_count
from kinetree.control.optimal.inputs import Inputs, inputs
from kinetree.control.optimal.iterations import REASONS, Outcome, solve
from kinetree.control.optimal.problem import OptimalControl
from kinetree.control.optimal.shooting import Motions, shooting
from kinetree.errors import OptionError
from kinetree.inputs import chosen_word, number_between, whole_between
from kinetree.records import record

__all__ = ["OptimalMotion", "ilqr"]


@record(frozen=True, slots=True, eq=False)
class OptimalMotion:
    """Optimal motions, or the best known ones: arrays with the leading axes (…) of the problems.

    `converged` says of each problem whether the whole step of the last iteration promised less than the tolerance;
    `reason` is "converged", "iterations" (their number was not enough), "line_search" (no step, however short, was
    better), "regularization" (the cost to go had no minimum over the controls), "not_finite" (a cost is infinite or
    NaN: the motion that was given, or the cost there), or "dependent" (at some knot constraints depend on each other
    that elsewhere do not, as those of a leg that is stretched out, so that their forces are not unique). The motions
    are then the best ones found; those that are "not_finite" or "dependent" have zero controls and gains.
    """

    q: NDArray[np.float64]
    """Configurations at all knots, (…, steps + 1, nq)."""
    v: NDArray[np.float64]
    """Velocities, (…, steps + 1, nv)."""
    u: NDArray[np.float64]
    """Controls, (…, steps, nu)."""
    gains: NDArray[np.float64]
    """Feedback (…, steps, nu, 2 nv): u + gains @ [q ⊖ q_k, v − v_k] is best near the motion."""
    cost: NDArray[np.float64]
    """(…)."""
    costs: NDArray[np.float64]
    """The cost before each iteration, and after the last one, (…, iterations + 1); NaN after the end."""
    gap: NDArray[np.float64]
    """The sum of the sizes of gaps between knots that were not closed, (…); 0 if the motion is one."""
    iterations: NDArray[np.int64]
    """How many were needed, (…)."""
    converged: NDArray[np.bool_]
    """(…)."""
    reason: NDArray[np.str_]
    """(…)."""

    def __repr__(self) -> str:
        count = math.prod(self.cost.shape)
        if count == 1:
            cost, end = self.cost.item(), self.reason.item()
            return f"<OptimalMotion: cost {cost:.6g}, {end} after {self.iterations.item()} iterations>"
        return f"<OptimalMotion of {count} problems: {int(self.converged.sum())} converged>"


def ilqr(
    problem: OptimalControl,
    q: ArrayLike,
    v: ArrayLike | None = None,
    u: ArrayLike | None = None,
    *,
    states: tuple[ArrayLike, ArrayLike] | None = None,
    arguments: Mapping[str, ArrayLike] | None = None,
    rows: Mapping[str, ArrayLike] | None = None,
    hessian: Literal["gauss_newton", "exact"] = "gauss_newton",
    iterations: int = 100,
    tolerance: float = 1e-10,
    threads: int | None = None,
) -> OptimalMotion:
    """Solve optimal control problems by the iterative linear-quadratic regulator, with limits of the controls.

    Each iteration computes exact derivatives of all steps and costs at all knots in one call, solves the
    linear-quadratic problem that they make (projected Newton steps where controls have limits), and follows its
    feedback through the nonlinear steps. Configurations are treated by displacements, so free and spherical joints are
    as good as others. With `states`, knots begin apart from each other (multiple shooting): a step by a part α closes
    that part of the gaps, and a step is good if cost plus a penalty of the gaps decreases enough.

    Leading axes of all arrays broadcast: each combination is a problem of its own, solved side by side with others in
    lanes and on threads. A problem's result does not depend on the others, to the bit.

    Args:
        problem: the `OptimalControl`.
        q: where the motion begins, (…, nq).
        v: with which velocity, (…, nv); None for rest.
        u: controls to begin with, (…, steps, nu); None for torques that hold the robot at q against gravity, as far as
            it has motors, and zeros for impacts and for phases with dynamics of their own.
        states: configurations (…, steps + 1, nq) and velocities (…, steps + 1, nv) to begin with; the first of them is
            q and v. None for the motion under u.
        arguments: values of the programs' own arguments, (…, *shape).
        rows: arguments with one row per step, (…, steps, *shape), or (…, steps + 1, *shape) where the terminal cost
            takes them too.
        hessian: "gauss_newton" leaves second derivatives of residuals and dynamics out; those of scalar costs are
            exact. "exact" has them all, so that steps are Newton's, and convergence is quadratic near the optimum;
            where the exact model has no minimum, the step is that of Gauss and Newton.
        iterations: the largest number of them.
        tolerance: a problem has converged when a whole step promises to lower its cost by less than this, relative to
            1 + |cost|.
        threads: how many threads may share the problems; by default as many as there are cores.

    Returns:
        A `OptimalMotion`.

    Raises:
        OptionError: an argument of the programs is missing, unknown or given twice, or a number makes no sense.
        ShapeError, DTypeError: an array is not of the shapes above.

    Source: Li and Todorov, "Iterative linear quadratic regulator design for nonlinear biological movement systems",
    ICINCO (2004); Tassa, Mansard and Todorov (2014) for limits; Mastalli et al. (2020) for gaps; Dunn and Bertsekas
    (1989) for exact Hessians.

    >>> import numpy as np
    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> @kt.program(q=robot, v=robot.nv, u=robot.nv)
    ... def cost(q, v, u):
    ...     return 0.01 * np.concatenate([q, v, 0.1 * u])
    >>> @kt.program(q=robot, v=robot.nv, goal=robot)
    ... def last(q, v, goal):
    ...     return 10.0 * np.concatenate([q - goal, v])
    >>> problem = kt.control.OptimalControl(robot, kt.control.Phase(40, 0.02, cost), last)
    >>> solution = kt.control.ilqr(problem, [0.0, 0.0], arguments={"goal": [[0.5, 0.2], [-0.5, 1.0]]})
    >>> solution.converged
    array([ True,  True])
    >>> bool(abs(solution.q[:, -1] - [[0.5, 0.2], [-0.5, 1.0]]).max() < 0.01)
    True
    """
    if not isinstance(problem, OptimalControl):
        raise OptionError(f"ilqr takes a kt.control.OptimalControl, not {problem!r:.60}")
    most = whole_between("iterations", iterations)
    precision = number_between("tolerance", tolerance, 0.0, 1.0)
    is_exact = chosen_word("hessian", hessian, "gauss_newton", "exact") == "exact"
    count = thread_count(threads)
    guess = inputs(problem, q, v, u, states, arguments, rows)
    if not guess.count:
        return _none(problem, guess)
    compiled = shooting(problem)
    pieces = [slice(start, start + guess.together) for start in range(0, guess.count, guess.together)]
    ends: list[Any] = [None] * len(pieces)

    def one(piece: slice) -> None:
        with at_most(count if len(pieces) == 1 else 1), np.errstate(all="ignore"):
            at, own = guess.of(piece), guess.given[piece]
            if not guess.has_states:
                at, _ = compiled.rolled_out(at.q[:, 0], at.v[:, 0], at.u, own)
            ends[piece.start // guess.together] = solve(compiled, at, own, guess.has_states, most, precision, is_exact)

    on_threads(one, pieces, count)
    return _solution(guess, ends)


def _none(problem: OptimalControl, guess: Inputs) -> OptimalMotion:
    """The motions of an empty batch."""

    def empty(*shape: int, dtype: Any = np.float64) -> NDArray[Any]:
        return np.zeros((*guess.batch, *shape), dtype)

    nq, nv, T, nu = problem.robot.nq, problem.robot.nv, problem.steps, problem.nu
    return OptimalMotion(
        empty(T + 1, nq), empty(T + 1, nv), empty(T, nu), empty(T, nu, 2 * nv), empty(), empty(1), empty(),
        empty(dtype=np.int64), empty(dtype=np.bool_), empty(dtype=np.array(REASONS).dtype),
    )  # fmt: skip


def _solution(guess: Inputs, ends: list[Outcome]) -> OptimalMotion:
    def joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
        rows = np.concatenate(arrays) if len(arrays) > 1 else arrays[0]
        return rows.reshape((*guess.batch, *rows.shape[1:]))

    at = Motions(*(joined([getattr(x.at, name) for x in ends]) for name in Motions._fields))
    K, reason = joined([x.K for x in ends]), joined([x.reason for x in ends])
    is_unknown = np.isin(reason, [REASONS.index("not_finite"), REASONS.index("dependent")])
    at.u[is_unknown] = 0.0
    K[is_unknown] = 0.0
    costs = joined([x.costs for x in ends])
    last = int(max(x.iterations.max() for x in ends))
    return OptimalMotion(
        *at, K, joined([x.cost for x in ends]), costs[..., : last + 1],
        joined([x.gap for x in ends]), joined([x.iterations for x in ends]), reason == 0, np.array(REASONS)[reason],
    )  # fmt: skip

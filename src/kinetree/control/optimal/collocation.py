"""Direct collocation: an optimal control problem as a sparse nonlinear program, ready for a solver such as IPOPT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.control.optimal.inputs import knot_arguments, read
from kinetree.control.optimal.problem import OptimalControl
from kinetree.control.optimal.stages import given_size
from kinetree.control.optimal.transcription import Transcription, end_cost, transcription
from kinetree.errors import OptionError, ShapeError
from kinetree.functions.kinematics import difference, integrate
from kinetree.inputs import chosen_word

__all__ = ["Collocation"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class Collocation:
    """An optimal control problem as min f(x) where c(x) = 0 and lb ≤ x ≤ ub, with exact sparse derivatives.

    Its methods have the names that cyipopt asks for, so `cyipopt.Problem(n=c.n, m=c.m, problem_obj=c, lb=c.lb, ub=c.ub,
    cl=c.cl, cu=c.cu).solve(c.x(q, v, u))` solves it; other solvers take them as functions. All intervals are evaluated
    in one call, on lanes and threads.

    x holds, knot by knot, the displacement of the configuration from that of a reference, the velocity and the controls
    (2 nv + nu numbers), and between two knots the controls in the middle for "hermite_simpson". The reference is `q`;
    where q is a vector, any will do, and elsewhere orientations stay less than half a turn from it. c holds 2 nv
    defects per interval. The cost of a step stands for the integral over its dt, which the scheme computes from the
    ends (and the middle); there is one more knot with controls than steps.

    Args:
        problem: the `OptimalControl`, whose phases have neither dynamics of their own nor constraints.
        q: configurations of the reference: (steps + 1, nq), or (nq,) for all knots. The motion begins at the first one.
        v: the velocity to begin with, (nv,); by default at rest.
        scheme: "trapezoidal" (order 2) or "hermite_simpson" (order 4).
        goal: (q, v), the state in which the motion ends; None for any.
        arguments: values of the programs' own arguments, as for `ilqr`, for one problem.
        rows: arguments with one row per knot, (steps + 1, …).
        within: whether configurations of coordinates with limits stay between `robot.lower` and `robot.upper`, and
            velocities within `robot.velocity_limit`; for robots whose configurations are vectors.

    Raises:
        OptionError: a phase has its own dynamics or constraints, the scheme is unknown, or arguments are missing.
        ShapeError, DTypeError: an array is not of the shapes above.

    Source: Betts, *Practical Methods for Optimal Control and Estimation Using Nonlinear Programming* (2010), chapter 4;
    Kelly, SIAM Review 59 (2017).

    >>> import numpy as np
    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> @kt.program(u=2)
    ... def effort(u):
    ...     return 0.1 * u
    >>> problem = kt.control.OptimalControl(robot, kt.control.Phase(10, 0.05, effort))
    >>> nlp = kt.control.Collocation(problem, np.zeros(2), goal=([0.5, 0.2], [0.0, 0.0]))
    >>> nlp.n, nlp.m, len(nlp.jacobianstructure()[0])
    (66, 40, 480)
    """

    n: int
    """How many variables there are."""
    m: int
    """How many equations."""
    lb: Array
    """Lower bounds (n,) of the variables: the start, the goal, limits. They may be changed, as `ub` may."""
    ub: Array
    cl: Array
    """Zeros (m,)."""
    cu: Array

    def __init__(
        self,
        problem: OptimalControl,
        q: ArrayLike,
        v: ArrayLike | None = None,
        *,
        scheme: Literal["trapezoidal", "hermite_simpson"] = "trapezoidal",
        goal: tuple[ArrayLike, ArrayLike] | None = None,
        arguments: Mapping[str, ArrayLike] | None = None,
        rows: Mapping[str, ArrayLike] | None = None,
        within: bool = False,
    ) -> None:
        if not isinstance(problem, OptimalControl):
            raise OptionError(f"Collocation takes a kt.control.OptimalControl, not {problem!r:.60}")
        is_simpson = chosen_word("scheme", scheme, "trapezoidal", "hermite_simpson") == "hermite_simpson"
        if any(phase.dynamics is not None or phase.constraints for phase in problem.phases):
            raise OptionError(
                "Collocation integrates the robot's own equations: its phases have no dynamics of their own, no "
                "constraints and no impacts"
            )
        self.problem = problem
        robot, T, nu = problem.robot, problem.steps, problem.nu
        self._middle = nu if is_simpson else 0
        self._knot = 2 * robot.nv + nu
        self._stride = self._knot + self._middle
        self._width = self._stride + self._knot
        self.n, self.m = T * self._stride + self._knot, 2 * robot.nv * T
        reference = read_one("q", q, (T + 1, robot.nq) if np.ndim(q) > 1 else (robot.nq,))
        self._q = np.array(np.broadcast_to(reference, (T + 1, robot.nq)))
        numbers = knot_arguments("Collocation", problem, arguments or {}, rows or {})
        self._given = np.array(np.broadcast_to(numbers, (T + 1, given_size(problem))))
        self._pairs = np.stack([self._given[:-1], self._given[1:]], axis=1)
        self._parts: list[tuple[slice, Transcription]] = []
        transcriptions: dict[Any, Transcription] = {}
        start = 0
        for phase in problem.phases:
            key = phase.likeness(of_any_length=True)
            if key not in transcriptions:
                transcriptions[key] = transcription(problem, phase, is_simpson)
            self._parts.append((slice(start, start + phase.steps), transcriptions[key]))
            start += phase.steps
        self._end = None if problem.terminal_cost is None else end_cost(problem)
        self._columns = np.arange(T)[:, None] * self._stride + np.arange(self._width)
        self._last_results: dict[str, tuple[Array, list[Any]]] = {}
        self.cl, self.cu = np.zeros(self.m), np.zeros(self.m)
        self.lb, self.ub = bounds(problem, self._q, v, goal, within, self._middle)

    # -- variables

    def x(self, q: ArrayLike, v: ArrayLike, u: ArrayLike) -> Array:
        """The variables (n,) of a motion: q (steps + 1, nq), v (steps + 1, nv), u (steps + 1, nu), or u of each step.

        Controls in the middle are the means of those around it.
        """
        robot, T, nu = self.problem.robot, self.problem.steps, self.problem.nu
        q, v = (
            np.broadcast_to(read_one(name, x, (T + 1, size) if np.ndim(x) > 1 else (size,)), (T + 1, size))
            for name, x, size in (("q", q, robot.nq), ("v", v, robot.nv))
        )
        count = T if np.shape(u)[:1] == (T,) and np.ndim(u) > 1 else T + 1
        u = read_one("u", u, (count, nu))
        u = np.vstack([u, u[-1:]]) if count == T else u
        knots = np.hstack([difference(robot, self._q, q), v, u])
        middle = 0.5 * (u[:-1] + u[1:])[:, : self._middle]
        return np.concatenate([np.hstack([knots[:-1], middle]).ravel(), knots[-1]])

    def motion(self, x: ArrayLike) -> tuple[Array, Array, Array]:
        """q (steps + 1, nq), v (steps + 1, nv) and u (steps + 1, nu) of variables."""
        x, nv = self._read(x), self.problem.robot.nv
        knots = np.vstack([x[: -self._knot].reshape(-1, self._stride)[:, : self._knot], x[-self._knot :]])
        return integrate(self.problem.robot, self._q, knots[:, :nv]), knots[:, nv : 2 * nv], knots[:, 2 * nv :]

    # -- what solvers call

    def objective(self, x: ArrayLike) -> float:
        """The cost f(x)."""
        x = self._read(x)
        total = sum(float(part["cost"].sum()) for part in self._results("equations", x))
        return total if self._end is None else total + float(self._end[0](*self._last(x)))

    def gradient(self, x: ArrayLike) -> Array:
        """Its derivatives (n,)."""
        x = self._read(x)
        total = np.zeros(self.n)
        np.add.at(total, self._columns, np.concatenate([part["cost"] for part in self._results("slopes", x)]))
        if self._end is not None:
            total[-self._knot :][: 2 * self.problem.robot.nv] += self._end[1](*self._last(x))
        return total

    def constraints(self, x: ArrayLike) -> Array:
        """The defects c(x) (m,), zero for a motion."""
        return np.concatenate([part["defects"].ravel() for part in self._results("equations", self._read(x))])

    def jacobianstructure(self) -> tuple[Indices, Indices]:
        """Rows and columns of the entries that `jacobian` gives."""
        rows = np.arange(self.m).reshape(self.problem.steps, -1, 1)
        shape = (*rows.shape[:2], self._width)
        return np.broadcast_to(rows, shape).ravel(), np.broadcast_to(self._columns[:, None], shape).ravel()

    def jacobian(self, x: ArrayLike) -> Array:
        """The derivatives of c that may differ from zero."""
        return np.concatenate([part["defects"].ravel() for part in self._results("slopes", self._read(x))])

    def hessianstructure(self) -> tuple[Indices, Indices]:
        """Rows and columns of the entries that `hessian` gives: the lower triangle; entries of one place are added."""
        r, c = np.tril_indices(self._width)
        rows, columns = [self._columns[:, r].ravel()], [self._columns[:, c].ravel()]
        if self._end is not None:
            r, c = (self.n - self._knot + x for x in np.tril_indices(2 * self.problem.robot.nv))
            rows, columns = [*rows, r], [*columns, c]
        return np.concatenate(rows), np.concatenate(columns)

    def hessian(self, x: ArrayLike, lagrange: ArrayLike, obj_factor: float = 1.0) -> Array:
        """The second derivatives of obj_factor f + lagrange · c."""
        x = self._read(x)
        weights = read_one("lagrange", lagrange, (self.m,)).reshape(self.problem.steps, -1)
        r, c = np.tril_indices(self._width)
        blocks = np.concatenate([*self._each("bending", x, weights, float(obj_factor))])
        entries = [blocks[:, r, c].ravel()]
        if self._end is not None:
            H = self._end[2](*self._last(x))
            entries.append(obj_factor * H[np.tril_indices(len(H))])
        return np.concatenate(entries)

    # -- the parts

    def _results(self, name: str, x: Array) -> list[Any]:
        """The results of a program, those of the last call where x is the same: solvers ask for the cost and the
        defects, and for their derivatives, one after the other."""
        point, results = self._last_results.get(name, (None, []))
        if point is None or not np.array_equal(point, x):
            results = list(self._each(name, x))
            self._last_results[name] = x.copy(), results
        return results

    def _each(self, name: str, x: Array, weights: Array | None = None, of_cost: float = 1.0) -> Any:
        """The results of a program for the intervals of each phase."""
        y, times = x[self._columns], self.problem.times
        for own, programs in self._parts:
            after = slice(own.start + 1, own.stop + 1)
            inputs = [y[own], self._q[own], self._q[after], times[own], self._pairs[own]]
            if weights is not None:
                inputs += [weights[own], np.full(own.stop - own.start, of_cost)]
            yield getattr(programs, name)(*inputs)

    def _last(self, x: Array) -> tuple[Any, ...]:
        state = x[-self._knot :][: 2 * self.problem.robot.nv]
        return state, self._q[-1], self.problem.times[-1], self._given[-1]

    def _read(self, x: ArrayLike) -> Array:
        return read_one("x", x, (self.n,))


def bounds(
    problem: OptimalControl, reference: Array, v: ArrayLike | None, goal: Any, within: bool, middle: int
) -> tuple[Array, Array]:
    """The lower and the upper bounds (n,) of the variables: the start, the goal, limits.

    Args:
        problem: the problem.
        reference: configurations (steps + 1, nq) that displacements are from.
        v, goal, within: as in `Collocation`.
        middle: how many controls stand between two knots.
    """
    robot = problem.robot
    if not isinstance(within, bool):
        raise OptionError(f"within must be True, or False for coordinates without limits, not {within!r:.60}")
    if within and robot.nq != robot.nv:
        raise OptionError("within=True is for robots whose configurations are vectors; bounds may be set in lb, ub")
    most = np.full((2, 2 * robot.nv), np.inf) * [[-1.0], [1.0]]
    if within:
        most = np.array([[*robot.lower, *-robot.velocity_limit], [*robot.upper, *robot.velocity_limit]])
    knots = np.empty((2, problem.steps + 1, 2 * robot.nv + problem.nu))
    for k, (state, control) in enumerate(zip(most, problem.limits, strict=True)):
        knots[k] = np.concatenate([state, control])
        if within:
            knots[k, :, : robot.nv] -= reference
    ends = [(0, reference[0], np.zeros(robot.nv) if v is None else read_one("v", v, (robot.nv,)))]
    if goal is not None:
        if not (isinstance(goal, tuple | list) and len(goal) == 2):
            raise OptionError("goal must be a pair (q, v) in which the motion ends")
        q_end, v_end = (read_one(f"goal[{i}]", goal[i], (n,)) for i, n in enumerate((robot.nq, robot.nv)))
        ends.append((-1, q_end, v_end))
    for k, q_end, v_end in ends:
        knots[:, k, : 2 * robot.nv] = np.concatenate([difference(robot, reference[k], q_end), v_end])
    lower, upper = (
        np.concatenate([np.hstack([x[:-1], x[:-1, 2 * robot.nv :][:, :middle]]).ravel(), x[-1]]) for x in knots
    )
    return lower, upper


def read_one(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Array:
    """An array of one problem."""
    x = read("Collocation", name, values, shape)
    if x.shape != shape:
        raise ShapeError(f"Collocation is of one problem: {name} must have shape {shape}, not {x.shape}")
    return x

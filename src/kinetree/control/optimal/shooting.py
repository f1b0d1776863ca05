"""The programs of a problem, compiled once, and their calls for many problems at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.control.optimal.backward import Passes, backward_pass
from kinetree.control.optimal.models import Models, compiled_each
from kinetree.control.optimal.phase import Phase
from kinetree.control.optimal.problem import LEAST_PART, OptimalControl
from kinetree.control.optimal.rows import Workspace
from kinetree.control.optimal.stages import cost_of_last, cost_of_step, given_size, next_state, value_of, values
from kinetree.functions.constrained import constraint_jacobian, operational_space_inertia
from kinetree.functions.kinematics import difference, integrate
from kinetree.functions.mass_matrix import mass_matrix_inverse
from kinetree.programs import Program, program, scan

__all__ = ["Motions", "Promise", "Shooting", "Step", "shooting"]

Array = NDArray[np.float64]


class Motions(NamedTuple):
    """States at all knots and controls between them, of several problems or trials."""

    q: Array
    v: Array
    u: Array

    def of(self, which: Any) -> Motions:
        """The motions of some problems."""
        return Motions(*(x[which] for x in self))


class Step(NamedTuple):
    """The step of iLQR at given motions."""

    k: Array
    K: Array
    gap: Array


class Promise(NamedTuple):
    """Predictions for a step before it is tried, from the quadratic models of all knots."""

    is_found: NDArray[np.bool_]
    cost: Array
    slope: Array
    """The derivative of the cost by the part of the step that is taken, at its beginning."""
    change: Array
    """How much the whole step changes the cost."""
    gaps: Array
    """The sum of their sizes."""

    @classmethod
    def of(cls, report: Array) -> Promise:
        """From the report of `backward_pass`."""
        return cls(report[:, 0] > 0.0, *report[:, 1:].T)

    def is_small(self, tolerance: float) -> NDArray[np.bool_]:
        """Whether the whole step changes the cost by less than the tolerance, relative to 1 + |cost|."""
        small: NDArray[np.bool_] = -self.change <= tolerance * (1.0 + np.abs(self.cost))
        return small


class Shooting:
    """A problem's compiled functions; arrays have the problems of a batch in their first axis."""

    def __init__(self, problem: OptimalControl) -> None:
        self._motions = compiled_each(problem.phases, lambda phase: motion_program(problem, phase))
        self._end = last_cost_program(problem).compiled("float64")
        self._phases = problem.phases
        self._sizes = problem.robot.nq, problem.robot.nv, problem.nu
        self._limits = np.stack(problem.limits)
        self._times = problem.times
        self.models: Models = Models(problem)
        constrained = [phase for phase in problem.phases if phase.constraints]
        each = compiled_each(constrained, lambda phase: independence_program(problem, phase), of_any_length=True)
        self._independence = dict(zip(constrained, each, strict=True))
        self.steps: int = problem.steps

    def workspace(self) -> Workspace:
        return Workspace.of(2 * self._sizes[1], self._sizes[2])

    def direction(
        self, at: Motions, given: Array, setting: Array, work: Workspace, tolerance: float, is_exact: bool
    ) -> tuple[Step, Promise]:
        """The step of iLQR, with the regularisation of `setting`, which is raised where it must be.

        With exact Hessians it is Newton's where these have a minimum without more regularisation, and otherwise that of
        Gauss and Newton; where that promises less than the tolerance, at a saddle point, it is Newton's again, with as
        much regularisation as it needs.
        """
        models = self.models.gauss_newton(*at, given)
        gap = models[0][..., : 2 * self._sizes[1]] * setting[:, 1, None, None]
        if not is_exact:
            k, K, report = self._swept(models, at.u, setting, work)
            return Step(k, K, gap), Promise.of(report)
        exact = self.models.exact(models[0], *at, given)
        k, K, report = self._swept(exact, at.u, setting * [1.0, 1.0, 0.0], work)
        left = np.flatnonzero(report[:, 0] == 0.0)
        for knots, last in (models, exact):
            if len(left):
                raised = setting[left]
                k[left], K[left], report[left] = self._swept((knots[left], last[left]), at.u[left], raised, work)
                setting[left] = raised
                left = left[Promise.of(report[left]).is_small(tolerance)]
        return Step(k, K, gap), Promise.of(report)

    def _swept(self, models: tuple[Array, Array], u: Array, setting: Array, work: Workspace) -> tuple[Array, ...]:
        """Controls' changes, feedback and the report of `backward_pass`."""
        b, T, m = u.shape
        k, K, report = np.zeros((b, T, m)), np.zeros((b, T, m * work.n)), np.empty((b, 5))
        backward_pass(Passes(T, *models, np.ascontiguousarray(u), self._limits, setting, k, K, report), work)
        return k, K.reshape((b, T, m, work.n)), report

    def rolled_out(self, q: Array, v: Array, u: Array, given: Array) -> tuple[Motions, Array]:
        """The motions (b, …) of given controls, and their costs."""
        T, (_, nv, m) = self.steps, self._sizes
        rest = [np.broadcast_to(x[:, None], (len(x), T + 1, x.shape[-1])) for x in (q, v)]
        nothing = Step(*(np.zeros((1, T, *shape)) for shape in ((m,), (m, 2 * nv), (2 * nv,))))
        return self.tried(Motions(rest[0], rest[1], u), nothing, np.ones(len(q)), given)

    def tried(self, at: Motions, step: Step, alpha: Array, given: Array) -> tuple[Motions, Array]:
        """Motions along a part alpha (b,) or (b, a) of a step, and their costs; alpha's axes are the leading ones."""
        if alpha.ndim == 2:
            at, given = at.of((slice(None), None)), given[:, None]
            step = Step(*(x[:, None] for x in step))
        (nq, nv, m), T, batch = self._sizes, self.steps, alpha.shape
        tried = Motions(np.empty((*batch, T + 1, nq)), np.empty((*batch, T + 1, nv)), np.empty((*batch, T, m)))
        q, v = tried.q[..., 0, :], tried.v[..., 0, :]
        q[...], v[...] = at.q[..., 0, :], at.v[..., 0, :]
        cost = np.zeros(batch)
        for move, part in zip(self._motions, self._parts(), strict=True):
            own, after = (..., slice(*part), slice(None)), (..., slice(part[0] + 1, part[1] + 1), slice(None))
            arrays = (
                q, v, alpha, self._times[slice(*part)], given[own], at.q[own], at.v[own], at.u[own], step.k[own],
                step.K[(..., slice(*part), slice(None), slice(None))], step.gap[own],
            )  # fmt: skip
            ends = move.call(*map(np.ascontiguousarray, arrays))
            count, start = part[1] - part[0], nq + nv + 1
            q, v = ends[..., :nq], ends[..., nq : nq + nv]
            cost += ends[..., nq + nv]
            for x, place in ((tried.u, own), (tried.q, after), (tried.v, after)):
                size = x.shape[-1]
                x[place] = ends[..., start : start + count * size].reshape((*batch, count, size))
                start += count * size
        cost += self._end.call(*map(np.ascontiguousarray, (q, v, self._times[-1], given[..., -1, :])))
        return tried, cost

    def are_independent(self, q: Array) -> NDArray[np.bool_]:
        """Whether the constraints of all phases are, at configurations (b, T + 1, nq); NaN is not checked."""
        good = np.ones(len(q), dtype=bool)
        for phase, part in zip(self._phases, self._parts(), strict=True):
            if phase.constraints:
                own = np.ascontiguousarray(q[:, slice(*part)])
                parts = self._independence[phase].call(own.reshape((-1, own.shape[-1]))).reshape(own.shape[:2])
                good &= ((parts > 0.0) | ~np.isfinite(own).all(axis=-1)).all(axis=-1)
        return good

    def _parts(self) -> Iterator[tuple[int, int]]:
        """The first and the last step of each phase."""
        start = 0
        for phase in self._phases:
            yield start, start + phase.steps
            start += phase.steps


def shooting(problem: OptimalControl) -> Shooting:
    """The compiled functions of a problem."""
    if not problem.made:
        problem.made.append(Shooting(problem))
    compiled: Shooting = problem.made[0]
    return compiled


def independence_program(problem: OptimalControl, phase: Phase) -> Program:
    """1 where forces and their derivatives exist, 0 where rows depend on each other that elsewhere do not.

    Independent rows are recognised by Cholesky's factor of A = J M⁻¹ Jᵀ, redundant ones by the rank, the trace of A A⁺.
    """
    robot, rank = problem.robot, problem.ranks[phase]

    def independence(q: Any) -> Any:
        J = constraint_jacobian(robot, q, phase.constraints)
        A = J @ mass_matrix_inverse(robot, q) @ J.T
        if rank < len(J):
            trace = np.sum(A * operational_space_inertia(robot, q, phase.constraints))
            return np.where(abs(trace - rank) < 0.5, 1.0, 0.0)
        parts = np.diag(np.linalg.cholesky(A)) ** 2 / np.diag(A)
        return np.where(np.all(parts > LEAST_PART), 1.0, 0.0)

    return program(independence, q=robot)


def motion_program(problem: OptimalControl, phase: Phase) -> Program:
    """The motion of a phase from a state, with u = u_ref + α k + K (x ⊖ x_ref) within the limits.

    Where a step of the reference ends away from its next knot, the part 1 − α of that gap remains: Mastalli et al.
    (2020), equation 19. All numbers of the result are in one row: the last state, the sum of costs, and per step the
    controls and the state after it.
    """
    robot, nu, T = problem.robot, problem.nu, phase.steps
    nv, size = robot.nv, given_size(problem)
    lower, upper = problem.limits
    is_limited = bool(np.isfinite([lower, upper]).any())

    def motion(
        q: Any, v: Any, alpha: Any, t: Any, given: Any, q_ref: Any, v_ref: Any, u_ref: Any, k: Any, K: Any, gap: Any
    ) -> Any:
        def step(state: Any, row: Any) -> Any:
            q, v, total = state
            t, given, q_ref, v_ref, u_ref, k, K, gap = row
            away = np.concatenate([difference(robot, q_ref, q), v - v_ref])
            u = u_ref + alpha * k + K @ away
            if is_limited:
                u = np.clip(u, lower, upper)
            at = {"t": t, "q": q, "v": v, "u": u, **values(problem, given)}
            q_end, v_end, more = next_state(problem, phase, at)
            total = total + value_of(cost_of_step(phase, {**at, **more}))
            q_end = integrate(robot, q_end, (alpha - 1.0) * gap[:nv])
            v_end = v_end + (alpha - 1.0) * gap[nv:]
            return (q_end, v_end, total), (u, q_end, v_end)

        rows = t, given, q_ref, v_ref, u_ref, k, K, gap
        (q, v, total), (u, qs, vs) = scan(step, (q, v, 0.0), rows)
        return q, v, total, u, qs, vs

    return program(
        motion, q=robot, v=nv, alpha=(), t=(T,), given=(T, size), q_ref=(T, robot.nq), v_ref=(T, nv), u_ref=(T, nu),
        k=(T, nu), K=(T, nu, 2 * nv), gap=(T, 2 * nv),
    )  # fmt: skip


def last_cost_program(problem: OptimalControl) -> Program:
    """The cost of the last state."""
    robot, terminal = problem.robot, problem.terminal_cost

    def last_cost(q: Any, v: Any, t: Any, given: Any) -> Any:
        if terminal is None:
            return 0.0 * t
        return value_of(cost_of_last(terminal, {"t": t, "q": q, "v": v, **values(problem, given)}))

    return program(last_cost, q=robot, v=robot.nv, t=(), given=given_size(problem))

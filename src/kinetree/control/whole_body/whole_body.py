"""Whole-body control: torques of a robot on contacts that serve several tasks in order of priority."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.codegen.loops.compiled import prepared
from kinetree.control.quadratic.priorities import in_order
from kinetree.control.quadratic.room import work_of_levels
from kinetree.control.tasks.base import Task
from kinetree.control.whole_body.checks import (
    checked_contacts,
    checked_horizon,
    checked_limit,
    checked_priorities,
    checked_tasks,
    no_torques,
)
from kinetree.control.whole_body.effort import Effort
from kinetree.control.whole_body.matrices import Layout, matrices
from kinetree.control.whole_body.references import References, Values
from kinetree.control.whole_body.result import WholeBodyStep
from kinetree.control.whole_body.support import Support
from kinetree.errors import OptionError, ShapeError
from kinetree.model import Model, check_robot

__all__ = ["WholeBody"]

Array = NDArray[Any]


class WholeBody:
    """A controller of a whole robot: `step` gives the torques of one moment.

    Each step is one problem in the accelerations v̇ and the forces f of the contacts,

        M v̇ + h = τ + Jᵀ f,  contacts do not move,  friction cones,  limits of torques (and of joints),

    under which the tasks are met in order of their priorities: those of priority 1 use what those of 0 leave free, and
    so on; tasks of the same priority are weighed against each other. Last comes the effort. A task asks for the
    acceleration a = acceleration + stiffness · error + damping · (velocity − its velocity); a `kt.control.Momentum` for
    such a rate of the momentum.

    What cannot be met is given up from below. The equations of motion, the friction cones and the torques' limits are
    never violated; then contacts, then tasks by priority, are met as well as those before allow, in the sense of
    weighted squares, and the result tells by how much they are not. With limits of joints, these come between the
    torques' limits and the contacts, and are left out altogether where no torques keep them. Whatever can be met
    exactly is met to rounding.

    One compiled program computes all matrices of the state, and the solver is that of `kt.control.quadratic_program`.
    A controller serves one thread at a time.

    Args:
        robot: the robot; what has no motor (`robot.actuated`), such as a floating base, gets no torque.
        tasks: tasks by names of your own.
        contacts: `kt.control.Support`s by names of your own.
        stiffness: of tasks by name, one number or one per row, 1/s²; 100 where none is given, 0 for momenta.
        damping: of tasks by name, 1/s; critical, 2 √stiffness, where none is given, and 10 for momenta.
        effort: the weights of what is spent, `kt.control.Effort`.
        torque_limit: of all degrees of freedom (nv,) or one number; by default the robot's own (`robot.effort_limit`).
        joint_limit_horizon: the time, in seconds, in which joints may come near the limits of their positions by the
            factor 1/e, and in which they may reach the limits of their velocities; None leaves these limits out. It
            should be several times the time between two steps.

    Raises:
        OptionError: names, weights, gains, limits or priorities that are not allowed.
        NameNotFoundError: the robot has no such frame or joint.

    Source: Escande, Mansard, Wieber, IJRR 33 (2014), for the order of priorities; A. Del Prete et al., "Implementing
    torque control with high-ratio gear boxes and without joint-torque sensors", 2016 (TSID), for the unknowns.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("quadruped")
    >>> feet = {name: kt.control.Support(name) for name in robot.frames if name.endswith("foot")}
    >>> tasks = {"momentum": kt.control.Momentum(), "posture": kt.control.Posture(priority=1)}
    >>> controller = kt.control.WholeBody(robot, tasks, feet)
    >>> q, v = robot.neutral(), np.zeros(robot.nv)
    >>> q[7:] = np.tile([0.0, 0.7, -1.4], 4)
    >>> found = controller.step(q, v, {"posture": q}, accelerations={"momentum": [0, 0, 7.0, 0, 0, 0]})
    >>> bool(np.isclose(sum(f[2] for f in found.forces.values()), 9.81 * robot.mass + 7.0)), found.is_met("momentum")
    (True, True)
    """

    def __init__(
        self,
        robot: Model,
        tasks: Mapping[str, Task],
        contacts: Mapping[str, Support],
        *,
        stiffness: Values | None = None,
        damping: Values | None = None,
        effort: Effort | None = None,
        torque_limit: ArrayLike | None = None,
        joint_limit_horizon: float | None = None,
    ) -> None:
        self.robot = check_robot(robot)
        self.tasks = checked_tasks(robot, tasks)
        self.contacts = checked_contacts(robot, contacts, self.tasks)
        self.effort = Effort() if effort is None else effort
        if not isinstance(self.effort, Effort):
            raise OptionError(f"WholeBody: effort must be a kt.control.Effort, not {effort!r:.60}")
        horizon = checked_horizon(joint_limit_horizon)
        self._limit = checked_limit(robot, torque_limit)
        self._layout = layout = Layout(robot, self.tasks, self.contacts, horizon, self.effort.torques > 0.0)
        self.program = matrices(layout, self._limit)
        """The program of q, v and all references that gives the matrices."""
        self._function = self.program.compile()
        self._references = References(layout, stiffness or {}, damping or {})
        self._rooms(checked_priorities(self.tasks, self.effort))

    def _rooms(self, levels: list[list[str]]) -> None:
        """The arrays that the program writes and that the solver reads."""
        layout, nv = self._layout, self.robot.nv
        n, m, R = layout.n, layout.side_count, layout.row_count
        sizes = [m * (n + 1), m, m, nv, R * (n + 1), n * (n + 1)]
        flat = np.zeros(sum(sizes))
        ends = np.cumsum(sizes)
        sides, lower, upper, h, _, last = np.split(flat, ends[:-1])
        self._out, self._h = flat[: ends[4]], h
        last.reshape(n, n + 1)[:, :n] = np.eye(n)
        rows = flat[ends[3] :].reshape(R + n, n + 1)
        self._equations, self._torque_rows = rows[:R], sides.reshape(m, n + 1)[: len(layout.driven)]
        self._driven = layout.driven
        self.inequalities = sides.reshape(m, n + 1)[:, :n], lower, upper
        """C, lower and upper of the last step, in the accelerations and the forces of the contacts."""
        self._x, self._told = np.zeros(n), np.zeros(5, np.int32)
        self._generators = [
            (name, c.axes() if c.is_point else c.generator(), layout.forces[name]) for name, c in self.contacts.items()
        ]
        self._named_rows = [*layout.motions.items(), *((name, layout.rows[name]) for name in self.tasks)]
        weights, starts = self._weights_and_starts(levels)
        self._levels = len(starts) - 1
        soft = len(layout.driven) if layout.horizon is not None else 0
        self._solve = prepared(
            in_order, n, m - soft, soft, len(starts) - 1, rows, weights, starts, sides.reshape(m, n + 1), lower, upper,
            self._x, self._told, *work_of_levels(n, m, R + n),
        )  # fmt: skip

    def _weights_and_starts(self, levels: list[list[str]]) -> tuple[Array, Array]:
        layout, effort = self._layout, self.effort
        nv, n, R = self.robot.nv, layout.n, layout.row_count
        weights = np.ones(R + n)
        for name, where in layout.rows.items():
            weights[where] = self.tasks[name].weights(self.robot)
        if layout.torques_count:
            weights[R - len(layout.driven) : R] = effort.torques
        weights[R : R + nv] = effort.accelerations
        for name, where in layout.forces.items():
            weights[R + where.start : R + where.stop] = effort.forces * np.asarray(self.contacts[name].force_weight)
        starts, at = [0, layout.first_rows], layout.first_rows
        if self.contacts:
            at += sum(c.motion_size for c in self.contacts.values())
            starts.append(at)
        for names in levels:
            at += sum(self.tasks[name].size(self.robot) for name in names)
            starts.append(at)
        starts[-1 if self.effort.priority is not None else len(starts) :] = [R + n]
        return weights, np.array(starts, np.int32)

    def step(
        self,
        q: ArrayLike,
        v: ArrayLike,
        targets: Values | None = None,
        velocities: Values | None = None,
        accelerations: Values | None = None,
        *,
        active: Mapping[str, bool] | None = None,
    ) -> WholeBodyStep:
        """The torques of one moment.

        Args:
            q: configuration (nq,).
            v: velocity (nv,).
            targets: of tasks by name, as each kind of task has them; what is left out stays as in the step before.
            velocities: of tasks by name (m,), in the axes of the task; zero where none is given. Of a momentum, the
                momentum itself.
            accelerations: of tasks by name (m,); zero where none is given. Of a momentum, its rate.
            active: contacts and tasks by name that are switched off (False) or on again; on at first. A contact that is
                off neither holds its frame nor pushes.

        Returns:
            The record `WholeBodyStep`.

        Raises:
            ConfigurationError: NaN or infinity in the state or the references, or a quaternion of zero length; no
                torques are returned then.
            OptionError: names that are not those of tasks, or a task that had no target yet.
            ShapeError, DTypeError: references that do not fit their task.
        """
        references = self._references
        if targets:
            references.put_targets(targets)
        references.put("velocity", velocities)
        references.put("acceleration", accelerations)
        if active:
            references.switch(active)
        references.check_complete()
        q, v = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
        if q.ndim != 1 or v.ndim != 1:
            raise ShapeError(
                f"WholeBody: a step is for one moment: q must have shape ({self.robot.nq},) and v ({self.robot.nv},), "
                f"not {q.shape} and {v.shape}"
            )
        self._function(q, v, references.values, out=self._out)
        x = self._x
        x[0] = np.nan
        self._solve()
        if not math.isfinite(x.sum() + references.values.sum() + v.sum()):
            raise no_torques(self.robot, q, v, references)
        return self._result(x)

    def _result(self, x: Array) -> WholeBodyStep:
        nv, driven = self.robot.nv, self._driven
        for k, (_, _, where) in enumerate(self._generators):
            if self._references.values[k] == 0.0:  # exactly, not up to rounding
                x[where] = 0.0
        tau = np.zeros(nv)
        tau[driven] = self._torque_rows[:, :-1] @ x + self._h[driven]
        np.clip(tau, -self._limit, self._limit, out=tau)
        residuals = self._equations[:, :-1] @ x - self._equations[:, -1]
        forces = {name: generator @ x[where] for name, generator, where in self._generators}
        unmet = {name: residuals[where] for name, where in self._named_rows}
        return WholeBodyStep(
            tau, x[:nv].copy(), forces, unmet, bool(self._told[4]), self._told[0] == self._levels, int(self._told[2])
        )

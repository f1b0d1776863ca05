"""Whole-body control: torques of a robot on contacts that serve several tasks in order of priority."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.compiler.thread_count import thread_count
from kinetree.control.tasks import Task, keep_apart
from kinetree.control.whole_body.effort import Effort
from kinetree.control.whole_body.matrices import HORIZON, Layout
from kinetree.control.whole_body.references import Batched, References, Values, numbers
from kinetree.control.whole_body.result import WholeBodyStep
from kinetree.control.whole_body.solver import Solver
from kinetree.control.whole_body.support import Support
from kinetree.errors import ConfigurationError, OptionError, ShapeError
from kinetree.inputs import common_axes, number_between, real_array
from kinetree.model import Model, check_robot
from kinetree.model.robot import refuse_zero_quaternions
from kinetree.programs.program import Program

if TYPE_CHECKING:
    from kinetree.control.whole_body.references import References
    from kinetree.control.whole_body.result import WholeBodyStep

__all__ = ["WholeBody"]

Array = NDArray[Any]


class WholeBody:
    """A controller of a whole robot: `step` gives the torques of one moment, or of many.

    Each step is one problem in the accelerations v̇ and the forces f of the contacts,

        M v̇ + h = τ + Jᵀ f,  contacts do not move,  friction cones,  limits of torques and of joints,

    under which the tasks are met in order of their priorities: those of priority 1 use the null space of those of 0,
    and so on; tasks of the same priority are weighed against each other. Last comes the effort. A task asks for the
    acceleration a = acceleration + stiffness · error + damping · (velocity − its velocity); a `kt.control.Momentum` for
    such a rate of the momentum.

    Conflicting demands are given up from the lowest priority on. The equations of motion, the friction cones and the
    torques' limits are never violated; then contacts, then tasks by priority, are met as well as those before allow, in
    the sense of weighted squares, and the result gives the remaining differences. The limits of joints' positions and
    velocities, and the distances of `kt.control.keep_apart`, come between the torques' limits and the contacts, and are
    left out altogether where no torques keep them. Feasible demands are met to rounding.

    One compiled program computes all matrices of the state, and the solver is that of `kt.control.quadratic_program`.
    A controller serves one thread at a time.

    Args:
        robot: the robot; joints without a motor (`robot.actuated`), such as a floating base, gets no torque.
        tasks: tasks by names of your own.
        contacts: `kt.control.Support`s by names of your own.
        stiffness: of tasks by name, one number or one per row, 1/s²; 100 where none is given, 0 for momenta.
        damping: of tasks by name, 1/s; critical, 2 √stiffness, where none is given, and 10 for momenta.
        effort: the weights of the effort, `kt.control.Effort`.
        torque_limit: of all degrees of freedom (nv,) or one number; by default the robot's own (`robot.effort_limit`).
        joint_limit_horizon: the time, in seconds, in which joints may come near the limits of their positions by the
            factor 1/e, and in which they may reach the limits of their velocities; None leaves these limits out. It
            should be several times the time between two steps. Only joints of one coordinate have such limits.
            Distances approach their margins in this time, too; in 0.1 s with None.

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
        joint_limit_horizon: float | None = HORIZON,
    ) -> None:
        self.robot: Model = check_robot(robot)
        self.tasks: dict[str, Task] = checked_tasks(robot, tasks)
        self.contacts: dict[str, Support] = checked_contacts(robot, contacts, self.tasks)
        self.effort: Effort = Effort() if effort is None else effort
        if not isinstance(self.effort, Effort):
            raise OptionError(f"WholeBody: effort must be a kt.control.Effort, not {effort!r:.60}")
        horizon = checked_horizon(joint_limit_horizon)
        apart = {name: task for name, task in self.tasks.items() if isinstance(task, keep_apart)}
        others = {name: task for name, task in self.tasks.items() if name not in apart}
        self._layout = Layout(robot, others, apart, self.contacts, horizon, self.effort.torques > 0.0)
        self._references = References(self._layout, stiffness, damping)
        self._nq, self._nv = robot.nq, robot.nv
        levels = checked_priorities(others, self.effort)
        self._solver = Solver(self._layout, levels, self.effort, checked_limit(robot, torque_limit))
        self.program: Program = self._solver.program
        """The program of q, v and all references that gives the matrices."""

    def __repr__(self) -> str:
        tasks = ", ".join(f"{name} ({task.priority})" for name, task in self.tasks.items()) or "none"
        contacts = ", ".join(self.contacts) or "none"
        return f"<WholeBody of {self.robot.name!r}: tasks (and priorities) {tasks}; contacts {contacts}>"

    @property
    def inequalities(self) -> tuple[Array, Array, Array]:
        """C, lower and upper of the last step of one moment, in the accelerations and the forces of the contacts."""
        return self._solver.levels.sides[:, :-1], self._solver.levels.lower, self._solver.levels.upper

    def step(
        self,
        q: ArrayLike,
        v: ArrayLike,
        targets: Values | None = None,
        velocities: Values | None = None,
        accelerations: Values | None = None,
        *,
        active: Mapping[str, bool | Array] | None = None,
        threads: int | None = None,
    ) -> WholeBodyStep:
        """The torques of one moment, or of many.

        Leading axes of all arrays are samples, and broadcast; a sample's torques have the same bits in any batch.
        Targets and switches with such axes count for this call only.

        Args:
            q: configuration (…, nq).
            v: velocity (…, nv).
            targets: of tasks by name, as each kind of task has them; omitted ones stay as in the step before.
            velocities: of tasks by name (…, m), in the axes of the task; zero by default. Of a momentum, the momentum
                itself.
            accelerations: of tasks by name (…, m); zero by default. Of a momentum, its rate.
            active: contacts and tasks by name that are switched off (False) or on again, bool or an array (…) of them;
                on at first. A contact that is off neither holds its frame nor pushes.
            threads: how many threads may share a batch; by default as many as there are cores.

        Returns:
            The record `WholeBodyStep`.

        Raises:
            ConfigurationError: NaN or infinity in the state or the references, or a quaternion of zero length.
            OptionError: names that are not those of tasks, or a task that had no target yet.
            ShapeError, DTypeError: arrays that do not fit the robot, their task or each other.

        >>> import kinetree as kt, numpy as np
        >>> arm = kt.zoo.load("arm6")
        >>> controller = kt.control.WholeBody(arm, {"posture": kt.control.Posture()}, {})
        >>> controller.step(np.zeros((100, 6)), np.zeros(6), {"posture": np.ones(6)}).tau.shape
        (100, 6)
        """
        if threads is not None:
            thread_count(threads)
        references = self._references
        many = references.taken(targets, velocities, accelerations, active)
        q, v = numbers("q", q, (self._nq,)), numbers("v", v, (self._nv,))
        if q.ndim == v.ndim == 1 and not many:
            values = references.values
            result = self._solver.one(q, v, values)
        else:
            lead = _lead(q, v, many)
            refuse_zero_quaternions(q, self.robot.quaternions, "q")
            q, v = (np.broadcast_to(x, (*lead, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (q, v))
            values = references.repeated(many, lead).reshape(len(q), len(references.values))
            result = self._solver.many(q, v, values, lead, threads)
        with np.errstate(all="ignore"):
            total = result.tau.sum() + result.qdd.sum() + values.sum() + q.sum() + v.sum()
        if not math.isfinite(total):
            raise no_torques(self.robot, q, v, values, references, result)
        return result


def _lead(q: Array, v: Array, many: Mapping[str, Batched]) -> tuple[int, ...]:
    """The axes of samples."""
    leads = {"q": q.shape[:-1], "v": v.shape[:-1], **{name: x.lead for name, x in many.items()}}
    return common_axes("WholeBody", leads)


def checked_tasks(robot: Model, tasks: object) -> dict[str, Task]:
    named = _named("tasks", tasks, Task, "kt.control.Posture()")
    for task in named.values():
        task.check(robot)
    return named


def checked_contacts(robot: Model, contacts: object, tasks: Mapping[str, Task]) -> dict[str, Support]:
    named = _named("contacts", contacts, Support, 'kt.control.Support("foot")')
    for name, contact in named.items():
        robot.frames[contact.frame]
        if name in tasks:
            raise OptionError(f"WholeBody: {name!r} is a task and a contact; give one of them another name")
    return named


def _named(word: str, values: object, kind: type[Any], example: str) -> dict[str, Any]:
    if not isinstance(values, Mapping):
        raise OptionError(f'WholeBody: {word} must be a dict such as {{"name": {example}}}, not {values!r:.60}')
    for name, x in values.items():
        if not isinstance(name, str) or not isinstance(x, kind):
            raise OptionError(f"WholeBody: {word}[{name!r:.60}] must be a kt.control.{kind.__name__}, not {x!r:.60}")
    return dict(values)


def checked_priorities(tasks: Mapping[str, Task], effort: Effort) -> list[list[str]]:
    """The names of tasks, level by level."""
    numbers = sorted({task.priority for task in tasks.values()})
    if effort.priority is not None and (not numbers or effort.priority != numbers[-1]):
        last = f"that of the last tasks, {numbers[-1]}" if numbers else "there must be tasks"
        raise OptionError(f"WholeBody: the effort's priority must be None or {last}, not {effort.priority}")
    return [[name for name in tasks if tasks[name].priority == number] for number in numbers]


def checked_horizon(horizon: object) -> float | None:
    return None if horizon is None else number_between("WholeBody: joint_limit_horizon", horizon, unit="seconds")


def checked_limit(robot: Model, limit: ArrayLike | None) -> Array:
    array = robot.effort_limit if limit is None else real_array("WholeBody: torque_limit", limit, "() or (nv,)")
    if array.shape not in ((), (robot.nv,)):
        raise ShapeError(f"WholeBody: torque_limit must be one number or ({robot.nv},), not of shape {array.shape}")
    if not (array >= 0.0).all():
        raise OptionError("WholeBody: torque_limit must not be negative or NaN")
    return np.broadcast_to(array, (robot.nv,)).astype(np.float64)


def no_torques(
    robot: Model, q: Array, v: Array, values: Array, references: References, step: WholeBodyStep
) -> ConfigurationError:  # fmt: skip
    """The error where the solver found no numbers, for the first sample that has none."""
    where = ""
    if step.tau.ndim > 1:
        inputs = (x.reshape(*step.tau.shape[:-1], -1) for x in (q, v, values))
        with np.errstate(all="ignore"):
            total = sum(x.sum(axis=-1) for x in (*inputs, step.tau, step.qdd))
        index = np.unravel_index(int(np.argmax(~np.isfinite(total))), total.shape)
        k = int(np.ravel_multi_index(index, total.shape))
        q, v, values = q[k], v[k], values[k]
        where = "sample [" + ", ".join(map(str, index)) + "]: "
    for name, x, names in (("q", q, robot.q_names), ("v", v, robot.v_names)):
        if not np.isfinite(x).all():
            k = int(np.argmax(~np.isfinite(x)))
            return ConfigurationError(
                f"WholeBody: {where}{name}[{k}] ({names[k]}) is {x[k]}; no torques follow from such a state"
            )
    if (wrong := references.wrong(values)) is not None:
        return ConfigurationError(
            f"WholeBody: {where}a reference of task {wrong!r} is NaN or infinite; no torques follow from it"
        )
    return ConfigurationError(
        f"WholeBody: {where}no torques were found in this state; its numbers are too large, or the mass matrix is "
        "singular"
    )

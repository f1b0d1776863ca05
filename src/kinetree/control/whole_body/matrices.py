"""All matrices of a step of whole-body control as one program of the state.

The unknowns are x = (v̇, f), the accelerations and the numbers of all contacts' forces. Equations are rows
(coefficients | right side), in levels:

    M v̇ − Jᵀ f = −h                     where nothing drives, and f = 0 of contacts that are not active
    J v̇ = −J̇ v − gain J v              of contacts
    J v̇ = a − J̇ v                      of tasks, in order of priority

and the torques M v̇ − Jᵀ f + h, the friction cones, and the accelerations that limits of joints and distances allow are
bounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.control.tasks import Task, keep_apart
from kinetree.control.whole_body.support import Support
from kinetree.functions.dynamics import bias_forces, crba
from kinetree.functions.jacobians import frame_bias_acceleration, frame_jacobian
from kinetree.model import Model
from kinetree.programs import Program, program
from kinetree.records import record

__all__ = ["HORIZON", "Given", "Layout", "matrices"]

Array = NDArray[Any]
HORIZON = 0.1
"""s: several steps of a controller that runs 50 times per second or more often."""


@record(frozen=True, slots=True)
class Given:
    """Where the inputs of one task are, in the program's argument `given`."""

    target: slice
    velocity: slice
    acceleration: slice
    stiffness: slice
    damping: slice


@record(frozen=True, slots=True)
class Layout:
    """Where everything is: rows, unknowns, inputs and outputs."""

    robot: Model
    tasks: Mapping[str, Task]
    apart: Mapping[str, keep_apart]
    contacts: Mapping[str, Support]
    horizon: float | None
    torques_count: bool
    """Whether torques are part of the effort."""

    @property
    def forces(self) -> dict[str, slice]:
        """The unknowns of each contact's force."""
        return _slices(self.robot.nv, {name: c.force_size for name, c in self.contacts.items()})

    @property
    def n(self) -> int:
        return self.robot.nv + sum(c.force_size for c in self.contacts.values())

    @property
    def passive(self) -> Array:
        """The degrees of freedom that nothing drives."""
        return np.flatnonzero(~self.robot.actuated)

    @property
    def driven(self) -> Array:
        return np.flatnonzero(self.robot.actuated)

    @property
    def limited(self) -> Array:
        """The driven degrees of freedom whose joints have limits that are kept; none without a horizon."""
        if self.horizon is None:
            return np.zeros(0, int)
        lower, upper, _ = self.position_limits
        most = self.robot.velocity_limit
        return np.flatnonzero(self.robot.actuated & (np.isfinite(lower) | np.isfinite(upper) | np.isfinite(most)))

    @property
    def position_limits(self) -> tuple[Array, Array, Array]:
        """Lower and upper limits (nv,) of joints with one coordinate, infinite for others, and their places in q."""
        robot = self.robot
        lower, upper, place = np.full(robot.nv, -np.inf), np.full(robot.nv, np.inf), np.zeros(robot.nv, int)
        for joint in robot.joints.values():
            if joint.has_coordinates and len(robot.q_names[joint.q_slice]) == len(robot.v_names[joint.v_slice]) == 1:
                i, k = joint.q_slice.start, joint.v_slice.start
                lower[k], upper[k], place[k] = robot.lower[i], robot.upper[i], i
        return lower, upper, place

    @property
    def first_rows(self) -> int:
        """How many equations always hold."""
        return len(self.passive) + self.n - self.robot.nv

    @property
    def motions(self) -> dict[str, slice]:
        """The rows of each contact's acceleration."""
        return _slices(self.first_rows, {name: c.motion_size for name, c in self.contacts.items()})

    @property
    def ordered(self) -> list[str]:
        """The tasks by priority."""
        return sorted(self.tasks, key=lambda name: self.tasks[name].priority)

    @property
    def rows(self) -> dict[str, slice]:
        """The rows of each task."""
        start = self.first_rows + sum(c.motion_size for c in self.contacts.values())
        return _slices(start, {name: self.tasks[name].size(self.robot) for name in self.ordered})

    @property
    def row_count(self) -> int:
        """All rows that depend on the state."""
        count = self.first_rows + sum(c.motion_size for c in self.contacts.values())
        count += sum(task.size(self.robot) for task in self.tasks.values())
        return count + (len(self.driven) if self.torques_count else 0)

    @property
    def cones(self) -> list[tuple[Array, Array, Array]]:
        return [c.cone() for c in self.contacts.values()]

    @property
    def side_count(self) -> int:
        """How many rows are bounded."""
        return len(self.driven) + sum(len(lower) for _, lower, _ in self.cones) + self.soft_count

    @property
    def soft_count(self) -> int:
        """How many bounded rows, the last ones, are left out where no torques keep them."""
        return len(self.limited) + sum(task.size(self.robot) for task in self.apart.values())

    @property
    def switches(self) -> list[str]:
        """The first inputs: whether each of these is active."""
        return [*self.contacts, *self.tasks, *self.apart]

    @property
    def given(self) -> dict[str, Given]:
        """The inputs of each task, after the switches."""
        start, references = len(self.switches), {}
        for name, task in self.tasks.items():
            m = task.size(self.robot)
            sizes = {"target": int(np.prod(task.target_shape(self.robot)))}
            sizes |= dict.fromkeys(("velocity", "acceleration", "stiffness", "damping"), m)
            parts = _slices(start, sizes)
            references[name] = Given(**parts)
            start = parts["damping"].stop
        return references

    @property
    def given_count(self) -> int:
        sizes = [
            int(np.prod(task.target_shape(self.robot))) + 4 * task.size(self.robot) for task in self.tasks.values()
        ]
        return len(self.switches) + sum(sizes)


def _slices(start: int, sizes: Mapping[str, int]) -> dict[str, slice]:
    slices = {}
    for name, size in sizes.items():
        slices[name] = slice(start, start + size)
        start += size
    return slices


def matrices(layout: Layout, effort_limit: Array) -> Program:
    """A program of q, v and `given` that returns bounded rows, lower and upper bounds, h and the equations."""
    robot, count = layout.robot, layout.given_count

    @program(q=robot, v=robot.nv, given=max(count, 1))
    def step(q: Any, v: Any, given: Any) -> Any:
        M, h = crba(robot, q), bias_forces(robot, q, v)
        forces, motions, low, high, off = [], [], [], [], []
        for k, contact in enumerate(layout.contacts.values()):
            J, bias = _of_contact(robot, contact, q, v)
            on = given[k]
            forces.append(np.matmul(J.T, contact.generator()))
            target = -bias - contact.velocity_gain * np.matmul(J, v)
            zeros = np.zeros((contact.motion_size, layout.n - robot.nv))
            motions.append(on * np.hstack([J, zeros, target[:, None]]))
            _, least, most = contact.cone()
            low.append(least * on)
            high.append(np.where(np.isinf(most), np.inf, np.where(np.isinf(most), 0.0, most) * on))
            off += [1.0 - on] * contact.force_size
        Jt = np.hstack(forces) if forces else np.zeros((robot.nv, 0))
        dynamics = np.hstack([M, -Jt, -h[:, None]])
        equations = [dynamics[layout.passive], *_without(layout, off), *motions, *_of_tasks(layout, q, v, given)]
        torques = np.hstack([M, -Jt, np.zeros((robot.nv, 1))])[layout.driven]
        if layout.torques_count:
            equations.append(dynamics[layout.driven])
        h_driven, limit = h[layout.driven], effort_limit[layout.driven]
        sides = [torques, _constant_sides(layout)]
        lower, upper = [-limit - h_driven, *low], [limit - h_driven, *high]
        if len(layout.limited):
            least, most = _allowed(layout, q, v)
            lower.append(least)
            upper.append(most)
        for name, task in layout.apart.items():
            J, least = _held_apart(layout, task, q, v)
            sides.append(np.hstack([J, np.zeros((len(J), layout.n + 1 - robot.nv))]))
            lower.append(np.where(given[layout.switches.index(name)] > 0.0, least, -np.inf))
            upper.append(np.full(len(J), np.inf))
        parts = [np.vstack(sides), np.concatenate(lower), np.concatenate(upper), h, np.vstack(equations)]
        return np.concatenate([np.ravel(part) for part in parts])

    return step


def _of_contact(robot: Model, contact: Support, q: Any, v: Any) -> tuple[Any, Any]:
    """Its Jacobian and J̇ v, in the axes of its force."""
    if contact.is_point:
        axes = contact.axes().T
        J = frame_jacobian(robot, q, contact.frame, expressed_in="local_world_aligned", part="linear")
        bias = frame_bias_acceleration(
            robot, q, v, contact.frame, expressed_in="local_world_aligned", kind="classical"
        )[:3]  # fmt: skip
        return np.matmul(axes, J), np.matmul(axes, bias)
    J = frame_jacobian(robot, q, contact.frame, expressed_in="local")
    return J, frame_bias_acceleration(robot, q, v, contact.frame, expressed_in="local")


def _without(layout: Layout, off: Sequence[Any]) -> list[Any]:
    """Rows that make the forces of contacts zero that are not active."""
    if not off:
        return []
    count = len(off)
    diagonal = np.stack(off)[:, None] * np.eye(count)
    return [np.hstack([np.zeros((count, layout.robot.nv)), diagonal, np.zeros((count, 1))])]


def _of_tasks(layout: Layout, q: Any, v: Any, given: Any) -> list[Any]:
    """The rows of all tasks: J v̇ = a − J̇ v, with the acceleration a of a spring and a damper about the motion given."""
    robot, names, rows = layout.robot, list(layout.tasks), []
    for name in layout.ordered:
        task, where = layout.tasks[name], layout.given[name]
        target = given[where.target].reshape(task.target_shape(robot))
        J, bias = task.jacobian(robot, q, target), task.bias(robot, q, v, target)
        acceleration = given[where.acceleration] + given[where.damping] * (
            given[where.velocity] - task.velocity(robot, q, v, target)
        )
        acceleration = acceleration + given[where.stiffness] * task.error(robot, q, target) - bias
        zeros = np.zeros((task.size(robot), layout.n - robot.nv))
        rows.append(given[len(layout.contacts) + names.index(name)] * np.hstack([J, zeros, acceleration[:, None]]))
    return rows


def _constant_sides(layout: Layout) -> Array:
    """The rows of friction cones and of joint accelerations."""
    total = sum(len(lower) for _, lower, _ in layout.cones)
    cones = np.zeros((total, layout.n + 1))
    start = 0
    for (rows, lower, _), where in zip(layout.cones, layout.forces.values(), strict=True):
        cones[start : start + len(lower), where] = rows
        start += len(lower)
    return np.vstack([cones, np.eye(layout.n + 1)[layout.limited]])


def _allowed(layout: Layout, q: Any, v: Any) -> tuple[Any, Any]:
    """Accelerations that let joints approach their limits exponentially, and reach no forbidden velocity within T.

    Source: B. Faverjon, P. Tournassoud, ICRA 1987 (velocity dampers); A. Ames et al., ECC 2019 (control barriers).
    """
    T, k = float(layout.horizon or 1.0), layout.limited
    lower, upper, place = layout.position_limits
    most = layout.robot.velocity_limit[k]
    position, velocity = q[place[k]], v[k]
    top = np.minimum(((upper[k] - position) / T - velocity) / T, (most - velocity) / T)
    bottom = np.maximum(((lower[k] - position) / T - velocity) / T, (-most - velocity) / T)
    return np.minimum(bottom, top), top


def _held_apart(layout: Layout, task: keep_apart, q: Any, v: Any) -> tuple[Any, Any]:
    """Rows of distances and their least accelerations: those of a critically damped spring toward the margin."""
    T = layout.horizon or HORIZON
    x, J, rate, bias = task.excess(layout.robot, q, v)
    return J, -(x / T + 2.0 * rate) / T - bias

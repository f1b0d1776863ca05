"""Operational-space control: tasks as masses of their own, in the order of their priority."""

from __future__ import annotations

from collections.abc import Mapping
from keyword import iskeyword
from typing import Any

import numpy as np

from kinetree.control.laws.law import applicable, driven, makes_a_law, with_arguments
from kinetree.control.laws.task_blocks import LEAST_FREEDOM, TaskBlocks
from kinetree.control.laws.tracking import Tracking
from kinetree.control.tasks import Task, keep_apart
from kinetree.errors import OptionError
from kinetree.functions.dynamics import bias_forces, mass_matrix
from kinetree.model import Model
from kinetree.programs import Program

__all__ = ["operational_space"]


@makes_a_law
def operational_space(robot: Model, tasks: Mapping[str, Task]) -> Program:
    """A law under which each task moves as ẍ = ẍ_d + D (ẋ_d − ẋ) + K e, and those of later priority do not disturb it.

    Tasks of one priority are one task. Each gets the forces F_k that its acceleration needs in addition to the effect
    of those before it, along J_k|, the part of its Jacobian that moves none of them: τ = Σ J_k|ᵀ F_k + h + Nᵀ τ₀. A
    posture fills the null space of all tasks, τ₀ = M (K₀ e₀ − D₀ v), projected by Nᵀ = 1 − Jᵀ Λ J M⁻¹, which is
    dynamically consistent: it moves no task. By default it is a damper.

    **Conflicts and singular configurations.** A direction that the robot cannot move, or in which tasks before have
    decided, would take forces without bound. Where a row of a task has less than `least_freedom` of itself left given
    the rows before it (the squared sine of the angle between them, 0 to 1), the task is damped, from nothing on, and is
    met nearly as well as it can be, in the least squares of its rows with their `weight`. In the direction that cannot
    be moved nothing is asked. Forces remain finite and continuous, and tasks of earlier priority are met as if it were
    not there. (Of a task that is damped, later ones move the direction that it gives up.) A hand that is sent beyond
    its reach should not arrive there fast: `NAME_speed` limits how fast its error alone lets each row move.

    **Stability.** Where no task is damped, each error decays exponentially for K, D > 0, with e that of the task: for
    rotations, along the shortest turn. Joints that no task moves come to rest by `posture_damping`.

    Args:
        tasks: the tasks by names of your own, such as {"hand": kt.control.Pose("tool")}; priority 0 comes first.

    Returns:
        The program of the joint forces (nv,) with these arguments: q (nq,), v (nv,); for each task NAME, in the order
        of the dict, NAME, the target in its shape, NAME_stiffness (m,) in 1/s² and NAME_damping (m,) in 1/s; then, with
        defaults, NAME_velocity and NAME_acceleration (m,) of each target in the task's axes, 0, and NAME_speed (m,),
        infinite; posture (nq,), posture_stiffness (nv,) in 1/s², 0, and posture_damping (nv,) in 1/s, 5; least_freedom,
        one number, 0.1. If the forces are not finite, all are zero.

    Raises:
        OptionError: tasks is not a dict of tasks by names that arguments can have.
        NameNotFoundError: a task names a frame or joint that the robot does not have.
        SingularModelError: at the first call, if a joint moves nothing that has inertia.

    Source: Khatib, "A unified approach for motion and force control of robot manipulators: the operational space
    formulation" (1987); Sentis and Khatib, "Synthesis of whole-body behaviors through hierarchical control of
    behavioral primitives" (2005).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm7")
    >>> law = kt.control.operational_space(robot, {"hand": kt.control.Position("tool")})
    >>> q, at_rest = np.array([0.1, 0.5, -0.2, -1.2, 0.3, 0.8, 0.0]), np.zeros(7)
    >>> target = kt.frame_placement(robot, q, "tool")[:3, 3] + [0.1, 0.0, 0.0]
    >>> tau = law(q, at_rest, target, np.full(3, 25.0), np.full(3, 10.0))
    >>> qdd = kt.aba(robot, q, at_rest, tau)
    >>> J = kt.frame_jacobian(robot, q, "tool", expressed_in="local_world_aligned", part="linear")
    >>> bool(np.allclose(J @ qdd, [2.5, 0.0, 0.0]))
    True
    """
    model = driven(robot, "operational_space")
    ranked = _ranked(model, tasks)
    tracking = Tracking(model)
    shapes: dict[str, Any] = {"q": model, "v": model.nv}
    more: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    for name, task in tasks.items():
        m = task.size(model)
        shapes |= {name: task.target_shape(model), f"{name}_stiffness": m, f"{name}_damping": m}
        more |= {f"{name}_velocity": m, f"{name}_acceleration": m, f"{name}_speed": m}
        defaults |= {f"{name}_velocity": np.zeros(m), f"{name}_acceleration": np.zeros(m)}
        defaults |= {f"{name}_speed": np.full(m, np.inf)}
    more |= {"posture": model, "posture_stiffness": model.nv, "posture_damping": model.nv, "least_freedom": ()}
    defaults |= {
        "posture": model.neutral(),
        "posture_stiffness": np.zeros(model.nv),
        "posture_damping": np.full(model.nv, 5.0),
    }
    defaults |= {"least_freedom": LEAST_FREEDOM}
    if len(shapes | more) < 6 + 6 * len(tasks):
        raise OptionError(
            f"operational_space: tasks are called {', '.join(tasks)}, but an argument of a law has the name of one of "
            "them, such as posture, least_freedom, or that of another task with _stiffness at its end; rename it"
        )

    def forces(q: Any, v: Any, **values: Any) -> Any:
        jacobians, desired, weights = [], [], []
        for rank in ranked:
            J, accelerations = [], []
            for name, task in rank.items():
                target = values[name]
                slope = task.jacobian(model, q, target)
                feedback = values[f"{name}_stiffness"] * task.error(model, q, target)
                D, speed = values[f"{name}_damping"], values[f"{name}_speed"]
                most = np.where(speed == np.inf, np.inf, D * speed)
                damping = D * (values[f"{name}_velocity"] - slope @ v)
                feedforward = values[f"{name}_acceleration"] - task.bias(model, q, v, target)
                counted = np.flatnonzero(task.weights(model))
                J.append(slope[counted])
                accelerations.append((feedforward + damping + np.clip(feedback, -most, most))[counted])
            jacobians.append(np.concatenate(J))
            desired.append(np.concatenate(accelerations))
            every = np.concatenate([task.weights(model) for task in rank.values()])
            weights.append(every[every > 0.0])
        blocks = TaskBlocks(model, q, jacobians, values["least_freedom"], weights)
        error = tracking.error(q, values["posture"])
        rest = mass_matrix(model, q) @ (values["posture_stiffness"] * error - values["posture_damping"] * v)
        return applicable(blocks.forces(desired) + blocks.unfelt(rest) + bias_forces(model, q, v))

    return with_arguments("operational_space", forces, shapes | more, defaults)


def _ranked(robot: Model, tasks: object) -> list[dict[str, Task]]:
    """The tasks of each priority, in its order; without those whose rows all have the weight 0, which ask nothing."""
    if not isinstance(tasks, Mapping) or not tasks or not all(isinstance(task, Task) for task in tasks.values()):
        raise OptionError(
            "operational_space: tasks must be a dict of tasks by names of your own, such as "
            f'{{"hand": kt.control.Pose("tool")}}, not {tasks!r:.60}'
        )
    for name, task in tasks.items():
        if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
            raise OptionError(
                f"operational_space: a task cannot be called {name!r:.60}: its name is that of an argument, so it is a "
                "word of letters, digits and underscores, and none of Python's own"
            )
        if isinstance(task, keep_apart):
            raise OptionError(
                f"operational_space: {name!r}: keep_apart is an inequality, for inverse kinematics and "
                "kt.control.WholeBody: no law makes its motion"
            )
        task.check(robot)
    asking = {name: task for name, task in tasks.items() if np.any(task.weights(robot))}
    return [
        {name: task for name, task in asking.items() if task.priority == priority}
        for priority in sorted({task.priority for task in asking.values()})
    ]

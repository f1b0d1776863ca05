"""The task of a configuration: all joints, or some, as they are in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.control.tasks.base import Task
from kinetree.control.tasks.checks import checked_weights
from kinetree.errors import OptionError
from kinetree.functions.kinematics import difference
from kinetree.functions.manifold import difference_jacobian
from kinetree.inputs import repeated
from kinetree.model import Model
from kinetree.model.robot import refuse_zero_quaternions
from kinetree.records import record

__all__ = ["Posture"]


@record(frozen=True, slots=True, repr=False)
class Posture(Task):
    """Move joints to a given configuration. A target is a whole configuration (nq,).

    The error is `kt.difference` from the configuration to the target, so that spherical and free joints count by
    displacements. Without `joints` a floating root counts as well, with the first six rows: position and attitude. If
    others decide where the robot is, name the rest: `Posture([name for name in robot.joints if name != "root_joint"])`.

    Attributes:
        joints: the names of the joints that matter, in the order of their rows; by default all, the joint
            of a floating root included, in the robot's order.

    Raises:
        OptionError: for names, weights or a priority that are not allowed values.

    >>> import kinetree as kt, numpy as np
    >>> arm = kt.zoo.load("arm6")
    >>> elbow = kt.control.Posture([list(arm.joints)[2]])
    >>> elbow.error(arm, np.zeros(6), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    array([0.3])
    """

    joints: Sequence[str] | None = None

    def __post_init__(self) -> None:
        Task.__post_init__(self)
        if self.joints is None:
            return
        if isinstance(self.joints, str) or not isinstance(self.joints, Sequence) or not len(self.joints):
            hint = f", such as [{self.joints!r}]" if isinstance(self.joints, str) else ""
            raise OptionError(f"Posture: joints must be a list of names of joints{hint}, not {self.joints!r:.60}")
        if not all(isinstance(name, str) for name in self.joints):
            raise OptionError(f"Posture: joints must be a list of names of joints, not {self.joints!r:.60}")
        if (twice := repeated(self.joints)) is not None:
            raise OptionError(f"Posture: joint {twice!r} is in the list twice")
        object.__setattr__(self, "joints", tuple(map(str.__str__, self.joints)))

    def check(self, robot: Model) -> None:
        for name in self.joints or ():
            joint = robot.joints[name]
            if not joint.has_coordinates:
                raise OptionError(
                    f"Posture: joint {name!r} has no coordinates of its own; name the joint that it follows"
                )
        checked_weights("Posture", self.weight, self.size(robot))

    def check_target(self, robot: Model, target: Any) -> None:
        refuse_zero_quaternions(target, robot.quaternions, "target")

    def size(self, robot: Model) -> int:
        return len(self._rows(robot))

    def target_shape(self, robot: Model) -> tuple[int, ...]:
        return (robot.nq,)

    def present(self, robot: Model, q: Any) -> Any:
        return q

    def error(self, robot: Model, q: Any, target: Any) -> Any:
        return difference(robot, q, target)[self._rows(robot)]

    def error_jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        return difference_jacobian(robot, q, target, wrt="q0")[self._rows(robot)]

    def jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        return np.eye(robot.nv)[self._rows(robot)]

    def bias(self, robot: Model, q: Any, v: Any, target: Any) -> Any:
        return np.zeros(self.size(robot))

    def _rows(self, robot: Model) -> list[int]:
        if self.joints is None:
            return list(range(robot.nv))
        return [k for name in self.joints for k in range(robot.nv)[robot.joints[name].v_slice]]

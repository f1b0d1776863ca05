"""The task of momentum-based control: the centroidal momentum, or a part of it."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from kinetree.control.tasks.base import Task
from kinetree.errors import OptionError
from kinetree.functions.momentum import (
    centroidal_momentum,
    centroidal_momentum_matrix,
    centroidal_momentum_rate,
)
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Momentum"]


@record(frozen=True, slots=True, repr=False)
class Momentum(Task):
    """The robot's momentum about its centre of mass is to change as commanded, in the world's axes.

    It is a task of velocities: it has no target, its velocity is the momentum [linear; angular] (6,) and its
    acceleration the momentum's rate, in N and N·m. With h the momentum, `kt.control.WholeBody` commands the rate
    ḣ = acceleration + damping · (velocity − h).

    Attributes:
        part: "linear", "angular" or "both".

    Raises:
        OptionError: for a part, weights or a priority that are not allowed values.

    Source: D. E. Orin, A. Goswami, S.-H. Lee, "Centroidal dynamics of a humanoid robot", Autonomous Robots 35 (2013);
    T. Koolen et al., "Design of a momentum-based control framework", Int. J. Humanoid Robotics 13 (2016).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("quadruped")
    >>> kt.control.Momentum("linear").jacobian(robot, robot.neutral(), None).shape
    (3, 18)
    """

    part: Literal["both", "linear", "angular"] = "both"

    def __post_init__(self) -> None:
        Task.__post_init__(self)
        if self.part not in ("both", "linear", "angular"):
            raise OptionError(f"Momentum: part must be 'both', 'linear' or 'angular', not {self.part!r:.60}")

    def size(self, robot: Model) -> int:
        return 6 if self.part == "both" else 3

    def target_shape(self, robot: Model) -> tuple[int, ...]:
        return (0,)

    def present(self, robot: Model, q: Any) -> Any:
        return np.zeros(0)

    def error(self, robot: Model, q: Any, target: Any) -> Any:
        return np.zeros(self.size(robot))

    def error_jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        return np.zeros((self.size(robot), robot.nv))

    def jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        return centroidal_momentum_matrix(robot, q)[self._rows()]

    def velocity(self, robot: Model, q: Any, v: Any, target: Any) -> Any:
        return centroidal_momentum(robot, q, v)[self._rows()]

    def bias(self, robot: Model, q: Any, v: Any, target: Any) -> Any:
        return centroidal_momentum_rate(robot, q, v, np.zeros(robot.nv))[self._rows()]

    def _rows(self) -> slice:
        return {"both": slice(0, 6), "linear": slice(0, 3), "angular": slice(3, 6)}[self.part]

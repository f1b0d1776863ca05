"""What the equations are for: control laws, inverse kinematics, whole-body control and trajectory optimisation.

Everything here is made of kinetree's public functions and of programs, so that it can be called, batched,
differentiated, exported and put into `kt.rollout` and `kt.simulate`.
"""

from kinetree.control.quadratic import QuadraticSolution, quadratic_program
from kinetree.control.tasks import Axis, CenterOfMass, LookAt, Orientation, Pose, Position, Posture, Task
from kinetree.control.whole_body import Effort, Momentum, Support, WholeBody, WholeBodyStep

__all__ = [
    "Axis",
    "CenterOfMass",
    "Effort",
    "LookAt",
    "Momentum",
    "Orientation",
    "Pose",
    "Position",
    "Posture",
    "QuadraticSolution",
    "Support",
    "Task",
    "WholeBody",
    "WholeBodyStep",
    "quadratic_program",
]

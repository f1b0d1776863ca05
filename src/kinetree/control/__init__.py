"""What the equations are for: control laws, inverse kinematics, whole-body control and trajectory optimisation.

Everything here is made of kinetree's public functions and of programs, so that it can be called, batched,
differentiated, exported and put into `kt.rollout` and `kt.simulate`.
"""

from kinetree.control.optimal import Collocation, OptimalControl, OptimalMotion, Phase, ilqr
from kinetree.control.tasks import Axis, CenterOfMass, LookAt, Orientation, Pose, Position, Posture, Task

__all__ = [
    "Axis",
    "CenterOfMass",
    "Collocation",
    "LookAt",
    "OptimalControl",
    "OptimalMotion",
    "Orientation",
    "Phase",
    "Pose",
    "Position",
    "Posture",
    "Task",
    "ilqr",
]

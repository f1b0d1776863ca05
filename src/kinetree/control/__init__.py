"""What the equations are for: control laws, inverse kinematics, whole-body control and trajectory optimisation.

Everything here is made of kinetree's public functions and of programs, so that it can be called, batched,
differentiated, exported and put into `kt.rollout` and `kt.simulate`.
"""

from kinetree.control.optimal import OptimalControl, Phase, Solution, ilqr
from kinetree.control.tasks.base import Task

__all__ = ["OptimalControl", "Phase", "Solution", "Task", "ilqr"]

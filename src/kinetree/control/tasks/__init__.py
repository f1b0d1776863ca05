"""Tasks of a robot in space: one file per kind of task, behind the interface in `base.py`."""

from kinetree.control.tasks.axis import Axis
from kinetree.control.tasks.base import Task
from kinetree.control.tasks.center_of_mass import CenterOfMass
from kinetree.control.tasks.keep_apart import keep_apart
from kinetree.control.tasks.look_at import LookAt
from kinetree.control.tasks.orientation import Orientation
from kinetree.control.tasks.pose import Pose
from kinetree.control.tasks.position import Position
from kinetree.control.tasks.posture import Posture

__all__ = ["Axis", "CenterOfMass", "LookAt", "Orientation", "Pose", "Position", "Posture", "Task", "keep_apart"]

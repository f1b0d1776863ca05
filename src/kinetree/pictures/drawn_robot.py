"""Which robot is drawn for a motion: its own, or the one that is given."""

from __future__ import annotations

from typing import Protocol

from kinetree.errors import OptionError, listed
from kinetree.model import Model
from kinetree.model.model import check_robot

__all__ = ["OfRobot", "robot_of"]


class OfRobot(Protocol):
    """What is known of the robot of a motion."""

    @property
    def robot(self) -> str:
        """Its name."""

    @property
    def model(self) -> Model | None:
        """Itself, if it is known."""

    @property
    def q_names(self) -> tuple[str, ...]:
        """The names of its coordinates."""


def robot_of(function: str, motion: OfRobot, robot: Model | None = None) -> Model:
    """The robot that is given, or else that of the motion.

    Raises:
        OptionError: the motion does not have its robot, or the one that is given has other coordinates.
        ModelError, TrajectoryFileError: the robot of its file cannot be made.
    """
    if robot is None:
        own = motion.model
        if own is None:
            raise OptionError(
                f"{function}: this motion of {motion.robot!r} does not have the robot itself, as its file is of an "
                "older version; give it: robot=kt.load(FILE), or --robot FILE on the command line"
            )
        return own
    check_robot(robot)
    if tuple(robot.q_names) != tuple(motion.q_names):
        raise OptionError(
            f"{function}: robot={robot.name!r} is not that of the motion: its coordinates are "
            f"{listed(robot.q_names, most=5)}, and those of the motion {listed(motion.q_names, most=5)}"
        )
    return robot

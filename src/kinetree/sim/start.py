"""Where a motion begins if no configuration is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kinetree.model import Model

__all__ = ["start_configuration"]


def start_configuration(robot: Model) -> NDArray[np.float64]:
    """The configuration in which the robot's file places its bodies if it says so, else the neutral one."""
    reference = robot.extras.reference_configuration
    return np.array(robot.neutral(), dtype=np.float64) if reference is None else reference.q(robot)

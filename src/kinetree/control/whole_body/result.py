"""The result of a step of whole-body control."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["WholeBodyStep"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True)
class WholeBodyStep:
    """Torques, and what they give."""

    tau: Array
    """(nv,), within their limits; zero where nothing drives; N·m, N."""
    qdd: Array
    """The accelerations (nv,) that these torques give while the contacts hold; rad/s², m/s²."""
    forces: Mapping[str, Array]
    """By contact: a force (3,) in the world for a point, else a wrench [f; n] (6,) in the frame's axes; N, N·m."""
    unmet: Mapping[str, Array]
    """By contact and task, J v̇ + J̇ v less what was wanted: zero, up to rounding, for what is met."""
    joint_limits_given_up: bool
    """Whether no torques keep the joints' limits, so that these were left out."""
    is_complete: bool
    """False where the solver gave up before the last priority; what is above holds nevertheless."""
    programs: int
    """How many quadratic programs were solved: one where everything but the last priority is met."""

    def is_met(self, name: str, tolerance: float = 1e-6) -> bool:
        """Whether a contact or a task is met, up to a tolerance in its own unit."""
        return bool(np.abs(self.unmet[name]).max(initial=0.0) <= tolerance)

    def told(self) -> str:
        """A sentence about everything that is not met."""
        wrong: list[Any] = [
            f"{name} by {np.abs(x).max():.3g}" for name, x in self.unmet.items() if not self.is_met(name)
        ]
        limits = "the limits of joints were given up; " if self.joint_limits_given_up else ""
        limits += "" if self.is_complete else "the solver gave up before the last priority; "
        return limits + ("not met: " + ", ".join(wrong) if wrong else "everything is met")

"""The result of a step of whole-body control."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["WholeBodyStep"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True)
class WholeBodyStep:
    """Torques, and the motion they cause; leading axes are samples."""

    tau: Array
    """(…, nv), within their limits; zero where nothing drives; N·m, N."""
    qdd: Array
    """The accelerations (…, nv) that these torques give while the contacts hold; rad/s², m/s²."""
    forces: Mapping[str, Array]
    """By contact: a force (…, 3) in the world for a point, else a wrench [f; n] (…, 6) in the frame's axes; N, N·m."""
    unmet: Mapping[str, Array]
    """By contact and task (…, m), J v̇ + J̇ v less the reference: zero, up to rounding, if it is met."""
    joint_limits_given_up: Any
    """Whether no torques keep the limits of joints and distances, so that these were left out: bool, or an array."""
    is_complete: Any
    """False where the solver gave up before the last priority; the fields above hold nevertheless. As above."""
    programs: Any
    """How many quadratic programs were solved, int or an array: one where all but the last priority is met."""

    def is_met(self, name: str, tolerance: float = 1e-6) -> Any:
        """Whether a contact or a task is met, up to a tolerance in its own unit: bool, or (…) for several samples."""
        met = np.abs(self.unmet[name]).max(axis=-1, initial=0.0) <= tolerance
        return bool(met) if met.ndim == 0 else met

    def summary(self) -> str:
        """A sentence about everything that is not met, anywhere."""
        parts = []
        if np.any(self.joint_limits_given_up):
            parts.append(f"the limits of joints and distances were given up{_where(self.joint_limits_given_up)}")
        if not np.all(self.is_complete):
            parts.append(f"the solver gave up before the last priority{_where(np.logical_not(self.is_complete))}")
        wrong = [
            f"{name} by {np.abs(x).max():.3g}{_where(np.logical_not(self.is_met(name)))}"
            for name, x in self.unmet.items()
            if not np.all(self.is_met(name))
        ]
        return "; ".join([*parts, "not met: " + ", ".join(wrong) if wrong else "everything is met"])

    def told(self) -> str:
        """The old name of `summary`, for one release."""
        warnings.warn("told() is summary() now", DeprecationWarning, stacklevel=2)
        return self.summary()


def _where(wrong: Any) -> str:
    """In how many samples."""
    return f" in {np.count_nonzero(wrong)} of {np.size(wrong)} samples" if np.ndim(wrong) else ""

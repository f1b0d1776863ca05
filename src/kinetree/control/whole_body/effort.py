"""Effort: the cost that decides where tasks leave freedom."""

from __future__ import annotations

import math

from kinetree.errors import OptionError
from kinetree.records import record

__all__ = ["Effort"]


@record(frozen=True, slots=True)
class Effort:
    """Weights of the squares of accelerations, contact forces and torques.

    By default they come after all tasks, so that they bend none; with a `priority` they are weighed against the tasks
    of that priority, which must be the last.

    Attributes:
        accelerations: of each q̈², in s⁴ per unit².
        forces: of each square of a contact's force, in 1/N² and 1/(N·m)², times the contact's `force_weight`.
        torques: of each τ², in 1/(N·m)² and 1/N².
        priority: None for after all tasks.

    Raises:
        OptionError: for weights that are negative, or not positive for accelerations and forces, which uniqueness
            needs.
    """

    accelerations: float = 1e-2
    forces: float = 1e-4
    torques: float = 0.0
    priority: int | None = None

    def __post_init__(self) -> None:
        for name in ("accelerations", "forces", "torques"):
            x = getattr(self, name)
            least = "not negative" if name == "torques" else "positive"
            is_number = isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)
            if not is_number or x < 0.0 or (x == 0.0 and name != "torques"):
                raise OptionError(f"Effort: {name} must be a finite number that is {least}, not {x!r:.60}")
        if self.priority is not None and (isinstance(self.priority, bool) or not isinstance(self.priority, int)):
            raise OptionError(f"Effort: priority must be a whole number or None, not {self.priority!r:.60}")

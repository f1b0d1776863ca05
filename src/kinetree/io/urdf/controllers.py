"""<safety_controller>, <calibration> and the limits that version 1.2 added: data for controllers."""

from __future__ import annotations

import math

from kinetree.io.document import Element
from kinetree.io.notes import Notes
from kinetree.io.numbers import bound, number
from kinetree.io.urdf.version import Version
from kinetree.model import extras

__all__ = ["ControllerReader"]

_OLDER = "acceleration, deceleration and jerk in <limit> came with version 1.2 of URDF and were kept all the same"


class ControllerReader:
    """Collects these elements of all joints."""

    def __init__(self, version: Version, notes: Notes) -> None:
        self._version = version
        self._notes = notes
        self.motion_limits: list[extras.MotionLimits] = []
        self.safety_limits: list[extras.SafetyLimits] = []
        self.calibrations: list[extras.Calibration] = []

    @property
    def found(self) -> bool:
        """Whether any joint had one."""
        return bool(self.motion_limits or self.safety_limits or self.calibrations)

    def read(self, name: str, parts: dict[str, Element], *, moves: bool) -> None:
        """Read those of one joint."""
        if (limit := parts.get("limit")) is not None:
            own = self._limits(name, limit)
            if own and moves:
                self.motion_limits.append(own)
        if (safety := parts.get("safety_controller")) is not None:
            if "k_velocity" not in safety.attributes:
                safety.fail('has no attribute "k_velocity"; add it')
            limits = extras.SafetyLimits(
                name,
                number(safety, "k_velocity"),
                _number(safety, "k_position"),
                _given_bound(safety, "soft_lower_limit"),
                _given_bound(safety, "soft_upper_limit"),
            )
            if (
                limits.soft_lower is not None
                and limits.soft_upper is not None
                and limits.soft_lower > limits.soft_upper
            ):
                safety.fail(f"soft_lower_limit={limits.soft_lower:g} is above soft_upper_limit={limits.soft_upper:g}")
            if moves:
                self.safety_limits.append(limits)
        if (found_at := parts.get("calibration")) is not None:
            places = extras.Calibration(
                name, *(_number(found_at, what) for what in ("rising", "falling", "reference_position"))
            )
            if moves:
                self.calibrations.append(places)
        if not moves and ("safety_controller" in parts or "calibration" in parts):
            self._notes.add("<safety_controller> and <calibration> on fixed joints were not kept", name)

    def _limits(self, name: str, limit: Element) -> extras.MotionLimits | None:
        names = [what for what in ("acceleration", "deceleration", "jerk") if what in limit.attributes]
        if not names:
            return None
        values = {what: bound(limit, what) for what in names}
        for what, value in values.items():
            if value < 0.0:
                limit.fail(f"{what}={value:g} is negative; give its magnitude")
        if self._version < (1, 2):
            self._notes.add(_OLDER, name)
        acceleration = values.get("acceleration", math.inf)
        return extras.MotionLimits(
            name, acceleration, values.get("deceleration", acceleration), values.get("jerk", math.inf)
        )


def _number(element: Element, attribute: str) -> float | None:
    return number(element, attribute) if attribute in element.attributes else None


def _given_bound(element: Element, attribute: str) -> float | None:
    return bound(element, attribute) if attribute in element.attributes else None

"""A planner's data about joints, from SRDF files."""

from __future__ import annotations

from dataclasses import replace

from kinetree.model.extras.change import Change
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["JointProperty", "PassiveJoint"]


@record(frozen=True, slots=True, repr=False)
class PassiveJoint:
    """A joint that a planner does not move. The robot's motors are in `robot.actuated`, regardless of this."""

    joint: str

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> PassiveJoint | None:
        return PassiveJoint(change.joints[self.joint]) if self.joint in change.joints else None


@record(frozen=True, slots=True, repr=False)
class JointProperty:
    """A named property of a joint, for one planner or another."""

    joint: str
    name: str
    value: str

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> JointProperty | None:
        # What the value means is not known, so it cannot be scaled or mirrored.
        if self.joint not in change.joints or not change.is_rigid:
            return None
        return replace(self, joint=change.joints[self.joint])

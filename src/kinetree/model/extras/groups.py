"""Groups of joints and their named states, as SRDF files give them."""

from __future__ import annotations

from dataclasses import replace

from kinetree.model.extras.change import Change
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["EndEffector", "JointGroup", "JointValues", "NamedState", "VirtualJoint"]


@record(frozen=True, slots=True, repr=False)
class JointGroup:
    """A named set of joints: those named, those above the bodies named, those of the chains, and those of subgroups.

    `robot.group(name)` lists them.
    """

    name: str
    joints: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    chains: tuple[tuple[str, str], ...] = ()
    """The bodies that each chain begins and ends at."""
    groups: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> JointGroup | None:
        bodies, joints = change.bodies, change.joints
        chains = [(base, tip) for base, tip in self.chains if base in bodies and tip in bodies]
        change.lost.extend(f"chain {base!r} to {tip!r}" for base, tip in self.chains if (base, tip) not in chains)
        return JointGroup(
            change.own(self.name),
            change.all_of(self.joints, joints),
            change.all_of(self.bodies, bodies),
            tuple((bodies[base], bodies[tip]) for base, tip in chains),
            tuple(map(change.own, self.groups)),
        )


@record(frozen=True, slots=True, repr=False)
class JointValues:
    """The coordinates of one joint."""

    joint: str
    values: tuple[float, ...]

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class NamedState:
    """Values for the joints of a group, under a name such as "home"; `robot.named_configuration` makes a q of it."""

    name: str
    group: str
    values: tuple[JointValues, ...] = ()

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> NamedState | None:
        kept = []
        for part in self.values:
            factors = change.factors.get(part.joint)
            if factors is None or len(factors) != len(part.values) or part.joint not in change.joints:
                change.lost.append(f"joint {part.joint!r} of state {self.name!r}")
                continue
            values = tuple(x if factor == 1.0 else x * factor for x, factor in zip(part.values, factors, strict=True))
            kept.append(JointValues(change.joints[part.joint], values))
        if self.values and not kept:
            return None
        return replace(self, name=self.name, group=change.own(self.group), values=tuple(kept))


@record(frozen=True, slots=True, repr=False)
class EndEffector:
    """A group that is mounted on a body of another group, such as a hand on an arm."""

    name: str
    group: str
    parent_body: str
    parent_group: str = ""

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> EndEffector | None:
        if self.parent_body not in change.bodies:
            return None
        above = change.own(self.parent_group) if self.parent_group else ""
        return EndEffector(change.own(self.name), change.own(self.group), change.bodies[self.parent_body], above)


@record(frozen=True, slots=True, repr=False)
class VirtualJoint:
    """How a planner sees the robot's root in the world; it does not affect whether the robot's own base floats."""

    name: str
    type: str
    """"fixed", "floating" or "planar"."""
    parent_frame: str
    child: str

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> VirtualJoint | None:
        if self.child not in change.bodies or not change.same_root:
            return None
        return VirtualJoint(change.own(self.name), self.type, self.parent_frame, change.bodies[self.child])

"""Named states of a robot and its actuators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.model.extras.change import Change
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["JointState", "Keyframe"]


@record(frozen=True, slots=True, repr=False)
class JointState:
    """The coordinates and velocities of one joint, as it has them in q and v."""

    joint: str
    q: tuple[float, ...]
    v: tuple[float, ...]

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> JointState | None:
        factors = change.factors.get(self.joint, ())
        if self.joint not in change.joints or len(factors) != len(self.q):
            return None
        if len(self.v) != len(self.q):
            is_same = all(factor == 1.0 for factor in factors)
            return replace(self, joint=change.joints[self.joint]) if is_same else None
        q, v = (tuple(f * x for f, x in zip(factors, held, strict=True)) for held in (self.q, self.v))
        return JointState(change.joints[self.joint], q, v)


@record(frozen=True, slots=True, repr=False)
class Keyframe:
    """A state of a robot."""

    name: str
    joints: tuple[JointState, ...]
    time: float = 0.0
    """s"""
    activations: tuple[float, ...] = ()
    """Activations of the actuators that have them, in their order."""
    controls: tuple[float, ...] = ()
    """Controls of the actuators, in their order."""
    mocap_positions: tuple[tuple[float, float, float], ...] = ()
    """Positions of the bodies that are moved from outside, in their order, m."""
    mocap_rotations: tuple[tuple[float, float, float, float], ...] = ()
    """Quaternions x y z w."""
    plastic: tuple[float, ...] = ()
    """The rest positions of springs that yield, as in the file."""

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> Keyframe | None:
        if self.mocap_positions and not change.is_rigid:
            return None
        kept = [state.under(change) for state in self.joints]
        change.lost.extend(
            f"joint {state.joint!r} of a keyframe" for state, new in zip(self.joints, kept, strict=True) if new is None
        )
        joints = tuple(state for state in kept if state is not None)
        return replace(self, name=change.own(self.name) if self.name else "", joints=joints) if joints else None

    def q(self, robot: Any) -> NDArray[np.float64]:
        """The configuration (nq,) of a robot; joints that the keyframe does not know are neutral.

        >>> import kinetree as kt
        >>> from kinetree.model.extras import JointState, Keyframe
        >>> arm = kt.zoo.load("double_pendulum")
        >>> Keyframe("up", (JointState("shoulder", (3.1,), (0.0,)),)).q(arm).tolist()
        [3.1, 0.0]
        """
        return self._filled(robot, np.array(robot.neutral(), dtype=np.float64), "q")

    def v(self, robot: Any) -> NDArray[np.float64]:
        """The velocities (nv,) of a robot; those of joints that the keyframe does not know are zero."""
        return self._filled(robot, np.zeros(robot.nv), "v")

    def _filled(self, robot: Any, values: NDArray[np.float64], what: str) -> NDArray[np.float64]:
        for state in self.joints:
            if state.joint in robot.joints:
                joint = robot.joints[state.joint]
                place, own = (joint.q_slice, state.q) if what == "q" else (joint.v_slice, state.v)
                if place.stop - place.start == len(own):
                    values[place] = own
        return values

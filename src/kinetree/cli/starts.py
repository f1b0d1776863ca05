"""Where the motions of `kinetree simulate` begin: as is asked for, near there, or anywhere; above their ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.cli.ground import CLEARANCE, Ground, Place
from kinetree.cli.start import falling_pose, keyframe_state, scattered
from kinetree.cli.values import parse_values
from kinetree.records import record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kinetree.model import Model

    Array = NDArray[np.float64]

__all__ = ["Start"]


@record(frozen=True, slots=True)
class Start:
    """Its description on the command line."""

    is_random: bool
    """Whether joints begin anywhere."""
    is_chosen: bool
    """Whether nothing is said, so that something is to be seen to move."""
    keyframe: str | None
    q: str | None
    samples: int | None
    spread: float

    def of(self, robot: Model, place: Place) -> tuple[Array, Array | None, list[str]]:
        """Configurations (nq,), or (samples, nq), the velocity (nv,) if it is known, and messages about them."""
        from kinetree.functions.above_ground import above_ground, free_bases
        from kinetree.model.reference import reference_configuration

        rng, messages = np.random.default_rng(place.seed), []
        home, v = reference_configuration(robot), None
        if self.keyframe is not None:
            home, v = keyframe_state(robot, self.keyframe)
        elif self.is_chosen:
            home = falling_pose(robot)
            if (home != reference_configuration(robot)).any():
                messages.append(
                    "no start was given: took a pose that gravity moves the joints from (--q gives another)"
                )
        is_near = self.samples is not None and not self.is_random
        if self.is_chosen and not is_near and place.ground is not Ground.nothing and free_bases(robot):
            is_near = True
            messages.append(
                f"no start was given: took one near the pose of its file, up to {self.spread:g} rad away in each joint "
                "(--q gives another)"
            )
        rows = []
        for _ in range(self.samples or 1):
            q = robot.random(rng) if self.is_random else home
            q = q if self.q is None else parse_values("--q", self.q, robot.q_names, q, robot.name)
            rows.append(scattered(robot, q, self.spread, rng) if is_near else q)
        starts = np.array(rows) if self.samples is not None else rows[0]
        if self.keyframe is None and place.ground is not Ground.nothing and not self._says_where(robot):
            raised = above_ground(robot, starts, clearance=CLEARANCE)
            if (most := float((raised - starts).max(initial=0.0))) > 0.0:
                by = f"{'' if self.samples is None else 'up to '}{most:.3g} m"
                messages.append(f"raised by {by}, to start at least {CLEARANCE:g} m above the ground")
            starts = raised
        return starts, v, messages

    def _says_where(self, robot: Model) -> bool:
        """Whether --q gives any coordinate of a free base."""
        if self.q is None or "=" not in self.q:
            return self.q is not None
        from kinetree.functions.above_ground import free_bases

        named = {item.partition("=")[0].strip() for item in self.q.split(",")}
        return any(not named.isdisjoint(robot.q_names[joint.q_slice]) for joint in free_bases(robot))

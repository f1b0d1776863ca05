"""A robot on the page, with everything that can be switched on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance import Ground, Looks, Role, Unseen, bounds_of, floor_height, ground_of, looks_of, placements_of
from kinetree.model import Model
from kinetree.model.reference import reference_configuration
from kinetree.pictures.given import Values
from kinetree.viewer.bodies import MovingBodies
from kinetree.viewer.figure import Crowd, Figure, Ghosts, Nodes
from kinetree.viewer.moment import Moment
from kinetree.viewer.overlays import RATES, Overlay, overlay

if TYPE_CHECKING:
    from viser import SceneApi

__all__ = ["Stage"]

Array = NDArray[np.float64]

_ROLES: Mapping[str, Role] = {"visual": "visual", "collision": "collision"}
"""The switches that show shapes."""
_COMPARED = 0.6
"""How little a motion is seen through that is compared with the first one."""
_FARTHEST = 1e6
"""m: bodies farther from the world's origin have diverged."""
_MOST_NODES = 60
"""Bodies beyond which a robot is shown by few nodes: a page applies 128 messages at once, two per body."""


class Stage:
    """One robot, shown in one or several samples."""

    def __init__(
        self,
        scene: SceneApi,
        root: str,
        robot: Model,
        q: Array,
        tint: tuple[int, int, int] | None = None,
        parameters: Values | None = None,
    ) -> None:
        """Prepare it.

        Args:
            scene: of the page.
            root: the name of the node that all of its nodes are under.
            robot: the robot.
            q: (samples, nq), where it is first.
            tint: the colour in which it is seen through, if it is.
            parameters: one value of each, in the place of the robot's own.
        """
        self.robot = robot
        self.root = root
        self._scene, self._tint = scene, tint
        self._parameters = dict(parameters or {}) or None
        self.bodies: MovingBodies = MovingBodies(robot, parameters)
        self.ground: Ground | None = ground_of(robot)
        """The plane of its world, if it has one."""
        sound = q[~_are_lost(self.bodies.placements(q))]
        self._last = sound if len(sound) else reference_configuration(robot)[None]
        """Where the samples were drawn last; before that, where the robot is at all."""
        self.low: Array
        self.high: Array
        self.floor: float
        self.low, self.high, self.floor = self._bounds(self._last)
        self.size: float = max(float(np.linalg.norm(self.high - self.low)), 1e-3)
        self._overlays: dict[str, Overlay] = {}
        self._on: set[str] = set()
        self._roles: set[Role] = set()
        self._figures: list[tuple[Figure, slice]] = []
        self.is_awaited = False
        """Whether `draw` returns when all is drawn, rather than leave slow parts for later."""
        self._arranged: tuple[str, int] | None = None
        self._offsets = np.zeros((1, 3))

    def looks(self, role: Role) -> Looks:
        """Its shapes of a role, without the plane that the page draws as its ground."""
        found = looks_of(self.robot, (role,))
        return found if self.ground is None else found.without(self.ground.part)

    @property
    def corners(self) -> tuple[Array, Array]:
        """The corners (3,) of the box around all samples that are seen, along the world's axes."""
        return self.low + self._offsets.min(axis=0), self.high + self._offsets.max(axis=0)

    @property
    def unseen(self) -> Sequence[Unseen]:
        """The shapes that are not drawn as the file says, of the roles that have been seen."""
        return [unseen_part for role in sorted(self._roles) for unseen_part in self.looks(role).unseen]

    def _bounds(self, q: Array) -> tuple[Array, Array, float]:
        """The corners of the box around all samples, and the height of a floor below them."""
        looks = self.looks("visual")
        placements = placements_of(self.robot, looks, q, self._parameters)
        low, high = bounds_of(looks, placements)
        return low, high, floor_height(self.robot, looks, placements, float(low[2]), float(high[2]))

    def arrange(self, how: str, offsets: Array) -> None:
        """Make figures of samples, as "one", "ghosts" or "side by side"; `draw` places them.

        Overlays are those of the first. `offsets` (samples, 3): by how much each stands aside.
        """
        count, self._offsets = len(offsets), offsets
        if (how, count) == self._arranged:
            return
        self._arranged = how, count
        for figure, _ in self._figures:
            figure.remove()
        self._figures = list(self._made(how, count))
        for role in self._roles:
            self._show(role, True)

    def _made(self, how: str, count: int) -> Sequence[tuple[Figure, slice]]:
        if how == "side by side" and count > 1:
            return [(self._all(count), slice(0, count))]
        first = (self._one(), slice(0, 1))
        if count == 1:
            return [first]
        ghosts = Ghosts(self._scene, f"{self.root}/ghosts", self.bodies, self.looks, count - 1)
        ghosts.color = self._tint
        return [first, (ghosts, slice(1, count))]

    def _all(self, count: int) -> Figure:
        """Samples, each in full."""
        root = f"{self.root}/all"
        if self._tint is None:
            return Crowd(self._scene, root, self.bodies, self.looks, count)
        ghosts = Ghosts(self._scene, root, self.bodies, self.looks, count)
        ghosts.color, ghosts.opacity = self._tint, _COMPARED
        return ghosts

    def _one(self) -> Figure:
        root = f"{self.root}/robot"
        if self._tint is not None:
            return self._all(1)
        if len(self.bodies) > _MOST_NODES:
            return Crowd(self._scene, root, self.bodies, self.looks, 1)
        return Nodes(self._scene, root, self.bodies, self.looks)

    def draw(self, q: Array, v: Array | None = None, qdd: Array | None = None) -> None:
        """Move it to q (samples, nq); v and qdd (nv,) are those of the first sample, zero if they are not known."""
        placements = self.bodies.placements(q)
        lost = _are_lost(placements)
        if lost.any():  # a motion that diverged stays where it was last
            q = np.where(lost[:, None], self._last if self._last.shape == q.shape else self._last[:1], q)
            placements[lost] = self.bodies.placements(q[lost])
            v, qdd = (None, None) if lost[0] else (v, qdd)
        self._last = q
        placements[..., :3, 3] += self._offsets[: len(q), None]
        for figure, rows in self._figures:
            figure.pose(placements[rows])
        zero = np.zeros(self.robot.nv)
        self._moment = Moment(
            q[0], zero if v is None else v, zero if qdd is None else qdd, placements[0], self._offsets[0],
            self.is_awaited,
        )  # fmt: skip
        for name in self._on:
            self._overlays[name].draw(self._moment)

    @property
    def placements(self) -> Array:
        """(pieces, 4, 4) of the moving bodies of the first sample, as they were drawn last."""
        return self._moment.placements

    def grips(self) -> list[tuple[Any, Sequence[int]]]:
        """The nodes that a mouse can take hold of, and the piece that each of their instances is."""
        return [grip for figure, _ in self._figures for grip in figure.grips()]

    @property
    def needs_rates(self) -> bool:
        """Whether something is on that depends on velocities or accelerations."""
        return not self._on.isdisjoint(RATES)

    def switch(self, name: str, on: bool) -> None:
        """Show or hide shapes of a role, or an overlay."""
        if (role := _ROLES.get(name)) is not None:
            self._roles = self._roles | {role} if on else self._roles - {role}
            self._show(role, on)
            return
        if name not in self._overlays:
            if not on:
                return
            self._overlays[name] = overlay(name, self._scene, self.root, self.bodies, self.size, self.looks)
        if on:
            self._overlays[name].draw(self._moment)
        self._on = self._on | {name} if on else self._on - {name}
        self._overlays[name].show(on)

    def close(self) -> None:
        """Draw nothing any more."""
        for name in self._on:
            self._overlays[name].show(False)

    def _show(self, role: Role, on: bool) -> None:
        for figure, _ in self._figures:
            figure.show(role, on)


def _are_lost(placements: Array) -> NDArray[np.bool_]:
    """Which samples (samples,) of placements (samples, pieces, 4, 4) are nowhere near, as after a motion diverged."""
    is_near: NDArray[np.bool_] = np.all(np.abs(placements) < _FARTHEST, axis=(1, 2, 3))  # NaN is not
    return ~is_near

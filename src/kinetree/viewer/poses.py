"""Nodes of the page that are moved many times per second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.viewer.bodies import positions_and_quaternions

if TYPE_CHECKING:
    from viser import SceneApi

__all__ = ["PosedNodes"]

Array = NDArray[np.float64]

_STILL = 1e-7
"""m, and parts of a quaternion: what has moved less is not sent."""


class PosedNodes:
    """Nodes whose placements are set together.

    viser's own setters compare each pose by `numpy.allclose`, which takes most of the time of moving a robot: 40 bodies
    at 60 Hz would need half a core. So the same messages are queued here, if this viser has them where 1.1 has.
    """

    def __init__(self, scene: SceneApi, nodes: Sequence[Any]) -> None:
        self.nodes = nodes
        self._positions = np.full((len(nodes), 3), np.nan)
        self._quaternions = np.full((len(nodes), 4), np.nan)
        self._queue = getattr(scene, "_queue_scene_message", None)
        try:
            from viser._messages import SetOrientationMessage, SetPositionMessage
        except ImportError:
            self._queue = None
        else:
            self._position, self._orientation = SetPositionMessage, SetOrientationMessage

    def pose(self, placements: Array) -> None:
        """Move the nodes to placements (nodes, 4, 4)."""
        positions, quaternions = positions_and_quaternions(placements)
        for k in self._moved(self._positions, positions):
            self._place(k, positions[k])
        for k in self._moved(self._quaternions, quaternions):
            self._turn(k, quaternions[k])

    def _moved(self, before: Array, now: Array) -> list[int]:
        """The rows that are another than what was sent last, which they are from now on."""
        rows = np.flatnonzero(~(np.abs(now - before) <= _STILL).all(axis=1))
        before[rows] = now[rows]
        found: list[int] = rows.tolist()
        return found

    def _place(self, k: int, position: Array) -> None:
        if self._queue is None:
            self.nodes[k].position = position
        else:
            self._queue(self._position(self.nodes[k].name, tuple(position.tolist())))

    def _turn(self, k: int, quaternion: Array) -> None:
        if self._queue is None:
            self.nodes[k].wxyz = quaternion
        else:
            self._queue(self._orientation(self.nodes[k].name, tuple(quaternion.tolist())))

"""What is told about bodies that somebody clicked on."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.viewer.bodies import MovingBodies

if TYPE_CHECKING:
    from viser import SceneApi, SceneNodePointerEvent

__all__ = ["Told"]

Array = NDArray[np.float64]


class Told:
    """Labels beside bodies, each of which comes with a click and goes with another."""

    def __init__(self, scene: SceneApi, root: str, bodies: MovingBodies) -> None:
        self._scene, self._root, self._bodies = scene, root, bodies
        self._labels: dict[tuple[int, int], Any] = {}
        self._positions = np.zeros((1, len(bodies), 3))
        self._lock = threading.Lock()

    def tell_of(self, handle: Any, pieces: Sequence[int]) -> None:
        """Tell of what is clicked on of a node; `pieces`: what the instances of each sample are."""

        @handle.on_click  # type: ignore[untyped-decorator, unused-ignore]
        def _(event: SceneNodePointerEvent[Any]) -> None:
            sample, k = divmod(event.instance_index or 0, len(pieces))
            if 0 <= sample < len(self._positions):
                self._turn(sample, int(pieces[k]))

    def pose(self, placements: Array) -> None:
        """Move the labels: placements (samples, pieces, 4, 4)."""
        with self._lock:
            self._positions = placements[..., :3, 3]
            for place, label in self._labels.items():
                label.position = self._positions[place]

    def _turn(self, sample: int, piece: int) -> None:
        place = sample, piece
        with self._lock:
            if place in self._labels:
                self._labels.pop(place).remove()
                return
            self._labels[place] = self._scene.add_label(
                f"{self._root}/told/{sample} {self._bodies.names[piece]}", self._bodies.about(piece),
                font_screen_scale=0.9, position=self._positions[place],
            )  # fmt: skip

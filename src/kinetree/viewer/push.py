"""Bodies that are pushed with the mouse, and the arrow from where one is held to the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.viewer.arrows import Arrows
from kinetree.viewer.stage import Stage

if TYPE_CHECKING:
    from viser import SceneApi

    from kinetree.sim.live import Live

__all__ = ["Hand"]

Array = NDArray[np.float64]

_COLOR = (220, 60, 40)


class Hand:
    """The mouse of whoever began to drag a body last."""

    def __init__(self, scene: SceneApi, stage: Stage, motion: Live) -> None:
        self._stage, self._motion = stage, motion
        self._arrows = Arrows(scene, "/push", _COLOR, stage.size)
        self._arrows.show(True)
        self._followed: dict[int, Any] = {}
        self._held: tuple[int, int, Array, Array] | None = None
        """(whose mouse, the piece, the point in the axes of that piece, the cursor)."""

    def follow(self) -> None:
        """Let all shapes be dragged that are there now, and draw the arrow where the body is now."""
        for handle, pieces in self._stage.grips():
            if id(handle) not in self._followed:
                self._followed[id(handle)] = handle
                self._let_be_dragged(handle, pieces)
        held = self._held
        if held is None:
            self._arrows.put(np.zeros((1, 3)), np.zeros((1, 3)))
            return
        _, piece, point, cursor = held
        there = _at(self._stage.placements[piece], point)
        self._arrows.put(there[None], (cursor - there)[None])

    def let_go(self) -> None:
        """Let nothing be dragged any more."""
        self._held = None
        self._motion.release()
        alive = {id(handle) for handle, _ in self._stage.grips()}
        for key, handle in self._followed.items():
            if key in alive:
                handle.remove_drag_callback("all")
        self._followed.clear()
        self._arrows.show(False)

    def _let_be_dragged(self, handle: Any, pieces: Sequence[int]) -> None:
        if not any(self._is_loose(piece) for piece in pieces):
            return

        @handle.on_drag  # type: ignore[untyped-decorator, unused-ignore]
        async def _(event: Any) -> None:  # awaited in the order in which the mouse moves
            self.drag(event, pieces[(event.instance_index or 0) % len(pieces)])

    def drag(self, event: Any, piece: int) -> None:
        """Act on a movement of a mouse; the one that began last is followed."""
        mouse = event.client_id
        if event.phase == "start" and self._is_loose(piece):
            inverse = np.linalg.inv(self._stage.placements[piece])
            cursor = np.array(event.end_position)
            self._held = mouse, piece, _at(inverse, np.array(event.start_position)), cursor
        elif self._held is None or self._held[0] != mouse:
            return
        elif event.phase == "end":
            self._held = None
            self._motion.release()
            return
        else:
            self._held = (*self._held[:3], np.array(event.end_position))
        _, piece, point, cursor = self._held
        bodies = self._stage.bodies
        name = bodies.bodies[piece]
        _, placement = bodies.place_on(name)
        self._motion.push(name, _at(np.linalg.inv(placement), point), cursor)

    def _is_loose(self, piece: int) -> bool:
        """Whether it moves at all; the first piece is the world, with everything fixed to it."""
        return piece > 0


def _at(placement: NDArray[Any], point: Array) -> Array:
    found: Array = placement[:3, :3] @ point + placement[:3, 3]
    return found

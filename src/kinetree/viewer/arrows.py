"""Arrows on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from viser import SceneApi

__all__ = ["Arrows"]

Array = NDArray[np.float64]


class Arrows:
    """Arrows, as many as there are at each moment."""

    def __init__(
        self, scene: SceneApi, name: str, color: tuple[int, int, int] | NDArray[np.uint8], size: float
    ) -> None:
        self._node = scene.add_arrows(
            name, np.zeros((1, 2, 3)), color, shaft_radius=0.004 * size, head_radius=0.01 * size,
            head_length=0.025 * size, visible=False,
        )  # fmt: skip
        self._shortest, self._on, self._any = 1e-3 * size, False, False

    def put(self, starts: Array, vectors: Array) -> None:
        """Arrows from `starts` (k, 3) along `vectors` (k, 3), m; very short ones are left out."""
        long = np.linalg.norm(vectors, axis=-1) > self._shortest
        points = np.stack([starts[long], starts[long] + vectors[long]], axis=1)
        self._any = bool(long.any())
        if self._any:
            self._node.points = points.astype(np.float32)
        self._node.visible = self._on and self._any

    def show(self, on: bool) -> None:
        """Let them be seen or not."""
        self._on = on
        self._node.visible = on and self._any

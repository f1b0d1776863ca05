"""Where a page is seen from, and where points in space are then in the picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.records import record


@record(frozen=True, slots=True)
class Eye:
    """A pinhole camera, z up."""

    position: tuple[float, float, float]
    target: tuple[float, float, float]
    field_of_view: float = 0.7
    """rad, from the lower edge of the picture to the upper one."""

    def query(self) -> str:
        """The part of a page's address that puts viser's camera here."""
        vectors = {"Position": self.position, "LookAt": self.target, "Up": (0.0, 0.0, 1.0)}
        texts = [f"initialCamera{name}={','.join(map(str, vector))}" for name, vector in vectors.items()]
        return "&".join([*texts, f"initialCameraFov={self.field_of_view}"])

    def pixels(self, points: ArrayLike, size: tuple[int, int]) -> NDArray[np.float64]:
        """(n, 2): columns and rows of points (n, 3) in a picture of size (width, height).

        The centre of the upper left pixel is at (0.5, 0.5).
        """
        width, height = size
        forward = _unit(np.subtract(self.target, self.position))
        right = _unit(np.cross(forward, (0.0, 0.0, 1.0)))
        seen = np.asarray(points, float) - self.position
        depth = seen @ forward
        assert np.all(depth > 0), "points behind the camera"
        scale = height / 2 / np.tan(self.field_of_view / 2) / depth
        return np.stack(
            [width / 2 + seen @ right * scale, height / 2 - seen @ np.cross(right, forward) * scale], axis=-1
        )


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    return vector / np.linalg.norm(vector)

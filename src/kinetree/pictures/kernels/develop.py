"""From the light at each sample to the bytes of a picture."""

from __future__ import annotations

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Bytes, Singles

__all__ = ["develop"]


@compiled
def develop(
    light: Singles, supersampling: int, top: int, bottom: int, columns: int, encoded: Bytes, picture: Bytes
) -> None:
    """The mean of the samples of each pixel, in sRGB.

    Args:
        light: (rows, columns, 3) of samples; rows begin at that of pixel row `top`.
        supersampling: samples per pixel in each direction.
        top, bottom: rows of pixels.
        columns: number of columns of pixels.
        encoded: (n,), the byte of each amount of light from 0 to 1.
        picture: (height, width, 3), result.
    """
    most = len(encoded) - 1
    scale = float(most) / (supersampling * supersampling)
    for row in range(top, bottom):
        for column in range(columns):
            for k in range(3):
                total = 0.0
                for i in range(supersampling):
                    for j in range(supersampling):
                        total += float(light[(row - top) * supersampling + i, column * supersampling + j, k])
                at = int(min(max(0.0, total * scale + 0.5), float(most)))
                picture[row, column, k] = int(encoded[at])

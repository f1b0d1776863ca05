"""From the light at each sample to the bytes of a picture."""

from __future__ import annotations

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Bytes, Singles

__all__ = ["develop"]


@compiled
def develop(
    backdrop: Singles,
    covered: Bytes,
    light: Singles,
    supersampling: int,
    top: int,
    bottom: int,
    columns: int,
    encoded: Bytes,
    picture: Bytes,
) -> None:
    """The mean of the samples of each pixel, in sRGB.

    Args:
        backdrop: (pixels, 4), visible where nothing covers it.
        covered: (pixels), 1 where something does.
        light: (rows, columns, 3) of samples; rows begin at that of pixel row `top`.
        supersampling: samples per pixel in each direction.
        top, bottom: rows of pixels.
        columns: number of columns of pixels.
        encoded: (n,), the byte of each amount of light from 0 to 1.
        picture: (height, width, 3), result.
    """
    most = float(len(encoded) - 1)
    scale = most / (supersampling * supersampling)
    for row in range(top, bottom):
        for column in range(columns):
            r = float(backdrop[row - top, column, 0])
            g = float(backdrop[row - top, column, 1])
            b = float(backdrop[row - top, column, 2])
            unit = most
            if int(covered[row - top, column]) == 1:
                unit = scale
                r, g, b = 0.0, 0.0, 0.0
                for i in range((row - top) * supersampling, (row - top + 1) * supersampling):
                    for j in range(column * supersampling, (column + 1) * supersampling):
                        r += float(light[i, j, 0])
                        g += float(light[i, j, 1])
                        b += float(light[i, j, 2])
            picture[row, column, 0] = int(encoded[int(min(max(0.0, r * unit + 0.5), most))])
            picture[row, column, 1] = int(encoded[int(min(max(0.0, g * unit + 0.5), most))])
            picture[row, column, 2] = int(encoded[int(min(max(0.0, b * unit + 0.5), most))])

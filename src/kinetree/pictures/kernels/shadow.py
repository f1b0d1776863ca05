"""The shadow on the floor: which part of the light is kept from each place, blurred."""

from __future__ import annotations

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Floats
from kinetree.pictures.kernels.key_light import Shade

__all__ = ["blur", "shadow_of"]


@compiled
def shadow_of(shade: Shade, floor: Floats, shadow: Floats) -> None:
    """The part of 2 × 2 samples of light that something above the floor takes away.

    Args:
        shade: (2 n, 2 n), depths are very negative where the light sees nothing opaque.
        floor: (3,), coefficients of column, row and 1 in the floor's nearness.
        shadow: (n, n), result, from 0 to 1.
    """
    n = len(shadow)
    for i in range(n):
        for j in range(n):
            taken = 0.0
            for k in range(4):
                row, column = 2 * i + k // 2, 2 * j + k % 2
                level = floor[0] * (column + 0.5) + floor[1] * (row + 0.5) + floor[2]
                if float(shade.depths[row, column]) > level:
                    taken += 0.25
                elif len(shade.veil) > 1 and float(shade.veil[row, column]) > level:
                    taken += 0.25 * float(shade.veiling[row, column])
            shadow[i, j] = taken


@compiled
def blur(shadow: Floats, radius: int, totals: Floats, between: Floats) -> None:
    """The mean over 2 `radius` + 1 neighbours along columns, then along rows; the outside has no shadow.

    Three such blurs are a good approximation of a Gaussian one.

    Args:
        shadow: (n, n), blurred in place.
        radius: less than n.
        totals, between: (n,) and (n, n), for intermediate results.
    """
    n = len(shadow)
    share = 1.0 / ((2 * radius + 1) * (2 * radius + 1))
    for j in range(n):
        totals[j] = 0.0
    for i in range(radius):
        for j in range(n):
            totals[j] += shadow[i, j]
    for i in range(n):
        if i + radius < n:
            for j in range(n):
                totals[j] += shadow[i + radius, j]
        if i - radius - 1 >= 0:
            for j in range(n):
                totals[j] -= shadow[i - radius - 1, j]
        for j in range(n):
            between[i, j] = totals[j]
    for i in range(n):
        total = 0.0
        for j in range(radius):
            total += between[i, j]
        for j in range(n):
            if j + radius < n:
                total += between[i, j + radius]
            if j - radius - 1 >= 0:
                total -= between[i, j - radius - 1]
            shadow[i, j] = total * share

"""The surroundings of a robot in its picture: floor, light and background."""

from __future__ import annotations

import math

from kinetree.errors import OptionError
from kinetree.records import record

__all__ = ["Background", "Floor", "Light"]

Triple = tuple[float, float, float]


@record(frozen=True, slots=True)
class Floor:
    """A plane with a fine grid, on which a robot has a shadow; it fades into the background."""

    height: float = 0.0
    """How far it is from the world's origin, along its normal, m."""
    normal: Triple = (0.0, 0.0, 1.0)
    """The side that is seen; it is divided by its length."""
    color: Triple = (0.87, 0.885, 0.90)
    """Red, green, blue (sRGB), from 0 to 1."""
    lines: Triple = (0.72, 0.745, 0.775)
    """The color of the grid."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "normal", _unit("Floor: normal", self.normal))
        _check_color("Floor: color", self.color)
        _check_color("Floor: lines", self.lines)
        if not math.isfinite(self.height):
            raise OptionError(f"Floor: height must be a finite number of m, not {self.height!r:.40}")


@record(frozen=True, slots=True)
class Light:
    """A key light from one direction, a weaker one to its right, and light from the sky and the floor."""

    direction: Triple = (0.28, -0.95, 1.30)
    """Where the key light comes from, in the world's axes."""
    key: Triple = (1.06, 1.02, 0.96)
    """Light that a white surface facing the key light gets from it: red, green and blue, linear."""
    fill: Triple = (0.18, 0.19, 0.21)
    """Light from the fill light, which has no shadow."""
    sky: Triple = (0.36, 0.39, 0.43)
    """Light that a surface facing upward gets from the sky."""
    ground: Triple = (0.18, 0.17, 0.16)
    """Light that a surface facing downward gets from the floor."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", _unit("Light: direction", self.direction))

    def fill_direction(self) -> Triple:
        """Where the fill light comes from: a quarter of a turn to the right of the key light, and low."""
        x, y, _ = self.direction
        return _unit("Light: direction", (-y, x, 0.35))


@record(frozen=True, slots=True)
class Background:
    """Two colors, from above to below: red, green, blue (sRGB), from 0 to 1."""

    top: Triple = (0.74, 0.80, 0.86)
    bottom: Triple = (0.90, 0.915, 0.93)

    def __post_init__(self) -> None:
        _check_color("Background: top", self.top)
        _check_color("Background: bottom", self.bottom)


def _unit(name: str, x: Triple) -> Triple:
    length = math.hypot(*x)
    if len(x) != 3 or not 0.0 < length < math.inf:
        raise OptionError(f"{name} must be three numbers, not all of them 0, not {x!r:.60}")
    return float(x[0] / length), float(x[1] / length), float(x[2] / length)


def _check_color(name: str, x: Triple) -> None:
    if len(x) != 3 or not all(0.0 <= c <= 1.0 for c in x):
        raise OptionError(f"{name} must be red, green and blue from 0 to 1, not {x!r:.60}")

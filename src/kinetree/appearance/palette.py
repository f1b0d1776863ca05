"""Colours of shapes whose file says nothing of them: greys that alternate from body to body, and one accent."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.appearance.surface import Color

__all__ = ["COLLISION", "GROUND", "WHITE", "body_color", "color_of"]

_LIGHT, _DARK, _ACCENT = (214, 217, 222, 255), (74, 80, 92, 255), (232, 119, 34, 255)
_TURN = (_LIGHT, _DARK, _LIGHT, _ACCENT)
GROUND: Color = (196, 200, 206, 255)
COLLISION: Color = (86, 156, 214, 255)
WHITE: Color = (255, 255, 255, 255)


def body_color(slot: int, *, is_fixed: bool) -> Color:
    """The colour of a body by the place of what moves it; what is fixed to it is dark."""
    return _DARK if is_fixed or slot == 0 else _TURN[(slot - 1) % len(_TURN)]


def color_of(numbers: Sequence[float]) -> Color:
    """A colour of a file, whose numbers are from 0 to 1; NaN is drawn as 0."""
    red, green, blue, opacity = (round(255.0 * min(max(0.0, x), 1.0)) for x in numbers)
    return red, green, blue, opacity

"""Cameras."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["Camera"]


@record(frozen=True, slots=True, repr=False)
class Camera:
    """A camera that looks along the negative z axis of its frame, with y upward."""

    REFERS: ClassVar[Mapping[str, str]] = {"name": "own", "body": "body", "frame": "frame", "target": "body"}

    name: str
    body: str
    frame: str
    """The name of its frame."""
    mode: str = "fixed"
    """"fixed", "track", "trackcom", "targetbody" or "targetbodycom": how it moves."""
    target: str = ""
    """The body that it looks at."""
    projection: str = "perspective"
    field_of_view: float = 45.0
    """Vertical, degrees; of an orthographic camera a length, m."""
    eye_distance: float = 0.068
    """Between the two eyes of stereo pictures, m."""
    resolution: tuple[int, int] = (1, 1)
    """Width and height in pixels."""
    output: tuple[str, ...] = ("rgb",)
    focal: tuple[float, float] = (0.0, 0.0)
    """Focal lengths, m."""
    focal_pixel: tuple[float, float] = (0.0, 0.0)
    """Focal lengths in pixels."""
    principal: tuple[float, float] = (0.0, 0.0)
    """Where the optical axis meets the picture, from its middle, m."""
    principal_pixel: tuple[float, float] = (0.0, 0.0)
    sensor_size: tuple[float, float] = (0.0, 0.0)
    """m; if it is given, the field of view follows from it."""
    user: tuple[float, ...] = ()

    def __repr__(self) -> str:
        return call_text(self)

"""Sensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kinetree.model.extras.change import Unused
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["Sensor"]


@record(frozen=True, slots=True, repr=False)
class Sensor:
    """A quantity that a simulation is to measure."""

    REFERS: ClassVar[Mapping[str, str]] = {"name": "own", "object": "=object_type", "reference": "=reference_type"}

    name: str
    kind: str
    """The word of the file, such as "gyro", "jointpos" or "framequat"."""
    object_type: str = ""
    """The kind of its object: "site", "joint", "tendon", "actuator", "body" (its centre of mass), "xbody" (its frame),
    "geom", "camera", "subtree" …; "" if it is on nothing."""
    object: str = ""
    """The name of that."""
    reference_type: str = ""
    """The reference of the measurement, or the other of two."""
    reference: str = ""
    """The name of that; "" is the world."""
    data: tuple[str, ...] = ()
    """For "contact" and "rangefinder": the quantities that are wanted."""
    reduction: str = "none"
    """For "contact": "none", "mindist", "maxforce" or "netforce"."""
    count: int = 1
    """For "contact": the largest number of reported contacts."""
    cutoff: float = 0.0
    """Values beyond it are cut off; 0: none are."""
    noise: float = 0.0
    """Standard deviation of its noise, which is not added by itself."""
    samples: int = 0
    """Values that are kept for a delay."""
    interpolation: str = "zoh"
    delay: float = 0.0
    """s"""
    interval: tuple[float, float] = (0.0, 0.0)
    """Period and phase of its measurements, s; 0: at each time step."""
    size: int = 0
    """For "user": how many numbers it has."""
    data_type: str = "real"
    """For "user": "real", "positive", "axis" or "quaternion"."""
    stage: str = "acc"
    """For "user": "none", "pos", "vel" or "acc": after which part of a time step it can be computed."""
    user: tuple[float, ...] = ()
    plugin: Unused | None = None

    def __repr__(self) -> str:
        return call_text(self)

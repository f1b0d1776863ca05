"""Actuators of a robot: the transmission of each, the law of its force, and their common limits."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.actuation.build import actuation, gravity_compensation, with_ease
    from kinetree.actuation.spec import (
        Actuation,
        ActuatorSpec,
        BallSpec,
        CoordinateSpec,
        FreeSpec,
        GravityCompensation,
        SiteSpec,
        SliderCrankSpec,
        TendonSpec,
        TransmissionSpec,
    )

__all__ = [
    "Actuation",
    "ActuatorSpec",
    "BallSpec",
    "CoordinateSpec",
    "FreeSpec",
    "GravityCompensation",
    "SiteSpec",
    "SliderCrankSpec",
    "TendonSpec",
    "TransmissionSpec",
    "actuation",
    "gravity_compensation",
    "with_ease",
]

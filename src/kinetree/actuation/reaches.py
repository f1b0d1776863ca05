"""The length and moment of a transmission whose parts are named."""

from __future__ import annotations

from kinetree.actuation.spec import (
    BallSpec,
    CoordinateSpec,
    FreeSpec,
    SliderCrankSpec,
    TendonSpec,
    TransmissionSpec,
)
from kinetree.algorithms.transmissions import (
    Reach,
    View,
    across_ball,
    across_coordinate,
    across_free,
    along_tendon,
    at_site,
    between_sites,
    slider_crank,
)
from kinetree.model import Model
from kinetree.spatial import Transform, Vec3

__all__ = ["reach_of"]


def reach_of(view: View, robot: Model, transmission: TransmissionSpec) -> Reach:
    """The transmission of an actuator in a configuration."""
    if isinstance(transmission, CoordinateSpec):
        return across_coordinate(view, robot.joints[transmission.joint].slot, transmission.gear)
    if isinstance(transmission, BallSpec):
        slot = robot.joints[transmission.joint].slot
        return across_ball(view, slot, Vec3(*transmission.axis), transmission.in_parent)
    if isinstance(transmission, TendonSpec):
        terms = [(robot.joints[joint].slot, factor) for joint, factor in transmission.terms]
        return along_tendon(view, terms, transmission.gear)
    if isinstance(transmission, SliderCrankSpec):
        crank, slider = (_placed(robot, site) for site in (transmission.crank, transmission.slider))
        return slider_crank(view, crank, slider, transmission.rod, transmission.gear)
    force, torque = Vec3(*transmission.force), Vec3(*transmission.torque)
    if isinstance(transmission, FreeSpec):
        return across_free(view, robot.joints[transmission.joint].slot, force, torque, transmission.in_parent)
    site = _placed(robot, transmission.site)
    if not transmission.reference:
        return at_site(view, *site, force, torque)
    return between_sites(view, site, _placed(robot, transmission.reference), force, torque)


def _placed(robot: Model, frame: str) -> tuple[int, Transform]:
    place = robot.frames[frame]
    return place.slot, place.placement

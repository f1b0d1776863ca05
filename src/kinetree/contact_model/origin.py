"""Whether a robot says itself how its shapes touch."""

from __future__ import annotations

from kinetree.model import Model

__all__ = ["is_from_mjcf"]


def is_from_mjcf(robot: Model) -> bool:
    """Whether it has the records of an MJCF file, whose rules are then those of MuJoCo; a ground does not count."""
    return robot.extras.options is not None or any(
        shape.contact is not None for body in robot.bodies.values() if body.slot for shape in body.geometry
    )

"""Where a robot touches, and what is exerted there, on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.collision.pairs import slots
from kinetree.errors import OptionError
from kinetree.functions.contact_forces import contact_forces
from kinetree.functions.contact_options import own_contact_option
from kinetree.model import Model
from kinetree.viewer.arrows import Arrows
from kinetree.viewer.moment import Moment

if TYPE_CHECKING:
    from viser import SceneApi

__all__ = ["Contacts"]

_POINT, _FORCE = (200, 40, 60), (200, 40, 60)


class Contacts:
    """Points at which shapes touch, and the forces there: an arrow as long as a quarter of the robot is its weight.

    They are the forces on the robot, or between two moving bodies on one of them, by the law of `kt.contact_forces`.
    """

    def __init__(self, scene: SceneApi, root: str, robot: Model, size: float) -> None:
        touches = own_contact_option(robot, True).touches
        if not touches:
            raise OptionError(
                f"no shapes of {robot.name!r} can touch; robot.on_ground() puts it on a ground, and docs/contact.md "
                "says which pairs count"
            )
        signs = [
            np.full(
                slots(one.first.shape.kind, one.second.shape.kind), -1.0 if _is_fixed(robot, one.second.body) else 1.0
            )
            for one in touches
        ]
        self._robot, self._signs = robot, np.concatenate(signs)
        weight = robot.mass * float(np.linalg.norm(robot.gravity)) or 1.0
        self._length = 0.25 * size / weight
        self._on, self._any = False, False
        self._points = scene.add_point_cloud(
            f"{root}/contacts/points", np.zeros((1, 3), dtype=np.float32), _POINT, point_size=0.012 * size,
            point_shape="circle", precision="float32", visible=False,
        )  # fmt: skip
        self._arrows = Arrows(scene, f"{root}/contacts/forces", _FORCE, size)

    def draw(self, moment: Moment) -> None:
        found = contact_forces(self._robot, moment.q, moment.v, moment.qdd)
        acts = (found.distances <= 0.0) | (found.forces != 0.0).any(axis=-1)
        points = found.points[acts] + moment.offset
        self._any = bool(acts.any())
        if self._any:
            self._points.points = points.astype(np.float32)
        self._points.visible = self._on and self._any
        self._arrows.put(points, found.forces[acts] * self._signs[acts, None] * self._length)

    def show(self, on: bool) -> None:
        self._on = on
        self._points.visible = on and self._any
        self._arrows.show(on)


def _is_fixed(robot: Model, body: str | None) -> bool:
    return body is None or robot.bodies[body].slot == 0

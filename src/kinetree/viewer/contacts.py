"""Contact points of a robot, and the forces there, on the page."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinetree.collision.far_apart import enclosing_radius
from kinetree.collision.pairs import slots
from kinetree.compiler.reference import on_numbers
from kinetree.contact_model.touches import TouchingShape
from kinetree.errors import OptionError, SimulationWarning
from kinetree.functions.contact_forces import CONTACT_FORCES
from kinetree.functions.contact_options import own_contact_option
from kinetree.viewer.arrows import Arrows
from kinetree.viewer.bodies import MovingBodies
from kinetree.viewer.moment import Moment

if TYPE_CHECKING:
    from viser import SceneApi

__all__ = ["Contacts"]

Array = NDArray[np.float64]

_RED = (200, 40, 60)
_QUICK = 0.02
"""Seconds that a moment of a motion may take."""
_MOST = 60
"""How many pairs are looked at; of more that are close to each other, the closest."""


class Contacts:
    """Points at which shapes touch, and the forces there: an arrow as long as a quarter of the robot is its weight.

    They are the forces on the robot, or between two moving bodies on one of them, by the law of
    `kt.contact.contact_forces`, for the supported parts of the file. Its algorithm runs on plain numbers here, for the
    few pairs of shapes that are close to each other: a page must not wait for a compiler.
    """

    def __init__(self, scene: SceneApi, root: str, bodies: MovingBodies, size: float) -> None:
        robot = bodies.robot
        with warnings.catch_warnings():
            # Many pairs take long to compile, which is not done here.
            warnings.simplefilter("ignore", SimulationWarning)
            self._contact = own_contact_option(robot, "partial")
        touches = self._contact.touches
        if not touches:
            raise OptionError(
                f"no shapes of {robot.name!r} can touch; robot.on_ground() puts it on a ground, and docs/collision.md "
                "says which pairs count"
            )
        self._robot = robot
        self._first = _Balls([touch.first for touch in touches], bodies)
        self._second = _Balls([touch.second for touch in touches], bodies)
        self._margins = np.array([touch.margin for touch in touches], dtype=np.float64)
        weight = robot.mass * float(np.linalg.norm(robot.gravity)) or 1.0
        self._length = 0.25 * size / weight
        self._on, self._any = False, False
        self._seconds = 0.0
        """How long it took the last time."""
        self._lock = threading.Lock()
        self._next: Moment | None = None
        self._thread: threading.Thread | None = None
        self._points = scene.add_point_cloud(
            f"{root}/contacts/points", np.zeros((1, 3), dtype=np.float32), _RED, point_size=0.012 * size,
            point_shape="circle", precision="float32", visible=False,
        )  # fmt: skip
        self._arrows = Arrows(scene, f"{root}/contacts/forces", _RED, size)

    def draw(self, moment: Moment) -> None:
        """Draw them now, or, if that takes long and nobody needs it now, as soon as a thread has found them."""
        with self._lock:
            # While a thread is at an earlier moment, which it has yet to draw, later ones are its own, too.
            is_now = moment.is_awaited or (self._thread is None and self._seconds < _QUICK)
            if not is_now:
                self._next = moment
                if self._thread is None:
                    self._thread = threading.Thread(target=self._catch_up, name="kinetree contacts", daemon=True)
                    self._thread.start()
        if is_now:
            self._put(moment, *self._timed(moment))

    def _catch_up(self) -> None:
        """Draw the last requested moment, until none is pending."""
        try:
            while (moment := self._taken()) is not None:
                found = self._timed(moment)
                if self._on:
                    self._put(moment, *found)
        except BaseException:
            with self._lock:
                self._thread = None  # the next moment may do
            raise

    def _taken(self) -> Moment | None:
        with self._lock:
            moment, self._next = self._next, None
            if moment is None:
                self._thread = None
        return moment

    def _timed(self, moment: Moment) -> tuple[Array, Array]:
        begin = time.perf_counter()
        found = self._found(moment)
        self._seconds = time.perf_counter() - begin
        return found

    def _put(self, moment: Moment, points: Array, forces: Array) -> None:
        self._any = bool(len(points))
        if self._any:
            self._points.points = (points + moment.offset).astype(np.float32)
        self._points.visible = self._on and self._any
        self._arrows.put(points + moment.offset, forces * self._length)

    def show(self, on: bool) -> None:
        self._on = on
        self._points.visible = on and self._any
        self._arrows.show(on)

    def _found(self, moment: Moment) -> tuple[Array, Array]:
        """Points (k, 3) at which something touches or pushes, and the forces (k, 3) there."""
        near = self._near(moment.placements)
        if not near:
            return np.empty((0, 3)), np.empty((0, 3))
        contact = replace(self._contact, touches=tuple(self._contact.touches[k] for k in near))
        state = (moment.q.tolist(), moment.v.tolist(), moment.qdd.tolist())
        found = np.reshape(on_numbers(CONTACT_FORCES, self._robot, state, contact=contact), (-1, 13))
        counts = [slots(touch.first.shape.kind, touch.second.shape.kind) for touch in contact.touches]
        signs = np.repeat(self._second.signs[near], counts)
        acts = (found[:, 0] <= 0.0) | (found[:, 7:10] != 0.0).any(axis=1)
        return found[acts, 1:4], found[acts, 7:10] * signs[acts, None]

    def _near(self, placements: Array) -> list[int]:
        """The pairs of shapes that may be within their margins, by balls around them."""
        first, second = self._first.centers(placements), self._second.centers(placements)
        gaps = np.linalg.norm(second - first, axis=1) - self._first.radii - self._second.radii
        normals = self._first.normals(placements)
        heights = np.einsum("ki,ki->k", normals, second - first) - self._second.radii
        gaps = np.where(self._first.are_planes, heights, gaps) - self._margins
        order = np.argsort(gaps, kind="stable")[:_MOST]
        found: list[int] = np.sort(order[gaps[order] <= 0.0]).tolist()
        return found


class _Balls:
    """Balls around the shapes of one side of all pairs."""

    def __init__(self, shapes: Sequence[TouchingShape], bodies: MovingBodies) -> None:
        placed = [(0, np.eye(4)) if one.body is None else bodies.place_on(one.body) for one in shapes]
        self._pieces = np.array([piece for piece, _ in placed])
        self._placements = np.array(
            [placement @ np.asarray(one.placement) for (_, placement), one in zip(placed, shapes, strict=True)]
        )
        radii = [enclosing_radius(one.shape) for one in shapes]
        self.radii = np.array([np.inf if radius is None else radius for radius in radii], dtype=np.float64)
        """m; infinite for shapes without end."""
        self.are_planes = np.array([one.shape.kind == "plane" for one in shapes])
        self.signs = np.where(self._pieces == 0, -1.0, 1.0)
        """-1 for shapes that do not move: the force on the other shape is shown."""

    def centers(self, placements: Array) -> Array:
        """(k, 3), m, at placements (pieces, 4, 4)."""
        found: Array = (placements[self._pieces] @ self._placements)[:, :3, 3]
        return found

    def normals(self, placements: Array) -> Array:
        """(k, 3): the third axis of each shape."""
        found: Array = (placements[self._pieces] @ self._placements)[:, :3, 2]
        return found

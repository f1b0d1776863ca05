"""Contact points of a robot, and the forces there, on the page."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.collision.pairs import slots
from kinetree.collision.shapes import Box, Capsule, Cylinder, Ellipsoid, Hull, Shape, Sphere
from kinetree.compiler.reference import on_numbers
from kinetree.contact_model.touches import TouchingShape
from kinetree.errors import OptionError, SimulationWarning
from kinetree.functions.contact_forces import CONTACT_FORCES
from kinetree.functions.contact_options import own_contact_option
from kinetree.model import Model
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
_MOST = 400
"""How many pairs are looked at; of more that are close to each other, the closest."""

_ENDLESS = 1e9
"""Half of the length of a shape without an end, m."""


class Contacts:
    """Points at which shapes touch, and the forces there: an arrow as long as a quarter of the robot is its weight, in
    a scene of several the weight of the heaviest.

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
                f"no shapes of {robot.name!r} can touch; robot.on_ground() puts it on a ground, and "
                "`kinetree docs contact_models` says which pairs count"
            )
        self._robot = robot
        self._first = _Boxes([touch.first for touch in touches], bodies)
        self._second = _Boxes([touch.second for touch in touches], bodies)
        self._margins = np.array([touch.margin for touch in touches], dtype=np.float64)
        weight = _heaviest(robot) * float(np.linalg.norm(robot.gravity)) or 1.0
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
        numbers = np.reshape(on_numbers(CONTACT_FORCES, self._robot, state, contact=contact), (-1, 13))
        counts = [slots(touch.first.shape.kind, touch.second.shape.kind) for touch in contact.touches]
        signs = np.repeat(self._second.signs[near], counts)
        acts = (numbers[:, 0] <= 0.0) | (numbers[:, 7:10] != 0.0).any(axis=1)
        return numbers[acts, 1:4], numbers[acts, 7:10] * signs[acts, None]

    def _near(self, placements: Array) -> list[int]:
        """The pairs of shapes that may be within their margins, by boxes around them, along the boxes' axes."""
        (R_1, p_1), (R_2, p_2) = self._first.placed(placements), self._second.placed(placements)
        axes = np.concatenate((R_1, R_2), axis=2)  # in columns
        along = np.einsum("ki,kia->ka", p_2 - p_1, axes)
        reach_1 = np.einsum("ki,kia->ka", self._first.halves, np.abs(np.swapaxes(R_1, 1, 2) @ axes))
        reach_2 = np.einsum("ki,kia->ka", self._second.halves, np.abs(np.swapaxes(R_2, 1, 2) @ axes))
        gaps = (np.abs(along) - reach_1 - reach_2).max(axis=1)
        gaps = np.where(self._first.are_planes, along[:, 2] - reach_2[:, 2], gaps) - self._margins
        order = np.argsort(gaps, kind="stable")[:_MOST]
        near: list[int] = np.sort(order[gaps[order] <= 0.0]).tolist()
        return near


def _heaviest(robot: Model) -> float:
    """The mass of the heaviest of the trees that are joined to the root, or of the robot if it is a single one, kg."""
    masses: dict[int, float] = {}
    for body in robot.bodies.values():
        if body.slot:
            *_, (top, _) = robot.tree.toward_root(body.slot)
            masses[top] = masses.get(top, 0.0) + float(body.inertia.mass)
    return max(masses.values()) if len(masses) > 1 else robot.mass


class _Boxes:
    """Boxes around the shapes of one side of all pairs."""

    def __init__(self, shapes: Sequence[TouchingShape], bodies: MovingBodies) -> None:
        placed = [(0, np.eye(4)) if shape.body is None else bodies.place_on(shape.body) for shape in shapes]
        self._pieces = np.array([piece for piece, _ in placed])
        middles, halves = zip(*(_box_around(one.shape) for one in shapes), strict=True)
        self._placements = np.array(
            [placement @ np.asarray(one.placement) for (_, placement), one in zip(placed, shapes, strict=True)]
        )
        self._placements[:, :3, 3] += np.einsum("kij,kj->ki", self._placements[:, :3, :3], np.array(middles))
        self.halves = np.array(halves, dtype=np.float64)
        """Half of their lengths, m."""
        self.are_planes = np.array([one.shape.kind == "plane" for one in shapes])
        self.signs = np.where(self._pieces == 0, -1.0, 1.0)
        """-1 for shapes that do not move: the force on the other shape is shown."""

    def placed(self, placements: Array) -> tuple[Array, Array]:
        """Their axes (k, 3, 3) and middles (k, 3), m, at placements (pieces, 4, 4)."""
        boxes = placements[self._pieces] @ self._placements
        return boxes[:, :3, :3], boxes[:, :3, 3]


def _box_around(shape: Shape) -> tuple[Sequence[float], Sequence[float]]:
    """The middle of a box that holds a shape, in the shape's axes, and half of its lengths, m."""
    middle: Sequence[float] = (0.0, 0.0, 0.0)
    half: Sequence[Any] = (_ENDLESS,) * 3
    if isinstance(shape, Sphere):
        half = (shape.radius,) * 3
    elif isinstance(shape, Capsule):
        half = (shape.radius, shape.radius, shape.radius + shape.half_length)
    elif isinstance(shape, Cylinder):
        half = (shape.radius, shape.radius, shape.half_length)
    elif isinstance(shape, Ellipsoid | Box):
        half = (shape.x, shape.y, shape.z)
    elif isinstance(shape, Hull):
        ends = np.min(shape.vertices, axis=0), np.max(shape.vertices, axis=0)
        middle, half = (ends[0] + ends[1]) / 2.0, (ends[1] - ends[0]) / 2.0
    return middle, half

"""Optional drawings over a robot: frames, axes, the centre of mass, velocities, names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kinetree.functions.energy import center_of_mass
from kinetree.functions.kinematics import body_velocities
from kinetree.model import Joint, Model
from kinetree.viewer.arrows import Arrows
from kinetree.viewer.bodies import MovingBodies, positions_and_quaternions
from kinetree.viewer.contacts import Contacts
from kinetree.viewer.figure import Shapes, surfaces_by_body
from kinetree.viewer.moment import Moment

if TYPE_CHECKING:
    from viser import SceneApi

__all__ = ["RATES", "Overlay", "overlay"]

Array = NDArray[np.float64]

_TURNING, _SLIDING = (208, 50, 190), (64, 140, 90)
_VELOCITY, _CENTER = (46, 110, 190), (214, 178, 40)
_MOST_NAMES = 200
_BEYOND, _LONGEST = 0.12, 0.4
"""How far the axis of a joint stands out of the shapes, and how long half of it is at most, in sizes of the robot."""
_BODIES = 5.0
"""A robot counts, for the axes of a joint, as no larger than so many of the body that the joint moves."""

RATES = frozenset({"velocities", "contacts"})
"""Overlays that need velocities or accelerations."""


class Overlay(Protocol):
    """Something that can be switched on."""

    def draw(self, moment: Moment) -> None:
        """Put it where it belongs."""

    def show(self, on: bool) -> None:
        """Let it be seen or not."""


class Frames:
    """The axes of all frames: red x, green y, blue z."""

    def __init__(self, scene: SceneApi, root: str, bodies: MovingBodies, size: float) -> None:
        frames = bodies.robot.frames.values()
        self._pieces = np.array([frame.slot for frame in frames])
        self._placements = np.array([np.asarray(frame.placement) for frame in frames])
        turns = np.tile([1.0, 0.0, 0.0, 0.0], (len(frames), 1))
        self._node = scene.add_batched_axes(
            f"{root}/frames", turns, np.zeros((len(frames), 3)), axes_length=0.08 * size, axes_radius=0.0025 * size,
            visible=False,
        )  # fmt: skip

    def draw(self, moment: Moment) -> None:
        positions, quaternions = positions_and_quaternions(moment.placements[self._pieces] @ self._placements)
        self._node.batched_positions = positions.astype(np.float32)
        self._node.batched_wxyzs = quaternions.astype(np.float32)

    def show(self, on: bool) -> None:
        self._node.visible = on


class JointAxes:
    """The axes that joints with one or two degrees of freedom turn about (magenta) or slide along (green).

    Each goes through the shapes of the body that the joint moves, and stands out of them on both sides.
    """

    def __init__(self, scene: SceneApi, root: str, bodies: MovingBodies, size: float, shapes: Shapes) -> None:
        self._bodies = bodies
        self._corners = np.zeros((len(bodies), 8, 3))
        for piece, surfaces in surfaces_by_body(bodies, shapes("visual")).items():
            points = np.concatenate([surface.vertices for surface in surfaces])
            ends = np.stack([points.min(axis=0), points.max(axis=0)], axis=1)
            self._corners[piece] = np.stack(np.meshgrid(*ends, indexing="ij"), axis=-1).reshape(8, 3)
        spans = np.linalg.norm(np.ptp(self._corners, axis=1), axis=-1)
        usual = float(np.median(spans[spans > 0.0])) if spans.any() else size
        self._sizes = np.minimum(size, _BODIES * np.where(spans > 0.0, spans, usual))
        size = min(size, _BODIES * usual)
        self._turning = Arrows(scene, f"{root}/axes of hinges", _TURNING, size)
        self._sliding = Arrows(scene, f"{root}/axes of sliders", _SLIDING, size)

    def draw(self, moment: Moment) -> None:
        lines: dict[bool, list[tuple[Array, Array]]] = {True: [], False: []}
        for joint in self._bodies.robot.joints.values():
            if joint.kind.nv <= 2:
                X = moment.placements[joint.slot]
                for is_turn, axis in _axes(joint, _coordinates(joint, moment.q)):
                    low, high = self._ends(joint.slot, axis)
                    lines[is_turn].append((X[:3, :3] @ axis * low + X[:3, 3], X[:3, :3] @ axis * (high - low)))
        for arrows, which in ((self._turning, True), (self._sliding, False)):
            pairs = np.array(lines[which]).reshape(-1, 2, 3)
            arrows.put(pairs[:, 0], pairs[:, 1])

    def _ends(self, piece: int, axis: Array) -> tuple[float, float]:
        """Where on an axis through the origin of a piece its arrow begins and ends, m."""
        along = self._corners[piece] @ axis
        beyond, longest = _BEYOND * self._sizes[piece], _LONGEST * self._sizes[piece]
        low, high = min(along.min(), 0.0) - beyond, max(along.max(), 0.0) + beyond
        return max(low, -longest), min(high, longest)

    def show(self, on: bool) -> None:
        self._turning.show(on)
        self._sliding.show(on)


def _coordinates(joint: Joint, q: Array) -> Array:
    return q[joint.q_slice] if joint.has_coordinates else np.array(joint.kind.neutral(), dtype=np.float64)


def _axes(joint: Joint, q: Array) -> Iterable[tuple[bool, Array]]:
    """(whether it turns, the direction in the moving body's axes) of each degree of freedom."""
    for column in joint.kind.calc(q.tolist(), [0.0] * joint.kind.nv).S.columns:
        angular = np.array(column.angular.components(), dtype=np.float64)
        linear = np.array(column.linear.components(), dtype=np.float64)
        is_turn = bool(angular.any())
        axis = angular if is_turn else linear
        yield is_turn, axis / (np.linalg.norm(axis) or 1.0)


class CenterOfMass:
    """A ball at the centre of mass of the whole robot."""

    def __init__(self, scene: SceneApi, root: str, robot: Model, size: float) -> None:
        self._robot = robot
        self._node = scene.add_icosphere(f"{root}/center of mass", 0.02 * size, color=_CENTER, visible=False)

    def draw(self, moment: Moment) -> None:
        self._node.position = center_of_mass(self._robot, moment.q) + moment.offset

    def show(self, on: bool) -> None:
        self._node.visible = on


class Velocities:
    """The velocities of the bodies' centres of mass; an arrow is as long as the path of a tenth of a second."""

    seconds: float = 0.1

    def __init__(self, scene: SceneApi, root: str, bodies: MovingBodies, size: float) -> None:
        self._robot = bodies.robot
        self._names = [name for name, body in self._robot.bodies.items() if body.mass and not body.is_fixed]
        self._centers = np.array([self._robot.bodies[name].center_of_mass for name in self._names]).reshape(-1, 3)
        self._pieces = [bodies.place_on(name) for name in self._names]
        self._arrows = Arrows(scene, f"{root}/velocities", _VELOCITY, size)

    def draw(self, moment: Moment) -> None:
        if not self._names:
            return
        twists = body_velocities(
            self._robot, moment.q, moment.v, frames=self._names, expressed_in="local_world_aligned",
            about="center_of_mass",
        )  # fmt: skip
        placed = np.array([moment.placements[piece] @ placement for piece, placement in self._pieces])
        starts = np.einsum("kij,kj->ki", placed[:, :3, :3], self._centers) + placed[:, :3, 3]
        self._arrows.put(starts, twists[:, :3] * self.seconds)

    def show(self, on: bool) -> None:
        self._arrows.show(on)


class Names:
    """The names of the moving bodies next to them; of very many the first few hundred."""

    def __init__(self, scene: SceneApi, root: str, bodies: MovingBodies) -> None:
        self._scene, self._root, self._bodies = scene, root, bodies
        self._labels: list[Any] = []
        self._placements: Array = np.empty((0, 4, 4))

    def draw(self, moment: Moment) -> None:
        self._placements = moment.placements
        for label, placement in zip(self._labels, moment.placements, strict=False):
            label.position = placement[:3, 3]

    def show(self, on: bool) -> None:
        if on and not self._labels:
            self._labels = [
                self._scene.add_label(f"{self._root}/names/{node}", body or "world", font_screen_scale=0.8)
                for node, body in list(zip(self._bodies.names, self._bodies.bodies, strict=True))[:_MOST_NAMES]
            ]
            for label, placement in zip(self._labels, self._placements, strict=False):
                label.position = placement[:3, 3]
        for label in self._labels:
            label.visible = on


def overlay(name: str, scene: SceneApi, root: str, bodies: MovingBodies, size: float, shapes: Shapes) -> Overlay:
    """The overlay of a switch, which is not seen yet."""
    if name == "center of mass":
        return CenterOfMass(scene, root, bodies.robot, size)
    if name == "contacts":
        return Contacts(scene, root, bodies, size)
    if name == "names":
        return Names(scene, root, bodies)
    if name == "frames":
        return Frames(scene, root, bodies, size)
    if name == "axes":
        return JointAxes(scene, root, bodies, size, shapes)
    return Velocities(scene, root, bodies, size)

"""A robot on the page: its moving bodies as nodes, and their shapes below them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance import Looks, Role, Surface
from kinetree.viewer.bodies import MovingBodies, positions_and_quaternions
from kinetree.viewer.glb import binary_gltf
from kinetree.viewer.poses import PosedNodes

if TYPE_CHECKING:
    from viser import SceneApi, SceneNodePointerEvent

__all__ = ["Crowd", "Figure", "Ghosts", "Shapes", "surfaces_by_body"]

Array = NDArray[np.float64]
Shapes = Callable[[Role], Looks]
"""The look of a robot in a role: "visual" or "collision"."""


_MOST_SHADOWED = 100_000
"""How many triangles of one node cast shadows; of more they would slow down a browser without a graphics processor."""


class Figure(Protocol):
    """One or several samples of a robot on the page."""

    def pose(self, placements: Array) -> None:
        """Move it: placements (samples, pieces, 4, 4) of the moving bodies."""

    def show(self, role: Role, on: bool) -> None:
        """Let shapes of a role be seen or not; they are made when they are first seen."""

    def grips(self) -> Iterable[tuple[Any, Sequence[int]]]:
        """The nodes that a mouse can take hold of, and the piece that each of their instances is."""

    def remove(self) -> None:
        """Take it off the page."""


class _Descriptions:
    """Labels beside bodies, each of which comes with a click and goes with another."""

    def __init__(self, scene: SceneApi, root: str, bodies: MovingBodies) -> None:
        self._scene, self._root, self._bodies = scene, root, bodies
        self._labels: dict[tuple[int, int], Any] = {}
        self._positions = np.zeros((1, len(bodies), 3))
        self._lock = threading.Lock()

    def describe(self, handle: Any, pieces: Sequence[int]) -> None:
        """Describe the clicked instance of a node; `pieces`: the pieces of each sample's instances."""

        @handle.on_click  # type: ignore[untyped-decorator, unused-ignore]
        def _(event: SceneNodePointerEvent[Any]) -> None:
            sample, k = divmod(event.instance_index or 0, len(pieces))
            if 0 <= sample < len(self._positions):
                self._turn(sample, int(pieces[k]))

    def pose(self, placements: Array) -> None:
        """Move the labels: placements (samples, pieces, 4, 4)."""
        with self._lock:
            self._positions = placements[..., :3, 3]
            for place, label in self._labels.items():
                label.position = self._positions[place]

    def _turn(self, sample: int, piece: int) -> None:
        place = sample, piece
        with self._lock:
            if place in self._labels:
                self._labels.pop(place).remove()
                return
            self._labels[place] = self._scene.add_label(
                f"{self._root}/about/{sample} {self._bodies.names[piece]}", self._bodies.about(piece),
                font_screen_scale=0.9, position=self._positions[place],
            )  # fmt: skip


class Nodes:
    """One sample, with a node for each moving body."""

    def __init__(self, scene: SceneApi, root: str, bodies: MovingBodies, shapes: Shapes) -> None:
        self._scene, self._root, self._bodies, self._shapes = scene, root, bodies, shapes
        self._made: dict[str, dict[int, Any]] = {}
        self._top = scene.add_frame(root, show_axes=False)
        self._descriptions = _Descriptions(scene, root, bodies)
        self._posed = PosedNodes(scene, [scene.add_frame(f"{root}/{name}", show_axes=False) for name in bodies.names])

    def pose(self, placements: Array) -> None:
        self._posed.pose(placements[0])
        self._descriptions.pose(placements)

    def show(self, role: Role, on: bool) -> None:
        if role not in self._made:
            if not on:
                return
            by_piece = surfaces_by_body(self._bodies, self._shapes(role))
            self._made[role] = {}
            for k, surfaces in by_piece.items():
                shape = self._scene.add_glb(f"{self._root}/{self._bodies.names[k]}/{role}", binary_gltf(surfaces))
                self._descriptions.describe(shape, [k])
                self._made[role][k] = shape
        for handle in self._made[role].values():
            handle.visible = on

    def grips(self) -> Iterable[tuple[Any, Sequence[int]]]:
        return [(handle, [k]) for made in self._made.values() for k, handle in made.items()]

    def remove(self) -> None:
        self._top.remove()


class Crowd:
    """Several samples, or a robot of very many bodies: a node for all shapes that are the same.

    So a chain of a thousand links is one node, and moving it is one message.
    """

    def __init__(self, scene: SceneApi, root: str, bodies: MovingBodies, shapes: Shapes, count: int) -> None:
        self._scene, self._root, self._bodies, self._shapes, self._count = scene, root, bodies, shapes, count
        self._made: dict[str, list[tuple[Any, NDArray[np.intp]]]] = {}
        self._grips: list[tuple[Any, Sequence[int]]] = []
        self._top = scene.add_frame(root, show_axes=False)
        self._descriptions = _Descriptions(scene, root, bodies)
        self._placements = np.broadcast_to(np.eye(4), (count, len(bodies), 4, 4))

    def pose(self, placements: Array) -> None:
        self._placements = placements
        self._descriptions.pose(placements)
        positions, quaternions = positions_and_quaternions(placements)
        for made in self._made.values():
            for handle, pieces in made:
                if handle.visible:
                    handle.batched_positions = positions[:, pieces].reshape(-1, 3).astype(np.float32)
                    handle.batched_wxyzs = quaternions[:, pieces].reshape(-1, 4).astype(np.float32)

    def show(self, role: Role, on: bool) -> None:
        if role not in self._made:
            if not on:
                return
            self._made[role] = [
                (self._make(f"{self._root}/{role} {number}", surfaces, pieces), np.array(pieces))
                for number, (surfaces, pieces) in enumerate(self._alike(role))
            ]
        for handle, _ in self._made[role]:
            handle.visible = on
        self.pose(self._placements)

    def grips(self) -> Iterable[tuple[Any, Sequence[int]]]:
        return self._grips

    def _alike(self, role: Role) -> Iterable[tuple[list[Surface], list[int]]]:
        """(surfaces, the pieces that look so)."""
        groups: dict[bytes, tuple[list[Surface], list[int]]] = {}
        for piece, surfaces in surfaces_by_body(self._bodies, self._shapes(role)).items():
            groups.setdefault(binary_gltf(surfaces), (surfaces, []))[1].append(piece)
        return groups.values()

    def _make(self, name: str, surfaces: list[Surface], pieces: Sequence[int]) -> Any:
        triangles = len(pieces) * self._count * sum(len(surface.faces) for surface in surfaces)
        few = _joined(surfaces)
        made = self._scene.add_batched_glb(
            name, binary_gltf(few), *_nowhere(len(pieces) * self._count), lod="auto",
            cast_shadow=triangles <= _MOST_SHADOWED,
        )  # fmt: skip
        if len(few) == 1:  # viser 1.1's page fails if others can be clicked on or dragged: they have no bounding sphere
            self._descriptions.describe(made, pieces)
            self._grips.append((made, pieces))
        return made

    def remove(self) -> None:
        self._top.remove()


class Ghosts(Crowd):
    """Samples that are seen through."""

    color: tuple[int, int, int] | None = None
    """One colour for all; None for the mean of each body's own."""
    opacity: float = 0.3

    def _make(self, name: str, surfaces: list[Surface], pieces: Sequence[int]) -> Any:
        one = _as_one(surfaces)
        red, green, blue = one.colors[:, :3].mean(axis=0).astype(int).tolist()
        made = self._scene.add_batched_meshes_simple(
            name, one.vertices, one.faces, *_nowhere(len(pieces) * self._count),
            batched_colors=self.color or (red, green, blue), opacity=self.opacity, lod="off", side="double",
            cast_shadow=False, receive_shadow=False,
        )  # fmt: skip
        self._grips.append((made, pieces))
        return made


def surfaces_by_body(bodies: MovingBodies, looks: Looks) -> dict[int, list[Surface]]:
    """The surfaces on each piece that has any, in its axes."""
    surfaces: dict[int, list[Surface]] = {}
    for part in looks.parts:
        if not len(part.surface.faces):
            continue
        piece, placement = bodies.place_on(part.body)
        surfaces.setdefault(piece, []).append(_placed(part.surface, placement @ part.placement))
    return surfaces


def _placed(surface: Surface, placement: Array) -> Surface:
    R, p = placement[:3, :3], placement[:3, 3]
    vertices = (surface.vertices @ R.T + p).astype(np.float32)
    normals = (surface.normals @ R.T).astype(np.float32)
    return Surface(vertices, surface.faces, normals, surface.colors, surface.uv, surface.texture)


def _joined(surfaces: Sequence[Surface]) -> list[Surface]:
    """The surfaces, of which all opaque ones without a texture are joined to one."""
    plain = [surface for surface in surfaces if surface.texture is None and (surface.colors[:, 3] == 255).all()]
    return ([_as_one(plain)] if plain else []) + [one for one in surfaces if all(one is not other for other in plain)]


def _as_one(surfaces: Sequence[Surface]) -> Surface:
    """Several surfaces as one, without textures."""
    starts = np.cumsum([0, *(len(one.vertices) for one in surfaces[:-1])])
    return Surface(
        np.concatenate([surface.vertices for surface in surfaces]),
        np.concatenate([one.faces + start for one, start in zip(surfaces, starts, strict=True)]).astype(np.int32),
        np.concatenate([one.normals for one in surfaces]),
        np.concatenate([one.colors for one in surfaces]),
        None,
        None,
    )


def _nowhere(count: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Orientations and positions of instances that are not placed yet."""
    turns = np.zeros((count, 4), dtype=np.float32)
    turns[:, 0] = 1.0
    return turns, np.zeros((count, 3), dtype=np.float32)

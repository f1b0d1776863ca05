"""Nodes of the page that are moved many times per second."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.viewer.bodies import positions_and_quaternions

if TYPE_CHECKING:
    from viser import SceneApi

__all__ = ["PosedNodes"]

Array = NDArray[np.float64]

_STILL = 1e-7
"""m, and parts of a quaternion: bodies that have moved less are not sent."""


class PosedNodes:
    """Nodes whose placements are set together; only those that have moved are sent.

    viser's own setters compare each pose by `numpy.allclose`, with which 40 bodies at 60 Hz would need half a core. So
    the messages are queued here, if this viser has them where 1.1 has.
    """

    def __init__(self, scene: SceneApi, nodes: Sequence[Any]) -> None:
        self.nodes = nodes
        queue = getattr(scene, "_queue_scene_message", None)
        try:
            from viser._messages import SetOrientationMessage, SetPositionMessage
        except ImportError:
            queue = None
        if queue is None:
            self._positions, self._turns = _Setter(nodes, "position", 3), _Setter(nodes, "wxyz", 4)
        else:
            self._positions = _Queue(nodes, "position", 3, SetPositionMessage, queue)
            self._turns = _Queue(nodes, "wxyz", 4, SetOrientationMessage, queue)

    def pose(self, placements: Array) -> None:
        """Move the nodes to placements (nodes, 4, 4)."""
        positions, quaternions = positions_and_quaternions(placements)
        self._positions.send(positions)
        self._turns.send(quaternions)


class _Setter:
    """A property of nodes, `size` numbers each, set as viser does."""

    def __init__(self, nodes: Sequence[Any], field: str, size: int) -> None:
        self._nodes, self._field = nodes, field
        self._sent = np.full((len(nodes), size), np.nan)

    def send(self, values: Array) -> None:
        """Send the rows of values (nodes, size) that are others than those that were sent last."""
        rows = np.flatnonzero(~(np.abs(values - self._sent) <= _STILL).all(axis=1))
        self._sent[rows] = values[rows]
        for k, value in zip(rows.tolist(), values[rows].tolist(), strict=True):
            self._send(k, tuple(value))

    def _send(self, k: int, value: tuple[float, ...]) -> None:
        setattr(self._nodes[k], self._field, value)


class _Queue(_Setter):
    """The same, by messages that are written as the first one to each node was.

    viser finds out for each message under which key it replaces an older one, and how each of its fields is written;
    all but the value is the same every time.
    """

    def __init__(
        self, nodes: Sequence[Any], field: str, size: int, kind: type[Any], queue: Callable[[Any], None]
    ) -> None:
        super().__init__(nodes, field, size)
        self._kind, self._queue = kind, queue
        # viser takes no class whose name begins with an underscore for one that a browser may send
        self._known = types.new_class(f"_{kind.__name__}", (_Known, kind))
        self._answers: dict[int, tuple[str, tuple[str, str] | None, dict[str, Any]]] = {}

    def _send(self, k: int, value: tuple[float, ...]) -> None:
        name = self._nodes[k].name
        if k in self._answers:
            message = self._known(name, value)
            message.key, message.state, written = self._answers[k]
            message.written = {**written, self._field: value}
            self._queue(message)
        else:
            message = self._kind(name, value)
            self._queue(message)  # which completes it
            self._answers[k] = message.redundancy_key(), message.entity_state_key(), message.as_serializable_dict()


class _Known:
    """A message for viser's queue, like another one that differs in its value alone."""

    key: str
    state: tuple[str, str] | None
    written: dict[str, Any]

    def redundancy_key(self) -> str:
        return self.key

    def entity_state_key(self) -> tuple[str, str] | None:
        return self.state

    def as_serializable_dict(self, binary_buffers: list[memoryview] | None = None) -> dict[str, Any]:  # noqa: ARG002
        return self.written

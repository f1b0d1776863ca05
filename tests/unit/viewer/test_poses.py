"""Nodes that are moved are sent as viser sends them, and only if they have moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.lie import convert
from kinetree.viewer import Viewer
from kinetree.viewer.poses import PosedNodes

from .pages import messages

NAMES = ("/one", "/two")
POSES = ("SetPositionMessage", "SetOrientationMessage")


@pytest.fixture
def viewer() -> Iterator[Viewer]:
    with kt.view(kt.zoo.load("double_pendulum"), port=0) as viewer:
        yield viewer


def _placements(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    found = np.tile(np.eye(4), (2, 1, 1))
    found[:, :3, 3] = rng.normal(size=(2, 3))
    found[:, :3, :3] = convert(rng.normal(size=(2, 4)), "quaternion", "matrix")
    return found


def _poses(viewer: Viewer) -> list[dict[str, Any]]:
    found = [one for one in messages(viewer) if one["type"] in POSES and one["name"] in NAMES]
    return sorted(found, key=lambda one: (one["name"], one["type"]))


def test_a_browser_gets_what_viser_would_send(viewer: Viewer) -> None:
    scene, moves = viewer.server.scene, [_placements(k) for k in range(3)]
    posed = PosedNodes(scene, [scene.add_frame(name) for name in NAMES])
    for placements in moves:
        posed.pose(placements)
    found = _poses(viewer)
    for placements, name in zip(moves[-1], NAMES, strict=True):
        node = scene.add_frame(name)  # which forgets the poses of the one before
        node.position = placements[:3, 3]
        node.wxyz = convert(placements[:3, :3], "matrix", "quaternion_wxyz")
    assert found == _poses(viewer)
    assert len(found) == 4


def test_without_these_messages_visers_own_setters_are_used() -> None:
    class Node:
        position: Any = None
        wxyz: Any = None

    nodes = [Node(), Node()]
    PosedNodes(object(), nodes).pose(_placements(0))  # type: ignore[arg-type]
    assert np.allclose([node.position for node in nodes], _placements(0)[:, :3, 3])
    assert np.shape([node.wxyz for node in nodes]) == (2, 4)


def test_what_has_not_moved_is_not_sent(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = viewer.server.scene
    sent: list[Any] = []
    posed = PosedNodes(scene, [scene.add_frame(name) for name in NAMES])
    posed.pose(_placements(0))
    monkeypatch.setattr(viewer.server._websock_server, "queue_message", sent.append)
    posed.pose(_placements(0))
    assert not sent
    moved = _placements(0)
    moved[1, 0, 3] += 1.0
    posed.pose(moved)
    assert [(one.name, one.position[0]) for one in sent] == [("/two", moved[1, 0, 3])]

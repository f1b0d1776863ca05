"""What a page would show and do, without a browser."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.viewer import Viewer

__all__ = ["clicked", "control", "descriptions", "labels", "messages", "moved", "position_of", "texts", "wait_until"]


def messages(viewer: Viewer) -> list[dict[str, Any]]:
    """What a browser gets that opens the page now."""
    buffer = viewer.server._websock_server._broadcast_buffer
    with buffer.buffer_lock:  # other threads write
        kept = list(buffer.message_from_id.values())
    return [message.as_serializable_dict([]) for message in kept]


def position_of(viewer: Viewer, node: str) -> NDArray[np.float64]:
    """Where a node is, in its parent's axes; at its origin if it was never moved."""
    found = [m["position"] for m in messages(viewer) if m["type"] == "SetPositionMessage" and m["name"] == node]
    return np.array(found[-1] if found else (0.0, 0.0, 0.0))


def labels(viewer: Viewer) -> list[str]:
    """The labels of all controls."""
    return [handle.label for handle in viewer.server.gui._gui_input_handle_from_uuid.values()]


def clicked(viewer: Viewer, body: str, sample: int = 0) -> None:
    """Do what follows when somebody clicks on a body of the first motion."""
    stage = viewer.stages[0]
    piece = stage.bodies.bodies.index(body)
    handle, pieces = next((handle, pieces) for handle, pieces in stage.grips() if piece in pieces)
    is_alone = not hasattr(handle, "batched_positions")
    event = SimpleNamespace(instance_index=None if is_alone else sample * len(pieces) + list(pieces).index(piece))
    for entry in handle._impl.click_cb:
        entry.callback(event)


def descriptions(viewer: Viewer) -> list[str]:
    """Descriptions of bodies that were clicked on; not their names, whose labels stay when they are hidden."""
    return [m["props"]["text"] for m in messages(viewer) if m["type"] == "LabelMessage" and "/about/" in m["name"]]


def texts(viewer: Viewer) -> list[str]:
    """What is written on the page between its controls, without the backslashes before characters that are no marks."""
    written = [m["props"]["_markdown"] for m in messages(viewer) if m["type"] == "GuiMarkdownMessage"]
    return [re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text) for text in written]


def control(viewer: Viewer, label: str) -> Any:
    """The control with a label."""
    found = [h for h in viewer.server.gui._gui_input_handle_from_uuid.values() if h.label == label]
    assert len(found) == 1, labels(viewer)
    return found[0]


def moved(viewer: Viewer, label: str, value: object) -> list[tuple[str, str]]:
    """Do what follows when somebody moves a control; returns the notifications that the browser shows."""
    shown: list[tuple[str, str]] = []
    client = SimpleNamespace(add_notification=lambda title, body, **_: shown.append((title, body)))
    handle = control(viewer, label)
    handle._impl.value = value
    for callback in handle._impl.update_cb:
        callback(SimpleNamespace(client=client, client_id=0, target=handle))
    return shown


def wait_until(is_so: Callable[[], bool]) -> None:
    """What another thread does may take long on a machine that is busy."""
    end = time.monotonic() + 30.0
    while not is_so():
        assert time.monotonic() < end, "it is not so after 30 s"
        time.sleep(0.01)

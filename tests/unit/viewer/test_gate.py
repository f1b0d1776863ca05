"""What the server of a page answers, and what it passes on of what a browser says."""

from __future__ import annotations

import http.client
import math
import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import msgspec
import numpy as np
import pytest
import viser
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

import kinetree as kt
from kinetree.viewer import Viewer, view
from kinetree.viewer.gate import Gate, is_loopback
from kinetree.viewer.server import started
from tests.unit.viewer.pages import control, wait_until

PROTOCOL = Subprotocol(f"viser-v{viser.__version__}")


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    with view(kt.zoo.load("arm6"), port=0) as viewer:
        yield viewer


@pytest.fixture
def browser(viewer: Viewer) -> Iterator[ClientConnection]:
    """A page of the viewer, as its server sees it."""
    with opened(viewer) as socket:
        socket.send(packed("ViewerCameraMessage", **CAMERA))
        wait_until(lambda: len(viewer.server.get_clients()) == 1)
        yield socket
    wait_until(lambda: not viewer.server.get_clients())


CAMERA: dict[str, Any] = {
    "wxyz": [1, 0, 0, 0], "position": [1, 1, 1], "fov": 1.0, "near": 0.1, "far": 100.0, "image_height": 100,
    "image_width": 100, "look_at": [0, 0, 0], "up_direction": [0, 0, 1],
}  # fmt: skip


def packed(kind: str, **content: Any) -> bytes:
    return msgspec.msgpack.encode({"type": kind, **content})


def opened(viewer: Viewer, origin: str | None = "", host: str = "", path: str = "") -> ClientConnection:
    """A socket as a browser opens it for a page of that origin; "" for the viewer's page."""
    own = f"127.0.0.1:{viewer.server.get_port()}"
    return connect(
        f"ws://{host or own}{path}", subprotocols=[PROTOCOL], origin=f"http://{own}" if origin == "" else origin,
        sock=socket.create_connection(("127.0.0.1", viewer.server.get_port())), max_size=None,
    )  # fmt: skip


def answered(server: Any, headers: dict[str, str], path: str = "/") -> tuple[int, str]:
    """The status and the policy that a request gets."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.get_port())) as connection:
        connection.putrequest("GET", path, skip_host=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        with connection.getresponse() as answer:
            return answer.status, answer.headers["Content-Security-Policy"] or ""


def status(viewer: Viewer, headers: dict[str, str], path: str = "/") -> int:
    return answered(viewer.server, headers, path)[0]


@pytest.mark.parametrize(
    "origin",
    [None, "null", "http://elsewhere.test", "http://127.0.0.1", "http://localhost:{port}", "http://127.0.0.1:1",
     "http://127.0.0.1:{port}.elsewhere.test", "http://elsewhere.test@127.0.0.1:{port}",
     "file://", "about:blank", "http://[", "http://[::1"],
)  # fmt: skip
def test_a_socket_is_for_the_page_alone(viewer: Viewer, origin: str | None) -> None:
    port = viewer.server.get_port()
    with pytest.raises(InvalidStatus, match="403"):
        opened(viewer, None if origin is None else origin.replace("{port}", str(port)))
    opened(viewer).close()


@pytest.mark.parametrize("host", ["elsewhere.test", "elsewhere.test:{port}", "127.0.0.1.elsewhere.test", "", "10.0.0.1",
                                  "a b", "localhost; x", "user@localhost", "localhost:http"])  # fmt: skip
def test_a_page_is_for_names_of_this_machine(viewer: Viewer, host: str) -> None:
    """A name of somebody else's may be resolved to this machine."""
    assert status(viewer, {"Host": host.replace("{port}", str(viewer.server.get_port()))}) == 403


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:80", "127.0.0.1:{port}", "127.8.0.1", "[::1]:{port}", "localhost."]
)
def test_names_of_this_machine(viewer: Viewer, host: str) -> None:
    """With any port: it may have been forwarded from another one."""
    assert status(viewer, {"Host": host.replace("{port}", str(viewer.server.get_port()))}) == 200


def test_requests_without_a_host_or_with_two_are_refused(viewer: Viewer) -> None:
    assert status(viewer, {}) == 403
    with socket.create_connection(("127.0.0.1", viewer.server.get_port())) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n")
        assert plain.recv(100).startswith(b"HTTP/1.1 403")


def test_names_that_the_user_allows() -> None:
    with view(kt.zoo.load("arm6"), port=0, allow_hosts=["Lab.example.org"]) as viewer:
        assert status(viewer, {"Host": "lab.example.org:8443"}) == 200
        assert status(viewer, {"Host": "example.org"}) == 403
        opened(viewer, "https://lab.example.org").close()  # a proxy may rename the host
        opened(viewer, "https://lab.example.org:8443", host="lab.example.org:8443").close()
        with pytest.raises(InvalidStatus, match="403"):
            opened(viewer, "https://elsewhere.test", host="lab.example.org")


@pytest.mark.parametrize("names", [["a b"], [""], [7], ["http://lab.example.org"], ["lab:8080"]])
def test_names_that_are_none(names: list[Any]) -> None:
    with pytest.raises(kt.errors.OptionError, match="allow_hosts are names of this machine"):
        view(kt.zoo.load("arm6"), port=0, allow_hosts=names)


def test_a_server_beyond_this_machine_has_a_secret() -> None:
    with view(kt.zoo.load("arm6"), host="0.0.0.0", port=0) as viewer:
        token = viewer.url.rpartition("/")[2]
        own = {"Host": f"192.0.2.7:{viewer.server.get_port()}"}  # as other machines call it
        assert status(viewer, own) == status(viewer, own, "/x") == status(viewer, own, f"/{token}x") == 403
        assert status(viewer, own, f"/{token}") == status(viewer, own, f"/{token}/?fixedDpr=1") == 200
        assert status(viewer, {"Host": "elsewhere.test"}, f"/{token}") == 403
        assert status(viewer, {"Host": socket.gethostname()}, f"/{token}") == 200
        with pytest.raises(InvalidStatus, match="403"):
            opened(viewer)
        opened(viewer, path=f"/{token}").close()
    with view(kt.zoo.load("arm6"), host="0.0.0.0", port=0) as viewer:
        assert viewer.url.rpartition("/")[2] != token


def test_which_addresses_are_for_this_machine() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "localhost", "::1", "127.0.0.2")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.0.2.7", "no.such.name.invalid")))


def test_a_viser_that_starts_its_server_otherwise_is_not_used() -> None:
    class Unguarded:
        stopped = False

        def stop(self) -> None:
            self.stopped = True

    server = Unguarded()
    with pytest.raises(kt.errors.MissingPackageError, match="cannot guard"):
        Gate("127.0.0.1").guarded(lambda: server)  # type: ignore[type-var,arg-type,return-value]
    assert server.stopped


def test_the_page_is_served_with_its_policy(viewer: Viewer) -> None:
    port = viewer.server.get_port()
    _, policy = answered(viewer.server, {"Host": f"127.0.0.1:{port}"})
    assert f"connect-src http://127.0.0.1:{port} " in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]
    assert "frame-ancestors" in policy


SLIDER = "elbow_pitch, rad"


def changes(viewer: Viewer) -> list[bytes]:
    """Messages that a page does not send."""
    slider, box, menu = (control(viewer, label)._impl.uuid for label in (SLIDER, "frames", "state"))

    def update(control: str, **updates: object) -> bytes:
        return packed("GuiUpdateMessage", uuid=control, updates=updates)

    numbers = [math.nan, math.inf, -math.inf, 1e300, "1", None, True, [1.0], {"a": 1}, b"1", 10**18]
    return [
        *(update(slider, value=x) for x in numbers),
        *(update(box, value=x) for x in (1, "yes", None, [True])),
        *(update(menu, value=x) for x in ("no such state", 3, None, [], {})),
        *(update(slider, **{name: x}) for name, x in {
            "removed": True, "update_cb": [], "props": {}, "sync_cb": None, "min": 0.0, "uuid": "x", "gui_api": 0,
            "is_button": True, "parent_container_id": "", "__class__": 0,
        }.items()),
        update(slider, value=0.5, removed=True),
        packed("GuiUpdateMessage", uuid=slider, updates=[]),
        packed("GuiUpdateMessage", uuid=slider),
        packed("GuiUpdateMessage", uuid=7, updates={"value": 0.5}),
        packed("GuiUpdateMessage", uuid=slider, updates={"value": 0.5}, more=1),
        packed("FileTransferStartUpload", source_component_uuid=slider, transfer_uuid="t", filename="x", mime_type="x",
               part_count=0, size_bytes=0),
        packed("FileTransferPart", source_component_uuid=slider, transfer_uuid="t", part_index=0, content=b"x"),
        packed("ShareUrlRequest"),
        packed("RunJavascriptMessage", source="1"),
        packed("GuiRemoveMessage", uuid=slider),
        packed("NoSuchMessage"),
        packed("ViewerCameraMessage", **{**CAMERA, "position": [math.nan, 0, 0]}),
        packed("ViewerCameraMessage", **{**CAMERA, "position": [0, 0]}),
        packed("SceneNodeClickMessage", name="/x", instance_index="a", ray_origin=[0, 0, 0], ray_direction=[0, 0, 1],
               screen_pos=[0, 0], modifier=None),
        b"", b"\xc1", b"\x91" * 100_000, msgspec.msgpack.encode([]), msgspec.msgpack.encode({"type": []}),
    ]  # fmt: skip


def test_what_no_page_sends_changes_nothing(
    viewer: Viewer, browser: ClientConnection, capfd: pytest.CaptureFixture[str]
) -> None:
    """One bad client does not break `viewer.set`, nor the page of others, nor is anything printed."""
    viewer.set(np.zeros(6))
    for said in changes(viewer):
        browser.send(said)
    browser.send("text")
    browser.send(packed("GuiUpdateMessage", uuid=control(viewer, SLIDER)._impl.uuid, updates={"value": 0.25}))
    wait_until(lambda: viewer.q[2] == 0.25)  # it is still heard
    np.testing.assert_array_equal(np.delete(viewer.q, 2), 0.0)
    viewer.set(np.full(6, 0.1))
    wait_until(lambda: control(viewer, SLIDER).value == pytest.approx(0.1))
    np.testing.assert_array_equal(viewer.q, 0.1)
    assert not control(viewer, "frames").value
    assert capfd.readouterr() == ("", "")


def test_what_a_page_sends_is_passed_on(viewer: Viewer) -> None:
    """Also a slider's end, which the page rounds to its steps."""
    slider = control(viewer, SLIDER)
    gate: Gate = viewer.server.gate
    for value in (0.5, 0, slider.max, slider.max + 0.5 * slider.step):
        assert gate.passes(packed("GuiUpdateMessage", uuid=slider._impl.uuid, updates={"value": value}))
    for label, value in (("frames", True), ("state", "neutral"), ("go to", "random")):
        assert gate.passes(packed("GuiUpdateMessage", uuid=control(viewer, label)._impl.uuid, updates={"value": value}))
    for add, value in (
        (lambda gui: gui.add_text("a", "b"), "c" * 1000), (lambda gui: gui.add_button("press"), True),
        (lambda gui: gui.add_vector3("v", (0.0, 0.0, 0.0)), [1, 2.5, 3]), (lambda gui: gui.add_number("n", 1), 7),
        (lambda gui: gui.add_rgb("c", (1, 2, 3)), [4, 5, 6]), (lambda gui: gui.add_number("m", 1.5), 7e9),
        (lambda gui: gui.add_multi_slider("s", 0, 9, 1, (1, 2)), [3, 4]),
    ):  # fmt: skip
        handle = add(viewer.server.gui)  # a control of the user's own
        assert gate.passes(packed("GuiUpdateMessage", uuid=handle._impl.uuid, updates={"value": value}))
        handle.remove()
    assert gate.passes(packed("ViewerCameraMessage", **CAMERA))


def test_samples_that_there_are_not() -> None:
    robot = kt.zoo.load("arm6")
    with view(robot, q=[robot.random(k) for k in range(4)], port=0) as viewer:
        sample, gate = control(viewer, "sample")._impl.uuid, viewer.server.gate
        given = {k: packed("GuiUpdateMessage", uuid=sample, updates={"value": k}) for k in (-1, 0, 3, 4)}
        assert [k for k, said in given.items() if gate.passes(said)] == [0, 3]


def test_a_stranger_that_sends_rubbish_leaves_no_trace(capfd: pytest.CaptureFixture[str]) -> None:
    server = started(port=0)
    try:
        for sent in (b"\x00\x1b[31m\r\n\r\n", b"GET / HTTP/1.1\r\n", b""):
            with socket.create_connection(("127.0.0.1", server.get_port())) as plain:
                plain.sendall(sent)
        assert answered(server, {"Host": "localhost"})[0] == 200
    finally:
        server.stop()
    assert capfd.readouterr() == ("", "")

"""Pages from elsewhere, open in the same browser, and robot files with HTML in them: neither gets hold of a page."""

from __future__ import annotations

import threading
import warnings
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import viser
from playwright.sync_api import Page

import kinetree as kt
from kinetree.viewer import Viewer, view
from tests.unit.viewer.pages import control, wait_until
from tests.viewer.browser import ELSEWHERE, Opener

_OPENED = """async ([url, protocol, said]) => {
    const socket = new WebSocket(url, protocol);
    socket.binaryType = "arraybuffer";
    let heard = 0;
    const outcome = await new Promise((done) => {
        socket.onmessage = (event) => { heard += event.data.byteLength; done("open"); };
        socket.onopen = () => {
            for (const one of said) socket.send(Uint8Array.from(atob(one), (c) => c.charCodeAt(0)));
            setTimeout(() => done("open"), 30000);
        };
        socket.onerror = () => done("refused");
    });
    return [outcome, heard];
}"""


@contextmanager
def site(html: str = "") -> Iterator[tuple[int, list[str]]]:
    """A web server of somebody else, with one page: its port, and what is asked for."""
    asked: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>elsewhere</title>" + html.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port, asked
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def stranger(browser: Opener, url: str) -> Iterator[Page]:
    """Somebody else's page, which may ask for anything."""
    with browser.context() as context:
        page = context.new_page()
        page.goto(url, wait_until="commit")
        yield page


def said(kind: str, **content: Any) -> str:
    """A message as the viewer's page sends it."""
    return b64encode(msgspec.msgpack.encode({"type": kind, **content})).decode()


CAMERA = said(
    "ViewerCameraMessage", wxyz=[1, 0, 0, 0], position=[1, 1, 1], fov=1.0, near=0.1, far=100.0, image_height=100,
    image_width=100, look_at=[0, 0, 0], up_direction=[0, 0, 1],
)  # fmt: skip


def commands(viewer: Viewer) -> list[str]:
    """What would move a joint."""
    slider = control(viewer, "elbow_pitch, rad")
    return [CAMERA, said("GuiUpdateMessage", uuid=slider._impl.uuid, updates={"value": -1.0})]


def hears(page: Page, viewer: Viewer, port: int, host: str = "127.0.0.1", path: str = "") -> tuple[str, int]:
    """Whether a page's socket opens, and how many bytes it gets."""
    address = f"ws://{host}:{port}{path}"
    outcome, heard = page.evaluate(_OPENED, [address, f"viser-v{viser.__version__}", commands(viewer)])
    return outcome, heard


@pytest.mark.parametrize("host", ["127.0.0.1", ELSEWHERE])
def test_a_page_from_elsewhere_reads_and_moves_nothing(browser: Opener, host: str) -> None:
    """Also if its name is one of this machine, so that browser and viewer take each other for the same place."""
    with view(kt.zoo.load("arm6"), port=0) as viewer, site() as (port, _):
        served = viewer.server.get_port()
        with stranger(browser, f"http://{host}:{port}") as page:
            assert hears(page, viewer, served) == ("refused", 0)
            assert hears(page, viewer, served, ELSEWHERE) == ("refused", 0)
        with stranger(browser, f"http://{ELSEWHERE}:{served}") as page:
            assert "not served under this name" in page.inner_text("body")
            assert hears(page, viewer, served, ELSEWHERE) == ("refused", 0)
            assert hears(page, viewer, served) == ("refused", 0)
        assert not viewer.server.get_clients()
        np.testing.assert_array_equal(viewer.q, 0.0)


def test_the_page_itself_may_speak(browser: Opener) -> None:
    """Otherwise the tests above would show nothing."""
    with view(kt.zoo.load("arm6"), port=0) as viewer, stranger(browser, viewer.url) as page:
        outcome, heard = hears(page, viewer, viewer.server.get_port())
        assert outcome == "open"
        assert heard > 1000
        wait_until(lambda: viewer.q[2] == -1.0)


@pytest.mark.deep
def test_a_page_cannot_be_sent_to_another_server(browser: Opener) -> None:
    """A link can name the server that viser's page is to obey: its scripts would run as if they were the viewer's."""
    with view(kt.zoo.load("arm6"), port=0) as viewer, site() as (port, asked):
        for query in (f"websocket=ws://{ELSEWHERE}:{port}", f"playbackPath=http://{ELSEWHERE}:{port}/x.viser"):
            with stranger(browser, f"{viewer.url}/?{query}") as page:
                page.wait_for_timeout(4000)
    assert not asked


def test_a_page_from_elsewhere_cannot_frame_it(browser: Opener) -> None:
    """One that could would let its visitors move sliders without knowing."""
    with view(kt.zoo.load("arm6"), port=0) as viewer, site(f'<iframe src="{viewer.url}"></iframe>') as (port, _):
        with stranger(browser, f"http://{ELSEWHERE}:{port}") as page:
            page.wait_for_timeout(3000)
            assert not viewer.server.get_clients()
        with stranger(browser, f"http://127.0.0.1:{port}"):  # as notebooks on this machine do
            assert viewer.wait_for_somebody(60.0)


@pytest.mark.deep
def test_beyond_this_machine_the_address_has_a_secret(browser: Opener) -> None:
    with view(kt.zoo.load("arm6"), host="0.0.0.0", port=0) as viewer:
        port, url = viewer.server.get_port(), viewer.url.replace("localhost", "127.0.0.1")
        secret = url.rpartition("/")[2]
        assert len(secret) >= 20
        with stranger(browser, f"http://127.0.0.1:{port}") as page:
            assert "lacks the secret part" in page.inner_text("body")
            assert hears(page, viewer, port) == ("refused", 0)
            assert hears(page, viewer, port, path=f"/{secret[:-1]}") == ("refused", 0)
            assert hears(page, viewer, port, path=f"/{secret}")[0] == "open"
        with browser.page(url) as tab:
            assert viewer.wait_for_somebody(60.0)
            tab.number("elbow_pitch, rad").fill("-1.1")
            tab.wait_until(lambda: viewer.q[2] == -1.1)
            tab.page.reload()
            tab.wait_until(lambda: tab.number("elbow_pitch, rad").input_value() == "-1.1")


NASTY = (
    "<iframe srcdoc=\"<script>parent.document.title='owned'</script>\"></iframe>",
    "<img src=x onerror=\"document.title='owned'\">",
    "[text](javascript:document.title='owned') **bold** `code` &lt;b&gt;",
    "--></pre><script>document.title='owned'</script>$x_{$",
)


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> kt.Model:
    """A robot with such names wherever its file has one."""
    links, joints = ['<link name="ground"/>'], []
    for name in map(_escaped, NASTY):
        links.append(
            f'<link name="{name}"><inertial><mass value="1"/>'
            '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
            f'<visual name="{name}"><geometry><mesh filename="{name}.stl"/></geometry></visual></link>'
        )
        joints.append(f'<joint name="{name}" type="continuous"><parent link="ground"/><child link="{name}"/></joint>')
    file = tmp_path_factory.mktemp("nasty") / "nasty.urdf"
    file.write_text(f'<robot name="{_escaped("".join(NASTY))}">{"".join(links + joints)}</robot>')
    return kt.load(file)


def _escaped(name: str) -> str:
    return name.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def test_html_from_a_robot_file_is_text(browser: Opener, nasty: kt.Model) -> None:
    with pytest.warns(kt.errors.ModelWarning, match="not everything is drawn"):
        viewer = view(nasty, port=0, show=["names"])
    with viewer, browser.page(viewer.url) as tab:
        assert viewer.wait_for_somebody(60.0)
        tab.button("Not drawn").click()
        for name in NASTY:
            (unseen,) = {f"{each.part}: {each.reason}" for each in viewer.unseen if name in each.part}
            tab.wait_until(lambda unseen=unseen: unseen in tab.page.inner_text("body"))  # type: ignore[misc]
        tab.page.wait_for_timeout(500)
        assert tab.page.title() != "owned"
        assert tab.page.locator("iframe").count() == 0


@pytest.mark.deep
def test_html_from_a_robot_file_is_text_in_files_and_notebooks(
    browser: Opener, nasty: kt.Model, tmp_path: Path
) -> None:
    motion = kt.simulate(nasty, v=[1.0] * nasty.nv, duration=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        shown = {"robot": nasty._repr_html_(), "motion": motion._repr_html_()}
        pages = [motion.save_html(tmp_path / "page.html")]
    for what, html in shown.items():
        assert html is not None
        pages.append(tmp_path / f"{what}.html")
        pages[-1].write_text(f"<!doctype html><meta charset=utf-8><title>{what}</title>{html}", encoding="utf-8")
    pages.append(motion.plot(tmp_path / "plot.svg"))
    for page in pages:
        with browser.file(page) as tab:
            tab.page.wait_for_timeout(3000 if page.name == "page.html" else 300)
            assert tab.page.title() != "owned"
            assert tab.page.locator("iframe").count() == 0
            if page.name == "robot.html":
                assert all(name in tab.page.inner_text("body") for name in NASTY)


def test_html_that_somebody_else_adds_does_not_run(browser: Opener) -> None:
    """What a page shows may come from anywhere; scripts that are not the viewer's do not run there."""
    with view(kt.zoo.load("arm6"), port=0) as viewer:
        for text in NASTY[:2]:
            viewer.server.gui.add_markdown(text)
            viewer.server.gui.add_html(text)
        with stranger(browser, viewer.url) as page:
            assert viewer.wait_for_somebody(60.0)
            page.wait_for_timeout(1500)
            assert page.title() != "owned"

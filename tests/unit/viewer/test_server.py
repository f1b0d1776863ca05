"""Where pages are served."""

from __future__ import annotations

import socket
import sys
from typing import Any

import pytest

import kinetree as kt
from kinetree.viewer.server import address, started


def test_the_page_is_for_this_machine_only() -> None:
    server = started(port=0)
    try:
        port = server.get_port()
        assert address(server) == f"http://127.0.0.1:{port}"
        assert server.get_host() == "127.0.0.1"
        assert server.request_share_url() is None
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass
        if sys.platform == "linux":  # elsewhere this machine has no second address of its own
            with pytest.raises(OSError, match="refused"), socket.create_connection(("127.0.0.2", port), timeout=5):
                pass
    finally:
        server.stop()


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    started(port=0).stop()
    assert capfd.readouterr() == ("", "")


def test_a_port_in_use() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(
            kt.errors.OptionError, match=rf"port {port} of 127\.0\.0\.1 is in use; give another one, or port 0"
        ):
            started(port=port)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"port": 70000}, "port must be a whole number from 0 to 65535, not 70000"),
        ({"port": True}, "port must be a whole number from 0 to 65535, not True"),
        ({"host": "203.0.113.7", "port": 0}, r"'203\.0\.113\.7' is not an address of this machine"),
        ({"host": ""}, "host must be the name or the number of an address of this machine, not ''"),
    ],
)
def test_where_no_server_can_be(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=sentence):
        started(**options)


def test_viser_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(kt.errors.MissingPackageError, match=r"needs viser: pip install 'kinetree\[view\]'"):
        kt.view(kt.zoo.load("double_pendulum"))

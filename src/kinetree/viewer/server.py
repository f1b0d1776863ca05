"""The web server behind a page: its address, and errors there."""

from __future__ import annotations

import errno
import io
import os
import re
import socket
import threading
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from kinetree.errors import MissingPackageError, OptionError
from kinetree.files import reason
from kinetree.inputs import whole_between
from kinetree.viewer.gate import Gate

if TYPE_CHECKING:
    from viser import ViserServer

__all__ = ["LOOPBACK", "address", "started"]

LOOPBACK = "127.0.0.1"
_USUAL_PORT = 8080
_QUIET = threading.Lock()
"""Held while standard output is another one, by one thread at a time."""
_TRIED = 100
"""How many ports from the usual one on are tried."""


def started(host: str = LOOPBACK, port: int | None = None, allow_hosts: Sequence[str] = ()) -> ViserServer:
    """A page without anything on it, served at a port, by default the first free one from 8080 on; 0: any free one.

    `allow_hosts` are names of this machine under which it may be opened, in addition to those that it knows.

    Raises:
        MissingPackageError: viser is not installed, or in a version whose server cannot be guarded.
        OptionError: the port is in use, the address does not exist, or a name is not one.
    """
    try:
        import viser
    except ImportError:
        raise MissingPackageError("a page in the browser needs viser: pip install 'kinetree[view]'") from None

    class Server(viser.ViserServer):
        gate: Gate

        def request_share_url(self, verbose: bool = True) -> str | None:  # noqa: ARG002
            """The robot stays on this machine: nothing in the page can ask a server elsewhere to publish it."""
            return None

        def stop(self) -> None:
            with _QUIET, redirect_stdout(io.StringIO()):
                super().stop()

    free = _free_port(host, port)
    gate = Gate(host, _names(allow_hosts))
    with _QUIET, redirect_stdout(io.StringIO()):  # a banner; the address is for whoever called to say
        server = gate.guarded(lambda: Server(host=host, port=free, label="kinetree", verbose=False))
    server.gate = gate
    return server


def address(server: ViserServer) -> str:
    """The address that a browser on this machine opens."""
    host = server.get_host()
    shown = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, f"[{host}]" if ":" in host else host)
    gate: Gate = server.gate
    return f"http://{shown}:{server.get_port()}{gate.token and '/' + gate.token}"


def _names(given: Sequence[str]) -> list[str]:
    """Names of machines, such as "lab.example.org"."""
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if not isinstance(name, str) or not re.fullmatch(r"[\w.-]+|[\da-fA-F:]+", name):
            raise OptionError(
                f"allow_hosts are names of this machine such as 'lab.example.org', without a port, not {name!r:.60}"
            )
    return names


def _free_port(host: str, port: int | None) -> int:
    if not isinstance(host, str) or not host:
        raise OptionError(f"host must be the name or the number of an address of this machine, not {host!r:.60}")
    if port is not None:
        whole_between("port", port, 0, 65535)
        return _bound(host, port, f"port {port} of {host} is in use; give another one, or port 0 for any free one")
    for tried in range(_USUAL_PORT, _USUAL_PORT + _TRIED):
        try:
            return _bound(host, tried, "in use")
        except OptionError as error:
            if str(error) != "in use":
                raise
    return _bound(host, 0, f"no port of {host} is free")


def _bound(host: str, port: int, in_use: str) -> int:
    """The port, once it has been seen to be free."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as tried:
            if os.name == "posix":  # as the server does; on Windows it would share a port that is in use
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(place)
            return int(tried.getsockname()[1])
    except OSError as error:
        # Windows may not share a port that is in use, or keeps ports for itself.
        if error.errno == errno.EADDRINUSE or (error.errno == errno.EACCES and port > 1023):
            raise OptionError(in_use) from None
        if error.errno == errno.EACCES:
            raise OptionError(f"port {port} may not be used by this user; give one above 1023") from None
        raise OptionError(
            f"{host!r} is not an address of this machine ({reason(error)}); leave host out for pages that only "
            "this machine sees, or give '0.0.0.0' for all of its addresses"
        ) from None

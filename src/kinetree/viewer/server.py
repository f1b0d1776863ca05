"""The web server behind a page: where it listens, and what goes wrong there."""

from __future__ import annotations

import errno
import io
import socket
import threading
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from kinetree.errors import MissingPackageError, OptionError
from kinetree.files import reason

if TYPE_CHECKING:
    from viser import ViserServer

__all__ = ["LOOPBACK", "address", "started"]

LOOPBACK = "127.0.0.1"
_USUAL_PORT = 8080
_QUIET = threading.Lock()
"""Held while standard output is another one, by one thread at a time."""
_TRIED = 100
"""How many ports from the usual one on are tried."""


def started(host: str = LOOPBACK, port: int | None = None) -> ViserServer:
    """A page without anything on it, served at a port, by default the first free one from 8080 on; 0: any free one.

    Raises:
        MissingPackageError: viser is not installed.
        OptionError: the port is in use, or there is no such address.
    """
    try:
        import viser
    except ImportError:
        raise MissingPackageError("a page in the browser needs viser: pip install 'kinetree[view]'") from None

    class Server(viser.ViserServer):
        def request_share_url(self, verbose: bool = True) -> str | None:  # noqa: ARG002
            """The robot stays on this machine: nothing in the page can ask a server elsewhere to publish it."""
            return None

        def stop(self) -> None:
            with _QUIET, redirect_stdout(io.StringIO()):
                super().stop()

    chosen = _free_port(host, port)
    with _QUIET, redirect_stdout(io.StringIO()):  # a banner; the address is for whoever called to say
        return Server(host=host, port=chosen, label="kinetree", verbose=False)


def address(server: ViserServer) -> str:
    """The address that a browser on this machine opens."""
    host = server.get_host()
    shown = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{server.get_port()}"


def _free_port(host: str, port: int | None) -> int:
    if not isinstance(host, str) or not host:
        raise OptionError(f"host must be the name or the number of an address of this machine, not {host!r:.60}")
    if port is not None:
        if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65536:
            raise OptionError(f"port must be a whole number from 0 to 65535, not {port!r:.60}")
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
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(place)
            return int(tried.getsockname()[1])
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise OptionError(in_use) from None
        if error.errno == errno.EACCES:
            raise OptionError(f"port {port} may not be used by this user; give one above 1023") from None
        raise OptionError(
            f"{host!r} is no address of this machine ({reason(error)}); leave host out for pages that are seen on this "
            "machine only, or give '0.0.0.0' for all of its addresses"
        ) from None

"""Access control of a page and its server, and a filter of the browser's messages.

A server on this machine can be reached by every page that is open in a browser here, wherever it came from: its script
may open a socket to 127.0.0.1, or have a name of its own resolved to that address. So each request must name this
machine (`Host`), and a socket must be opened by the page itself (`Origin`). A server that listens beyond this machine
has a secret in its address as well. The page's own policy keeps it from speaking to other servers and from running
scripts that are not the viewer's.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import math
import re
import secrets
import socket
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import cache
from html.parser import HTMLParser
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from kinetree.errors import MissingPackageError

if TYPE_CHECKING:
    from viser import ViserServer
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

__all__ = ["Gate", "is_loopback"]

S = TypeVar("S", bound="ViserServer")

_MOST_TEXT = 100_000
"""Characters of a text that a browser may send as the value of a control."""
_HEARD = frozenset({
    "ViewerCameraMessage", "ScenePointerMessage", "SceneNodeClickMessage", "SceneNodeDragMessage",
    "TransformControlsUpdateMessage", "TransformControlsDragStartMessage", "TransformControlsDragEndMessage",
    "GuiUpdateMessage", "GuiButtonHoldMessage", "GuiFormSubmitMessage", "GuiFormDirtyMessage", "CommandTriggerMessage",
    "LocalStorageGetItemResponseMessage", "GetRenderResponseMessage",
})  # fmt: skip
"""The messages that are passed on. Uploads are not among them, nor are requests to publish the page elsewhere."""


def is_loopback(host: str) -> bool:
    """Whether a server at this address, a name or a number, can be reached from this machine only."""
    try:
        addresses = {place[0] for *_, place in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
        return all(ip_address(str(one).partition("%")[0]).is_loopback for one in addresses)
    except (OSError, ValueError):
        return False


class Gate:
    """The requests and messages that a server at an address accepts."""

    def __init__(self, host: str, allowed: Sequence[str] = ()) -> None:
        """`allowed`: names under which pages may be opened, in addition to those of this machine."""
        self._is_local = is_loopback(host)
        self._allowed = frozenset(name.lower().rstrip(".") for name in allowed)
        self._names = self._allowed | {"localhost", host.lower()}
        if not self._is_local:
            self._names |= {name.lower() for name in (socket.gethostname(), f"{socket.gethostname()}.local")}
        self.token: str = "" if self._is_local else secrets.token_urlsafe(16)
        """The token required in the path of every request; empty on a server for this machine only."""
        self._server: ViserServer | None = None

    def guarded(self, start: Callable[[], S]) -> S:
        """The server that is started by a function, behind this gate from its first moment on."""
        import websockets.asyncio.server as made

        serve, is_closed = made.serve, False

        def guarded(handler: Any, *args: Any, process_request: Any, **options: Any) -> Any:
            nonlocal is_closed
            if handler.__module__.partition(".")[0] != "viser":  # another thread's server
                return serve(handler, *args, process_request=process_request, **options)
            is_closed = True
            return serve(
                handler, *args, **options, process_request=self._answering(process_request), logger=_quiet_logger(),
                create_connection=self._hearing(made.ServerConnection),
            )  # fmt: skip

        made.serve = guarded  # type: ignore[assignment,misc]
        try:
            server = self._server = start()
        finally:
            made.serve = serve  # type: ignore[misc]
        if not is_closed:
            server.stop()
            raise MissingPackageError(
                "this version of viser starts its server in a way that kinetree does not know, and cannot guard: "
                "pip install 'viser==1.1.1'"
            )
        return server

    def _answering(self, answer: Callable[[ServerConnection, Request], Response | None]) -> Any:
        def process(connection: ServerConnection, request: Request) -> Response | None:
            if (refusal := self._refusal(request)) is not None:
                return connection.respond(HTTPStatus.FORBIDDEN, f"{refusal}\n")
            if self.token:  # the page itself; all of it is one file
                request = replace(request, path="/")
            response = answer(connection, request)
            if response is not None:
                for name, value in self._headers(request.headers["Host"]).items():
                    response.headers[name] = value
            return response

        return process

    def _refusal(self, request: Request) -> str | None:
        """Why a request is not answered; None if it is."""
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if len(hosts) != 1 or not self._is_ours(_name(f"//{hosts[0]}")):
            return (
                "This page is not served under this name. If it should be, name it: kt.view(…, allow_hosts=[…]) or "
                "kinetree view --allow-host."
            )
        if request.headers.get("Upgrade") is not None or origins:
            of = origins[0].lower() if len(origins) == 1 else ""
            if (
                of not in (f"http://{hosts[0].lower()}", f"https://{hosts[0].lower()}")
                and _name(of) not in self._allowed
            ):
                return "Only the page itself may speak to this server."
            if not all(
                re.fullmatch(r"viser-v[\w.+-]{1,40}", x) for x in request.headers.get_all("Sec-WebSocket-Protocol")
            ):
                return "This is not a protocol of this server."
        path = request.path.partition("?")[0].strip("/")
        if self.token and not hmac.compare_digest(path.encode(), self.token.encode()):
            return "The address lacks the secret part that the viewer printed, or has another one."
        return None

    def _is_ours(self, name: str | None) -> bool:
        if name is None or name in self._names:
            return name is not None
        try:  # a number is not a name that could be resolved to something else
            return ip_address(name).is_loopback or not self._is_local
        except ValueError:
            return False

    def _headers(self, host: str) -> dict[str, str]:
        """Headers that keep the page from speaking to others, from others' scripts, and out of others' frames."""
        own = " ".join(f"{scheme}://{host}" for scheme in ("http", "https", "ws", "wss"))
        framing = [
            f"http{s}://{name}:*" for name in ("localhost", "127.0.0.1", *sorted(self._allowed)) for s in ("", "s")
        ]
        policy = {
            "default-src": "'none'",
            # The viewer's script makes others out of texts; plots of a user's own are such a text from this server.
            "script-src": f"{_scripts()} 'strict-dynamic' 'unsafe-eval'",
            "worker-src": "blob: data:",
            "style-src": "'unsafe-inline'",
            "img-src": "data: blob:",
            "media-src": "data: blob:",
            "font-src": "data:",
            "connect-src": f"{own} data: blob:",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": " ".join(["'self'", "vscode-webview:", *framing]),
        }
        return {
            "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }

    def _hearing(self, kind: type[ServerConnection]) -> type[ServerConnection]:
        """Connections that pass on only sound messages."""
        gate = self

        class Hearing(kind):  # type: ignore[valid-type,misc]
            async def recv(self, *args: Any, **options: Any) -> Any:
                while not gate.passes(message := await super().recv(*args, **options)):
                    pass
                return message

        return Hearing

    def passes(self, said: Any) -> bool:
        """Whether a message from a browser is passed on: one that a page sends, with finite numbers, that its control
        can have.
        """
        import msgspec

        try:
            content = msgspec.msgpack.decode(said)
            kind, known = _kinds()[content.pop("type")]
            if not content.keys() <= known or not _is_finite(content):
                return False
            message: Any = msgspec.convert(content, kind)
        except (msgspec.MsgspecError, AttributeError, KeyError, TypeError, ValueError, RecursionError):
            return False
        return type(message).__name__ != "GuiUpdateMessage" or self._can_have(message.uuid, message.updates)

    def _can_have(self, control: str, changes: dict[str, Any]) -> bool:
        """Whether a browser may change a control like this: its value alone, to one that it can have."""
        if self._server is None or changes.keys() != {"value"}:
            return False
        handle: Any = self._server.gui._gui_input_handle_from_uuid.get(control)
        return handle is None or _suits(handle, handle.value, changes["value"])


def _suits(handle: Any, now: object, value: Any) -> bool:
    if (options := getattr(handle, "options", None)) is not None:
        return value in options
    if isinstance(now, bool):
        return isinstance(value, bool)
    if isinstance(now, int | float):
        low, high, step = (getattr(handle, name, None) for name in ("min", "max", "step"))
        over = (step or 0.0) if isinstance(now, float) else 0  # the page rounds to steps
        return (
            isinstance(value, int | float) and not isinstance(value, bool)
            and (low is None or value >= low - over) and (high is None or value <= high + over)
        )  # fmt: skip
    if isinstance(now, str):
        return isinstance(value, str) and len(value) <= _MOST_TEXT
    if isinstance(now, tuple):
        return isinstance(value, list) and len(value) == len(now) and all(
            isinstance(x, int | float) and not isinstance(x, bool) for x in value
        )  # fmt: skip
    return False


def _is_finite(content: object) -> bool:
    """Whether all numbers in a message are."""
    if isinstance(content, dict):
        return all(map(_is_finite, content.values()))
    if isinstance(content, list):
        return all(map(_is_finite, content))
    return not isinstance(content, float) or math.isfinite(content)


def _name(address: str) -> str | None:
    """The name or number of the machine in an address; None if it has none."""
    try:
        parts = urlsplit(address)
        _ = parts.port
        return parts.hostname.rstrip(".") if parts.hostname and re.fullmatch(r"[\w.:\[\]-]+", parts.netloc) else None
    except ValueError:
        return None


@cache
def _kinds() -> dict[str, tuple[type[Any], frozenset[str]]]:
    """The class of each kind of message that is passed on, and its fields."""
    from viser import _messages

    kinds = {name: getattr(_messages, name) for name in _HEARD if hasattr(_messages, name)}
    return {name: (kind, frozenset(one.name for one in fields(kind))) for name, kind in kinds.items()}


@cache
def _scripts() -> str:
    """The hashes of the scripts of viser's page, the only ones that run there."""
    from importlib.resources import files

    page = _Scripts()
    page.feed((files("viser") / "client" / "build" / "index.html").read_text(encoding="utf-8"))
    return " ".join(
        f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in page.texts if text
    )


class _Scripts(HTMLParser):
    """The texts of a page's scripts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.texts: list[str] = []
        self._is_in = False

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self._is_in = tag == "script"
        if self._is_in:
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self._is_in:
            self.texts[-1] += data

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._is_in = False


@cache
def _quiet_logger() -> logging.Logger:
    """A logger of connections, without those of strangers and of browsers that try one in advance."""
    logger = logging.getLogger("kinetree.viewer")
    logger.addFilter(
        lambda record: not record.getMessage().startswith(("opening handshake failed", "connection rejected"))
    )
    return logger

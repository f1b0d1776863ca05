"""The server of `kinetree demo`, for this machine alone: the page, rows of physics to it, and keys from it.

The page and its data are files, so that the recorded motion is there without any computing.
"""

from __future__ import annotations

import json
import math
import socketserver
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kinetree.learning import Environment, Policy

__all__ = ["ALONE", "FILES", "Server", "page", "walk", "walker"]

FILES = Path(__file__).parent / "demo_files"
"""The page; and the recorded motion and the policy, which docs/pictures/demo.py makes."""
ALONE = 0.6, 0.0, 0.3
"""The commanded velocity while nobody steers, forward, to the left, m/s, and turning, rad/s: a circle on the hills."""
_PUSH = 1.0
"""Speed to the left that a push gives, m/s."""
_MOST = 8
"""How many pages may watch at once."""


def page() -> bytes:
    """The page with the recorded motion, which needs no server."""
    return (FILES / "page.html").read_bytes().replace(b"SCENE", (FILES / "scene.json").read_bytes(), 1)


def walker() -> tuple[Environment, Policy, NDArray[Any]]:
    """The task that is shown, without noise and pushes, the policy that has learned it, and its weights."""
    import numpy as np

    from kinetree.learning import mlp, task

    env = task("quadruped_rough", redraw=math.inf, randomize={}, noise={}, push=None, max_steps=None)
    policy = mlp((env.observation_size, 128, 128, env.action_size), "elu", normalize=True)
    return env, policy, np.load(FILES / "policy.npy").astype(np.float64)


def walk(server: Server) -> None:
    """Compute the motion at the speed of the clock while somebody watches, until Ctrl-C."""
    server.wait_for_somebody()
    env, policy, weights = walker()
    worlds, due = env.reset(seed=0), time.monotonic()
    while True:
        server.wait_for_somebody()
        state = env.parts_of_state(worlds.state)
        state["command"][:] = server.wanted
        state["v"][1] += server.taken_push()
        worlds = env.step(worlds.state, policy(weights, worlds.observation))
        server.publish(state["q"].tolist())
        due = max(due + env.dt, time.monotonic() - env.dt)
        time.sleep(max(due - time.monotonic(), 0.0))


class Server(socketserver.ThreadingTCPServer):
    """Serves the page, and is between it and the physics."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.hosts = frozenset(f"{name}:{self.server_address[1]}" for name in ("127.0.0.1", "localhost"))
        self.watching = 0
        """How many pages get the rows."""
        self.wanted: tuple[float, float, float] = ALONE
        """The commanded velocity: forward, to the left, turning."""
        self.is_pushed = False
        self.came = threading.Condition()
        self.count, self.row = 0, b""

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def wait_for_somebody(self) -> None:
        """Wait until a page is open."""
        while not self.watching:
            time.sleep(0.02)

    def publish(self, q: list[float]) -> None:
        """Pass a row on to all pages."""
        with self.came:
            self.row = json.dumps([round(x, 4) for x in q]).encode()
            self.count += 1
            self.came.notify_all()

    def taken_push(self) -> float:
        """The speed that the robot gets, m/s; a push is one time only."""
        pushed, self.is_pushed = self.is_pushed, False
        return _PUSH * pushed

    def handle_error(self, *_: Any) -> None:
        """A browser that leaves early is no fault."""


class _Answer(BaseHTTPRequestHandler):
    """Answers pages of this server; those from elsewhere, which a browser also lets ask, get nothing."""

    server: Server
    timeout = 20.0

    def parse_request(self) -> bool:
        """Read a request, and reject it unless it is one of a page of this server."""
        if not super().parse_request():
            return False
        own = self.headers.get("Host", "")
        if own in self.server.hosts and self.headers.get("Origin", f"http://{own}") == f"http://{own}":
            return True
        self.send_error(403)
        return False

    def do_GET(self) -> None:
        """The page, or the rows that come."""
        path = self.path.partition("?")[0]
        if path == "/":
            self._send("text/html; charset=utf-8", page())
        elif path == "/live":
            self._stream()
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        """What the robot is to do: {"wanted": [forward, turning] or null, "pushes": true or false}."""
        size = self.headers.get("Content-Length", "")
        if self.path != "/command" or not size.isdecimal() or int(size) > 200:
            self.send_error(404)
            return
        with suppress(ValueError, TypeError, KeyError):
            given = json.loads(self.rfile.read(int(size)))
            forward, turning = map(float, given["wanted"] or (ALONE[0], ALONE[2]))
            if abs(forward) <= 1.0 and abs(turning) <= 1.0:
                self.server.wanted = forward, 0.0, turning
                self.server.is_pushed |= given["pushes"] is True
        self._send("text/plain", b"")

    def _send(self, kind: str, body: bytes | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        if body is not None:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body or b"")

    def _stream(self) -> None:
        server, seen = self.server, 0
        with server.came:
            if server.watching == _MOST:
                self.send_error(503)
                return
            server.watching += 1
        try:
            self._send("text/event-stream", None)
            while True:
                with server.came:
                    server.came.wait_for(lambda: server.count != seen, 5.0)  # noqa: B023
                    row, is_new, seen = server.row, server.count != seen, server.count
                self.wfile.write(b"data: " + row + b"\n\n" if is_new else b": nothing new\n\n")
        finally:
            with server.came:
                server.watching -= 1

    def log_message(self, *_: Any) -> None:
        """Nothing: the terminal is the command's."""

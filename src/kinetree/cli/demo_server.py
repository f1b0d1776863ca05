"""The server of `kinetree demo`, for this machine alone: the page, rows of physics to it, and keys from it."""

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
    """Compute the motion at the speed of the clock while a page is open, until Ctrl-C."""
    server.wait_for_somebody()
    env, policy, weights = walker()
    worlds, due = env.reset(seed=0), 0.0
    while True:
        server.wait_for_somebody()
        state = env.parts_of_state(worlds.state)
        state["command"][:] = server.wanted
        state["v"][1] += _PUSH * server.pushes
        server.pushes = 0
        worlds = env.step(worlds.state, policy(weights, worlds.observation))
        server.publish(state["q"].tolist())
        due = max(due + env.dt, time.monotonic())
        time.sleep(max(due - time.monotonic(), 0.0))


class Server(socketserver.ThreadingTCPServer):
    """Serves the page, and is between it and the physics."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.url: str = f"http://127.0.0.1:{self.server_address[1]}"
        self.wanted: tuple[float, float, float] = ALONE
        self.pushes = self.watching = self.count = 0  # pages that are open, rows that came
        self.row, self.came = b"", threading.Condition()

    def publish(self, q: list[float]) -> None:
        """Pass a row on to all pages."""
        with self.came:
            self.count, self.row = self.count + 1, json.dumps([round(x, 4) for x in q]).encode()
            self.came.notify_all()

    def wait_for_somebody(self) -> None:
        """Wait until a page is open."""
        while not self.watching:
            time.sleep(0.02)

    def handle_error(self, *_: Any) -> None:
        """Ignore browsers that leave early."""


class _Answer(BaseHTTPRequestHandler):
    """Answers the page of this server; others, which a browser also lets ask, get nothing."""

    server: Server
    timeout = 20.0

    def parse_request(self) -> bool:
        """Read a request, and reject it unless it is one of this page."""
        if not super().parse_request():
            return False
        host, port = self.headers.get("Host", ""), self.server.server_address[1]
        is_own = host in (f"127.0.0.1:{port}", f"localhost:{port}")
        if not is_own or self.headers.get("Origin", f"http://{host}") != f"http://{host}":
            self.send_error(403)
            return False
        return True

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
        """Take an order: {"wanted": [forward, turning] or null, "pushes": true or false}."""
        size = self.headers.get("Content-Length", "")
        if self.path != "/command" or not size.isdecimal() or int(size) > 200:
            self.send_error(404)
            return
        with suppress(ValueError, TypeError, KeyError):
            given = json.loads(self.rfile.read(int(size)))
            forward, turning = map(float, given["wanted"] or (ALONE[0], ALONE[2]))
            if abs(forward) <= 1.0 and abs(turning) <= 1.0:
                self.server.wanted = forward, 0.0, turning
                self.server.pushes += given["pushes"] is True
        self._send("text/plain", b"")

    def _stream(self) -> None:
        server, seen = self.server, self.server.count
        try:
            with server.came:
                server.watching += 1
            self._send("text/event-stream", b"")
            while True:
                with server.came:
                    is_new = server.came.wait_for(lambda: server.count != seen, 5.0)  # noqa: B023
                    row, seen = server.row, server.count
                self.wfile.write(b"data: %b\n\n" % row if is_new else b": nothing new\n\n")
        finally:
            with server.came:
                server.watching -= 1

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.end_headers()  # without a length: the end of the connection is that of the body
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing: the terminal is the command's."""

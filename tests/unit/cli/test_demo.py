"""`kinetree demo`: its files, the policy in them, and its server."""

from __future__ import annotations

import base64
import json
import os
import runpy
import signal
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kinetree.cli.demo_server import ALONE, FILES, Server, page, walker

from .conftest import Command

SCENE = json.loads((FILES / "scene.json").read_text())
ROWS = np.frombuffer(base64.b64decode(SCENE["rows"]), "<i2").reshape(-1, 19) / SCENE["scale"]


shown = cache(walker)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def _code(url: str, body: str | None = None, **headers: str) -> int:
    request = urllib.request.Request(url, None if body is None else body.encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def test_the_files_are_those_of_the_task() -> None:
    env, _, _ = shown()
    made = runpy.run_path(str(Path(__file__).parents[3] / "docs/pictures/demo.py"))["scene"](env.robot, ROWS, env.dt)
    assert {**made, "meshes": 0} == {**SCENE, "meshes": 0}
    for new, old in zip(made["meshes"], SCENE["meshes"], strict=True):
        for dtype, *both in zip(("<i2", "i1", "<u2"), new, old, strict=True):
            x, y = (np.frombuffer(base64.b64decode(text), dtype).astype(int) for text in both)
            np.testing.assert_allclose(x, y, atol=1)  # the last digit, on another processor
    assert len(page()) < 150_000
    assert (FILES / "policy.npy").stat().st_size < 100_000


def test_the_policy_walks_as_it_is_told() -> None:
    env, policy, weights = shown()
    for command in (ALONE, (1.0, 0.0, 0.0), (-0.6, 0.0, 0.0), (0.0, 0.0, 0.8), (0.6, 0.0, -0.8)):
        worlds, velocities = env.reset(seed=0), []
        for k in range(200):
            state = env.parts_of_state(worlds.state)
            state["command"][:] = command
            if command == ALONE and k < 20:
                np.testing.assert_allclose(state["q"], ROWS[k], atol=0.01)  # the recorded motion is its
            if k == 100:
                state["v"][1] += 0.5  # a push
            velocities.append(state["v"][[0, 1, 5]])
            worlds = env.step(worlds.state, policy(weights, worlds.observation))
            assert not worlds.terminated
        np.testing.assert_allclose(np.mean(velocities[50:100], axis=0), command, atol=0.25)


def test_the_recorded_motion_goes_far_and_upright() -> None:
    assert len(ROWS) * SCENE["dt"] >= 10.0
    assert np.sum(np.linalg.norm(np.diff(ROWS[:, :2], axis=0), axis=1)) > 5.0
    x, y = ROWS[:, 3], ROWS[:, 4]
    assert np.min(1.0 - 2.0 * (x * x + y * y)) > 0.8


def test_the_page_in_a_file(kinetree: Command) -> None:
    assert kinetree("demo", "--html", "walk.html").out == "wrote walk.html\n"
    assert Path("walk.html").read_bytes() == page()
    assert kinetree("demo", "--html", "nowhere/walk.html").code == 1


def test_it_says_the_address_and_runs_until_it_is_interrupted(
    kinetree: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[bytes] = []

    def walk(server: Server) -> None:
        opened.append(urllib.request.urlopen(server.url, timeout=10).read())
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(5)

    monkeypatch.setattr("kinetree.cli.demo_server.walk", walk)
    result = kinetree("demo", "--no-browser")
    assert opened == [page()]
    assert result.code == 130
    assert result.out.startswith("showing a robot that walks on hills at http://127.0.0.1:")
    assert "kinetree simulate" in result.out
    assert result.err == "interrupted; the page is closed\n"


def test_commands_of_the_page(server: Server) -> None:
    url = f"{server.url}/command"
    assert _code(url, '{"wanted": [0.5, -0.8], "pushes": true}') == 200
    assert server.wanted == (0.5, 0.0, -0.8)
    assert server.pushes == 1
    for wrong in ("", "[]", "{}", '{"wanted": [0.5], "pushes": false}', '{"wanted": [NaN, 0], "pushes": true}',
        '{"wanted": [9, 0], "pushes": true}', '{"wanted": "ab", "pushes": true}'):  # fmt: skip
        assert _code(url, wrong) == 200
    assert _code(url, " " * 201) == 404
    assert server.wanted == (0.5, 0.0, -0.8)
    assert server.pushes == 1
    assert _code(url, '{"wanted": null, "pushes": false}') == 200
    assert server.wanted == ALONE


def test_pages_from_elsewhere_get_nothing(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    order = '{"wanted": [0.5, 0.0], "pushes": true}'
    assert _code(f"{server.url}/command", order, Origin="http://elsewhere.test") == 403
    assert _code(f"{server.url}/command", order, Origin="null") == 403
    assert _code(f"{server.url}/live", Host="elsewhere.test") == 403
    assert _code(server.url, Host=f"elsewhere.test:{server.server_address[1]}") == 403
    assert _code(f"{server.url}/../page.html") == 404
    assert server.wanted == ALONE


def test_rows_go_to_all_pages(server: Server) -> None:
    pages = [urllib.request.urlopen(f"{server.url}/live", timeout=10) for _ in range(8)]
    while server.watching < 8:
        pass
    server.publish([0.5, 1.0])
    assert {each.readline() for each in pages} == {b"data: [0.5, 1.0]\n"}
    for each in pages:
        each.close()
    while server.watching:  # the server notices when it writes
        server.publish([0.0])

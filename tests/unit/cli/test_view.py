"""`kinetree view`."""

from __future__ import annotations

import os
import signal
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import kinetree as kt

from .conftest import Command


def _swing(name: str = "swing") -> Path:
    return kt.simulate(kt.zoo.load("double_pendulum"), q=[1.0, 0.5], duration=0.1).save(name)


def test_it_says_the_address_and_runs_until_it_is_interrupted(
    kinetree: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def wait(viewer: object) -> None:
        seen.append(urllib.request.urlopen(viewer.url, timeout=10).read(15).decode())  # type: ignore[attr-defined]
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(5)

    monkeypatch.setattr("kinetree.viewer.Viewer.wait", wait)
    result = kinetree("view", "arm6", "--port", "0", "--no-browser", "--show", "frames", "--q", "base_yaw=0.3")
    assert seen == ["<!doctype html>"]
    assert result.code == 130
    assert result.out.startswith("showing 'arm6' at http://127.0.0.1:")
    assert result.err == "interrupted; the page is closed\n"


def test_names_under_which_the_page_may_be_opened(kinetree: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []

    def ask(viewer: object) -> None:
        for name in ("lab.example.org", "elsewhere.test"):
            request = urllib.request.Request(viewer.url, headers={"Host": name})  # type: ignore[attr-defined]
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    codes.append(answer.status)
            except urllib.error.HTTPError as error:
                codes.append(error.code)
                error.close()

    monkeypatch.setattr("kinetree.viewer.Viewer.wait", ask)
    assert kinetree("view", "arm6", "--port", "0", "--no-browser", "--allow-host", "lab.example.org").code == 0
    assert codes == [200, 403]


def test_a_browser_that_cannot_be_opened(kinetree: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinetree.viewer.Viewer.wait", lambda _: None)
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    result = kinetree("view", "arm6", "--port", "0", "--browser")
    assert result.code == 0
    assert "note: no browser could be opened; open http://127.0.0.1:" in result.err


def test_pages_in_files(kinetree: Command) -> None:
    _swing("one"), _swing("two")
    assert kinetree("view", "arm6", "--html", "arm.html").out == "wrote arm.html\n"
    assert kinetree("view", "one.npz", "two.npz", "--html", "both.html").code == 0
    kt.simulate(kt.zoo.load("double_pendulum"), duration=0.1, record=kt.sim.Recording(stream="run"))
    assert kinetree("view", "run", "--html", "run.html").code == 0
    assert all(Path(name).stat().st_size > 500_000 for name in ("arm.html", "both.html", "run.html"))


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["arm6", "swing.npz"], 2, "arm6 is a robot, which is shown alone"),
        (["swing.npz", "--q", "0.1,0.2"], 2, "--q is for robots at rest"),
        (["swing.npz", "--robot", "arm6"], 2, "is not that of the motion"),
        (["arm6", "--host", "203.0.113.7"], 2, "'203.0.113.7' is not an address of this machine"),
        (["arm6", "--show", "frame"], 2, "not 'frame'"),
        (["none.npz"], 1, "none.npz"),
        (["arm6", "--html", "missing/arm.html"], 1, "missing"),
    ],
)
def test_what_cannot_be_shown(kinetree: Command, arguments: list[str], code: int, sentence: str) -> None:
    _swing()
    result = kinetree("view", *arguments)
    assert result.code == code
    assert sentence in " ".join(result.err.replace("│", " ").split())

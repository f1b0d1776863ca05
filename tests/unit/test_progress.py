"""The progress bar: only for long work, only where somebody is looking."""

from __future__ import annotations

import io
import sys

import pytest

from kinetree import progress


class _Screen(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return super().isatty() or self._terminal  # an error if it is closed


def drawn(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, patience: float, quiet: bool = False) -> str | None:
    """What a work of a thousand steps draws; None if it was given nothing to call."""
    screen = _Screen(terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "_PATIENCE", patience)
    monkeypatch.setattr(progress, "_BETWEEN", 0.0)
    with progress.progress_bar("working", quiet=quiet) as report:
        if report is None:
            return None
        for done in range(1001):
            report(done, 1000)
    return screen.getvalue()


def test_long_work_on_a_terminal_draws_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    text = drawn(monkeypatch, terminal=True, patience=-1.0)
    assert text is not None
    assert "\rworking [########        ]  50%, 0 s left" in text
    assert "100%" in text
    assert text.split("\r")[-2:] == [" " * len("working [################] 100%, 0 s left"), ""]


def test_a_line_is_as_wide_as_the_terminal_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _Screen(True)
    monkeypatch.setattr(sys, "stderr", screen)
    line = progress.live_line()
    assert line is not None
    line.show("long " * 100 + "\x1b[2J")
    line.show("short\x1b[2J")
    first, second = screen.getvalue().split("\r")[1:]
    assert len(first) == 79  # of 80, where the width is not known
    assert second.rstrip() == "short\\x1b[2J"
    assert len(second) == 79


def test_short_work_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, terminal=True, patience=1e9) == ""


@pytest.mark.parametrize(("terminal", "quiet"), [(False, False), (True, True)])
def test_nobody_is_looking(monkeypatch: pytest.MonkeyPatch, terminal: bool, quiet: bool) -> None:
    assert drawn(monkeypatch, terminal=terminal, patience=-1.0, quiet=quiet) is None


@pytest.mark.parametrize("stream", ["closed", "missing"])
def test_standard_error_may_be_closed(monkeypatch: pytest.MonkeyPatch, stream: str) -> None:
    screen = _Screen(True)
    screen.close()
    monkeypatch.setattr(sys, "stderr", screen if stream == "closed" else None)
    assert progress.live_line() is None

"""The progress bar: only for long work, only where somebody is looking."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

import kinetree.cli.progress as progress


def drawn(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, patience: float, quiet: bool = False) -> str | None:
    """What a work of a thousand steps draws; None if it was given nothing to call."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=80)
    monkeypatch.setattr(progress, "error_console", lambda: console)
    monkeypatch.setattr(progress, "_PATIENCE", patience)
    with progress.progress_bar("working", quiet=quiet) as tell:
        if tell is None:
            return None
        for done in range(1, 1001):
            tell(done, 1000)
    return file.getvalue()


def test_long_work_on_a_terminal_draws_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    text = drawn(monkeypatch, terminal=True, patience=-1.0)
    assert text is not None
    assert "working" in text
    assert "100%" in text


def test_short_work_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, terminal=True, patience=1e9) == ""


@pytest.mark.parametrize(("terminal", "quiet"), [(False, False), (True, True)])
def test_nobody_is_looking(monkeypatch: pytest.MonkeyPatch, terminal: bool, quiet: bool) -> None:
    assert drawn(monkeypatch, terminal=terminal, patience=-1.0, quiet=quiet) is None

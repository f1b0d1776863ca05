"""Running the command line in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from kinetree.cli import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


Command = Callable[..., Result]


@pytest.fixture
def drawn() -> None:
    """For tests of what plots show; for the others a figure is made, but its file holds no picture of it."""


@pytest.fixture
def kinetree(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> Command:
    """A function that runs the command with arguments, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda _, file, **__: file.write(b"a picture"))
    monkeypatch.setattr("kinetree.cli.motion_files.STRIP_SIZE", (160, 40))  # it is drawn sooner

    def run(*arguments: str) -> Result:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        captured = capsys.readouterr()
        assert isinstance(stopped.value.code, int)
        return Result(stopped.value.code, captured.out, captured.err)

    return run


def without_announcements(err: str) -> str:
    """What was written to standard error, without what is said of compilations, which take long on a busy machine."""
    return "".join(line for line in err.splitlines(keepends=True) if not line.startswith("compiling "))

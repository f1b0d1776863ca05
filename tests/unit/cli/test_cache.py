"""`kinetree cache`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kinetree.codegen.kept.cache import Cache

from .conftest import Command

KEY = bytes(32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


def rows(text: str) -> dict[str, str]:
    return {line.split()[0]: line.split(maxsplit=1)[1] for line in text.splitlines()}


def test_it_says_where_it_is_and_how_much_there_is(kinetree: Command, folder: Path) -> None:
    Cache(folder).write(KEY, bytes(1_234_000))
    result = kinetree("cache", "info")
    assert (result.code, result.err) == (0, "")
    assert rows(result.out) == {
        "folder": str(folder),
        "cache": "on",
        "entries": "1",
        "size": "1.23 MB of at most 512 MB",
    }


def test_looking_makes_nothing(kinetree: Command, folder: Path) -> None:
    assert rows(kinetree("cache", "info").out)["entries"] == "0"
    assert not folder.exists()


def test_it_says_why_it_is_off(kinetree: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write_text("a file")
    assert rows(kinetree("cache", "info").out)["cache"].startswith(f"off: {folder} is not a folder")
    monkeypatch.setenv("KINETREE_CACHE", "no")
    assert rows(kinetree("cache", "info").out)["cache"] == "off: KINETREE_CACHE is 'no'"
    monkeypatch.setenv("KINETREE_CACHE", "sometimes")
    assert rows(kinetree("cache", "info").out)["warning"].startswith("KINETREE_CACHE must be 'on' or 'off'")


def test_it_says_that_there_is_no_home(kinetree: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KINETREE_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    result = kinetree("cache", "info")
    assert result.code == 0
    assert rows(result.out)["folder"] == "none"
    result = kinetree("cache", "clear")
    assert result.code == 1
    assert result.err == (
        "error: there is no folder to clear: there is no home folder; set KINETREE_CACHE_DIR to a folder\n"
    )


def test_clearing_says_how_much_went_and_leaves_what_is_not_ours(kinetree: Command, folder: Path) -> None:
    Cache(folder).write(KEY, bytes(2_000_000))
    Cache(folder).write(bytes([1] * 32), bytes(10))
    (folder / "notes.txt").write_text("mine")
    result = kinetree("cache", "clear")
    assert (result.code, result.out, result.err) == (0, f"removed 2 entries, 2.00 MB, from {folder}\n", "")
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    assert kinetree("cache", "clear").out == f"removed 0 entries, 0 MB, from {folder}\n"


def test_what_is_off_can_be_cleared(kinetree: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Cache(folder).write(KEY, b"code")
    monkeypatch.setenv("KINETREE_CACHE", "off")
    assert kinetree("cache", "clear").out.startswith("removed 1 entry,")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights of access")
def test_a_folder_that_is_not_to_be_trusted_is_left_alone(kinetree: Command, folder: Path) -> None:
    Cache(folder).write(KEY, b"code")
    folder.chmod(0o777)
    result = kinetree("cache", "clear")
    assert result.code == 1
    assert result.err.startswith(f"error: nothing was removed: others may write to {folder}")
    assert len(list(folder.iterdir())) == 1


def test_it_needs_an_action(kinetree: Command) -> None:
    result = kinetree("cache")
    assert result.code == 2
    assert "clear" in result.out + result.err
    assert kinetree("cache", "clean").code == 2

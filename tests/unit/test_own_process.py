"""Functions in a process of their own, with bounded time and memory."""

from __future__ import annotations

import json
import os
import pickle
import sys
from pathlib import Path

import pytest

import kinetree as kt
from kinetree.own_process import OwnProcessError, _returned, called_apart

HERE = __name__


def returns(x: list[int]) -> tuple[list[int], bytes]:
    print("this is not an answer")
    return x[::-1], b"\0\n\xff"


def refuses() -> None:
    raise kt.errors.LogError("this is no log")


def fails() -> None:
    raise KeyError("topics")


def recurses() -> None:
    recurses()


def fills() -> int:
    return len(bytearray(2**31))


def hangs() -> None:
    while True:
        pass


def writes(answer: str) -> None:
    """As code in a file can: write an answer of its own, and end the process."""
    os.write(1, answer.encode("latin-1"))
    os._exit(0)


def dies() -> None:
    os.abort()


def called(name: str, *arguments: object, seconds: float = 30.0) -> object:
    return called_apart(f"{HERE}:{name}", *arguments, seconds=seconds, memory=2**28, most=1000)


def test_it_returns_what_the_function_returns() -> None:
    assert called("returns", [1, 2, 3]) == ([3, 2, 1], b"\0\n\xff")


def test_its_errors_are_those_of_the_function() -> None:
    with pytest.raises(kt.errors.LogError, match="this is no log"):
        called("refuses")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("fails", "KeyError: 'topics'"),
        ("recurses", "nested too deeply"),
        ("dies", "its process ended with code (-6|3)$"),  # the latter on Windows
        pytest.param("fills", "it takes more than 256 MiB of memory", marks=pytest.mark.skipif(
            sys.platform != "linux", reason="limits of memory are those of Linux")),
    ],
)  # fmt: skip
def test_other_errors_are_reported_in_a_sentence(name: str, sentence: str) -> None:
    with pytest.raises(OwnProcessError, match=sentence):
        called(name)


def test_a_function_without_end_is_ended() -> None:
    with pytest.raises(OwnProcessError, match="it takes more than 1 s"):
        called("hangs", seconds=1.0)


class Touches:
    """Its pickle makes a file when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize(
    "answer",
    [b"", b"\n", b"null\n", b"1\n", b"[]\n", b"[null]\n", b'{"a": 1}\n', b"[" * 100_000, b"1" * 10_000, b"\xff\xfe",
     b'["KinetreeError", 1, 2]'],
)  # fmt: skip
def test_answers_in_another_form_are_errors(answer: bytes) -> None:
    with pytest.raises(OwnProcessError, match="an answer that cannot be read"):
        _returned(answer)


@pytest.mark.parametrize("name", ["SystemExit", "Problem", "brief", "__name__", "KinetreeErrors", "", 0, [], {}])
def test_an_answer_raises_only_errors_of_kinetree(name: object) -> None:
    with pytest.raises(OwnProcessError, match="it failed"):
        _returned(json.dumps([name, "it failed"]).encode())


def test_an_answer_has_a_limited_size() -> None:
    with pytest.raises(OwnProcessError, match="it returns more than 1,000 bytes"):
        called("writes", "1" * 2**21)


def test_an_answer_runs_no_code(tmp_path: Path) -> None:
    pickled = pickle.dumps(Touches(tmp_path / "proof"), 0)
    with pytest.raises(OwnProcessError, match="an answer that cannot be read"):
        called("writes", pickled.decode("latin-1"))
    assert not (tmp_path / "proof").exists()
    pickle.loads(pickled)
    assert (tmp_path / "proof").exists()

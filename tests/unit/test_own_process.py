"""Functions in a process of their own, with bounded time and memory."""

from __future__ import annotations

import sys

import pytest

import kinetree as kt
from kinetree.own_process import OwnProcessError, called_apart

HERE = __name__


def returns(x: list[int]) -> list[int]:
    print("this is not an answer")
    return x[::-1]


def refuses() -> None:
    raise kt.LogError("this is no log")


def fails() -> None:
    raise KeyError("topics")


def recurses() -> None:
    recurses()


def fills() -> int:
    return len(bytearray(2**31))


def hangs() -> None:
    while True:
        pass


def dies() -> None:
    import os

    os.abort()


def called(name: str, *arguments: object, seconds: float = 30.0) -> object:
    return called_apart(f"{HERE}:{name}", *arguments, seconds=seconds, memory=2**28)


def test_it_returns_what_the_function_returns() -> None:
    assert called("returns", [1, 2, 3]) == [3, 2, 1]


def test_its_errors_are_those_of_the_function() -> None:
    with pytest.raises(kt.LogError, match="this is no log"):
        called("refuses")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("fails", "KeyError: 'topics'"),
        ("recurses", "nested too deeply"),
        ("dies", "its process ended with code -"),
        pytest.param("fills", "it takes more than 256 MiB of memory", marks=pytest.mark.skipif(
            sys.platform != "linux", reason="limits of memory are those of Linux")),
    ],
)  # fmt: skip
def test_other_errors_are_told_in_a_sentence(name: str, sentence: str) -> None:
    with pytest.raises(OwnProcessError, match=sentence):
        called(name)


def test_a_function_without_end_is_ended() -> None:
    with pytest.raises(OwnProcessError, match="it takes more than 1 s"):
        called("hangs", seconds=1.0)

"""Names of robots, frames and arguments become identifiers that C, C++ and file systems have no other use for."""

from __future__ import annotations

import re

import pytest

from kinetree.codegen.c.names import LONGEST, comment, identifier, is_reserved

TEXTS = [
    "",
    "7dof",
    "a b",
    "int",
    "sinf",
    "NULL",
    "aux",
    "COM1",
    "Łódź",
    "机器人",
    "w",
    "v7",
    "x" * 50,
    "__a__",
    "F",
    "*/",
]


@pytest.mark.parametrize("text", TEXTS)
def test_any_text_becomes_an_identifier(text: str) -> None:
    name = identifier(text)
    assert re.fullmatch(r"[A-Za-z][0-9A-Za-z_]*", name)
    assert not is_reserved(name)
    assert len(name) <= LONGEST
    assert identifier(name) in (name, name.rstrip("_"), f"{name}_")


def test_those_that_are_taken_get_numbers() -> None:
    taken: list[str] = []
    for text in ("a b", "a-b", "a.b", "x" * 31, "x" * 32, "x" * 33):
        taken.append(identifier(text, taken))
    assert taken[:3] == ["a_b", "a_b_2", "a_b_3"]
    assert len(set(taken)) == len(taken)
    assert max(map(len, taken)) == LONGEST


@pytest.mark.parametrize("text", ["*/ int x;", "/* again", "two\nlines", "what??/", "\u202e", "é", "\x00"])
def test_no_text_ends_a_comment(text: str) -> None:
    safe = comment(text)
    assert safe.isascii()
    assert safe.isprintable()
    assert not re.search(r"\*/|/\*|\?\?", safe)

"""What a program can check of CONTRIBUTING.md's section "Words", in comments, docstrings, pages and messages."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COUNTED = (
    "axis|bar|batch|bit|block|body|bound|box|branch|builder|byte|call|case|cell|class|coefficient|column|command|"
    "coordinate|core|coupling|degree|entry|factor|family|file|flag|folder|force|frame|function|group|index|input|joint|"
    "kernel|key|kind|lane|letter|line|list|loop|matrix|message|method|module|motion|name|note|number|object|operation|"
    "page|pair|parameter|part|pass|piece|place|point|port|process|quantity|record|result|robot|round|row|rule|sample|"
    "scalar|sentence|shape|slot|step|table|task|term|test|thread|tuple|value|variant|vector|warning|word"
)
NOT_ENGLISH = {
    rf"\b(?:a|an|one|two|three|six|ten) (?:{COUNTED})s? an? (?:{COUNTED}|degree of freedom|second)\b": (
        'use the distributive "per": one row per step'
    ),
    r"\b(?:stands?|stood|standing) (?:in|at|on|there|behind|before|after|together|once|twice|where|as|beside)\b": (
        'things are stored, or are at a place: "is stored in", "is at", "follows"'
    ),
    r"\b(?:what|whatever|which|that) (?:is|are) no(?:ne)? \w+": 'say "anything that is not X", "x is not X"',
    r"\b(?:shall|whom|wherein|thereof|therein|nought|hereby)\b": "use plain words",
}
OF_MESSAGES = {
    r"(?<!\bthere )\b(?:is|are|be) no (?!longer|more|less|such|fewer|matter|result)\w+": 'say "is not a X"',
    r"\bin parts of\b": 'say "relative to"',
    r"\bmust stand\b|\bknown are\b": 'say "expected", "available"',
}
"""What else no message may have; messages are the texts of several words in `src`."""
OF_PAGES = {
    r"\bbut for\b": 'say "except"',
    r"\b(?:and|or) (?:its|the|their) like\b": 'say "and similar functions"',
    r"\bin parts of\b": 'say "relative to"',
    r"\bone beside the other\b": 'say "side by side"',
    r"(?<!\bthere )\b(?:is|are|be) no (?!(?:long|few|fast|quick|slow|larg|small|short|bett|furth|farth|wid)\w*er\b|"
    r"more|less|such|matter|result|worse)\w+": 'say "is not a X"',
}
"""More that pages, docstrings and comments of `src` must not contain; history and benchmarks keep their words."""
OF_WHOLE_PAGES = {r"\bwhat(?:ever)?\b": 8.4, r"\b(?:told|tells?)\b": 0.3, r"\bbesides?\b": 1.0}
"""Words that may occur so often in 10,000: three times as often as in NumPy's documentation, or about never."""
EMPTY_SUBJECT = r"^(?:Of|That|Those|What|Whatever|Whom|Whose|In which|To which|By which|From which)\b"


@cache
def prose(path: Path) -> list[tuple[int, str]]:
    """(line, text) of all prose of a file, which is found once for all rules."""
    return list(found_prose(path))


def found_prose(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of each comment and docstring of a module, or of each paragraph of a page outside its code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        blanked = re.sub(r"^```.*?^```$", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.M | re.S)
        for number, line in enumerate(blanked.splitlines(), 1):
            yield number, re.sub(r"`[^`]*`", "``", line)
        return
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        starts = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#: ")
        elif token.type == tokenize.STRING and starts and token.string.startswith(('"""', 'r"""')):
            for k, line in enumerate(token.string.lstrip("r").strip('"').splitlines()):
                if not line.lstrip().startswith((">>>", "...")):
                    yield token.start[0] + k, line
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of each text of several words in a module that is not a docstring."""
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        starts = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        if token.type == tokenize.STRING and not starts and "\n" not in token.string and len(token.string.split()) > 2:
            yield token.start[0], token.string
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type


FILES = sorted(
    path
    for pattern in ("src/**/*.py", "benchmarks/*.py", "examples/*.py", "docs/**/*.md", "*.md")
    for path in ROOT.glob(pattern)
    if path.name != "CONTRIBUTING.md"
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/algorithms").glob("*.md"))]


@pytest.mark.parametrize(("pattern", "advice"), NOT_ENGLISH.items(), ids=range(len(NOT_ENGLISH)))
def test_prose_is_plain_english(pattern: str, advice: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in FILES
        for number, line in prose(path)
        if re.search(pattern, line, flags=re.IGNORECASE)
    ]
    assert found == [], f"{advice} (CONTRIBUTING.md)"


@pytest.mark.parametrize(("pattern", "advice"), OF_PAGES.items(), ids=range(len(OF_PAGES)))
def test_pages_and_docstrings_are_plain_english(pattern: str, advice: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in FILES
        if path.is_relative_to(ROOT / "src") or path in PAGES
        for number, line in prose(path)
        if re.search(pattern, line, flags=re.IGNORECASE)
    ]
    assert found == [], advice


@pytest.mark.parametrize(("pattern", "most"), OF_WHOLE_PAGES.items(), ids=range(len(OF_WHOLE_PAGES)))
def test_pages_name_their_subjects(pattern: str, most: float) -> None:
    """Prose of the pages outside of tables that programs write; questions count as well."""
    lines = [line for path in PAGES for _, line in prose(path) if not line.startswith("|")]
    words = sum(len(line.split()) for line in lines)
    count = sum(len(re.findall(pattern, line, flags=re.IGNORECASE)) for line in lines)
    assert count <= most * words / 1e4, "name the subject (CONTRIBUTING.md)"


def test_messages_are_plain_english() -> None:
    rules = {**OF_MESSAGES, **NOT_ENGLISH}
    found = [
        f"{path.relative_to(ROOT)}:{number}: {text.strip()} ({advice})"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for number, text in messages(path)
        for pattern, advice in rules.items()
        if re.search(pattern, text, flags=re.IGNORECASE)
    ]
    assert found == []


def test_a_docstring_has_a_subject() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{k}: {line.strip()}"
        for path in FILES
        if path.suffix == ".py"
        for k, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.match(EMPTY_SUBJECT, line.strip().removeprefix('"""')) and line.strip().startswith('"""')
    ]
    assert found == [], "begin with what the thing is or does (CONTRIBUTING.md)"


def test_the_rules_find_what_they_are_for() -> None:
    """The samples of CONTRIBUTING.md itself."""
    samples = ("a row a step", "it stands in slot 0", "what is no constraint has none", "the caller shall judge")
    more = (
        "all but for one",
        "sines and their like",
        "in parts of the weight",
        "one beside the other",
        "x is no number",
    )
    rules = {**NOT_ENGLISH, **OF_PAGES}
    for pattern, sample in zip(rules, (*samples, *more), strict=True):
        assert re.search(pattern, sample)
    assert not re.search([*OF_PAGES][-1], "there is no frame; it is no faster, is no longer here and is no such thing")

"""Malformed and hostile files of all formats: the expected message, in time, and nothing else is opened.

Those that are made to keep a reader busy are in test_hostile_files.py, one process each.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kinetree.problems import CODES
from tests.io.corpus import SECONDS, cases, write_cases

ROOT = Path(__file__).parents[2]
LENIENCE = 4.0


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, dict[str, Any]], float]:
    """What one process said to each case, and the gigabytes that it needed."""
    listed = write_cases(tmp_path_factory.mktemp("corpus"))
    command = [sys.executable, "-m", "tests.io.corpus", str(listed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-500:]
    *lines, gigabytes = done.stdout.splitlines()
    return {answer["name"]: answer for answer in map(json.loads, lines)}, float(gigabytes)


def test_there_are_many() -> None:
    assert len(cases()) >= 200


@pytest.mark.parametrize("name", cases())
def test_a_bad_file_is_refused_for_its_fault(name: str, answers: tuple[dict[str, dict[str, Any]], float]) -> None:
    answer = answers[0][name]
    assert answer["message"] in answer["said"]
    assert bool(answer["message"]) == bool(answer["said"]), answer["said"]
    assert answer["opened"] == []
    assert answer["seconds"] < LENIENCE * SECONDS
    # A check finds what loading is stopped by.
    assert answer["said"] == "" or answer["problems"]
    found = [problem[:-1] for problem in answer["found"]]  # without what a repair would do
    for problem in answer["problems"]:
        assert problem[:-1] in found
    assert bool(answer["found"]) == bool(answer["said"])


def test_most_faults_have_a_code_of_their_own(answers: tuple[dict[str, dict[str, Any]], float]) -> None:
    """What has none is a word that is none of those possible."""
    codes = [(name, problem[1]) for name, answer in answers[0].items() for problem in answer["problems"]]
    assert {code for _, code in codes} <= set(CODES)
    assert len({code for _, code in codes}) > 40
    for format in ("MJCF: ", "SDF: "):
        of_format = [code for name, code in codes if name.startswith(format)]
        assert sum(code in ("bad-value", "invalid") for code in of_format) < 0.1 * len(of_format)


def test_the_memory_is_bounded(answers: tuple[dict[str, dict[str, Any]], float]) -> None:
    assert answers[1] < 1.0

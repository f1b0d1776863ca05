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


def test_the_memory_is_bounded(answers: tuple[dict[str, dict[str, Any]], float]) -> None:
    assert answers[1] < 1.0

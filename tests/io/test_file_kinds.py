"""A pipe, a device, a link, a folder or a huge file in the place of any file is read or refused, at once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache

import pytest

if sys.platform != "linux":
    pytest.skip("limits of memory are those of Linux", allow_module_level=True)

from tests.io.file_kinds import KINDS, REPLACEMENTS

LONG = ("MSH", "PLY", "STL", "bag of ROS 1", "bag of ROS 2", "metadata.yaml")
"""Kinds whose readers look through much of a huge file, like that of OBJ, or begin a process for each, like MCAP's."""


@cache
def outcomes(part: str, *kinds: str) -> dict[tuple[str, str], str]:
    command = [sys.executable, "-m", "tests.io.file_kinds", part, *kinds]
    done = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {(kind, what): outcome for kind, what, outcome in map(json.loads, done.splitlines())}


def third() -> dict[tuple[str, str], str]:
    """Each kind in a third of the forms, and each form for a third of the kinds."""
    return outcomes("a third", *(kind for kind in KINDS if kind not in LONG))


def others() -> dict[tuple[str, str], str]:
    return {**outcomes("the others", *(kind for kind in KINDS if kind not in LONG)), **outcomes("all", *LONG)}


ANSWERS = pytest.mark.parametrize("answers", [third, pytest.param(others, marks=pytest.mark.deep)])


@ANSWERS
def test_whatever_is_in_the_place_of_a_file_is_read_or_refused(
    answers: Callable[[], dict[tuple[str, str], str]],
) -> None:
    assert {what: x for what, x in answers().items() if x not in ("read", "refused")} == {}
    assert {what for _, what in answers()} == {"itself", *REPLACEMENTS}
    assert {kind for kind, _ in answers()} >= {*KINDS} - {*LONG}


@ANSWERS
def test_what_is_read_is_what_it_should_be(answers: Callable[[], dict[tuple[str, str], str]]) -> None:
    """The kinds that are refused as they are have contents that only begin as they should."""
    begun = ("xacro", "COLLADA", "PLY", "height field as PNG")
    refused = {kind for (kind, what), outcome in answers().items() if what == "itself" and outcome == "refused"}
    assert refused <= set(begun)

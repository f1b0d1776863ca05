"""A pipe, a device, a link, a folder or a huge file in the place of any file is read or refused, at once."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

if sys.platform != "linux":
    pytest.skip("limits of memory are those of Linux", allow_module_level=True)

from tests.io.file_kinds import KINDS, REPLACEMENTS


@pytest.fixture(scope="module")
def outcomes() -> dict[tuple[str, str], str]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.io.file_kinds"], capture_output=True, text=True, check=True
    ).stdout
    return {(kind, what): outcome for kind, what, outcome in map(json.loads, done.splitlines())}


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_in_the_place_of_a_file_is_read_or_refused(kind: str, outcomes: dict[tuple[str, str], str]) -> None:
    found = {what: outcomes[kind, what] for what in ("itself", *REPLACEMENTS)}
    assert {what: x for what, x in found.items() if x not in ("read", "refused")} == {}


def test_what_is_read_is_what_it_should_be(outcomes: dict[tuple[str, str], str]) -> None:
    """The kinds that are refused as they are have contents that only begin as they should."""
    begun = ("xacro", "COLLADA", "PLY", "height field as PNG")
    assert [kind for kind in KINDS if outcomes[kind, "itself"] == "refused" and kind not in begun] == []

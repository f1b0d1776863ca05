"""The workflow for hosted runners does what README and the page about platforms say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
(JOB,) = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))["jobs"].values()
STEPS = {step.get("name"): step for step in JOB["steps"]}


def test_it_runs_the_command_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"pytest -q .*", readme)
    assert STEPS["Test"]["run"] == f"python -m {command}"


def test_it_runs_on_what_the_page_about_platforms_lists() -> None:
    page = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
    (system, *others) = re.findall(r"^\| (Linux|macOS|Windows).* \| (3\.\d+) to (3\.\d+) \|$", page, re.MULTILINE)
    assert {name for name, *_ in (system, *others)} == {"Linux", "macOS", "Windows"}
    first, last = (int(version.removeprefix("3.")) for version in system[1:])
    assert JOB["strategy"]["matrix"]["python"] == [f"3.{minor}" for minor in range(first, last + 1)]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">=3.{first}"


def test_it_may_read_and_nothing_else() -> None:
    assert JOB["permissions"] == {"contents": "read"}
    assert all(re.search(r"@(v\d+|[0-9a-f]{40})$", step["uses"]) for step in JOB["steps"] if "uses" in step)

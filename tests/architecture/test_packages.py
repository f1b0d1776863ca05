"""Releases: one version, addresses in one place, and refusals until a person has filled them in."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import kinetree as kt

ROOT = Path(__file__).parents[2]
FILES = ("pyproject.toml", "CHANGELOG.md", "CITATION.cff", "src/kinetree/__init__.py")
ADDRESSES = {"repository": "https://repository.invalid/kinetree", "site": "https://site.invalid"}


@pytest.fixture(scope="module")
def packages() -> ModuleType:
    specification = importlib.util.spec_from_file_location("packages", ROOT / ".ci/packages.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that a release changes."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    return tmp_path


def fill_in(folder: Path) -> None:
    text = (folder / "pyproject.toml").read_text()
    for name, address in ADDRESSES.items():
        text, count = re.subn(rf'^{name} = ".*?"', f'{name} = "{address}"', text, flags=re.M)
        assert count == 1
    (folder / "pyproject.toml").write_text(text)


def test_the_command_and_the_package_have_one_version(packages: ModuleType) -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "kinetree", "--version"], capture_output=True, text=True, check=True
    )
    assert printed.stdout == f"kinetree {kt.__version__}\n"
    assert packages.version_of(ROOT) == kt.__version__


def test_nothing_is_released_without_addresses(packages: ModuleType, copy: Path) -> None:
    text = re.sub(r'^(repository|site) = ".*?"', r'\1 = ""', (copy / "pyproject.toml").read_text(), flags=re.M)
    (copy / "pyproject.toml").write_text(text)
    with pytest.raises(SystemExit, match=r"pyproject.toml: fill in 'repository' of \[tool.hatch"):
        packages.prepare(copy, "0.2.0", "2026-12-01")
    problems = packages.problems_of_release(copy, "v0.2.0")
    assert problems[:2] == ["repository is not filled in", "site is not filled in"]
    assert problems[-1] == "run: python .ci/packages.py prepare 0.2.0"


def test_a_prepared_release_has_its_version_everywhere(packages: ModuleType, copy: Path) -> None:
    fill_in(copy)
    assert len(packages.problems_of_release(copy, "v7.1.0")) == 4
    for date in ("2026-11-30", "2026-12-01"):  # a second time changes nothing but the date of the citation
        packages.prepare(copy, "7.1.0", date)
    assert packages.problems_of_release(copy, "v7.1.0") == []
    assert packages.problems_of_release(copy, "v7.1.1")[0] == (
        "the tag is v7.1.1, and the version of src/kinetree/__init__.py is 7.1.0"
    )
    changes, citation = ((copy / name).read_text() for name in FILES[1:3])
    assert changes.count("## [7.1.0] - 2026-11-30\n") == 1
    assert citation.splitlines()[-4:] == [
        'version: "7.1.0"',
        'date-released: "2026-12-01"',
        'repository-code: "https://repository.invalid/kinetree"',
        'url: "https://site.invalid"',
    ]
    notes, unreleased = packages.notes(copy, "7.1.0"), packages.notes(ROOT, "7.1.0")
    assert notes.startswith("### ")
    assert "Becomes" not in notes
    assert "\n## " not in notes
    assert unreleased == ""
    with pytest.raises(SystemExit, match=r"'7\.1' is not a version"):
        packages.prepare(copy, "7.1", "2026-12-01")


def test_addresses_are_in_one_place() -> None:
    """No page, template or recipe has an address of the repository or of the site of its own."""
    written = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["metadata"]["hooks"]["custom"]
    hosts = [address.removeprefix("https://") for address in written.values() if address]
    made_from = {"pyproject.toml", "CITATION.cff"}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    for name in listed:
        path = ROOT / name
        if path.suffix in (".md", ".toml", ".yml", ".yaml", ".cff", ".py", ".json") and name not in made_from:
            text = path.read_text(encoding="utf-8")
            assert not [x for x in hosts if x in text], name
            assert not re.search(r"https?://[\w./-]*\bgithub\.(?:com|io)/(?:[\w-]+/)?kinetree\b", text), name


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 110

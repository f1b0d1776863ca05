"""Pictures of the pages: each is there, small, said in words and drawn by a script."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
SCRIPT = ROOT / "benchmarks" / "docs_pictures.py"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKS = [
    (page, alt, (page.parent / target).resolve())
    for page in PAGES
    for alt, target in re.findall(r"!\[([^\]]*)\]\((?!https?:)([^)]+)\)", page.read_text(encoding="utf-8"))
]
DRAWN = {
    name: kind for kind, name in re.findall(r"^@(still|film)\ndef (\w+)\(", SCRIPT.read_text(encoding="utf-8"), re.M)
}
MOST = {"still": 40_000, "film": 250_000}
MOST_TOGETHER = 5_000_000


def test_pictures_are_there_and_said_in_words() -> None:
    assert len(LINKS) > 60
    for page, alt, path in LINKS:
        assert path.is_file(), f"{page.name} shows {path.name}, which is not there"
        assert alt.strip(), f"{page.name} shows {path.name} without words"
        if path.stem in DRAWN:
            assert len(alt.split()) >= 4, f"{page.name}: {alt!r} does not say what {path.name} shows"


def test_each_picture_is_shown_and_drawn_by_the_script() -> None:
    shown = {path for _, _, path in LINKS}
    assert {path for path in FOLDER.glob("*.webp") if path not in shown} == set()
    assert {name for name in DRAWN if not (FOLDER / f"{name}.webp").is_file()} == set()


def test_pictures_are_small() -> None:
    """So that a checkout, with its history, stays small."""
    sizes = {path: path.stat().st_size for path in FOLDER.glob("*.webp")}
    assert {path.name: n for path, n in sizes.items() if n > MOST[DRAWN.get(path.stem, "film")]} == {}
    assert sum(sizes.values()) < MOST_TOGETHER


@pytest.mark.deep
def test_the_script_draws_a_picture_and_names_those_that_it_has(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)

    done = run("contact_cones", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert 1_000 < (tmp_path / "contact_cones.webp").stat().st_size < MOST["still"]
    wrong = run("contact_cone")
    assert wrong.returncode == 2
    assert "no picture is called contact_cone; there are " in wrong.stderr
    assert run("--list").stdout.split() == [name for name in DRAWN if not name.startswith("trained_")]

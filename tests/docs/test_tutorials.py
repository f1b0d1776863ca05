"""The tutorials run from their first block to their last, print what they show, and are notebooks."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import c_code

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("tutorials", ROOT / ".ci" / "tutorials.py")
assert SPEC is not None and SPEC.loader is not None  # noqa: PT018
tutorials: Any = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tutorials)
NEEDS = {"microcontroller": (c_code.needs("gcc"), pytest.mark.skipif(sys.platform == "win32", reason="paths of Unix"))}


def test_the_first_page_runs_and_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others run as notebooks alone."""
    monkeypatch.chdir(tmp_path)
    page, names, outputs = ROOT / "docs" / "tutorials" / "new.md", {"__name__": "example"}, []
    for block in tutorials.blocks(page):
        exec(compile(block.code, "<new.md>", "exec"), names)
        outputs.append(capsys.readouterr().out)
    tutorials.compare(page, outputs)
    with pytest.raises(AssertionError, match="its block prints"):
        tutorials.compare(page, [text.replace("11.77", "11.97") for text in outputs])


@pytest.mark.deep
@pytest.mark.parametrize(
    "page", [pytest.param(page, id=page.stem, marks=NEEDS.get(page.stem, ())) for page in tutorials.PAGES]
)
def test_a_page_as_a_notebook_runs_and_has_its_outputs(page: Path, tmp_path: Path) -> None:
    made = tutorials.notebook(page)
    tutorials.compare(page, tutorials.run(made, tmp_path))
    shown = [output["data"] for cell in made.cells for output in cell.get("outputs", ()) if "data" in output]
    assert any("image/png" in data for data in shown), "pictures that its blocks make are shown"
    makes_films = any(".mp4" in block.code for block in tutorials.blocks(page))
    assert any("<video" in data.get("text/html", "") for data in shown) == makes_films


@pytest.mark.deep
def test_notebooks_show_robots_motions_and_plots_once(tmp_path: Path) -> None:
    made = tutorials.notebook(ROOT / "docs" / "tutorials" / "new.md")
    before = (
        'import kinetree as kt\n\nrobot = kt.zoo.load("double_pendulum")\nmotion = kt.simulate(robot, duration=0.1)\n'
    )
    made.cells = made.cells[:1]
    for last in ("robot", "motion", "motion.plot()", "import matplotlib.pyplot as plt\nmotion.plot()"):
        made.cells.append(
            type(made)(cell_type="code", source=before + last, metadata={}, outputs=[], execution_count=None)
        )
    tutorials.run(made, tmp_path)
    shown = [[output for output in cell.outputs if "data" in output] for cell in made.cells[1:]]
    assert [len(outputs) for outputs in shown] == [1, 1, 1, 1]
    for (output,), kind in zip(shown, ("text/html", "text/html", "image/png", "image/png"), strict=True):
        assert kind in output.data


def test_a_notebook_has_no_command_to_run_and_begins_with_its_badge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tutorials, "repository", lambda: "https://github.com/example/example")
    for page in tutorials.PAGES:
        title, install, *others = tutorials.notebook(page).cells
        link = rf"colab\.research\.google\.com/github/example/example/blob/notebooks/{page.stem}\.ipynb"
        assert re.search(link, title.source)
        assert install.source.startswith("%pip install -q 'kinetree[")
        assert not any(cell.source.startswith("%") for cell in others)
        assert not re.search(
            r"\]\((?!\w+:|#)", title.source + "".join(x.source for x in others if x.cell_type == "markdown")
        )


def test_the_pictures_of_the_pages_are_small_and_all_used() -> None:
    used = {
        name for page in tutorials.PAGES for name in re.findall(r"pictures/tutorials/(\w+\.webp)", page.read_text())
    }
    there = {path.name: path.stat().st_size for path in tutorials.PICTURES.iterdir()}
    assert used == there.keys()
    assert max(there.values()) < 60_000

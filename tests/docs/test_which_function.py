"""The page "Which function do I need?" has an answer for every public function, and its answers exist."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import kinetree as kt
from kinetree.guide import public_names
from kinetree.io import FORMATS
from tests.functions import PUBLIC

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "which_function.md").read_text()
BESIDE = {
    "above_ground", "base_parameters", "compare", "compare_steps", "contact_pairs", "hvp", "inertial_parameters",
    "jacobian", "jvp", "log_cholesky", "nearest_configuration", "soft_constraints", "sweep", "vjp",
    "unfelt_parameters", "with_convex_parts", "with_fitted_shapes", "with_inertial_parameters",
}  # fmt: skip
"""Answers that are not functions of a motion by themselves."""
DEFINED = {name for name, x in PUBLIC.items() if hasattr(x, "definition")}
LINKED = re.findall(r"\[`(?:(?!kt\.)\w+\.)?(\w+)`\]\(([\w/]+\.md)(?:#[\w-]+)?\)", PAGE)
PAGES = [DOCS.parent / "README.md", DOCS.parent / "ARCHITECTURE.md", *sorted(DOCS.rglob("*.md"))]


def test_every_function_on_robots_is_an_answer() -> None:
    assert sorted((DEFINED | BESIDE) - {name for name, _ in LINKED}) == []


def test_every_answer_is_a_public_name() -> None:
    assert sorted({name for name, _ in LINKED} - DEFINED - BESIDE) == []
    others = re.findall(r"`kt\.(\w+)", PAGE)
    assert sorted({*others} - {*kt.__all__}) == []
    assert sorted(BESIDE - public_names().keys()) == []


def test_every_tool_of_control_and_identification_is_an_answer() -> None:
    named = set(re.findall(r"`(?:kt\.)?(\w+)\.(\w+)", PAGE))
    tools = {
        (room, name)
        for room in ("control", "identification")
        for name in getattr(kt, room).__all__
        if inspect.isfunction(getattr(getattr(kt, room), name)) and name not in kt.__all__
    }
    assert sorted(tools - named) == []


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("joints.md", {*kt.joints.__all__} - {"JointKind", "JointMotion"}),
        ("inverse_kinematics.md", {*kt.control.tasks.__all__} - {"Task"}),
        ("control_laws.md", {*kt.control.laws.__all__}),
        ("writing_files.md", {f'"{name}"' for name in FORMATS}),
    ],
)
def test_a_page_has_a_row_for_each_of_a_kind(page: str, names: set[str]) -> None:
    rows = [line for line in (DOCS / page).read_text().splitlines() if line.startswith("| ")]
    lacking = sorted(name for name in names if not any(re.search(rf"`{name}\b|`{name}`", row) for row in rows))
    assert lacking == [], f"the table of docs/{page} has no row for these"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS.parent)))
def test_tools_that_pages_name_exist(page: Path) -> None:
    named = set(re.findall(r"\bkt\.(control|identification|sweeps|lie|solids)\.(\w+)", page.read_text()))
    assert sorted(f"{room}.{name}" for room, name in named if not hasattr(getattr(kt, room), name)) == []


@pytest.mark.parametrize(("name", "page"), sorted(set(LINKED)))
def test_the_page_of_an_answer_writes_about_it(name: str, page: str) -> None:
    assert re.search(rf"`(?:kt\.)?(?:\w+\.)?{name}\b", (DOCS / page).read_text()), f"{page} does not name {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS.parent)))
def test_a_link_to_a_heading_leads_to_one(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for file, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", text):
        target = page.parent / file if file else page
        headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", target.read_text(), flags=re.S), re.M)
        assert anchor in [_anchor(heading) for heading in headings], f"{page.name}: {file}#{anchor}"


def _anchor(heading: str) -> str:
    """As GitHub makes it: in small letters, without punctuation, spaces as hyphens."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")

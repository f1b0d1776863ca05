"""The site is built without a warning, its links lead somewhere, and each public name has a page."""

from __future__ import annotations

import html
import importlib
import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

import kinetree as kt
from kinetree.guide import public_names

ROOT = Path(__file__).parents[2]


def test_each_page_has_a_place_in_the_order_of_the_site() -> None:
    docs = ROOT / "docs"
    named = set(re.findall(r"\]\(([\w/]+\.md)\)", (docs / "README.md").read_text(encoding="utf-8")))
    pages = {path.name for path in docs.glob("*.md")} - {"README.md"}
    assert sorted(pages - named) == [], "docs/README.md needs a row for these"


@pytest.mark.deep
@pytest.mark.skipif(find_spec("furo") is None and not os.environ.get("CI"), reason="needs the extra site")
def test_the_site_is_built_without_a_warning_and_its_links_lead_somewhere(tmp_path: Path) -> None:
    """Broken links, pages without a place in docs/README.md, and docstrings that are not read as meant, are errors."""
    versions = tmp_path / "versions"
    (versions / "0.0.9").mkdir(parents=True)
    (versions / "0.0.9" / "searchindex.js").touch()
    command = [sys.executable, ROOT / "docs/site/build.py", "--build", tmp_path, "--publish", versions]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads((versions / "versions.json").read_text()) == [kt.__version__, "0.0.9"]
    site = versions / kt.__version__
    for place in public_names().values():
        group, _, name = f"kinetree.{place}".rpartition(".")
        if isinstance(getattr(importlib.import_module(group), name), ModuleType):
            group, name = f"kinetree.{place}", "index"
        page = (site / "api" / group / f"{name}.html").read_text(encoding="utf-8")
        assert f'id="{group}.{name}"' in page or name == "index"
    page = (site / "api/kinetree/aba.html").read_text(encoding="utf-8")
    text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", page)))
    assert "kinetree.aba( robot: Model, q: ArrayLike, v: ArrayLike" in text
    assert "Source: Featherstone, RBDA (2008), Table 7.1." in text
    assert 'href="../kinetree.errors/ShapeError.html' in page
    assert re.search(r'href="contact.html">.*kinetree docs contact', (site / "index.html").read_text(encoding="utf-8"))

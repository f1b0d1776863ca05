"""Imports go one way only, as the contract in pyproject.toml has it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_contract_of_imports_is_kept(tmp_path: Path) -> None:
    run = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    process = subprocess.run(
        [sys.executable, "-c", run, "--config", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert "0 broken" in process.stdout


def test_every_module_says_what_it_exports() -> None:
    modules = [p for p in (ROOT / "src" / "kinetree").rglob("*.py") if p.read_text().strip()]
    assert len(modules) > 50
    assert [p.name for p in modules if "__all__ = [" not in p.read_text() and p.name != "__init__.py"] == []


def test_every_module_begins_with_its_purpose() -> None:
    modules = (ROOT / "src" / "kinetree").rglob("*.py")
    assert [str(p) for p in modules if not p.read_text().startswith('"""')] == []

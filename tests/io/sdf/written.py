"""The files of `robots.py` on disk, each beside those that it includes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import kinetree as kt
from tests.io.sdf.robots import BESIDE

__all__ = ["read", "written"]


def written(folder: Path, text: str, beside: dict[str, str] = BESIDE) -> Path:
    """The path of a new file."""
    for name, content in beside.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    path = folder / "robot.sdf"
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, text: str, **settings: Any) -> kt.Model:
    """The robot of a file; warnings are expected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        return kt.load(written(folder, text), **settings)

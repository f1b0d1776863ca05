"""Meshes are made anew in each test: one kept on disk by an earlier run would hide a mistake in its reader."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETREE_CACHE", "off")

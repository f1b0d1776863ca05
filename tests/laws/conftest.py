"""The tests of a file share their robots, which keep the functions that are compiled for them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

import kinetree as kt
from tests import robots


@pytest.fixture(autouse=True, scope="module")
def _robots_are_made_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kt.zoo, "load", cache(kt.zoo.load))
        patch.setattr(robots, "_tree", cache(robots._tree))
        yield

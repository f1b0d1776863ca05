"""Every program that is made in these tests is verified: those between two passes, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kinetree.expr import Program
from kinetree.expr.verify import verify


@pytest.fixture(autouse=True, scope="module")
def _verified() -> Iterator[None]:
    make = Program.__init__

    def made(self: Program, *args: Any, **named: Any) -> None:
        make(self, *args, **named)
        verify(self)

    Program.__init__ = made  # type: ignore[method-assign]
    yield
    Program.__init__ = make  # type: ignore[method-assign]

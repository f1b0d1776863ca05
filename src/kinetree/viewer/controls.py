"""Controls of a page that a program moves."""

from __future__ import annotations

from typing import Any

__all__ = ["put"]


def put(control: Any, value: object) -> None:
    """Set the value of a control; type checkers take this property of viser's for read-only."""
    control.value = value

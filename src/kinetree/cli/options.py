"""The form of options that have no default to show."""

from __future__ import annotations

from typing import Any

import typer

__all__ = ["optional"]


def optional(*flags: str, **more: Any) -> Any:
    """An option that need not be given; its help says itself what happens without it."""
    return typer.Option(*flags, show_default=False, **more)

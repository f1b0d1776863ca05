"""The form of options that have no default to show."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import typer

from kinetree.errors import OptionError
from kinetree.inputs import number_between

__all__ = ["between", "optional", "positive"]


def optional(*flags: str, **more: Any) -> Any:
    """An option that need not be given; its help says itself what happens without it."""
    return typer.Option(*flags, show_default=False, **more)


def between(low: float, high: float = math.inf) -> Callable[[float | None], float | None]:
    """A callback that checks an option's number before anything is loaded or computed: wrong usage unless between."""

    def check(value: float | None) -> float | None:
        try:
            return None if value is None else number_between("it", value, low, high)
        except OptionError as error:
            raise typer.BadParameter(str(error)) from None

    return check


positive = between(0.0)

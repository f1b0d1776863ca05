"""One number per coordinate from the command line: `0.1,-0.2,0.3`, or `elbow=1.2,wrist=0.5` with the rest unchanged."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from kinetree.errors import OptionError, nearest_names
from kinetree.number_files.csv_tables import is_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kinetree.functions.drives import Passive
    from kinetree.model import Model

__all__ = ["parse_number", "parse_options", "parse_passive", "parse_values"]


def parse_number(text: str) -> float | None:
    """A plain finite decimal number, or None."""
    value = float(text) if is_number(text) else math.nan
    return value if math.isfinite(value) else None


def parse_values(
    option: str, text: str, names: Sequence[str], default: NDArray[np.float64], robot: str, one: str = "coordinate"
) -> NDArray[np.float64]:
    """One number per name; `one` is the named thing. Raises a usage error that describes the fault."""
    items = [item.strip() for item in text.split(",")]
    if any("=" in item for item in items):
        return _pairs(option, items, names, default, robot, one)
    if len(items) != len(names):
        count = "1 number was" if len(items) == 1 else f"{len(items)} numbers were"
        raise typer.BadParameter(
            f"{count} given, but {robot!r} has {len(names)} {one}s here ({_listed(names)}); give one number each, or "
            "name=value pairs for some",
            param_hint=option,
        )
    return np.array([_value(option, item) for item in items])


def parse_options(option: str, items: Sequence[str]) -> dict[str, Any]:
    """Options of the form name=value, by name: numbers, true, false and lists as JSON has them, all else as text."""
    values: dict[str, Any] = {}
    for text in items:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not name.isidentifier():
            raise typer.BadParameter(f"{text!r} is not an option of the form name=value", param_hint=option)
        try:
            values[name] = json.loads(value)
        except json.JSONDecodeError:
            values[name] = value
    return values


def parse_passive(text: str, robot: Model) -> Passive:
    """The option `passive` of kinetree's functions: all, none, or names separated by commas."""
    from kinetree.functions.drives import passive_option

    if text in ("all", "none"):
        return text == "all"
    names = [name.strip() for name in text.split(",")]
    try:
        passive_option(robot, names)
    except OptionError as error:
        raise typer.BadParameter(f"{error} (or give all or none)", param_hint="--passive") from None
    return names


def _pairs(
    option: str, items: list[str], names: Sequence[str], default: NDArray[np.float64], robot: str, one: str
) -> NDArray[np.float64]:
    values = default.copy()
    assigned: set[str] = set()
    for item in items:
        name, sign, value = item.rpartition("=")
        name = name.strip()
        if not sign:
            raise typer.BadParameter(
                f"{item!r} has no name; give either a number for every {one} or only name=value pairs",
                param_hint=option,
            )
        if name not in names:
            raise typer.BadParameter(
                f"{robot!r} has no {one} {name!r}: {nearest_names(name, names)}", param_hint=option
            )
        if name in assigned:
            raise typer.BadParameter(f"{name!r} is given twice", param_hint=option)
        assigned.add(name)
        values[list(names).index(name)] = _value(option, value)
    return values


def _value(option: str, text: str) -> float:
    value = parse_number(text)
    if value is None:
        raise typer.BadParameter(f"{text.strip()!r} is not a finite number", param_hint=option)
    return value


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")

"""Values of records as attributes: only those that differ from MuJoCo's defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.io.losses import Losses
from kinetree.io.xml_text import flag, shown_number, shown_numbers

__all__ = ["changed", "limit", "raw_numbers", "shown", "trimmed"]


def shown(value: object) -> str:
    """A word, flag, number, or several words or numbers."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return flag(value)
    if isinstance(value, tuple):
        is_text = bool(value) and isinstance(value[0], str)
        return " ".join(value) if is_text else shown_numbers(value)
    assert isinstance(value, int | float)
    return shown_number(value)


def changed(record: object, usual: object, attributes: Mapping[str, str]) -> dict[str, str]:
    """The fields of a record that are not as usual; `attributes` are their names in MJCF by their own."""
    pairs = ((name, getattr(record, field), getattr(usual, field)) for field, name in attributes.items())
    return {name: shown(value) for name, value, default in pairs if value != default}


def trimmed(numbers: Sequence[float], default: Sequence[float] = ()) -> str:
    """Numbers without those at the end that are as by default, which is zero if it is not given; at least one."""
    last = len(numbers)
    while last > 1 and numbers[last - 1] == (default[last - 1] if default else 0.0):
        last -= 1
    return shown_numbers(numbers[:last])


def limit(
    flag_name: str, attribute: str, is_limited: bool, bounds: tuple[float, float], losses: Losses, what: str
) -> dict[str, str]:
    """The attributes of a range that may be in force; by itself it is if there is one."""
    if is_limited and bounds[0] >= bounds[1]:
        losses.lost.append(
            f"{what}: its {attribute} {shown_numbers(bounds)} would be in force, but the first number is not the "
            "smaller one, which MuJoCo refuses: it has none"
        )
        return {}
    has_range = bounds != (0.0, 0.0)
    found = {attribute: shown_numbers(bounds)} if has_range else {}
    if is_limited != has_range:
        found[flag_name] = flag(is_limited)
    return found


def raw_numbers(numbers: Sequence[float]) -> str | None:
    """Any count of numbers; None if there are none."""
    return shown_numbers(numbers) if numbers else None

"""Checks of options that several functions of identification have."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.errors import OptionError
from kinetree.inputs import whole_number

__all__ = ["random_generator", "whole_between"]


def random_generator(rng: Any) -> np.random.Generator:
    """The generator that is given, or that of a seed; raises `OptionError` for anything else."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise OptionError(
            f"rng must be a NumPy generator or a whole number that is not negative, not {rng!r:.60}"
        ) from None


def whole_between(option: str, value: Any, least: int, most: int) -> int:
    """A whole number from `least` to `most`; raises `OptionError` for any other."""
    number = whole_number(value)
    if number is None or not least <= number <= most:
        raise OptionError(f"{option} must be a whole number from {least} to {most:,}, not {value!r:.60}")
    return number

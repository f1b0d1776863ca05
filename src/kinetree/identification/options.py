"""Checks of options that several functions of identification have."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.errors import OptionError

__all__ = ["random_generator"]


def random_generator(rng: Any) -> np.random.Generator:
    """The generator that is given, or that of a seed; raises `OptionError` for anything else."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise OptionError(
            f"rng must be a NumPy generator or a whole number that is not negative, not {rng!r:.60}"
        ) from None

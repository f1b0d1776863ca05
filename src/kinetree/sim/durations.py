"""How many steps a motion has."""

from __future__ import annotations

import math
from numbers import Real

from kinetree.errors import OptionError

__all__ = ["MAX_STEPS", "check_total", "step_count"]

MAX_STEPS = 10_000_000
"""A trajectory holds every step; longer motions are streamed to disk."""

_STREAM = 'record=kt.sim.Recording(stream="folder") keeps longer ones on disk, and its every= fewer of their rows'


def step_count(duration: float, dt: float, most: float = MAX_STEPS) -> int:
    """The number of steps of dt that reach the duration. Raises `OptionError` unless both are positive times."""
    for name, value in (("duration", duration), ("dt", dt)):
        try:
            is_time = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value) and value > 0.0
        except OverflowError:
            raise OptionError(f"{name} must be finite, and is a whole number beyond all floats") from None
        if not is_time:
            raise OptionError(f"{name} must be a positive number of seconds, not {value!r:.60}")
    # 5 s in steps of 1 ms are 5000 steps, though 5 / 0.001 may round to a little more.
    exact = duration / dt
    if exact > most:
        raise OptionError(
            f"{duration:g} s in steps of {dt:g} s are {exact:.2g} steps; at most {most:,.0f} are taken at once, "
            f"because a trajectory holds every step; {_STREAM}"
        )
    return max(1, math.ceil(exact * (1.0 - 1e-12)))


def check_total(motions: int, steps: int) -> None:
    """Raise `OptionError` if all steps of a batch are too many for the memory."""
    if motions * steps > MAX_STEPS:
        raise OptionError(
            f"{motions:,} motions of {steps:,} steps are more than {MAX_STEPS:,} steps in all, which is the most that "
            f"are taken at once, because a trajectory holds every step; {_STREAM}"
        )

"""Parameters in words that fit into a line."""

from __future__ import annotations

from kinetree.errors import listed
from kinetree.identification.estimation.base_estimate import BaseEstimate

__all__ = ["short_name", "told_unexcited"]


def told_unexcited(estimate: BaseEstimate) -> str:
    """A sentence about parameters that the log did not determine; empty if it determined all."""
    if not estimate.unexcited:
        return ""
    worst = listed([short_name(name) for name in estimate.unexcited], most=4, separator="; ")
    return f"the log does not excite {len(estimate.unexcited)} of {len(estimate.names)} parameters: {worst}"


def short_name(name: str) -> str:
    """The first of the parameters that are grouped.

    >>> short_name("I_xx(arm) - I_yy(arm) + 0.316 h_z(hand)"), short_name("m(hand)")
    ('I_xx(arm) …', 'm(hand)')
    """
    first, *others = name.split(" ", 1)
    return f"{first} …" if others else first

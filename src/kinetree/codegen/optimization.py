"""When machine code is optimised: as a caller says, or the environment.

Decision 0050 explains the two tiers.
"""

from __future__ import annotations

import os
from typing import Literal, cast, get_args

from kinetree.errors import OptionError

__all__ = ["Optimization", "optimization", "strongest"]

Optimization = Literal["quick", "background", "now"]
"""From the least to the most that a caller asks for."""
_VARIABLE = "KINETREE_OPTIMIZE"
_KNOWN = get_args(Optimization)


def optimization(asked: object = None) -> Optimization:
    """When code that is not on the disk is optimised.

    Args:
        asked: "background": it is compiled without optimisation, and replaced by optimised code later; "now": it is
            optimised before it runs; "quick": it is never optimised. None means the environment variable
            KINETREE_OPTIMIZE, which is read again each time, or "background" if it is unset.

    Raises:
        OptionError: `asked`, or else the variable, is something else.

    >>> optimization("now")
    'now'
    """
    if asked is not None:
        if not isinstance(asked, str) or asked not in _KNOWN:
            raise OptionError(
                f'optimize must be "background", "now" or "quick", or None for {_VARIABLE}, not {asked!r:.60}'
            )
        return cast(Optimization, asked)
    text = os.environ.get(_VARIABLE, "").strip().lower()
    if text and text not in _KNOWN:
        raise OptionError(
            f"the environment variable {_VARIABLE} must be background, now or quick, not {text!r:.60}; unset it for "
            "background"
        )
    return cast(Optimization, text or "background")


def strongest(one: Optimization, other: Optimization) -> Optimization:
    """The choice that serves two callers who share a function.

    >>> strongest("quick", "now")
    'now'
    """
    return max(one, other, key=_KNOWN.index)

"""Where a motion, or a piece of one, begins: all that its steps depend on, besides what they are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["Start"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True, eq=False)
class Start:
    """A moment of a motion between two steps."""

    step: int
    """How many steps were taken since the motion began."""
    row: Array
    """[q, v, act, work, loss] (…, nq + nv + na + 2)."""
    ended: Array
    """When each motion of a batch ended (…,), s; infinite for those that go on."""
    carried: Mapping[str, NDArray[Any]]
    """The controller's state, and what it gave that is held until it runs again."""
    stiffness: Mapping[str, NDArray[Any]]
    """Into how many parts steps are divided, and where the next search for the fastest motion begins."""
    places: Mapping[int, Array]
    """Where contacts are held that were given without a place, by their number."""

"""The drawing at a moment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["Moment"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True, eq=False)
class Moment:
    """The visible state of one sample."""

    q: Array
    """(nq,)."""
    v: Array
    """(nv,); zero for a robot at rest."""
    qdd: Array
    """(nv,), likewise."""
    placements: Array
    """(pieces, 4, 4) of its moving bodies, on the page."""
    offset: Array
    """(3,): by how much it stands aside, in a row of several."""
    is_awaited: bool = False
    """Whether all must be drawn at once, as for a page in a file."""

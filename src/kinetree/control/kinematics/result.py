"""The result of inverse kinematics."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["InverseKinematics"]


class InverseKinematics(NamedTuple):
    """The configurations that `kt.control.inverse_kinematics` returns. Its text says how many targets were reached."""

    q: NDArray[np.float64]
    """The configurations (…, nq): where the tasks are met, or the nearest that was found."""
    errors: tuple[NDArray[np.float64], ...]
    """What is left of the error of each task (…, m), in the order of the tasks; m and rad."""
    reached: NDArray[np.bool_]
    """Whether all errors of the first priority are within the tolerance (…)."""
    starts: NDArray[np.int64]
    """From how many configurations the search began (…)."""
    evaluations: NDArray[np.int64]
    """At how many configurations the errors were computed (…), those for lower priorities not counted."""

    def __str__(self) -> str:
        reached: Any = np.asarray(self.reached)
        count, total = int(reached.sum()), reached.size
        left = max((float(np.abs(e[~reached]).max(initial=0.0)) for e in self.errors), default=0.0)
        rest = "" if count == total else f"; the largest error of the others is {left:.3g} (m or rad)"
        starts, evaluations = (
            f"{np.mean(x) if total else 0.0:.3g} {word}" + ("" if (np.asarray(x) == 1).all() and total else "s")
            for x, word in ((self.starts, "start"), (self.evaluations, "evaluation"))
        )
        each = " each" if total > 1 else ""
        return f"{count} of {total} reached, from {starts} in {evaluations}{each}{rest}"

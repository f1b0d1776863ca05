"""The result of inverse kinematics."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import listed

__all__ = ["InverseKinematics", "SearchLimits"]

_THERE = 1e-9
"""rad, m: how near a coordinate is to a limit that it is at."""


class SearchLimits(NamedTuple):
    """The limits within which configurations were searched for."""

    names: tuple[str, ...]
    """The names of the coordinates."""
    lower: NDArray[np.float64]
    """(…, nq), rad, m."""
    upper: NDArray[np.float64]


class InverseKinematics(NamedTuple):
    """The configurations that `kt.control.inverse_kinematics` returns. Its text says how many targets were
    reached, and which joints are at limits where the others were not."""

    q: NDArray[np.float64]
    """The configurations (…, nq): where the tasks are met, or the nearest that was found."""
    errors: tuple[NDArray[np.float64], ...]
    """The remaining error of each task (…, m), in the order of the tasks; m and rad."""
    reached: NDArray[np.bool_]
    """Whether all errors of the first priority are within the tolerance (…)."""
    starts: NDArray[np.int64]
    """From how many configurations the search began (…)."""
    evaluations: NDArray[np.int64]
    """At how many configurations the errors were computed (…), those for lower priorities not counted."""
    limits: SearchLimits
    """The limits within which the search was."""

    @property
    def at_limits(self) -> dict[str, NDArray[np.bool_]]:
        """By name, the coordinates that are at one of their limits in any sample, and whether they are there (…)."""
        names, lower, upper = self.limits
        there = (self.q <= lower + _THERE) | (self.q >= upper - _THERE)
        return {name: there[..., k] for k, name in enumerate(names) if there[..., k].any()}

    def __str__(self) -> str:
        reached: Any = np.asarray(self.reached)
        count, total = int(reached.sum()), reached.size
        left = max((float(np.abs(e[~reached]).max(initial=0.0)) for e in self.errors), default=0.0)
        rest = "" if count == total else f"; the largest error of the others is {left:.3g} (m or rad)"
        starts, evaluations = (
            f"{np.mean(x) if total else 0.0:.3g} {word}" + ("" if (np.asarray(x) == 1).all() and total else "s")
            for x, word in ((self.starts, "start"), (self.evaluations, "evaluation"))
        )
        if count != total:
            often = {name: int(np.count_nonzero(x[~reached])) for name, x in self.at_limits.items()}
            at_limits = [f"{name}{f' ({k} of {total - count})' if total > 1 else ''}" for name, k in often.items() if k]
            rest += f"; at their limits there: {listed(at_limits)}" if at_limits else "; no joint is at a limit there"
        each = " each" if total > 1 else ""
        return f"{count} of {total} reached, from {starts} in {evaluations}{each}{rest}"

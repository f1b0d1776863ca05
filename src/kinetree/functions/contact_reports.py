"""What is told of contacts that were not solved: the errors of all steps, and a warning.

Each step's convex problem is solved by a fixed number of iterations at most (`algorithms/convex_dynamics.py`), which
nearly always end before with an error below 1e-10. Steps where they do not are never hidden.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from kinetree.compiler.definition import Array
from kinetree.contact import Rigid, Setting
from kinetree.errors import SimulationWarning

__all__ = ["ADVICE", "MOST_ERROR", "ReportedRollout", "unsolved", "warn_of_unsolved"]

MOST_ERROR = {"float64": 1e-8, "float32": 1e-3}
"""The largest error of a step that counts as solved, in parts of its accelerations."""
ADVICE = "smaller steps help, a lower impratio, or less friction (docs/contact.md)"
MOST_RESIDUAL = 1e-6
"""The same for rigid contacts that are accurate, m/s."""


class ReportedRollout(NamedTuple):
    """What `kt.rollout` returns with `report=True`."""

    states: Array
    """The states after each step, [q, v] (…, T, nq + nv)."""
    contact_error: Array
    """A bound on the relative error of each step's accelerations (…, T), of its worst stage."""


def unsolved(error: Array, setting: Setting = None, times: Array | None = None) -> str | None:
    """A sentence about the steps (…, T) whose contacts were not solved; None if all of them were.

    With `times` (T,), those of the rows of a trajectory, each of which has the largest error of the steps from it on.

    >>> import numpy as np
    >>> unsolved(np.array([1e-12, 3e-5]))
    'the contacts of 1 of 2 steps are not solved to 1e-08: the worst is step 1, with a relative error of 3e-05'
    >>> unsolved(np.array([1e-12, np.nan])) is None
    True
    """
    most, what = MOST_ERROR[error.dtype.name], "a relative error of {:.1g}"
    if isinstance(setting, Rigid):
        if not setting.accurate:
            return None  # one round does not solve it, as it says
        most, what = max(MOST_RESIDUAL, setting.tolerance), "a residual of {:.1g} m/s"
    with np.errstate(invalid="ignore"):
        count = int((error > most).sum())
    if not count:
        return None
    *sample, step = (int(k) for k in np.unravel_index(np.nanargmax(error), error.shape))
    where = f"step {step}" if times is None else f"at t = {times[step]:g} s"
    where += f" of sample {sample}" if sample else ""
    rows = "steps" if times is None else "rows"
    return (
        f"the contacts of {count:,} of {error.size:,} {rows} are not solved to {most:g}: the worst is {where}, with "
        + what.format(error.max(where=~np.isnan(error), initial=0.0))
    )


def warn_of_unsolved(function: str, error: Array, stacklevel: int, setting: Setting = None) -> None:
    """Warn of steps whose contacts were not solved, if there are such."""
    if (told := unsolved(error, setting)) is not None:
        warnings.warn(f"{function}: {told}; {ADVICE}", SimulationWarning, stacklevel=stacklevel + 1)

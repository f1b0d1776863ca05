"""Samples of robots that cannot exist: those that a file could not have, either."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kinetree.model import Model
from kinetree.model.checks.masses import PSD_TOLERANCE

__all__ = ["impossible"]

Array = NDArray[np.float64]


def impossible(robot: Model, values: Mapping[str, Array]) -> dict[int, str]:
    """A sentence for each sample with a negative mass, armature or principal moment, by its row in `values`."""
    reasons: dict[int, str] = {}
    for name, x in values.items():
        what = name.partition(".")[0], name.rpartition(".")[2]
        if what in (("body", "mass"), ("joint", "armature")):
            least, wrong = x.reshape(len(x), -1).min(axis=1, initial=0.0), f"{name} is negative: {{:g}}"
            negative = least < 0.0
        elif what == ("body", "inertia") and not _has_negative_moment(robot.parameter(name)[None])[1][0]:
            least, negative = _has_negative_moment(x)
            wrong = f"{name} has the negative principal moment {{:.3g}} kg·m², which no body has"
        else:
            continue
        reasons |= {int(k): wrong.format(least[k]) for k in np.flatnonzero(negative) if int(k) not in reasons}
    return reasons


def _has_negative_moment(six: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The least principal moment of inertias (n, 6), xx, yy, zz, xy, xz, yz, and whether it is below zero."""
    sound = np.isfinite(six).all(axis=-1, keepdims=True)  # `simulate` rejects all others
    moments = np.linalg.eigvalsh(np.where(sound, six, 0.0)[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3))
    return moments[:, 0], moments[:, 0] < -PSD_TOLERANCE * np.abs(moments).max(axis=1)

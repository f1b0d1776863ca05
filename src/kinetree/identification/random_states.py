"""The regressor of joint forces at random states, computed by the algorithm itself: nothing is compiled."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kinetree.compiler.reference import on_numbers
from kinetree.functions.regressors import JOINT_TORQUE_REGRESSOR
from kinetree.model import Model

__all__ = ["stacked_at_random"]

Array = NDArray[np.float64]

_STATES_MORE = 2
"""The number of rows of the stacked regressor per column."""


def stacked_at_random(
    model: Model, columns: int, drives: bool, parameters: Mapping[str, list[float]], rng: np.random.Generator
) -> Array:
    """The regressor at random states, stacked: computed by the algorithm on arrays with one entry per state."""
    count = (_STATES_MORE * columns) // max(model.nv, 1) + 10
    q = np.array([_anywhere(model, rng) for _ in range(count)]).reshape(count, model.nq)
    # Accelerations due to v and to q̈ are comparable with gravity's 9.81.
    v, qdd = 3.0 * rng.normal(size=(count, model.nv)), 10.0 * rng.normal(size=(count, model.nv))
    state = [list(x.T) for x in (q, v, qdd)]
    numbers = on_numbers(JOINT_TORQUE_REGRESSOR, model, state, parameters=parameters, drives=drives)
    W = np.empty((count, model.nv * columns))
    for k, x in enumerate(numbers):
        W[:, k] = x
    return W.reshape(count * model.nv, columns)


def _anywhere(model: Model, rng: np.random.Generator) -> Array:
    """A random configuration that ignores limits: narrow ones would make the columns nearly dependent."""
    inf = math.inf
    pieces = [kind.random(rng, (-inf,) * kind.nq, (inf,) * kind.nq) for kind in model.tree.joint[1:]]
    return np.array(model.tree.joined(pieces, "nq"), dtype=np.float64)

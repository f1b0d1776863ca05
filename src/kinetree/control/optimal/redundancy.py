"""How many of a phase's constraint rows are independent of each other, as a rule."""

from __future__ import annotations

import numpy as np

from kinetree.compiler.reference import on_numbers
from kinetree.control.optimal.phase import Phase
from kinetree.functions.constrained import CONSTRAINT_JACOBIAN
from kinetree.model import Model

__all__ = ["LEAST_PART", "usual_rank"]

LEAST_PART = 1e-10
"""The part of a row's mobility that must be its own, and not shared with other rows; that of `constrained_dynamics`."""

_SAMPLES = 5


def usual_rank(robot: Model, phase: Phase) -> int:
    """The rank of the constraints' Jacobian in all configurations but special ones: the largest of some at random."""
    if not phase.constraints:
        return 0
    ranks, rng = [], np.random.default_rng(0)
    for _ in range(_SAMPLES):
        q = robot.random(rng).tolist()
        J = np.reshape(on_numbers(CONSTRAINT_JACOBIAN, robot, (q,), constraints=phase.constraints), (-1, robot.nv))
        size = np.linalg.norm(J, axis=1, keepdims=True)
        ranks.append(int(np.linalg.matrix_rank(J / np.where(size > 0.0, size, 1.0), tol=LEAST_PART**0.5)))
    return max(ranks)

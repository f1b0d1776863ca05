"""Whether the constraints of a phase are independent, as its forces suppose: the Cholesky factor of J M⁻¹ Jᵀ tells."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.control.optimal.phase import Phase
from kinetree.control.optimal.problem import OptimalControl
from kinetree.functions.constrained import constraint_jacobian
from kinetree.functions.mass_matrix import mass_matrix_inverse
from kinetree.programs import Program, program

__all__ = ["LEAST_PART", "independence_program"]

LEAST_PART = 1e-10
"""The part of a row's mobility that must be its own, and not shared with the rows before it; that of
`constrained_dynamics`."""


def independence_program(problem: OptimalControl, phase: Phase) -> Program:
    """The smallest part of a row's mobility that is its own, at q (…); no more than rounding, or NaN, for rows that
    depend on others."""
    robot = problem.robot

    def independence(q: Any) -> Any:
        J = constraint_jacobian(robot, q, phase.constraints)
        A = J @ mass_matrix_inverse(robot, q) @ J.T
        return np.min(np.diag(np.linalg.cholesky(A)) ** 2 / np.diag(A))

    return program(independence, q=robot)

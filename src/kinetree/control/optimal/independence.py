"""Whether the constraints of a phase have as many independent rows at a configuration as they usually have."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.control.optimal.phase import Phase
from kinetree.control.optimal.problem import OptimalControl
from kinetree.control.optimal.redundancy import LEAST_PART
from kinetree.functions.constrained import constraint_jacobian, operational_space_inertia
from kinetree.functions.mass_matrix import mass_matrix_inverse
from kinetree.programs import Program, program

__all__ = ["independence_program"]


def independence_program(problem: OptimalControl, phase: Phase) -> Program:
    """1 where forces and their derivatives exist, 0 where rows depend on each other that elsewhere do not.

    Independent rows are recognised by Cholesky's factor of A = J M⁻¹ Jᵀ, redundant ones by the rank, the trace of A A⁺.
    """
    robot, rank = problem.robot, problem.ranks[phase]

    def independence(q: Any) -> Any:
        J = constraint_jacobian(robot, q, phase.constraints)
        A = J @ mass_matrix_inverse(robot, q) @ J.T
        if rank < len(J):
            trace = np.sum(A * operational_space_inertia(robot, q, phase.constraints))
            return np.where(abs(trace - rank) < 0.5, 1.0, 0.0)
        parts = np.diag(np.linalg.cholesky(A)) ** 2 / np.diag(A)
        return np.where(np.all(parts > LEAST_PART), 1.0, 0.0)

    return program(independence, q=robot)

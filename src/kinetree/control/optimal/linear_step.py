"""A step near a knot, to first order: its end, the other results of its dynamics, and their derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kinetree.control.optimal.held_motion import held_motion
from kinetree.control.optimal.phase import Phase
from kinetree.control.optimal.problem import OptimalControl
from kinetree.control.optimal.stages import given_size, has_plain_step, next_state, values, weight_of_change
from kinetree.functions.derivatives import jacobian
from kinetree.functions.kinematics import difference, integrate
from kinetree.programs import Program, program

__all__ = ["STATE", "LinearStep", "ends", "linear_step"]

STATE = ("q", "v", "u")
"""The variables of differentiation: displacements of (q, v) and changes of u, z (2 nv + nu)."""


class LinearStep(NamedTuple):
    """A step to first order."""

    gap: Any
    by: Any
    more: Any
    """Other results of the dynamics in the cost, all numbers in a row, and their derivatives."""
    more_by: Any


def linear_step(
    problem: OptimalControl, phase: Phase, outputs: Mapping[str, Any], at: Mapping[str, Any], q_next: Any, v_next: Any
) -> LinearStep:
    """The gap (2 nv) from the next knot to where a step ends, and its derivatives; `outputs`: results of the dynamics
    that the cost takes."""
    if has_plain_step(problem, phase):
        return _plain_step(problem, phase, at, q_next, v_next)
    step, there = ends(problem, phase, outputs), {**at, "q_next": q_next, "v_next": v_next}
    results, slopes = step(**there), jacobian(step, there, wrt=STATE)
    derivative, n = np.hstack([slopes[name] for name in STATE]), 2 * problem.robot.nv
    return LinearStep(results[:n], derivative[:n], results[n:], derivative[n:])


def ends(problem: OptimalControl, phase: Phase, outputs: Mapping[str, Any]) -> Program:
    """The gap after a step, and the results of its dynamics in the cost, all numbers in a row."""
    robot = problem.robot

    def ends(q: Any, v: Any, u: Any, t: Any, given: Any, q_next: Any, v_next: Any) -> Any:
        q_end, v_end, more = next_state(problem, phase, {"t": t, "q": q, "v": v, "u": u, **values(problem, given)})
        own = [more[name].ravel() for name in outputs]
        return np.concatenate([difference(robot, q_next, q_end), v_end - v_next, *own])

    return program(
        ends, q=robot, v=robot.nv, u=problem.nu, t=(), given=given_size(problem), q_next=robot, v_next=robot.nv
    )


def _plain_step(problem: OptimalControl, phase: Phase, at: Mapping[str, Any], q_next: Any, v_next: Any) -> LinearStep:
    """By the derivatives of the robot's own equations: v' = v + s y and q' = q ⊕ dt v', s = `weight_of_change`."""
    robot, q, v = problem.robot, at["q"], at["v"]
    now = held_motion(problem, phase, at)
    nv, width = robot.nv, now.change_by.shape[1]
    v_end = v + weight_of_change(phase) * now.change
    v_by = weight_of_change(phase) * now.change_by + np.eye(nv, width, nv)

    def moved(q: Any, v: Any, q_next: Any) -> Any:
        return difference(robot, q_next, integrate(robot, q, phase.dt * v))

    motion = program(moved, q=robot, v=nv, q_next=robot)
    along = jacobian(motion, (q, v_end, q_next), wrt=("q", "v"))
    q_by = along["v"] @ v_by + np.pad(along["q"], ((0, 0), (0, width - nv)))
    gap = np.concatenate([motion(q, v_end, q_next), v_end - v_next])
    return LinearStep(gap, np.vstack([q_by, v_by]), now.forces, now.forces_by)

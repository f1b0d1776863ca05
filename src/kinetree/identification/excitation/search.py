"""The best exciting motion within limits, among finite Fourier series that begin and end at rest.

Source: Swevers et al., "Optimal robot excitation and identification" (1997).

Quasi-Newton descent for smooth functions that are infinite outside of the allowed set.

Source: Nocedal and Wright, *Numerical Optimization* (2006), algorithm 6.1 with a backtracking search, where pairs that
would make the matrix indefinite are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import LogError, OptionError
from kinetree.functions.dynamics import rnea
from kinetree.identification.base_parameters import BaseParameters, base_parameters
from kinetree.identification.excitation.fourier import FourierTrajectory
from kinetree.identification.excitation.limits import bounds_of
from kinetree.identification.excitation.problem import CRITERIA, Problem, condition_number
from kinetree.identification.excitation.problem import criterion as worth
from kinetree.identification.options import random_generator
from kinetree.inputs import chosen_word, number_between, whole_between
from kinetree.model import Model, check_robot
from kinetree.programs import Program
from kinetree.records import record

__all__ = ["Excitation", "descend", "exciting_trajectory"]

Array = NDArray[np.float64]

_BARRIERS = (0.3, 0.03, 0.003)
_FINE = 200
"""Moments per period of the fastest harmonic at which the limits are looked at in the end."""


@record(frozen=True, slots=True, eq=False, repr=False)
class Excitation:
    """An exciting motion, and how good it is."""

    trajectory: FourierTrajectory
    condition: float
    """The condition number of the base regressor along one period, rows not weighted, columns not scaled."""
    base: BaseParameters
    worths: Array
    """(starts,): the condition number, or the value of the criterion, that each start led to."""
    used: tuple[float, float, float, float]
    """How much of the limits of position, velocity, torque and acceleration the motion uses at most, as parts."""

    def __repr__(self) -> str:
        q, v, tau = (f"{100.0 * x:.0f} %" for x in self.used[:3])
        return (
            f"{self.trajectory!r}\n  condition number {self.condition:.4g} of {len(self.base)} base parameters; uses "
            f"at most {q} of the range of a joint, {v} of its speed, {tau} of its torque"
        )


def exciting_trajectory(
    robot: Model,
    *,
    period: float = 10.0,
    harmonics: int = 5,
    base: BaseParameters | None = None,
    criterion: str = "condition",
    position_limit: ArrayLike | None = None,
    velocity_limit: ArrayLike | None = None,
    acceleration_limit: ArrayLike | None = None,
    effort_limit: ArrayLike | None = None,
    keep_positive: Program | None = None,
    margin: float = 0.05,
    starts: int = 4,
    steps: int = 150,
    rng: np.random.Generator | int = 0,
) -> Excitation:
    """A periodic motion within limits that makes the base parameters as visible as possible.

    The motion is a finite Fourier series per joint, at rest at its beginning and end. Its condition number is minimised
    by quasi-Newton steps from several random starts, with exact derivatives from those of the regressor. Limits are
    barriers, so every motion on the way keeps them.

    Args:
        robot: with a fixed base and joints of plain angles or lengths. Joints that are not to move must be locked.
        period: s.
        harmonics: multiples of 1/period; the highest is the bandwidth that the log's filter must pass.
        base: the parameters to excite; by default `kt.identification.base_parameters(robot)`. With `drives=True` those
            of the joints' friction are among them.
        criterion: "condition", the condition number of the regressor, or "determinant", the volume in which the
            estimate is (D-optimality).
        position_limit: bounds (2, n) used instead of the robot's own.
        velocity_limit: (n,) or one number, likewise.
        acceleration_limit: (n,) or one number; by default unlimited.
        effort_limit: (n,) or one number, used instead of the robot's own, for torques by the robot's own parameters.
        keep_positive: a program of q whose results must stay positive along the motion: heights above a table,
            distances between shapes.
        margin: the part of every limit that is left unused; also for excesses between the moments looked at.
        starts: how many random motions the search begins with.
        steps: quasi-Newton steps from each, in all.
        rng: the source of the random motions, or its seed.

    Returns:
        The best motion of all starts, and its condition number.

    Raises:
        OptionError: an option is out of its range, a joint has no limit of velocity, or no random motion keeps the
            limits.
        LogError: the robot has a floating base, or coordinates that are not plain numbers.

    Source: Swevers, Ganseman, Tükel, De Schutter, Van Brussel, "Optimal robot excitation and identification" (1997).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> found = kt.identification.exciting_trajectory(robot, velocity_limit=4.0, starts=1, steps=20)
    >>> bool(found.condition < 100.0)
    True
    """
    model = check_robot(robot)
    if model.floating_base or model.nq != model.nv or not all(kind.is_flat for kind in model.tree.joint[1:]):
        raise LogError(
            f"exciting_trajectory: {model.name!r} must have a fixed base, and joints of plain angles or lengths only"
        )
    chosen_word("criterion", criterion, *CRITERIA)
    count = whole_between("harmonics", harmonics, 2, 100)  # a single one cannot begin at rest
    tries, most = whole_between("starts", starts, 1, 10_000), whole_between("steps", steps, 1, 100_000)
    seconds, unused = number_between("period", period, unit="seconds"), number_between("margin", margin, 0.0, 1.0)
    if not (base is None or isinstance(base, BaseParameters)):
        raise OptionError(f"base must be a result of kt.identification.base_parameters, not {type(base).__name__}")
    if base is not None and base.robot != model:
        raise OptionError(f"base has the parameters of {base.robot.name!r}, which is another robot than {model.name!r}")
    if not (keep_positive is None or isinstance(keep_positive, Program)):
        raise OptionError(
            f"keep_positive must be a program of q, a function marked @kt.program(q=robot), not {keep_positive!r:.60}"
        )
    own_limits = {
        "position": position_limit, "velocity": velocity_limit, "acceleration": acceleration_limit,
        "effort": effort_limit,
    }  # fmt: skip
    problem = Problem(
        model, base_parameters(model) if base is None else base, criterion, seconds, count, keep_positive,
        bounds_of(model, own_limits, unused),
    )  # fmt: skip
    generator = random_generator(rng)
    solutions = [_improved(problem, problem.random(generator), most) for _ in range(tries)]
    motions = [problem.motion(x) for x in solutions]
    regressors = [problem.base.regressor(*motion) for motion in motions]
    worths = [condition_number(W) if criterion == "condition" else worth(criterion, W)[0] for W in regressors]
    best = problem.trajectory(solutions[int(np.argmin(worths))])
    fine = best.at(np.linspace(0.0, best.period, _FINE * count))
    passive = ["damping", "friction"] if problem.base.drives else None
    tau = rnea(model, *fine, passive=passive) if passive else rnea(model, *fine)
    limits = bounds_of(model, own_limits, 0.0)
    used = (_used(fine.q, limits.q), _used(fine.v, limits.v), _used(tau, limits.tau), _used(fine.qdd, limits.qdd))
    if max(used) > 1.0:
        raise OptionError(
            f"the best motion uses up to {100.0 * max(used):.0f} % of a limit between the moments that the search "
            "looks at, or by friction and rotors; give a larger margin"
        )
    condition = condition_number(problem.base.regressor(*fine))
    return Excitation(best, condition, problem.base, np.array(worths), used)


def _improved(problem: Problem, x: Array, steps: int) -> Array:
    """A better motion, by weaker and weaker barriers."""
    for weight in _BARRIERS:
        x = descend(partial(problem.value, weight=weight), x, -(-steps // len(_BARRIERS)))
    return x


def _used(x: Array, bounds: tuple[Array, Array]) -> float:
    """How much of its bounds a number uses at most, from the middle."""
    bounded = np.isfinite(bounds[0]) & np.isfinite(bounds[1])
    low, high = (bound[bounded] for bound in bounds)
    part = abs(x[:, bounded] - 0.5 * (low + high)) / (0.5 * (high - low))
    return float(part.max(initial=0.0))


_DESCENT = 1e-4
_HALVINGS = 40


def descend(function: Callable[[Array], tuple[float, Array]], start: Array, steps: int, enough: float = 1e-5) -> Array:
    """A point lower than the start, after at most so many steps, or when ten of them gain less than `enough`."""
    x, n = start, len(start)
    value, gradient = function(x)
    inverse = np.eye(n) / max(float(np.linalg.norm(gradient)), 1e-12)
    history = [value]
    for k in range(steps):
        step = -inverse @ gradient
        slope = float(gradient @ step)
        if not slope < 0.0:
            inverse = np.eye(n) / max(float(np.linalg.norm(gradient)), 1e-12)
            step = -inverse @ gradient
            slope = float(gradient @ step)
        length = 1.0
        for _ in range(_HALVINGS):
            ahead, next_gradient = function(x + length * step)
            if ahead <= value + _DESCENT * length * slope:
                break
            length *= 0.5
        else:
            return x
        s, y = length * step, next_gradient - gradient
        x, value, gradient = x + s, ahead, next_gradient
        curvature = float(s @ y)
        if curvature > 1e-10 * float(np.linalg.norm(s) * np.linalg.norm(y)):
            if k == 0:
                inverse = np.eye(n) * curvature / float(y @ y)
            rest = np.eye(n) - np.outer(s, y) / curvature
            inverse = rest @ inverse @ rest.T + np.outer(s, s) / curvature
        history.append(value)
        if len(history) > 10 and history[-11] - value < enough:
            return x
    return x

"""Inertias that bodies can have, and that explain the log: a convex problem.

Over the pseudo-inertias J_b of the bodies, and the numbers x_k of armature, damping and dry friction of the joints,

    minimise ½ |W K π - τ|² + 1/s² (Σ_b d(J_b, J_b⁰) + Σ_k d(x_k, x_k⁰)),

with the rows of W weighted by the noise, K π the base parameters, and d the divergence of `divergence.py` from the
robot's own numbers. Where the log is informative, the first term decides; undetermined parameters stay at the robot's
own numbers; and d is infinite where a body would be impossible, so the minimum is always possible. The problem is
convex: there is one minimum, and Newton's method finds it from any start.

Source: Lee, Wensing, Park, "Geometric robot dynamic identification: a convex programming approach" (2020).

Newton's method with backtracking, for convex functions that are infinite outside of an open set.

Source: Boyd and Vandenberghe, *Convex Optimization* (2004), algorithm 9.5.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import LogError, OptionError
from kinetree.identification.estimation.base_estimate import BaseEstimate
from kinetree.identification.estimation.divergence import Bodies, Numbers
from kinetree.identification.inertial_parameters import inertial_parameters, with_inertial_parameters
from kinetree.identification.log_cholesky import pseudo_inertia
from kinetree.inputs import number_between
from kinetree.model import Model
from kinetree.records import record

__all__ = ["ConsistentEstimate", "consistent_estimate"]

Array = NDArray[np.float64]

_SMALLEST, _LARGEST = 1e-6, 1e6
_EASIEST = 1e4
"""The first weight of the prior relative to the last one: minima of less and less of it are close to each other."""
_ALMOST_FLAT = 1e-10
"""The smallest eigenvalue of a pseudo-inertia relative to the largest, in its own units, below which a body is flat."""


@record(frozen=True, slots=True, eq=False)
class ConsistentEstimate:
    """Inertial parameters that every body of the robot can have."""

    robot: Model
    """The robot with these parameters."""
    parameters: Array
    """As `kt.identification.inertial_parameters(robot, drives=…)` has them."""
    values: Array
    """The base parameters (and offsets) that belong to them, in the order of `BaseEstimate.values`."""
    deviations: Array
    """Their standard deviations, by the log and the prior."""
    held: tuple[str, ...]
    """Bodies that keep the robot's own numbers, because they are points, rods or plates."""
    prior_deviation: float


def consistent_estimate(
    estimate: BaseEstimate, *, prior_deviation: float = 1.0, robot: Model | None = None
) -> ConsistentEstimate:
    """The inertias, possible for every body, that explain the log best and are close to the robot's own numbers.

    Bodies whose own numbers are those of a point, a rod or a plate, or that have no mass, keep them: a divergence from
    such bodies is infinite. Drives keep their numbers if the log does not excite them; those that are zero in the robot
    have their least squares estimate as prior number, or its standard deviation if that is more.

    Args:
        estimate: least squares on base parameters, whose equations are used; see `base_estimate`.
        prior_deviation: how far the robot's own numbers are thought to be from the truth, as a part: 1 means that
            inertias twice as large are as likely as one standard deviation. It matters only for undetermined
            parameters: at 1, a parameter that is known to 2 % moves by 0.04 % of its distance from the prior one.
        robot: a robot with other prior numbers and the same joints; by default that of the estimate.

    Returns:
        The robot with its new parameters, and the parameters that were held.

    Raises:
        OptionError: prior_deviation is not between 1e-6 and 1e6, or the robot has other bodies.

    Source: Lee, Wensing, Park, "Geometric robot dynamic identification: a convex programming approach" (2020).
    """
    if not isinstance(estimate, BaseEstimate):
        raise LogError(f"consistent_estimate takes the result of base_estimate, not {type(estimate).__name__}")
    deviation = number_between("prior_deviation", prior_deviation, _SMALLEST, _LARGEST)
    base = estimate.base
    model = base.robot if robot is None else robot
    if list(model.bodies) != list(base.robot.bodies):
        raise OptionError(f"the prior robot {model.name!r} has other bodies than {base.robot.name!r}")
    prior = inertial_parameters(model, drives=base.drives)
    ten = 10 * len(model.bodies)
    excited = np.abs(base.matrix).max(axis=0, initial=0.0) > 0.0
    solid = [b for b in range(len(model.bodies)) if _is_solid(prior[10 * b : 10 * b + 10])]
    moving = [b for b in solid if excited[10 * b : 10 * b + 10].any()]
    constant_bodies = tuple(name for b, name in enumerate(model.bodies) if b not in solid and prior[10 * b] > 0.0)
    numbers, guesses = _prior_drives(estimate, prior, ten)
    bodies = Bodies(prior[:ten].reshape(-1, 10)[moving])
    # π = fixed + T x, with x the entries of S, the relative drives, more relative numbers of friction, and the offsets.
    count, first, r = len(estimate.names), 10 * len(moving), len(base)
    more = slice(r, r + estimate.of_friction)
    drives = Numbers(np.concatenate([guesses, estimate.values[more]]))
    last = first + len(drives.prior)
    size = last + count - more.stop
    T = np.zeros((len(prior), size))
    for k, b in enumerate(moving):
        T[10 * b : 10 * b + 10, 10 * k : 10 * k + 10] = bodies.maps[k]
    T[numbers, first + np.arange(len(numbers))] = guesses
    fixed = prior.copy()
    fixed[T.any(axis=1)] = 0.0
    to_values = np.zeros((count, size))
    to_values[:r] = base.matrix @ T
    to_values[more, first + len(numbers) : last] = np.diag(estimate.values[more])
    to_values[more.stop :, last:] = np.eye(count - more.stop)
    constant = np.concatenate([base.matrix @ fixed, np.zeros(count - r)])
    A, b = estimate.factor @ to_values, estimate.target - estimate.factor @ constant

    def terms(x: Array, weight: float) -> tuple[float, Array, Array]:
        error = A @ x - b
        value, M, r = 0.5 * float(error @ error), [A], [error]
        for part, own in ((bodies, slice(0, first)), (drives, slice(first, last))):
            d, F, slope = part.terms(x[own])
            value += weight * d
            rows = np.zeros((len(F), size))
            rows[:, own] = np.sqrt(weight) * F
            M.append(rows)
            r.append(np.sqrt(weight) * slope)
        return value, np.concatenate(M), np.concatenate(r)

    x = np.concatenate([bodies.start, drives.start, np.zeros(count - more.stop)])
    weakest = 1.0 / deviation**2
    for weight in weakest * np.geomspace(_EASIEST, 1.0, 5):
        x = minimize(partial(terms, weight=float(weight)), x)
    parameters = fixed + T @ x
    half = to_values @ np.linalg.inv(np.linalg.qr(terms(x, weakest)[1], mode="r"))
    return ConsistentEstimate(
        with_inertial_parameters(model, parameters, drives=base.drives), parameters, constant + to_values @ x,
        np.linalg.norm(half, axis=1), constant_bodies, deviation,
    )  # fmt: skip


def _is_solid(ten: Array) -> bool:
    """Whether a body has a positive definite pseudo-inertia, of any size."""
    if not ten[0] > 0.0:
        return False
    J = pseudo_inertia(ten)
    sizes = np.sqrt(np.diag(J))
    if not (sizes > 0.0).all():
        return False
    return bool(np.linalg.eigvalsh(J / np.outer(sizes, sizes))[0] > _ALMOST_FLAT)


def _prior_drives(estimate: BaseEstimate, prior: Array, ten: int) -> tuple[list[int], Array]:
    """The places in π of the drives that are estimated, and their prior numbers."""
    base = estimate.base
    places = {column: k for k, column in enumerate(base.columns)}
    numbers, guesses = [], []
    for k in range(ten, len(prior)):
        if k not in places or not np.isfinite(estimate.values[places[k]]):
            continue
        guess = prior[k] or max(estimate.values[places[k]], estimate.deviations[places[k]])
        if guess > 0.0:
            numbers.append(k)
            guesses.append(float(guess))
    return numbers, np.array(guesses)


Terms = Callable[[Array], tuple[float, Array, Array]]
"""Value, M (m, n) and r (m,): the gradient is Mᵀ r and the Hessian Mᵀ M; the value is infinite outside.

In this form a step is a least squares problem, which loses half as many digits as one with the Hessian.
"""

_STEPS = 200
_DESCENT = 0.1
"""The part of the promised descent that a step must reach."""
_SHORTEST = 1e-12


def minimize(terms: Terms, start: Array, accuracy: float = 1e-10) -> Array:
    """The minimum, from a start inside, to within `accuracy` of its value.

    Raises:
        LogError: no more progress is possible, which only numbers of very different sizes bring about.
    """
    x = start
    value, M, r = terms(x)
    for _ in range(_STEPS):
        Q, R = np.linalg.qr(M)
        along = Q.T @ r
        step = -np.linalg.solve(R, along)
        decrement = float(along @ along)
        if decrement <= 2.0 * accuracy * max(1.0, abs(value)):
            return x
        length = 1.0
        while True:
            ahead, next_M, next_r = terms(x + length * step)
            if ahead <= value - _DESCENT * length * decrement:
                break
            length *= 0.5
            if length < _SHORTEST:
                if decrement <= 1e-6 * max(1.0, abs(value)):
                    return x  # rounding hides the rest of the descent
                raise LogError(
                    "the search for possible inertias stopped early: the parameters or their noise are of very "
                    "different sizes; check the units of the log"
                )
        x, value, M, r = x + length * step, ahead, next_M, next_r
    return x

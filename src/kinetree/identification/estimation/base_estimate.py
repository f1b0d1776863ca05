"""Least squares on base parameters: each joint weighted by its own noise, with covariances.

With the rows of joint j divided by σ_j, the estimate has the smallest covariance of all unbiased linear ones, and that
is (Wᵀ W)⁻¹; σ_j follows from the residuals, so the two are found in turn. Directions that the log did not excite are
found by the singular values of W with columns of unit length.

Source: Gautier and Poignet, "Extended Kalman filtering and weighted least squares dynamic identification of robot"
(2001); Swevers et al., "Optimal robot excitation and identification" (1997).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import LogError, OptionError
from kinetree.identification.base_parameters import BaseParameters
from kinetree.identification.estimation.reduction import reduce_rows
from kinetree.identification.estimation.regression import Regression
from kinetree.inputs import number_between, number_or_row
from kinetree.records import record

__all__ = ["BaseEstimate", "base_estimate", "stacked"]

Array = NDArray[np.float64]

_ROUNDS = 5
_SHARE = 1e-6
"""The share of a parameter in undetermined directions above which it counts as undetermined."""
_SILENT = 1e-9
"""The part of a joint's torques below which its residual counts as rounding."""


@record(frozen=True, slots=True, eq=False, repr=False)
class BaseEstimate:
    """Base parameters as estimated from logs; `print` shows a table."""

    base: BaseParameters
    names: tuple[str, ...]
    """The n estimated numbers: base parameters, others of dry friction, then offsets of the torques."""
    values: Array
    """(n,); NaN where the log has no information."""
    covariance: Array
    """(n, n); infinite on the diagonal, zero off it, where the log has no information."""
    torque_noise: Array
    """(nv,), N·m or N: the standard deviation of each joint's torque that the parameters do not explain."""
    rows: int
    condition: float
    """The condition number of W, its rows not weighted and its columns not scaled, as the literature reports it."""
    unexcited: tuple[str, ...]
    """The parameters that the log does not determine, the least determined first."""
    factor: Array
    """(n, n): R of the weighted rows, with Rᵀ R = Wᵀ W."""
    target: Array
    """(n,): z of the weighted rows; |W x - τ|² = |R x - z|² + a constant."""
    of_friction: int = 0
    """How many numbers of dry friction follow the base parameters: none for Coulomb friction."""

    @property
    def deviations(self) -> Array:
        """The standard deviation of each value (n,)."""
        deviations: Array = np.sqrt(np.diag(self.covariance))
        return deviations

    @property
    def relative_deviations(self) -> Array:
        """Standard deviations as parts of the values (n,); those above 0.1 or so are badly determined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios: Array = self.deviations / np.abs(self.values)
        return np.where(np.isnan(ratios), np.inf, ratios)

    @property
    def f_statistics(self) -> Array:
        """(value / deviation)² (n,): how much worse the log is explained with this parameter zero.

        If it really were zero, this would follow the F distribution with 1 and nv · rows - n degrees of freedom: 5 % of
        such parameters pass 3.84. Gautier's *essential* parameters are those above a bound.
        """
        with np.errstate(invalid="ignore"):
            statistics: Array = (self.values / self.deviations) ** 2
        return np.where(np.isnan(statistics), 0.0, statistics)

    def identifiable(self, within: float = 0.02) -> NDArray[np.bool_]:
        """The parameters that are known within this part of their value (n,): three standard deviations are less.

        Raises:
            OptionError: within is not a positive number.
        """
        is_known: NDArray[np.bool_] = 3.0 * self.relative_deviations <= number_between("identifiable: within", within)
        return is_known

    def __repr__(self) -> str:
        head = (
            f"{self.base.robot.name!r}: parameters ({len(self.names)}) from {self.rows:,} rows, "
            f"condition number {self.condition:.4g}"
        )
        lines = [head]
        for name, value, deviation, part in zip(
            self.names, self.values, self.deviations, self.relative_deviations, strict=True
        ):
            numbers = (
                f"{value:12.5g} ± {deviation:<9.2g} {100.0 * part:7.2g} %"
                if np.isfinite(value)
                else "not excited".rjust(12)
            )
            lines.append(f"  {numbers:35}  {name}")
        return "\n".join(lines)


def base_estimate(
    equations: Regression, *, torque_noise: ArrayLike | None = None, tolerance: float = 1e-7
) -> BaseEstimate:
    """Least squares on the base parameters, each joint weighted by its noise, with covariances.

    Args:
        equations: those of the logs.
        torque_noise: standard deviation of each joint's torque (nv,); by default it follows from the residuals, in turn
            with the estimate.
        tolerance: a direction of the parameters is not excited if W, with columns of unit length, is this short along
            it relative to the longest. The parameters with a share in it are NaN, and their names are in `unexcited`.

    Returns:
        Values, covariance, noise, the condition number, and the directions that were not excited.

    Raises:
        LogError: there are fewer rows than parameters, or all torques are zero.
        OptionError, ShapeError: for options that are out of range.

    Source: Gautier and Poignet, "Extended Kalman filtering and weighted least squares dynamic identification of robot"
    (2001).

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> q, v, qdd = np.random.default_rng(0).normal(size=(3, 100, 2))
    >>> tau = kt.rnea(robot, q, v, qdd)
    >>> equations = kt.identification.Regression(kt.identification.base_parameters(robot))
    >>> equations.add(kt.identification.log_of(robot, np.arange(100.0), q, tau, v=v, qdd=qdd))
    >>> found = kt.identification.base_estimate(equations)
    >>> bool(np.allclose(found.values, found.base.of(kt.identification.inertial_parameters(robot))))
    True
    """
    if not isinstance(equations, Regression):
        raise LogError(f"base_estimate takes a Regression, the equations of logs, not {type(equations).__name__}")
    base, n, nv = equations.base, len(equations.names), equations.base.robot.nv
    if nv * equations.rows <= n:
        raise LogError(f"{equations.rows} rows of {nv} torques are too few for {n} parameters")
    small = number_between("tolerance", tolerance, 0.0, 1.0)
    if not _sizes(equations).any():
        raise LogError("all torques are zero, so they contain no information about the robot")
    stated_noise = None if torque_noise is None else _noise(torque_noise, nv)
    plain = stacked(equations.factors, np.ones(nv))
    lengths = np.linalg.norm(plain[:, :n], axis=0)
    free = _free_directions(plain[:, :n], lengths, small)
    noise = _least(equations) if stated_noise is None else stated_noise
    for _ in range(1 if stated_noise is not None else _ROUNDS):
        R = stacked(equations.factors, 1.0 / noise)
        values, spread = _solved(R, n, lengths, free)
        residual = _residuals(equations, values)
        if stated_noise is None:
            noise = np.maximum(residual, _SILENT * _sizes(equations) + 1e-300)
    R = stacked(equations.factors, 1.0 / noise)
    values, spread = _solved(R, n, lengths, free)
    share = np.linalg.norm(free, axis=1)
    loose = share > _SHARE
    values[loose] = np.nan
    spread[loose], spread[:, loose] = 0.0, 0.0
    spread[loose, loose] = np.inf
    singular = np.linalg.svd(plain[:, :n], compute_uv=False)
    condition = float(singular[0] / singular[-1]) if singular[-1] > 0.0 else float("inf")
    names = tuple(equations.names[k] for k in np.argsort(-share.round(6), kind="stable") if loose[k])
    return BaseEstimate(
        base, equations.names, values, spread, noise, equations.rows, condition, names, R[:n, :n], R[:n, n],
        len(equations.friction.more),
    )  # fmt: skip


def _noise(torque_noise: ArrayLike, nv: int) -> Array:
    x = number_or_row("torque_noise", torque_noise, nv, "degree of freedom")
    if not (np.isfinite(x).all() and (x > 0.0).all()):
        raise OptionError("torque_noise must be positive numbers, the standard deviations of the torques")
    return x


def stacked(factors: Array, weights: Array) -> Array:
    """One triangular matrix (n + 1, n + 1) for the weighted rows of all joints."""
    size = factors.shape[-1]
    R, between = np.zeros((size, size)), np.empty(size)
    for factor, weight in zip(factors, weights, strict=True):
        reduce_rows(R, weight * factor, between)
    return R


def _free_directions(W: Array, lengths: Array, tolerance: float) -> Array:
    """The directions (n, k), of columns of unit length, along which nothing is known."""
    unit = W / np.where(lengths > 0.0, lengths, 1.0)
    _, sizes, rows = np.linalg.svd(unit)
    silent = np.concatenate([sizes, np.zeros(len(rows) - len(sizes))]) <= tolerance * max(sizes[0], 1e-300)
    directions: Array = rows[silent].T
    return directions


def _solved(R: Array, n: int, lengths: Array, free: Array) -> tuple[Array, Array]:
    """The least squares estimate of smallest size apart from the free directions, and its covariance."""
    scale = np.where(lengths > 0.0, lengths, 1.0)
    left, sizes, right = np.linalg.svd(R[:n, :n] / scale)
    rank = len(sizes) - free.shape[1]
    inverse = right[:rank].T / sizes[:rank]
    values = (inverse @ (left[:, :rank].T @ R[:n, n])) / scale
    spread = (inverse / scale[:, None]) @ (inverse / scale[:, None]).T
    return values, spread


def _residuals(equations: Regression, values: Array) -> Array:
    """The standard deviation of each joint's residual."""
    error = equations.factors @ np.append(values, -1.0)
    nv = equations.base.robot.nv
    each = max(equations.rows - len(values) / nv, 1.0)
    residuals: Array = np.sqrt(np.einsum("jk,jk->j", error, error) / each)
    return residuals


def _sizes(equations: Regression) -> Array:
    """The root mean square of each joint's torques."""
    last = equations.factors[:, :, -1]
    lengths: Array = np.sqrt(np.einsum("jk,jk->j", last, last) / max(equations.rows, 1))
    return lengths


def _least(equations: Regression) -> Array:
    """A first guess: all joints alike."""
    return np.full(equations.base.robot.nv, max(float(_sizes(equations).max()), 1e-300))

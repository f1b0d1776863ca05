"""The search for an exciting motion as a function of free numbers: its value, and its exact derivative.

How well a motion excites parameters, as a smooth function of the stacked regressor W.

"condition" is a bound from above on the condition number, log of the p-norms of the eigenvalues of A = Wᵀ W and of
their inverses, (1/2p) (log tr Aᵖ + log tr A⁻ᵖ): the condition number itself has no derivative where two singular values
meet, and that is where its minima are. "determinant" is -½ log det A, the logarithm of the volume of the ellipsoid in
which the estimate is.

Source: Swevers et al., "Optimal robot excitation and identification" (1997), for both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import OptionError
from kinetree.functions.derivatives import vjp
from kinetree.functions.regressors import joint_torque_regressor
from kinetree.identification.base_parameters import BaseParameters
from kinetree.identification.excitation.fourier import FourierTrajectory, basis
from kinetree.identification.excitation.limits import Bounds, barrier
from kinetree.identification.inertial_parameters import inertial_parameters
from kinetree.model import Model
from kinetree.programs import Program

__all__ = ["CRITERIA", "Problem", "condition_number", "criterion"]

Array = NDArray[np.float64]

_PER_HARMONIC = 20
"""Moments per period of the fastest harmonic at which limits are looked at: between them a sine passes by 1.2 %."""
_TRIES = 200


class Problem:
    """A problem: from the free numbers x to a motion, its value and its derivative."""

    def __init__(
        self, robot: Model, base: BaseParameters, kind: str, period: float, harmonics: int,
        keep_positive: Program | None, bounds: Bounds,
    ) -> None:  # fmt: skip
        self.robot, self.base, self.kind, self.bounds, self.program = robot, base, kind, bounds, keep_positive
        self.period, self.harmonics = period, harmonics
        time = np.arange(_PER_HARMONIC * harmonics) * period / (_PER_HARMONIC * harmonics)
        self.functions: tuple[Array, ...] = basis(period, harmonics, time)
        # v(0) = q̈(0) = 0 are two equations for a and b: x are coordinates in what they leave.
        rest = np.stack([f[0] for f in self.functions[1:]])
        self.free: Array = np.linalg.svd(rest)[2][2:].T
        self.functions = tuple(f @ self.free for f in self.functions)
        self.beta: Array = base.of(inertial_parameters(robot, drives=base.drives))
        n = robot.nv
        self.shape: tuple[int, int] = (self.free.shape[1], n)
        self.lows, self.highs = bounds.q

    def motion(self, x: Array) -> tuple[Array, Array, Array]:
        n = self.robot.nv
        weights = x[n:].reshape(self.shape)
        q, v, qdd = (f @ weights for f in self.functions)
        return q + x[:n], v, qdd

    def random(self, rng: np.random.Generator) -> Array:
        """Random numbers whose motion keeps the limits. Raises OptionError if none is found."""
        low = np.where(np.isfinite(self.lows), self.lows, -np.pi)
        high = np.where(np.isfinite(self.highs), self.highs, np.pi)
        for k in range(_TRIES):
            weights = rng.normal(size=self.shape)
            q, v, _ = (f @ weights for f in self.functions)
            scale = np.minimum(0.6 * self.bounds.v[1] / abs(v).max(axis=0), 0.7 * (high - low) / np.ptp(q, axis=0))
            scale = scale * 0.98**k
            shift = 0.5 * (low + high) - 0.5 * scale * (q.max(axis=0) + q.min(axis=0))
            x = np.concatenate([shift, (weights * scale).ravel()])
            if np.isfinite(self.value(x, 1.0)[0]):
                return x
        raise OptionError(
            f"none of {_TRIES} random motions keeps all limits; those of torques or accelerations, or what must stay "
            "positive, leave no room: give a longer period, or weaker limits"
        )

    def value(self, x: Array, weight: float) -> tuple[float, Array]:
        """The criterion and the barriers, and their derivative."""
        q, v, qdd = self.motion(x)
        slopes = [np.zeros_like(q) for _ in range(3)]
        total = 0.0
        for k, (part, bound) in enumerate(((q, self.bounds.q), (v, self.bounds.v), (qdd, self.bounds.qdd))):
            wall, slope = barrier(part, *bound)
            if not np.isfinite(wall):
                return np.inf, x
            total += weight * wall
            slopes[k] += weight * slope
        if self.program is not None:
            wall, slope = self._margins(q)
            if not np.isfinite(wall):
                return np.inf, x
            total += weight * wall
            slopes[0] += weight * slope
        W = self.base.regressor(q, v, qdd)
        worth, by_W = criterion(self.kind, W)
        wall, by_tau = barrier(W @ self.beta, *self.bounds.tau)
        if not np.isfinite(worth + wall):
            return np.inf, x
        by_W = by_W + weight * by_tau[..., None] * self.beta
        for slope, more in zip(slopes, self._by_motion(q, v, qdd, by_W), strict=True):
            slope += more
        by_weights = sum(f.T @ slope for f, slope in zip(self.functions, slopes, strict=True))
        gradient = np.concatenate([slopes[0].sum(axis=0), np.asarray(by_weights).ravel()])
        return total + worth + weight * wall, gradient

    def _by_motion(self, q: Array, v: Array, qdd: Array, by_W: Array) -> list[Array]:
        """Derivatives by q, v and q̈, from those by the entries of the base regressor."""
        bodies, places = self.base.places
        width = 10 * len(bodies) + (3 * self.robot.driven_nv if self.base.drives else 0)
        weights = np.zeros((*by_W.shape[:-1], width))
        weights[..., places] = by_W
        _, gradients = vjp(
            self.robot, joint_torque_regressor, (q, v, qdd), weights, bodies=bodies, drives=self.base.drives,
            wrt=["q", "v", "qdd"], parameters=self.base.parameters or None,
        )  # fmt: skip
        return [gradients["q"], gradients["v"], gradients["qdd"]]

    def _margins(self, q: Array) -> tuple[float, Array]:
        assert self.program is not None
        rooms = np.asarray(self.program(q), dtype=np.float64)
        if not (rooms > 0.0).all():
            return np.inf, q
        _, gradients = vjp(self.program, (q,), -1.0 / rooms / len(q))
        slope: Array = next(iter(gradients.values()))
        return -float(np.log(rooms).sum()) / len(q), slope

    def trajectory(self, x: Array) -> FourierTrajectory:
        n = self.robot.nv
        weights = (self.free @ x[n:].reshape(self.shape)).T
        return FourierTrajectory(
            self.robot, self.period, x[:n], weights[:, : self.harmonics], weights[:, self.harmonics :]
        )  # fmt: skip


CRITERIA = ("condition", "determinant")
_POWER = 4.0


def criterion(kind: str, W: Array) -> tuple[float, Array]:
    """The value, and its derivative by the entries of W (T, nv, n), in the same shape; infinite if W is singular."""
    flat = W.reshape(-1, W.shape[-1])
    sizes, axes = np.linalg.eigh(flat.T @ flat)
    if not sizes[0] > 1e-14 * sizes[-1]:
        return np.inf, np.zeros_like(W)
    if kind == "determinant":
        value, slopes = -0.5 * np.log(sizes).sum(), -0.5 / sizes
    else:
        up, down = sizes / sizes[-1], sizes[0] / sizes
        high, low = (up**_POWER).sum(), (down**_POWER).sum()
        value = 0.5 * (np.log(sizes[-1]) - np.log(sizes[0])) + 0.5 / _POWER * (np.log(high) + np.log(low))
        slopes = 0.5 * (up**_POWER / high - down**_POWER / low) / sizes
    H = (axes * slopes) @ axes.T
    return float(value), 2.0 * W @ H


def condition_number(W: Array) -> float:
    """The largest singular value of W (T, nv, n) relative to the smallest."""
    sizes = np.linalg.svd(W.reshape(-1, W.shape[-1]), compute_uv=False)
    return float(sizes[0] / sizes[-1]) if sizes[-1] > 0.0 else float("inf")

"""The search for an exciting motion as a function of free numbers: its value, and its exact derivative."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import OptionError
from kinetree.functions.derivatives import vjp
from kinetree.functions.regressors import joint_torque_regressor
from kinetree.identification.base_parameters import BaseParameters
from kinetree.identification.excitation.criterion import criterion
from kinetree.identification.excitation.fourier import FourierTrajectory, basis
from kinetree.identification.excitation.limits import Bounds, barrier
from kinetree.identification.inertial_parameters import inertial_parameters
from kinetree.model import Model
from kinetree.programs import Program

__all__ = ["Problem"]

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

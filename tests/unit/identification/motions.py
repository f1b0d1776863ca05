"""Motions and logs of robots whose parameters are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import kinetree as kt
from kinetree.identification import Log, log_of

Array = NDArray[np.float64]

PENDULUM = kt.zoo.load("double_pendulum")


def waves(robot: kt.Model, time: Array) -> tuple[Array, Array, Array]:
    """Three sines per joint, with their derivatives."""
    rates = np.array([1.3, 2.9, 4.1])[:, None] * (1.0 + 0.13 * np.arange(robot.nv))
    phase = 0.7 * np.arange(3 * robot.nv).reshape(3, -1)
    angle = rates * time[:, None, None] + phase
    return np.sin(angle).sum(1), (rates * np.cos(angle)).sum(1), -(rates**2 * np.sin(angle)).sum(1)


def changed(robot: kt.Model, seed: int, by: float = 0.2) -> kt.Model:
    """A robot whose bodies have other inertias, all of them possible."""
    rng = np.random.default_rng(seed)
    pi = kt.identification.inertial_parameters(robot).reshape(-1, 10)
    for k, ten in enumerate(pi):
        try:
            theta = kt.identification.log_cholesky.from_parameters(ten)
        except kt.errors.ModelError:
            continue
        pi[k] = kt.identification.log_cholesky.to_parameters(theta + by * rng.normal(size=10) * ([1.0] * 4 + [0.2] * 6))
    return kt.identification.with_inertial_parameters(robot, pi.ravel())


def exact_log(robot: kt.Model, truth: kt.Model, *, rows: int = 1000, step: float = 0.01, passive: bool = False) -> Log:
    """A log of `truth`, said to be of `robot`, without noise."""
    time = step * np.arange(rows)
    q, v, qdd = waves(robot, time)
    tau = kt.rnea(truth, q, v, qdd, passive=["damping", "friction"]) if passive else kt.rnea(truth, q, v, qdd)
    return log_of(robot, time, q, tau, v=v, qdd=qdd)

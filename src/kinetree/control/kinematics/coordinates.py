"""Which degrees of freedom have a coordinate of their own, with limits, and where searches start.

A degree of freedom of a revolute or prismatic joint moves one coordinate at the same rate, so that limits of the
coordinate are limits of displacements. Those of free and spherical joints do not; they have no limits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.functions.manifold import coordinate_rates
from kinetree.model import Model

__all__ = ["Coordinates"]


class Coordinates:
    """The coordinates of a robot as a search sees them."""

    def __init__(self, robot: Model) -> None:
        self.robot = robot
        rates = np.stack([coordinate_rates(robot, robot.random(seed), np.eye(robot.nv)) for seed in range(2)])
        moves = (rates != 0.0).any(axis=0)
        pairs = [(i, int(np.argmax(moves[i]))) for i in range(robot.nv) if moves[i].sum() == 1]
        pairs = [(i, j) for i, j in pairs if (rates[:, i, j] == 1.0).all() and moves[:, j].sum() == 1]
        self.freedoms: list[int] = [i for i, _ in pairs]
        """The degrees of freedom with a coordinate of their own."""
        self.own: list[int] = [j for _, j in pairs]
        """Their coordinates."""
        self._freedom_of = {j: k for k, j in enumerate(self.own)}
        reach = np.full(robot.nq, math.pi)
        self._attitudes: list[list[int]] = []
        """The quaternions of spherical joints."""
        for joint in robot.joints.values():
            if joint.has_coordinates:
                reach[joint.q_slice] = [math.pi if unit == "rad" else 1.0 for unit in joint.kind.q_units]
                if joint.kind.quaternions and joint.kind.nv == 3:
                    self._attitudes.append(list(range(joint.q_slice.start, joint.q_slice.stop)))
        self.reach: NDArray[np.float64] = reach[self.own]
        """How far starts are from the first one at unlimited coordinates: half a turn, or a metre."""
        self.drawn: int = len(self.own) + 3 * len(self._attitudes)
        """How many numbers from 0 to 1 a start is made from."""
        self.steps: NDArray[np.float64] = np.sqrt(_primes(self.drawn)) % 1.0

    def unlimited(self, limits: NDArray[np.float64]) -> list[int]:
        """The coordinates with a finite limit that is not one of a degree of freedom."""
        return [j for j in range(self.robot.nq) if j not in self._freedom_of and np.isfinite(limits[..., j]).any()]

    def clipped(self, q: Any, lower: Any, upper: Any) -> Any:
        """The configuration with coordinates that have limits within these."""
        own = np.clip(q[self.own], lower[self.own], upper[self.own])
        return self._with_own(q, own)

    def start(self, k: Any, q0: Any, lower: Any, upper: Any, shift: Any) -> Any:
        """The k-th configuration to start from: k steps of a sequence that fills the limits evenly, from a shift.

        Attitudes of spherical joints are spread evenly over all. Free joints stay as in q0: tasks move the whole robot
        anyway, and one that walks should not begin upside down.

        Sources: Niederreiter, *Random Number Generation and Quasi-Monte Carlo Methods* (1992), section 3.1 (multiples
        of square roots of primes, modulo one); Shoemake, "Uniform random rotations", Graphics Gems III (1992).
        """
        u = shift + k * self.steps
        u = u - np.floor(u)
        own, turns = u[: len(self.own)], u[len(self.own) :]
        q = [*q0]
        for n, places in enumerate(self._attitudes):
            for j, x in zip(places, _attitude(turns[3 * n : 3 * n + 3]), strict=True):
                q[j] = x
        low, high = lower[self.own], upper[self.own]
        begin = q0[self.own]
        low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2.0 * self.reach, begin - self.reach))
        high = np.where(np.isfinite(high), high, low + 2.0 * self.reach)
        return self._with_own(q, low + own * (high - low))

    def spread(self, own: Any, others: Any) -> Any:
        """Numbers of all degrees of freedom (nv,): those with a coordinate of their own, and the others' of these."""
        places = {i: k for k, i in enumerate(self.freedoms)}
        return np.stack([own[places[i]] if i in places else others[i] for i in range(self.robot.nv)])

    def _with_own(self, q: Any, own: Any) -> Any:
        """The configuration with these coordinates in place of those with degrees of freedom of their own."""
        places = [self._freedom_of.get(j) for j in range(self.robot.nq)]
        return np.stack([q[j] if k is None else own[k] for j, k in enumerate(places)])


def _attitude(u: Any) -> list[Any]:
    """The quaternion x, y, z, w of three numbers from 0 to 1: evenly spread, if they are."""
    inner, outer = np.sqrt(1.0 - u[0]), np.sqrt(u[0])
    first, second = 2.0 * np.pi * u[1], 2.0 * np.pi * u[2]
    return [inner * np.sin(first), inner * np.cos(first), outer * np.sin(second), outer * np.cos(second)]


def _primes(count: int) -> NDArray[np.float64]:
    primes: list[int] = []
    number = 2
    while len(primes) < count:
        if all(number % p for p in primes):
            primes.append(number)
        number += 1
    return np.array(primes, dtype=np.float64)

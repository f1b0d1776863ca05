"""A motion at other moments than those that were computed.

Source: de Boor, *A Practical Guide to Splines* (1978), chapter IV (cubic Hermite interpolation).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.sim.trajectory_arrays import TrajectoryArrays

__all__ = ["Moments"]

Array = NDArray[np.float64]


class Moments:
    """Moments within a motion: for each the row before it, and how far it is on the way to the next row."""

    def __init__(self, time: Array, wanted: Array) -> None:
        """`time` (T,), increasing; `wanted` (K,), within it."""
        last = max(len(time) - 2, 0)
        self._before = np.clip(np.searchsorted(time, wanted, side="right") - 1, 0, last)
        self._after = np.minimum(self._before + 1, len(time) - 1)
        step = time[self._after] - time[self._before]
        self._step = np.where(step > 0.0, step, 1.0)
        self._part = (wanted - time[self._before]) / self._step

    def held(self, x: Array) -> Array:
        """Rows of x (…, T, n) that hold until the next, (…, K, n)."""
        reached = np.where(self._part >= 1.0, self._after, self._before)
        result: Array = x[..., reached, :]
        return result

    def linear(self, x: Array) -> Array:
        """Points (…, K, n) on the straight lines between rows of x (…, T, n)."""
        x0, x1 = x[..., self._before, :], x[..., self._after, :]
        result: Array = x0 + self._part[:, None] * (x1 - x0)
        return result

    def cubic(self, x: Array, rates: Array) -> Array:
        """Points on the cubics that have the values x and the rates of change of the rows around them."""
        s, h = self._part[:, None], self._step[:, None]
        x0, x1 = x[..., self._before, :], x[..., self._after, :]
        r0, r1 = h * rates[..., self._before, :], h * rates[..., self._after, :]
        change = x1 - x0
        result: Array = x0 + s * (r0 + s * (3.0 * change - 2.0 * r0 - r1 + s * (r0 + r1 - 2.0 * change)))
        return result

    def configurations(self, motion: TrajectoryArrays) -> Array:
        """Cubics for coordinates whose rates are in v, which have no part in their name; straight lines for others.

        On a straight line between two attitudes quaternions have length 1 again, so that they turn about one axis.
        """
        q, v, names = motion.q, motion.v, motion.q_names
        result = self.linear(q)
        rates = {name: k for k, name in enumerate(motion.v_names)}
        plain = [k for k, name in enumerate(names) if name in rates and "." not in name]
        result[..., plain] = self.cubic(q[..., plain], v[..., [rates[names[k]] for k in plain]])
        for _, k in motion.quaternions:
            nearer = self._shorter_way(q[..., k : k + 4])
            result[..., k : k + 4] = nearer / np.linalg.norm(nearer, axis=-1, keepdims=True)
        return result

    def _shorter_way(self, q: Array) -> Array:
        """Between quaternions; two opposite ones are one attitude."""
        q0, q1 = q[..., self._before, :], q[..., self._after, :]
        q1 = np.where(np.sum(q0 * q1, axis=-1, keepdims=True) < 0.0, -q1, q1)
        result: Array = q0 + self._part[:, None] * (q1 - q0)
        return result

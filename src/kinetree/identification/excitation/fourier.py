"""Periodic motions as finite Fourier series: position, velocity and acceleration are known exactly at all times.

Source: Swevers et al., "Optimal robot excitation and identification" (1997), eq. 8.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.files import file_path, write_file
from kinetree.inputs import number_between, real_array, whole_between
from kinetree.model import Model
from kinetree.number_files.csv_tables import write_table
from kinetree.records import record

__all__ = ["FourierTrajectory", "Motion", "basis"]

Array = NDArray[np.float64]


class Motion(NamedTuple):
    """Where the joints are, and how they move, each (…, n)."""

    q: Array
    v: Array
    qdd: Array


@record(frozen=True, slots=True, eq=False, repr=False)
class FourierTrajectory:
    """q_j(t) = q0_j + Σ_l a_jl / (ω l) sin(ω l t) - b_jl / (ω l) cos(ω l t), with ω = 2π / period."""

    robot: Model
    period: float
    """s."""
    center: Array
    """(n,): q0."""
    sines: Array
    """(n, harmonics): a, the amplitudes of the velocities; rad/s, m/s."""
    cosines: Array
    """(n, harmonics): b."""

    def __repr__(self) -> str:
        return (
            f"periodic motion of {self.robot.name!r}: {self.sines.shape[1]} harmonics in {self.period:g} s, up to "
            f"{self.sines.shape[1] / self.period:g} Hz"
        )

    def at(self, time: ArrayLike) -> Motion:
        """Positions, velocities and accelerations (…, n) at times (…,) in s.

        Raises:
            DTypeError: the times are not real numbers.
        """
        t = real_array("time", time, "(…,)").astype(np.float64)
        functions = basis(self.period, self.sines.shape[1], t)
        weights = np.concatenate([self.sines, self.cosines], axis=1).T
        q, v, qdd = (x @ weights for x in functions)
        return Motion(q + self.center, v, qdd)

    def save(self, path: str | os.PathLike[str], *, rate: float = 1000.0, periods: int = 1) -> Path:
        """Write the motion as CSV, for the robot's own controller: "time", "q.NAME", "v.NAME" and "qdd.NAME".

        Args:
            path: of the file; ".csv" is appended to a name without it.
            rate: rows per second.
            periods: how often the motion is repeated.

        Raises:
            OptionError: the rate is not positive, or periods is not a whole number from 1 to a million.
            SaveError: the file cannot be written.
        """
        hertz, times = number_between("save: rate", rate, unit="Hz"), whole_between("save: periods", periods, 1, 10**6)
        target = file_path("save", path, ".csv")
        time = np.arange(round(times * self.period * hertz) + 1) / hertz
        robot = self.robot
        named = (("q", robot.q_names), ("v", robot.v_names), ("qdd", robot.v_names))
        columns = {"time": time} | {
            f"{kind}.{name}": x
            for (kind, names), rows in zip(named, self.at(time), strict=True)
            for name, x in zip(names, rows.T, strict=True)
        }
        write_file(target, lambda file: write_table(file, columns))
        return target


def basis(period: float, harmonics: int, time: Array) -> tuple[Array, Array, Array]:
    """The functions (…, 2 harmonics) that a and b are multiplied with, for q, v and q̈ at times (…,)."""
    omega = 2.0 * np.pi / period * np.arange(1, harmonics + 1)
    angle = time[..., None] * omega
    sin, cos = np.sin(angle), np.cos(angle)
    return (
        np.concatenate([sin / omega, -cos / omega], axis=-1),
        np.concatenate([cos, sin], axis=-1),
        np.concatenate([-omega * sin, omega * cos], axis=-1),
    )

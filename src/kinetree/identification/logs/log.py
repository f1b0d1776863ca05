"""A log: where a robot was, and the torques of its joints, at increasing times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import LogError, OptionError, listed, visible
from kinetree.inputs import number_between, real_number
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Log", "Smoothing", "check_log"]

Array = NDArray[np.float64]

_EVEN = 0.01
"""The part of a time step by which the times of evenly sampled logs may differ from a grid."""
_GAP = 1.5
"""A step longer than this many usual ones is a gap."""


@record(frozen=True, slots=True, eq=False, repr=False)
class Log:
    """A motion as it was measured: T rows at increasing times, without NaN. `log_of` and `read_log` make one.

    Nothing in it was changed: unusual values are reported by `remarks` and by `kinetree.identification.suspicions`.
    """

    robot: Model
    time: Array
    """(T,), s."""
    q: Array
    """(T, nq); rad, m."""
    tau: Array
    """(T, nv); N·m, N: the forces of the motors. A floating base has none: its six are zero."""
    v: Array | None = None
    """(T, nv), or None if velocities were not measured."""
    qdd: Array | None = None
    """(T, nv), or None."""
    source: str = ""
    """The file."""
    remarks: tuple[str, ...] = field(default=())
    """Parts that were left out when the file was read, and later changes of the log, in words."""
    smoothing: Smoothing | None = None
    """The filter that the rows have passed; see `of_velocity`."""

    def __repr__(self) -> str:
        parts = [name for name in ("q", "v", "qdd", "tau") if getattr(self, name) is not None]
        lines = [
            f"log of {self.robot.name!r}: {len(self.time):,} rows over {self.duration:g} s, "
            f"{1.0 / self.step:.6g} Hz, {', '.join(parts)}"
        ]
        return visible("\n  ".join([*lines, *self.remarks]))

    def __len__(self) -> int:
        return len(self.time)

    @property
    def duration(self) -> float:
        """The time from the first row to the last, s."""
        return float(self.time[-1] - self.time[0])

    @property
    def step(self) -> float:
        """The usual time from one row to the next, s: the median."""
        return float(np.median(np.diff(self.time)))

    @property
    def gaps(self) -> list[int]:
        """The rows before which more than 1.5 usual time steps have passed."""
        return self._longer_than(_GAP * self.step)

    @property
    def is_even(self) -> bool:
        """Whether the rows are evenly spaced, within a hundredth of a time step."""
        grid = np.linspace(self.time[0], self.time[-1], len(self.time))
        return bool(np.abs(self.time - grid).max() <= _EVEN * self.step)

    def of_velocity(self, function: Callable[[Array], Array]) -> Array:
        """A function of velocities (…, nv), at the rows of the log, as the filter of the log lets it through.

        Torques that are functions of the velocity, such as friction, have passed the filter with all others: it is
        computed at all rows that were measured, and filtered as they were.

        Raises:
            LogError: the log has no velocities.
        """
        if self.v is None:
            raise LogError(f"the log{self.origin} has no velocities; kinetree.identification.filtered finds them")
        if self.smoothing is None:
            return function(self.v)
        signals = function(self.smoothing.v)
        return (self.smoothing.lowpass(signals) if signals.size else signals)[self.smoothing.kept]

    def rows(self, first: float | None = None, last: float | None = None) -> Log:
        """The part between two times, s, both included.

        Raises:
            LogError: fewer than two rows remain.
            OptionError: first or last is not a number.
        """
        low, high = (_moment(name, x, end) for name, x, end in (("first", first, -np.inf), ("last", last, np.inf)))
        return self.at_rows(np.flatnonzero((self.time >= low) & (self.time <= high)))

    def pieces(self, longest: float | None = None) -> list[Log]:
        """The log, cut at its gaps; pieces of a single row are left out, and a remark of the others says so.

        Args:
            longest: the longest time between two rows that is not cut, s; by default 1.5 usual time steps.
        """
        gaps = self.gaps if longest is None else self._longer_than(number_between("pieces: longest", longest))
        cuts = np.split(np.arange(len(self.time)), gaps)
        lost = sum(len(rows) < 2 for rows in cuts)
        remark = (f"{lost} single rows between gaps were left out",) if lost else ()
        return [replace(self.at_rows(rows), remarks=self.remarks + remark) for rows in cuts if len(rows) >= 2]

    def resampled(self, rate: float, *, bridge: float | None = None) -> Log:
        """The log at evenly spaced times, by straight lines between its rows.

        Lines attenuate motion at frequencies near that of the rows: by 1 - (sin x / x)² with x = π f / rate, 0.3 % at a
        thirtieth of it.

        Args:
            rate: rows per second, Hz.
            bridge: the longest gap that a line may cross, s; by default none. Robots that lose a few messages have
                many gaps of some milliseconds, which matter little for a filter with a cutoff far below their inverse.

        Raises:
            LogError: the log has gaps, or longer ones.
            OptionError: the rate is not a positive number.
        """
        hertz = number_between("resampled: rate", rate, unit="Hz")
        if not all(kind.is_flat for kind in self.robot.tree.joint[1:]):
            raise LogError(
                f"resampled: {self.robot.name!r} has joints whose coordinates are not plain angles or lengths, and "
                "between two of their rows are not straight lines; give a log with even times"
            )
        self.check_whole("resampled", bridge)
        time = self.time[0] + np.arange(int(self.duration * hertz + 1e-9) + 1) / hertz
        longest = float(np.diff(self.time).max())
        crossed = f", across gaps of up to {longest:.3g} s" if self.gaps else ""
        remark = (f"resampled at {hertz:g} Hz from rows {self.step:.3g} s apart{crossed}",)
        parts: dict[str, Any] = {
            name: _between(time, self.time, getattr(self, name)) for name in ("q", "tau", "v", "qdd")
        }
        return replace(self, time=time, remarks=self.remarks + remark, smoothing=None, **parts)

    def check_whole(self, what: str, bridge: float | None = None) -> None:
        """Raise a LogError if there are gaps, or gaps longer than `bridge`."""
        gaps = self.gaps if bridge is None else self._longer_than(number_between(f"{what}: bridge", bridge))
        if gaps:
            intervals = listed([f"{self.time[k - 1]:.6g} s to {self.time[k]:.6g} s" for k in gaps], most=3)
            raise LogError(
                f"{what}: the log{self.origin} has gaps ({intervals}), where rows are "
                f"usually {self.step:.3g} s apart; use each of log.pieces() by itself, or let log.resampled(rate, "
                "bridge=seconds) cross those that are short"
            )

    def _longer_than(self, seconds: float) -> list[int]:
        """The rows before which more than so many seconds have passed."""
        return [int(k) + 1 for k in np.flatnonzero(np.diff(self.time) > seconds)]

    @property
    def origin(self) -> str:
        """The file in messages, or nothing."""
        return f" {self.source}" if self.source else ""

    def at_rows(self, rows: NDArray[np.intp]) -> Log:
        """The rows with these numbers. Raises a LogError if they are fewer than two."""
        if len(rows) < 2:
            raise LogError(f"fewer than two rows of the log{self.origin} remain ({len(rows)}); at least two are needed")
        parts: dict[str, Any] = {
            name: None if (x := getattr(self, name)) is None else x[rows] for name in ("q", "tau", "v", "qdd")
        }
        smoothing = self.smoothing and replace(self.smoothing, kept=self.smoothing.kept[rows])
        return replace(self, time=self.time[rows], smoothing=smoothing, **parts)


def check_log(function: str, log: Any) -> Log:
    """The log; raises `LogError` for anything else."""
    if not isinstance(log, Log):
        raise LogError(f"{function} takes a log, of kinetree.identification.read_log or log_of, not {log!r:.60}")
    return log


def _moment(name: str, given: Any, otherwise: float) -> float:
    time = otherwise if given is None else real_number(given)
    if time is None:
        raise OptionError(f"rows: {name} must be a time in seconds, not {given!r:.60}")
    return time


def _between(time: Array, own: Array, x: Array | None) -> Array | None:
    return None if x is None else np.stack([np.interp(time, own, column) for column in x.T], axis=1)


@record(frozen=True, slots=True, eq=False)
class Smoothing:
    """A filter of all measured rows, some of which a log keeps."""

    v: Array
    """(M, nv): the velocities at all M measured rows, smoothed."""
    lowpass: Callable[[Array], Array]
    """From signals (M, …) to smooth ones."""
    kept: NDArray[np.intp]
    """(T,): the rows that the log keeps."""

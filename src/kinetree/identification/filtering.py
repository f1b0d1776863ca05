"""Velocities and accelerations from positions, and noise taken out of a log, without a shift in time.

Source: Gautier, "Dynamic identification of robots with power model" (1997), for the same low-pass filter on positions
and torques and the decimation of rows; Savitzky and Golay, "Smoothing and differentiation of data by simplified least
squares procedures" (1964).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import LogError, MissingPackageError, OptionError
from kinetree.identification.logs.log import Log, Smoothing, check_log
from kinetree.inputs import chosen_word, flag, real_number, whole_between

__all__ = ["filtered"]

Array = NDArray[np.float64]

METHODS = ("butterworth", "savitzky_golay")
_ENDS = 3.0
"""Periods of the cutoff after which the filter has forgotten where the log begins: to a thousandth."""
_DEGREE = 4
"""The degree of the polynomials of Savitzky and Golay."""
_WIDTH = 2.0
"""Their window in periods of the cutoff: a fit of degree 4 then halves the power at about the cutoff."""


def filtered(log: Log, cutoff: float, *, method: str = "butterworth", order: int = 4, decimate: bool = True) -> Log:
    """A log without frequencies above the cutoff, with velocities and accelerations from its positions.

    Positions and torques pass the same filter, so that it does not come between them, and so do functions of the
    velocity that jump, such as dry friction, when they are asked for (`Log.of_velocity`); measured velocities and
    accelerations are not used. No row is shifted in time. Rows at both ends, where a filter has one side only, are left
    out: three periods of the cutoff each.

        "butterworth"     a Butterworth low-pass filter forward and backward, then central differences; the gain is 1/2
                          at the cutoff, and differences attenuate motion at frequency f by (2π f step)²/6
        "savitzky_golay"  polynomials of degree 4 over two periods of the cutoff around each row, and their derivatives

    Filtered rows are not independent any more, and covariances would look too small. So only every n-th row is kept,
    such that there are about two per period of the cutoff; `decimate=False` keeps all.

    The cutoff should be at least five times the fastest frequency of the motion: for a Fourier series of five harmonics
    in 10 s, 2.5 Hz or more.

    Args:
        log: evenly spaced rows; see `Log.pieces` and `Log.resampled` for others.
        cutoff: Hz.
        method: "butterworth" or "savitzky_golay".
        order: that of the Butterworth filter, for each of the two directions.
        decimate: whether rows are left out until they are about independent.

    Returns:
        A log with q, v, qdd and tau.

    Raises:
        LogError: the log has gaps or uneven times, is too short, or has joints whose coordinates are quaternions.
        OptionError: the cutoff is not below half the rate of rows, or another option is out of its range.
        MissingPackageError: SciPy is not installed.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> motion = kt.simulate(robot, q=[1.0, 0.5], duration=5.0)
    >>> log = kt.identification.log_of(robot, motion.time, motion.q, motion.tau)
    >>> smooth = kt.identification.filtered(log, 20.0)
    >>> bool(abs(smooth.v - motion.v[np.searchsorted(motion.time, smooth.time - 1e-6)]).max() < 0.05)
    True
    """
    robot = check_log("filtered", log).robot
    if not all(kind.is_flat for kind in robot.tree.joint[1:]):
        raise LogError(
            f"filtered: {robot.name!r} has joints with quaternions or other coordinates that are not numbers of their "
            "own, which no filter takes; give a log with v and qdd, filtered where they come from"
        )
    chosen_word("filtered: method", method, *METHODS)
    poles, thinned = whole_between("filtered: order", order, 1, 12), flag("filtered: decimate", decimate)
    log.check_whole("filtered")
    if not log.is_even:
        raise LogError(
            f"filtered: the rows of the log{log.origin} are not evenly spaced ({np.diff(log.time).min():.3g} s to "
            f"{np.diff(log.time).max():.3g} s); use log.resampled({1.0 / log.step:.4g}) first, if the times are right"
        )
    step = log.duration / (len(log) - 1)
    hertz = real_number(cutoff)
    if hertz is None or not 0.0 < hertz < 0.5 / step:
        raise OptionError(
            f"filtered: cutoff must be a frequency below {0.5 / step:.6g} Hz, half the rate of rows, not "
            f"{cutoff!r:.60}; rows are {step:.3g} s apart, as times are read in seconds"
        )
    ends = int(np.ceil(_ENDS / (hertz * step)))
    if len(log) < 2 * ends + 3:
        raise LogError(
            f"filtered: {log.duration:g} s are too short for a cutoff of {hertz:g} Hz: {2 * ends * step:g} s are "
            "lost at the ends"
        )
    signal = _signal()
    if method == "butterworth":
        sections = signal.butter(poles, hertz, fs=1.0 / step, output="sos")
        lowpass = partial(signal.sosfiltfilt, sections, axis=0)
        q = lowpass(log.q)
        v = np.gradient(q, step, axis=0)
        qdd = np.empty_like(q)
        qdd[1:-1] = (q[2:] - 2.0 * q[1:-1] + q[:-2]) / step**2
        qdd[[0, -1]] = qdd[[1, -2]]
        # Decimated noise is white again if half its power is left at half the new rate.
        band = hertz * (np.sqrt(2.0) - 1.0) ** (0.5 / poles)
    else:
        window = 2 * max(round(0.5 * _WIDTH / (hertz * step)), _DEGREE) + 1
        q, v, qdd = (signal.savgol_filter(log.q, window, _DEGREE, k, step, axis=0) for k in range(3))
        lowpass = partial(signal.savgol_filter, window_length=window, polyorder=_DEGREE, axis=0)
        band = hertz
    every = max(int(0.5 / (band * step)), 1) if thinned else 1
    rows = np.arange(ends, len(log) - ends, every)
    note = (f"filtered at {hertz:g} Hz ({method}), {ends * step:.3g} s left out at both ends, one row of {every} kept",)
    return replace(
        log, time=log.time[rows], q=q[rows], v=v[rows], qdd=qdd[rows], tau=lowpass(log.tau)[rows],
        remarks=log.remarks + note, smoothing=Smoothing(v, lowpass, rows),
    )  # fmt: skip


def _signal() -> Any:
    try:
        from scipy import signal
    except ImportError:
        raise MissingPackageError("filtered needs SciPy: pip install 'kinetree[identify]'") from None
    return signal

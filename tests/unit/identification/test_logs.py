"""Logs: their faults are reported, and nothing is repaired."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification import log_of, suspicions

from .motions import PENDULUM, exact_log

ROWS = exact_log(PENDULUM, PENDULUM, rows=300)
PARTS = (ROWS.time, ROWS.q, ROWS.tau)


def test_a_log_says_what_it_is() -> None:
    assert len(ROWS) == 300
    assert ROWS.is_even
    assert not ROWS.gaps
    assert repr(ROWS) == "log of 'double_pendulum': 300 rows over 2.99 s, 100 Hz, q, v, qdd, tau"
    part = ROWS.rows(1.0, 2.0)
    assert (part.time[0], part.time[-1], len(part)) == (1.0, 2.0, 101)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_reported_with_their_row(number: float) -> None:
    q = ROWS.q.copy()
    q[[7, 9], 1] = number
    with pytest.raises(
        kt.errors.LogError, match=r"q\.\w+, first in row 7 \(rows in all: 2\)\. Nothing is put in their place"
    ):
        log_of(PENDULUM, ROWS.time, q, ROWS.tau)


def test_times_that_go_back_are_reported() -> None:
    time = ROWS.time.copy()
    time[[10, 11]] = time[[11, 10]]
    with pytest.raises(
        kt.errors.LogError, match=r"first from row 10 \(0\.11 s\) to row 11 \(0\.1 s\), and 1 times in all"
    ):
        log_of(PENDULUM, time, ROWS.q, ROWS.tau)


def test_mismatched_shapes_are_reported() -> None:
    with pytest.raises(
        kt.errors.LogError, match=r"tau of shape \(300, 1\), but 300 times and 'double_pendulum' need \(300, 2\)"
    ):
        log_of(PENDULUM, ROWS.time, ROWS.q, ROWS.tau[:, :1])
    with pytest.raises(kt.errors.LogError, match="at least two rows"):
        log_of(PENDULUM, [0.0], ROWS.q[:1], ROWS.tau[:1])


def test_gaps_are_cut_and_uneven_times_are_interpolated_only_if_it_is_asked_for() -> None:
    keep = np.r_[0:100, 150:300]
    log = ROWS.at_rows(keep)
    assert log.gaps == [100]
    assert [len(piece) for piece in log.pieces()] == [100, 150]
    with pytest.raises(
        kt.errors.LogError, match=r"has gaps \(0\.99 s to 1\.5 s\), where rows are usually 0\.01 s apart"
    ):
        log.resampled(100.0)
    with pytest.raises(kt.errors.LogError, match=r"use each of log\.pieces"):
        kt.identification.filtered(log, 5.0)
    uneven = log_of(PENDULUM, ROWS.time + 0.003 * np.sin(np.arange(300.0)), ROWS.q, ROWS.tau)
    assert not uneven.is_even
    with pytest.raises(kt.errors.LogError, match=r"not evenly spaced .* log\.resampled\(100"):
        kt.identification.filtered(uneven, 5.0)
    bridged = log.resampled(100.0, bridge=0.6)
    assert bridged.is_even
    assert bridged.remarks == ("resampled at 100 Hz from rows 0.01 s apart, across gaps of up to 0.51 s",)
    assert len(log.pieces(0.6)) == 1
    with pytest.raises(kt.errors.OptionError, match="first must be a time in seconds"):
        log.rows("1")  # type: ignore[arg-type]
    even = uneven.resampled(100.0)
    assert even.is_even
    assert even.remarks == ("resampled at 100 Hz from rows 0.01 s apart",)
    with pytest.raises(kt.errors.OptionError, match="rate must be a positive number of Hz"):
        uneven.resampled(0.0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"v": np.degrees(ROWS.v)}, "57.3 times the rates of the positions: degrees per second"),
        ({"q": np.degrees(ROWS.q)}, "positions in degrees?"),
        ({"time": 1000.0 * ROWS.time}, "times in milliseconds?"),
        ({"v": -ROWS.v}, "opposite sign of the rates"),
        ({"tau": 1000.0 * ROWS.tau}, "in N·mm?"),
        ({"tau": -ROWS.tau}, "opposite sign of those of the robot's own numbers"),
        ({"tau": 0.0 * ROWS.tau}, "all torques are zero"),
        ({"q": ROWS.q * [1.0, 0.0]}, "did not move at all"),
    ],
    ids=["degrees per second", "degrees", "milliseconds", "sign of v", "N mm", "sign of tau", "no torques", "still"],
)
def test_values_plausible_in_other_units_are_reported(change: dict[str, np.ndarray], sentence: str) -> None:
    parts = {"time": ROWS.time, "q": ROWS.q, "tau": ROWS.tau, "v": ROWS.v} | change
    found = suspicions(log_of(PENDULUM, parts["time"], parts["q"], parts["tau"], v=parts["v"]))
    assert any(sentence in one for one in found), found


def test_nothing_is_suspicious_in_a_log_that_is_right() -> None:
    assert suspicions(ROWS) == []
    assert suspicions(log_of(PENDULUM, *PARTS)) == []


def test_velocities_of_single_joints_are_looked_at() -> None:
    assert ROWS.v is not None
    found = suspicions(log_of(PENDULUM, *PARTS, v=ROWS.v * [1.0, 3.0]))
    assert len(found) == 1
    assert "is 3 times the rate of its position" in found[0]


def test_degrees_are_detected_without_velocities_and_limits() -> None:
    found = suspicions(log_of(PENDULUM, ROWS.time, np.degrees(ROWS.q), ROWS.tau))
    assert any("if the positions are in degrees" in one for one in found), found

"""Sliders for coordinates of every kind of joint."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.viewer.sliders import _finite, dials_of
from tests.robots import _kinds


@pytest.mark.parametrize("kind", sorted(_kinds()))
def test_sliders_reach_every_configuration(kind: str) -> None:
    builder = kt.ModelBuilder("one joint")
    builder.add_body("base")
    builder.add_body("link", kt.solids.box(0.1, 0.2, 0.3, mass=1.0))
    builder.add_joint("joint", _kinds()[kind], "base", "link")
    robot = builder.build()
    q = robot.random(0)
    dials = dials_of(robot, 1.0)
    covered = [k for dial in dials for k in range(dial.place.start, dial.place.stop)]
    assert covered == list(range(robot.nq))
    found = robot.neutral()
    for dial in dials:
        assert len(dial.labels) == (1 if dial.place.stop == dial.place.start + 1 else 3)
        dial.write(found, dial.read(q))
    assert np.allclose(robot.difference(found, q), 0.0, atol=1e-9)


def test_sliders_end_at_limits() -> None:
    arm = kt.zoo.load("arm6")
    for dial, low, high in zip(dials_of(arm, 1.0), arm.lower, arm.upper, strict=True):
        assert (dial.low, dial.high) == (low, high)
        assert f"from {low:.6g} to {high:.6g}" in dial.hint


def test_what_nothing_limits() -> None:
    dials = dials_of(kt.zoo.load("double_pendulum"), 1.7)
    assert [(dial.low, dial.high) for dial in dials] == [(-np.pi, np.pi)] * 2
    assert all("no limits" in dial.hint for dial in dials)
    place = dials_of(kt.zoo.load("quadruped"), 1.7)[0]
    assert (place.labels, place.low, place.high) == (("root_joint.x, m",), -2.0, 2.0)


def test_what_follows_another_joint_has_no_slider() -> None:
    builder = kt.ModelBuilder("gripper")
    builder.add_body("base")
    for side in ("left", "right"):
        builder.add_body(side, kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    limits = kt.model.Limits((0.0,), (0.04,), (1.0,), (10.0,))
    builder.add_joint("left", kt.Prismatic([1, 0, 0]), "base", "left", limits=limits)
    builder.add_joint("right", kt.Prismatic([-1, 0, 0]), "base", "right", mimic=kt.model.Mimic("left"))
    (dial,) = dials_of(builder.build(), 1.0)
    assert (dial.labels, dial.low, dial.high) == (("left, m",), 0.0, 0.04)


@pytest.mark.parametrize(("low", "high"), [(-np.inf, -10.0), (10.0, np.inf), (-np.inf, np.inf), (-np.inf, 1.0)])
def test_a_slider_reaches_from_a_limit_to_where_there_is_none(low: float, high: float) -> None:
    ends = _finite(low, high, np.pi)
    assert ends[0] < ends[1]
    assert ends[0] == (low if np.isfinite(low) else min(-np.pi, high - np.pi))
    assert ends[1] == (high if np.isfinite(high) else max(np.pi, low + np.pi))

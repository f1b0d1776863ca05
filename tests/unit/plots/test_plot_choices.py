"""Pictures of what is chosen, of batches, and of two motions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.plots.batches import _quantiles
from kinetree.sim.endings import Divergence

ROBOT = kt.zoo.load("double_pendulum")


@pytest.fixture(scope="module")
def motion() -> kt.Trajectory:
    turns = kt.sim.Event(lambda t, q, v: v[..., 1], terminal=False)  # noqa: ARG005
    return kt.simulate(ROBOT, q=[1.0, 0.5], duration=0.5, until={"turns": turns}, record=["energies", "frames"])


@pytest.fixture(scope="module")
def batch() -> kt.Trajectory:
    return kt.simulate(ROBOT, q=np.add([1.0, 0.5], np.linspace(0.0, 0.1, 22).reshape(11, 2)), duration=0.1)


def labels(figure: Figure) -> list[str]:
    return [ax.get_ylabel().replace("\n", " ") for ax in figure.axes]


def lines(figure: Figure, panel: int) -> dict[str, np.ndarray]:
    """The numbers of the lines that have a name."""
    found = figure.axes[panel].get_lines()
    return {str(x.get_label()): np.asarray(x.get_ydata()) for x in found if not str(x.get_label()).startswith("_")}


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (None, ["joint angle, rad", "energy, J", "balance error, J"]),
        ("velocities", ["velocity, rad/s"]),
        (["torques", "positions"], ["joint angle, rad"]),
        ("torques", ["torque, N·m"]),
        (["energies", "frame.t*"], ["energy, J", "frame.tip, m"]),
    ],
)
def test_what_is_asked_for_is_drawn(motion: kt.Trajectory, what: Any, expected: list[str]) -> None:
    assert sorted(labels(motion.plot(what=what))) == sorted(expected)


def test_joints_are_chosen_by_patterns(motion: kt.Trajectory) -> None:
    figure = motion.plot(what=["positions", "velocities", "torques"], joints=["ELB*"])
    assert [list(lines(figure, k)) for k in range(3)] == [["elbow"]] * 3
    np.testing.assert_array_equal(lines(figure, 1)["elbow"], motion.v[:, 1])


def test_what_stays_zero_is_named_and_not_drawn(motion: kt.Trajectory) -> None:
    figure = motion.plot(what=["velocities", "torques"])
    assert labels(figure) == ["velocity, rad/s"]
    assert "these torques stay zero: shoulder, elbow" in figure.axes[-1].get_xlabel()


def test_units_of_a_floating_base() -> None:
    robot = kt.zoo.load("quadruped")
    motion = kt.simulate(robot, v=np.ones(robot.nv), duration=0.01, record=["energies"])
    figure = motion.plot(what="velocities", joints="root_joint")
    assert labels(figure) == ["velocity, rad/s", "velocity, m/s"]
    assert list(lines(figure, 1)) == ["root_joint.vx", "root_joint.vy", "root_joint.vz"]


def test_contact_forces_are_drawn_by_pair(motion: kt.Trajectory) -> None:
    wrench = np.zeros((len(motion.time), 3, 6))
    wrench[:, 1, 2] = 5.0
    touched = replace(motion, recorded={"contact.wrench": wrench})
    figure = touched.plot(what="contacts")
    assert labels(figure) == ["contact force, N"]
    assert list(lines(figure, 0)) == ["pair 1"]
    with pytest.raises(kt.errors.OptionError, match="contact forces were not recorded; simulate with contact=True"):
        motion.plot(what="contacts")


def test_events_are_marked(motion: kt.Trajectory) -> None:
    figure = motion.plot()
    assert motion.events
    marks = [x.get_xdata()[0] for x in figure.axes[1].get_lines() if x.get_label() == "_event"]
    assert marks == [event.time for event in motion.events]
    assert [text.get_text() for text in figure.axes[0].texts] == ["turns"]


def test_a_batch_has_a_panel_per_number(batch: kt.Trajectory) -> None:
    figure = batch.plot(what=["positions", "velocities"])
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["shoulder", "elbow"] * 2
    assert labels(figure) == ["rad", "rad", "rad/s", "rad/s"]
    np.testing.assert_array_equal(lines(figure, 1)["median"], np.median(batch.q[..., 1], axis=0))
    assert len(figure.axes[0].collections) == 2


def test_few_motions_are_lines(batch: kt.Trajectory) -> None:
    figure = batch.plot(samples=[7, 2], what="positions")
    assert list(lines(figure, 0)) == ["motion 7", "motion 2"]
    np.testing.assert_array_equal(lines(figure, 0)["motion 2"], batch.q[2, :, 0])
    one = batch.plot(samples=[(3,)])
    assert labels(one)[0] == "joint angle, rad"
    assert "motion 3 of 11" in one.get_suptitle()


def test_motions_that_have_ended_are_left_out(batch: kt.Trajectory) -> None:
    ended = np.where(np.arange(11) < 10, 0.05, 0.1)
    figure = replace(batch, ended=ended).plot(what="positions")
    np.testing.assert_array_equal(lines(figure, 0)["median"][60:], batch.q[10, 60:, 0])
    assert "ended before the others, and drawn until then: 10 of the motions" in figure.get_supxlabel()


def test_motions_that_diverged_are_reported(batch: kt.Trajectory) -> None:
    lost = Divergence(0.05, "elbow", "state")
    motions = replace(batch, ended=np.where(np.arange(11) == 3, 0.05, 0.1), diverged={(3,): lost})
    note = "diverged, and drawn until then: motion 3: 'elbow' grew beyond all bounds at t = 0.05 s"
    assert note in motions.plot(what="positions").get_supxlabel()
    assert "diverged" not in motions.plot(what="positions", samples=[1, 2]).get_supxlabel()
    for one in (motions.plot(what="positions", samples=[3]), motions[3].plot(what="positions")):
        assert np.isnan(lines(one, 0)["elbow"]).argmax() == 51
        assert "'elbow' grew beyond all bounds" in one.axes[-1].get_xlabel()
    two = motions.plot(what="positions", samples=[3], beside=batch)
    assert np.isnan(two.axes[1].get_lines()[0].get_ydata()).argmax() == 51


def test_quantiles_are_those_of_numpy() -> None:
    values = np.random.default_rng(0).normal(size=(9, 30))
    expected = np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95), axis=0)
    with_gap = np.vstack([values, np.full((2, 30), np.nan)])
    np.testing.assert_allclose(_quantiles(with_gap), expected, rtol=1e-14)
    assert np.isnan(_quantiles(np.full((3, 2), np.nan))).all()


def test_more_numbers_than_there_is_room_for_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinetree.plots.batches.MOST_CELLS", 4)
    one = kt.simulate(ROBOT, q=np.zeros((2, 2)), duration=0.01)
    random = np.random.default_rng(0).normal(size=(2, 11, 100)) * np.linspace(1.0, 2.0, 100)
    names = tuple(f"j{k}" for k in range(100))
    wide = replace(one, q=random, q_names=names, q_joints=names, q_units=("rad",) * 100)
    figure = wide.plot(what="positions")
    assert sum(bool(ax.get_title(loc="left")) for ax in figure.axes) == 4
    assert "the 4 of 100 numbers that vary the most are drawn" in figure.get_supxlabel()


def test_two_motions_share_axes_and_have_differences(motion: kt.Trajectory) -> None:
    other = kt.simulate(ROBOT, q=[1.1, 0.4], duration=0.7)
    figure = motion.plot(beside=other, names=("here", "there"), what=["positions", "velocities"])
    assert "there − here" in figure.axes[1].get_title()
    np.testing.assert_allclose(lines(figure, 1)["elbow"], other.q[:501, 1] - motion.q[:, 1], atol=1e-15)
    assert len(figure.axes[0].get_lines()) == 4 + len(motion.events)


def test_rows_at_other_times_are_met_half_way(motion: kt.Trajectory) -> None:
    coarse = kt.simulate(ROBOT, q=[1.0, 0.5], duration=0.5, dt=0.005)
    shared = lines(motion.plot(beside=coarse), 1)["elbow"]
    assert len(shared) == 101  # the rows that both have
    odd = kt.simulate(ROBOT, q=[1.0, 0.5], duration=0.49, dt=0.0007)
    assert np.abs(lines(motion.plot(beside=odd), 1)["elbow"]).max() < 1e-5


def test_attitudes_differ_by_an_angle() -> None:
    robot = kt.zoo.load("quadruped")
    q = robot.neutral()
    turned = q.copy()
    turned[3:7] = [0.0, 0.0, np.sin(0.1), np.cos(0.1)]
    spin = np.r_[np.zeros(5), 1.0, np.zeros(robot.nv - 6)]
    first, second = (kt.simulate(robot, q=x, v=spin, duration=0.01, record=["energies"]) for x in (q, turned))
    figure = first.plot(beside=second, joints="root_joint", what="positions")
    np.testing.assert_allclose(lines(figure, 3)["root_joint"], 0.2, atol=1e-12)
    assert figure.axes[3].get_ylabel() == "angle between, rad"


def test_batches_are_compared(batch: kt.Trajectory) -> None:
    figure = batch.plot(beside=batch, what="positions")
    assert [ax.get_title(loc="left") for ax in figure.axes][:2] == ["shoulder", "shoulder: second − first"]
    assert np.abs(lines(figure, 1)["median"]).max() == 0.0
    with_fewer = batch.plot(beside=batch[:4], what="positions")
    assert "no differences are drawn between 11 and 4 motions" in with_fewer.get_supxlabel()
    assert lines(batch.plot(beside=batch[0], what="positions"), 1)["median"].shape == (101,)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"what": "speeds"}, kt.errors.NameNotFoundError, "there is nothing called 'speeds' to draw"),
        ({"what": []}, kt.errors.OptionError, "what is empty; leave it out for the usual"),
        ({"what": 3}, kt.errors.OptionError, "what must be a text or a list of texts, not 3"),
        ({"joints": "knee"}, kt.errors.NameNotFoundError, "no joint of 'double_pendulum' matches 'knee'"),
        ({"what": "accelerations"}, kt.errors.OptionError, "the accelerations were not recorded"),
        ({"samples": [1]}, kt.errors.OptionError, "there are 1 samples, numbered from 0, and so no 1"),
        ({"samples": []}, kt.errors.OptionError, "samples is empty"),
        ({"beside": "run.npz"}, kt.errors.OptionError, "beside must be another trajectory, not 'run.npz'"),
        ({"path": "x.jpg"}, kt.errors.OptionError, r"pictures are written as \.png, \.svg or \.pdf, not as '\.jpg'"),
    ],
)
def test_impossible_plots_are_reported(
    motion: kt.Trajectory, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        motion.plot(**options)


def test_motions_without_anything_in_common_are_refused(motion: kt.Trajectory) -> None:
    late = replace(motion, time=motion.time + 9.0)
    with pytest.raises(kt.errors.OptionError, match=r"from 0 to 0\.5 s, and the other from 9 to 9\.5 s"):
        motion.plot(beside=late)
    named = replace(motion, q_names=("a", "b"), q_joints=("a", "b"))
    with pytest.raises(kt.errors.OptionError, match="nothing in common"):
        motion.plot(beside=named, what="positions")


BEGINNINGS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".SVG": b"<?xml"}


@pytest.mark.parametrize("suffix", BEGINNINGS)
def test_the_suffix_chooses_the_format(motion: kt.Trajectory, tmp_path: Path, suffix: str) -> None:
    paths = [motion.plot(tmp_path / f"{name}{suffix}", what="positions") for name in "ab"]
    contents = [Path(str(path)).read_bytes() for path in paths]
    assert contents[0].startswith(BEGINNINGS[suffix])
    assert contents[0] == contents[1]

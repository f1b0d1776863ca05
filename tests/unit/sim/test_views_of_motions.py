"""What a trajectory can be turned into: other moments, a table, a line of text; and its accelerations."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification import read_log

pandas = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")


def motion(name: str = "double_pendulum", **options: Any) -> kt.Trajectory:
    robot = kt.zoo.load(name)
    q = robot.integrate(robot.neutral(), 0.3 * np.ones(robot.nv))
    return kt.simulate(robot, **{"q": q, "v": 0.5 * np.ones(robot.nv), "duration": 0.2, **options})


@pytest.mark.parametrize("name", ["arm7", "quadruped", "cart_pole"])
def test_accelerations_are_those_of_the_torques(name: str) -> None:
    robot = kt.zoo.load(name)
    found = motion(name, tau=lambda t, _q, _v: np.where(robot.actuated, 0.1 * np.sin(5 * t), 0.0))
    tau = kt.rnea(robot, found.q, found.v, found.qdd, passive=True)
    np.testing.assert_allclose(tau, found.tau, atol=1e-10 * max(1.0, np.abs(found.qdd).max()))


def test_accelerations_count_forces_limits_and_parameters() -> None:
    robot = kt.zoo.load("arm6")
    push = np.zeros((20, 6))
    push[10:, 2] = 30.0
    gravity = np.array([[0.0, 0.0, -9.81], [1.0, 0.0, -3.0]])
    found = kt.simulate(
        robot, tau=np.full(6, 1000.0), f_ext={"tool": push}, parameters={"gravity": gravity}, duration=0.02, limits=True
    )
    assert found.qdd.shape == (2, 21, 6)
    for k, g in enumerate(gravity):
        for moment in (0, 9, 10, 20):
            force = {"tool": push[min(moment, 19)]}
            state = found.q[k, moment], found.v[k, moment], np.full(6, 1000.0)
            expected = kt.aba(robot, *state, force, passive=True, limits=True, parameters={"gravity": g})
            np.testing.assert_allclose(found.qdd[k, moment], expected, rtol=1e-12)


def test_accelerations_satisfy_constraints() -> None:
    robot = kt.zoo.load("arm6")
    tip = [kt.constraints.Contact("tool")]
    found = kt.simulate(robot, q=robot.random(1), constraints=tip, duration=0.02)
    rates = kt.constraints.constraint_jacobian(robot, found.q, tip) @ found.qdd[..., None]
    assert np.abs(found.qdd).max() > 1.0
    np.testing.assert_allclose(rates[..., 0], -kt.constraints.constraint_bias(robot, found.q, found.v, tip), atol=1e-8)


def test_other_moments_are_on_the_motion() -> None:
    fine = motion(dt=1e-4)
    coarse = motion(dt=1e-2, integrator="rk4").resampled(fine.time)
    np.testing.assert_array_equal(coarse.time, fine.time)
    assert np.abs(coarse.q - fine.q).max() < 1e-5  # a straight line would be 1e-4 beside it
    assert np.abs(coarse.v - fine.v).max() < 5e-3
    assert coarse.tau.shape == fine.tau.shape
    again = fine.resampled(fine.time)
    for name in ("q", "v", "qdd", "tau", "kinetic", "potential", "work", "dissipated"):
        np.testing.assert_allclose(getattr(again, name), getattr(fine, name), rtol=0, atol=1e-12)


def test_quaternions_keep_their_length_and_take_the_shorter_way() -> None:
    found, times = motion("quadruped", v=5.0 * np.ones(18), dt=5e-3), np.linspace(0.0, 0.2, 77)
    expected = found.resampled(times).q[:, 3:7]
    np.testing.assert_allclose(np.linalg.norm(expected, axis=-1), 1.0, rtol=1e-14)
    found.q[5::2, 3:7] *= -1.0  # the same attitudes
    turned = found.resampled(times).q[:, 3:7]
    np.testing.assert_allclose(np.abs(np.sum(turned * expected, axis=-1)), 1.0, rtol=1e-14)


def test_torques_are_those_that_were_held() -> None:
    robot = kt.zoo.load("double_pendulum")
    found = kt.simulate(robot, tau=np.arange(8.0).reshape(4, 2), dt=0.1, duration=0.4)
    np.testing.assert_array_equal(found.resampled([0.0, 0.09, 0.11, 0.35]).tau[:, 0], [0.0, 0.0, 2.0, 6.0])


def test_a_batch_is_resampled_motion_by_motion() -> None:
    found = motion(q=[[0.1, 0.2], [0.5, -0.5], [1.0, 0.0]], v=np.zeros(2))
    times = np.linspace(0.0, 0.2, 7)
    assert found.resampled(times).q.shape == (3, 7, 2)
    np.testing.assert_array_equal(found.resampled(times).q[1], found[1].resampled(times).q)


@pytest.mark.parametrize(
    ("times", "error", "words"),
    [
        ([0.0, 0.3], kt.errors.OptionError, "within the motion, 0 to 0.2 s"),
        ([-0.1, 0.1], kt.errors.OptionError, "within the motion"),
        ([0.1, np.nan], kt.errors.OptionError, "within the motion"),
        ([0.1, 0.1], kt.errors.OptionError, "must increase"),
        (0.1, kt.errors.ShapeError, r"a row of moments \(K,\)"),
        ([], kt.errors.ShapeError, "a row of moments"),
        (["a"], kt.errors.DTypeError, "times"),
    ],
)
def test_moments_outside_are_refused(times: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        motion().resampled(times)


def test_a_table_has_a_row_per_moment() -> None:
    found = motion()
    table = found.to_dataframe()
    assert list(table.columns[:3]) == ["q.shoulder", "q.elbow", "v.shoulder"]
    assert list(table.columns[-4:]) == ["kinetic", "potential", "work", "dissipated"]
    assert table.index.name == "time"
    np.testing.assert_array_equal(table.index, found.time)
    np.testing.assert_array_equal(table["qdd.elbow"], found.qdd[:, 1])
    np.testing.assert_array_equal(table["kinetic"], found.kinetic)


def test_a_table_of_a_batch_counts_the_motions() -> None:
    found = motion(q=[[0.1, 0.2], [0.5, -0.5]], v=np.zeros(2))
    table = found.to_dataframe()
    assert table.index.names == ["motion", "time"]
    np.testing.assert_array_equal(table.loc[1, "q.elbow"], found.q[1, :, 1])
    grid = motion(q=np.zeros((2, 3, 2)), v=np.zeros(2)).to_dataframe()
    assert grid.index.names == ["motion_0", "motion_1", "time"]


def test_a_csv_file_holds_every_number_of_a_motion(tmp_path: Path) -> None:
    found = motion(tau=[0.1, 1.0 / 3.0])
    path = found.save(tmp_path / "log.csv")
    assert [one.name for one in tmp_path.iterdir()] == ["log.csv"]
    log = read_log(path, kt.zoo.load("double_pendulum"))
    for name in ("time", "q", "v", "qdd", "tau"):
        np.testing.assert_array_equal(getattr(log, name), getattr(found, name))
    header = path.read_text(encoding="utf-8").splitlines()[0].split(",")
    assert header == ["time", *found.to_dataframe().columns]


def test_names_with_commas_come_back_from_csv(tmp_path: Path) -> None:
    builder = kt.ModelBuilder("r")
    builder.add_body("world")
    builder.add_body("tip", kt.solids.sphere(0.1, mass=1.0))
    builder.add_joint('a, "b"', kt.Revolute([1, 0, 0]), "world", "tip")
    robot = builder.build()
    found = kt.simulate(robot, q=[0.1], duration=0.01)
    np.testing.assert_array_equal(read_log(found.save(tmp_path / "log.csv"), robot).v, found.v)


def test_a_batch_has_no_place_in_csv(tmp_path: Path) -> None:
    with pytest.raises(kt.errors.OptionError, match=r"a \.csv file holds one motion, and this is a batch \(2,\)"):
        motion(q=np.zeros((2, 2)), v=np.zeros(2)).save(tmp_path / "log.csv")
    assert list(tmp_path.iterdir()) == []


def test_the_text_is_one_line() -> None:
    assert repr(motion()) == (
        "<Trajectory of 'double_pendulum': 0.2 s in steps of 0.001 s, rk4; q (201, 2), v (201, 2)>"
    )
    assert re.fullmatch(r"<Trajectory of .*: \(2,\) motions, .*>", repr(motion(q=np.zeros((2, 2)), v=np.zeros(2))))


def test_a_notebook_shows_a_plot() -> None:
    """IPython displays what `_repr_png_` returns; without pyplot nothing else draws a figure."""
    drawn = motion().plot()
    shown = drawn._repr_png_()  # type: ignore[union-attr]
    assert shown.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(shown) > 10_000
    assert pickle.loads(pickle.dumps(drawn))._repr_png_()[:4] == shown[:4]


def test_a_picture_is_a_figure_or_a_file(tmp_path: Path) -> None:
    found = motion()
    assert len(found.plot().axes) == 3
    assert found.plot(tmp_path / "motion") == tmp_path / "motion.png"
    assert (tmp_path / "motion.png").stat().st_size > 10_000
    assert len(motion(q=np.zeros((2, 2)), v=np.zeros(2)).plot().axes) == 6

"""Snapshots of other motions, and files that hold none, are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt

ROBOT = kt.zoo.load("double_pendulum")
BEFORE = kt.simulate(ROBOT, q=[1.0, 0.5], duration=0.01).snapshot()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"dt": 0.002}, "taken with dt = 0.001, and here dt = 0.002; give the same"),
        ({"integrator": "semi_implicit_euler"}, "integrator = rk4, and here integrator = semi_implicit_euler"),
        ({"passive": False}, "passive = damping.*, and here passive = none"),
        ({"limits": True}, "limits = False, and here limits = True"),
        ({"contact": True}, "integrator = rk4, and here integrator = discrete"),
        ({"parameters": {"gravity": [0.0, 0.0, -1.0]}}, "parameters = none, and here parameters = gravity"),
        ({"tau": np.zeros((3, 1, 2))}, r"batch = \(\), and here batch = \(3,\)"),
        ({"tau": lambda _t, _q, v: -v, "control_dt": 0.002}, "control_dt = 0.001, and here control_dt = 0.002"),
        ({"q": [0.0, 0.0]}, "q= and resume= exclude each other"),
        ({"state": {}, "tau": kt.program(lambda q: q, q=2)}, "state= and resume= exclude each other"),
    ],
)
def test_other_settings_are_refused_by_name(options: Any, text: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=text):
        kt.simulate(ROBOT, resume=BEFORE, duration=0.01, **options)


def test_another_robot_is_refused() -> None:
    with pytest.raises(
        kt.errors.OptionError, match="taken of another robot: its robot is double_pendulum there, and arm6"
    ):
        kt.simulate(kt.zoo.load("arm6"), resume=BEFORE)
    builder = kt.ModelBuilder.of(ROBOT)
    builder.gravity = (0.0, 0.0, -9.8)
    with pytest.raises(kt.errors.OptionError, match=r"taken of another robot: its model is [0-9a-f]+ there"):
        kt.simulate(builder.build(), resume=BEFORE)
    with pytest.raises(
        kt.errors.OptionError, match=r"resume must be a kt\.sim\.Snapshot, such as motion\.snapshot\(\)"
    ):
        kt.simulate(ROBOT, resume="run.npz")  # type: ignore[arg-type]


def test_torques_may_change_at_a_pause() -> None:
    pushed = kt.simulate(ROBOT, resume=BEFORE, tau=np.full((10, 2), 0.1), duration=0.01)
    assert pushed.time[-1] == 0.02
    assert pushed.work[-1] != 0.0


def test_files_that_hold_no_snapshot_are_refused(tmp_path: Path) -> None:
    with pytest.raises(kt.errors.TrajectoryFileError, match="cannot be read: No such file"):
        kt.sim.Snapshot.load(tmp_path / "none.npz")
    np.savez(tmp_path / "other.npz", row=np.zeros(6))
    with pytest.raises(kt.errors.TrajectoryFileError, match="is not a snapshot: it lacks snapshot, ended"):
        kt.sim.Snapshot.load(tmp_path / "other.npz")
    with np.load(BEFORE.save(tmp_path / "whole")) as archive:
        arrays = dict(archive)
    for name, content, text in (
        ("snapshot", np.zeros(4, np.uint8), "'snapshot' is damaged"),
        ("snapshot", np.frombuffer(b"[" * 100_000, np.uint8), "'snapshot' is damaged"),
        ("row", np.zeros(3), r"'row' has the shape \(3,\)"),
    ):
        np.savez(tmp_path / "bad.npz", **{**arrays, name: content})
        with pytest.raises(kt.errors.TrajectoryFileError, match=text):
            kt.sim.Snapshot.load(tmp_path / "bad.npz")


def test_what_has_no_snapshot_says_so(tmp_path: Path) -> None:
    motion = kt.simulate(ROBOT, q=[[1.0, 0.5], [0.3, 0.2]], duration=0.01)
    assert repr(motion.snapshot()) == "<Snapshot of 'double_pendulum' at t = 0.01 s, step 10; q (2, 2)>"
    for other in (motion[0], kt.Trajectory.load(motion.save(tmp_path / "run"))):
        with pytest.raises(kt.errors.OptionError, match="this trajectory has no snapshot: it was read from a file"):
            other.snapshot()


def test_an_interrupted_motion_goes_on() -> None:
    settings: dict[str, Any] = {"tau": lambda t, _q, v: np.sin(100.0 * t) - v, "control_dt": 0.003}
    whole = kt.simulate(ROBOT, q=[1.0, 0.5], duration=0.05, **settings)

    def stop(done: int, _: int) -> None:
        if done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(kt.sim.SimulationInterrupted) as stopped:
        kt.simulate(ROBOT, q=[1.0, 0.5], duration=0.05, view=kt.sim.Viewing(page=False, progress=stop), **settings)
    snapshot = stopped.value.trajectory.snapshot()
    rest = kt.simulate(ROBOT, resume=snapshot, duration=0.001 * (50 - snapshot.step), **settings)
    np.testing.assert_array_equal(rest.q, whole.q[snapshot.step :])
    np.testing.assert_array_equal(stopped.value.trajectory.q, whole.q[: len(stopped.value.trajectory.q)])


def test_rows_without_the_numbers_after_q_and_v_are_refused(tmp_path: Path) -> None:
    """A row is q, v, activations, work and dissipated energy."""
    with np.load(BEFORE.save(tmp_path / "whole")) as archive:
        arrays = dict(archive)
    for size in (ROBOT.nq + ROBOT.nv, ROBOT.nq + ROBOT.nv + 1):
        np.savez(tmp_path / "short.npz", **{**arrays, "row": arrays["row"][:size]})
        with pytest.raises(kt.errors.TrajectoryFileError, match=rf"'row' has the shape \({size},\)"):
            kt.sim.Snapshot.load(tmp_path / "short.npz")


def test_arrays_of_other_names_are_not_read(tmp_path: Path) -> None:
    with np.load(BEFORE.save(tmp_path / "whole")) as archive:
        np.savez(tmp_path / "more.npz", **archive, **{"other": np.ones(3), "place.of others": np.ones(2)})
    back = kt.sim.Snapshot.load(tmp_path / "more.npz")
    np.testing.assert_array_equal(back.start.row, BEFORE.start.row)
    assert back.start.places.keys() == BEFORE.start.places.keys()

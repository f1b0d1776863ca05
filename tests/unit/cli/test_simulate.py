"""`kinetree simulate`."""

from __future__ import annotations

import os
import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinetree import zoo
from kinetree.cli.input_file import read_torques
from kinetree.cli.start import falling_pose
from kinetree.errors import OptionError, SaveError
from kinetree.sim import Trajectory, simulate
from tests.robots import every_joint

from .conftest import Command, without_announcements

QUICK = ("--duration", "0.02", "--quiet")


def load(prefix: str = "double_pendulum") -> Trajectory:
    return Trajectory.load(f"{prefix}.npz")


def test_without_a_robot_it_takes_one_and_names_it(kinetree: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinetree.cli.simulate.DEFAULT_ROBOT", "arm7")  # the usual one takes long to compile
    result = kinetree("simulate", "--duration", "0.1")
    assert result.code == 0
    assert "no model given; using the zoo robot 'arm7'" in result.out
    assert "wrote arm7.npz" in result.out
    assert "wrote arm7.png" in result.out
    assert "no start was given: took a pose that gravity moves the joints from (--q gives another)" in result.out


@pytest.mark.parametrize("name", ["arm6", "arm7", "cart_pole", "double_pendulum"])
def test_without_a_start_something_is_seen_to_move(kinetree: Command, name: str) -> None:
    robot = zoo.load(name)
    assert kinetree("simulate", name, "--duration", "0.5", "--quiet").code == 0
    motion = load(name)
    assert np.ptp(motion.q, axis=0).max() > 0.1
    assert (robot.lower <= motion.q[0]).all()
    assert (motion.q[0] <= robot.upper).all()


@pytest.mark.parametrize("given", [("--q", "elbow=0.5"), ("--v", "elbow=0.5"), ("--tau", "elbow=0.5")], ids=" ".join)
def test_what_is_not_given_of_a_start_is_neutral(kinetree: Command, given: tuple[str, ...]) -> None:
    assert kinetree("simulate", "double_pendulum", *given, *QUICK).code == 0
    assert load().q[0, 0] == 0.0


@pytest.mark.parametrize("name", ["arm7", "quadruped", "every joint"])
def test_the_pose_that_is_taken_is_within_the_limits(name: str) -> None:
    robot = every_joint() if name == "every joint" else zoo.load(name)
    pose = falling_pose(robot)
    robot.check_configuration(pose)
    assert (robot.lower <= pose).all()
    assert (pose <= robot.upper).all()
    assert np.array_equal(pose, robot.neutral()) == robot.floating_base
    for part in robot.quaternions.values():
        assert pose[part].tolist() == [0.0, 0.0, 0.0, 1.0]


LEANING = """<mujoco model="leaning"><worldbody><body name="pole" pos="0 0 1"><joint name="hinge" axis="0 1 0"
ref="30"/><geom type="capsule" size="0.05" fromto="0 0 0 0 0 0.4"/></body></worldbody><keyframe>
<key name="down" qpos="2" qvel="0.5"/></keyframe></mujoco>"""
FREE = """<mujoco model="free"><worldbody><body name="ball" pos="1 2 3" euler="90 0 0"><freejoint name="f"/>
<geom size="0.1"/><body><joint name="arm" axis="0 1 0"/><geom size="0.1" pos="0 0 1"/></body></body></worldbody>
</mujoco>"""


def test_a_motion_begins_where_the_file_places_the_bodies(kinetree: Command) -> None:
    Path("leaning.xml").write_text(LEANING, encoding="utf-8")
    assert kinetree("simulate", "leaning.xml", "--v", "0.1", *QUICK).code == 0
    assert load("leaning").q[0].tolist() == [pytest.approx(np.pi / 6)]
    assert kinetree("simulate", "leaning.xml", *QUICK).code == 0
    assert load("leaning").q[0].tolist() == [pytest.approx(np.pi / 6 + 0.3)]
    Path("free.xml").write_text(FREE, encoding="utf-8")
    assert kinetree("simulate", "free.xml", *QUICK).code == 0
    half = np.sqrt(0.5)
    np.testing.assert_allclose(load("free").q[0], [1.0, 2.0, 3.0, half, 0.0, 0.0, half, 0.0], atol=1e-15)


def test_a_motion_begins_at_a_keyframe(kinetree: Command) -> None:
    Path("leaning.xml").write_text(LEANING, encoding="utf-8")
    assert kinetree("simulate", "leaning.xml", "--keyframe", "down", *QUICK).code == 0
    motion = load("leaning")
    assert (motion.q[0].tolist(), motion.v[0].tolist()) == ([2.0], [0.5])
    assert kinetree("simulate", "leaning.xml", "--keyframe", "down", "--v", "hinge=-1", *QUICK).code == 0
    assert (load("leaning").q[0].tolist(), load("leaning").v[0].tolist()) == ([2.0], [-1.0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("leaning.xml", "--keyframe", "dwon"), "no keyframe 'dwon': did you mean 'down'?"),
        (("leaning.xml", "--keyframe", ""), "no keyframe ''"),
        (("double_pendulum", "--keyframe", "down"), "'double_pendulum' has no keyframes with a name"),
        (("leaning.xml", "--keyframe", "down", "--random"), "give either --keyframe or --random"),
    ],
)
def test_keyframes_that_are_not_there_are_refused(kinetree: Command, given: tuple[str, ...], message: str) -> None:
    Path("leaning.xml").write_text(LEANING, encoding="utf-8")
    result = kinetree("simulate", *given, *QUICK)
    assert result.code == 2
    assert message in " ".join(result.err.replace("│", " ").split())


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize("name", zoo.names())
def test_every_robot_of_the_zoo(kinetree: Command, name: str) -> None:
    result = kinetree("simulate", name, "--random", "--on", "nothing", "--duration", "0.02")
    assert result.code == 0
    assert without_announcements(result.err) == ""
    for row in ("kinetic", "potential", "total", "work of the torques", "lost to friction", "balance error, largest"):
        assert row in result.out
    assert load(name).time[-1] == pytest.approx(0.02)
    assert Path(f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_file_is_read_with_a_fixed_base_unless_requested(kinetree: Command) -> None:
    file = str(zoo.path("quadruped"))
    assert kinetree("simulate", file, *QUICK).code == 0
    assert load("quadruped").q.shape[1] == 12
    assert kinetree("simulate", file, "--floating-base", *QUICK).code == 0
    assert load("quadruped").q.shape[1] == 19
    assert kinetree("simulate", "quadruped", "--fixed-base", *QUICK).code == 0
    assert load("quadruped").q.shape[1] == 12


def test_warnings_about_the_motion_are_a_line_each_of_standard_error(kinetree: Command) -> None:
    result = kinetree(
        "simulate",
        "arm6",
        "--q",
        "shoulder_pitch=90,elbow_pitch=2.5",
        "--v",
        "elbow_pitch=20",
        "--duration",
        "0.5",
        "--quiet",
    )
    assert result.code == 0
    first, *others = result.err.splitlines()
    assert first.startswith(
        "warning: 'shoulder_pitch' starts at 90 rad, far beyond its upper limit of 2.2 rad; angles are"
    )
    assert others
    assert all(line.startswith("warning: '") and "went through its stop at t = " in line for line in others)
    assert result.out == ""


def test_options_reach_the_simulation(kinetree: Command) -> None:
    result = kinetree(
        "simulate", "double_pendulum", "--q", "-0.5,0.25", "--v", "elbow=2", "--tau", "shoulder=-3e-1",
        "--dt", "0.002", "--duration", "0.01", "--integrator", "semi_implicit_euler",
    )  # fmt: skip
    assert result.code == 0
    motion = load()
    assert (motion.integrator, motion.dt, len(motion.time)) == ("semi_implicit_euler", 0.002, 6)
    assert motion.q[0].tolist() == [-0.5, 0.25]
    assert motion.v[0].tolist() == [0.0, 2.0]
    assert motion.tau[0].tolist() == [-0.3, 0.0]


def test_steps_as_long_as_their_error_allows(kinetree: Command) -> None:
    """Of several motions, all steps are counted."""
    given = ("--integrator", "rk45", "--rtol", "1e-8", "--atol", "1e-9", "--dt", "0.02", "--duration", "0.2")
    assert kinetree("simulate", "double_pendulum", *given).code == 0
    motion = load()
    assert (motion.integrator, len(motion.time)) == ("rk45", 11)
    assert motion.step_counts is not None
    assert " steps (" in kinetree("simulate", "double_pendulum", *given, "--samples", "3").out
    wrong = kinetree("simulate", "double_pendulum", "--rtol", "1e-8")
    assert wrong.code == 2
    assert "--integrator rk45" in wrong.err


def test_random_starts_follow_the_seed_and_pairs_go_on_top(kinetree: Command) -> None:
    robot = zoo.load("arm6")
    assert kinetree("simulate", "arm6", "--seed", "7", "--q", "elbow_pitch=0.5", *QUICK).code == 0
    expected = robot.random(7)
    expected[2] = 0.5
    np.testing.assert_array_equal(load("arm6").q[0], expected)


def test_friction_can_be_left_out(kinetree: Command) -> None:
    assert kinetree("simulate", "arm6", "--seed", "1", "--passive", "none", *QUICK).code == 0
    assert not load("arm6").dissipated.any()
    assert kinetree("simulate", "arm6", "--seed", "1", *QUICK).code == 0
    assert load("arm6").dissipated[-1] > 0.0


def test_passive_forces_are_named_as_for_the_function(kinetree: Command) -> None:
    robot = zoo.load("arm6")
    for text, passive in {"all": True, "damping": ["damping"], "friction, damping": ["damping", "friction"]}.items():
        assert kinetree("simulate", "arm6", "--seed", "1", "--passive", text, *QUICK).code == 0
        expected = simulate(robot, q=robot.random(1), duration=0.02, passive=passive)
        np.testing.assert_array_equal(load("arm6").q, expected.q)


def test_an_unknown_passive_force_is_wrong_usage(kinetree: Command) -> None:
    result = kinetree("simulate", "arm6", "--passive", "dampin", *QUICK)
    assert result.code == 2
    assert "did you mean 'damping'" in " ".join(result.err.split())


def test_motors_keep_to_their_limits_if_asked_to(kinetree: Command) -> None:
    """The cart's motor gives at most 50 N."""
    start = ("--tau", "slider=400", "--passive", "none", *QUICK)
    assert kinetree("simulate", "cart_pole", *start).code == 0
    free = load("cart_pole").v[-1, 0]
    assert kinetree("simulate", "cart_pole", *start, "--limits").code == 0
    assert load("cart_pole").v[-1, 0] == pytest.approx(free / 8.0, rel=1e-2)


@pytest.mark.parametrize(
    ("options", "prefix"),
    [
        (("--out", "runs/first"), "runs/first"),
        (("--out", "first.npz"), "first"),
        (("--out", "v1.2"), "v1.2"),
        (("--output-dir", "a/b"), "a/b/double_pendulum"),
        (("--output-dir", "a", "--out", "x"), "a/x"),
    ],
)
def test_where_it_writes(kinetree: Command, options: tuple[str, ...], prefix: str) -> None:
    result = kinetree("simulate", "double_pendulum", "--duration", "0.01", *options)
    assert result.code == 0
    for ending in ("npz", "png", "motion.png"):
        assert Path(f"{prefix}.{ending}").is_file()
        assert f"wrote {prefix}.{ending}" in result.out


def test_quiet_says_nothing(kinetree: Command) -> None:
    result = kinetree("simulate", "double_pendulum", *QUICK)
    assert (result.code, result.out, result.err) == (0, "", "")


def test_without_matplotlib_the_numbers_are_written_and_the_reason_said(
    kinetree: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    result = kinetree("simulate", "double_pendulum", *QUICK)
    assert result.code == 0
    assert (
        "warning: double_pendulum.png was not written: drawing needs matplotlib: pip install 'kinetree[plot]'"
        in result.err
    )
    assert Path("double_pendulum.npz").is_file()
    assert Path("double_pendulum.motion.png").is_file()
    assert not Path("double_pendulum.png").exists()


STIFF = """<robot name="stiff">
  <link name="a"/>
  <link name="b"><inertial><mass value="1e-3"/>
    <inertia ixx="1e-6" ixy="0" ixz="0" iyy="1e-6" iyz="0" izz="1e-6"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="a"/><child link="b"/><dynamics damping="3" friction="10"/></joint>
</robot>"""


def test_auto_turns_to_euler_where_friction_is_too_stiff_and_says_so(kinetree: Command) -> None:
    Path("stiff.urdf").write_text(STIFF, encoding="utf-8")
    result = kinetree("simulate", "stiff.urdf", "--v", "1", "--duration", "0.01")
    assert result.code == 0
    assert "note: took the integrator semi_implicit_euler: the friction of 'hinge' stops it within" in result.err
    assert load("stiff").integrator == "semi_implicit_euler"
    result = kinetree("simulate", "stiff.urdf", "--integrator", "rk4", "--duration", "0.01")
    assert result.code == 1
    assert result.err.startswith("error: the friction of 'hinge'")


def write_csv(path: Path) -> None:
    path.write_text("1,2\n3,4\n5,6\n", encoding="utf-8")


def write_csv_with_times(path: Path) -> None:
    path.write_text("elbow, time, shoulder\n2,0.0,1\n4,0.001,3\n\n6,0.002,5\n", encoding="utf-8")


def write_npy(path: Path) -> None:
    np.save(path, np.array([[1, 2], [3, 4], [5, 6]]))


def write_npz(path: Path) -> None:
    np.savez(path, tau=np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), time=np.arange(3) * 1e-3)


@pytest.mark.parametrize(
    ("name", "write"),
    [("t.csv", write_csv), ("t.csv", write_csv_with_times), ("t.npy", write_npy), ("t.npz", write_npz)],
)
def test_torques_from_a_file(kinetree: Command, name: str, write: Callable[[Path], None]) -> None:
    write(Path(name))
    result = kinetree("simulate", "double_pendulum", "--tau-file", name, "--duration", "0.003", "--quiet")
    assert (result.code, result.err) == (0, "")
    assert load().tau.tolist() == [[1, 2], [3, 4], [5, 6], [5, 6]]


def test_rows_with_times_are_held_until_the_next_and_the_last_to_the_end(kinetree: Command) -> None:
    Path("t.csv").write_text("time,elbow\n-1,7\n0.0015,8\n", encoding="utf-8")
    assert kinetree("simulate", "double_pendulum", "--tau-file", "t.csv", "--duration", "0.004", "--quiet").code == 0
    assert load().tau[:, 1].tolist() == [7, 7, 8, 8, 8]
    assert not load().tau[:, 0].any()


def test_torques_where_there_is_no_motor_are_refused_before_anything_is_written(kinetree: Command) -> None:
    result = kinetree("simulate", "quadruped", "--tau", "root_joint.vz=5", "--duration", "0.003", "--output-dir", "new")
    assert result.code != 0
    assert "--tau[2] is 5, but 'root_joint.vz' of 'quadruped' has no motor" in " ".join(result.err.split())
    Path("t.csv").write_text("time,root_joint.wx\n0,0\n0.002,3\n", encoding="utf-8")
    result = kinetree("simulate", "quadruped", "--tau-file", "t.csv", "--duration", "0.003", "--output-dir", "new")
    assert result.code != 0
    assert "t.csv: tau[2, 3] is 3, but 'root_joint.wx'" in " ".join(result.err.split())
    assert "Traceback" not in result.err
    assert not Path("new").exists()


def test_a_trajectory_can_be_played_again(kinetree: Command) -> None:
    assert kinetree("simulate", "double_pendulum", "--tau", "1,2", "--out", "a", *QUICK).code == 0
    assert kinetree("simulate", "double_pendulum", "--tau-file", "a.npz", "--out", "b", *QUICK).code == 0
    np.testing.assert_array_equal(load("a").q, load("b").q)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.txt", b"1,2", "torques are read from .csv, .npy and .npz files"),
        ("t.csv", b"", "the file is empty"),
        ("t.csv", b"1,2\n3\n", "t.csv:2: 1 cells in this line, but 2 are expected"),
        ("t.csv", b"1,2\n3,4x\n", "t.csv:2: '4x' is not a finite number"),
        ("t.csv", b"1,2\n3,nan\n", "t.csv:2: 'nan' is not a finite number"),
        ("t.csv", b"1,1_0\n", "t.csv:1: '1_0' is not a finite number"),
        (
            "t.csv",
            b"time,elbov\n0,1\n",
            "t.csv:1: 'double_pendulum' has no degree of freedom 'elbov': did you mean 'elbow'",
        ),
        ("t.csv", b"elbow,elbow\n0,1\n", "t.csv:1: there are two columns 'elbow'"),
        ("t.csv", b"time,elbow\n0.001,1\n", "the first row is at 0.001 s, but the motion begins at 0 s"),
        ("t.csv", b"time,elbow\n0,1\n0,2\n", "the times must be finite and increase from row to row"),
        ("t.csv", b"1,2\n3,4\n", "2 rows of torques for 3 steps"),
        ("t.csv", b"\xff\xfe1,2", "this is not CSV text"),
        ("t.npy", b"junk", "this is not a NumPy file"),
        ("t.npz", b"PK\x03\x04junk", "this is not a NumPy file"),
        ("t.npy", b"\x93NUMPY\x01\x00\x04\x00{{{\n", "this is not a NumPy file"),
    ],
)
def test_torque_files_that_do_not_fit(kinetree: Command, name: str, content: bytes, message: str) -> None:
    Path(name).write_bytes(content)
    result = kinetree("simulate", "double_pendulum", "--tau-file", name, "--duration", "0.003")
    assert result.code == 2
    assert result.err.startswith(f"error: {name}")
    assert message in result.err
    assert not Path("double_pendulum.npz").exists()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"torque": np.zeros((3, 2))}, 'there is no array "tau" in it'),
        ({"tau": np.array(["a"])}, "tau does not hold real numbers"),
        ({"tau": np.zeros((3, 5))}, "the torques have shape (3, 5), but 'double_pendulum' needs rows of 2"),
        ({"tau": np.full((3, 2), np.inf)}, "a torque is not finite (row 1)"),
        ({"tau": np.zeros((3, 2)), "time": np.zeros(4)}, "time has shape (4,) and tau (3, 2)"),
    ],
)
def test_archives_that_do_not_fit(kinetree: Command, arrays: dict[str, Any], message: str) -> None:
    np.savez("t.npz", **arrays)
    result = kinetree("simulate", "double_pendulum", "--tau-file", "t.npz", "--duration", "0.003")
    assert result.code == 2
    assert message in result.err


@pytest.mark.usefixtures("kinetree")
@pytest.mark.parametrize("dt", [0.03, 1 / 240])
def test_a_row_at_a_moment_belongs_to_the_step_that_begins_then(dt: float) -> None:
    """Many multiples of these steps are rounded to less than the decimal number in the file."""
    count = 400
    rows = "".join(f"{round(k * dt, 9)},{k}\n" for k in range(count))
    Path("t.csv").write_text(f"time,elbow\n{rows}", encoding="utf-8")
    robot = zoo.load("double_pendulum")
    torques = read_torques(Path("t.csv"), robot, count, dt)
    assert torques[:, 1].tolist() == list(range(count))
    np.savez("t.npz", time=np.arange(count) * dt, tau=torques)
    np.testing.assert_array_equal(read_torques(Path("t.npz"), robot, count, dt), torques)


@pytest.mark.usefixtures("kinetree")
def test_times_are_held_from_their_step_on() -> None:
    """A time a little after a step waits for the next; rows before zero hold until the first after it."""
    Path("t.csv").write_text("time,elbow\n-2,1\n-1,2\n0.0001,3\n0.02,4\n0.0301,5\n9,6\n", encoding="utf-8")
    torques = read_torques(Path("t.csv"), zoo.load("double_pendulum"), 5, 0.01)
    assert torques[:, 1].tolist() == [2, 3, 4, 4, 5]
    Path("t.csv").write_text("time,elbow\n0,7\n", encoding="utf-8")
    assert read_torques(Path("t.csv"), zoo.load("double_pendulum"), 3, 0.01)[:, 1].tolist() == [7, 7, 7]


@pytest.mark.usefixtures("kinetree")
def test_constant_torques_and_other_types_of_numbers() -> None:
    robot = zoo.load("double_pendulum")
    for dtype in (np.float32, np.int16, np.uint8, ">f8"):
        np.save("t.npy", np.array([3, 4], dtype))
        assert read_torques(Path("t.npy"), robot, 7, 0.1).tolist() == [3.0, 4.0]
    np.save("t.npy", np.asfortranarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    assert read_torques(Path("t.npy"), robot, 3, 0.1).tolist() == [[1, 2], [3, 4], [5, 6]]
    Path("T.CSV").write_text("time, elbow ,shoulder\n 0 , 1 ,\t2\n", encoding="utf-8-sig")
    assert read_torques(Path("T.CSV"), robot, 2, 0.1).tolist() == [[2, 1], [2, 1]]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("t.npz", "t.npz: cannot be read: this is not a regular file"),
        ("t.npy", "not a regular"),
        ("t.csv", "not a reg"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes among its files")
def test_a_pipe_is_no_torque_file(kinetree: Command, name: str, message: str) -> None:
    os.mkfifo(name)
    result = kinetree("simulate", "double_pendulum", "--tau-file", name)
    assert (result.code, message in result.err) == (2, True)


def test_a_folder_is_no_torque_file(kinetree: Command) -> None:
    Path("t.npz").mkdir()
    assert kinetree("simulate", "double_pendulum", "--tau-file", "t.npz").code == 2
    with pytest.raises(OptionError, match=r"t\.npz: cannot be read: this is a folder"):
        read_torques(Path("t.npz"), zoo.load("double_pendulum"), 3, 0.1)


def test_a_torque_file_that_would_fill_the_memory_is_not_unpacked(kinetree: Command) -> None:
    np.savez_compressed("t.npz", time=np.arange(4_500_000.0) * 0, tau=np.zeros((4_500_000, 2)))
    result = kinetree("simulate", "double_pendulum", "--tau-file", "t.npz")
    assert result.code == 2
    assert "t.npz: this is not a NumPy file: it unpacks to 103 MiB, more than 100 times its own size" in result.err
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 2), }".ljust(117) + b"\n"
    Path("t.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + header + bytes(16))
    result = kinetree("simulate", "double_pendulum", "--tau-file", "t.npy")
    assert result.code == 2
    assert "16,000,000,000,000 bytes, but 16 bytes are there" in result.err


def test_foreign_members_of_a_torque_archive(kinetree: Command) -> None:
    with zipfile.ZipFile("t.npz", "w") as archive:
        archive.writestr("tau", b"text")
    result = kinetree("simulate", "double_pendulum", "--tau-file", "t.npz")
    assert (result.code, 'there is no array "tau" in it' in result.err) == (2, True)
    with zipfile.ZipFile("t.npz", "w") as archive:
        archive.writestr("tau.npy", b"text")
    result = kinetree("simulate", "double_pendulum", "--tau-file", "t.npz")
    assert (result.code, "this is not a NumPy file: 'tau' is not a NumPy array" in result.err) == (2, True)


def test_columns_are_distinguished_in_linear_time(kinetree: Command) -> None:
    """A name given twice is found however many columns there are."""
    Path("t.csv").write_text(f"{'elbow,' * 20_000}time\n{'0,' * 20_000}0\n", encoding="utf-8")
    result = kinetree("simulate", "double_pendulum", "--tau-file", "t.csv")
    assert (result.code, "there are two columns 'elbow'" in result.err) == (2, True)


@pytest.mark.parametrize("out", ["a", "new/b"])
def test_a_folder_is_made_if_it_is_said(kinetree: Command, out: str) -> None:
    result = kinetree("simulate", "double_pendulum", "--duration", "0.01", "--out", out)
    assert result.code == 0
    assert result.err == ("note: made the folder new\n" if "/" in out else "")


def test_unwritable_files_are_reported_before_the_motion_is_computed(
    kinetree: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinetree.sim.simulate", None)
    Path("a.npz").mkdir()
    result = kinetree("simulate", "double_pendulum", "--out", "a")
    assert (result.code, result.err) == (1, "error: a.npz: cannot be written: this is a folder\n")


def test_a_picture_that_cannot_be_written_does_not_take_the_numbers_along(
    kinetree: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise SaveError("a.png: cannot be written: No space left on device")

    monkeypatch.setattr("kinetree.sim.plot", full)
    result = kinetree("simulate", "double_pendulum", "--duration", "0.01", "--out", "a")
    assert result.code == 1
    assert result.err == "error: a.png: cannot be written: No space left on device\n"
    assert "wrote a.npz" in result.out
    assert len(load("a").time) == 11


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("double_pendulum", "--q", "1"), "1 number was given, but 'double_pendulum' has 2 coordinates here"),
        (("double_pendulum", "--q", "1,x"), "'x' is not a finite number"),
        (("double_pendulum", "--q", "1,1_0"), "'1_0' is not a finite number"),
        (("double_pendulum", "--v", "1,1e999"), "'1e999' is not a finite number"),
        (("double_pendulum", "--v", "elbov=1"), "has no coordinate 'elbov': did you mean 'elbow'?"),
        (("double_pendulum", "--tau", "elbow=1,2"), "'2' has no name"),
        (("double_pendulum", "--tau", "elbow=1,elbow=2"), "'elbow' is given twice"),
        (("double_pendulum", "--integrator", "rk3"), "rk3"),
        (("double_pendulum", "--tau-file", "missing.csv"), "missing.csv"),
        (("double_pendulum", "--tau", "1,1", "--tau-file", "."), "--tau-file"),
        (("double_pendulum", "--dt", "fast"), "--dt"),
        (("double_pendulum", "--dt", "0"), "it must be a positive number, not 0.0"),
        (("double_pendulum", "--seed", "-1"), "--seed"),
        (("double_pendulum", "--nothing"), "--nothing"),
        (("double_pendulum", "--out", ".."), ".. names no file"),
        (("double_pendulum", "--out", "a.csv"), "--out writes .npz files, and 'a.csv' ends like another format"),
        (("double_pendulum", "arm6"), "arm6"),
    ],
)
def test_wrong_usage(kinetree: Command, arguments: tuple[str, ...], message: str) -> None:
    result = kinetree("simulate", *arguments)
    assert result.code == 2
    assert message in result.err
    assert result.out == ""


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--duration", "1e12"), 2, "at most 10,000,000 are taken at once"),
        (("--v", "1e160,0"), 1, "is no longer finite at t ="),
    ],
)
def test_motions_that_cannot_be(kinetree: Command, arguments: tuple[str, ...], code: int, message: str) -> None:
    result = kinetree("simulate", "double_pendulum", *arguments)
    assert result.code == code
    assert result.err.startswith("error: ")
    assert message in result.err
    assert "Traceback" not in result.err


def test_a_folder_that_cannot_be_written_is_named(kinetree: Command) -> None:
    Path("taken").write_text("a file", encoding="utf-8")
    result = kinetree("simulate", "double_pendulum", "--output-dir", "taken/x", *QUICK)
    assert result.code == 1
    assert result.err.startswith("error: ")
    assert "taken" in result.err


@pytest.mark.parametrize("byte", [60, 100])
def test_damaged_archives_are_refused(kinetree: Command, byte: int) -> None:
    np.savez_compressed("t.npz", tau=np.random.default_rng(0).random((1000, 2)))
    content = bytearray(Path("t.npz").read_bytes())
    content[byte] ^= 0xFF
    Path("t.npz").write_bytes(content)
    result = kinetree("simulate", "double_pendulum", "--tau-file", "t.npz", "--duration", "0.003")
    assert result.code == 2
    assert "t.npz: this is not a NumPy file" in result.err


def test_rounding_errors_are_not_reported_as_energies(kinetree: Command) -> None:
    """In free fall joints turn by 1e-17 rad, and friction takes 1e-36 J from them."""
    result = kinetree("simulate", "quadruped", "--duration", "0.2")
    assert 0.0 < load("quadruped").dissipated[-1] < 1e-20
    (lost,) = (line for line in result.out.splitlines() if "lost to friction" in line)
    assert lost.replace("│", " ").split()[-1] == "+0"
    assert re.search(r"e-[23]\d", result.out.partition("balance error")[0]) is None


def test_with_contact_a_ball_comes_to_rest_on_the_ground(kinetree: Command, tmp_path: Path) -> None:
    path = tmp_path / "ball.xml"
    path.write_text(
        """<mujoco model="ball"><worldbody><geom type="plane" size="1 1 1"/>
        <body pos="0 0 0.15"><freejoint name="free"/><geom size="0.1" mass="1"/></body></worldbody></mujoco>"""
    )
    result = kinetree("simulate", str(path), "--contact", "--duration", "1.5")
    assert result.code == 0
    assert "warning" not in result.err
    motion = load("ball")
    assert motion.integrator == "semi_implicit_euler"
    assert 0.098 < motion.q[-1, 2] < 0.1
    assert np.abs(motion.v[-1]).max() < 1e-3
    assert kinetree("simulate", str(path), "--duration", "0.3", "--quiet").code == 0
    assert load("ball").q[-1, 2] < 0.0

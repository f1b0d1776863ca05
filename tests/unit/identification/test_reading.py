"""Logs in files: tables and messages."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification import Log, read_log
from kinetree.number_files.joint_states import _unpacked
from kinetree.own_process import OwnProcessError

from .motions import PENDULUM, exact_log

LOG = exact_log(PENDULUM, PENDULUM, rows=50)
NAMES = list(PENDULUM.q_names)
COLUMNS = {"time": LOG.time, **{f"tau.{n}": x for n, x in zip(NAMES, LOG.tau.T, strict=True)}} | {
    f"q.{n}": x for n, x in zip(NAMES, LOG.q.T, strict=True)
}


def as_csv(path: Path, columns: dict[str, np.ndarray]) -> Path:
    table = np.column_stack(list(columns.values()))
    np.savetxt(path, table, delimiter=",", header=",".join(columns), comments="", fmt="%.17g")
    return path


def is_the_same(found: Log) -> bool:
    return all(np.allclose(getattr(found, x), getattr(LOG, x), rtol=0, atol=1e-9) for x in ("time", "q", "tau"))


def test_csv_in_any_order_of_columns(tmp_path: Path) -> None:
    found = read_log(as_csv(tmp_path / "log.csv", COLUMNS | {"current": LOG.time}), PENDULUM)
    assert is_the_same(found)
    assert found.v is None
    assert found.remarks == ("columns that were not read: current",)


def test_a_trajectory_is_a_log(tmp_path: Path) -> None:
    motion = kt.simulate(PENDULUM, q=[1.0, 0.5], duration=0.2)
    path = motion.save(tmp_path / "motion.npz")
    found = read_log(path, PENDULUM)
    assert all(np.array_equal(getattr(found, x), getattr(motion, x)) for x in ("time", "q", "v", "qdd", "tau"))
    table = motion.to_dataframe().reset_index()
    table.to_csv(tmp_path / "motion.csv", index=False)
    again = read_log(tmp_path / "motion.csv", PENDULUM)
    assert np.array_equal(again.q, motion.q)
    assert "kinetic" in again.remarks[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ("0.0,1.0\n", "the first line must hold the names"),
        ("time,time\n", "two columns 'time'"),
        ("tim,q.a\n0,1\n", "no column \"time\".*did you mean 'tim'"),
        ("time,q.a\n0,1\n", "no column 'q\\."),
        ("time,q.a\n0,1,2\n", ":2: 3 cells in this line, but 2 are expected"),
        ("time,q.a\n0,1\n1,x\n", ":3: 'x' is not a number"),
        ("time,q.a\n0,1\n1,\n", ":3: an empty cell"),
        ("time,q.a\n", "has no rows"),
        ("time,q.a\n0,1\n# 1,1\n", ":3: '# 1' is not a number"),
        ("time,q.a\n\n0,1\n ,\n", ":4: an empty cell"),
    ],
)
def test_faults_of_a_table_are_reported_with_their_lines(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(kt.errors.LogError, match=sentence):
        read_log(path, PENDULUM)


def test_nan_in_a_file_is_reported(tmp_path: Path) -> None:
    q = LOG.q[:, 0].copy()
    q[3] = np.nan
    path = as_csv(tmp_path / "log.csv", COLUMNS | {f"q.{NAMES[0]}": q})
    with pytest.raises(
        kt.errors.LogError,
        match=rf"has numbers that are not finite: q\.{NAMES[0]}, first in row 3 \(rows in all: 1\)",
    ):
        read_log(path, PENDULUM)


def test_joints_that_are_locked_and_move_are_reported(tmp_path: Path) -> None:
    locked = PENDULUM.lock(["elbow"])
    with pytest.raises(kt.errors.LogError, match=r"elbow moves, from .* but it is locked in 'double_pendulum'"):
        read_log(as_csv(tmp_path / "log.csv", COLUMNS), locked)
    still = COLUMNS | {"q.elbow": 0.5 + 0.0 * LOG.time}
    found = read_log(as_csv(tmp_path / "still.csv", still), locked)
    assert "elbow is locked, and at 0.5 in the log" in found.remarks[1]


def test_files_that_are_not_read_are_reported(tmp_path: Path) -> None:
    with pytest.raises(kt.errors.OptionError, match=r"logs are read from \.csv, \.parquet"):
        read_log(tmp_path / "log.txt", PENDULUM)
    with pytest.raises(kt.errors.LogError, match="cannot be read: No such file"):
        read_log(tmp_path / "log.csv", PENDULUM)
    with pytest.raises(kt.errors.OptionError, match="only messages have topics"):
        read_log(tmp_path / "log.csv", PENDULUM, topic="/joint_states")
    (tmp_path / "log.npz").write_bytes(b"no archive")
    with pytest.raises(kt.errors.LogError, match="is not a NumPy archive"):
        read_log(tmp_path / "log.npz", PENDULUM)


def test_an_archive_may_have_an_array_for_each_column(tmp_path: Path) -> None:
    np.savez(tmp_path / "log.npz", **COLUMNS, note=np.array(["x"]))  # type: ignore[arg-type]
    assert is_the_same(read_log(tmp_path / "log.npz", PENDULUM))
    np.savez(tmp_path / "uneven.npz", **COLUMNS | {"time": LOG.time[:-1]})  # type: ignore[arg-type]
    with pytest.raises(kt.errors.LogError, match=r"has .* rows, but .* has"):
        read_log(tmp_path / "uneven.npz", PENDULUM)


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    parquet.write_table(pyarrow.table({**COLUMNS, "note": ["x"] * 50}), tmp_path / "log.parquet")
    assert is_the_same(read_log(tmp_path / "log.parquet", PENDULUM))
    (tmp_path / "bad.parquet").write_bytes(b"nothing")
    with pytest.raises(kt.errors.LogError, match="is not a Parquet file"):
        read_log(tmp_path / "bad.parquet", PENDULUM)


def joint_states() -> list[tuple[int, int, list[str], list[float], list[float]]]:
    """(seconds, nanoseconds, names, positions, efforts) of each message, joints in an order of their own."""
    names = [*reversed(NAMES), "gripper"]
    stamps = [divmod(round(t * 1e9) + 5_000_000_000, 1_000_000_000) for t in LOG.time]
    return [
        (sec, nano, names, [*q[::-1].tolist(), 0.1], [*tau[::-1].tolist(), 0.0])
        for (sec, nano), q, tau in zip(stamps, LOG.q, LOG.tau, strict=True)
    ]


def test_mcap_with_json(tmp_path: Path) -> None:
    writer = pytest.importorskip("mcap.writer", reason="mcap is not installed")
    with (tmp_path / "log.mcap").open("wb") as file:
        out = writer.Writer(file)
        out.start()
        schema = out.register_schema("sensor_msgs/JointState", "jsonschema", b"{}")
        channel = out.register_channel("/joint_states", "json", schema)
        for k, (sec, nano, names, q, tau) in enumerate(joint_states()):
            message = {"header": {"stamp": {"sec": sec, "nanosec": nano}}, "name": names, "position": q, "effort": tau}
            out.add_message(channel, k, json.dumps(message).encode(), k)
        out.finish()
    found = read_log(tmp_path / "log.mcap", PENDULUM)
    assert is_the_same(found)
    assert found.remarks == ("joints that were not read: 'gripper'",) or "gripper" in found.remarks[0]
    with pytest.raises(kt.errors.LogError, match="has no topic '/joints': did you mean '/joint_states'"):
        read_log(tmp_path / "log.mcap", PENDULUM, topic="/joints")


@pytest.mark.parametrize("storage", ["SQLITE3", "MCAP"])
def test_bags_of_ros_2(tmp_path: Path, storage: str) -> None:
    rosbag2 = pytest.importorskip("rosbags.rosbag2", reason="rosbags is not installed")
    typesys = pytest.importorskip("rosbags.typesys", reason="rosbags is not installed")
    pytest.importorskip("mcap", reason="mcap is not installed")
    store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    JointState, Header, Time = (
        store.types[f"{kind}"]
        for kind in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )
    folder = tmp_path / "bag"
    with rosbag2.Writer(folder, version=9, storage_plugin=getattr(rosbag2.StoragePlugin, storage)) as out:
        connection = out.add_connection("/joint_states", JointState.__msgtype__, typestore=store)
        for sec, nano, names, q, tau in joint_states():
            header = Header(stamp=Time(sec=sec, nanosec=nano), frame_id="")
            message = JointState(header, names, np.array(q), np.array([]), np.array(tau))
            data = store.serialize_cdr(message, JointState.__msgtype__)
            out.write(connection, sec * 1_000_000_000 + nano, data)
    assert is_the_same(read_log(folder, PENDULUM))
    inside = next(folder.glob("*.mcap" if storage == "MCAP" else "*.db3"))
    assert is_the_same(read_log(inside, PENDULUM))
    if storage == "SQLITE3":
        (folder / "metadata.yaml").unlink()
        with pytest.raises(kt.errors.LogError, match=r"metadata\.yaml is not beside it; copy the bag's whole folder"):
            read_log(inside, PENDULUM)
        with pytest.raises(kt.errors.OptionError, match="not from folders without"):
            read_log(folder, PENDULUM)


def test_a_bag_of_ros_1(tmp_path: Path) -> None:
    rosbag1 = pytest.importorskip("rosbags.rosbag1", reason="rosbags is not installed")
    typesys = pytest.importorskip("rosbags.typesys", reason="rosbags is not installed")
    store = typesys.get_typestore(typesys.Stores.ROS1_NOETIC)
    JointState, Header, Time = (
        store.types[f"{kind}"]
        for kind in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )
    with rosbag1.Writer(tmp_path / "log.bag") as out:
        connection = out.add_connection("/joint_states", JointState.__msgtype__, typestore=store)
        for k, (sec, nano, names, q, tau) in enumerate(joint_states()):
            header = Header(seq=k, stamp=Time(sec=sec, nanosec=nano), frame_id="")
            message = JointState(header, names, np.array(q), np.array([]), np.array(tau))
            data = store.serialize_ros1(message, JointState.__msgtype__)
            out.write(connection, sec * 1_000_000_000 + nano, data)
    assert is_the_same(read_log(tmp_path / "log.bag", PENDULUM))


def test_a_file_of_messages_that_breaks_off(tmp_path: Path) -> None:
    pytest.importorskip("mcap", reason="mcap is not installed")
    (tmp_path / "log.mcap").write_bytes(b"junk")
    with pytest.raises(kt.errors.LogError, match="is not an MCAP file"):
        read_log(tmp_path / "log.mcap", PENDULUM)


@pytest.mark.parametrize(
    ("facts", "numbers"),
    [
        (None, 3), ([], 3), (["t", ["a"], ["position"], 1], 2), ([1, ["a"], ["position"]], 2),
        (["t", [1], ["position"]], 2), (["t", "a", 5], 2), (["t", ["a"], ["velocity"]], 2),
        (["t", ["a"], ["position", "height"]], 3), (["t", ["a"], ["position", "position"]], 3),
        (["t", ["a"], ["position"]], 3), (["t", ["a"], [["position"]]], 2), (["t", {"a": 1}, {"position": {}}], 3),
    ],
)  # fmt: skip
def test_messages_from_another_process_are_checked(facts: object, numbers: int) -> None:
    with pytest.raises(OwnProcessError, match="an answer that cannot be read"):
        _unpacked(facts, np.zeros(numbers).tobytes())
    with pytest.raises(OwnProcessError, match="an answer that cannot be read"):
        _unpacked(["t", ["a"], ["position"]], bytes(15))

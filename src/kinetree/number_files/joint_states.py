"""Messages sensor_msgs/JointState in the files that ROS and Foxglove write.

The packages mcap and rosbags read them, in a process of their own: files are hostile, and both believe them.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import LogError, MissingPackageError, listed, nearest_names
from kinetree.files import open_regular, read_regular, reason
from kinetree.own_process import OwnProcessError, called_apart
from kinetree.records import record

__all__ = ["JointStates", "read_messages", "read_messages_here"]

Array = NDArray[np.float64]

_KIND = "JointState"
_SECONDS = 20.0
_BYTES_PER_SECOND = 1e6
"""The slowest that files are read, many times slower than usual."""
_MEMORY = 2**29
"""Bytes of memory for any file, however small."""
_RATIO = 4
"""Bytes of memory for each byte of a file; rosbags keeps where each message is."""
_METADATA = "metadata.yaml"
_LONGEST_METADATA = 2**22


@record(frozen=True, slots=True, eq=False)
class JointStates:
    """The messages of one topic, as arrays with a row per message."""

    topic: str
    names: tuple[str, ...]
    time: Array
    """(T,), s since the first message."""
    position: Array
    velocity: Array | None
    effort: Array | None


def read_messages(path: Path, topic: str | None) -> JointStates:
    """The joint states of a file, in the order of its messages. Raises LogError, MissingPackageError."""
    try:
        size = _size(path)
        seconds, memory = _SECONDS + size / _BYTES_PER_SECOND, _MEMORY + _RATIO * size
        return _unpacked(
            *called_apart(f"{__name__}:packed", str(path), topic, seconds=seconds, memory=memory, most=memory)
        )
    except OSError as error:
        raise LogError(f"read_log: {path} cannot be read: {reason(error)}") from None
    except OwnProcessError as error:
        raise LogError(f"read_log: {path} cannot be read: {error}") from None


def packed(path: str, topic: str | None) -> tuple[list[Any], bytes]:
    """The topic, the joints and the parts of the joint states of a file, and one table of all numbers."""
    states = read_messages_here(Path(path), topic)
    parts = [part for part in _PARTS if getattr(states, part) is not None]
    table = np.column_stack([states.time, *(getattr(states, part) for part in parts)])
    return [states.topic, states.names, parts], table.tobytes()


def _unpacked(facts: Any, data: bytes) -> JointStates:
    """The joint states that another process packed. Raises `OwnProcessError` if it packed something else."""
    try:
        topic, names, parts = facts
        table = np.frombuffer(data).reshape(-1, 1 + len(parts) * len(names)).copy()
        time, *tables = np.split(table, np.arange(len(parts)) * len(names) + 1, axis=1)
        numbers: dict[str, Any] = dict(zip(parts, tables, strict=True))
        is_whole = len(numbers) == len(parts) and "position" in numbers and numbers.keys() <= set(_PARTS)
        if is_whole and all(isinstance(name, str) for name in (topic, *names)):
            arrays: list[Any] = [numbers["position"], numbers.get("velocity"), numbers.get("effort")]
            return JointStates(topic, tuple(names), time[:, 0], *arrays)
    except (ValueError, TypeError):
        pass
    raise OwnProcessError("its process gave an answer that cannot be read")


_PARTS = ("position", "velocity", "effort")
"""The arrays of a message."""


def _size(path: Path) -> int:
    """The bytes of a file, or of a bag's folder; an `OSError` if something in it is neither a file nor a folder."""
    if path.suffix.lower() == ".db3":
        open_regular(path).close()
        path = path.parent
    files = [one for one in path.iterdir() if not one.is_dir()] if path.is_dir() else [path]
    size = 0
    for file in files:
        try:
            open_regular(file).close()
            if file.name == _METADATA:
                read_regular(file, _LONGEST_METADATA)
        except OSError as error:
            raise OSError(error.errno, f"{file.name}: {reason(error)}") from None
        size += file.stat().st_size
    return size


def read_messages_here(path: Path, topic: str | None) -> JointStates:
    """The same in this process, where a file may take any time and memory and raise any error."""
    source = _mcap if path.suffix.lower() == ".mcap" else _ros
    try:
        topics, messages = source(path)
        name = _chosen(path, topics, topic)
        received = list(messages(name))
    except OSError as error:
        raise LogError(f"read_log: {path} cannot be read: {reason(error)}") from None
    if not received:
        raise LogError(f"read_log: {path} has no messages of {name}")
    names = tuple(received[0].name)
    for k, message in enumerate(received):
        if tuple(message.name) != names:
            raise LogError(
                f"read_log: {path}: message {k} of {name} has the joints {listed(map(repr, message.name), most=4)}, "
                f"and the first one {listed(map(repr, names), most=4)}; filter the topic before it is recorded"
            )
    stamps = np.array([_nanoseconds(message.header.stamp) for message in received], dtype=np.int64)
    if not stamps.any():
        raise LogError(f"read_log: {path}: the headers of {name} have no time, only zeros")
    position = _numbers(path, name, received, "position", len(names))
    if position is None:
        raise LogError(f"read_log: {path}: the messages of {name} have no positions")
    time = (stamps - stamps[0]) * 1e-9
    velocity, effort = (_numbers(path, name, received, part, len(names)) for part in ("velocity", "effort"))
    return JointStates(name, names, time, position, velocity, effort)


Messages = Callable[[str], Iterator[Any]]


def _mcap(path: Path) -> tuple[Mapping[str, str], Messages]:
    """The types of the topics, and a function that gives the messages of one."""
    try:
        from mcap.exceptions import McapError
        from mcap.reader import make_reader
    except ImportError:
        raise MissingPackageError("reading .mcap files needs mcap: pip install 'kinetree[identify]'") from None
    topics: dict[str, str] = {}
    raw: dict[str, list[tuple[str, bytes]]] = {}
    try:
        with open_regular(path) as file:
            for schema, channel, message in make_reader(file).iter_messages(log_time_order=False):
                topics[channel.topic] = schema.name if schema else ""
                if schema is not None and schema.name.endswith(_KIND):
                    raw.setdefault(channel.topic, []).append((channel.message_encoding, message.data))
    except (McapError, struct.error) as error:  # the latter for a file that ends within a record
        raise LogError(f"read_log: {path} is not an MCAP file: {error}") from None

    def messages(topic: str) -> Iterator[Any]:
        for encoding, data in raw.get(topic, ()):
            yield _decoded(path, encoding, data)

    return topics, messages


def _decoded(path: Path, encoding: str, data: bytes) -> Any:
    if encoding == "json":
        try:
            fields = json.loads(data)
            parts = {part: fields.get(part, []) for part in ("name", "position", "velocity", "effort")}
            stamp = fields["header"]["stamp"]
            return SimpleNamespace(header=SimpleNamespace(stamp=SimpleNamespace(**stamp)), **parts)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise LogError(f"read_log: {path} has a message that is not a JointState in JSON: {error!r}") from None
    store = _typestore(ros1=encoding == "ros1")
    if encoding == "cdr":
        return store.deserialize_cdr(data, "sensor_msgs/msg/JointState")
    if encoding == "ros1":
        return store.deserialize_ros1(data, "sensor_msgs/msg/JointState")
    raise LogError(f"read_log: {path}: messages encoded as {encoding!r} are not read; cdr, ros1 and json are")


def _typestore(*, ros1: bool) -> Any:
    try:
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise MissingPackageError("reading messages of ROS needs rosbags: pip install 'kinetree[identify]'") from None
    store = Stores.ROS1_NOETIC if ros1 else Stores.ROS2_HUMBLE
    if store not in _STORES:
        _STORES[store] = get_typestore(store)
    return _STORES[store]


_STORES: dict[Any, Any] = {}
"""The message types of ROS, which take a tenth of a second to make."""


def _ros(path: Path) -> tuple[Mapping[str, str], Messages]:
    store = _typestore(ros1=path.suffix.lower() == ".bag")
    from rosbags.highlevel import AnyReader, AnyReaderError

    folder = path.parent if path.suffix.lower() == ".db3" else path
    if folder is not path:
        open_regular(path).close()  # an error for a file that is not there
        if not (folder / _METADATA).exists():
            raise LogError(
                f"read_log: {path} is one file of a bag of ROS 2, and the bag's metadata.yaml is not beside it; copy "
                "the bag's whole folder, or let `ros2 bag reindex` write that file"
            )
    try:
        with AnyReader([folder], default_typestore=store) as reader:
            topics = {topic: str(info.msgtype or "") for topic, info in reader.topics.items()}
    except AnyReaderError as error:
        raise LogError(f"read_log: {path} is not a bag of ROS: {error}") from None

    def messages(topic: str) -> Iterator[Any]:
        with AnyReader([folder], default_typestore=store) as reader:
            connections = [connection for connection in reader.connections if connection.topic == topic]
            for connection, _, data in reader.messages(connections=connections):
                yield reader.deserialize(data, connection.msgtype)

    return topics, messages


def _chosen(path: Path, topics: Mapping[str, str], topic: str | None) -> str:
    suitable = sorted(name for name, kind in topics.items() if kind.endswith(_KIND))
    if topic is not None:
        if topic not in topics:
            raise LogError(f"read_log: {path} has no topic {topic!r}: {nearest_names(topic, topics)}")
        if topic not in suitable:
            raise LogError(
                f"read_log: {path}: {topic} has messages of type {topics[topic]}, not sensor_msgs/JointState"
            )
        return topic
    if len(suitable) != 1:
        found = listed(suitable, most=8) or "none"
        raise LogError(f"read_log: {path}: topics with sensor_msgs/JointState: {found}; name one with topic=")
    return suitable[0]


def _numbers(path: Path, topic: str, messages: list[Any], part: str, width: int) -> Array | None:
    """One part of all messages (T, n), or None if no message has it. NaN is left to the log's own checks."""
    lengths = {len(getattr(message, part)) for message in messages}
    if lengths == {0}:
        return None
    if lengths != {width}:
        raise LogError(
            f"read_log: {path}: messages of {topic} have {sorted(lengths)} numbers of {part} for {width} joints"
        )
    return np.array([getattr(message, part) for message in messages], dtype=np.float64)


def _nanoseconds(stamp: Any) -> int:
    fraction = next((x for name in ("nanosec", "nsec", "nanosecs") if (x := getattr(stamp, name, None)) is not None), 0)
    seconds = next((x for name in ("sec", "secs") if (x := getattr(stamp, name, None)) is not None), 0)
    return int(seconds) * 1_000_000_000 + int(fraction)

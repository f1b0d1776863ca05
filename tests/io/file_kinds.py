"""Every kind of file that is read, and what may be in its place: pipes, devices, links, folders and huge files.

As a script it reads the kinds it is given with each of them in its place, in a process of its own that has 10 s of work
and 1 GiB more memory, and prints a line of JSON with what came of it.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import struct
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kinetree as kt
from kinetree.appearance.mesh_files import file_mesh
from kinetree.cli.input_file import read_commands, read_torques
from kinetree.comparison.source import format_of
from kinetree.identification import read_log
from kinetree.sweeps.study_file import read_study_file
from tests.io.arm import ARM
from tests.io.sdf.robots import ROBOTS, TETRAHEDRON

__all__ = ["KINDS", "REPLACEMENTS"]

SECONDS = 10
MEMORY = 2**30
HUGE = 2**32
ROBOT = kt.zoo.load("double_pendulum")
COLUMNS = {
    "time": np.arange(4.0), "q.shoulder": np.arange(4.0), "q.elbow": np.arange(4.0), "tau.shoulder": np.arange(4.0),
    "tau.elbow": np.arange(4.0),
}  # fmt: skip


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _link_to_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to(path.with_name("pipe"))


def _huge(path: Path) -> None:
    with path.open("ab") as file:
        file.truncate(HUGE)


def _as_it_begins_and_huge(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    _huge(path)


REPLACEMENTS: dict[str, Callable[[Path, bytes], None]] = {
    "a pipe": lambda path, _: _pipe(path),
    "a link to a pipe": lambda path, _: _link_to_pipe(path),
    "a link to a device": lambda path, _: path.symlink_to("/dev/zero"),
    "a folder": lambda path, _: path.mkdir(),
    "a link to a folder": lambda path, _: path.symlink_to("/"),
    "a link to itself": lambda path, _: path.symlink_to(path.name),
    "a link to nothing": lambda path, _: path.symlink_to("nothing"),
    "4 GiB of zeros": lambda path, _: _huge(path),
    "its beginning and 4 GiB of zeros": _as_it_begins_and_huge,
    "nothing": lambda path, _: path.write_bytes(b""),
}
"""By what is in the place of a file, which is gone, and whose content was this."""


class Kind(NamedTuple):
    """A kind of file."""

    make: Callable[[Path], Path]
    """Fills a folder, and returns the path of the file that is replaced."""
    read: Callable[[Path], object]
    """Reads it; called with that path."""


def _text(name: str, text: str | bytes, **beside: str | bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        for file, content in {name: text, **{key.replace("_", "."): x for key, x in beside.items()}}.items():
            (folder / file).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder / name

    return make


def _robot(name: str, text: str, **beside: str | bytes) -> Kind:
    return Kind(_text(name, text, **beside), kt.load)


def _named(text: str, name: str, content: str | bytes, read: Callable[[Path], object]) -> Kind:
    """A file that a robot file names, which is robot.xml beside it."""
    key = name.replace(".", "_")
    return Kind(lambda folder: _text("robot.xml", text, **{key: content})(folder).with_name(name), read)


def _mesh(name: str, content: str | bytes) -> Kind:
    return Kind(_text(name, content), lambda path: file_mesh(path, 1000))


def _study(file: str) -> Kind:
    def make(folder: Path) -> Path:
        vary = {"q.elbow": kt.sweeps.Uniform(0.0, 1.0)}
        kt.sweep(ROBOT, folder / "study", samples=3, chunk=2, duration=0.01, vary=vary)
        (folder / "study" / "failures").mkdir(exist_ok=True)
        (folder / "study" / "failures" / "0.json").write_text('[[0, 0.1, "elbow", "state"]]')
        return folder / "study" / file

    def read(path: Path) -> object:
        study = kt.sweeps.load_study(path.parents[len(Path(file).parts) - 1])
        values = [x[name] for x in (study.inputs, study.results) for name in x]
        return repr(study), values, study.failures, study.model, study.done, study.motion(0)

    return Kind(make, read)


def _again(file: str) -> Kind:
    """A file of a study that goes on."""
    kind = _study(file)

    def read(path: Path) -> object:
        vary = {"q.elbow": kt.sweeps.Uniform(0.0, 1.0)}
        folder = path.parents[len(Path(file).parts) - 1]
        return kt.sweep(ROBOT, folder, samples=3, chunk=2, duration=0.01, vary=vary)

    return Kind(kind.make, read)


def _motion(file: str) -> Kind:
    def make(folder: Path) -> Path:
        kt.simulate(ROBOT, q=[1.0, 0.5], duration=0.01, record=kt.sim.Recording(stream=folder / "run"))
        return folder / "run" / file

    def read(path: Path) -> object:
        motion = kt.load_trajectory(path.parents[len(Path(file).parts) - 1])
        assert isinstance(motion, kt.sim.TrajectoryFolder)
        return repr(motion), motion.model, motion.time, motion.configurations(), motion.events, motion.snapshot()

    return Kind(make, read)


def _saved(folder: Path) -> Path:
    return kt.simulate(ROBOT, q=[1.0, 0.5], duration=0.01).save(folder / "motion.npz")


def _snapshot(folder: Path) -> Path:
    return kt.simulate(ROBOT, q=[1.0, 0.5], duration=0.01).snapshot().save(folder / "moment.npz")


def _columns_npz(folder: Path) -> Path:
    np.savez(folder / "log.npz", **COLUMNS)  # type: ignore[arg-type]
    return folder / "log.npz"


def _columns_csv(folder: Path) -> Path:
    rows = [",".join(COLUMNS), *(",".join(map(str, row)) for row in zip(*COLUMNS.values(), strict=True))]
    return _text("log.csv", "\n".join(rows) + "\n")(folder)


def _torques_csv(folder: Path) -> Path:
    return _text("log.csv", "time,shoulder,elbow\n0,0,0\n1,1,1\n2,4,4\n")(folder)


def _commands_npz(folder: Path) -> Path:
    np.savez(folder / "log.npz", time=np.arange(4.0), ctrl=np.zeros((4, 2)))
    return folder / "log.npz"


def _npy(folder: Path) -> Path:
    np.save(folder / "given.npy", np.zeros((10, 2)))
    return folder / "given.npy"


def _mcap(folder: Path) -> Path:
    from mcap.writer import Writer

    with (folder / "log.mcap").open("wb") as file:
        out = Writer(file)
        out.start()
        channel = out.register_channel(
            "/joint_states", "json", out.register_schema("sensor_msgs/JointState", "jsonschema", b"{}")
        )
        for k in range(4):
            stamp = {"sec": k + 1, "nanosec": 0}
            message = {"header": {"stamp": stamp}, "name": ["shoulder", "elbow"], "position": [k, k], "effort": [k, k]}
            out.add_message(channel, k, json.dumps(message).encode(), k)
        out.finish()
    return folder / "log.mcap"


def _bag(version: int, inside: str = "") -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        from rosbags import rosbag1, rosbag2
        from rosbags.typesys import Stores, get_typestore

        store = get_typestore(Stores.ROS1_NOETIC if version == 1 else Stores.ROS2_HUMBLE)
        Header, JointState, Time = (
            store.types[name]
            for name in ("std_msgs/msg/Header", "sensor_msgs/msg/JointState", "builtin_interfaces/msg/Time")
        )
        path = folder / ("log.bag" if version == 1 else "log")
        out: Any = rosbag1.Writer(path) if version == 1 else rosbag2.Writer(path, version=9)
        kind = "sensor_msgs/msg/JointState"
        with out:
            connection = out.add_connection("/joint_states", kind, typestore=store)
            for k in range(4):
                header = Header(stamp=Time(sec=k + 1, nanosec=0), frame_id="", **({"seq": k} if version == 1 else {}))
                numbers = np.array([k, k], float)
                message = JointState(header, ["shoulder", "elbow"], numbers, np.array([]), numbers)
                write = store.serialize_ros1 if version == 1 else store.serialize_cdr
                out.write(connection, k, write(message, kind))
        return path / inside if inside else path

    return make


def _read_log(path: Path) -> object:
    return read_log(path, ROBOT)


def _read_bag(path: Path) -> object:
    return read_log(path.parent, ROBOT)


def _drawn(path: Path) -> object:
    """A picture of the robot beside a file."""
    robot = kt.load(path.with_name("robot.xml"))
    return kt.render(robot, size=(32, 24))


_HFIELD = (
    '<mujoco><asset><hfield name="h" file="hills.{}" size="1 1 1 0.1"/></asset><worldbody><geom type="hfield" '
    'hfield="h"/><body><joint/><geom size="0.1"/></body></worldbody></mujoco>'
)
_WITH_MESH = (
    '<mujoco><asset><texture name="t" type="2d" file="skin.png"/><material name="m" texture="t"/><mesh name="m" '
    'file="part.obj"/></asset><worldbody><body><joint/><geom type="mesh" mesh="m" material="m"/></body></worldbody>'
    "</mujoco>"
)
_TRIANGLES = b"\0" * 80 + struct.pack("<I", 1) + struct.pack("<12fH", *(0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0), 0)
_MSH = struct.pack("<4i", 4, 0, 0, 1) + struct.pack("<12f", 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1) + struct.pack(
    "<3i", 0, 1, 2
)  # fmt: skip
_DAE = '<COLLADA version="1.4.1"><scene/></COLLADA>'
_OBJ = "mtllib part.mtl\n" + TETRAHEDRON.replace("f 1 3 2", "usemtl red\nf 1 3 2")
_TOML = 'robot = "arm6"\nsamples = 2\n[vary]\nq = {anywhere = true}\n'
_INCLUDING = '<mujoco><include file="part.xml"/></mujoco>'
_PART = '<mujoco><worldbody><body><joint/><geom size="0.1"/></body></worldbody></mujoco>'

KINDS: dict[str, Kind] = {
    "URDF": _robot("arm.urdf", ARM),
    "MJCF": _robot("arm.xml", _PART),
    "MJCF that is included": _named(_INCLUDING, "part.xml", _PART, lambda path: kt.load(path.with_name("robot.xml"))),
    "SDF": _robot("arm.sdf", next(iter(ROBOTS.values()))),
    "text form": _robot("arm.json", kt.to_text(ROBOT)),
    "SRDF": Kind(
        _text("arm.srdf", '<robot name="arm"/>', arm_urdf=ARM), lambda path: kt.load(path.with_name("arm.urdf"))
    ),
    "xacro": _robot("arm.xacro", ARM),
    "robot file to be compared": Kind(_text("arm.urdf", ARM), format_of),
    "robot file to be checked": Kind(_text("arm.urdf", ARM), kt.check),
    "study.json": _study("study.json"),
    "robot.json of a study": _study("robot.json"),
    "zarr.json": _study("results/q/zarr.json"),
    "chunk": _study("results/q/c/0/0"),
    "failures": _study("failures/0.json"),
    "study.json that goes on": _again("study.json"),
    "robot.json that goes on": _again("robot.json"),
    "zarr.json that goes on": _again("results/q/zarr.json"),
    "failures that go on": _again("failures/0.json"),
    "study as TOML": Kind(_text("study.toml", _TOML), read_study_file),
    "motion.json": _motion("motion.json"),
    "robot.json of a motion": _motion("robot.json"),
    "piece": _motion("pieces/000000.json"),
    "array of a motion": _motion("rows/q/zarr.json"),
    "rows of a motion": _motion("rows/q/c/0/0"),
    "snapshot of a motion": _motion("snapshot-000001.npz"),
    "trajectory": Kind(_saved, kt.Trajectory.load),
    "trajectory that is opened": Kind(_saved, kt.load_trajectory),
    "snapshot": Kind(_snapshot, kt.sim.Snapshot.load),
    "log as CSV": Kind(_columns_csv, _read_log),
    "log as NPZ": Kind(_columns_npz, _read_log),
    "torques as NPY": Kind(_npy, lambda path: read_torques(path, ROBOT, 10, 0.001)),
    "torques as CSV": Kind(_torques_csv, lambda path: read_torques(path, ROBOT, 4, 1.0)),
    "commands as NPZ": Kind(_commands_npz, lambda path: read_commands(path, ROBOT.with_motors(), 4, 1.0)),
    "STL": _mesh("part.stl", _TRIANGLES),
    "OBJ": _mesh("part.obj", TETRAHEDRON),
    "MTL": Kind(
        lambda folder: _text("part.obj", _OBJ, part_mtl="newmtl red\nKd 1 0 0\n")(folder).with_suffix(".mtl"),
        lambda path: file_mesh(path.with_suffix(".obj"), 1000),
    ),
    "MSH": _mesh("part.msh", _MSH),
    "COLLADA": _mesh("part.dae", _DAE),
    "PLY": _mesh("part.ply", "ply\nformat ascii 1.0\nend_header\n"),
    "mesh of a robot": _named(_WITH_MESH, "part.obj", TETRAHEDRON, lambda path: kt.load(path.with_name("robot.xml"))),
    "mesh that is drawn": _named(_WITH_MESH, "part.obj", TETRAHEDRON, _drawn),
    "height field as PNG": _named(_HFIELD.format("png"), "hills.png", b"\x89PNG", _drawn),
    "height field in bytes": _named(_HFIELD.format("bin"), "hills.bin", struct.pack("<2i4f", 2, 2, 0, 1, 1, 0), _drawn),
}
if find_spec("mcap") is not None:
    KINDS["MCAP"] = Kind(_mcap, _read_log)
if find_spec("rosbags") is not None:
    KINDS["bag of ROS 1"] = Kind(_bag(1), _read_log)
    KINDS["bag of ROS 2"] = Kind(_bag(2, "log.db3"), _read_bag)
    KINDS["metadata.yaml"] = Kind(_bag(2, "metadata.yaml"), _read_bag)


def _outcome(kind: Kind, path: Path) -> str:
    """ "read" or "refused", or what else was raised; runs in a process of its own."""
    (pages, *_) = Path("/proc/self/statm").read_text().split()
    limit = int(pages) * os.sysconf("SC_PAGE_SIZE") + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    signal.alarm(6 * SECONDS)  # what waits takes no time of the processor
    try:
        kind.read(path)
    except kt.KinetreeError as error:
        return "refused" if str(error) else "refused without a word"
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {place.filename}:{place.lineno}: {error!s:.200}"
    return "read"


def _forked(kind: Kind, path: Path) -> str:
    back, to = os.pipe()
    if (process := os.fork()) == 0:
        os.close(back)
        os.write(to, _outcome(kind, path).encode())
        os._exit(0)
    os.close(to)
    with os.fdopen(back) as stream:
        outcome = stream.read()
    _, status = os.waitpid(process, 0)
    return f"killed by signal {status}: it does not end" if status else outcome


def main(part: str, *names: str) -> None:
    """Read kinds in each form, or in a third of the forms, which is another one for the next kind, or in the others."""
    warnings.simplefilter("ignore")
    for name in names:
        kind = KINDS[name]
        with tempfile.TemporaryDirectory() as place:
            template = Path(place) / "template"
            template.mkdir()
            relative = kind.make(template).relative_to(template)
            content = (template / relative).read_bytes() if (template / relative).is_file() else b""
            with suppress(kt.KinetreeError):
                kind.read(template / relative)  # processes begin as copies of this one: what it imports, they need not
            print(json.dumps([name, "itself", _forked(kind, template / relative)]), flush=True)
            for k, (what, replace) in enumerate(REPLACEMENTS.items(), [*KINDS].index(name)):
                if part != "all" and (k % 3 == 0) != (part == "a third"):
                    continue
                folder = Path(place) / str(k)
                shutil.copytree(template, folder)
                (folder / relative).unlink(missing_ok=True)
                replace(folder / relative, content)
                outcome = _forked(kind, folder / relative)
                print(json.dumps([name, what, outcome]), flush=True)
                shutil.rmtree(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])

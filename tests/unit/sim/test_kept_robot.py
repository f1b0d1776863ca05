"""Motions have their robot: in memory, in files and in folders."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.appearance.formats import SUFFIXES
from kinetree.compiler.forms.parameters import with_parameters
from kinetree.sim import kept_robot
from kinetree.sim.kept_robot import KeptRobot

ROBOT = kt.zoo.load("double_pendulum")
URDF = """<robot name="r"><link name="a"><visual><geometry><mesh filename="arm.STL"/></geometry></visual></link>
<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="gone.stl"/></geometry></visual>
<visual><geometry><mesh filename="secret"/></geometry></visual></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""


def motion(**options: Any) -> kt.Trajectory:
    run: kt.Trajectory = kt.simulate(ROBOT, q=[[1.0, 0.5], [0.2, 0.1]], duration=0.02, **options)
    return run


def with_meshes(folder: Path) -> kt.Model:
    """A robot with a mesh that is there, one that is not, and a file that has no mesh's name."""
    folder.mkdir()
    (folder / "r.urdf").write_text(URDF)
    for name in ("arm.STL", "secret"):
        (folder / name).write_text("")
    return kt.load(folder / "r.urdf")


def mesh_paths(robot: kt.Model | None) -> list[Path | None]:
    assert robot is not None
    return [shape.mesh_path for body in robot.bodies.values() for shape in body.geometry]


def test_a_motion_has_the_robot_that_was_simulated() -> None:
    run = motion()
    for one in (run, run[1], run.resampled([0.0, 0.01]), copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
        assert one.model == ROBOT
    assert run[1].model is ROBOT
    assert copy.deepcopy(run).model is ROBOT


def test_a_file_has_the_robot_and_where_its_meshes_are(tmp_path: Path) -> None:
    robot = with_meshes(tmp_path / "robot")
    path = kt.simulate(robot, duration=0.01).save(tmp_path / "run")
    (tmp_path / "robot" / "arm.STL").unlink()  # so that opening it would be noticed
    back = kt.Trajectory.load(path)
    assert back.model == robot
    assert mesh_paths(back.model) == [tmp_path / "robot" / "arm.STL", None, None]
    assert back.model is kt.Trajectory.load(path).model, "two files of one robot give one object"
    assert pickle.loads(pickle.dumps(back)).model == robot
    assert back.save(tmp_path / "again").stat().st_size == path.stat().st_size


def test_a_folder_has_the_robot_once(tmp_path: Path) -> None:
    recording = kt.sim.Recording(stream=tmp_path / "run")
    run = motion(record=recording)
    assert run.model is ROBOT
    opened = kt.load_trajectory(tmp_path / "run")
    assert isinstance(opened, kt.sim.TrajectoryFolder)
    assert opened.model == ROBOT
    assert opened.read().model is opened.model
    assert opened.piece(0).model is opened.model
    (tmp_path / "run" / "robot.json").unlink()
    assert kt.load_trajectory(tmp_path / "run").model is None, "as in a folder of an older version"
    assert motion(record=recording).model is ROBOT
    assert kt.load_trajectory(tmp_path / "run").model == ROBOT


def test_older_files_have_no_robot(tmp_path: Path) -> None:
    path = motion().save(tmp_path / "run")
    with np.load(path) as arrays:
        kept = {name: arrays[name] for name in arrays.files if name != "model"}
    np.savez(path, **kept)
    back = kt.Trajectory.load(path)
    assert back.model is None
    assert kt.Trajectory.load(back.save(tmp_path / "again")).model is None


def test_a_robot_without_a_text_form_is_said_to_be_missing(tmp_path: Path) -> None:
    changed = with_parameters(ROBOT, ["gravity"], [(0.0, 0.0, -1.62)])
    path = kt.simulate(changed, duration=0.01).save(tmp_path / "run")
    back = kt.Trajectory.load(path)
    with pytest.raises(kt.errors.ModelError, match=r"does not have its robot: .*other numbers than the parts"):
        _ = back.model


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"meshes": []}', '{"text": 3}', '{"text": "", "meshes": [4]}', "[" * 10**5]
)
def test_what_is_damaged_is_said_when_it_is_asked_for(tmp_path: Path, text: str) -> None:
    path = motion().save(tmp_path / "run")
    with np.load(path) as arrays:
        kept = {**arrays, "model": np.frombuffer(text.encode(), np.uint8)}
    np.savez(path, **kept)
    back = kt.Trajectory.load(path)
    with pytest.raises((kt.errors.TrajectoryFileError, kt.errors.ModelError), match="the file of this motion"):
        _ = back.model


def test_bytes_that_are_no_text_are_refused_at_once(tmp_path: Path) -> None:
    path = motion().save(tmp_path / "run")
    for wrong in (np.array([255, 255], np.uint8), np.zeros(3)):
        with np.load(path) as arrays:
            kept = {**arrays, "model": wrong}
        np.savez(path, **kept)
        with pytest.raises(kt.errors.TrajectoryFileError, match="'model' is damaged"):
            kt.Trajectory.load(path)


def test_only_what_may_be_a_mesh_is_a_path() -> None:
    robot = json.loads(KeptRobot(ROBOT).text)
    form = json.loads(robot["text"])
    for body in form["bodies"]:
        body["geometry"] = [{"role": "visual", "shape": "mesh", "size": [1, 1, 1], "mesh": "m"}]
    places = ["/etc/passwd", "/dev/arm.stl", "/home/u/.ssh/id_rsa"]
    kept = KeptRobot(None, json.dumps({"text": json.dumps(form), "meshes": places}))
    assert mesh_paths(kept.model)[:2] == [None, Path("/dev/arm.stl")]  # it is no regular file, and is not opened


def test_meshes_of_all_formats_that_are_drawn_are_kept() -> None:
    assert {*SUFFIXES, ".png"} == kept_robot._SUFFIXES

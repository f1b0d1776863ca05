"""Images outside the folder of the robot's file: what loading was allowed to find is drawn, whatever becomes of it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

import kinetree as kt
from kinetree.appearance import looks_of
from kinetree.io.meshes import remedy
from kinetree.sim.kept_robot import KeptRobot
from tests.unit.appearance.files import write_png

MJCF = """<mujoco><compiler texturedir="../images"/><asset><texture name="t" type="2d" file="half.png"/>
<texture name="bumps" type="2d" builtin="flat" rgb1="0 1 0"/>
<material name="m"><layer texture="bumps" role="normal"/><layer texture="t" role="rgb"/></material></asset>
<worldbody><body name="b"><joint/><geom type="box" size="1 1 1" material="m"/></body></worldbody></mujoco>"""
URDF = """<robot name="r"><link name="b"><visual><geometry><box size="1 1 1"/></geometry>
<material name="m"><texture filename="package://images/half.png"/></material></visual></link></robot>"""
TEXTS = {"r.xml": MJCF, "r.urdf": URDF}


@pytest.fixture(params=TEXTS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A robot file beside the folder of its image."""
    for folder in ("robots", "images"):
        (tmp_path / folder).mkdir()
    write_png(tmp_path / "images" / "half.png")
    file: Path = tmp_path / "robots" / request.param
    file.write_text(TEXTS[request.param])
    return file


def is_drawn(robot: kt.Model) -> bool:
    """Whether the image is there, of which a box has the mean colour."""
    looks = looks_of(robot)
    r, g, b = looks.parts[0].surface.colors[0, :3].tolist()
    assert ((r, b) == (128, 128) and g == 0) == (not looks.unseen)
    return not looks.unseen


def kept(robot: kt.Model) -> kt.Model:
    back = KeptRobot(None, KeptRobot(robot).text).model
    assert back is not None
    return back


COPIES: dict[str, Callable[[kt.Model], kt.Model]] = {
    "loaded": lambda robot: robot,
    "pickled": lambda robot: pickle.loads(pickle.dumps(robot)),
    "kept": kept,
    "changed": lambda robot: robot.with_gravity([0.0, 0.0, -1.0]),
}


def test_an_image_in_a_root_is_drawn(path: Path) -> None:
    robot = kt.load(path, package_roots=[path.parents[1]])
    for name, copied in COPIES.items():
        assert is_drawn(copied(robot)), name
    narrow = kt.load(path)
    assert narrow == robot
    assert pickle.loads(pickle.dumps(narrow)) is not pickle.loads(pickle.dumps(robot))
    assert not is_drawn(narrow)


def test_a_text_form_has_its_images_in_roots(path: Path) -> None:
    robot = kt.load(path, package_roots=[path.parents[1]])
    text = kt.save(robot, path.with_suffix(".json"))
    assert is_drawn(kt.load(text, package_roots=[path.parents[1]]))
    assert not is_drawn(kt.load(text))


def test_the_root_that_is_needed_is_reported(path: Path) -> None:
    (unseen,) = looks_of(kt.load(path)).unseen
    advice = f"package_roots=['{path.parents[1]}']" if path.suffix == ".xml" else "that holds the package 'images'"
    assert "half.png' was not found inside the folders given when the robot was loaded; put the file" in unseen.reason
    assert advice in unseen.reason


@pytest.mark.parametrize(
    ("source", "address", "advice"),
    [
        ("/a/robot/r.urdf", "images/a.png", "put the file there"),
        ("/a/robot/r.urdf", "../images/a.png", "give package_roots=['/a'] when"),
        ("/a/robot/r.urdf", "/b/a.png", "give package_roots=['/a/robot', '/b'] when"),
        ("/a/robot/r.urdf", "file:///a/b/a.png", "give package_roots=['/a'] when"),
        ("/a/robot/r.sdf", "model://cup/a.png", "that holds the package 'cup': package_roots="),
        ("/a/robot/r.urdf", "http://a.org/a.png", "put the file beside the robot's and name it there"),
        ("", "a.png", "load the robot from its file"),
    ],
)
def test_what_to_do(source: str, address: str, advice: str) -> None:
    assert advice in remedy(source, address)


def test_a_file_of_a_motion_names_images_only(path: Path) -> None:
    robot = kt.load(path, package_roots=[path.parents[1]])
    text = KeptRobot(robot).text.replace("half.png", "half.key")
    assert not is_drawn(KeptRobot(None, text).model)  # type: ignore[arg-type]

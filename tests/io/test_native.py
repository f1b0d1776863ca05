"""Files that hold a robot's text form."""

from __future__ import annotations

import re
import shutil
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli.app import app
from kinetree.joints import JointKind
from kinetree.model.fingerprint import digest
from tests.robots import robot_path


class Mine(kt.Revolute):
    """A user's kind."""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    return kt.save(kt.zoo.load("arm6"), tmp_path / "arm.json")


def test_a_saved_robot_is_loaded_exactly_whatever_the_file_is_called(tmp_path: Path) -> None:
    robot = kt.zoo.load("humanoid")
    written = kt.save(robot, str(tmp_path / "humanoid"))
    for name in ("humanoid.json", "humanoid", "humanoid.urdf"):
        path = tmp_path / name
        path.write_bytes(written.read_bytes())
        again = kt.load(path)
        assert again == robot
        assert digest(again) == digest(robot)
        assert again.source == str(path)


def test_a_mark_and_blanks_before_it_do_no_harm(arm: Path) -> None:
    arm.write_bytes(b"\xef\xbb\xbf \r\n\t" + arm.read_bytes())
    assert kt.load(arm) == kt.zoo.load("arm6")


def test_the_base_floats_if_the_text_or_the_caller_says_so(arm: Path) -> None:
    assert not kt.load(arm).floating_base
    floating = kt.load(arm, floating_base=True)
    assert floating.floating_base
    kt.save(floating, arm, overwrite=True)
    assert kt.load(arm) == floating


def test_followers_follow_unless_it_is_not_wanted(tmp_path: Path) -> None:
    builder = kt.ModelBuilder("gripper")
    for name in ("palm", "left", "right"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    builder.add_joint("a", kt.Prismatic([0, 1, 0]), "palm", "left")
    builder.add_joint("b", kt.Prismatic([0, 1, 0]), "palm", "right", mimic=kt.model.Mimic("a", -1.0))
    path = kt.save(builder.build(), tmp_path / "gripper.json")
    assert kt.load(path).nq == 1
    assert kt.load(path, mimic=False).nq == 2


def test_meshes_are_located_as_those_of_a_urdf_file_are(tmp_path: Path) -> None:
    folder = tmp_path / "thing"
    (folder / "meshes").mkdir(parents=True)
    (folder / "package.xml").touch()
    (folder / "meshes" / "hull.stl").touch()
    urdf = folder / "thing.urdf"
    urdf.write_text(
        '<robot name="thing"><link name="a"><visual><geometry><mesh filename="package://thing/meshes/hull.stl"/>'
        '</geometry></visual><visual><geometry><mesh filename="/etc/hostname"/></geometry></visual></link></robot>'
    )
    robot = kt.load(urdf)
    path = kt.save(robot, folder / "thing.json")
    assert str(tmp_path) not in path.read_text().replace(f'"source": "{urdf}"', "")
    again = kt.load(path)
    assert again == robot
    assert [shape.mesh_path for shape in again.bodies["a"].geometry] == [folder / "meshes" / "hull.stl", None]
    elsewhere = tmp_path / "elsewhere.json"
    shutil.copy(path, elsewhere)
    assert kt.load(elsewhere, package_roots=[tmp_path]).bodies["a"].geometry[0].mesh_path is not None
    assert [s.mesh_path for s in kt.from_text(path.read_text()).bodies["a"].geometry] == [None, None]


def test_a_kind_of_ones_own_is_passed_to_load(tmp_path: Path) -> None:
    builder = kt.ModelBuilder("own")
    for name in ("a", "b"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    kind: JointKind = Mine([0, 0, 1])
    builder.add_joint("j", kind, "a", "b")
    path = kt.save(builder.build(), tmp_path / "own.json")
    assert kt.load(path, kinds=[Mine]).joints["j"].kind == kind
    with pytest.raises(
        kt.errors.ModelError, match=r"own\.json: joints\[0\]\.kind: there is no kind of joint named 'Mine'"
    ):
        kt.load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"kinetree": "model"', r"bad\.json:1, column 21: this is not JSON"),
        (b'\n{\n"kinetree": "model",,', r"bad\.json:3, column 21: this is not JSON"),
        (b'{"a": 1}', r"bad\.json: this is not a robot: its text begins with"),
        (b'{"kinetree": "model", "version": 7}', r"bad\.json: version: is 7"),
        (b'{"kinetree": "model",\n "name": "\xff"}', r"bad\.json:2: the text is not UTF-8"),
        (b"{" * 200_000, r"bad\.json:1, column 2: this is not JSON"),
    ],
)
def test_a_file_that_is_no_robot_is_refused_with_its_name(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(text)
    with pytest.raises(kt.errors.ModelError, match=message):
        kt.load(path)


def test_a_mistake_is_reported_with_file_and_place(arm: Path) -> None:
    arm.write_text(arm.read_text().replace('"parent": "base"', '"parent": "bass"'))
    with pytest.raises(
        kt.errors.ModelError,
        match=rf"^{re.escape(str(arm))}: joints\[0\]: joint .* has the parent 'bass'.*did you mean",
    ):
        kt.load(arm)


def test_a_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(kt.errors.SaveError, match="cannot be written: No such file or directory"):
        kt.save(kt.zoo.load("arm6"), tmp_path / "no" / "arm.json")
    with pytest.raises(kt.errors.DTypeError, match="save takes the path of a file, not int"):
        kt.save(kt.zoo.load("arm6"), 3)  # type: ignore[arg-type]


def test_the_command_info_shows_it(arm: Path) -> None:
    shown = CliRunner().invoke(app, ["info", str(arm)])
    assert shown.exit_code == 0, shown.output
    assert "arm6" in shown.output


def test_a_suspicious_robot_is_warned_of_as_when_it_was_read_first(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as first:
        warnings.simplefilter("always")
        robot = kt.load(robot_path("panda"))
    with warnings.catch_warnings(record=True) as second:
        warnings.simplefilter("always")
        kt.load(kt.save(robot, tmp_path / "panda.json"))
    assert len(first) == len(second)


@pytest.mark.parametrize("name", ["arm.urdf.xacro", "arm.yaml", "arm.npz", "arm.USD", "arm.srdf"])
def test_a_name_that_promises_a_format_that_is_not_written_is_refused(name: str, tmp_path: Path) -> None:
    target = tmp_path / name
    target.write_text("mine")
    with pytest.raises(
        kt.errors.OptionError, match=r"promises .*, which is not written; name the file '.*json', or say"
    ):
        kt.save(kt.zoo.load("arm6"), target)
    assert target.read_text() == "mine"


@pytest.mark.parametrize("name", ["arm", "arm.txt", "arm.robot", "arm.v2"])
def test_any_other_name_will_do(name: str, tmp_path: Path) -> None:
    robot = kt.zoo.load("double_pendulum")
    assert kt.load(kt.save(robot, tmp_path / name)) == robot

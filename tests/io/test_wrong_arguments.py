"""What a newcomer may give the functions that read and write robot files: every message says what to do instead."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kinetree as kt
from tests.io.arm import ARM, write

READING: list[Callable[..., Any]] = [kt.load, kt.check, kt.compare]
PATHS = {
    "": "the path of the robot file is empty; give the path of a file",
    "a\0b.urdf": r"'a\\x00b.urdf' is not a path: it holds a null character",
    "https://robots.org/arm.urdf": "https://robots.org/arm.urdf is an address: nothing is fetched; download the file",
    "file:///arm.urdf": "give the path itself, without file://",
    "package://arm/arm.urdf": "give the path of the file; package:// is for meshes inside robot files",
    "model://arm": "give the path of the file",
}
OPTIONS: list[tuple[dict[str, Any], type[Exception], str]] = [
    (
        {"package_roots": 3},
        kt.errors.DTypeError,
        r"package_roots must be a list of folders, such as \['robots'\], not 3",
    ),
    ({"package_roots": None}, kt.errors.DTypeError, "package_roots must be a list of folders"),
    ({"package_roots": [3]}, kt.errors.DTypeError, "package_roots must be paths of folders, not 3"),
    ({"package_roots": ["nowhere"]}, kt.errors.ModelError, "package_roots: 'nowhere' is not a folder"),
    ({"gravity": (0, 0)}, kt.errors.ModelError, r"gravity must be three finite numbers, such as \(0, 0, -9.81\)"),
    ({"gravity": "down"}, kt.errors.ModelError, "gravity must be a sequence of numbers, not 'down'"),
    ({"kinds": 3}, kt.errors.OptionError, r"kinds must be a list of classes of joints, such as \[Wobbly\], not 3"),
    ({"kinds": [3]}, kt.errors.OptionError, "kinds must be classes of joints"),
    ({"kinds": kt.Revolute}, kt.errors.OptionError, "kinds must be a list of classes of joints"),
]


@pytest.mark.parametrize("function", READING, ids=lambda function: function.__name__)
@pytest.mark.parametrize("path", PATHS)
def test_what_is_no_path(function: Callable[..., Any], path: str) -> None:
    with pytest.raises(kt.errors.ModelError, match=PATHS[path]):
        function(path)


@pytest.mark.parametrize("function", READING, ids=lambda function: function.__name__)
@pytest.mark.parametrize(("options", "kind", "message"), OPTIONS)
def test_options_that_are_not_possible(
    tmp_path: Path, function: Callable[..., Any], options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    """They are faults of the call, not of the file: a check raises them, too."""
    path = write(tmp_path, ARM)
    if function is kt.compare and "package_roots" not in options:
        return
    with pytest.raises(kind, match=message):
        function(path, **options)


@pytest.mark.parametrize("roots", [(), [Path()], {"."}, ".", Path()])
def test_roots_are_folders_in_any_collection(tmp_path: Path, roots: Any) -> None:
    assert kt.load(write(tmp_path, ARM), package_roots=roots).nq == 2


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("arm.URDF", "; did you mean 'arm.urdf'?"),
        ("amr.urdf", "; did you mean 'arm.urdf'?"),
        ("nothing like it.sdf", ""),
        ("robots/arm.urdf", "; there is no folder '{}/robots'"),
    ],
)
def test_a_file_that_does_not_exist(tmp_path: Path, name: str, hint: str) -> None:
    write(tmp_path, ARM)
    with pytest.raises(kt.errors.ModelError) as caught:
        kt.load(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: cannot be read: No such file or directory{hint.format(tmp_path)}"


def test_a_home_folder_is_not_guessed() -> None:
    with pytest.raises(kt.errors.ModelError, match="~ is not expanded: give Path"):
        kt.load("~/robots/arm.urdf")


@pytest.mark.parametrize(
    ("format", "meant"),
    [("URDF", "urdf"), (".urdf", "urdf"), ("json", "native"), ("XML", "mjcf"), ("sdf ", "sdf"), ("urdff", "urdf")],
)
def test_formats_by_other_names(format: str, meant: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=rf"there is no format .*: did you mean '{meant}'"):
        kt.to_text(kt.zoo.load("arm6"), format)


@pytest.mark.parametrize("suffix", [".gz", ".zip", ".dae", ".stl", ".glb"])
def test_suffixes_of_other_files(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=r"promises .*, which is not written"):
        kt.save(kt.zoo.load("arm6"), tmp_path / f"arm.urdf{suffix}")
    assert not list(tmp_path.iterdir())


def test_a_robots_own_file_is_overwritten_only_if_that_is_said(tmp_path: Path) -> None:
    robot = kt.load(kt.save(kt.zoo.load("arm6"), tmp_path / "arm.json"))
    before = (tmp_path / "arm.json").read_text()
    with pytest.raises(
        kt.errors.ModelError, match=r"arm.json is the file that 'arm6' was loaded from.* overwrite=True"
    ):
        kt.save(robot.with_motors(), Path(robot.source))
    with pytest.raises(kt.errors.OptionError, match="overwrite must be True or False, not 1"):
        kt.save(robot, robot.source, overwrite=1)  # type: ignore[arg-type]
    assert (tmp_path / "arm.json").read_text() == before
    kt.save(robot, tmp_path / "other.json")
    kt.save(robot, tmp_path / "other.json")
    kt.save(robot.with_motors(), robot.source, overwrite=True)
    assert len(kt.load(robot.source).extras.actuators) == 6


def test_xml_is_no_text_form() -> None:
    with pytest.raises(kt.errors.ModelError, match="this is XML; write it to a file and load that"):
        kt.from_text(f"\n{ARM}")


def test_every_form_of_load_has_the_options_of_check_and_compare() -> None:
    """The forms of `kt.load` that type checkers see repeat its options, and so do the other functions."""
    own = inspect.signature(kt.load).parameters
    for form in typing.get_overloads(kt.load):
        parameters = inspect.signature(form).parameters
        assert list(parameters) == list(own)
        assert all(parameters[name].annotation == own[name].annotation for name in own if name != "repair")
        assert all(parameters[name].default == own[name].default for name in own if name != "repair")
    checked, compared = (inspect.signature(function).parameters for function in (kt.check, kt.compare))
    assert set(own) - set(checked) == {"repair"}
    assert set(own) - set(compared) == {"path", "repair", "gravity", "kinds"}
    for name in set(own) - {"path", "repair"}:
        assert checked[name] == own[name]
        assert name not in compared or compared[name] == own[name]

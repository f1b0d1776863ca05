"""Robots by name: of installed packages, of the zoo, and of the cache of robot_descriptions."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path

import pytest

import kinetree as kt
from kinetree.io.sources.named import WHEELS
from tests.io.arm import ARM, write
from tests.robots import REFUSED, robot_files, robot_path

REAL = "example-robot-data"


@pytest.fixture(autouse=True)
def no_other_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache without robots, whatever this machine has."""
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path / "cache"))


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, files: Mapping[str, str]) -> Path:
    """A distribution with these files, as pip leaves it, on the path of imports."""
    site = folder / "site"
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in files))
    monkeypatch.syspath_prepend(str(site))
    return site


ASSETS = "robosuite/models/assets"


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with two robots in files of one name, and a part that is none."""
    files = {
        f"{ASSETS}/robots/left/robot.urdf": ARM,
        f"{ASSETS}/robots/right/robot.urdf": ARM.replace('name="arm"', 'name="right"'),
        f"{ASSETS}/grippers/hand.urdf": ARM.replace('name="arm"', 'name="hand"'),
        f"{ASSETS}/grippers/part.xml": "<mujocoinclude/>",
        f"{ASSETS}/parts/hand.xml": "<mujocoinclude/>",
        "robosuite/other.urdf": ARM,
    }
    return install(tmp_path, monkeypatch, "robosuite", files)


def test_names_are_the_shortest_that_mean_one_robot(suite: Path) -> None:  # noqa: ARG001
    assert kt.zoo.robots("robosuite") == ["hand", "left/robot", "right/robot"]
    for name in kt.zoo.robots("robosuite"):
        assert kt.load(name, source="robosuite").nq == 2


def test_a_robot_is_named_by_its_path_the_end_of_it_or_its_folder(suite: Path) -> None:
    for name in ("right", "right/robot", "robots/right/robot", "right/robot.urdf", "robots/right/robot.urdf"):
        robot = kt.load(name, source="robosuite")
        assert robot.name == "right"
        assert robot.source == str(suite / ASSETS / "robots/right/robot.urdf")
    with pytest.raises(
        kt.errors.NameNotFoundError, match="2 robots of the name 'robot'; name one of 'robots/left/robot'"
    ):
        kt.load("robot", source="robosuite")
    with pytest.raises(kt.errors.NameNotFoundError, match="'robosuite' has no robot 'hant': did you mean 'hand'"):
        kt.load("hant", source="robosuite")
    with pytest.raises(kt.errors.NameNotFoundError, match="has no robot 'other'"):
        kt.load("other", source="robosuite")


def test_a_file_that_lies_elsewhere_is_not_opened(suite: Path, tmp_path: Path) -> None:
    outside = write(tmp_path, ARM, "outside.urdf")
    (suite / ASSETS / "parts/hand.xml").unlink()
    inside = suite / ASSETS / "grippers/hand.urdf"
    inside.unlink()
    inside.symlink_to(outside)
    with pytest.raises(kt.errors.NameNotFoundError, match="has no robot 'hand'"):
        kt.load("hand", source="robosuite")
    with pytest.raises(kt.errors.NameNotFoundError, match="has no robot"):
        kt.load("../../../../../outside", source="robosuite")


def test_what_a_distribution_lists_outside_of_its_folders_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = install(tmp_path, monkeypatch, "robosuite", {f"{ASSETS}/a.urdf": ARM})
    (tmp_path / ASSETS).mkdir(parents=True)
    write(tmp_path / ASSETS, ARM, "b.urdf")
    record = site / "robosuite-1.0.dist-info" / "RECORD"
    record.write_text(record.read_text() + f"../{ASSETS}/b.urdf,,\n{tmp_path}/{ASSETS}/b.urdf,,\n")
    assert kt.zoo.robots("robosuite") == ["a"]


def test_a_package_that_is_not_installed_is_named_with_its_command() -> None:
    missing = [name for name in WHEELS if name not in _installed()]
    for name in missing[:1]:
        with pytest.raises(kt.errors.MissingPackageError, match=f"pip install {name}"):
            kt.load("panda", source=name)
        with pytest.raises(kt.errors.MissingPackageError, match=f"pip install {name}"):
            kt.zoo.robots(name)


def _installed() -> set[str]:
    from importlib.metadata import distributions

    return {d.metadata["Name"] for d in distributions()}


def test_an_unknown_source_is_refused() -> None:
    with pytest.raises(
        kt.errors.OptionError, match="no source of robots 'example-robots': did you mean 'example-robot-data'"
    ):
        kt.load("panda", source="example-robots")
    wrong: object = 3
    with pytest.raises(kt.errors.OptionError, match="must be the name of a source"):
        kt.zoo.robots(wrong)  # type: ignore[arg-type]


def test_the_zoo_is_a_source() -> None:
    assert kt.zoo.robots("zoo") == kt.zoo.names()
    assert kt.load("quadruped", source="zoo") == kt.zoo.load("quadruped")
    assert kt.load("quadruped", source="zoo", floating_base=False) == kt.zoo.load("quadruped", floating_base=False)
    with pytest.raises(kt.errors.NameNotFoundError, match="did you mean 'arm6'"):
        kt.load("arm66", source="zoo")


@pytest.mark.deep
def test_every_robot_of_example_robot_data_has_a_name_that_loads_it() -> None:
    names = kt.zoo.robots(REAL)
    # There are files of other formats too, and some robots of one name in several folders.
    urdf = [name for name in names if any(file.endswith(f"/{name}.urdf") for file in robot_files())]
    assert len(urdf) == len(robot_files())
    assert "panda" in names
    refused = 0
    for name in urdf:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                kt.load(name, source="Example_Robot_Data", mimic=False)
            except kt.errors.ModelError:
                refused += 1
    assert refused <= len(REFUSED)
    assert kt.load("panda", source=REAL).source == str(robot_path("panda"))


def test_a_name_without_a_source_is_not_guessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        kt.errors.ModelError, match=r"panda: there is no such file; .* with source='example-robot-data'"
    ):
        kt.load("panda")
    with pytest.raises(kt.errors.ModelError, match="loaded with source='zoo'"):
        kt.load("arm6")
    with pytest.raises(kt.errors.ModelError, match="nobody: cannot be read"):
        kt.load("nobody")
    write(tmp_path, ARM, "arm6")
    assert kt.load("arm6").nq == 2  # a path that exists is a path


MODULE = '''"""A robot."""

from os import getenv as _getenv
from os import path as _path

from ._cache import clone_to_cache as _clone_to_cache

REPOSITORY_PATH: str = _clone_to_cache(
    "arms",
    commit=_getenv("ROBOT_DESCRIPTION_COMMIT", None),
)

PACKAGE_PATH: str = _path.join(REPOSITORY_PATH, "robots", "arm")

URDF_PATH: str = _path.join(PACKAGE_PATH, "arm.urdf")
'''
REPOSITORIES = """from dataclasses import dataclass
REPOSITORIES = {"other": Repository(url="x", commit="y", cache_path="other"),
    "arms": Repository(url="https://none.invalid/arms.git", commit="abc", cache_path="arms_cached")}
"""


@pytest.fixture
def descriptions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package as robot_descriptions is, whose import would fail; returns where it keeps the arm's files."""
    files = {
        "robot_descriptions/__init__.py": "raise ImportError('it is not to be imported')",
        "robot_descriptions/_cache.py": "raise ImportError('it is not to be imported')",
        "robot_descriptions/_repositories.py": REPOSITORIES,
        "robot_descriptions/arm_description.py": MODULE,
        "robot_descriptions/macro_description.py": MODULE.replace(
            'URDF_PATH: str = _path.join(PACKAGE_PATH, "arm.urdf")',
            'XACRO_PATH: str = _path.join(PACKAGE_PATH, "arm.urdf.xacro")\nXACRO_ARGS = {"name": "arm"}',
        ),
        "robot_descriptions/made_description.py": MODULE.replace('_path.join(PACKAGE_PATH, "arm.urdf")', "patched()"),
    }
    monkeypatch.delitem(sys.modules, "robot_descriptions", raising=False)
    install(tmp_path, monkeypatch, "robot_descriptions", files)
    return tmp_path / "cache" / "arms_cached" / "robots" / "arm"


def test_a_robot_of_robot_descriptions_is_loaded_from_its_cache(descriptions: Path) -> None:
    descriptions.mkdir(parents=True)
    path = write(descriptions, ARM)
    for robot in (
        kt.load("arm_description"),
        kt.load("arm_description", source="robot_descriptions"),
        kt.load("arm", source="robot-descriptions"),
    ):
        assert robot.source == str(path)
    assert kt.zoo.robots("robot_descriptions") == ["arm_description", "macro_description", "made_description"]


def test_nothing_is_imported_or_downloaded_for_one_that_is_not_in_the_cache(descriptions: Path) -> None:
    with pytest.raises(
        kt.errors.MissingPackageError, match="downloads nothing, but `python -m robot_descriptions pull"
    ):
        kt.load("arm_description")
    assert not descriptions.exists()
    assert "robot_descriptions" not in sys.modules
    with pytest.raises(kt.errors.NameNotFoundError, match="no robot 'arn_description': did you mean 'arm_description'"):
        kt.load("arn_description")
    with pytest.raises(kt.errors.ModelError, match="makes its file as it is imported"):
        kt.load("made_description")


def test_a_xacro_file_of_robot_descriptions_gets_the_arguments_of_its_module(descriptions: Path) -> None:
    pytest.importorskip("xacro")
    descriptions.mkdir(parents=True)
    text = '<robot xmlns:xacro="x" name="$(arg name)"><link name="base"/></robot>'
    write(descriptions, text, "arm.urdf.xacro")
    with pytest.raises(kt.errors.ModelError, match="xacro=True"):
        kt.load("macro_description")
    assert kt.load("macro_description", xacro=True).name == "arm"
    assert kt.load("macro_description", xacro_args={"name": "leg"}).name == "leg"


def test_another_commit_is_in_a_folder_of_its_own(descriptions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROBOT_DESCRIPTION_COMMIT", "fed")
    folder = Path(os.environ["ROBOT_DESCRIPTIONS_CACHE"]) / "arms_cached-fed/arms_cached/robots/arm"
    folder.mkdir(parents=True)
    assert descriptions != folder
    assert kt.load(write(folder, ARM)) == kt.load("arm_description")


def test_robot_descriptions_must_be_installed() -> None:
    if "robot_descriptions" in _installed():
        pytest.skip("it is installed here")
    with pytest.raises(kt.errors.MissingPackageError, match="pip install robot_descriptions"):
        kt.load("panda_description")

"""Robots that many tests share.

The real ones of the `example-robot-data` wheel, which the tests load but the repository does not hold; and made ones,
with joints of every kind.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from importlib.metadata import distribution, distributions
from pathlib import Path
from typing import Any

import pytest

import kinetree as kt
from kinetree.joints import JointKind

__all__ = [
    "GROUPS",
    "REFUSED",
    "arm3",
    "each_robot_file",
    "every_joint",
    "group_of_joints",
    "load_robot",
    "robot_files",
    "robot_path",
    "some_joints",
    "stork",
]

REFUSED = {
    "alex_description/urdf/alex_psyonic_hands.urdf": "mimics 'index_q1', but there is no such joint",
    "romeo_description/urdf/romeo_laas_small.urdf": "negative principal moment",
    "ur_description/urdf/ur3.urdf": "has no bodies",
}
"""Files of the wheel that are no robots, and the reason that kinetree gives."""


@cache
def _folder() -> Path:
    if sys.platform == "win32" and not list(distributions(name="example-robot-data")):
        pytest.skip("example-robot-data has no builds for Windows", allow_module_level=True)
    folder = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")))
    assert folder.is_dir(), f"the wheel example-robot-data has no folder {folder}"
    return folder


@cache
def robot_files() -> tuple[str, ...]:
    """Every URDF file of the wheel, sorted, as a path under its folder `robots`."""
    return tuple(sorted(str(path.relative_to(_folder())) for path in _folder().rglob("*.urdf")))


def each_robot_file(but: Collection[str] = ()) -> list[Any]:
    """A parameter for each file of the wheel that is a robot, except some.

    The first of each folder; the others, which are variants of it, are for `-m deep`.
    """
    read = [file for file in robot_files() if file not in REFUSED and file not in but]
    first = {file.partition("/")[0]: file for file in reversed(read)}
    return [pytest.param(file, id=file, marks=() if file in first.values() else pytest.mark.deep) for file in read]


def robot_path(name: str) -> Path:
    """The file of a robot: by its path under `robots`, or by its stem where only one file has it ("panda")."""
    matching = [file for file in robot_files() if name in (file, Path(file).stem)]
    assert len(matching) == 1, f"{name!r} names {len(matching)} files: {matching}"
    return _folder() / matching[0]


def load_robot(name: str, *, floating_base: bool = False, mimic: bool = False) -> kt.Model:
    """A robot of the wheel, one object for all tests. Many are suspicious in one way or another; that is not what the
    caller tests.

    As in most peers, joints that mimic others move on their own unless it is asked for.
    """
    return _loaded(name, floating_base, mimic)


@lru_cache(maxsize=160)  # every robot with either base
def _loaded(name: str, floating_base: bool, mimic: bool) -> kt.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        return kt.load(robot_path(name), floating_base=floating_base, mimic=mimic)


def _kinds() -> dict[str, JointKind]:
    return {
        "revolute": kt.Revolute([0, 1, 0]),
        "continuous": kt.joints.Continuous([1, 0, 0]),
        "prismatic": kt.Prismatic([1, 2, 2]),
        "helical": kt.joints.Helical([0, 0, 1], 0.05),
        "screw": kt.joints.Screw(angular=[0, 1, 0], linear=[0.2, 0.1, -0.3]),
        "cylindrical": kt.joints.Cylindrical([1, 0, 0]),
        "universal": kt.joints.Universal([1, 0, 0], [0, 1, 1]),
        "planar": kt.joints.Planar([0, 1, 0]),
        "translation": kt.joints.Translation(),
        "spherical": kt.joints.Spherical(),
        "euler": kt.joints.Euler("ZXY"),
        "exponential": kt.joints.ExponentialMap(),
        "free": kt.Free(),
        "floating": kt.joints.FloatingBase(),
        "rpy": kt.joints.FreeRPY(),
        "ellipsoid": kt.joints.Ellipsoid([0.3, 0.2, 0.1]),
        "custom": kt.joints.MultiDof.angular_first([[0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 0.2, 0]]),
        "composite": kt.joints.Composite(
            [kt.Revolute([1, 0, 0]), (kt.joints.Spherical(), kt.lie.placement([0.1, 0, 0.2]))]
        ),
        "placed": kt.joints.Placed(kt.joints.Spherical(), after=kt.lie.placement([0.0, 0.1, 0.0], rpy=[0.3, 0, 0])),
        "reversed": kt.joints.Reversed(kt.joints.Planar([0, 0, 1])),
        "left": kt.Revolute([0, 0, 1]),
        "right": kt.Revolute([0, 0, 1]),
        "follower": kt.Prismatic([0, 1, 0]),
    }


def arm3() -> kt.Model:
    """An arm of three joints on a fixed base: one of the zoo whose wrist is locked."""
    robot = kt.zoo.load("arm6")
    return robot.lock(list(robot.joints)[3:])


def stork() -> kt.Model:
    """The smallest robot that every function is for: a trunk that floats, and a leg of two joints."""
    builder = kt.ModelBuilder("stork")
    builder.add_body("world")
    builder.add_body("trunk", kt.solids.box(0.3, 0.2, 0.4, mass=3.0, placement=kt.lie.placement([0.02, 0.0, 0.1])))
    builder.add_body("thigh", kt.solids.cylinder(0.04, 0.4, mass=1.0, placement=kt.lie.placement([0.0, 0.0, -0.2])))
    builder.add_body("shank", kt.solids.cylinder(0.03, 0.4, mass=0.6, placement=kt.lie.placement([0.0, 0.0, -0.2])))
    builder.add_joint("root", kt.Free(), "world", "trunk")
    hip = kt.lie.placement([0.0, 0.1, -0.2], rpy=[0.1, 0.0, 0.2])
    builder.add_joint("hip", kt.Revolute([1, 0, 0]), "trunk", "thigh", hip, damping=[0.1])
    builder.add_joint(
        "knee", kt.Revolute([0, 1, 0]), "thigh", "shank", kt.lie.placement([0.0, 0.0, -0.4]), friction=[0.1]
    )
    return builder.build()


def every_joint() -> kt.Model:
    """A tree with a joint of every kind, a follower, a coupling, a rotor, springs and friction."""
    return _tree("every joint", tuple(_kinds()), "placed")


GROUPS = {
    "sharing joints": ["revolute", "screw", "placed", "universal", "cylindrical", "left", "right", "follower"],
    "planes and turns": ["custom", "helical", "planar", "euler", "reversed", "translation"],
    "free bodies": ["free", "continuous", "exponential", "floating"],
    "turns of bodies": ["spherical", "prismatic", "rpy", "composite", "ellipsoid"],
}
"""The joints of `every_joint`, on smaller robots; what is compiled for these takes a third of the time together."""


def group_of_joints(name: str) -> kt.Model:
    """A tree with the joints of a group, as they are in `every_joint`."""
    return _tree(name, tuple(GROUPS[name]), GROUPS[name][2])


def some_joints(*names: str) -> kt.Model:
    """A tree with a few of the joints of `every_joint`."""
    return _tree(" and ".join(names), names, names[-1])


def _tree(title: str, names: Sequence[str], holds_tool: str) -> kt.Model:
    """Each joint but the first on a body of the others, about three joints deep."""
    builder = kt.ModelBuilder(title)
    builder.add_body("base", kt.solids.box(0.5, 0.4, 0.3, mass=3.0))
    kinds = _kinds()
    bodies = ["base"]
    for k, name in enumerate(names):
        kind = kinds[name]
        shape = kt.solids.ellipsoid(
            0.3, 0.2, 0.1, mass=1.0 + 0.1 * k, placement=kt.lie.placement([0.1, -0.05, 0.02 * k])
        )
        builder.add_body(f"{name} body", shape)
        one = kind.nv == 1
        builder.add_joint(
            name, kind, bodies[(2 * k) // 3], f"{name} body", kt.lie.placement([0.2, 0.1, -0.1], rpy=[0.1 * k, 0.2,
                0.3]),
            damping=[0.2] * kind.nv, friction=[0.1] * kind.nv, stiffness=[1.5] * kind.nv, armature=[0.02] * kind.nv,
            rotor=kt.model.Rotor(0.001, 30.0, (1.0, 0.0, 0.0) if kind.rotor_axis is None else None) if one else None,
            mimic=kt.model.Mimic("revolute", -0.5, 0.1) if name == "follower" else None,
        )  # fmt: skip
        bodies.append(f"{name} body")
    if "left" in names:
        builder.add_coupling("wrist", ["left", "right"], [[1, 1], [1, -1]], coordinates=["pitch", "roll"])
    builder.add_frame("tool", f"{holds_tool} body", kt.lie.placement([0.1, 0.2, 0.3], rpy=[0.4, 0.5, 0.6]))
    return builder.build()

"""One entry point for every format: the file's contents decide, not its suffix."""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from kinetree.errors import DTypeError, ModelError, OptionError
from kinetree.garbage import collector_paused
from kinetree.inputs import flag
from kinetree.io import FORMATS
from kinetree.io.arguments import check_options, check_path
from kinetree.io.document import Element, root_of
from kinetree.io.macros import contents, xacro_arguments
from kinetree.io.native import is_native
from kinetree.io.sources import Found, find, is_name, known_beside
from kinetree.joints import JointKind
from kinetree.model import Model
from kinetree.model.problems import STRICT, Collected, Problems, concerns_followers, problems_of
from kinetree.problems import Problem, problem

__all__ = ["Repaired", "check_switches", "collect", "load", "settled"]


class Repaired(NamedTuple):
    """A robot whose file was mended while it was read, and the repairs."""

    robot: Model
    repairs: tuple[Problem, ...]
    """The problems with their places; `repair` of each says how it was mended."""


@overload
def load(
    path: str | os.PathLike[str],
    *,
    floating_base: bool | None = None,
    mimic: bool = True,
    gravity: Sequence[float] | None = None,
    package_roots: Sequence[str | os.PathLike[str]] = (),
    ros_packages: bool = False,
    kinds: Sequence[type[JointKind]] = (),
    srdf: str | os.PathLike[str] | None = None,
    source: str | None = None,
    xacro: bool = False,
    xacro_args: Mapping[str, str | float | bool] | None = None,
    repair: Literal[False] = False,
) -> Model: ...
@overload
def load(
    path: str | os.PathLike[str],
    *,
    floating_base: bool | None = None,
    mimic: bool = True,
    gravity: Sequence[float] | None = None,
    package_roots: Sequence[str | os.PathLike[str]] = (),
    ros_packages: bool = False,
    kinds: Sequence[type[JointKind]] = (),
    srdf: str | os.PathLike[str] | None = None,
    source: str | None = None,
    xacro: bool = False,
    xacro_args: Mapping[str, str | float | bool] | None = None,
    repair: Literal[True],
) -> Repaired: ...
def load(
    path: str | os.PathLike[str],
    *,
    floating_base: bool | None = None,
    mimic: bool = True,
    gravity: Sequence[float] | None = None,
    package_roots: Sequence[str | os.PathLike[str]] = (),
    ros_packages: bool = False,
    kinds: Sequence[type[JointKind]] = (),
    srdf: str | os.PathLike[str] | None = None,
    source: str | None = None,
    xacro: bool = False,
    xacro_args: Mapping[str, str | float | bool] | None = None,
    repair: bool = False,
) -> Model | Repaired:
    """Read a robot file: URDF, MJCF, SDF, or the text form that `kt.save` writes. The contents determine which.

    `floating_base` puts a free joint under the root body, or, if it is False, fixes it to the world. By default it is
    as the file says: the root of a URDF file is fixed, that of an SDF file floats unless the file fixes it, and MJCF
    has joints of its own for this. Joints that mimic others follow them and have no coordinates of their own in q and
    v; with `mimic` False they move independently. `gravity` (3,), m/s², takes the place of that of the file, which is
    (0, 0, -9.81) in a URDF file.

    `package_roots` are the folders in which meshes and included files may be looked up; a root holds packages as
    root/NAME or is one itself. Without any, these are the file's own folder and, for `package://NAME/…`, the package of
    this name around it. With `ros_packages`, packages are also looked up where the environment variables
    ROS_PACKAGE_PATH and AMENT_PREFIX_PATH say that ROS keeps them. `kinds` are the joint classes in a text form that
    are not kinetree's own. `srdf` is the path of an SRDF file for this robot: its groups, named states and collision
    pairs go into `robot.extras`, see `Model.named_configuration` and `kinetree docs loading`.

    With `source`, the first argument is the name of a robot in it, as `kt.zoo.robots(source)` lists them: an installed
    package that holds robots, such as "example-robot-data". Without one, a name such as "panda_description", which is
    no file, is looked for in the cache of robot_descriptions. Nothing is downloaded.

    With `xacro`, or arguments `xacro_args` by name, the package xacro expands the file first. A xacro file is a program
    that can run any code in your name, so it is expanded only if you ask for it: trust the file and its includes.

    With `repair`, the result is `Repaired(robot, repairs)`: faults that can be mended without guessing at physics are
    mended, and `repairs` has a `Problem` for each fault and its repair; `kinetree docs check` lists them. Faults that
    cannot be mended are one `ModelError` that names them all.

    Raises `ModelError`, which names file, line and element, if the file is not a robot; `MissingPackageError` if the
    source or xacro is not installed, and `NameNotFoundError` if the source has no robot of this name. Warns with
    `ModelWarning` about anything suspicious but possible.
    """
    path, settings = settled(
        "load", path, source, srdf, xacro, xacro_args,
        floating_base=floating_base, mimic=mimic, package_roots=package_roots, ros_packages=ros_packages,
        gravity=gravity, kinds=kinds,
    )  # fmt: skip
    check_switches(repair=repair)
    own_srdf = settings.pop("srdf")
    with collector_paused():
        if repair:
            problems = Collected()
            found = collect(path, problems, kinds=kinds, gravity=gravity, srdf=own_srdf, **settings)
            problems.stop()
            assert found is not None
            return Repaired(found, problems.repairs)
        try:
            robot = _read(path, kinds, STRICT, **settings)
        except ModelError as error:
            error.problems = problems_of(error)
            if not (mimic and concerns_followers(error) and _is_robot(path, kinds, **{**settings, "mimic": False})):
                raise
            advice = "the file loads with mimic=False, or --no-mimic on the command line: no joint then follows another"
            raise ModelError(f"{error} ({advice})", problems=error.problems) from None
        return _finished(robot, gravity, own_srdf)


def settled(
    function: str,
    path: str | os.PathLike[str],
    source: str | None,
    srdf: str | os.PathLike[str] | None,
    xacro: bool,
    xacro_args: Mapping[str, str | float | bool] | None,
    *,
    floating_base: bool | None,
    mimic: bool,
    package_roots: Sequence[str | os.PathLike[str]],
    ros_packages: bool,
    gravity: Sequence[float] | None = None,
    kinds: Sequence[type[JointKind]] = (),
) -> tuple[Path, dict[str, Any]]:
    """The file that is meant, and how it is read. Raises for options that are not possible, or an unknown name."""
    check_path(function, path)
    if srdf is not None and not isinstance(srdf, str | os.PathLike):
        raise DTypeError(f"srdf takes the path of an SRDF file, not {type(srdf).__name__}")
    check_switches(mimic=mimic, ros_packages=ros_packages, xacro=xacro)
    if floating_base is not None and not isinstance(floating_base, bool | np.bool_):
        raise OptionError(f"floating_base must be True, False or None, not {floating_base!r:.60}")
    check_options(package_roots, gravity, kinds)
    meant = _file(path, source)
    arguments = xacro_arguments(xacro_args, bool(xacro))
    if arguments is not None:
        arguments = {**(meant.xacro_args or {}), **arguments}
    settings = {
        "floating_base": meant.floating_base if floating_base is None else floating_base, "mimic": mimic,
        "package_roots": package_roots, "ros_packages": ros_packages, "xacro_args": arguments,
        "srdf": meant.srdf if srdf is None else srdf,
    }  # fmt: skip
    return meant.path, settings


def _file(path: str | os.PathLike[str], source: str | None) -> Found:
    """The file that is meant by a path, or by a name."""
    name = os.fspath(path)
    if source is not None:
        return find(str(name), source)
    if isinstance(path, str) and is_name(path) and not os.path.lexists(path):
        if path.endswith("_description"):
            return find(path, "robot_descriptions")
        if sources := known_beside(path):
            message = " or ".join(f"source={one!r}" for one in sources)
            raise ModelError(f"{path}: there is no such file; a robot of this name is loaded with {message}")
    return Found(Path(path))


def check_switches(**switches: object) -> None:
    """Raise `OptionError` for one that is not True or False."""
    for name, value in switches.items():
        flag(name, value)


def _finished(robot: Model, gravity: Sequence[float] | None, srdf: str | os.PathLike[str] | None) -> Model:
    """The robot with the gravity and the SRDF file that were asked for."""
    if srdf is not None:
        from kinetree.io.srdf import read_srdf

        robot = read_srdf(Path(srdf), robot)
    return robot if gravity is None else robot.with_gravity(gravity)


def collect(
    path: Path,
    problems: Collected,
    *,
    kinds: Sequence[type[JointKind]] = (),
    gravity: Sequence[float] | None = None,
    srdf: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Model | None:
    """The robot of a file as far as it can be put together, and all its problems; None if it cannot."""
    robot = None
    try:
        robot = _finished(_read(path, kinds, problems, **settings), gravity, srdf)
    except ModelError as error:
        problems.add(error)
    problems.place(str(path))
    return robot


def _read(
    path: Path,
    kinds: Sequence[type[JointKind]],
    problems: Problems,
    xacro_args: Mapping[str, str] | None = None,
    **settings: Any,
) -> Model:
    data = contents(path, xacro_args)
    if xacro_args is not None:
        lines = f"lines are those of the expanded file: xacro {path}"
        problems.suspect([problem(path, lines, "assumption", severity="note")])
        try:
            return _of_contents(data, path, kinds, problems, settings)
        except ModelError as error:
            message = f"{error} ({lines})"
            raise ModelError(message, problems=error.problems) from None
    return _of_contents(data, path, kinds, problems, settings)


def _of_contents(
    data: bytes, path: Path, kinds: Sequence[type[JointKind]], problems: Problems, settings: Mapping[str, Any]
) -> Model:
    if is_native(data):
        from kinetree.io.native.reading import read_native

        return read_native(data, path, kinds=kinds, problems=problems, **settings)
    reader = _reader(root_of(path, data))
    return reader(data, path, problems=problems, **settings)


def _reader(root: Element) -> Callable[..., Model]:
    """The reader of files that begin with this element. Each is imported when a file needs it."""
    for name, format in FORMATS.items():
        if root.tag == format.root:
            reader: Callable[..., Model] = importlib.import_module(f"kinetree.io.{name}.reader").read_file
            return reader
    if root.tag in _PARTS_OF_MJCF:
        sentence = "this is a part of an MJCF file, which another one includes; load that, which begins with <mujoco>"
        root.fail(sentence, "unknown-format")
    if root.tag in ("model", "world"):
        root.fail("this is a part of an SDF file, or names one; load the file that begins with <sdf>", "unknown-format")
    known = ", ".join(f"{format.title} begins with <{format.root}>" for format in FORMATS.values() if format.root)
    return root.fail(f"not a robot file that kinetree can read; {known}", "unknown-format")


_PARTS_OF_MJCF = frozenset({"mujocoinclude", "worldbody", "body", "asset", "default", "actuator", "compiler"})


def _is_robot(path: Path, kinds: Sequence[type[JointKind]], **settings: Any) -> bool:
    """Whether a file can be read with these settings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _read(path, kinds, STRICT, **settings)
        except ModelError:
            return False
    return True

"""`kt.compare`: a robot compared with other libraries' readings of its file, or with a second robot."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.comparison.result import Comparison, Settings
from kinetree.errors import DTypeError, MissingPackageError, OptionError, nearest_names
from kinetree.inputs import whole_between
from kinetree.io.load import check_switches, load, settled
from kinetree.io.macros import readable, xacro_arguments
from kinetree.model import Model

__all__ = ["compare"]

_MOST_SAMPLES = 10_000
LIBRARIES = {"mujoco": ("mujoco", "mujoco"), "pinocchio": ("pinocchio", "pin"), "drake": ("pydrake", "drake")}
"""By name: the module, and the package that has it."""


def compare(
    a: Model | str | os.PathLike[str],
    b: Model | str | os.PathLike[str] | None = None,
    *,
    peers: Sequence[str] | None = None,
    samples: int = 5,
    seed: int = 0,
    tolerance: float = 1e-9,
    floating_base: bool | None = None,
    mimic: bool = True,
    package_roots: Sequence[str | os.PathLike[str]] = (),
    ros_packages: bool = False,
    source: str | None = None,
    srdf: str | os.PathLike[str] | None = None,
    xacro: bool = False,
    xacro_args: Mapping[str, str | float | bool] | None = None,
) -> Comparison:
    """Compare a robot with other libraries' readings of its file, or with a second robot.

    Total mass, the mass, centre of mass and inertia of each moving body, joint axes and origins, placements of bodies,
    limits, armature, damping, friction, stiffness, gravity; and at random states placements, M(q), bias forces and
    gravity forces, joint for joint. Joints and bodies are matched by name, in any order. The first difference in the
    order of the tree is reported, with its likely cause as far as the data show it.

    Args:
        a: A robot, or the path of its file.
        b: A second robot, or the path of its file.
        peers: Libraries that read the file, of "mujoco", "pinocchio" and "drake". By default, all that are installed,
            or none if `b` is given. They read the file of `b`, or of `a` without `b`: give both to compare a file with
            another library's reading of a second one.
        samples: The number of random states.
        seed: Their seed.
        tolerance: the largest difference that counts as equal, relative to each quantity's scale; the result has the
            scales.
        floating_base, mimic, package_roots, ros_packages, source, srdf, xacro, xacro_args: As for `kt.load`, for files.
            Other libraries read the expansion of a xacro file.

    Returns:
        A record whose text is a report; `is_equal`, `verdict`, and for each counterpart its `quantities` and
        `differences`. Where a library cannot read the file, its reason is the counterpart's `unread`.

    Raises:
        ModelError: A file is not a robot.
        OptionError, DTypeError: An argument outside its values; nothing to compare with.
        MissingPackageError: A library that `peers` names is not installed, or none is.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> found = kt.compare(robot, robot.with_gravity((0, 0, -1.62)))
    >>> found.is_equal, found.counterparts[0].first.text
    (False, 'gravity of the robot: (0, 0, -9.81) m/s² here, (0, 0, -1.62) m/s² there')
    """
    from kinetree.comparison.counterparts import counterparts_of

    settings = _checked(samples, seed, tolerance)
    libraries = _libraries(peers, with_default=b is None)
    check_switches(mimic=mimic, ros_packages=ros_packages, xacro=xacro)
    options: dict[str, Any] = {
        "source": source, "srdf": srdf, "xacro": xacro, "xacro_args": xacro_args, "floating_base": floating_base,
        "mimic": mimic, "package_roots": package_roots, "ros_packages": ros_packages,
    }  # fmt: skip
    ours = _robot("a", a, options)
    second = None if b is None else _robot("b", b, options)
    present, absent = _present(libraries, named=peers is not None)
    if second is None and not present:
        raise MissingPackageError(f"there is nothing to compare with: {'; '.join(absent) or 'no peers were named'}")
    titles = [_title(robot, given) for robot, given in ((ours, a), (second, b)) if robot is not None]
    if len(titles) == 2 and titles[0] == titles[1]:
        titles[1] = "the second robot"
    with ExitStack() as stack:
        file = None
        if present:
            given, robot = (a, ours) if second is None or b is None else (b, second)
            file = stack.enter_context(_readable(given, robot, options))
        counterparts = counterparts_of(ours, second, titles, file, present, settings)
    return Comparison(ours.name, ours.source, settings.tolerance, settings.samples, tuple(counterparts), tuple(absent))


def _checked(samples: Any, seed: Any, tolerance: Any) -> Settings:
    count, start = whole_between("compare: samples", samples, 1, _MOST_SAMPLES), whole_between("compare: seed", seed)
    is_number = isinstance(tolerance, int | float | np.floating) and not isinstance(tolerance, bool)
    if not is_number or not 0.0 <= tolerance < np.inf:
        raise OptionError(f"compare: tolerance must be a number from 0 on, such as 1e-9, not {tolerance!r:.60}")
    return Settings(count, start, float(tolerance))


def _libraries(peers: Any, with_default: bool) -> list[str]:
    if peers is None:
        return list(LIBRARIES) if with_default else []
    if isinstance(peers, str | bytes) or not isinstance(peers, Sequence):
        raise DTypeError(f"compare: peers is a list of names, such as ['mujoco'], not {peers!r:.60}")
    for name in peers:
        if name not in LIBRARIES:
            near = nearest_names(str(name), LIBRARIES)
            raise OptionError(f"compare: there is no library {name!r:.60} to compare with: {near}")
    return list(dict.fromkeys(peers))


def _robot(argument: str, given: Any, options: dict[str, Any]) -> Model:
    if isinstance(given, Model):
        return given
    if not isinstance(given, str | os.PathLike):
        raise DTypeError(f"compare: {argument} is a robot or the path of its file, not {type(given).__name__}")
    robot: Model = load(given, **options)
    return robot


def _title(robot: Model, given: Any) -> str:
    return repr(robot.name) if isinstance(given, Model) else Path(given).name


@contextmanager
def _readable(given: Any, robot: Model, options: dict[str, Any]) -> Iterator[tuple[Path, Model, tuple[Path, ...]]]:
    """The file that libraries read, kinetree's robot of it, and where its meshes are looked up."""
    roots = tuple(map(Path, options["package_roots"]))
    path, arguments = Path(robot.source), xacro_arguments(options["xacro_args"], options["xacro"])
    if not isinstance(given, Model):
        path, settings = settled("compare", given, **options)
        arguments = settings["xacro_args"]
    if isinstance(given, Model) and not (robot.source and path.is_file()):
        raise OptionError(
            f"compare: {robot.name!r} was not read from a file that other libraries could read; give the path of one, "
            "or a second robot"
        )
    with readable(path, arguments) as file:
        yield file, robot, roots if file == path else (path.absolute().parent, *roots)


def _present(wanted: Sequence[str], named: bool) -> tuple[list[str], list[str]]:
    """The libraries that are installed, and a sentence for each that is not."""
    present, absent = [], []
    for name in wanted:
        module, package = LIBRARIES[name]
        if _is_installed(module):
            present.append(name)
        elif named:
            raise MissingPackageError(f"compare: {name} is not installed (pip install {package})")
        else:
            absent.append(f"{name} is not installed (pip install {package})")
    return present, absent


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False

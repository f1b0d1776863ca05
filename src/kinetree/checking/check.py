"""`kt.check`: every problem of a robot file at once."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence

from kinetree.checking.extents import extents, reach
from kinetree.checking.joints import check_limits
from kinetree.checking.kept import list_assumptions, list_extras
from kinetree.checking.masses import check_masses
from kinetree.checking.motions import check_motions
from kinetree.checking.names import check_names
from kinetree.checking.report import Report
from kinetree.checking.shapes import check_shapes
from kinetree.checking.subject import Subject
from kinetree.io.load import collect, settled
from kinetree.joints import JointKind
from kinetree.model import Model
from kinetree.model.problems import Collected
from kinetree.problems import Problem

__all__ = ["check"]

_RULES: tuple[Callable[[Subject, Collected], Iterator[Problem]], ...] = (
    check_names,
    check_limits,
    check_masses,
    check_shapes,
    check_motions,
    list_extras,
    list_assumptions,
)


def check(
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
) -> Report:
    """Check a robot file, and return all its problems: faults, suspicious values and notes.

    The options are those of `load`; with `srdf`, an SRDF file is checked with the robot. Errors keep `load` from
    loading the file; if one is mended by `load(path, repair=True)`, it says how. Meshes that are found are opened for
    their sizes.

    >>> import kinetree as kt
    >>> report = kt.check(kt.zoo.path("double_pendulum"))
    >>> report.ok, report.errors
    (True, ())

    Raises `OptionError` or `ModelError` for options that are not possible, and as `load` does for names of robots that
    are not there; never for the contents of the file.
    """
    path, settings = settled(
        "check", path, source, srdf, xacro, xacro_args,
        floating_base=floating_base, mimic=mimic, package_roots=package_roots, ros_packages=ros_packages,
        gravity=gravity, kinds=kinds,
    )  # fmt: skip
    problems = Collected()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = collect(path, problems, kinds=kinds, gravity=gravity, **settings)
    found = list(problems.found)
    if problems.parts is not None:
        found += _suspicious(problems, robot)
    file = str(path)
    placed = (each if each.file else each._replace(file=file) for each in found)
    return Report.of(file, list(dict.fromkeys(placed)), "" if robot is None else robot.name, problems.left_out)


def _suspicious(problems: Collected, robot: Model | None) -> Iterator[Problem]:
    parts = problems.parts if robot is None else robot.parts
    assert parts is not None
    boxes = extents(parts)
    subject = Subject(parts, robot, {link.name: link for link in parts.links}, boxes, reach(parts, boxes))
    for rule in _RULES:
        yield from rule(subject, problems)

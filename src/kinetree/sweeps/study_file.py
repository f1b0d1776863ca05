"""Studies as TOML files, for the command line: the arguments of `kt.sweep`, as text.

robot = "arm6"                          # a file, seen from this one, or a robot of the zoo
folder = "study"                        # where results go; by default the file's name without its ending
samples = 1000
seed = 1
every = 0.1                             # and keep, record, chunk

[motion]                                # arguments of `kt.simulate`
duration = 2.0

[vary]
q = {uniform = [-1.0, 1.0]}
"body.wrist.mass, body.wrist.inertia" = {uniform = [0.8, 1.2], relative = true}
"v.elbow" = {grid = [0.0, 1.0, 2.0]}
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinetree.errors import OptionError, nearest_names
from kinetree.files import read_regular, reason
from kinetree.records import record
from kinetree.sim.simulate import with_records
from kinetree.sweeps.motion_options import IN_FILES
from kinetree.sweeps.variations import Anywhere, Grid, LogUniform, Normal, Uniform

__all__ = ["StudyFile", "read_study_file"]

_TWO_NUMBERS: dict[str, Any] = {"uniform": Uniform, "log_uniform": LogUniform, "normal": Normal}
_LONGEST = 2**24
"""Bytes of a file."""
_KINDS = (*_TWO_NUMBERS, "grid", "anywhere", "values")
_OPTIONS = ("samples", "seed", "keep", "every", "record", "chunk")
_KNOWN = ("robot", "folder", *_OPTIONS, "motion", "vary")


@record(frozen=True, slots=True)
class StudyFile:
    """The contents of a file."""

    robot: str
    """A path, or a name."""
    folder: Path
    options: Mapping[str, Any]
    """The arguments of `kt.sweep` other than the robot and the folder."""


def read_study_file(path: Path) -> StudyFile:
    """Read a study. Raises OptionError, which says where, and the errors of `kt.sweep` are left to it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = Path(place) / "swings.toml"
    ...     _ = file.write_text('robot = "cart_pole"\\nsamples = 3\\n[vary]\\nq = {uniform = [-1, 1]}')
    ...     study = read_study_file(file)
    >>> study.robot, study.folder.name, study.options["vary"]
    ('cart_pole', 'swings', {'q': Uniform(low=-1, high=1, relative=False)})
    """
    try:
        read = tomllib.loads(read_regular(path, _LONGEST).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = reason(error) if isinstance(error, OSError) else error
        raise OptionError(f"{path}: this study cannot be read: {why}") from None
    for name in read:
        if name not in _KNOWN:
            raise OptionError(f"{path}: there is no {name!r} in a study: {nearest_names(name, _KNOWN)}")
    robot = read.get("robot")
    if not isinstance(robot, str) or not robot:
        raise OptionError(f'{path}: robot must be a file or a robot of the zoo, such as robot = "arm6"')
    folder = read.get("folder", path.stem)
    if not isinstance(folder, str) or not folder:
        raise OptionError(f"{path}: folder must be the path of a folder, not {folder!r:.60}")
    path_of_robot = path.parent / robot
    options = {name: read[name] for name in _OPTIONS if name in read}
    options |= _motion(path, read.get("motion", {}))
    options["vary"] = _varied(path, read.get("vary", {}))
    return StudyFile(str(path_of_robot) if path_of_robot.is_file() else robot, path.parent / folder, options)


def _motion(path: Path, table: Any) -> dict[str, Any]:
    for name in _table(path, "motion", table):
        if name not in IN_FILES or name == "until":
            raise OptionError(f"{path}: [motion] has no {name!r}: {nearest_names(name, IN_FILES)}")
    return with_records(table)


def _varied(path: Path, table: Any) -> dict[Any, Any]:
    varied: dict[Any, Any] = {}
    for key, how in _table(path, "vary", table).items():
        names = tuple(name.strip() for name in key.split(","))
        varied[names[0] if len(names) == 1 else names] = _variation(f"{path}: [vary] {key}", how)
    return varied


def _variation(place: str, how: Any) -> Any:
    one = 'such as {uniform = [0.5, 1.5]} or {grid = [1.0, 2.0], relative = true}; it varies by "uniform", '
    one += '"log_uniform", "normal", "grid", "values" or "anywhere"'
    kinds = [kind for kind in _KINDS if isinstance(how, dict) and kind in how]
    if len(kinds) != 1:
        raise OptionError(f"{place} must be one table, {one}, not {how!r:.60}")
    (kind,) = kinds
    relative, numbers = how.get("relative", False), how[kind]
    if wrong := [name for name in how if name not in (kind, "relative")]:
        raise OptionError(f"{place}: {wrong[0]!r} has no meaning together with {kind!r}")
    if not isinstance(relative, bool) or (relative and kind in ("anywhere", "values")):
        raise OptionError(f"{place}: relative is true or false, for distributions and grids")
    if kind == "anywhere":
        if numbers is not True:
            raise OptionError(f"{place}: write anywhere = true")
        return Anywhere()
    if not isinstance(numbers, list):
        raise OptionError(f"{place}: {kind} must be a list, not {numbers!r:.60}")
    if kind == "grid":
        return Grid(numbers, relative)
    if kind == "values":
        return numbers
    if len(numbers) != 2:
        raise OptionError(f"{place}: {kind} has two entries, {_ends(kind)}, not {len(numbers)}")
    return _TWO_NUMBERS[kind](*numbers, relative)


def _ends(kind: str) -> str:
    return "the mean and the standard deviation" if kind == "normal" else "the lower end and the upper one"


def _table(path: Path, name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise OptionError(f"{path}: [{name}] must be a table, not {value!r:.60}")
    return value

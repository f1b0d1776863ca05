"""Writing robot files, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from kinetree.errors import ModelError, OptionError, listed
from kinetree.files import file_path, write_file
from kinetree.inputs import flag
from kinetree.io import FORMATS
from kinetree.io.texts import format_of, written
from kinetree.model import Model

__all__ = ["format_for", "has_known_suffix", "is_same_file", "save", "write_text_file"]

_SUFFIXES = {suffix: name for name, known in FORMATS.items() for suffix in known.suffixes}
"""The format that a suffix promises; any other is kinetree's own text form."""
_OTHERS = {
    ".xacro": "xacro", ".mjb": "MuJoCo's binary form", ".srdf": "SRDF", ".usd": "USD", ".usda": "USD", ".usdc": "USD",
    ".usdz": "USD", ".skel": "DART's skeletons", ".lua": "RBDL's models", ".osim": "OpenSim's models", ".yaml": "YAML",
    ".yml": "YAML", ".toml": "TOML", ".npz": "NumPy's arrays", ".npy": "NumPy's arrays", ".csv": "CSV",
    ".pkl": "pickles", ".pickle": "pickles", ".gz": "a compressed file", ".bz2": "a compressed file",
    ".xz": "a compressed file", ".zip": "a compressed file", ".zst": "a compressed file", ".dae": "COLLADA",
    ".stl": "a mesh", ".obj": "a mesh", ".msh": "a mesh", ".glb": "glTF", ".gltf": "glTF", ".html": "HTML",
}  # fmt: skip
"""Suffixes that promise a format that is not written."""


def save(
    robot: Model,
    path: str | os.PathLike[str],
    *,
    lossy: bool = False,
    format: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write a robot to a file in UTF-8, which `kinetree.load` reads, and return its path.

    The suffix says in which format, unless `format` does: .urdf is URDF, .sdf is SDF, .xml and .mjcf are MJCF; .json,
    or none that is known, is kinetree's own text form (`to_text`), which holds every robot exactly. An error lists
    everything that another format cannot hold; with `lossy` it is lost, and a `ModelWarning` lists it.
    `kinetree docs writing_files` describes the limits of each.

    The file is written whole or not at all: after any error, an earlier file stays as it was.

    Args:
        robot: the robot.
        path: the file.
        lossy: whether data that the format cannot hold may be lost.
        format: as in `to_text`: "native", "urdf", "sdf" or "mjcf"; by default the suffix decides.
        overwrite: whether the file that the robot was loaded from, `robot.source`, may be overwritten. Other files are.

    Raises:
        ModelError: as `to_text`, or it is the robot's own file.
        SaveError: the file cannot be written, for example because its folder does not exist or the disk is full.
        OptionError: the suffix is that of a format that is not written, or the format is unknown.
        DTypeError: `path` is not a path.

    >>> import kinetree as kt, tempfile, pathlib
    >>> robot = kt.zoo.load("double_pendulum")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kt.load(kt.save(robot, pathlib.Path(folder) / "pendulum.urdf")) == robot
    True
    """
    target = file_path("save", path)
    form = format_for(target) if format is None else format_of(format)
    if not isinstance(robot, Model):
        raise ModelError(f"save takes a Model, such as kinetree.load returns, not {robot!r:.60}")
    lossy = flag("lossy", lossy)
    if not flag("overwrite", overwrite) and is_same_file(robot.source, target):
        raise ModelError(
            f"{target} is the file that {robot.name!r} was loaded from, which may hold more than is written, such as "
            "comments; name another, or say overwrite=True"
        )
    text, losses = written(robot, form, target.parent)
    losses.settle(robot.name, lossy=lossy)
    write_text_file(target, text)
    return target


def is_same_file(source: str, target: Path) -> bool:
    """Whether both are there, and are one file."""
    try:
        return os.path.samefile(source, target)
    except (OSError, ValueError):  # one of them is not a file
        return False


def format_for(target: Path) -> str:
    """The format that a file's suffix promises. Raises `OptionError` if that is not written."""
    suffix = target.suffix.lower()
    if suffix in _OTHERS:
        raise OptionError(
            f"{target}: a name with {target.suffix} promises {_OTHERS[suffix]}, which is not written; name the file "
            f"{target.with_suffix('.json').name!r}, or say which format is meant: {listed(map(repr, FORMATS))}"
        )
    return _SUFFIXES.get(suffix, "native")


def has_known_suffix(target: Path) -> bool:
    """Whether a file's suffix is that of some format, written or not."""
    suffix = target.suffix.lower()
    return suffix in _SUFFIXES or suffix in _OTHERS


def write_text_file(target: Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all. Raises `SaveError`, and `ModelError` for lone surrogates."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ModelError(f"{target}: cannot be written: {error}") from None
    write_file(target, lambda file: file.write(data))

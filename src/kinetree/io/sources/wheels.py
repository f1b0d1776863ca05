"""Installed distributions that hold robot files. Only files that a distribution itself lists are opened."""

from __future__ import annotations

from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

from kinetree.errors import MissingPackageError, ModelError, NameNotFoundError, listed, nearest_names
from kinetree.io import FORMATS
from kinetree.io.document import read_bytes, root_of

__all__ = ["wheel_file", "wheel_names"]

_ROOTS = {format.root for format in FORMATS.values() if format.root}
_SUFFIXES = {suffix for format in FORMATS.values() if format.root for suffix in format.suffixes} - {".world"}
"""Suffixes of files with a single robot."""


def wheel_names(source: str, folder: str) -> list[str]:
    """The names of the robots in a distribution: the shortest ends of their paths that name one file each."""
    files = {name: path for name, path in _files(source, folder).items() if _is_robot(path)}
    ends: dict[str, int] = {}
    for name in files:
        for end in _ends(name):
            ends[end] = ends.get(end, 0) + 1
    return sorted(next((end for end in _ends(name) if ends[end] == 1), name) for name in files)


def wheel_file(source: str, folder: str, name: str) -> Path:
    """The file of a robot in a distribution, by its path, the end of its path, or the name of its folder."""
    files = _files(source, folder)
    inner = name.strip("/")
    stem = str(PurePosixPath(inner).with_suffix("")) if PurePosixPath(inner).suffix in _SUFFIXES else inner
    if stem in files:
        return files[stem]
    paths = {own: path for own, path in files.items() if own.endswith(f"/{stem}")}
    if not paths:  # a folder that holds one robot
        paths = {own: path for own, path in files.items() if f"/{stem}/" in f"/{own}"}
    if len(paths) > 1:
        paths = {own: path for own, path in paths.items() if _is_robot(path)}
    if len(paths) == 1:
        return next(iter(paths.values()))
    if paths:
        raise NameNotFoundError(
            f"{source!r} has {len(paths)} robots of the name {name!r}; name one of {listed(map(repr, sorted(paths)))}"
        )
    raise NameNotFoundError(f"{source!r} has no robot {name!r}: {nearest_names(name, wheel_names(source, folder))}")


def _files(source: str, folder: str) -> dict[str, Path]:
    """The files that may be robots, by their paths below the folder, without suffixes."""
    try:
        holder = distribution(source)
    except PackageNotFoundError:
        raise MissingPackageError(
            f"{source} is not installed, which has robots by name: pip install {source}"
        ) from None
    files: dict[str, Path] = {}
    for entry in holder.files or ():
        before, _, inside = str(entry).partition(folder)
        # A distribution also lists scripts, outside of its own folders.
        if inside and entry.suffix in _SUFFIXES and not before.startswith(("..", "/")):
            path = _inside(holder, Path(str(entry)))
            if path is not None:
                files[str(PurePosixPath(inside).with_suffix(""))] = path
    if not files:
        raise ModelError(f"{source} is installed, but holds no robots below {folder}; install it again")
    return files


def _inside(holder: Distribution, entry: Path) -> Path | None:
    """The path of a file of a distribution, if it is there and no link leads out of where it is installed."""
    root = Path(str(holder.locate_file(""))).resolve()
    path = Path(str(holder.locate_file(entry)))
    return path if path.is_file() and path.resolve().is_relative_to(root) else None


def _is_robot(path: Path) -> bool:
    """Whether the file begins as a robot does; others are parts that robots include."""
    try:
        return root_of(path, read_bytes(path)).tag in _ROOTS
    except ModelError:
        return False


def _ends(name: str) -> list[str]:
    """The ends of a path, from the shortest on."""
    parts = PurePosixPath(name).parts
    return ["/".join(parts[k:]) for k in range(len(parts) - 1, -1, -1)]

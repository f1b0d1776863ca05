"""Resolve a mesh address in a robot file to a path on disk inside given folders.

Nothing outside those folders is opened or even looked at: `..` is resolved as text, and links are followed one
step at a time, with each step checked before the next.

Where ROS keeps packages, by the environment variables that its setup files set.

ROS_PACKAGE_PATH (ROS 1) lists folders in which packages lie, at any depth; a package is a folder with a package.xml.
AMENT_PREFIX_PATH (ROS 2) lists prefixes; files that a package installs for others are in PREFIX/share/NAME.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from kinetree.errors import ModelError, listed
from kinetree.io.document import shown
from kinetree.problems import Problem, problem

__all__ = ["MeshFinder", "remedy"]

_MAX_LINKS = 40
_UNKNOWN = "in packages whose folder is not known"
_OUTSIDE, _OUTSIDE_FOLDER = "outside the given roots", "outside the folder of the file"
_ROBOT_FOLDERS = frozenset({"urdf", "urdfs", "robot", "robots", "model", "models"})


class MeshFinder:
    """Finds the meshes of one robot file, and lists the missing ones.

    The roots are the folders given: `package://NAME/…` is looked up as `root/NAME/…`, or in a root that is itself
    called NAME. If none are given, the file's own folder is the root, and `package://NAME/…` means a folder around the
    file that is called NAME and is a package: it holds a package.xml, or the file lies in its `urdf` folder or the
    like. A name alone is not enough: `package://home/…` would open all of /home. With `ros_packages`, packages that
    are not found so are looked for where ROS keeps them (`kinetree.io.meshes`).
    """

    def __init__(self, file: Path, roots: Sequence[str | os.PathLike[str]] = (), *, ros_packages: bool = False) -> None:
        self._folder = os.path.dirname(os.path.abspath(file))
        if isinstance(roots, str | os.PathLike):
            roots = (roots,)
        self._roots = [_root(root) for root in roots]
        self._ros = RosPackages() if ros_packages else None
        self._found: dict[str, tuple[Path | None, str, str]] = {}
        self._folders: dict[tuple[str, str], str | None] = {}

    def find(self, address: str) -> Path | None:
        """The path of an existing file, or None."""
        if address not in self._found:
            self._found[address] = self._look_up(address)
        return self._found[address][0]

    def image(self, address: str) -> Path | None:
        """As `find`, for files that robots can be drawn without: `note` does not mention them."""
        return self._look_up(address)[0]

    def why_not(self, address: str) -> str:
        """The reason why `find` finds nothing, to follow the address in a sentence."""
        reason = self.find(address) is None and self._found[address][1]
        return f"is {reason}; {self._remedy(reason)}" if reason else "is a file"

    def missing(self, where: object, address: str) -> Problem:
        """A sentence about one mesh that was not found."""
        _, reason, name = self._found[address]
        of_name = f" ({name})" if name != address else ""
        sentence = f"the mesh {shown(address, 120)!r} is {reason}{of_name}; {self._remedy(reason)}"
        return problem(where, sentence, "missing-mesh", severity="warning")

    def note(self) -> str:
        """One sentence about all meshes that were not found; empty without any.

        Which these are is in the bodies' geometries: `mesh` is the address, `mesh_path` is None.
        """
        missing: dict[str, dict[str, int]] = {}
        for path, reason, name in self._found.values():
            if path is None:
                names = missing.setdefault(reason, {})
                names[name] = names.get(name, 0) + 1
        if not missing:
            return ""
        counts = {reason: sum(names.values()) for reason, names in missing.items()}
        reasons = ", ".join(f"{counts[reason]} {reason} ({_quoted(names)})" for reason, names in missing.items())
        return f"{sum(counts.values())} of {len(self._found)} meshes have no file here: {reasons}{self._advice(counts)}"

    def _remedy(self, reason: str) -> str:
        """The remedy for one file."""
        return self._advice((reason,), "its folder").removeprefix("; ") or "put the file there or correct the address"

    def _advice(self, reasons: Collection[str], folders: str = "their folders") -> str:
        if not {_UNKNOWN, _OUTSIDE, _OUTSIDE_FOLDER}.intersection(reasons):
            return ""
        advice = f"; name {folders} in package_roots (--package-roots)"
        if _UNKNOWN in reasons and self._ros is None:
            return f"{advice}, or give ros_packages"
        if _UNKNOWN in reasons and not any(os.environ.get(name) for name in VARIABLES):
            return f"{advice}, or set {' or '.join(VARIABLES)}"
        return advice

    def _look_up(self, address: str) -> tuple[Path | None, str, str]:
        """(the path, the reason if it was not found, and the subject of that reason)."""
        scheme, separator, rest = address.partition("://")
        if not separator:
            return self._inside(self._roots or [self._folder], [os.path.join(self._folder, address)], address)
        if scheme == "file":
            return self._inside(self._roots or [self._folder], [_local(rest)], address)
        if scheme != "package":
            return None, "whose address is neither a path nor package:// or file://", address
        # Some files have package:///NAME/…; the extra slash does not name a package.
        package, _, inner = rest.lstrip("/").partition("/")
        if package in ("", ".", ".."):
            return None, "without a package's name", address
        place = self._in_package(package, inner.lstrip("/"), address)
        for folder in [] if place[0] or self._ros is None else self._ros.folders(package):
            path, _, _ = again = self._inside([folder], [os.path.join(folder, inner.lstrip("/"))], address)
            if path is not None:
                return again
        return place

    def _in_package(self, package: str, inner: str, address: str) -> tuple[Path | None, str, str]:
        """A mesh of a package in the roots or around the file."""
        if self._roots:
            folders = [
                root if os.path.basename(root) == package else os.path.join(root, package) for root in self._roots
            ]
            return self._inside(self._roots, [os.path.join(folder, inner) for folder in folders], address)
        folder = self._package(package)
        if folder is None:
            return None, _UNKNOWN, package
        return self._inside([folder], [os.path.join(folder, inner)], address)

    def _package(self, name: str) -> str | None:
        """The folder around the file that is the package of this name."""
        folder = self._folder
        while True:
            if os.path.basename(folder) == name and self._is_package(folder):
                return folder
            above = os.path.dirname(folder)
            if above == folder:
                return None
            folder = above

    def _is_package(self, folder: str) -> bool:
        if folder == self._folder:
            return True
        above, own = os.path.split(self._folder)
        return (folder == above and own in _ROBOT_FOLDERS) or os.path.isfile(os.path.join(folder, "package.xml"))

    def _inside(self, roots: Sequence[str], candidates: Sequence[str], address: str) -> tuple[Path | None, str, str]:
        """The first candidate that is a file inside a root."""
        reason = _OUTSIDE if self._roots else _OUTSIDE_FOLDER
        for candidate in candidates:
            path = os.path.normpath(candidate)
            for root in roots:
                if not _is_within(path, root):
                    continue
                if self._is_file(root, path):
                    return Path(path), "", ""
                reason = "not found"
        return None, reason, address

    def _is_file(self, root: str, path: str) -> bool:
        """Whether the path is a file and no link on the way to it leads out of the root."""
        folder, name = os.path.split(path)
        key = (root, folder)
        if key not in self._folders:
            self._folders[key] = _follow(root, folder)
        real = self._folders[key]
        if real is None or not _is_within(path, root) or path == root:
            return False
        step = os.path.join(real, name)
        try:
            mode = os.lstat(step).st_mode
            if stat.S_ISLNK(mode):
                target = _follow(root, step)
                return target is not None and stat.S_ISREG(os.lstat(target).st_mode)
        except (OSError, ValueError):  # missing, or not a valid file name
            return False
        return stat.S_ISREG(mode)


def remedy(source: str, address: str) -> str:
    """The remedy for a file that was not found when a robot was loaded from `source`: an imperative sentence."""
    scheme, separator, rest = address.partition("://")
    if not source:
        return "load the robot from its file, whose place is then known"
    if scheme in ("package", "model") and separator:
        package = shown(rest.lstrip("/").partition("/")[0])
        return f"put the file there, or name the folder that holds the package {package!r}: package_roots=[…]"
    if separator and scheme != "file":
        return "put the file beside the robot's and name it there"
    folder = os.path.dirname(os.path.abspath(source))
    place = os.path.dirname(os.path.normpath(os.path.join(folder, _local(rest) if separator else address)))
    if _is_within(place, folder):
        return "put the file there"
    is_one_drive = os.path.splitdrive(folder)[0] == os.path.splitdrive(place)[0]
    common = os.path.commonpath([folder, place]) if is_one_drive else ""
    roots = [folder, place] if common == os.path.dirname(common) else [common]
    return f"put the file there, or give package_roots={roots} when the robot is loaded"


def _local(path: str) -> str:
    """The path after `file://`; on Windows that of `file:///C:/…` begins with the drive."""
    path = path.lstrip("/")
    return path if os.path.splitdrive(path)[0] else f"/{path}"


def _quoted(names: Iterable[str]) -> str:
    """A few names, the ends of long ones."""
    return listed((name if len(name) <= 50 else f"…{name[-49:]}" for name in names), most=2)


def _root(root: str | os.PathLike[str]) -> str:
    path = os.path.abspath(root)
    if not os.path.isdir(path):
        raise ModelError(f"package_roots: {os.fspath(root)!r} is not a folder")
    return path


def _is_within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _follow(root: str, path: str) -> str | None:
    """The path without links, or None if it does not exist or a link on the way leads out of the root."""
    pending = os.path.relpath(path, root).split(os.sep)[::-1] if path != root else []
    real = root
    links = 0
    try:
        while pending:
            step = os.path.join(real, pending.pop())
            if not stat.S_ISLNK(os.lstat(step).st_mode):
                real = step
                continue
            links += 1
            target = os.path.normpath(os.path.join(real, os.readlink(step)))
            if links > _MAX_LINKS or not _is_within(target, root):
                return None
            if target != root:
                pending.extend(os.path.relpath(target, root).split(os.sep)[::-1])
            real = root
    except (OSError, ValueError):
        return None
    return real


VARIABLES = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH")
_DEEPEST = 6
_MOST = 20_000
"""Folders that are looked into in search of packages."""


class RosPackages:
    """The packages of this environment, by name; folders are searched once, when the first name is asked for."""

    def __init__(self) -> None:
        self._sources: dict[str, str] | None = None

    def folders(self, name: str) -> Iterator[str]:
        """The folders that are the package of this name, in the order in which ROS looks for it."""
        if self._sources is None:
            self._sources = _packages(_listed("ROS_PACKAGE_PATH"))
        if name in self._sources:
            yield self._sources[name]
        for prefix in _listed("AMENT_PREFIX_PATH"):
            folder = os.path.join(prefix, "share", name)
            if os.path.isdir(folder):
                yield folder


def _listed(variable: str) -> list[str]:
    """The folders that an environment variable lists."""
    return [os.path.abspath(folder) for folder in os.environ.get(variable, "").split(os.pathsep) if folder]


def _packages(roots: list[str]) -> dict[str, str]:
    """The packages in the roots, by the names of their folders; of several of one name, the first."""
    packages: dict[str, str] = {}
    pending = [(root, 0) for root in reversed(roots)]
    looked = 0
    while pending and looked < _MOST:
        folder, depth = pending.pop()
        looked += 1
        try:
            with os.scandir(folder) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
                names = {entry.name for entry in inside}
                if "package.xml" in names:  # packages do not contain others
                    packages.setdefault(os.path.basename(folder), folder)
                elif depth < _DEEPEST and not names & {"CATKIN_IGNORE", "COLCON_IGNORE", "rospack_nosubdirs"}:
                    pending += [
                        (entry.path, depth + 1)
                        for entry in reversed(inside)
                        if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
                    ]
        except OSError:  # missing, or closed to this user
            continue
    return packages

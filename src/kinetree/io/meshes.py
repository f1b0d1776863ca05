"""Resolve a mesh address in a robot file to a path on disk inside given folders.

Nothing outside those folders is opened or even looked at: `..` is resolved as text, and links are followed one
step at a time, with each step checked before the next.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from kinetree.errors import ModelError

__all__ = ["MeshFinder"]

_MAX_LINKS = 40
_ROBOT_FOLDERS = frozenset({"urdf", "urdfs", "robot", "robots", "model", "models"})


class MeshFinder:
    """Finds the meshes of one robot file.

    The roots are the folders given: `package://NAME/…` is looked up as `root/NAME/…`, or in a root that is itself
    called NAME. If none are given, the file's own folder is the root, and `package://NAME/…` means a folder around the
    file that is called NAME and is a package: it holds a package.xml, or the file lies in its `urdf` folder or the
    like. A name alone is not enough: `package://home/…` would open all of /home.
    """

    def __init__(self, file: Path, roots: Sequence[str | os.PathLike[str]] = ()) -> None:
        self._folder = os.path.dirname(os.path.abspath(file))
        if isinstance(roots, str | os.PathLike):
            roots = (roots,)
        self._roots = [_root(root) for root in roots]
        self._found: dict[str, tuple[Path | None, str]] = {}
        self._folders: dict[tuple[str, str], str | None] = {}

    def find(self, address: str) -> tuple[Path | None, str]:
        """The path of an existing file, or None and the reason: a clause that a list of addresses can follow."""
        if address not in self._found:
            self._found[address] = self._look_up(address)
        return self._found[address]

    def _look_up(self, address: str) -> tuple[Path | None, str]:
        scheme, separator, rest = address.partition("://")
        if not separator:
            return self._inside(self._roots or [self._folder], [os.path.join(self._folder, address)])
        if scheme == "file":
            return self._inside(self._roots or [self._folder], ["/" + rest.lstrip("/")])
        if scheme != "package":
            return None, "meshes whose address is neither a path nor package:// or file:// were not looked up"
        # Some files have package:///NAME/…; the extra slash does not name a package.
        package, _, inner = rest.lstrip("/").partition("/")
        if package in ("", ".", ".."):
            return None, "mesh addresses without a package's name were not looked up"
        if self._roots:
            folders = [
                root if os.path.basename(root) == package else os.path.join(root, package) for root in self._roots
            ]
            return self._inside(self._roots, [os.path.join(folder, inner.lstrip("/")) for folder in folders])
        folder = self._package(package)
        if folder is None:
            return None, "meshes of packages whose folder is not known were not found (name it in package_roots)"
        return self._inside([folder], [os.path.join(folder, inner.lstrip("/"))])

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

    def _inside(self, roots: Sequence[str], candidates: Sequence[str]) -> tuple[Path | None, str]:
        """The first candidate that is a file inside a root."""
        reason = "meshes that leave the given roots were not looked up (name the folder in package_roots)"
        for candidate in candidates:
            path = os.path.normpath(candidate)
            for root in roots:
                if not _is_within(path, root):
                    continue
                if self._is_file(root, path):
                    return Path(path), ""
                reason = "meshes were not found"
        return None, reason

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

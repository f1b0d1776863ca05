"""From a mesh's address in a robot file to a path on disk that lies inside given folders.

Nothing outside those folders is opened or even looked at: `..` is resolved as text, and links are followed one
step at a time, each step checked before the next.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from kinetree.errors import ModelError

__all__ = ["MeshFinder"]

_MAX_LINKS = 40
_ROBOT_FOLDERS = frozenset({"urdf", "urdfs", "robot", "robots", "model", "models"})


class MeshFinder:
    """Finds the meshes of one robot file.

    The roots are the folders given: `package://NAME/…` is looked up as `root/NAME/…`, or in a root that is itself
    called NAME. If none are given, the file's own folder is the root, and for `package://NAME/…` a folder around
    the file that is called NAME and is a package: it holds a package.xml, or the file lies in its `urdf` folder
    or the like. A name alone is not enough: `package://home/…` would open all of /home.
    """

    def __init__(self, file: Path, roots: Sequence[str | os.PathLike[str]] = ()) -> None:
        self._folder = Path(os.path.abspath(file)).parent
        self._roots = [_folder(root) for root in roots]
        self._found: dict[str, tuple[Path | None, str]] = {}

    def find(self, address: str) -> tuple[Path | None, str]:
        """The path of an existing file, or None and why: a clause that a list of addresses can follow."""
        if address not in self._found:
            self._found[address] = self._look_up(address)
        return self._found[address]

    def _look_up(self, address: str) -> tuple[Path | None, str]:
        scheme, separator, rest = address.partition("://")
        if not separator:
            return self._inside(self._roots or [self._folder], [self._folder / address])
        if scheme == "file":
            return self._inside(self._roots or [self._folder], [Path("/" + rest.lstrip("/"))])
        if scheme != "package":
            return None, "meshes whose address is neither a path nor package:// or file:// were not looked up"
        # Some files have package:///NAME/…; the extra slash names no package of its own.
        package, _, inner = rest.lstrip("/").partition("/")
        if package in ("", ".", ".."):
            return None, "mesh addresses without a package's name were not looked up"
        if self._roots:
            folders = [root if root.name == package else root / package for root in self._roots]
            return self._inside(self._roots, [folder / inner for folder in folders])
        for folder in (self._folder, *self._folder.parents):
            if folder.name == package and self._is_package(folder):
                return self._inside([folder], [folder / inner])
        return None, "meshes of packages that no folder is known for were not found (name it in package_roots)"

    def _is_package(self, folder: Path) -> bool:
        if folder == self._folder:
            return True
        return (folder == self._folder.parent and self._folder.name in _ROBOT_FOLDERS) or (
            folder / "package.xml"
        ).is_file()

    def _inside(self, roots: Sequence[Path], candidates: Sequence[Path]) -> tuple[Path | None, str]:
        """The first candidate that is a file inside a root."""
        reason = "meshes that leave the given roots were not looked up (name the folder in package_roots)"
        for candidate in candidates:
            path = Path(os.path.normpath(candidate))
            for root in roots:
                if not path.is_relative_to(root):
                    continue
                found = _follow(root, path)
                if found is not None:
                    return found, ""
                reason = "meshes were not found"
        return None, reason


def _folder(root: str | os.PathLike[str]) -> Path:
    path = Path(os.path.abspath(root))
    if not path.is_dir():
        raise ModelError(f"package_roots: {os.fspath(root)!r} is not a folder")
    return path


def _follow(root: Path, path: Path) -> Path | None:
    """The path itself if it is a file and no link on the way leads out of the root."""
    pending = list(path.relative_to(root).parts)[::-1]
    real = root
    links = 0
    try:
        while pending:
            part = pending.pop()
            step = Path(os.path.normpath(real / part))
            if not step.is_relative_to(root):
                return None
            if step != real and step.is_symlink():
                links += 1
                target = Path(os.path.normpath(real / os.readlink(step)))
                if links > _MAX_LINKS or not target.is_relative_to(root):
                    return None
                pending.extend(target.relative_to(root).parts[::-1])
                real = root
            else:
                real = step
        return path if real.is_file() else None
    except (OSError, ValueError):  # a name that no file system takes
        return None

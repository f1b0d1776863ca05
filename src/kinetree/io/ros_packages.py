"""Where ROS keeps packages, by the environment variables that its setup files set.

ROS_PACKAGE_PATH (ROS 1) lists folders in which packages lie, at any depth; a package is a folder with a package.xml.
AMENT_PREFIX_PATH (ROS 2) lists prefixes; files that a package installs for others are in PREFIX/share/NAME.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

__all__ = ["VARIABLES", "RosPackages"]

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

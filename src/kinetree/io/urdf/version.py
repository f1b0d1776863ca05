"""The version attribute of <robot>, and the features of each version."""

from __future__ import annotations

import re

from kinetree.io.document import Element, shown

__all__ = ["KNOWN", "Version", "read_version", "version_around"]

Version = tuple[int, int]

KNOWN: tuple[Version, ...] = ((1, 0), (1, 1), (1, 2))
"""1.1 added quaternions and capsules, 1.2 limits of acceleration, deceleration and jerk."""
_FORM = re.compile(r"[ \t\r\n]*([0-9]{1,4})\.([0-9]{1,4})")


def read_version(robot: Element) -> Version:
    """The version that a file has; 1.0 if it says nothing. Raises `ModelError` for one that is not known."""
    text = robot.attributes.get("version")
    if text is None:
        return KNOWN[0]
    match = _FORM.fullmatch(text)
    version = (int(match[1]), int(match[2])) if match else None
    if version not in KNOWN:
        versions = ", ".join(f"{major}.{minor}" for major, minor in KNOWN)
        robot.fail(f'version="{shown(text, 40)}" is not a version of URDF that is known here: {versions}')
    return version


def version_around(element: Element) -> Version:
    """The version of the file that an element is in."""
    while element.parent is not None:
        element = element.parent
    return read_version(element)

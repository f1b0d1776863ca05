"""Arguments of the functions that load robots: paths, folders and others, checked before a file is opened."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any

from kinetree.errors import DTypeError, ModelError
from kinetree.model.given import gravity_of

__all__ = ["check_options", "check_path"]

_SCHEMES = {
    "http": "nothing is fetched; download the file and give its path",
    "https": "nothing is fetched; download the file and give its path",
    "file": "give the path itself, without file://",
    "package": "give the path of the file; package:// is for meshes inside robot files",
    "model": "give the path of the file; model:// is for what SDF files include",
}


def check_path(function: str, path: Any) -> None:
    """Raise unless it is a path."""
    if not isinstance(path, str | os.PathLike):
        raise DTypeError(f"{function} takes the path of a robot file, not {type(path).__name__}")
    text = str(path)
    if not text:
        raise ModelError("the path of the robot file is empty; give the path of a file")
    if "\0" in text:
        raise ModelError(f"{text!r:.80} is not a path: it holds a null character")
    scheme, sign, _ = text.partition(":/")
    if sign and scheme in _SCHEMES and not os.path.lexists(text):
        raise ModelError(f"{text:.200} is an address: {_SCHEMES[scheme]}")


def check_options(package_roots: Any, gravity: Any, kinds: Any) -> None:
    """Raise for values that these options cannot have."""
    if isinstance(package_roots, bytes) or not isinstance(package_roots, str | os.PathLike | Collection):
        raise DTypeError(f"package_roots must be a list of folders, such as ['robots'], not {package_roots!r:.60}")
    roots = [package_roots] if isinstance(package_roots, str | os.PathLike) else package_roots
    for root in roots:
        if not isinstance(root, str | os.PathLike):
            raise DTypeError(f"package_roots must be paths of folders, not {root!r:.60}")
        if not os.path.isdir(root):
            raise ModelError(f"package_roots: {os.fspath(root)!r} is not a folder")
    if gravity is not None:
        gravity_of(gravity)
    if not isinstance(kinds, Sequence) or len(kinds):
        from kinetree.io.native.kinds import known_kinds  # most files have kinetree's own only

        known_kinds(kinds)

"""Files that hold the text form of a robot, as `kt.save` writes them; docs/model_text.md describes it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from kinetree.errors import ModelError
from kinetree.joints import JointKind
from kinetree.model import Model
from kinetree.model.problems import STRICT, Problems, placed
from kinetree.problems import problem

__all__ = ["is_native", "read_native"]

_MARK = b"\xef\xbb\xbf"


def is_native(data: bytes) -> bool:
    """Whether the first non-blank character of a file opens a JSON object."""
    return data.removeprefix(_MARK).lstrip(b" \t\r\n").startswith(b"{")


def read_native(
    data: bytes,
    path: Path,
    *,
    floating_base: bool | None = None,
    mimic: bool = True,
    package_roots: Sequence[str | os.PathLike[str]] = (),
    ros_packages: bool = False,
    kinds: Sequence[type[JointKind]] = (),
    problems: Problems = STRICT,
) -> Model:
    """The robot in such a file. Meshes are located as for a URDF file in the same place, and not opened.

    Raises `ModelError`, which names the file and the place in it; see `kt.from_text`.
    """
    from kinetree.io.meshes import MeshFinder
    from kinetree.io.native.lines import lines_of
    from kinetree.io.native.reading import read_text

    try:
        text = data.removeprefix(_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        sentence = f"the text is not UTF-8: {error.reason}"
        found = problem("", sentence, "encoding")._replace(file=str(path), line=line)
        raise ModelError(f"{path}:{line}: {sentence}", problems=(found,)) from None
    meshes = MeshFinder(path, package_roots, ros_packages=ros_packages)
    problems.find_lines(partial(lines_of, text))
    try:
        return read_text(
            text,
            kinds=kinds,
            file=str(path),
            floating_base=floating_base,
            mimic=mimic,
            find_mesh=meshes.find,
            find_image=meshes.image,
            problems=problems,
        )
    except ModelError as error:
        has_lines = all(found.line for found in error.problems)
        lines = {} if has_lines else lines_of(text)
        error.problems = tuple(placed(found, str(path), lines) for found in error.problems)
        raise

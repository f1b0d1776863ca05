"""The catalogue of the zoo: one file per robot in `models/`, URDF or kinetree's own text, each with a description.

An SRDF file of the same name says which bodies of a robot never meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kinetree.errors import NameNotFoundError, nearest_names, quoted
from kinetree.io.sources import Found

if TYPE_CHECKING:
    from kinetree.model import Model

__all__ = ["load", "names", "path"]

_MODELS = Path(__file__).parent / "models"
_FLOATING = frozenset({"humanoid", "quadruped", "ragdoll"})


def names() -> list[str]:
    """The names of the robots of the zoo, sorted.

    >>> import kinetree as kt
    >>> kt.zoo.names()
    ['arm6', 'arm7', 'cart_pole', 'double_pendulum', 'humanoid', 'quadruped', 'ragdoll']
    """
    return sorted(_files())


def path(name: str) -> Path:
    """The path of the file of a robot of the zoo. An unknown name raises `NameNotFoundError`."""
    known = _files()
    if not isinstance(name, str) or name not in known:
        raise NameNotFoundError(f"the zoo has no robot {quoted(name)}: {nearest_names(str(name), names())}")
    return known[name]


def load(name: str, *, floating_base: bool | None = None, gravity: Sequence[float] | None = None) -> Model:
    """Load a robot of the zoo.

    With `floating_base` None, the robot has its natural base: the quadruped, the humanoid and the ragdoll float, the
    others are fixed. `gravity` (3,), m/s², is (0, 0, -9.81) by default. An unknown name raises `NameNotFoundError`.

    >>> import kinetree as kt
    >>> kt.zoo.load("double_pendulum").nq
    2
    """
    from kinetree.io.load import load as load_file  # kinetree is imported without its readers

    file = found(name)
    floats = file.floating_base if floating_base is None else floating_base
    return load_file(file.path, floating_base=floats, gravity=gravity, srdf=file.srdf)


def found(name: str) -> Found:
    """The files of a robot of the zoo, and whether its base floats."""
    file = path(name)
    srdf = file.with_suffix(".srdf")
    return Found(file, floating_base=name in _FLOATING, srdf=srdf if srdf.is_file() else None)


def _files() -> dict[str, Path]:
    return {file.stem: file for pattern in ("*.urdf", "*.json") for file in _MODELS.glob(pattern)}

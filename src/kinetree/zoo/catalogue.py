"""The catalogue of the zoo: one file a robot in `models/`, URDF or kinetree's own text, each with a description."""

from __future__ import annotations

from pathlib import Path

from kinetree.errors import NameNotFoundError, nearest_names
from kinetree.io import load as load_file
from kinetree.model import Model

__all__ = ["load", "names", "path"]

_MODELS = Path(__file__).parent / "models"
_FLOATING = frozenset({"humanoid", "quadruped", "ragdoll"})


def names() -> list[str]:
    """The robots of the zoo, sorted.

    >>> import kinetree as kt
    >>> kt.zoo.names()
    ['arm6', 'arm7', 'cart_pole', 'double_pendulum', 'humanoid', 'quadruped', 'ragdoll']
    """
    return sorted(_files())


def path(name: str) -> Path:
    """Where the file of a robot of the zoo is on disk. A wrong name raises `NameNotFoundError`."""
    known = _files()
    if not isinstance(name, str) or name not in known:
        raise NameNotFoundError(f"the zoo has no robot {name!r}: {nearest_names(str(name), names())}")
    return known[name]


def load(name: str, *, floating_base: bool | None = None) -> Model:
    """A robot of the zoo.

    `floating_base` None takes the robot's natural base: the quadruped, the humanoid and the ragdoll float, the others
    are fixed.
    A wrong name raises `NameNotFoundError`.

    >>> import kinetree as kt
    >>> kt.zoo.load("double_pendulum").nq
    2
    """
    file = path(name)
    return load_file(file, floating_base=name in _FLOATING if floating_base is None else floating_base)


def _files() -> dict[str, Path]:
    return {file.stem: file for pattern in ("*.urdf", "*.json") for file in _MODELS.glob(pattern)}

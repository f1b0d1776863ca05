"""The catalogue of the zoo: one URDF file a robot in `models/`, each described in its opening comment."""

from __future__ import annotations

from pathlib import Path

from kinetree.errors import NameNotFoundError, nearest_names
from kinetree.io import load as load_file
from kinetree.model import Model

__all__ = ["load", "names", "path"]

_MODELS = Path(__file__).parent / "models"
_FLOATING = frozenset({"humanoid", "quadruped"})


def names() -> list[str]:
    """The robots of the zoo, sorted.

    >>> import kinetree as kt
    >>> kt.zoo.names()
    ['arm6', 'arm7', 'cart_pole', 'double_pendulum', 'humanoid', 'quadruped']
    """
    return sorted(file.stem for file in _MODELS.glob("*.urdf"))


def path(name: str) -> Path:
    """Where the URDF file of a robot of the zoo is on disk. A wrong name raises `NameNotFoundError`."""
    known = names()
    if name not in known:
        raise NameNotFoundError(f"the zoo has no robot {name!r}: {nearest_names(str(name), known)}")
    return _MODELS / f"{name}.urdf"


def load(name: str, *, floating_base: bool | None = None) -> Model:
    """A robot of the zoo.

    `floating_base` None takes the robot's natural base: the quadruped and the humanoid float, the others are fixed.
    A wrong name raises `NameNotFoundError`.

    >>> import kinetree as kt
    >>> kt.zoo.load("double_pendulum").nq
    2
    """
    file = path(name)
    return load_file(file, floating_base=name in _FLOATING if floating_base is None else floating_base)

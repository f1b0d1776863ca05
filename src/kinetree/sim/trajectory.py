"""What a simulation leaves behind."""

from __future__ import annotations

import os
import tokenize
import zipfile
import zlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import TrajectoryFileError
from kinetree.model import Joint, Model

__all__ = ["UNREADABLE", "Trajectory", "coordinate_units"]

Array = NDArray[np.float64]

UNREADABLE = (ValueError, EOFError, RuntimeError, OverflowError, zipfile.BadZipFile, zlib.error, tokenize.TokenError)
"""What zipfile, zlib and NumPy raise at files that are damaged, encrypted or packed in ways they do not know."""


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """A motion, sampled at T moments: the initial state and the state after each step."""

    robot: str
    """The robot's name."""
    integrator: str
    dt: float
    """s."""
    substeps: int
    """The most parts that a step was divided into because friction or springs are stiff; 1: none was."""
    time: Array
    """(T,), s."""
    q: Array
    """(T, nq)."""
    v: Array
    """(T, nv)."""
    tau: Array
    """(T, nv), the torques given to `simulate` as they were at each moment, within the limits of motors if these were
    asked for; friction and springs are not among them; N·m or N."""
    kinetic: Array
    """(T,), J."""
    potential: Array
    """(T,), J, of gravity and springs; gravity's is zero where the centre of mass is at the world's origin."""
    work: Array
    """(T,), done by the torques since the beginning, J."""
    dissipated: Array
    """(T,), lost to friction since the beginning, J."""
    q_names: tuple[str, ...]
    """A name a coordinate."""
    q_joints: tuple[str, ...]
    """The joint that each coordinate belongs to."""
    q_units: tuple[str, ...]
    """A unit a coordinate: "rad", "m", or "" for the parts of a quaternion."""
    v_names: tuple[str, ...]
    """A name a degree of freedom."""

    @property
    def total(self) -> Array:
        """Kinetic and potential energy, (T,), J."""
        return self.kinetic + self.potential

    @property
    def balance_error(self) -> Array:
        """What the integrator created, (T,), J: E(t) - E(0) - work + dissipated. Exact integration gives zero."""
        total = self.total
        return total - float(total[0]) - self.work + self.dissipated

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write all fields to a NumPy .npz file and return its path; ".npz" is appended if it is not there."""
        path = Path(path)
        if path.suffix != ".npz":
            path = path.with_name(path.name + ".npz")
        # Not by name: np.savez would take an ending of its own.
        with path.open("wb") as file:
            arrays: dict[str, Any] = {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}
            np.savez_compressed(file, **arrays)
        return path

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trajectory:
        """Read what `save` wrote. Raises `TrajectoryFileError` if the file holds something else."""
        names = [field.name for field in fields(cls)]
        try:
            # Opened here, because np.load leaves a file that it refuses open.
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                missing = [name for name in names if name not in archive]
                if missing:
                    raise TrajectoryFileError(f"{path} is no trajectory: it lacks {', '.join(missing)}")
                parts = {name: archive[name] for name in names}
        except (*UNREADABLE, TypeError) as error:
            if isinstance(error, TrajectoryFileError):
                raise
            raise TrajectoryFileError(f"{path} is no trajectory: {error}") from None
        values = {name: array.item() if array.ndim == 0 else array for name, array in parts.items()}
        for name in ("q_names", "q_joints", "q_units", "v_names"):
            values[name] = tuple(str(x) for x in parts[name])
        return cls(**values)


def coordinate_units(robot: Model) -> tuple[str, ...]:
    """The unit of each coordinate of q."""
    units: list[str] = []
    for owner in robot.owners:
        units.extend(owner.kind.q_units if isinstance(owner, Joint) else [""] * len(owner.coordinates))
    return tuple(units)

"""A moment of a motion from which it can be continued, to the bit, and the settings that a continuation must share."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from kinetree.contact_model import SoftConstraints
from kinetree.errors import OptionError, TrajectoryFileError
from kinetree.files import file_path, reason, write_file
from kinetree.functions.constraint_options import ALL
from kinetree.model.fingerprint import fingerprint
from kinetree.number_files.arrays import ArrayFileError, opened_archive
from kinetree.programs import Program
from kinetree.records import record
from kinetree.sim.setting import Setting, Start

__all__ = ["Snapshot", "digest_of", "identity_of", "text_array", "text_of"]

Array = NDArray[np.float64]
_ABOUT = "snapshot"
_FIELDS = ("row", "ended")


@record(frozen=True, slots=True, eq=False, repr=False)
class Snapshot:
    """A moment of a motion, or of a batch: all that its next step depends on.

    `Trajectory.snapshot` makes it, and `kt.simulate(robot, resume=snapshot, …)` goes on from it as if there had been
    no pause: the states are the same to the bit.

    Attributes:
        settings: the settings that a continuation must share with the motion: the robot's fingerprint, dt, integrator,
            …, as texts by name.
        step: how many steps were taken.
        time: s.
        q: the configuration (…, nq).
        v: the velocity (…, nv).
        act: the activations of actuators (…, na), of a motion under commands.
    """

    settings: Mapping[str, str]
    time: float
    q: Array
    v: Array
    start: Start

    @property
    def step(self) -> int:
        """How many steps were taken since the motion began."""
        return self.start.step

    @property
    def act(self) -> Array:
        """The activations of actuators (…, na)."""
        return self.start.row[..., self.q.shape[-1] + self.v.shape[-1] : -2]

    @classmethod
    def of(cls, settings: Mapping[str, str], setting: Setting, start: Start) -> Snapshot:
        """The snapshot of a moment."""
        nq, nv = setting.robot.nq, setting.robot.nv
        return cls(settings, start.step * setting.dt, start.row[..., :nq], start.row[..., nq : nq + nv], start)

    def __repr__(self) -> str:
        return f"<Snapshot of {self.settings['robot']!r} at t = {self.time:g} s, step {self.step:,}; q {self.q.shape}>"

    def check(self, settings: Mapping[str, str]) -> None:
        """Raise OptionError unless a motion with these settings continues the one of the snapshot."""
        for name, own in settings.items():
            there = self.settings.get(name, "")
            if there != own:
                raise OptionError(f"simulate: {_difference('the snapshot was taken', name, there, own)}")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a NumPy .npz file and return its path; ".npz" is appended if it is not there.

        The file is written whole or not at all.

        Raises:
            SaveError: the file cannot be written.
            DTypeError, OptionError: `path` is not a path, or names no file.

        >>> import kinetree as kt, tempfile, pathlib
        >>> robot = kt.zoo.load("double_pendulum")
        >>> snapshot = kt.simulate(robot, q=[1.0, 0.5], duration=0.1).snapshot()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     back = kt.sim.Snapshot.load(snapshot.save(pathlib.Path(folder) / "moment"))
        >>> kt.simulate(robot, resume=back, duration=0.1).time[-1].item()
        0.2
        """
        target = file_path("save", path, ".npz")
        write_file(target, self.write)
        return target

    def write(self, file: BinaryIO) -> None:
        """Write the arrays of the .npz file."""
        nq, start = self.q.shape[-1], self.start
        sizes = [nq, self.v.shape[-1]]
        about = {"settings": dict(self.settings), "step": start.step, "time": self.time, "sizes": sizes}
        arrays: dict[str, Any] = {_ABOUT: text_array(json.dumps(about)), "row": start.row, "ended": start.ended}
        arrays |= {f"carried.{name}": x for name, x in start.carried.items()}
        arrays |= {f"stiffness.{name}": x for name, x in start.stiffness.items()}
        arrays |= {f"place.{number}": x for number, x in start.places.items()}
        np.savez(file, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Snapshot:
        """Read a file of `save`.

        Raises:
            TrajectoryFileError: the file does not exist, cannot be read, or is not a snapshot; the message says which.
            DTypeError: `path` is not a path.
        """
        source = file_path("load", path)
        try:
            with opened_archive(source, [], "") as archive:
                missing = [name for name in (_ABOUT, *_FIELDS) if name not in archive.headers]
                if missing:
                    raise ArrayFileError(f"it lacks {', '.join(missing)}")
                arrays = {name: archive.read(name) for name in archive.headers}
            return cls._read(arrays)
        except ArrayFileError as error:
            raise TrajectoryFileError(f"{source} is not a snapshot: {error}") from None
        except (OSError, ValueError) as error:
            raise TrajectoryFileError(f"{source} cannot be read: {reason(error)}") from None

    @classmethod
    def _read(cls, arrays: Mapping[str, NDArray[Any]]) -> Snapshot:
        try:
            about = json.loads(text_of(arrays[_ABOUT]))
            settings = {str(name): str(text) for name, text in about["settings"].items()}
            step, time, (nq, nv) = int(about["step"]), float(about["time"]), map(int, about["sizes"])
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise ArrayFileError(f"{_ABOUT!r} is damaged: {reason(error)}") from None
        row, ended = arrays["row"], arrays["ended"]
        if (
            row.dtype != np.float64
            or ended.dtype != np.float64
            or row.ndim != ended.ndim + 1
            or row.shape[:-1] != ended.shape
            or row.shape[-1] < nq + nv + 2
        ):
            raise ArrayFileError(f"'row' has the shape {row.shape} of {row.dtype}")

        def those(prefix: str) -> dict[str, NDArray[Any]]:
            return {name.removeprefix(prefix): x for name, x in arrays.items() if name.startswith(prefix)}

        places = {int(number): x for number, x in those("place.").items() if number.isdecimal()}
        start = Start(step, row, ended, those("carried."), those("stiffness."), places)
        return cls(settings, time, row[..., :nq], row[..., nq : nq + nv], start)


def _difference(what: str, name: str, there: str, here: str) -> str:
    """A sentence about the difference of two settings."""
    if name in ("robot", "model"):
        return f"{what} of another robot: its {name} is {there or 'unknown'} there, and {here or 'unknown'} here"
    return f"{what} with {name} = {there or 'none'}, and here {name} = {here or 'none'}; give the same"


def text_array(text: str) -> NDArray[np.uint8]:
    """A text as the bytes of an array."""
    return np.frombuffer(text.encode(), np.uint8)


def text_of(array: NDArray[Any]) -> str:
    """The text in the bytes of an array. Raises ValueError."""
    if array.dtype != np.uint8 or array.ndim != 1:
        raise ValueError("it holds no text")
    return array.tobytes().decode()


def identity_of(setting: Setting, period: int | None, program: Program | None) -> dict[str, str]:
    """The settings of a motion. Torques, external forces and events may change at a pause."""
    robot = setting.robot
    known = fingerprint(robot)
    settings = {
        "robot": robot.name,
        "model": "of its own kinds of joints" if known is None else known.hex()[:16],
        "dt": repr(setting.dt),
        "integrator": setting.integrator,
        "passive": ", ".join(setting.passive) or "none",
        "limits": str(setting.limits),
        "contact": "none" if setting.contact is None else _digest_of_contact(setting.contact),
        "commands": "given" if setting.actuation is not None else "none",
        "constraints": "none" if not setting.held else digest_of(repr(ALL.without(setting.held))),
        "control_dt": "stages" if period is None else repr(period * setting.dt),
        "controller": "none" if program is None else program.name,
        "batch": str(setting.shape),
    }
    if setting.tolerances is not None:
        settings |= {"rtol": repr(setting.tolerances.rtol), "atol": repr(setting.tolerances.atol)}
    parameters = {f"parameters[{name!r}]": digest_of(x) for name, x in setting.parameters.items()}
    return settings | {"parameters": ", ".join(setting.parameters) or "none"} | parameters


@lru_cache(maxsize=16)
def _digest_of_contact(contact: SoftConstraints) -> str:
    """The digest of soft constraints, made once: hundreds of pairs make a long text."""
    return digest_of(repr(contact))


def digest_of(x: Any) -> str:
    """Some letters for a text or an array; others for another one."""
    if isinstance(x, np.ndarray):
        array: NDArray[Any] = np.ascontiguousarray(x)
        content = f"{array.dtype.str} {array.shape} ".encode() + array.tobytes()
    else:
        content = str(x).encode()
    return hashlib.sha256(content).hexdigest()[:16]

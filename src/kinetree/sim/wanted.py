"""The quantities that a motion records in addition to its states, and at which steps."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Generic

from kinetree.contact_model import SoftConstraints
from kinetree.errors import NameNotFoundError, OptionError, nearest_names
from kinetree.model import Model
from kinetree.records import record

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Stream = TypeVar("Stream", bound=str | os.PathLike[str] | None, default=None, covariant=True)
else:
    from typing import TypeVar

    Stream = TypeVar("Stream")

__all__ = ["Every", "RecordOption", "Recording", "Wanted", "stride_of", "wanted_of"]

RecordOption = Sequence[str] | Mapping[str, bool | Sequence[str]]
Every = int | float

NAMES = ("accelerations", "energies", "contacts", "constraint_forces", "sensors", "frames")
_WITH_NAMES = ("sensors", "frames")
_QUANTITIES = "record, or quantities of a kt.sim.Recording,"
_MOST = 2**53
"""Beyond this whole numbers are not distinguished."""


@record(frozen=True, slots=True)
class Recording(Generic[Stream]):
    """The quantities of a motion that `simulate` records, the rows that have them, and the folder, if there is one.

    Attributes:
        quantities: the recorded quantities besides states, torques, work and dissipation: a list of "accelerations",
            "energies" (None stands for these two), "contacts", "constraint_forces", "sensors" and "frames", or a dict,
            which may choose names: {"frames": ["tool"], "sensors": True}. See `kinetree docs recording`.
        every: the number of steps (an int), or of seconds (a float, a multiple of dt), between two rows. The end always
            has a row.
        stream: a folder into which the motion is written while it is computed, in pieces: for motions that are longer
            than the memory, or must survive a kill. The same call resumes where the last one stopped, and returns a
            `kt.sim.TrajectoryFolder`, which `kt.load_trajectory(folder)` opens too. None keeps the motion in memory.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> tip = kt.sim.Recording({"frames": ["tip"]}, every=0.1)
    >>> kt.simulate(robot, q=[1.0, 0.5], duration=1.0, record=tip).recorded["frame.tip"].shape
    (11, 4, 4)
    """

    quantities: RecordOption | None = None
    every: Every = 1
    stream: Stream = None  # type: ignore[assignment]


@record(frozen=True, slots=True)
class Wanted:
    """The recorded quantities, every so many steps."""

    stride: int = 1
    accelerations: bool = True
    energies: bool = True
    contacts: bool = False
    constraint_forces: bool = False
    sensors: tuple[str, ...] = ()
    needs_qdd: bool = False
    """Whether one of the sensors measures accelerations."""
    frames: tuple[str, ...] = ()


def wanted_of(
    robot: Model, recording: Recording[Any], dt: float, contact: SoftConstraints | None, is_held: bool, *,
    has_commands: bool,
) -> Wanted:  # fmt: skip
    """The quantities and rows of a recording, checked. Raises OptionError, NameNotFoundError."""
    stride = stride_of(recording.every, dt)
    if recording.quantities is None:
        return Wanted(stride)
    from kinetree.functions.contact_forces import check_exerted

    chosen = _chosen(recording.quantities)
    for name in chosen:
        if name not in NAMES:
            raise NameNotFoundError(
                f"simulate: there is nothing called {name!r:.60} to record: {nearest_names(str(name), NAMES)}"
            )
    if "constraint_forces" in chosen and contact is None and not is_held:
        raise OptionError("simulate: there are no constraint forces to record: give constraints=, or contact=True")
    if "contacts" in chosen and contact is None:
        raise OptionError("simulate: there are no contacts to record without contact=True")
    if "contacts" in chosen:
        check_exerted('simulate: record=["contacts"]', contact)
    sensors: tuple[str, ...] = ()
    needs_qdd = False
    if "sensors" in chosen:
        from kinetree.functions.sensor_choice import names_option, needing
        from kinetree.functions.sensors import sensor_places

        own = chosen["sensors"]
        choice = names_option(robot, own)
        if not has_commands and (who := needing(robot, choice, "ctrl")) is not None:
            raise OptionError(f"simulate: {who} needs the commands of actuators; give ctrl=")
        sensors = tuple(sensor_places(robot, own))
        needs_qdd = needing(robot, choice, "qdd") is not None
        if needing(robot, choice, "contact") is not None:
            check_exerted('simulate: record=["sensors"]', contact)
    frames = tuple(robot.frames) if chosen.get("frames", ()) is None else tuple(chosen.get("frames") or ())
    for name in frames:
        if name not in robot.frames:
            raise NameNotFoundError(
                f"simulate: {robot.name!r} has no frame {name!r:.60} to record: {nearest_names(name, robot.frames)}"
            )
    return Wanted(
        stride, "accelerations" in chosen, "energies" in chosen, "contacts" in chosen, "constraint_forces" in chosen,
        sensors, needs_qdd, frames,
    )  # fmt: skip


def stride_of(every: Any, dt: float) -> int:
    """How many steps lie between rows that are kept: a whole number of steps, or seconds. Raises OptionError."""
    if isinstance(every, Integral) and not isinstance(every, bool):
        if every < 1:
            raise OptionError(f"every must be a whole number of steps from 1 on, or seconds, not {every!r:.60}")
        return int(every)
    if isinstance(every, bool) or not isinstance(every, Real) or not 0.0 < float(every) < math.inf:
        raise OptionError(
            f"every must be a whole number of steps, such as every=10, or a positive number of seconds, not "
            f"{every!r:.60}"
        )
    exact = float(every) / dt
    stride = round(exact) if exact < _MOST else 0
    if stride < 1 or abs(stride - exact) > 1e-9 * exact:
        raise OptionError(
            f"every={float(every):g} is a time in s (not a whole number), so it must be a multiple of dt ({dt:g} s)"
        )
    return stride


def _chosen(what: Any) -> dict[str, Sequence[str] | None]:
    """The quantities to record, with the names that are chosen, or None for all."""
    if isinstance(what, Mapping):
        result: dict[str, Sequence[str] | None] = {}
        for name, some in what.items():
            if isinstance(some, bool):
                if some:
                    result[name] = None
            elif name not in _WITH_NAMES or isinstance(some, str) or not isinstance(some, Sequence):
                expected = "True, False or a list of names" if name in _WITH_NAMES else "True or False"
                raise OptionError(f"simulate: record[{name!r:.60}] must be {expected}, not {some!r:.60}")
            else:
                result[name] = list(some)
        return result
    if isinstance(what, str) or not isinstance(what, Sequence):
        hint = f", such as [{what!r}]" if isinstance(what, str) else ""
        raise OptionError(f"simulate: {_QUANTITIES} must be a list of names, or a dict{hint}, not {what!r:.60}")
    if not all(isinstance(name, str) for name in what):
        raise OptionError(f"simulate: {_QUANTITIES} must be a list of names, not {what!r:.60}")
    return dict.fromkeys(what)

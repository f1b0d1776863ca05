"""Which motions of a batch have ended, when, and why: the others go on as if they were alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kinetree.functions.actuators import actuators_of
from kinetree.model import Model
from kinetree.records import record
from kinetree.sim.record import Record

__all__ = ["Divergence", "Endings", "actuator_names", "first_not_finite"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True)
class Divergence:
    """Why a motion of a batch could not go on."""

    time: float
    """The time of the first state that is not finite, or of the last one, s."""
    name: str
    """A coordinate or degree of freedom that is not finite there, the first one in the order of v and q; or that of the
    torque, or the actuator of the command."""
    cause: str
    """"state", which grew beyond all bounds; "torque": a controller's result for a finite state; "command": that
    of an actuator; "force": an external force that was computed; "friction" or "spring": one that is too stiff for the
    steps; or "step": no step that the tolerances allow."""

    def __str__(self) -> str:
        return f"{self.name!r} {_CAUSES[self.cause]} at t = {self.time:g} s"


_CAUSES = {
    "state": "grew beyond all bounds",
    "torque": "was given a torque that is not finite",
    "command": "was given a command that is not finite",
    "force": "was given a force that is not finite",
    "friction": "has friction that is too stiff for the integrator's steps",
    "spring": "has a spring that is too stiff for the integrator's steps",
    "step": "left no step that the tolerances allow",
}


class Endings:
    """The motions of a batch that have ended. Their rows from then on repeat the last finite state, or the event's."""

    def __init__(self, robot: Model, shape: tuple[int, ...], ended: Array) -> None:
        """`ended` (…,): when each did before, s; infinite for those that go on."""
        self._robot, self._shape = robot, shape
        self.time: Array = ended.copy()
        self.row: NDArray[np.intp] = np.where(np.isfinite(ended), 0, np.iinfo(np.intp).max)
        """The first row of each that repeats (…,)."""
        self.diverged: dict[tuple[int, ...], Divergence] = {}
        self.going_on: NDArray[np.bool_] = np.asarray(~np.isfinite(ended))

    @property
    def are_all(self) -> bool:
        """Whether no motion goes on, of a batch that had some."""
        return bool(self.going_on.size) and not self.going_on.any()

    def end(self, sample: tuple[int, ...], row: int, time: float) -> None:
        """A motion ends; `row` is the first one that repeats the end."""
        self.time[sample], self.row[sample], self.going_on[sample] = time, row, False

    def stop(self, record: Record, row: int, causes: Mapping[tuple[int, ...], tuple[str, str]]) -> None:
        """Motions whose steps would need too many parts, each with a name and a cause, end at a row."""
        (time,) = record.times(row, row + 1)
        for sample, (name, cause) in causes.items():
            self.diverged[sample] = Divergence(float(time), name, cause)
            self.end(sample, row, float(time))
            record.given[sample][row] = 0.0

    def hold(self, record: Record, k: int, count: int) -> NDArray[np.intp] | None:
        """Rows of motions that have ended, or are not finite, repeat the last one before; for steps just computed.

        Returns the first row of each that was not finite (…,), a large number for none; None if all rows are finite.
        """
        n = record.state
        new = record.rows[..., k + 1 : k + count + 1, :]
        if not self.going_on.all():
            new[~self.going_on] = record.rows[..., k, :][~self.going_on][:, None]
            record.given[..., k : k + count, :][~self.going_on] = 0.0
            if record.trees is not None:
                trees = record.trees[..., k : k + count + 1, :]
                trees[~self.going_on] = trees[~self.going_on][:, :1]
        if np.isfinite(new[..., :n]).all():
            return None
        finite = np.isfinite(new[..., :n]).all(axis=-1)
        first = np.where(finite.all(axis=-1), np.iinfo(np.intp).max, k + 1 + np.argmin(finite, axis=-1))
        record.lost.clear()
        for sample in map(tuple, np.argwhere(~finite.all(axis=-1)).tolist()):
            record.lost[sample] = record.rows[sample][first[sample]].copy()
            own = record.rows[sample]
            own[first[sample] : k + count + 1] = own[first[sample] - 1]
        return first

    def settle(self, record: Record, first: NDArray[np.intp] | None, last: int) -> None:
        """Motions that ceased to be finite up to row `last`, which is final, have ended."""
        if first is None:
            return
        for sample in map(tuple, np.argwhere((first <= last) & self.going_on).tolist()):
            row = int(first[sample])
            (time,) = record.times(row, row + 1)
            name, cause = self._cause(record, sample, row - 1)
            if cause == "state" and sample in record.stalls:
                time, name, cause = record.stalls[sample].time, record.stalls[sample].name, "step"
            self.diverged[sample] = Divergence(float(time), name, cause)
            self.end(sample, row, float(time))
            record.given[sample][row:last] = 0.0

    def _cause(self, record: Record, sample: tuple[int, ...], row: int) -> tuple[str, str]:
        """The first quantity that is not finite, by its name: given torques, commands or forces, or else the state."""
        robot = self._robot
        wrong = ~np.isfinite(record.given[sample][row])
        if not wrong.any():
            for name in record.forces:
                if not np.isfinite(record.recorded[name][sample][row]).all():
                    return name, "force"
            return first_not_finite(robot, record.lost[sample]), "state"
        k = int(np.argmax(wrong))
        return (robot.v_names[k], "torque") if k < robot.nv else (actuator_names(robot)[k - robot.nv], "command")


def first_not_finite(robot: Model, row: Array) -> str:
    """The part of a state [q, v, act, …] that is not finite: a degree of freedom, a coordinate, or an actuator."""
    nq, end = robot.nq, robot.nq + robot.nv
    for x, names in ((row[nq:end], robot.v_names), (row[:nq], robot.q_names)):
        if not np.isfinite(x).all():
            return names[int(np.argmin(np.isfinite(x)))]
    return actuator_names(robot)[actuators_of(robot).with_activation[int(np.argmin(np.isfinite(row[end:])))]]


def actuator_names(robot: Model) -> list[str]:
    """The names of a robot's actuators; one without a name is called by its number in the file: "actuator[3]"."""
    return [one.name or f"actuator[{k}]" for k, one in enumerate(robot.extras.actuators)]

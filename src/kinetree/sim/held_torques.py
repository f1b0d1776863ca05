"""Torques of programs, and of functions at stages, for a motion whose steps have their own length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.programs import Program
from kinetree.sim.controlled import ProgramMotion
from kinetree.sim.controllers import Torque
from kinetree.sim.cursor import OF_STEPS
from kinetree.sim.inputs import Inputs
from kinetree.sim.record import Record
from kinetree.sim.setting import Setting

__all__ = ["ProgramTorques", "StageTorques"]

Array = NDArray[np.float64]


class ProgramTorques:
    """Torques of a program at regular times, constant between them.

    The program runs in the kernel of a closed loop that does not move the robot.
    """

    at_stages = None
    rows: Array | None = None

    def __init__(
        self,
        setting: Setting,
        controller: Program,
        inputs: Inputs,
        period: int,
        count: int,
        carried: Mapping[str, NDArray[Any]],
        recorded: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        alone = replace(setting, integrator="", passive=(), limits=False, forces={}, held=(), contact=None)
        own = {name: x for name, x in carried.items() if not name.startswith(OF_STEPS)}
        self._loop = ProgramMotion(alone, controller, inputs, period, count, own, None, recorded)
        self.period: int | None = period
        self.recorded: Mapping[str, NDArray[Any]] = self._loop.recorded

    def most(self, step: int) -> int:
        return self._loop.most(step)

    def given(self, step: int, row: Array) -> Array:
        return self._loop.given(step, row)

    def runs(self, record: Record, step: int, count: int) -> Iterator[int]:
        for k in range(step, step + count):
            self._loop.advance(record, k, 1, 1)
            yield k + 1

    def accept(self, record: Record, first: int, end: int) -> None:
        self._loop.accept(record, first, end)

    def carried(self, step: int) -> dict[str, NDArray[Any]]:
        return self._loop.carried(step)


class StageTorques:
    """Torques of one motion that are a function of time and state, which is called at every stage."""

    rows: Array | None = None
    period: int | None = None

    def __init__(self, setting: Setting, torque: Torque) -> None:
        self._torque = torque
        self._first, self._dt = setting.first, setting.dt
        self._split = setting.robot.nq, setting.robot.nq + setting.robot.nv
        self.recorded: Mapping[str, NDArray[Any]] = {}

    def most(self, step: int) -> int:  # noqa: ARG002
        return 1

    def given(self, step: int, row: Array) -> Array:
        nq, end = self._split
        return self.at_stages((self._first + step) * self._dt, row[:nq], row[nq:end])

    def at_stages(self, t: float, q: Array, v: Array) -> Array:
        """The torques at a time and state."""
        return self._torque(t, q, v, np.empty(0))

    def runs(self, record: Record, step: int, count: int) -> Iterator[int]:  # noqa: ARG002
        yield step + count

    def accept(self, record: Record, first: int, end: int) -> None:
        """They were checked when they were given."""

    def carried(self, step: int) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        return {}

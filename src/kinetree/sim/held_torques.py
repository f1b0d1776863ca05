"""The torques of a motion whose steps do not end where torques change: held from one moment to the next, or a function.

Each says when the next moment is at which its torques may be others, and a step ends there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kinetree.programs import Program
from kinetree.sim.controlled import ProgramMotion
from kinetree.sim.controllers import Torque
from kinetree.sim.cursor import OF_STEPS
from kinetree.sim.inputs import Inputs
from kinetree.sim.motion import Samples
from kinetree.sim.record import Record
from kinetree.sim.setting import Setting

__all__ = ["HeldTorques", "KnownTorques", "ProgramTorques", "SampledTorques", "StageTorques"]

Array = NDArray[np.float64]


class HeldTorques(Protocol):
    """What a motion with steps of its own asks for."""

    @property
    def at_stages(self) -> Callable[[float, Array, Array], Array] | None:
        """The torques at a time and state, if they are not held."""

    rows: Array | None
    """The torques of each step of the grid (…, steps, nv), if they are known in advance."""
    period: int | None
    """They may be others every so many steps of the grid since the motion began, if a controller gives them."""
    recorded: Mapping[str, NDArray[Any]]
    """What a controller returned besides tau at each moment."""

    def most(self, step: int) -> int:
        """For how many steps of the grid torques can be given at once."""

    def given(self, step: int, row: Array) -> Array:
        """The torques at the beginning of a step of the grid, (…, nv)."""

    def runs(self, record: Record, step: int, count: int) -> Iterator[int]:
        """Fill in the torques of some steps of the grid; after each end that is given, rows up to it are needed."""

    def accept(self, record: Record, first: int, end: int) -> None:
        """Refuse torques that cannot be."""

    def carried(self, step: int) -> dict[str, NDArray[Any]]:
        """What later torques depend on."""


class KnownTorques:
    """Torques known in advance, constant over each step of the grid."""

    at_stages = None
    period: int | None = None

    def __init__(self, tau: Array) -> None:
        """`tau`: (…, steps, nv)."""
        self.rows: Array | None = tau
        self._tau = tau
        self.recorded: Mapping[str, NDArray[Any]] = {}

    def most(self, step: int) -> int:  # noqa: ARG002
        return 100_000

    def given(self, step: int, row: Array) -> Array:  # noqa: ARG002
        torque: Array = self._tau[..., min(step, self._tau.shape[-2] - 1), :]
        return torque

    def runs(self, record: Record, step: int, count: int) -> Iterator[int]:
        record.given[..., step : step + count, :] = self._tau[..., step : step + count, :]
        yield step + count

    def accept(self, record: Record, first: int, end: int) -> None:
        """They were checked when they were given."""

    def carried(self, step: int) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        return {}


class SampledTorques:
    """Torques, and forces, that functions of time and state give at regular times, constant between them."""

    at_stages = None
    rows: Array | None = None

    def __init__(self, samples: Samples) -> None:
        self._samples, self.recorded = samples, samples.recorded
        self.period: int | None = samples.period
        self.most, self.given = samples.most, samples.given

    def runs(self, record: Record, step: int, count: int) -> Iterator[int]:
        record.given[..., step : step + count, :] = self._samples.advance(step, count)
        yield step + count

    def accept(self, record: Record, first: int, end: int) -> None:
        """They were checked when they were given."""

    def carried(self, step: int) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        return self._samples.carried()


class ProgramTorques:
    """Torques of a program at regular times, constant between them.

    The program runs in the kernel of a closed loop, whose steps of the robot itself are not used.
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
        alone = replace(
            setting, integrator="semi_implicit_euler", passive=(), limits=False, forces={}, held=(), contact=None
        )  # its forces, which it also records, move a robot that nobody looks at
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

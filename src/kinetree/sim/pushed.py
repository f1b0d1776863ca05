"""A motion whose bodies may be pushed from outside while it is computed.

Until the first push it is computed by the kernel of a motion without any, so to the same bits. From then on the kernel
takes an external force on every body; so whichever is pushed next needs no other one. It is made in a thread of its
own, from when somebody looks on, while the motion goes on as it is; a first push that comes too early acts from when it
is there.

The force follows from the state at the beginning of each step, and is constant over it. Of steps of their own length it
follows from the state at each moment that is shown, and is constant until the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kinetree.functions.chosen import Chosen
from kinetree.functions.step_division import Parts
from kinetree.model import Body, Model
from kinetree.model.external_forces import ForceKey, WrenchOn
from kinetree.sim.motion import Motion
from kinetree.sim.push import Push, Pushing, PushLaw
from kinetree.sim.record import Record
from kinetree.sim.setting import Setting

__all__ = ["UNITS", "Make", "Pushed", "Pushes"]

Array = NDArray[np.float64]

UNITS = {"push.force": "N", "push.point": "m"}
_HELD = 1.0 / 60.0
"""Seconds for which a force is constant in steps of their own length."""
_WINDOW = 4096
"""Steps for which there is room for forces on all bodies at once."""


class Pushes(Protocol):
    """Who pushes."""

    is_preparing: bool
    """Whether a push waits for its kernel; set here."""
    is_seen: bool
    """Whether somebody looks, who may push."""

    @property
    def pushed(self) -> Push | None:
        """The present push."""

    @property
    def waits(self) -> bool:
        """Whether the motion waits for the kernel of the first push, instead of going on as it is until then."""


Make = Callable[[Setting, int, int, Mapping[str, NDArray[Any]], Mapping[str, NDArray[Any]]], Motion]
"""A motion of some of the steps: (setting, first one, how many, carried, recorded)."""


class Pushed:
    """One motion, and the pushes on it."""

    def __init__(
        self, make: Make, setting: Setting, count: int, carried: Mapping[str, NDArray[Any]], pushes: Pushes
    ) -> None:
        self._make, self._setting, self._count, self._pushes = make, setting, count, pushes
        self._bodies = {body.name: k for k, body in enumerate(_moving(setting.robot))}
        self._law = PushLaw(setting.robot, setting.parameters)
        self._is_held = setting.tolerances is not None
        self._frame = max(1, round(_HELD / setting.dt))
        self._motion = make(setting, 0, count, carried, {})
        self._begin, self._end = 0, count
        """The steps that this motion is of."""
        self.recorded: Mapping[str, NDArray[Any]] = self._motion.recorded
        self._kernel: Future[None] | None = None
        self._now: Push | None = None
        self._acting: tuple[str, Pushing] | None = None
        self._until = 0
        """The step until which it is held, of steps of their own length."""
        self._others = self._forces = np.zeros((0, 0, 6))
        """Forces on each body without a push, and with it, (bodies, steps, 6); empty before the first push."""
        self._acted: dict[int, tuple[str, Pushing]] = {}
        """Which body was pushed in each step, and how."""

    def most(self, step: int) -> int:
        self._now = self._pushes.pushed if self._is_ready() else None
        most = min(self._motion.most(step - self._begin), self._end - step)
        if self._now is None:
            return most
        return min(most, max(self._until - step, 0) or self._frame) if self._is_held else 1

    def given(self, step: int, row: Array) -> Array:
        if step == self._end < self._count:
            self._go_on_from(step)
        return self._motion.given(step - self._begin, row)

    def advance(self, record: Record, step: int, count: int, parts: Parts) -> None:
        if self._now is not None or self._forces.size:
            self._act(record.rows[step], step, count)
        those = record.beyond(self._begin)
        self._motion.advance(those, step - self._begin, count, parts)
        record.step_counts = those.step_counts

    def accept(self, record: Record, first: int, end: int) -> None:
        self._motion.accept(record.beyond(self._begin), first - self._begin, end - self._begin)

    def part(self, record: Record, step: int, lengths: Array, parts: Parts, some: Chosen) -> Array:
        return self._motion.part(record.beyond(self._begin), step - self._begin, lengths, parts, some)

    def contact_report(self, record: Record, row: int) -> Array:
        return self._motion.contact_report(record.beyond(self._begin), row - self._begin)

    def carried(self, step: int) -> dict[str, NDArray[Any]]:
        return self._motion.carried(step - self._begin)

    def forces(self) -> dict[ForceKey, Array]:
        """All external forces of the motion, with the pushes among them, (steps, 6)."""
        result = dict(self._setting.forces)
        for name in {name for name, _ in self._acted.values()}:
            result[_key(name)] = np.array(result.get(_key(name), np.zeros((self._count, 6))))
        for step, (name, pushing) in self._acted.items():
            result[_key(name)][step] += pushing.wrench
        return result

    def push_records(self, rows: int) -> dict[str, NDArray[Any]]:
        """Records of pushes at the first `rows` moments, if any occurred."""
        if not self._acted:
            return {}
        numbers = {name: k for k, name in enumerate(self._setting.robot.bodies)}
        body, force, point = np.full(rows, -1), np.zeros((rows, 3)), np.full((rows, 3), np.nan)
        for row in range(rows):  # the last one repeats what acted before it, as that of tau does
            name, pushing = self._acted.get(row if row < rows - 1 else row - 1, (None, None))
            if name is not None and pushing is not None:
                body[row], force[row], point[row] = numbers[name], pushing.wrench[:3], pushing.point
        return {"push.body": body, "push.force": force, "push.point": point}

    def _is_ready(self) -> bool:
        """Whether there is a push and the kernel for it, with forces on all bodies.

        It is begun as soon as somebody can push.
        """
        is_pushed = self._pushes.pushed is not None
        if self._kernel is None:
            if not self._bodies or not (is_pushed or self._pushes.is_seen):
                return False
            maker = ThreadPoolExecutor(1, "kinetree-pushes")
            self._kernel = maker.submit(self._prepare)
            maker.shutdown(wait=False)
        self._pushes.is_preparing = is_pushed and not (self._kernel.done() or self._pushes.waits)
        if not is_pushed or self._pushes.is_preparing:
            return False
        self._kernel.result()
        return True

    def _prepare(self) -> None:
        """Make all kernels, which are kept."""
        robot, somewhere = self._setting.robot, (0.0, 0.0, 0.0)
        push = Push(next(iter(self._bodies)), somewhere, somewhere)
        PushLaw(robot, self._setting.parameters)(push, robot.neutral(), np.zeros(robot.nv))
        others = self._others_at(0, 1)
        self._make(self._with(others, 0), 0, 1, {}, {})

    def _act(self, row: Array, step: int, count: int) -> None:
        """Let a push act in some steps, from the state at their beginning; or nothing."""
        push, nq, nv = self._now, self._setting.robot.nq, self._setting.robot.nv
        before, is_on = self._acting, push is not None
        if not (self._is_held and step < self._until and is_on == (before is not None)):
            self._acting = None if push is None else (push.body, self._law(push, row[:nq], row[nq : nq + nv]))
            self._until = step + self._frame
        if not self._is_held:
            if not self._forces.size:
                self._go_on_from(step)
            self._put(step - self._begin, count)
        elif self._acting is not before:
            self._go_on_from(step)
        for k in range(step, step + count):
            self._acted.pop(k, None)
            if self._acting is not None:
                self._acted[k] = self._acting

    def _put(self, first: int, count: int) -> None:
        """Let the present forces act in some steps of the present motion."""
        those = slice(first, first + count)
        self._forces[:, those] = self._others[:, those]
        if self._acting is not None:
            name, pushing = self._acting
            self._forces[self._bodies[name], those] += pushing.wrench

    def _go_on_from(self, step: int) -> None:
        """Go on with a kernel that takes forces on all bodies: the present forces act from here on."""
        count = min(_WINDOW, self._count - step)
        self._others = self._others_at(step, count)
        self._forces = self._others.copy()
        self._put(0, count)
        recorded = {name: x[step : step + count + 1] for name, x in self.recorded.items()}
        carried = self._motion.carried(step - self._begin)
        self._motion = self._make(self._with(self._forces, step), step, count, carried, recorded)
        self._begin, self._end = step, step + count

    def _others_at(self, step: int, count: int) -> Array:
        forces = np.zeros((len(self._bodies), count, 6))
        for name, k in self._bodies.items():
            if _key(name) in self._setting.forces:
                forces[k] = self._setting.forces[_key(name)][step : step + count]
        return forces

    def _with(self, forces: Array, step: int) -> Setting:
        """The setting of steps from one on, with these forces on all bodies, which may still change."""
        count = forces.shape[1]
        rows_of = {key: rows[step : step + count] for key, rows in self._setting.forces.items()}
        rows_of |= {_key(name): forces[k] for name, k in self._bodies.items()}
        return replace(self._setting, first=self._setting.first + step, forces=rows_of)


def _moving(robot: Model) -> list[Body]:
    """The bodies that can be pushed."""
    return [body for body in robot.bodies.values() if body.slot]


def _key(body: str) -> ForceKey:
    return WrenchOn(body, "local_world_aligned")

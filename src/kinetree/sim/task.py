"""A motion to be computed, and the pieces that it is computed in: one piece, or many if it is streamed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import SimulationError
from kinetree.functions.step_division import Stiffness
from kinetree.programs import Program
from kinetree.records import record
from kinetree.sim.blocks import take_steps
from kinetree.sim.controllers import Torque
from kinetree.sim.crossings import Watch
from kinetree.sim.cursor import OF_STEPS
from kinetree.sim.endings import Endings
from kinetree.sim.events import EventNumber
from kinetree.sim.inputs import Inputs
from kinetree.sim.live import Live
from kinetree.sim.motion import Known, Motion, Samples, side_by_side
from kinetree.sim.pushed import Pushed, Pushes
from kinetree.sim.record import Record
from kinetree.sim.recording import trajectory_of
from kinetree.sim.setting import Setting, Start
from kinetree.sim.snapshot import Snapshot
from kinetree.sim.stepper import Staged, Stepper
from kinetree.sim.trajectory import SimulationInterrupted, Trajectory
from kinetree.sim.wanted import Wanted

if TYPE_CHECKING:
    from kinetree.sim.controlled import ProgramMotion

__all__ = ["Piece", "Task", "at_once"]

Array = NDArray[np.float64]
Carried = Mapping[str, NDArray[Any]]
_TREES = "trees"
"""The name of the numbers of sleeping bodies, among those that a snapshot carries."""


@record(frozen=True, slots=True, eq=False)
class Task:
    """A motion to be computed."""

    setting: Setting
    start: Start
    steps: int
    """How many from the start on."""
    torques: Array | Program | Torque
    """Known torques (…, steps, nv), or a controller."""
    forces: Mapping[str, Torque]
    """The functions of external forces, by the names that these are recorded by; those of programs are part of the
    controller."""
    commands: Array | Program | Torque | None
    """Known commands of actuators (…, steps, nu), or a controller; None without commands."""
    inputs: Inputs | None
    """The inputs of a controller that is a program."""
    period: int | None
    """How many steps from one run of a controller to the next; None if it runs at every stage."""
    events: Sequence[EventNumber]
    wanted: Wanted
    identity: Mapping[str, str]
    """The settings that a continuation must share with it, by name."""

    def piece(self, start: Start, count: int, pushes: Pushes | None = None) -> Piece:
        """`count` of its steps, from a start on; somebody may push a single motion."""
        return Piece(self, start, count, pushes)

    @property
    def can_be_pushed(self) -> bool:
        """Whether somebody who follows it can push its bodies: not those of a batch, nor with computed forces."""
        return not self.setting.shape and not self.setting.sources

    @property
    def is_python(self) -> bool:
        """Whether a Python function is called."""
        sources = self.torques, self.commands, *self.forces.values()
        return bool([x for x in sources if callable(x) and not isinstance(x, Program)])


class Piece:
    """Some steps of a motion."""

    def __init__(self, task: Task, start: Start, count: int, pushes: Pushes | None) -> None:
        begin = start.step - task.start.step
        setting = task.setting.piece(begin, count)
        self.setting: Setting = setting
        robot = setting.robot
        self._task, self._start, self._begin, self._count = task, start, begin, count
        self.endings: Endings = Endings(robot, setting.shape, start.ended)

        def make(part: Setting, first: int, steps: int, carried: Carried, recorded: Carried) -> Motion:
            return _motion(task, part, start.row, begin + first, steps, carried, self.endings, recorded)

        self._motion: Motion
        if pushes is None:
            self._motion = make(setting, 0, count, start.carried, {})
        else:
            self._motion = Pushed(make, setting, count, start.carried, pushes)
        self.record: Record = Record(setting, count)
        self.record.rows[..., 0, :] = start.row
        self.record.recorded = self._motion.recorded
        if self.record.trees is not None:
            self.record.trees[..., 0, :] = start.carried.get(_TREES, 0.0)
        passive = setting.passive if setting.tolerances is None else ()  # error control detects stiffness
        self._stiffness = Stiffness(
            robot, setting.integrator, passive, setting.actuation, setting.dt, setting.parameters
        )
        self._stiffness.go_on(start.stiffness)
        self._watch = Watch(task.events, (robot.nq, robot.nv), setting.dt)

    def run(self, progress: Callable[[int, int], None] | None, live: Live | None = None) -> None:
        """Take the steps, or those until somebody who follows them ends the motion."""
        if live is not None:
            robot = self.setting.robot
            live.begin(self.setting.dt, self.setting.first, robot.nq, robot.nv)

        def report_progress(done: int) -> None:
            assert progress is not None
            progress(self._begin + done, self._task.steps)

        with np.errstate(all="ignore"):  # as a compiled function does; a controller has its own
            take_steps(
                self.setting, self._motion, self._stiffness, self.record, self.endings, self._watch,
                None if progress is None else report_progress, live,
            )  # fmt: skip

    @property
    def has_ended(self) -> bool:
        """Whether no step is to follow, as all motions have ended."""
        return self.record.end_time is not None or self.endings.are_all

    def end(self) -> Start:
        """The last moment from which the motion can be continued."""
        k = self.record.mark
        row = self.record.axis(self.record.rows, k).copy()
        ended = np.where(self.endings.row <= k, self.endings.time, np.inf)
        step, carried = self._start.step + k, self._motion.carried(k)
        if self.record.trees is not None:
            carried = {**carried, _TREES: self.record.axis(self.record.trees, k).copy()}
        return Start(step, row, ended, carried, self.record.stiffness, self._start.places)

    def trajectory(self, *, is_last: bool = True) -> Trajectory:
        """The rows that are complete and wanted; the end is among them if it is that of the motion."""
        record, first, stride = self.record, self.setting.first, self._task.wanted.stride
        count = record.done if is_last else record.mark
        last = count - 1 if is_last else count  # what follows begins at the mark
        rows = np.arange(-first % stride, count, stride)
        if is_last and (not rows.size or rows[-1] != count - 1):
            rows = np.append(rows, count - 1)
        if record.contact_report is not None:
            self._finish(record.contact_report, count - 1 if is_last else None)
        end = None if record.end_time is not None else Snapshot.of(self._task.identity, self.setting, self.end())
        setting = self.setting
        if isinstance(self._motion, Pushed):
            record.recorded = {**record.recorded, **self._motion.push_records(record.done)}
            setting = replace(setting, forces=self._motion.forces())
        setting = setting.with_rows(record.recorded, self._count)
        with np.errstate(all="ignore"):
            return trajectory_of(
                setting, record, self.endings, self._watch.occurrences, self._task.wanted, rows,
                float(record.times(last, last + 1)[0]), end,
            )  # fmt: skip

    def _finish(self, report: Array, end: int | None) -> None:
        """The acceleration at the end, from a step that is not kept; motions that have ended stay where they are."""
        if end is not None:
            with np.errstate(all="ignore"):
                report[..., end, :] = self._motion.contact_report(self.record, end)
            report[..., end, 0] = 0.0
        if self.setting.shape and not self.endings.going_on.all():
            report[np.arange(report.shape[-2]) >= self.endings.row[..., None]] = 0.0


def _motion(
    task: Task,
    setting: Setting,
    row: Array,
    begin: int,
    count: int,
    carried: Carried,
    endings: Endings,
    recorded: Carried,
) -> Motion:
    source = _source(task, setting, begin, count, carried, recorded)
    if setting.tolerances is not None:
        from kinetree.sim.adaptive import Adaptive

        setting = setting.with_rows(source.recorded, count)
        return Adaptive(setting, source, count, row, carried, endings.going_on, keeps_steps=bool(task.events))
    if isinstance(source, Samples) and source.period is None:
        return Staged(setting, source, count)
    return Stepper(setting, source, count) if isinstance(source, Known | Samples) else source


def _source(
    task: Task, setting: Setting, begin: int, count: int, carried: Carried, recorded: Carried
) -> Known | Samples | ProgramMotion:
    """The torques of a motion, with commands and forces; a program moves the robot itself in steps of fixed length."""

    def piece(known: Any) -> Any:
        return known[..., begin : begin + count, :] if isinstance(known, np.ndarray) else known

    sources: dict[str, Any] = {"tau": piece(task.torques)}
    if task.commands is not None:
        sources["ctrl"] = piece(task.commands)
    for name, controller in sources.items():
        if isinstance(controller, Program):
            from kinetree.sim.controlled import ProgramMotion

            assert task.inputs is not None
            inputs = task.inputs.piece(begin, count, controller)
            if setting.tolerances is not None:
                setting = replace(setting, integrator="", passive=(), limits=False, forces={}, held=(), contact=None)
                carried = {name: x for name, x in carried.items() if not name.startswith(OF_STEPS)}
            besides = None if name == "tau" else sources["tau"]
            return ProgramMotion(setting, controller, inputs, task.period, count, carried, besides, recorded)
    if not task.is_python:
        return Known(side_by_side([*sources.values()]))
    return Samples(setting, {**sources, **task.forces}, task.period, count, carried, recorded)


def at_once(task: Task, progress: Callable[[int, int], None] | None, live: Live | None = None) -> Trajectory:
    """The whole motion, in memory; or until somebody who follows it ends it, who may also let it begin again."""
    pushes = live if task.can_be_pushed else None
    while True:
        piece = task.piece(task.start, task.steps, pushes)
        try:
            piece.run(progress, live)
            if live is None or not live.begins_again:
                return piece.trajectory()
        except KeyboardInterrupt as stop:
            if piece.record.done < 2:
                raise
            raise SimulationInterrupted(piece.trajectory(), task.steps) from stop
        except SimulationError as error:
            if piece.record.done > 1:
                error.trajectory = piece.trajectory()
            raise

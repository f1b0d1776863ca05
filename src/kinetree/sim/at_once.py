"""A motion that is computed in memory, as one piece."""

from __future__ import annotations

from collections.abc import Callable

from kinetree.errors import SimulationError
from kinetree.sim.live import Live
from kinetree.sim.task import Task
from kinetree.sim.trajectory import SimulationInterrupted, Trajectory

__all__ = ["at_once"]


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

"""Derivatives of a task's error that nobody has written out: those of the error as a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinetree.functions.derivatives import jacobian
from kinetree.programs.program import program

if TYPE_CHECKING:
    from kinetree.model import Model

__all__ = ["derivatives_of_error"]


def derivatives_of_error(task: Any, robot: Model, q: Any, target: Any) -> Any:
    """The derivatives (m, nv) by displacements of q; in a program a part of it, and else compiled for each call."""

    def error(q: Any, target: Any) -> Any:
        return task.error(robot, q, target)

    return jacobian(program(error, q=robot, target=task.target_shape(robot)), (q, target), wrt="q")

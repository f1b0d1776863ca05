"""The arguments of a problem's programs: the number of controls, and the values given when it is solved."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.control.optimal.phase import Phase, returned_by
from kinetree.errors import OptionError, ShapeError
from kinetree.model import Model
from kinetree.programs import Argument, Program

__all__ = ["arguments_given", "number_of_controls"]


def number_of_controls(robot: Model, phases: Sequence[Phase], motors: int) -> int:
    """How many controls a step has: one per motor, or as many as all dynamics say."""
    sizes = {motors for phase in phases if phase.dynamics is None}
    for phase in phases:
        for program in (phase.dynamics, phase.cost):
            if program is not None and "u" in program.arguments:
                shape = program.arguments["u"].shape
                if len(shape) != 1:
                    raise ShapeError(f"the program {program.name!r} takes u of shape {shape}; controls are (nu,)")
                sizes.add(shape[0])
    if len(sizes) != 1:
        words = ", ".join(map(str, sorted(sizes))) or "none"
        raise ShapeError(
            f"all programs must have the same number of controls u, not {words}; where {robot.name!r} moves by its own "
            f"equations it has {motors}, one per motor: name those that are meant, as in motors={robot.v_names[:1]}"
        )
    return sizes.pop()


def arguments_given(robot: Model, phases: Sequence[Phase], terminal: Program | None, nu: int) -> dict[str, Argument]:
    """The arguments of programs other than the motion and the results of dynamics."""
    arguments: dict[str, Argument] = {}
    for phase in phases:
        returned = set(returned_by(robot, phase))
        if phase.dynamics is not None:
            _collect(arguments, robot, phase.dynamics, nu, set())
        _collect(arguments, robot, phase.cost, nu, returned)
    if terminal is not None:
        if "u" in terminal.arguments:
            raise OptionError(f"the terminal cost {terminal.name!r} takes u, but the last state has no controls")
        _collect(arguments, robot, terminal, nu, set())
    return arguments


def _collect(arguments: dict[str, Argument], robot: Model, program: Program, nu: int, returned: set[str]) -> None:
    motion = {"t": (), "q": (robot.nq,), "v": (robot.nv,), "u": (nu,)}
    for name, argument in program.arguments.items():
        if name in motion:
            if argument.shape != motion[name]:
                raise ShapeError(
                    f"the program {program.name!r} takes {name} of shape {argument.shape}, but here it is "
                    f"{motion[name]}"
                )
        elif name not in returned and arguments.setdefault(name, argument).shape != argument.shape:
            raise ShapeError(f"programs take {name} of shapes {arguments[name].shape} and {argument.shape}")

"""The matrices of derivatives of a program by the numbers of its inputs, as a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from kinetree.compiler.derived_source import DerivedSource
from kinetree.expr import Joined, Port, Program
from kinetree.records import record

if TYPE_CHECKING:
    from kinetree.compiler.source import Source
    from kinetree.model import Model

__all__ = ["jacobian_program"]


@record(frozen=True, eq=False)
class _Numbers:
    """The part of a `Source` that a derivative reads, of a function of plain numbers."""

    inputs: tuple[Port, ...]
    output: Port
    configurations: Mapping[int, Model]
    subject: str = "the program"


def jacobian_program(program: Program, wrt: Sequence[int]) -> Program:
    """The matrices by the inputs `wrt`, one after another in one output; each has one row per number of all outputs.

    >>> from kinetree.expr import interpret, trace
    >>> product = trace(lambda x, y: [[x[0] * y[0], y[0]]], [Port("x", (1,)), Port("y", (1,))], [Port("z", (2,))], "f")
    >>> interpret(jacobian_program(product, [0, 1]), [3.0], [5.0])
    ([5.0, 0.0, 3.0, 1.0],)
    """
    whole = _with_one_output(program)
    names = tuple(port.name for port in program.inputs)
    of = cast("Source", _Numbers(program.inputs, whole.outputs[0], {}))
    derived = DerivedSource(f"jac_{program.name}", of, names, "jacobian", tuple(names[k] for k in wrt))
    matrices = derived.derivative_of(whole)
    (output,) = matrices.outputs
    return replace(matrices, outputs=(Port(output.name, (output.size,)),))


def _with_one_output(program: Program) -> Program:
    """The numbers of all outputs in one."""
    all_outputs = Port(program.name, (program.output_size,))
    if program.results is not None or len(program.outputs) == 1:
        return replace(program, outputs=(all_outputs,))
    joined, places = Joined(program.name, program.inputs, [all_outputs]), []
    (at,) = joined.outputs
    for port in program.outputs:
        places.append(at)
        at += port.size
    joined.run(program, joined.inputs, places)
    return joined.program()

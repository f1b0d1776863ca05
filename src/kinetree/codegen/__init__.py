"""Programs to code. It sees programs only, and knows no robots.

Code that comes from the disk is loaded without what writes code, so that is imported when it is called.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from kinetree.codegen.builtin import Batches, chain, layout_is_known, make_builtin
from kinetree.codegen.jit import MachineCode, assemble, compile_module
from kinetree.codegen.precision import F32, F64, PRECISIONS, Precision
from kinetree.codegen.target import Target, host
from kinetree.expr import Port, Program

__all__ = [
    "F32",
    "F64",
    "PRECISIONS",
    "Batches",
    "MachineCode",
    "Precision",
    "Target",
    "assemble",
    "batch_function",
    "chain",
    "compile_module",
    "emit",
    "emit_batch",
    "emit_rounds",
    "emit_single",
    "host",
    "layout_is_known",
    "make_builtin",
    "make_ufunc",
]


def emit(program: Program, precision: Precision, target: Target, quaternions: Sequence[tuple[int, int]] = ()) -> str:
    """A module for batches, as text: `kinetree.codegen.llvm.emit`."""
    from kinetree.codegen import llvm

    return llvm.emit(program, precision, target, quaternions)


def emit_batch(
    program: Program, precision: Precision, target: Target, quaternions: Sequence[tuple[int, int]] = ()
) -> str:
    """The same with a C function for small batches: `kinetree.codegen.small_batch.emit_batch`."""
    from kinetree.codegen import small_batch

    return small_batch.emit_batch(program, precision, target, quaternions)


def emit_single(
    program: Program, precision: Precision, target: Target, quaternions: Sequence[tuple[int, int]] = ()
) -> str:
    """A module for one sample, as text: `kinetree.codegen.single.emit_single`."""
    from kinetree.codegen import single

    return single.emit_single(program, precision, target, quaternions)


def emit_rounds(
    program: Program,
    precision: Precision,
    target: Target,
    quaternions: Sequence[tuple[int, int]],
    rows: Sequence[int],
    state: Sequence[int],
    *,
    single: bool,
) -> str:
    """A module that runs a program again and again, for one sample or for batches: `kinetree.codegen.rounds`."""
    from kinetree.codegen import llvm
    from kinetree.codegen.rounds import Rounds
    from kinetree.codegen.single_rounds import single_rounds

    rounds = Rounds(tuple(rows), tuple(state))
    if single:
        return single_rounds(program, precision, target, rounds)
    return llvm.emit(program, precision, target, quaternions, rounds)


def make_ufunc(
    code: MachineCode,
    name: str,
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    precision: Precision,
    flags: "ctypes.Array[ctypes.c_int64] | None" = None,
    rows: Sequence[int] = (),
) -> Callable[..., Any]:
    """A gufunc of a module for batches: `kinetree.codegen.ufunc.make_ufunc`."""
    from kinetree.codegen import ufunc

    return ufunc.make_ufunc(code, name, inputs, outputs, precision, flags, rows)


def batch_function(program: Program, precision: Precision = F64, target: Target | None = None) -> Callable[..., Any]:
    """A program as a gufunc, compiled here and now: `kinetree.codegen.ufunc.batch_function`."""
    from kinetree.codegen import ufunc

    return ufunc.batch_function(program, precision, target)

"""The backend for this processor: machine code by LLVM, kept on disk, behind builtins and gufuncs.

Code from the disk is loaded without the code generator, so the generator is imported only to compile.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree import expr
from kinetree.announcement import announced, learn, phase
from kinetree.codegen.backend import Batch, Kernel
from kinetree.codegen.cpu.builtin import Batches, chain, layout_is_known, make_builtin
from kinetree.codegen.cpu.jit import MachineCode
from kinetree.codegen.cpu.modules import Modules
from kinetree.codegen.cpu.processor import processor
from kinetree.codegen.cpu.ufunc import make_ufunc
from kinetree.codegen.kept.identity import toolchain
from kinetree.codegen.llvm.precision import PRECISIONS
from kinetree.codegen.llvm.target import host
from kinetree.codegen.optimization import Optimization
from kinetree.expr import Argument, Call, Program, values_used
from kinetree.garbage import collector_paused
from kinetree.own_process import can_start_processes

if TYPE_CHECKING:
    from kinetree.codegen.cpu.module import Apart, Written
    from kinetree.codegen.cpu.tensors import TensorBuiltin
    from kinetree.codegen.exchange import Exchange

__all__ = ["CpuKernels"]

Array = np.ndarray[Any, np.dtype[Any]]


class CpuKernels:
    """The functions of one kernel on this processor."""

    def __init__(self, kernel: Kernel) -> None:
        self.quickest: Callable[..., Any] | None = None
        self.bare: Callable[..., Any] | None = None
        self._kernel = kernel
        self._precision = PRECISIONS[kernel.dtype.name]
        self._codes: dict[str, MachineCode] = {}
        self._modules = Modules(self._when, kernel.imported)
        self._pieces: Program | None = None

    @property
    def optimized(self) -> bool:
        return all(waiting.is_over for waiting in self._modules.waiting)

    def optimize(self) -> None:
        self._modules.waiting = [waiting for waiting in self._modules.waiting if not waiting.is_over]
        when = self._when()
        for waiting in self._modules.waiting:
            if when == "now":
                with announced(self._kernel.name, self._kernel.subject):
                    learn(optimized=True)
                    waiting.optimize_now()
            elif when == "background":
                waiting.optimize_later()

    def single(self) -> Callable[..., Any] | None:
        if self._kernel.rows:
            bare = self._ufunc(self._code("single", self._single_rounds_text), None)
            self.bare = bare
            self.optimize()
            return _in_contiguous_arrays(bare)
        if self._kernel.general is None or not layout_is_known():
            return None
        self._codes["single"] = self._code("single", self._single_text)
        made = self._builtin("single", None)
        self.optimize()
        return made

    def batch(self) -> Batch:
        kernel = self._kernel
        flags = (ctypes.c_int64 * 2)() if kernel.quaternions else None
        can_be_small = not kernel.rows and kernel.general is not None and layout_is_known()
        code = self.batch_code()
        made = self._ufunc(code, flags)
        if can_be_small:
            self._codes["batch"] = code
            self._builtin("batch", Batches(kernel.most, kernel.release_from, flags))
        self.optimize()
        return Batch(made, flags)

    def batch_code(self, *, private: bool = False) -> MachineCode:
        """The module that holds `@kernel`, the loop over a batch (batch.py); `private` as for `Modules.code`."""
        return self._code("batch", self._batch_text, private=private)

    def xla_handler(self, threads: int = 1) -> MachineCode:
        """A module whose `handler` XLA calls for batches, on up to this many threads (xla.py)."""
        from kinetree.codegen.cpu.xla import make_handler

        made = make_handler(self._kernel, self.batch_code(private=True), threads)
        self.optimize()
        return made

    def tensor_call(self, exchange: Exchange, owner: object, general: Callable[..., Any]) -> TensorBuiltin | None:
        kernel = self._kernel
        if kernel.rows or kernel.general is None or not layout_is_known():
            return None
        from kinetree.codegen.cpu.tensors import TensorBuiltin

        return TensorBuiltin(kernel, self._codes, exchange, owner, general)

    def text(self) -> str:
        return self._batch_text(None)

    def _batch_text(self, apart: Apart | None) -> str:
        from kinetree.codegen.cpu.module import emit
        from kinetree.codegen.cpu.rounds import Rounds
        from kinetree.codegen.cpu.small_batch import emit_batch

        kernel, program = self._kernel, self._statements()
        if kernel.rows:
            rounds = Rounds(kernel.rows, kernel.state)
            return emit(program, self._precision, host(), kernel.quaternions, rounds, apart)
        if len(kernel.outputs) != 1 or not kernel.outputs[0].size:
            return emit(program, self._precision, host(), kernel.quaternions, apart=apart)
        return emit_batch(
            program, self._precision, host(), kernel.quaternions, kernel.optional, declines_huge=kernel.declines_huge,
            apart=apart,
        )  # fmt: skip

    def _single_text(self, apart: Apart) -> str:
        from kinetree.codegen.cpu.single import emit_single

        kernel = self._kernel
        return emit_single(
            self._statements(), self._precision, host(), kernel.quaternions, kernel.optional,
            declines_huge=kernel.declines_huge, apart=apart,
        )  # fmt: skip

    def _single_rounds_text(self, apart: Apart) -> str:
        from kinetree.codegen.cpu.rounds import Rounds
        from kinetree.codegen.cpu.single_rounds import single_rounds

        rounds = Rounds(self._kernel.rows, self._kernel.state)
        return single_rounds(self._statements(), self._precision, host(), rounds, apart)

    def _statements(self) -> Program:
        program = self._kernel.program()
        if self._pieces is None:
            with phase("lowering"):
                self._pieces = expr.in_pieces(program)
        learn(statements=program.size())
        if self._when() == "now":
            learn(alive=_alive(self._pieces))
        return self._pieces

    def _when(self) -> Optimization:
        """When code is optimised: at once if this process can start no other that does it."""
        when = self._kernel.optimize()
        return "now" if when == "background" and not can_start_processes() else when

    def _code(self, variant: str, text: Callable[[Apart], str], *, private: bool = False) -> MachineCode:
        """The code of a module; `variant` distinguishes modules, and `private` is as for `Modules.code`.

        `optimize` is called when all that the code needs has been filled in.
        """

        @phase("writing")
        def written() -> Written:
            from kinetree.codegen.cpu.module import Apart, Written

            apart = Apart()
            return Written(text(apart), apart.modules)

        tools = toolchain(processor(), self._kernel.imported)
        with announced(self._kernel.name, self._kernel.subject), collector_paused():
            return self._modules.code(
                lambda tier: None if tools is None else self._kernel.key(tools, f"{tier}{variant}"), written,
                private=private,
            )  # fmt: skip

    def _ufunc(self, code: MachineCode, flags: ctypes.Array[ctypes.c_int64] | None) -> Callable[..., Any]:
        kernel = self._kernel
        return make_ufunc(code, kernel.name, kernel.inputs, kernel.outputs, self._precision, flags, kernel.rows)

    def _builtin(self, variant: str, batches: Batches | None) -> Callable[..., Any] | None:
        """The builtin of a module; the quickest way in is now that of one sample, and then that of small batches."""
        kernel, codes = self._kernel, self._codes
        assert kernel.general is not None
        about = f"{kernel.owner!r}; see kinetree.{kernel.name}."
        zeros = [np.zeros(kernel.inputs[k].shape, kernel.dtype) for k in kernel.optional]
        made = make_builtin(
            codes[variant], kernel.name, about, kernel.owner, kernel.general, kernel.inputs, self._precision, batches,
            zeros,
        )  # fmt: skip
        if len(codes) == 2:
            chain(codes["single"], codes["batch"])
        if made is not None and (variant == "single" or "single" not in codes):
            self.quickest = made
        return made


def _alive(program: Program) -> float:
    """How many values wait for their last use, on average over all statements of a program and of those that it calls.

    LLVM's optimiser takes the longer for a statement the more there are, since it shares the registers out among them.
    """
    programs, waits, statements = [program], 0, 0
    known = {id(program)}
    for one in programs:
        last: dict[Argument, int] = {}
        for k, s in enumerate(one.body.all_statements()):
            for value in s.defines:
                waits -= k
                last[value] = k
            last.update((value, k) for value in values_used(s) if type(value) is int and value in last)
            statements += 1
            if isinstance(s, Call) and id(s.program) not in known:
                known.add(id(s.program))
                programs.append(s.program)
        waits += sum(last.values())
    return waits / max(statements, 1)


def _in_contiguous_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one sample that can only write into a contiguous array apart from its arguments.

    Like a builtin, it does not warn.
    """

    def one(*arrays: Array, out: Array | None) -> Array:
        fits = out is not None and out.flags.carray and not any(np.may_share_memory(x, out) for x in arrays)
        with np.errstate(all="ignore"):
            result: Array = function(*arrays, out=out if fits else None)
        if out is None or fits:
            return result
        out[...] = result
        return out

    return one

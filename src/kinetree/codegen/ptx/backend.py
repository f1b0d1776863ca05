"""Kernels for graphics processors as PTX: made when they are first asked for, or taken from the disk."""

from __future__ import annotations

import functools
from typing import Any

from kinetree.announcement import announced, learn, phase
from kinetree.codegen.backend import Kernel
from kinetree.codegen.kept.cache import kept
from kinetree.codegen.kept.identity import toolchain
from kinetree.codegen.llvm.arc_tangent import arc_tangent
from kinetree.codegen.llvm.elementary import sincos
from kinetree.codegen.llvm.exponentials import exponentials
from kinetree.codegen.llvm.layout import Layout
from kinetree.codegen.llvm.operations import declarations
from kinetree.codegen.llvm.philox import philox
from kinetree.codegen.llvm.precision import PRECISIONS, Lanes, Precision
from kinetree.codegen.llvm.sample import SampleWriter
from kinetree.codegen.llvm.target import Target
from kinetree.codegen.ptx.gather import gather
from kinetree.codegen.ptx.kernel import BLOCK, REGISTERS, entry_name, kernel
from kinetree.codegen.ptx.logarithm import LOGARITHM
from kinetree.errors import OptionError
from kinetree.expr import Program, in_pieces

__all__ = ["MOST_LOCAL", "PtxKernel", "assembly", "gather_text", "gpu", "module"]


class PtxKernel:
    """The text of one kernel, and the data of a launch."""

    def __init__(self, kernel: Kernel, block: int = BLOCK, registers: int = REGISTERS) -> None:
        """`block`: threads in a block; `registers`: the most that a thread has."""
        self.entry: str = entry_name(kernel.name)
        self.sizes: list[int] = [port.size for port in (*kernel.inputs, *kernel.outputs)]
        """The numbers of one sample in each input and output."""
        self.block = block
        self._kernel = kernel
        self._registers = registers
        self._target = gpu()

    def text(self) -> str:
        """The PTX."""
        tools = toolchain(("ptx", self._target.cpu, self.block, self._registers), self._kernel.imported)
        key = None if tools is None else self._kernel.key(tools, "ptx")
        return kept(key, self._assembled).decode()

    def _assembled(self) -> bytes:
        with announced(self._kernel.name, self._kernel.subject), phase("writing"):
            text = self.module()
            learn(characters=len(text), optimized=True)
            with phase("compiling"):
                return assembly(text, self._target).encode()

    def module(self) -> str:
        """The module that becomes PTX, in LLVM's language."""
        kernel = self._kernel
        return module(
            kernel.program(),
            PRECISIONS[kernel.dtype.name],
            self._target,
            self.entry,
            block=self.block,
            registers=self._registers,
        )


def gather_text(size: int, imported: float) -> str:
    """The PTX that makes arrays of numbers of this many bytes contiguous (gather.py); `imported` as in `Kernel`."""
    target = gpu()
    key = toolchain(("ptx", target.cpu, "gather", size), imported)
    return kept(key, lambda: assembly(gather(size), target).encode()).decode()


_LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"


def module(
    program: Program,
    precision: Precision,
    target: Target,
    name: str,
    *,
    block: int = BLOCK,
    registers: int = REGISTERS,
) -> str:
    """A module that holds the kernel of a program, by this name, and its callees; the rest as for `kernel`."""
    program = in_pieces(program)
    writer, register = SampleWriter(program, precision, target, 1, zeros=True), Lanes(1, precision)
    sample = writer.text()
    if writer.kept:
        size = Layout(program).scratch * precision.bytes
        raise OptionError(
            f"{program.name} needs {size:,} bytes of memory for one sample, and a thread of a graphics processor has "
            f"{target.stack:,}"
        )
    return "\n".join(
        [
            f'target triple = "{target.triple}"',
            f'target datalayout = "{_LAYOUT}"',
            declarations(register),
            sincos(register) if "@sincos" in sample else "",
            arc_tangent(register) if "@arc_tangent" in sample else "",
            philox(register) if "@philox" in sample else "",
            exponentials(register) if "@exponential" in sample or "@hyperbolic" in sample else "",
            LOGARITHM if "@log(" in sample else "",
            sample,
            kernel(program, precision, name, block, registers),
            "!1 = !{}",
            "attributes #0 = { nounwind }",
            "attributes #1 = { nounwind alwaysinline }",
        ]
    )


OLDEST = "sm_75"
"""Turing, of 2018: the oldest architecture of the current driver, which translates its PTX for every later one."""
MOST_LOCAL = 512 << 10
"""Bytes of memory that a thread can have for itself."""


def gpu(architecture: str = OLDEST) -> Target:
    """A target of one lane: a thread."""
    return Target(
        "nvptx64-nvidia-cuda", architecture, "", 1, fma=True, stack=MOST_LOCAL, angles_at_once=False, fences=False
    )


def assembly(text: str, target: Target) -> str:
    """The PTX of a module. No pass here changes arithmetic: functions are inlined, and memory becomes registers."""
    llvm = _llvm()
    module = llvm.parse_assembly(text)
    machine = llvm.Target.from_triple(target.triple).create_target_machine(cpu=target.cpu, features="", opt=2)
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    return str(machine.emit_assembly(module))


@functools.cache
def _llvm() -> Any:
    """LLVM, with all the processors that it knows."""
    import llvmlite.binding

    llvmlite.binding.initialize_all_targets()
    llvmlite.binding.initialize_all_asmprinters()
    return llvmlite.binding

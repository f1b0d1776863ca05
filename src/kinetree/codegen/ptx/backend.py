"""Kernels for graphics processors as PTX: made when they are first asked for, or taken from the disk."""

from __future__ import annotations

from kinetree.announcement import announced, learn, phase
from kinetree.codegen.backend import Kernel
from kinetree.codegen.kept.cache import kept
from kinetree.codegen.kept.identity import toolchain
from kinetree.codegen.llvm.precision import PRECISIONS
from kinetree.codegen.ptx.gather import gather
from kinetree.codegen.ptx.kernel import BLOCK, REGISTERS, entry_name
from kinetree.codegen.ptx.module import module
from kinetree.codegen.ptx.target import assembly, gpu

__all__ = ["PtxKernel", "gather_text"]


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

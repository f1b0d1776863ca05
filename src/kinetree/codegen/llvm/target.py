"""The processor that code is made for: its name and features, its lanes, whether it fuses multiply-adds."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from kinetree.codegen.llvm.memory import ON_STACK
from kinetree.codegen.llvm.precision import Precision
from kinetree.records import record

if TYPE_CHECKING:  # code from the disk needs no LLVM, whose import takes longer than everything else
    import llvmlite.binding as llvm

__all__ = ["Target", "host"]


@record(frozen=True, slots=True)
class Target:
    """A processor. Targets narrower than the host are for tests and for other machines."""

    triple: str
    cpu: str
    features: str
    vector_bits: int
    fma: bool
    stack: int = ON_STACK
    """Bytes of working memory that a function has on its stack; more comes from the heap."""
    angles_at_once: bool = True
    """Whether one call computes the sines of all inputs that need them; a graphics processor inlines them instead."""
    fences: bool = True
    """Whether a fence between the instructions of one thread costs nothing."""

    @property
    def rounds(self) -> bool:
        """Whether it has an instruction that rounds to whole numbers: all have, except x86 before SSE4.1."""
        return "+sse4.1" in self.features or not self.triple.startswith(("x86_64", "amd64", "i"))

    def lanes(self, precision: Precision) -> int:
        """Number of samples in a register."""
        return self.vector_bits // precision.bits

    def machine(self, *, optimized: bool = True) -> llvm.TargetMachine:
        """A newly created LLVM machine for this target. Without LLVM's optimisation it takes a tenth of the time to
        make code that takes about twice the time to run, with the same bits."""
        llvm = _llvm()
        return llvm.Target.from_triple(self.triple).create_target_machine(
            cpu=self.cpu, features=self.features, opt=2 if optimized else 0, reloc="pic", codemodel=self._code_model,
            jit=True,
        )  # fmt: skip

    @property
    def _code_model(self) -> str:
        """Whether code refers to numbers and functions by whole addresses or by short distances.

        LLVM's linker loads object files of all systems, but ends the process on short distances of macOS on ARM, if a
        function is more than 128 MB away, and on those of Windows, if an operand and a number follow each other.
        """
        return "large" if "apple" in self.triple or "windows" in self.triple else "small"


@functools.cache
def host() -> Target:
    """The processor this process runs on."""
    llvm = _llvm()
    features = llvm.get_host_cpu_features()
    triple = llvm.get_process_triple()
    cpu = llvm.get_host_cpu_name()
    if triple.startswith(("x86_64", "amd64")):
        bits = 512 if features.get("avx512f") else 256 if features.get("avx") else 128
        return Target(triple, cpu, features.flatten(), bits, bool(features.get("fma")))
    # AArch64 and whatever else LLVM knows: 128-bit vectors; AArch64 always fuses.
    return Target(triple, cpu, features.flatten(), 128, triple.startswith(("aarch64", "arm64")))


@functools.cache
def _llvm() -> Any:
    """LLVM, ready to generate code for this processor."""
    import llvmlite.binding

    # Code that is not optimised would be selected number by number, and each fused multiply-add in the slower way.
    llvmlite.binding.set_option("kinetree", "-fast-isel=false")
    llvmlite.binding.initialize_native_target()
    llvmlite.binding.initialize_native_asmprinter()
    return llvmlite.binding

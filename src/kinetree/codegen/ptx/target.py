"""The graphics processors that PTX is written for, and LLVM's way from a module to PTX."""

from __future__ import annotations

import functools
from typing import Any

from kinetree.codegen.llvm.target import Target

__all__ = ["MOST_LOCAL", "OLDEST", "assembly", "gpu"]

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

"""Machine code that is quick to compile: LLVM neither orders it well nor shares registers well.

Everything that kinetree does is as for users: the modules in LLVM's language, their loading, the arrays that they take;
so is the arithmetic, to the last bit. Only the instructions chosen for it are others. What LLVM makes of the modules
for users is compiled and run by the tests of `AS_SHIPPED`, for made robots and real ones.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from kinetree.codegen.llvm.target import Target

__all__ = ["AS_SHIPPED", "quick_code", "takes_quick_code"]

AS_SHIPPED = (
    *("backends", "golden", "unit/codegen", "unit/threads"),
    *("oracles/test_mujoco.py", "oracles/test_pinocchio.py"),
)
"""Folders and files of tests about code and its numbers, which is compiled as it is for users."""
_HERE = Path(__file__).parent


def takes_quick_code(test: Path) -> bool:
    """Whether the tests of a file can do with code that is quick to compile, as most can."""
    known = platform.machine() in ("x86_64", "AMD64")  # elsewhere LLVM has another code generator for it
    return known and not any(_HERE / place in (test, *test.parents) for place in AS_SHIPPED)


@contextmanager
def quick_code() -> Iterator[None]:
    """What is compiled for robots and programs in here is quick to compile, and is kept in a folder of its own."""
    how = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]  # keys of code name only its source and target
    place = os.path.join(os.environ["KINETREE_CACHE_DIR"], f"quick-{how}")
    compiler = patch("kinetree.codegen.cpu.backend.compile_module", _compile_quickly)
    with compiler, patch.dict(os.environ, KINETREE_CACHE_DIR=place):
        yield


def _compile_quickly(text: str, target: Target) -> bytes:
    import llvmlite.binding as llvm

    features = target.features
    if "@exact_angles(<1 x" in text:  # without its optimisation LLVM cannot pass a mask of one lane in AVX-512
        features += ",-avx512f"
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=features, opt=0, reloc="pic", codemodel="small", jit=True
    )
    code: bytes = machine.emit_object(llvm.parse_assembly(text))
    return code

"""Kernels for graphics processors, run by threads of this computer: the same module, but for the few words of it that
only a graphics processor knows."""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kinetree.codegen.cpu.jit import MachineCode, compile_module
from kinetree.codegen.llvm.target import host

__all__ = ["GraphicsProcessor"]

_WORDS = (
    (r"^target .*\n", ""),
    (r"^declare .* @llvm\.nvvm\..*\n", ""),
    (r"^!nvvm\.annotations.*\n.*\n", ""),
    (r"^define ptx_kernel void @\w+\((.*)\) \{", r"define void @kernel(\1, i32 %own, i32 %group, ptr %wait) {"),
    (r"call i32 @llvm\.nvvm\.read\.ptx\.sreg\.tid\.x\(\)", "add i32 %own, 0"),
    (r"call i32 @llvm\.nvvm\.read\.ptx\.sreg\.ctaid\.x\(\)", "add i32 %group, 0"),
    (r"call void @llvm\.nvvm\.barrier0\(\)", "call void %wait()"),
)


class GraphicsProcessor:
    """A kernel, to be launched: blocks one after another, the threads of a block at once, with true barriers."""

    def __init__(self, module: str, block: int) -> None:
        for pattern, replacement in _WORDS:
            module, found = re.subn(pattern, replacement, module, flags=re.MULTILINE)
            assert found or replacement == "call void %wait()", pattern
        assert "nvvm" not in module
        self._code = MachineCode(compile_module(module, host()))
        self._block = block

    def launch(self, grid: int, parameters: Sequence[int]) -> None:
        """Run a grid of blocks; pointers and numbers as they are."""
        barrier = threading.Barrier(self._block)
        wait = ctypes.CFUNCTYPE(None)(lambda: barrier.wait(60) and None)
        types = [ctypes.c_int64] * len(parameters) + [ctypes.c_int32] * 2
        kernel = ctypes.CFUNCTYPE(None, *types, type(wait))(self._code.address("kernel"))
        with ThreadPoolExecutor(self._block) as pool:
            for group in range(grid):
                runs = [pool.submit(kernel, *parameters, own, group, wait) for own in range(self._block)]
                for run in runs:
                    run.result()

    def run(self, arrays: Sequence[np.ndarray], sizes: Sequence[int], result: np.ndarray) -> np.ndarray:
        """Inputs (count, n), or (n,) for all samples, of these n, into a result (count, …)."""
        parameters = []
        for x, size in zip(arrays, sizes, strict=True):
            parameters += [x.ctypes.data, size if x.ndim == 2 else 0]
        count = len(result)
        self.launch(-(-count // self._block), [*parameters, result.ctypes.data, count])
        return result

"""A builtin for the tensors of a library, which computes in them without Python or NumPy's arrays."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from ctypes import c_int64
from typing import Any

from kinetree.codegen.backend import Kernel
from kinetree.codegen.cpu.c_function import address_of, c_function
from kinetree.codegen.cpu.jit import MachineCode
from kinetree.codegen.cpu.tensor_call import TENSOR_CALL
from kinetree.codegen.cpu.tensor_reading import Task
from kinetree.codegen.cpu.views import expect, same_for_all
from kinetree.codegen.exchange import FLOAT, Exchange

__all__ = ["TensorBuiltin"]


class TensorBuiltin:
    """The builtin `call` of one kernel for a library's tensors of its dtype.

    Calls that it does not take (tensor_call.py) go unchanged to `general`. It compiles nothing: as long as the code for
    one sample, or for batches, is not there, `general` has those calls too.
    """

    def __init__(
        self,
        kernel: Kernel,
        codes: Mapping[str, MachineCode],
        exchange: Exchange,
        owner: object,
        general: Callable[..., Any],
    ) -> None:
        """`codes`: the modules "single" and "batch" of the kernel, as far as they have been made. `owner` is as for
        `make_builtin`."""
        self._codes = codes
        self._code = code = same_for_all(TENSOR_CALL, kernel)
        self._task = task = Task.from_address(code.data_address("task"))
        tracked = sys.intern(exchange.tracked)
        functions, python = exchange.functions, ctypes.pythonapi
        task.read, task.allocate, task.wrap = functions.read, functions.allocate, functions.wrap
        task.first_type, task.second_type = map(id, exchange.types)
        task.tracked, task.recording, task.altered = id(tracked), id(exchange.recording), id(exchange.altered)
        task.number, task.false, task.general = id(float), id(False), id(general)
        task.vectorcall, task.attribute = address_of(python.PyObject_Vectorcall), address_of(python.PyObject_GetAttr)
        task.release, task.clear = address_of(python.Py_DecRef), address_of(python.PyErr_Clear)
        task.exception = address_of(python.PyErr_Occurred)
        task.release_lock, task.take_lock = (
            address_of(python.PyEval_SaveThread),
            address_of(python.PyEval_RestoreThread),
        )
        self._expect(kernel)
        about = f"{owner!r}: its way in for tensors of {kernel.dtype}."
        self.call: Callable[..., Any] = c_function(
            code, kernel.name, about, owner, general, kernel.inputs, tracked, exchange, out_is_taken=False
        )
        self.refresh()

    def refresh(self) -> None:
        """Use the machine code that is there now."""
        for field, variant, function in (("one", "single", "one"), ("kernel", "batch", "kernel")):
            if getattr(self._task, field) is None and variant in self._codes:
                code = self._codes[variant]
                self._code.keep(code)
                code.put(function, ctypes.addressof(self._task) + getattr(Task, field).offset)

    def then(self, other: TensorBuiltin) -> None:
        """Let a builtin for another dtype, with the same owner and general function, try other calls."""
        self._code.keep(other._code)
        self._task.next = other._code.address("call")

    def _expect(self, kernel: Kernel) -> None:
        """The tensors as they must be."""
        ports, task = [*kernel.inputs, *kernel.outputs], self._task
        task.inputs, task.arrays = len(kernel.inputs), ctypes.addressof(expect(kernel, self._code))
        task.step_bytes = ctypes.sizeof(c_int64) * sum(1 + len(port.shape) for port in ports)
        task.bytes = kernel.dtype.itemsize
        task.dtype = FLOAT | 8 * task.bytes << 8 | 1 << 16
        task.most, task.release_from = kernel.most, kernel.release_from

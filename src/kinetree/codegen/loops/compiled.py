"""Machine code of such functions: made when they are first called, and those of kinetree kept on disk."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from kinetree.codegen.cpu.jit import MachineCode
from kinetree.codegen.cpu.processor import processor
from kinetree.codegen.kept.cache import kept_module
from kinetree.codegen.kept.identity import assembler, toolchain
from kinetree.codegen.loops.instructions import results_of
from kinetree.codegen.loops.kinds import ArrayKind, parameters, parts
from kinetree.codegen.loops.translate import module_text
from kinetree.locks import preparing

__all__ = ["compiled", "prepared"]

_IMPORTED = time.time()


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator: the function as machine code. The original is `function.__wrapped__`, and computes the same.

    Its arguments are as annotated: numbers, arrays in C order that do not overlap, and records of them. While it runs,
    other threads do too.
    """
    made: list[_Compiled] = []

    @functools.wraps(function)
    def call(*given: Any) -> Any:
        return code()(*given)

    def code() -> _Compiled:
        if not made:
            with preparing:  # threads that draw together need it at the same moment
                if not made:
                    made.append(_Compiled(function))
        return made[0]

    call.code = code  # type: ignore[attr-defined]
    return call


def prepared(function: Callable[..., Any], *given: Any) -> Callable[[], None]:
    """A call of a compiled function with these arguments, which are checked once; it reads the arrays when it runs."""
    code: _Compiled = function.code()  # type: ignore[attr-defined]
    call = functools.partial(code.called, code.packed(given))
    call.arrays = given  # type: ignore[attr-defined]  # they live as long as it does
    return call


class _Compiled:
    """Machine code that takes arrays and numbers."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._kinds = [kind for p in parameters(function) for _, kind in parts(*p) if not isinstance(kind, type)]
        if results_of(function):
            raise TypeError(f"{self._name} has results, but functions called from outside put them into arrays")
        is_ours = function.__module__.partition(".")[0] == __name__.partition(".")[0]
        tools = toolchain(processor(), _IMPORTED) if is_ours else None  # it knows the text of our functions only
        key = None if tools is None else hashlib.sha256(b"loops" + tools + self._name.encode()).digest()
        self._code = MachineCode(
            kept_module(key, assembler("loops", processor(), _IMPORTED), lambda: _text(function), _object_code)
        )
        layout = ("4q" if isinstance(kind, ArrayKind) else "d" if kind == "double" else "q" for kind in self._kinds)
        self._pack = struct.Struct("".join(layout)).pack
        self.called = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(self._code.address("called"))

    def __call__(self, *given: Any) -> None:
        self.called(self.packed(given))

    def packed(self, given: Sequence[Any]) -> bytes:
        """The arguments as the machine code takes them, each of eight bytes."""
        flat: list[Any] = []
        for x, kind in zip(_fields(given), self._kinds, strict=True):
            if not isinstance(kind, ArrayKind):
                flat.append(x)
                continue
            if x.dtype != kind.dtype or not x.flags.carray or not 1 <= x.ndim <= 3:
                raise TypeError(
                    f"{self._name}: an array of {kind.dtype} in C order, of 1 to 3 axes, is needed, not one of "
                    f"{x.dtype} and shape {x.shape}"
                )
            flat += [_address(x), *(*x.shape, 1, 1)[:3]]
        return self._pack(*flat)


def _fields(given: Iterable[Any]) -> Iterator[Any]:
    """The arrays and numbers of arguments and of the records among them."""
    for x in given:
        if isinstance(x, tuple):
            yield from _fields(x)
        else:
            yield x


def _address(x: Any) -> int:
    """Where an array begins; `x.ctypes.data` says the same in four times the time."""
    address: int = ctypes.addressof(ctypes.c_char.from_buffer(x)) if x.size else x.ctypes.data
    return address


def _text(function: Callable[..., Any]) -> str:
    from kinetree.codegen.llvm.target import host

    return module_text(function, host().triple)


def _object_code(text: str) -> bytes:
    import llvmlite.binding as llvm

    from kinetree.codegen.llvm.target import host

    machine = host().machine()
    module = llvm.parse_assembly(text)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    made: bytes = machine.emit_object(module)
    return made

"""Compile LLVM IR to machine code, and load machine code into this process.

LLVM is imported only to compile, or when kinetree's own loader does not know a file: code from the disk is ready long
before the import would finish. The loader, and NumPy with it, is imported only to load.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from kinetree.announcement import learn, phase
from kinetree.codegen.llvm.operations import LIBM
from kinetree.codegen.llvm.target import Target, host
from kinetree.locks import replacing

__all__ = ["MachineCode", "assemble", "compile_module", "compiled_apart"]

Structure = TypeVar("Structure")

_FROM_LIBM = (*LIBM.values(), "fma", "fmaf")
_FROM_C = ("malloc", "free", "memset", "memcpy", "memmove")
_FROM_PYTHON = (
    *("PyGILState_Ensure", "PyGILState_Release", "PyErr_NoMemory"),
    *("Py_DecRef", "PyCapsule_IsValid", "PyCapsule_GetPointer"),
)
_FROM_WINDOWS = ("__chkstk",)
"""Called at the start of functions on Windows whose variables take more than a page of the stack."""


@phase("compiling")
def compile_module(text: str, target: Target | None = None, *, optimized: bool = True) -> bytes:
    """The relocatable object file of a module. It contains no address of this process, so it can be kept on disk.

    Without LLVM's optimisation it is compiled in a tenth of the time, runs in about twice the time, and gives the same
    bits.
    """
    import llvmlite.binding as llvm

    learn(characters=len(text))
    target = target or host()
    module = llvm.parse_assembly(text)
    if "windows" in target.triple:  # LLVM's linker ends the process if a table of unwinding is below the code in memory
        for function in module.functions:
            function.add_function_attribute("nounwind")
    object_code: bytes = target.machine(optimized=optimized).emit_object(module)
    return object_code


def compiled_apart(text: str) -> tuple[None, bytes]:
    """The optimised code of a module, as a process of its own returns it (`OwnProcess`)."""
    return None, compile_module(text)


class MachineCode:
    """An object file loaded into this process, which another one of the same module can replace while it runs.

    All code that it has ever loaded lives as long as this object, since a thread may still be in it.
    """

    def __init__(self, object_code: bytes, target: Target | None = None, *, optimized: bool = True) -> None:
        self.optimized: bool = optimized
        """Whether LLVM has optimised the code that runs from the next call on."""
        self._target = target
        self._kept: list[object] = []
        self._places: list[tuple[str, Callable[[], int]]] = []
        self._called: list[MachineCode] = []
        self._filled: dict[str, int] = {}
        self._engine = self._loaded(object_code)

    def _loaded(self, object_code: bytes) -> _Loaded:
        from kinetree.codegen.cpu.loader import UnknownObjectError, load

        engine: _Loaded
        try:
            engine = load(object_code, _address_of)
        except UnknownObjectError:
            engine = _llvm_engine(object_code, self._target or host())
        if free := engine.get_function_address("free_memory"):
            weakref.finalize(self, _call, engine, free).atexit = False
        return engine

    def keep(self, used: object) -> None:
        """Keep alive for as long as the code an object that the code refers to by address."""
        self._kept.append(used)

    def address(self, name: str) -> int:
        """Address of a function of the module; 0 if it has none of that name. `put` it where others will call it."""
        return self._engine.get_function_address(name)

    def data_address(self, name: str) -> int:
        """Address of a global variable of the module; 0 if it has none of that name."""
        return self._engine.get_global_value_address(name)

    def variable(self, name: str, structure: type[Structure]) -> Structure:
        """A global variable of the module, to be filled in. Code that replaces this begins with its value."""
        its_type: Any = structure
        self._filled[name] = ctypes.sizeof(its_type)
        filled: Structure = its_type.from_address(self.data_address(name))
        return filled

    def put(self, name: str, place: int | Callable[[], int]) -> None:
        """Write the address of a function to a place in memory, now and whenever other code replaces this.

        `place`: the address of an aligned pointer, which is read at each call; or a function that returns it, if it is
        in code that may be replaced as well, or 0 when that is gone.
        """
        with replacing:
            self._places = [one for one in self._places if one[1]()]
            self._places.append((name, place if callable(place) else lambda: place))
            self._write(*self._places[-1])

    def replace(self, object_code: bytes) -> None:
        """Let the optimised object file of the same module take the calls that begin from now on.

        It begins with the values of the variables that were filled in; nothing but `put` may change these meanwhile.
        """
        engine = self._loaded(object_code)
        with replacing:
            if self.optimized:
                return
            for name, size in self._filled.items():
                ctypes.memmove(engine.get_global_value_address(name), self.data_address(name), size)
            self._kept.append(self._engine)
            self._engine, self.optimized = engine, True
            for place in self._places:
                self._write(*place)

    def _write(self, name: str, place: Callable[[], int]) -> None:
        if at := place():
            ctypes.c_void_p.from_address(at).value = self.address(name)

    def with_called(self) -> Iterator[MachineCode]:
        """This module and those of the shared programs that it calls."""
        yield self
        for made in self._called:
            yield from made.with_called()

    def link(self, find: Callable[[bytes], MachineCode]) -> None:
        """Fill in the addresses of the shared programs that it calls, whose modules `find` gives by the hashes of their
        texts."""
        count = self.data_address("called_count")
        if not count:
            return
        rows = self.variable("called", _Row * ctypes.c_int64.from_address(count).value)
        own = weakref.ref(self)
        for k, row in enumerate(rows):

            def place(k: int = k) -> int:
                code = own()
                return 0 if code is None else code.data_address("called") + k * ctypes.sizeof(_Row)

            self._called.append(find(bytes(row.text)))
            self._called[-1].put("shared", place)


class _Row(ctypes.Structure):
    """A row of the table of shared programs, as `codegen.llvm.sample` writes it."""

    _fields_ = (("address", ctypes.c_void_p), ("text", ctypes.c_ubyte * 32))


class _Loaded(Protocol):
    """An object file in memory, loaded by kinetree's loader or by LLVM's."""

    def get_function_address(self, name: str, /) -> int: ...

    def get_global_value_address(self, name: str, /) -> int: ...


def _llvm_engine(object_code: bytes, target: Target) -> _Loaded:
    """The object file, loaded by LLVM."""
    import llvmlite.binding as llvm

    for name in (*_FROM_LIBM, *_FROM_C, *_FROM_PYTHON, *_FROM_WINDOWS):
        if address := _address_of(name):
            llvm.add_symbol(name, address)
    # An engine needs a module; compiling even an empty one would take longer than loading the code.
    nothing = llvm.parse_assembly("")
    engine: _Loaded = (made := llvm.create_mcjit_compiler(nothing, target.machine()))
    made.remove_module(nothing)
    made.add_object_file(llvm.ObjectFileRef.from_data(object_code))
    made.finalize_object()
    return engine


def _call(_: object, address: int) -> None:
    ctypes.CFUNCTYPE(None)(address)()


def assemble(text: str, target: Target) -> str:
    """The assembly text of a module for any target that LLVM supports; nothing is run."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return str(target.machine().emit_assembly(llvm.parse_assembly(text)))


@functools.cache
def _address_of(name: str) -> int | None:
    """Address of a function that the code may call, wherever this platform keeps it; None if it is not one of these."""
    if (library := _library_of(name)) is None:
        return None
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value


def _library_of(name: str) -> ctypes.CDLL | None:
    if name in _FROM_PYTHON:
        return ctypes.pythonapi
    if sys.platform == "win32":
        if name in _FROM_WINDOWS:
            return ctypes.CDLL("ntdll")
        # Python's own C library; msvcrt, an older one, has no fma, and Python's library exports none of these.
        return ctypes.CDLL("ucrtbase") if name in (*_FROM_LIBM, *_FROM_C) else None
    if name in _FROM_C:
        return ctypes.pythonapi
    return _mathematical_library() if name in _FROM_LIBM else None


def _mathematical_library() -> ctypes.CDLL:
    if sys.platform == "linux":
        with suppress(OSError):  # C libraries other than GNU's use another name
            return ctypes.CDLL("libm.so.6")
    from ctypes.util import find_library  # it may run other programs to find the library

    return ctypes.CDLL(find_library("m"))

"""Load object code without LLVM, for x86-64 Linux: a linker's work, for the few kinds of file that LLVM writes here.

Importing LLVM takes longer than everything else a first call waits for when its code is on disk. Anything not known
here is left to LLVM's own linker (`jit.py`), which is the reference: both give the same bits.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import struct
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.codegen.cpu.elf import (
    GOT_RELATIVE,
    R_64,
    R_PC32,
    R_PC64,
    R_PLT32,
    ObjectFile,
    Relocations,
    Section,
    UnknownObjectError,
    read_object,
)

__all__ = ["Image", "UnknownObjectError", "executable", "has_loader", "load"]

_ENTRY = struct.Struct("<Q6s2x")
"""Entry of the table of external symbols: an address, and a jump to it, since a call reaches only 2 GB."""
_JUMP = b"\xff\x25\xf2\xff\xff\xff"  # jmp [rip - 14]: to the address before it


class Image:
    """An object file in memory. The memory is released when nothing holds the image.

    Code and constants are readable and executable, variables readable and writable; no page is both writable and
    executable.
    """

    def __init__(self, memory: mmap.mmap, functions: dict[str, int], variables: dict[str, int]) -> None:
        # Not unmapped by a finalizer: in a cycle, other finalizers may still call the code after this one has run.
        self._memory = memory
        self._functions, self._variables = functions, variables

    def get_function_address(self, name: str) -> int:
        """Address of a function; 0 if it does not exist."""
        return self._functions.get(name, 0)

    def get_global_value_address(self, name: str) -> int:
        """Address of a global variable; 0 if it does not exist."""
        return self._variables.get(name, 0)


def has_loader() -> bool:
    """Whether this process can load code without LLVM.

    >>> isinstance(has_loader(), bool)
    True
    """
    return sys.platform == "linux" and os.uname().machine == "x86_64" and struct.calcsize("P") == 8


def load(object_code: bytes, find: Callable[[str], int | None]) -> Image:
    """Load an object file. `find` gives the address of an external symbol by name, None if unknown.

    Raises:
        UnknownObjectError: the file or this system has something that this loader does not know.
    """
    if not has_loader():
        raise UnknownObjectError("this loader is for Linux on x86-64")
    file = read_object(object_code)
    tabled = _tabled(file)
    places, table, code_end, end = _layout(file.sections, len(tabled))
    try:
        memory = mmap.mmap(-1, max(end, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError, ValueError) as error:
        raise UnknownObjectError(f"there is no memory for it: {error}") from None
    for k, section in file.sections.items():
        memory[places[k] : places[k] + len(section.data)] = section.data
    image = np.frombuffer(memory, np.uint8)
    start: int = image.__array_interface__["data"][0]

    addresses = _symbol_addresses(file, start, places, find)
    for n, k in enumerate(tabled):
        if addresses[k] is None:
            raise UnknownObjectError(f"symbol {k} stands nowhere")
        memory[table + n * _ENTRY.size : table + (n + 1) * _ENTRY.size] = _ENTRY.pack(addresses[k], _JUMP)
    entries = {k: start + table + n * _ENTRY.size for n, k in enumerate(tabled)}
    for relocations in file.relocations:
        _relocate(image, start, places[relocations.section], relocations, file, addresses, entries)
    _protect(start, code_end)

    functions, variables = {}, {}
    for name, k in file.exported.items():
        section, address = file.sections[file.symbol_section[k]], addresses[k]
        assert address is not None
        if section.executable:
            functions[name] = address
        elif section.writable:
            variables[name] = address
    return Image(memory, functions, variables)


def executable(code: bytes) -> Image:
    """Load machine code without external references, as the function "code".

    Raises:
        UnknownObjectError: the system does not allow it.
    """
    memory = mmap.mmap(-1, max(len(code), 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[: len(code)] = code
    start: int = np.frombuffer(memory, np.uint8).__array_interface__["data"][0]
    _protect(start, len(code))
    return Image(memory, {"code": start}, {})


def _tabled(file: ObjectFile) -> list[int]:
    """The symbols that need an entry in the table: external ones, and those whose address the code reads from it."""
    read = (r.symbol[np.isin(r.kind, GOT_RELATIVE)].tolist() for r in file.relocations)
    return sorted({*file.needed, *(k for found in read for k in found)})


def _layout(sections: dict[int, Section], entries: int) -> tuple[dict[int, int], int, int, int]:
    """Offsets of the sections and of the table, and the ends of the code and constants and of everything."""
    places, at = {}, 0
    for k, section in sections.items():
        if not section.writable:
            places[k] = at = _up(at, section.alignment)
            at += section.size
    table = _up(at, _ENTRY.size)
    code_end = table + entries * _ENTRY.size
    at = _up(code_end, mmap.PAGESIZE)
    for k, section in sections.items():
        if section.writable:
            places[k] = at = _up(at, section.alignment)
            at += section.size
    return places, table, code_end, at


def _symbol_addresses(
    file: ObjectFile, start: int, places: dict[int, int], find: Callable[[str], int | None]
) -> list[int | None]:
    """Addresses of all symbols; None for those that are not in memory."""
    addresses: list[int | None] = [
        start + places[section] + at if section > 0 else None
        for section, at in zip(file.symbol_section, file.symbol_at, strict=True)
    ]
    for k, name in file.needed.items():
        addresses[k] = find(name)
        if not addresses[k]:
            raise UnknownObjectError(f"{name} is not known")
    return addresses


def _relocate(
    image: np.ndarray[Any, np.dtype[np.uint8]],
    start: int,
    place: int,
    relocations: Relocations,
    file: ObjectFile,
    addresses: list[int | None],
    entries: dict[int, int],
) -> None:
    """Write all addresses that a section needs into it; it is at image[place]."""
    for kind in set(relocations.kind.tolist()):
        of_kind = relocations.kind == kind
        symbols = relocations.symbol[of_kind].tolist()
        if kind in GOT_RELATIVE:
            found = [entries[k] for k in symbols]
        elif kind == R_PLT32:
            found = [entries[k] + 8 if k in file.needed else addresses[k] for k in symbols]
        elif kind in (R_64, R_PC32, R_PC64):
            found = [addresses[k] for k in symbols]
        else:
            raise UnknownObjectError(f"relocations of kind {kind} are not known")
        if None in found:
            raise UnknownObjectError("a relocation is of a symbol that stands nowhere")
        at = place + relocations.at[of_kind]
        values = np.array(found, np.int64) + relocations.addend[of_kind]
        if kind != R_64:
            values -= start + at
        width = 8 if kind in (R_64, R_PC64) else 4
        if width == 4 and not ((values >= -(1 << 31)) & (values < 1 << 31)).all():
            raise UnknownObjectError("something stands too far away")
        written = values.astype(f"<i{width}").view(np.uint8).reshape(-1, width)
        image[at[:, None] + np.arange(width)] = written


def _protect(start: int, size: int) -> None:
    """Make the memory readable and executable, no longer writable."""
    if size > 0 and _mprotect()(start, size, mmap.PROT_READ | mmap.PROT_EXEC) != 0:
        raise UnknownObjectError(f"memory cannot be made executable: {os.strerror(ctypes.get_errno())}")


@functools.cache
def _mprotect() -> Callable[[int, int, int], int]:
    prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, use_errno=True)
    return prototype(("mprotect", ctypes.CDLL(None)))


def _up(at: int, alignment: int) -> int:
    return -(-at // alignment) * alignment

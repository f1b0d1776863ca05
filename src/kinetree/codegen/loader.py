"""Object code into this process without LLVM, for x86-64 Linux: what a linker does, for the few files LLVM writes us.

Importing LLVM takes longer than everything else a first call waits for when its code is on disk. What is not known
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

from kinetree.codegen.elf import (
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
"""Of the table of what stands elsewhere: its address, and a jump there, since a call reaches 2 GB and no farther."""
_JUMP = b"\xff\x25\xf2\xff\xff\xff"  # jmp [rip - 14]: to the address before it


class Image:
    """An object file in memory. The memory is given back when nothing holds the image.

    Code and constants can be read and run, variables read and written; no page can be written and run.
    """

    def __init__(self, memory: mmap.mmap, functions: dict[str, int], variables: dict[str, int]) -> None:
        # Not unmapped by a finalizer: in a cycle, those of others may still call the code after ours have run.
        self._memory = memory
        self._functions, self._variables = functions, variables

    def get_function_address(self, name: str) -> int:
        """Where a function stands; 0 if there is none."""
        return self._functions.get(name, 0)

    def get_global_value_address(self, name: str) -> int:
        """Where a global variable stands; 0 if there is none."""
        return self._variables.get(name, 0)


def has_loader() -> bool:
    """Whether this process can load code without LLVM.

    >>> isinstance(has_loader(), bool)
    True
    """
    return sys.platform == "linux" and os.uname().machine == "x86_64" and struct.calcsize("P") == 8


def load(object_code: bytes, find: Callable[[str], int | None]) -> Image:
    """An object file, loaded. `find` gives the address of what stands elsewhere by its name, None if it knows none.

    Raises:
        UnknownObjectError: there is something in it, or in this system, that this loader does not know.
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
    """Machine code that refers to nothing, as the function "code".

    Raises:
        UnknownObjectError: the system does not allow it.
    """
    memory = mmap.mmap(-1, max(len(code), 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[: len(code)] = code
    start: int = np.frombuffer(memory, np.uint8).__array_interface__["data"][0]
    _protect(start, len(code))
    return Image(memory, {"code": start}, {})


def _tabled(file: ObjectFile) -> list[int]:
    """The symbols whose addresses must stand in the table: from elsewhere, or read from there by the code."""
    read = (r.symbol[np.isin(r.kind, GOT_RELATIVE)].tolist() for r in file.relocations)
    return sorted({*file.needed, *(k for found in read for k in found)})


def _layout(sections: dict[int, Section], entries: int) -> tuple[dict[int, int], int, int, int]:
    """Where each section and the table stand, where code and constants end, and where everything does."""
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
    """Of every symbol; None for those that stand nowhere."""
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
    """Write into a section, which stands at image[place], all addresses it asks for."""
    for kind in set(relocations.kind.tolist()):
        chosen = relocations.kind == kind
        symbols = relocations.symbol[chosen].tolist()
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
        at = place + relocations.at[chosen]
        values = np.array(found, np.int64) + relocations.addend[chosen]
        if kind != R_64:
            values -= start + at
        width = 8 if kind in (R_64, R_PC64) else 4
        if width == 4 and not ((values >= -(1 << 31)) & (values < 1 << 31)).all():
            raise UnknownObjectError("something stands too far away")
        written = values.astype(f"<i{width}").view(np.uint8).reshape(-1, width)
        image[at[:, None] + np.arange(width)] = written


def _protect(start: int, size: int) -> None:
    """Let the memory be read and run, no longer written."""
    if size > 0 and _mprotect()(start, size, mmap.PROT_READ | mmap.PROT_EXEC) != 0:
        raise UnknownObjectError(f"memory cannot be made executable: {os.strerror(ctypes.get_errno())}")


@functools.cache
def _mprotect() -> Callable[[int, int, int], int]:
    prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, use_errno=True)
    return prototype(("mprotect", ctypes.CDLL(None)))


def _up(at: int, alignment: int) -> int:
    return -(-at // alignment) * alignment

"""Parse an ELF object file for x86-64, sections, symbols and relocations, taking nothing for granted.

A file that differs from those that LLVM writes for this package is rejected, not interpreted: every number is checked
before it is used. Names and numbers are those of the System V ABI and its supplement for x86-64.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

__all__ = ["GOT_RELATIVE", "ObjectFile", "Relocations", "Section", "UnknownObjectError", "read_object"]

_HEADER = struct.Struct("<4s5B7xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("at", "<u8"), ("size", "<u8")]
)
_RELOCATION = np.dtype([("at", "<u8"), ("kind", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])

_PROGBITS, _SYMTAB, _STRTAB, _RELA, _NOBITS, _REL, _UNWIND = 1, 2, 3, 4, 8, 9, 0x70000001
_WRITE, _ALLOC, _EXECUTE, _MERGE, _STRINGS, _INFO_LINK = 1, 2, 4, 16, 32, 64
_KNOWN_FLAGS = _WRITE | _ALLOC | _EXECUTE | _MERGE | _STRINGS | _INFO_LINK
_NO_SECTION, _LARGEST_SECTION = 0, 0xFF00  # larger numbers have special meanings
_LOCAL, _FILE = 0, 4  # a symbol's binding, a symbol's type
_PAGE = 4096
_MOST = 1 << 30
"""Maximum bytes of a section, and maximum distance of an addend: sums of a few stay far below 2⁶³."""

R_64, R_PC32, R_PLT32, R_GOTPCREL, R_PC64, R_GOTPCRELX, R_REX_GOTPCRELX = 1, 2, 4, 9, 24, 41, 42
GOT_RELATIVE = (R_GOTPCREL, R_GOTPCRELX, R_REX_GOTPCRELX)


class UnknownObjectError(Exception):
    """The loader does not know this kind of object file; LLVM may."""


class Section(NamedTuple):
    """A piece of memory the code needs."""

    data: memoryview
    """Empty if the memory is initially zero."""
    size: int
    alignment: int
    writable: bool
    executable: bool


class Relocations(NamedTuple):
    """Places in one section that depend on load addresses: `at`, `kind`, `symbol` and `addend`, each (n,)."""

    section: int
    at: np.ndarray[Any, np.dtype[np.int64]]
    kind: np.ndarray[Any, np.dtype[np.int64]]
    symbol: np.ndarray[Any, np.dtype[np.int64]]
    addend: np.ndarray[Any, np.dtype[np.int64]]


class ObjectFile(NamedTuple):
    """The part of the file that is loaded. Symbol k is `symbol_at[k]` bytes into section `symbol_section[k]`."""

    sections: dict[int, Section]
    symbol_section: list[int]
    """0 for external symbols, -1 for symbols that are not in memory."""
    symbol_at: list[int]
    exported: dict[str, int]
    """The symbols that can be looked up, by name."""
    needed: dict[int, str]
    """The names of the external symbols."""
    relocations: list[Relocations]


def read_object(file: bytes) -> ObjectFile:
    """Parse an object file.

    Raises:
        UnknownObjectError: it is for another system or processor, is damaged, or contains something not known here.
    """
    headers = _section_headers(file)
    sections = {k: _section(file, k, header) for k, header in enumerate(headers) if _is_loaded(header)}
    tables = [k for k, header in enumerate(headers) if header.kind == _SYMTAB]
    _require(len(tables) == 1, "it has not one table of symbols")
    symbols = np.frombuffer(_contents(file, headers[tables[0]]), _SYMBOL)
    _require(0 < len(symbols) < _MOST, "it has no symbols")
    _require(headers[tables[0]].link < len(headers), "names stand nowhere")
    names = headers[headers[tables[0]].link]
    _require(names.kind == _STRTAB, "names are not in a table of strings")
    strings = bytes(_contents(file, names))

    places, offsets, exported, needed = [], [], {}, {}
    rows = zip(*(symbols[field].tolist() for field in ("name", "info", "section", "at", "size")), strict=True)
    for k, (name, info, section, at, size) in enumerate(rows):
        if section == _NO_SECTION and k > 0:
            needed[k] = _name(strings, name)
        elif section in sections:
            _require(at + size <= sections[section].size, f"symbol {k} stands outside its section")
            _require(info & 15 < _FILE, f"symbol {k} is of an unknown kind")
            if info >> 4 != _LOCAL:
                exported[_name(strings, name)] = k
        else:
            section = -1
        places.append(section if k > 0 else -1)
        offsets.append(at)

    relocations = []
    for header in headers:
        if header.kind in (_RELA, _REL) and header.info in sections:
            _require(header.kind == _RELA and header.link == tables[0], "relocations of an unknown kind")
            table = np.frombuffer(_contents(file, header), _RELOCATION)
            relocations.append(_relocations(table, header.info, sections[header.info].size, places))
    return ObjectFile(sections, places, offsets, exported, needed, relocations)


class _SectionHeader(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


def _section_headers(file: bytes) -> list[_SectionHeader]:
    _require(len(file) >= _HEADER.size, "it is too short")
    header = _HEADER.unpack_from(file)
    magic, bits, order, version, system, _, kind, machine, _, _, _, start, _, size, _, _, entry, count, _ = header
    _require(magic == b"\x7fELF", "it is not ELF")
    _require((bits, order, version, system) == (2, 1, 1, 0), "it is for another system")
    _require((kind, machine) == (1, 62), "it is not a relocatable file for x86-64")
    _require(
        (size, entry) == (_HEADER.size, _SECTION.size) and 0 < count < _LARGEST_SECTION,
        "its headers are of another size",
    )
    _require(start + count * _SECTION.size <= len(file), "its sections stand outside it")
    return [_SectionHeader(*_SECTION.unpack_from(file, start + k * _SECTION.size)) for k in range(count)]


def _is_loaded(header: _SectionHeader) -> bool:
    """Whether a section is loaded. Unwind tables are not: no exception passes through this code."""
    return header.flags & _ALLOC != 0 and header.kind != _UNWIND and header.size > 0


def _section(file: bytes, k: int, header: _SectionHeader) -> Section:
    _require(
        header.kind in (_PROGBITS, _NOBITS) and header.flags & ~_KNOWN_FLAGS == 0, f"section {k} is of no known kind"
    )
    writable, executable = header.flags & _WRITE != 0, header.flags & _EXECUTE != 0
    _require(not (writable and executable), f"section {k} is both code and data")
    alignment = max(header.alignment, 1)
    _require(alignment <= _PAGE and alignment & (alignment - 1) == 0, f"section {k} has an unknown alignment")
    _require(header.size <= _MOST, f"section {k} is too large")
    data = memoryview(b"") if header.kind == _NOBITS else _contents(file, header)
    return Section(data, header.size, alignment, writable, executable)


def _contents(file: bytes, header: _SectionHeader) -> memoryview:
    _require(header.offset + header.size <= len(file), "a section stands outside it")
    if header.kind == _SYMTAB:
        _require(header.size % _SYMBOL.itemsize == 0, "its table of symbols is cut off")
    elif header.kind == _RELA:
        _require(header.size % _RELOCATION.itemsize == 0, "a table of relocations is cut off")
    return memoryview(file)[header.offset : header.offset + header.size]


def _name(strings: bytes, start: int) -> str:
    end = strings.find(b"\0", start)
    _require(start < len(strings) and end > start, "a symbol has no name")
    return strings[start:end].decode("ascii", "replace")


def _relocations(table: np.ndarray[Any, Any], section: int, size: int, places: list[int]) -> Relocations:
    at, addend, symbol = table["at"], table["addend"], table["symbol"]
    kind = table["kind"].astype(np.int64)
    width = np.where((kind == R_64) | (kind == R_PC64), 8, 4).astype(np.uint64)
    _require(bool((at <= size).all() and (at + width <= size).all()), "a relocation stands outside its section")
    _require(bool(((addend >= -_MOST) & (addend <= _MOST)).all()), "an addend points too far")
    _require(bool((symbol < len(places)).all()), "a relocation is of no symbol")
    return Relocations(section, at.astype(np.int64), kind, symbol.astype(np.int64), addend.astype(np.int64))


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise UnknownObjectError(otherwise)

"""Parts of a member of a zip archive, wherever they are in it, without unpacking the whole.

A stored member is read in place. A packed one can only be unpacked from its beginning; so while it is, the state of the
unpacking is kept every few megabytes, from where it goes on when an earlier part is asked for.

Source: Deutsch, *DEFLATE Compressed Data Format Specification version 1.3* (RFC 1951): what follows depends on the last
32 KiB alone, which are in zlib's state.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from threading import Lock
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["MemberParts"]

_CHUNK = 2**15
"""Packed bytes unpacked at a time; they may become a thousand times as many."""
_SPACING = 2**23
"""Unpacked bytes between two states that are kept, unless there would be more than `_MOST`."""
_MOST = 256
_BLOCK, _BLOCKS = 2**18, 64
"""Bytes of a block of a packed member, and how many are kept: 16 MiB."""
_LOCAL_HEADER = struct.Struct("<4s22xHH")
"""Its signature, and the lengths of the name and the extra field after it; APPNOTE.TXT, 4.3.7."""


@record(frozen=True, slots=True)
class _State:
    """An unpacking, after so many bytes."""

    unpacked: int
    packed: int
    machine: Any
    last: bytes = b""
    """The bytes that were unpacked last."""


class MemberParts:
    """The bytes of one member. Threads may share it."""

    def __init__(self, file: BinaryIO, info: zipfile.ZipInfo) -> None:
        """Raises `OSError`, `zipfile.BadZipFile`."""
        file.seek(info.header_offset)
        head = file.read(_LOCAL_HEADER.size)
        if len(head) < _LOCAL_HEADER.size or not head.startswith(b"PK\x03\x04"):
            raise zipfile.BadZipFile("a member has no header of its own")
        _, name, extra = _LOCAL_HEADER.unpack(head)
        self.size = info.file_size
        self._start = info.header_offset + _LOCAL_HEADER.size + name + extra
        self._packed, self._crc = info.compress_size, info.CRC
        self._is_stored = info.compress_type == zipfile.ZIP_STORED
        self._spacing = max(_SPACING, self.size // _MOST)
        self._kept = [_State(0, 0, zlib.decompressobj(-zlib.MAX_WBITS))]
        self._now = self._kept[0]
        self._checked, self._sum = 0, 0
        self._blocks: dict[int, NDArray[np.uint8]] = {}
        """Those that were asked for last, the latest at the end."""
        self._lock = Lock()

    def read(self, file: BinaryIO, begin: int, end: int) -> NDArray[np.uint8]:
        """The bytes from `begin` until `end` of the unpacked member.

        Raises `EOFError` if they are not all there, `zlib.error`, `zipfile.BadZipFile`.
        """
        found = np.empty(end - begin, np.uint8)
        if self._is_stored:
            file.seek(self._start + begin)
            if file.readinto(found) < len(found):  # type: ignore[attr-defined]
                raise EOFError("it is cut off")
            return found
        with self._lock:
            if len(found) > _BLOCK:
                self._unpack(file, begin, found)
            else:
                self._put_together(file, begin, found)
        return found

    def _put_together(self, file: BinaryIO, begin: int, found: NDArray[np.uint8]) -> None:
        """Few bytes, from blocks that are kept: the next ones to be asked for are often beside them."""
        end = begin + len(found)
        for number in range(begin // _BLOCK, -(-end // _BLOCK)):
            start = number * _BLOCK
            block = self._blocks.pop(number, None)
            if block is None:
                block = np.empty(min(_BLOCK, self.size - start), np.uint8)
                self._unpack(file, start, block)
            self._blocks[number] = block
            if len(self._blocks) > _BLOCKS:
                del self._blocks[next(iter(self._blocks))]
            low, high = max(begin, start), min(end, start + len(block))
            found[low - begin : high - begin] = block[low - start : high - start]

    def _unpack(self, file: BinaryIO, begin: int, found: NDArray[np.uint8]) -> None:
        end, state = begin + len(found), self._nearest(begin)
        self._now = self._kept[0]  # should anything go wrong below
        file.seek(self._start + state.packed)
        machine, done = state.machine, 0
        while True:
            low = max(begin + done, state.unpacked - len(state.last))
            high = min(end, state.unpacked)
            if high > low:
                skipped = low - (state.unpacked - len(state.last))
                found[low - begin : high - begin] = np.frombuffer(state.last, np.uint8, high - low, skipped)
                done = high - begin
            if done == len(found):
                self._now = state
                return
            packed = file.read(min(_CHUNK, self._packed - state.packed))
            piece = machine.decompress(packed)
            if not packed and not piece:
                raise EOFError("it is cut off")
            state = _State(state.unpacked + len(piece), state.packed + len(packed), machine, piece)
            self._check(state)
            if state.unpacked - self._kept[-1].unpacked >= self._spacing and not machine.eof:
                self._kept.append(_State(state.unpacked, state.packed, machine.copy()))

    def _nearest(self, begin: int) -> _State:
        """The last state before a byte; that of the last reading may go on, others are copied."""
        kept = next(state for state in reversed(self._kept) if state.unpacked <= begin)
        now = self._now
        if now.packed and now.unpacked - len(now.last) <= begin and now.unpacked >= kept.unpacked:
            return now
        return _State(kept.unpacked, kept.packed, kept.machine.copy())

    def _check(self, state: _State) -> None:
        """Add up the archive's checksum as far as the member was unpacked, and compare at its end."""
        if state.unpacked - len(state.last) != self._checked:
            return
        self._sum = zlib.crc32(state.last, self._sum)
        self._checked = state.unpacked
        if self._checked == self.size and self._sum != self._crc:
            raise zipfile.BadZipFile("its checksum is another")

"""Identify this processor without LLVM.

LLVM finds a processor's name and features from its CPUID instruction and from the features that the system enables
(XGETBV). The same instructions are run here, so that whenever LLVM would find something else, these answers differ too.
System files would not do: they leave out features that an older system does not know.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Hashable

from kinetree.codegen.cpu.loader import UnknownObjectError, executable, has_loader

__all__ = ["processor"]

_EAX, _EBX, _ECX, _EDX = 1, 2, 4, 8
_ALL = _EAX | _EBX | _ECX | _EDX
_LEAVES = (
    # Omitted registers differ from core to core or from moment to moment, and say nothing about the instructions.
    (0x00, 0, _EBX | _ECX | _EDX),  # vendor
    (0x01, 0, _EAX | _ECX | _EDX),  # family, model, stepping, features; EBX has the core's number
    (0x07, 0, _ALL),
    (0x07, 1, _ALL),
    (0x07, 2, _ALL),
    (0x0D, 1, _EAX),  # how registers can be saved; the other registers have sizes of the parts in use
    (0x14, 0, _EBX),
    (0x19, 0, _EBX),
    (0x1E, 1, _EAX),  # matrices
    (0x24, 0, _EBX),  # AVX10
    (0x29, 0, _EBX),  # APX
    (0x80000001, 0, _ECX | _EDX),
    (0x80000008, 0, _EBX),
)
_OSXSAVE = 1 << 27  # in ECX of leaf 1: XGETBV may be used

_CPUID = bytes.fromhex(
    "53"  # push rbx
    "89f8"  # mov eax, edi
    "89f1"  # mov ecx, esi
    "4989d0"  # mov r8, rdx
    "0fa2"  # cpuid
    "418900"  # mov [r8], eax
    "41895804"  # mov [r8 + 4], ebx
    "41894808"  # mov [r8 + 8], ecx
    "4189500c"  # mov [r8 + 12], edx
    "5b"  # pop rbx
    "c3"  # ret
)
_XGETBV = bytes.fromhex(
    "31c9"  # xor ecx, ecx
    "0f01d0"  # xgetbv
    "48c1e220"  # shl rdx, 32
    "4809d0"  # or rax, rdx
    "c3"  # ret
)


@functools.cache
def processor() -> Hashable:
    """An identity of this processor, different from those that need other code; equal in every process on it.

    >>> processor() == processor()
    True
    """
    if has_loader():
        try:
            return _answers()
        except (UnknownObjectError, OSError):  # the system refuses to run code that was not read from a file
            pass
    from kinetree.codegen.llvm.target import host

    return host()


def _answers() -> tuple[tuple[int, ...], ...]:
    """The answers of CPUID and XGETBV, one row per leaf."""
    cpuid_code, xgetbv_code = executable(_CPUID), executable(_XGETBV)
    call = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)(
        cpuid_code.get_function_address("code")
    )

    def cpuid(leaf: int, subleaf: int) -> tuple[int, ...]:
        registers = (ctypes.c_uint32 * 4)()
        call(leaf, subleaf, registers)
        return tuple(registers)

    last = {half: cpuid(half, 0)[0] for half in (0, 0x80000000)}  # a leaf beyond the last gives another leaf's answer
    rows = [
        (leaf, subleaf, *(value for k, value in enumerate(cpuid(leaf, subleaf)) if registers & 1 << k))
        for leaf, subleaf, registers in _LEAVES
        if leaf <= last[leaf & 0x80000000]
    ]
    if cpuid(1, 0)[2] & _OSXSAVE:
        xgetbv = ctypes.CFUNCTYPE(ctypes.c_uint64)(xgetbv_code.get_function_address("code"))
        rows.append((xgetbv(),))
    return tuple(rows)

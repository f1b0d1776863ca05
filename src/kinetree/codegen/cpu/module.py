"""Translate a program to LLVM IR: straight-line vector code, one sample per lane.

`@kernel(args, dimensions, steps, data)` has the signature of a NumPy ufunc's inner loop. It walks the batch one group
of lanes at a time: gather the inputs, `@sample` on registers, scatter the outputs. An incomplete last group runs
through the same code, so a sample's result does not depend on its position in the batch.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from kinetree.codegen.cpu.batch import MEMORY, batch_kernel, common_input, needs_heap
from kinetree.codegen.cpu.lanes import lane_copies
from kinetree.codegen.cpu.rounds import Rounds
from kinetree.codegen.llvm.arc_tangent import arc_tangent
from kinetree.codegen.llvm.elementary import sincos
from kinetree.codegen.llvm.exponentials import exponentials
from kinetree.codegen.llvm.memory import memory_functions
from kinetree.codegen.llvm.operations import LIBM, declarations
from kinetree.codegen.llvm.philox import philox
from kinetree.codegen.llvm.precision import Lanes, Precision
from kinetree.codegen.llvm.sample import CALLED, SampleWriter, port_names
from kinetree.codegen.llvm.target import Target
from kinetree.expr import Program

__all__ = ["Apart", "Written", "emit", "sample_module"]

_CACHE = 1 << 24  # bytes of last-level cache that a core can expect


def emit(
    program: Program,
    precision: Precision,
    target: Target,
    quaternions: Sequence[tuple[int, int]] = (),
    rounds: Rounds | None = None,
    apart: Apart | None = None,
) -> str:
    """A module, as text, that holds `@kernel` for this program; `quaternions` and `rounds` as for `batch_kernel`, and
    `apart` as for `sample_module`."""
    lanes = _lanes(program, precision, target)
    kept = [MEMORY] if needs_heap(program, lanes) else []
    common = common_input(program, lanes, quaternions, rounds)
    sample = sample_module(program, precision, target, lanes.count, zeros=False, kept=kept, apart=apart, common=common)
    return "\n".join((sample, lane_copies(lanes), batch_kernel(program, lanes, quaternions, rounds, common)))


def _lanes(program: Program, precision: Precision, target: Target) -> Lanes:
    """As many as a register holds, or fewer if that many samples' memory would overflow the processor's caches: lists,
    which are rarely full, do not count."""
    lanes = target.lanes(precision)
    scratch = sum(array.size for array in program.arrays if array.values is None and not array.most) * precision.bytes
    while lanes > 2 and lanes * scratch > _CACHE:
        lanes //= 2
    return Lanes(lanes, precision)


def sample_module(
    program: Program,
    precision: Precision,
    target: Target,
    lanes: int,
    *,
    zeros: bool,
    kept: Sequence[str] = (),
    apart: Apart | None = None,
    common: int | None = None,
) -> str:
    """The part common to all modules of this program: `@sample` and the functions it calls.

    `zeros` and `common` as for `SampleWriter`; `kept`: further places where memory is kept between calls; `apart` takes
    the shared programs that are called: without it the module has their functions, too.
    """
    row = None if apart is None else partial(apart.row, precision=precision, target=target, lanes=lanes)
    writer = SampleWriter(program, precision, target, lanes, zeros=zeros, apart=row, common=common)
    register = Lanes(lanes, precision)
    sample = writer.text()
    parts = [
        f'target triple = "{target.triple}"',
        declarations(register),
        *(f"declare double @{name}(double)" for name in LIBM.values()),
        sincos(register) if "@sincos" in sample else "",
        arc_tangent(register) if "@arc_tangent" in sample else "",
        philox(register) if "@philox" in sample else "",
        exponentials(register) if "@exponential" in sample or "@hyperbolic" in sample else "",
        memory_functions(*writer.kept, *kept) if writer.kept or kept else "",
        "" if apart is None else apart.table(),
        sample,
        "!1 = !{}",
        'attributes #1 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }',
        # Spilled registers are aligned: with the stack's usual 16 bytes every other one would cross a cache line.
        f"attributes #0 = {{ nounwind alignstack={max(16, register.bytes)} "
        f'"prefer-vector-width"="512" "min-legal-vector-width"="512" }}',
    ]
    return "\n".join(parts)


class Written(NamedTuple):
    """A module as text, and the modules of the shared programs that it calls, by the hashes of their texts."""

    text: str
    called: Mapping[bytes, Callable[[], Written]] = MappingProxyType({})


class Apart:
    """The shared programs that a module calls, in the order of the table `@called`."""

    def __init__(self) -> None:
        self.modules: dict[bytes, Callable[[], Written]] = {}
        """By the hash of each module's text, the function that writes it."""

    def row(self, program: Program, *, precision: Precision, target: Target, lanes: int) -> int:
        """The row of a program."""
        write = partial(_shared_module, program, precision, target, lanes)
        key = id(program), precision.char, target, lanes
        known, digest = _hashes.get(key, (None, b""))
        if known is None or known() is not program:
            written = write()
            digest = hashlib.sha256(written.text.encode()).digest()
            _hashes[key] = weakref.ref(program, lambda _: _hashes.pop(key, None)), digest
            self.modules.setdefault(digest, lambda: written)
        self.modules.setdefault(digest, write)
        return [*self.modules].index(digest)

    def table(self) -> str:
        """The table and its length; nothing if no program is called."""
        if not self.modules:
            return ""
        rows = []
        for digest in self.modules:
            numbers = "".join(f"\\{x:02x}" for x in digest)
            rows.append(f'{CALLED} {{ptr null, [32 x i8] c"{numbers}"}}')
        size = f"[{len(rows)} x {CALLED}]"
        return f"@called = global {size} [{', '.join(rows)}], align 8\n@called_count = global i64 {len(rows)}"


_hashes: dict[tuple[int, str, Target, int], tuple[weakref.ref[Program], bytes]] = {}
"""The hashes of the modules of shared programs, while they live: they are called again, and writing takes long."""


def _shared_module(program: Program, precision: Precision, target: Target, lanes: int) -> Written:
    """The module of a shared program, whose function is `@shared`."""
    apart, names = Apart(), [f"ptr %{name}" for name in port_names(program)]
    sample = sample_module(program, precision, target, lanes, zeros=True, apart=apart)
    ports = ", ".join(names)
    function = f"define void @shared({ports}) #0 {{\n  call void @sample({ports})\n  ret void\n}}\n"
    return Written(f"{sample}\n{function}", apart.modules)

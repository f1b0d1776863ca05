"""The loop over a batch, in LLVM IR.

`@kernel(args, dimensions, steps, data)` has the signature of a NumPy ufunc's inner loop. For one group of lanes at a
time it gathers the inputs, runs `@sample` on registers and scatters the outputs. An incomplete last group runs through
the same code, so a sample's result does not depend on its position in the batch.

Quaternions are checked on the way. Where one may have no direction, the kernel stores 1 into the first of the two
64-bit integers that `data` points to and returns with the rest of the batch not computed: the caller decides. If the
second integer is not zero, the kernel does not check.

Prefetch of the result memory before it is written, in LLVM IR.

A store to a line that is in no near cache waits for the line. The memory that a group of lanes will write is known
before its arithmetic begins, so the lines are requested then and arrive in the meantime.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kinetree.codegen.cpu.blocks import PACKED
from kinetree.codegen.cpu.lanes import port_copies, port_copy
from kinetree.codegen.cpu.rounds import COPY, ROUNDS_END, Rounds, round_count
from kinetree.codegen.cpu.streaming import STREAMED_FROM, can_stream, stream_declarations
from kinetree.codegen.llvm.packing import Packing, packings
from kinetree.codegen.llvm.precision import Lanes
from kinetree.codegen.llvm.sample import port_names
from kinetree.expr import Load, Port, Program, values_used

__all__ = [
    "FEW_QUATERNIONS",
    "MEMORY",
    "batch_kernel",
    "by_port",
    "common_input",
    "directions",
    "has_direction",
    "needs_heap",
    "worth_fetching",
]

MEMORY = "kernel_memory"
"""Where `@kernel` keeps large lane buffers between calls."""
_ON_STACK = 1 << 18  # bytes


def batch_kernel(
    program: Program,
    lanes: Lanes,
    quaternions: Sequence[tuple[int, int]] = (),
    rounds: Rounds | None = None,
    common: int | None = None,
) -> str:
    """Write `@kernel` of a program whose `@sample` has this many lanes, and the copy functions it uses.

    `quaternions` are pairs (port, start) that locate four numbers of an input that need a direction. `rounds`: the
    program is run repeatedly on a group before the next group begins (rounds.py). `common`: as for `SampleWriter`.
    """
    V, width = lanes.numbers, lanes.bytes
    ports = [*program.inputs, *program.outputs]
    buffers: list[str] = []
    pointers: list[str] = []
    gathers: list[str] = []
    row_gathers: list[str] = []
    fetches: list[str] = []
    scatters: list[str] = []
    tables: list[str] = []
    shapes: dict[str, list[tuple[int, ...]]] = {"gather": [], "scatter": [], PACKED: []}
    sizes, packed = _registers(program), packings(program)
    place, on_heap = 0, needs_heap(program, lanes)
    if on_heap:
        size = width * sum(sizes)
        buffers += [
            f"  %memory = call ptr @take(ptr @{MEMORY}, i64 {size})",
            "  %no_memory = icmp eq ptr %memory, null",
            "  br i1 %no_memory, label %nothing, label %work",
            "nothing:",
            "  ret void",
            "work:",
        ]
    step = len(ports)  # the steps of the core axes follow those of the batch
    for k, (port, buffer) in enumerate(zip(ports, port_names(program), strict=True)):
        is_input = k < len(program.inputs)
        is_row = rounds is not None and (k in rounds.rows or not is_input)
        shape, place_in_round = (port.shape[1:], f"%r{k}") if is_row else (port.shape, f"%b{k}")
        if on_heap:
            buffers.append(f"  %{buffer} = getelementptr {V}, ptr %memory, i64 {place}")
        else:
            buffers.append(f"  %{buffer} = alloca {V}, i64 {max(sizes[k], 1)}, align {width}")
        place += sizes[k]
        packing = None if is_input or packed is None else packed[k - len(program.inputs)]
        if packing is not None:
            buffers += _constants(packing, buffer, lanes)
        elif not is_input:  # entries that are always zero are written here, not by `@sample`
            size = port.size * width
            buffers.append(f"  call void @llvm.memset.p0.i64(ptr align {width} %{buffer}, i8 0, i64 {size}, i1 false)")
        pointers += [
            f"  %a{k}_p = getelementptr ptr, ptr %args, i64 {k}",
            f"  %a{k} = load ptr, ptr %a{k}_p",
            f"  %s{k}_p = getelementptr i64, ptr %steps, i64 {k}",
            f"  %s{k} = load i64, ptr %s{k}_p",
            f"  %core{k} = getelementptr i64, ptr %steps, i64 {step + is_row}",
        ]
        if is_row:
            pointers += [
                f"  %turn{k}_p = getelementptr i64, ptr %steps, i64 {step}",
                f"  %turn{k} = load i64, ptr %turn{k}_p",
            ]
        step += len(port.shape)
        if port.size:
            size = port.size * lanes.precision.bytes
            name, table = "gather" if is_input else "scatter", ""
            if packing is not None and not packing.is_plain:
                name, table = PACKED, f", ptr @places{k}"
                tables.append(f"@places{k} = internal constant {_table(packing.places)}")
            if not is_input and can_stream(shape, lanes):
                table += f", i1 %stream{k}"
                pointers += _is_streamed(k, port, lanes.precision.bytes)
            if not is_input and not is_row and worth_fetching(size, lanes.count):
                streamed = f"%stream{k}" if can_stream(port.shape, lanes) else "false"
                fetches += [
                    f"  %f{k}_o = mul i64 %sample, %s{k}",
                    f"  %f{k} = getelementptr i8, ptr %a{k}, i64 %f{k}_o",
                    f"  %f{k}_rows = select i1 {streamed}, i64 0, i64 %rows",  # streamed results are not prefetched
                    f"  call void @fetch(ptr %f{k}, i64 %s{k}, i64 %f{k}_rows, i64 {size})",
                ]
            shapes[name].append(shape)
            copies = scatters if not is_input else row_gathers if is_row else gathers
            if k == common:
                pointers += _is_common(k, port, buffer, lanes.precision.bytes)
                copies.append("  br i1 %is_common, label %gathered, label %gather\ngather:")
            copies += [
                f"  %b{k}_o = mul i64 %sample, %s{k}",
                f"  %b{k} = getelementptr i8, ptr %a{k}, i64 %b{k}_o",
                *(
                    [f"  %r{k}_o = mul i64 %round, %turn{k}", f"  %r{k} = getelementptr i8, ptr %b{k}, i64 %r{k}_o"]
                    * is_row
                ),
                f"  call void {port_copy(name, shape)}("
                f"ptr {place_in_round}, i64 %s{k}, ptr %core{k}, i64 %rows, ptr %{buffer}{table})",
            ]
            if k == common:
                copies.append("  br label %gathered\ngathered:")
    names = port_names(program)
    looks, oks = list[str](), list[str]()
    for k, starts in by_port(quaternions).items():
        if len(starts) > FEW_QUATERNIONS:
            tables.append(directions(f"{k}", starts, lanes))
            oks.append(f"%ok_{names[k]}")
            looks.append(f"  {oks[-1]} = call {lanes.flags} @have_directions_{k}(ptr %{names[k]})")
            continue
        for start in starts:
            oks.append(f"%ok_{names[k]}_{start}")
            looks += _looked_at(names[k], start, lanes)
    streams = any(can_stream(port.shape, lanes) for port in program.outputs)
    new_line = "\n"
    passed = [f"ptr %{name if k != common else 'common'}" for k, name in enumerate(names)]
    passed += ["i1 %is_common"] * (common is not None)
    once = [f"  call void @sample({', '.join(passed)})", *scatters]
    if rounds is None:
        work, after = new_line.join([*fetches, *once]), "%run"
    else:
        work, after = rounds.loop(program, [*row_gathers, *once], names, width), ROUNDS_END
    return f"""
{new_line.join(port_copies(name, of_ports, lanes) for name, of_ports in shapes.items())}
{new_line.join(tables)}
{stream_declarations(lanes) if streams else ""}
{FETCH if fetches else ""}
{COPY if rounds else ""}
define void @kernel(ptr %args, ptr %dimensions, ptr %steps, ptr %data) #0 {{
start:
{new_line.join(buffers)}
  %count = load i64, ptr %dimensions
{round_count(program, rounds) if rounds else ""}
{new_line.join(pointers)}
{_MODE if quaternions else ""}
  br label %first
first:
  br label %loop
loop:
  %sample = phi i64 [0, %first], [%next, {after}]
  %more = icmp slt i64 %sample, %count
  br i1 %more, label %group, label %end
group:
  %left = sub i64 %count, %sample
  %is_last = icmp slt i64 %left, {lanes.count}
  %rows = select i1 %is_last, i64 %left, i64 {lanes.count}
{new_line.join(gathers)}
{new_line.join(looks)}
{_judged(oks, lanes) if quaternions else "  br label %run"}
run:
{work}
  %next = add i64 %sample, {lanes.count}
  br label %loop
end:
{"  call void @llvm.x86.sse.sfence()" if streams else ""}
{f"  call void @give(ptr @{MEMORY}, ptr %memory)" if on_heap else ""}
  ret void
}}
"""


def common_input(
    program: Program, lanes: Lanes, quaternions: Sequence[tuple[int, int]], rounds: Rounds | None
) -> int | None:
    """The largest input that loops read, if copies of it for every lane would not fit in a near cache: weights of a
    neural network. The kernel reads it in place if it is the same for all samples of a batch."""
    values = {a for s in program.body.all_statements() for a in values_used(s)}
    first, sizes = 0, list[tuple[int, int]]()
    read = {s.array for s in program.body.all_statements() if isinstance(s, Load)}
    other = {*by_port(quaternions), *(rounds.rows if rounds else ()), *(rounds.state if rounds else ())}
    for k, port in enumerate(program.inputs):
        is_in_loops = k in read and len(values.intersection(range(first, first + port.size))) <= _FEW_VALUES
        if lanes.count > 1 and port.size * lanes.bytes > _MOST and is_in_loops and k not in other:
            sizes.append((port.size, k))
        first += port.size
    return max(sizes)[1] if sizes else None


def _is_common(k: int, port: Port, buffer: str, size: int) -> list[str]:
    """`%is_common`: whether an input is the same for all samples, and contiguous; `%common`: where it is then read."""
    lines, fits = [f"  %fits{k} = icmp eq i64 %s{k}, 0"], f"%fits{k}"
    for axis, step in enumerate([size * math.prod(port.shape[n + 1 :]) for n in range(len(port.shape))]):
        lines += [
            f"  %step{k}_{axis}_p = getelementptr i64, ptr %core{k}, i64 {axis}",
            f"  %step{k}_{axis} = load i64, ptr %step{k}_{axis}_p",
            f"  %is{k}_{axis} = icmp eq i64 %step{k}_{axis}, {step}",
            f"  %fits{k}_{axis} = and i1 {fits}, %is{k}_{axis}",
        ]
        fits = f"%fits{k}_{axis}"
    return [
        *lines,
        f"  %is_common = and i1 {fits}, true",
        f"  %common = select i1 %is_common, ptr %a{k}, ptr %{buffer}",
    ]


FEW_QUATERNIONS = 16
"""Quaternions of an input up to which they are looked at one after the other; more in a loop."""
_MODE = """\
  %unchecked_p = getelementptr i64, ptr %data, i64 1
  %unchecked_mode = load i64, ptr %unchecked_p
  %is_unchecked = icmp ne i64 %unchecked_mode, 0"""


def has_direction(numbers: Sequence[str], lanes: Lanes, name: str) -> tuple[list[str], str]:
    """Lines, and the instruction for whether quaternions of four registers certainly have a direction."""
    V, total = lanes.numbers, f"%square_{name}_0"
    lines = [f"  %square_{name}_{k} = fmul {V} {x}, {x}" for k, x in enumerate(numbers)]
    for k in range(1, len(numbers)):
        lines.append(f"  %sum_{name}_{k} = fadd {V} {total}, %square_{name}_{k}")
        total = f"%sum_{name}_{k}"
    # A factor of two from the limits, so that the rounding of the sum does not matter.
    limits = np.finfo(lanes.precision.char)
    lines.append(f"  %least_{name} = fcmp oge {V} {total}, {lanes.number(2.0 * float(limits.tiny))}")
    lines.append(f"  %most_{name} = fcmp ole {V} {total}, {lanes.number(0.5 * float(limits.max))}")
    return lines, f"and {lanes.flags} %least_{name}, %most_{name}"


def _looked_at(buffer: str, start: int, lanes: Lanes) -> list[str]:
    """`%ok_…`: the lanes whose four numbers certainly have a direction."""
    name, lines = f"{buffer}_{start}", []
    for j in range(4):
        lines += [
            f"  %at_{name}_{j} = getelementptr {lanes.numbers}, ptr %{buffer}, i64 {start + j}",
            f"  %x_{name}_{j} = load {lanes.numbers}, ptr %at_{name}_{j}",
        ]
    looks, condition = has_direction([f"%x_{name}_{j}" for j in range(4)], lanes, name)
    return [*lines, *looks, f"  %ok_{name} = {condition}"]


def by_port(quaternions: Sequence[tuple[int, int]]) -> dict[int, list[int]]:
    """The starts of the quaternions of each input."""
    starts: dict[int, list[int]] = {}
    for k, start in quaternions:
        starts.setdefault(k, []).append(start)
    return starts


def directions(name: str, starts: Sequence[int], lanes: Lanes) -> str:
    """`@have_directions_…(numbers)`: the lanes whose quaternions all certainly have a direction, found in a loop."""
    V, flags, align = lanes.numbers, lanes.flags, lanes.precision.bytes
    everywhere = "true" if lanes.count == 1 else "splat (i1 true)"
    loads = [
        f"  %p{j} = getelementptr {V}, ptr %first, i64 {j}\n  %x{j} = load {V}, ptr %p{j}, align {align}"
        for j in range(4)
    ]
    looks, condition = has_direction([f"%x{j}" for j in range(4)], lanes, "k")
    return "\n".join(
        [
            f"@quaternions_{name} = internal constant [{len(starts)} x i64] [{', '.join(f'i64 {x}' for x in starts)}]",
            f"define internal {flags} @have_directions_{name}(ptr %numbers) nounwind {{",
            "start:",
            "  br label %loop",
            "loop:",
            "  %k = phi i64 [0, %start], [%next, %look]",
            f"  %all = phi {flags} [{everywhere}, %start], [%both, %look]",
            f"  %more = icmp slt i64 %k, {len(starts)}",
            "  br i1 %more, label %look, label %end",
            "look:",
            f"  %start_p = getelementptr i64, ptr @quaternions_{name}, i64 %k",
            "  %at = load i64, ptr %start_p",
            f"  %first = getelementptr {V}, ptr %numbers, i64 %at",
            *loads,
            *looks,
            f"  %has = {condition}",
            f"  %both = and {flags} %all, %has",
            "  %next = add i64 %k, 1",
            "  br label %loop",
            "end:",
            f"  ret {flags} %all",
            "}",
        ]
    )


def _judged(oks: Sequence[str], lanes: Lanes) -> str:
    """Branch to `%run` if all quaternions of all lanes certainly have a direction; else set the flag and return."""
    lines, all_ok = [], oks[0]
    for n, ok in enumerate(oks[1:]):
        lines.append(f"  %all_{n} = and {lanes.flags} {all_ok}, {ok}")
        all_ok = f"%all_{n}"
    return "\n".join(
        [
            *lines,
            f"  %bits = bitcast {lanes.flags} {all_ok} to i{lanes.count}",
            f"  %are_fine = icmp eq i{lanes.count} %bits, -1",
            "  %go_on = or i1 %are_fine, %is_unchecked",
            "  br i1 %go_on, label %run, label %doubt",
            "doubt:",
            "  store i64 1, ptr %data",
            "  br label %end",
        ]
    )


def needs_heap(program: Program, lanes: Lanes) -> bool:
    """Whether the lane buffers are too large for the stack."""
    return lanes.bytes * sum(_registers(program)) > _ON_STACK


def _registers(program: Program) -> list[int]:
    """Number of registers in the buffer of each port."""
    packed = packings(program)
    outputs = [port.size for port in program.outputs] if packed is None else [len(p.values) for p in packed]
    return [port.size for port in program.inputs] + outputs


def _constants(packing: Packing, buffer: str, lanes: Lanes) -> list[str]:
    """Store once values that are the same for all samples."""
    V, lines = lanes.numbers, []
    for n, value in enumerate(packing.values):
        if not isinstance(value, int):
            place = f"%{buffer}_{n}"
            lines.append(f"  {place} = getelementptr {V}, ptr %{buffer}, i64 {n}")
            lines.append(f"  store {V} {lanes.number(value)}, ptr {place}")
    return lines


def _is_streamed(k: int, port: Port, size: int) -> list[str]:
    """Whether a result is too large for the caches and all of its numbers are aligned."""
    return [
        f"  %large{k} = icmp uge i64 %count, {-(-STREAMED_FROM // (port.size * size))}",
        f"  %address{k} = ptrtoint ptr %a{k} to i64",
        f"  %either{k} = or i64 %address{k}, %s{k}",
        f"  %odd{k} = and i64 %either{k}, {size - 1}",
        f"  %aligned{k} = icmp eq i64 %odd{k}, 0",
        f"  %stream{k} = and i1 %large{k}, %aligned{k}",
    ]


def _table(numbers: Sequence[int]) -> str:
    return f"[{len(numbers)} x i32] [{', '.join(f'i32 {n}' for n in numbers)}]"


_LINE = 64
_LEAST = 512
"""Bytes of result per sample from which prefetching pays; the processor itself predicts shorter rows."""
_FEW_VALUES = 64
"""Numbers of an input that is read in loops which may also be used outside of them."""
_MOST = 32 << 10
"""Maximum bytes of a group's results, so that they fit in a near cache during the arithmetic."""

FETCH = f"""
declare void @llvm.prefetch.p0(ptr, i32 immarg, i32 immarg, i32 immarg)
define internal void @fetch(ptr %array, i64 %row_stride, i64 %rows, i64 %bytes) #0 {{
start:
  %any = icmp sgt i64 %rows, 0
  br i1 %any, label %row, label %end
row:
  %k = phi i64 [0, %start], [%next_row, %row_end]
  %offset = mul i64 %k, %row_stride
  %first = getelementptr i8, ptr %array, i64 %offset
  br label %line
line:
  %at = phi i64 [0, %row], [%next, %line]
  %p = getelementptr i8, ptr %first, i64 %at
  call void @llvm.prefetch.p0(ptr %p, i32 1, i32 3, i32 1)
  %next = add i64 %at, {_LINE}
  %more = icmp slt i64 %next, %bytes
  br i1 %more, label %line, label %row_end
row_end:
  %next_row = add i64 %k, 1
  %more_rows = icmp slt i64 %next_row, %rows
  br i1 %more_rows, label %row, label %end
end:
  ret void
}}
"""
"""`@fetch(array, row_stride, rows, bytes)`: prefetch this many bytes of each row for writing."""


def worth_fetching(size: int, lanes: int) -> bool:
    """Whether a result of this many bytes per sample is prefetched."""
    return size >= _LEAST and size * lanes <= _MOST

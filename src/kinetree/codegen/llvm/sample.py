"""The arithmetic of one sample in LLVM IR: a program as `@sample`, on registers that hold one sample per lane.

`@sample` takes one pointer per port. Number k of a port is k registers from there; with one lane that is an ordinary
array of numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby, islice

from kinetree.codegen.llvm.layout import Layout
from kinetree.codegen.llvm.operations import Operations
from kinetree.codegen.llvm.packing import packings
from kinetree.codegen.llvm.precision import Lanes, Precision, whole_numbers
from kinetree.codegen.llvm.target import Target
from kinetree.expr import (
    PHILOX,
    Append,
    Argument,
    Block,
    Call,
    Each,
    Entry,
    Index,
    Instruction,
    Load,
    Loop,
    Program,
    Range,
    Store,
    Switch,
    Term,
    Walk,
    values_used,
)

__all__ = ["CALLED", "MEMORY", "SampleWriter", "port_names"]

CALLED = "{ptr, [32 x i8]}"
"""A row of `@called`: the address of a shared program's function, filled in when the module is loaded, and the hash of
the text of its module."""

_FEW = 8
"""Maximum number of zero results that are stored one by one."""
_TWICE = 500
"""Statements in a loop up to which it is written twice, if it reads numbers that all lanes may share; of a longer one
the loops and loads inside are."""
_WINDOW = 64
"""Loads and stores that LLVM may put in another order among themselves: it compares all of them with each other, and
with more at a time the code is no quicker (decision 0034)."""
MEMORY = "sample_memory"
"""Where `@sample` keeps its memory between calls, if it needs more than the stack holds."""


class SampleWriter:
    """Writes `@sample`, and a similar function for each program that is called."""

    def __init__(
        self,
        program: Program,
        precision: Precision,
        target: Target,
        lanes: int,
        *,
        zeros: bool,
        name: str = "sample",
        by_value: frozenset[int] = frozenset(),
        apart: Callable[[Program], int] | None = None,
        common: int | None = None,
    ) -> None:
        """`zeros`: whether every result is stored at its entry; otherwise results are packed, and the caller has
        already stored the constants. `by_value`: the inputs that are passed as numbers instead of pointers to them.
        `apart` gives the row of the table `@called` for a shared program, whose code is in a module of its own; None:
        it is in this one. `common`: an input that the caller may pass as numbers that all lanes share; a last argument,
        `%is_common`, says whether it does."""
        self._program = program
        self._precision = precision
        self._target = target
        self._lanes = lanes
        self._zeros = zeros
        self._name = name
        self._layout = Layout(program, lanes)
        self._tables = [whole_numbers(table) for table in program.tables]
        """The bits of the numbers in each table of whole numbers, and the table as text."""
        self._called: dict[int, tuple[Program, str, frozenset[int]]] = {}
        """Programs that are called, the names of their functions, and the inputs that these take as numbers."""
        self._apart = apart
        self._common = common
        self._reads_common: bool | None = None
        """Whether that input is common in the part that is being written; None where either may be so."""
        # With 256-bit registers an instruction can take a whole register from memory, but not one number for all its
        # lanes: so constants are in a table, one register each. Wider and narrower registers do not need this.
        self._constants: dict[str, int] | None = {} if lanes * precision.bits == 256 else None
        self._register = Lanes(lanes, precision)
        self._V = self._register.numbers
        self._width = lanes * precision.bytes
        self._entry: list[str] = []
        self._lines: list[str] = []
        self._emit = self._lines.append
        self._window = _WINDOW
        self._operations = Operations(self._register, target, self._constant, self._emit)
        self._pairs: dict[int, int] = {}
        """Locations of the sine and cosine of the inputs that are computed first."""
        self._names: dict[int, str] = {}
        """Registers of values, by their names."""
        self._counters: list[str] = []
        """Counters of the enclosing loops."""
        self._known: list[dict[object, str]] = [{}]
        """Values that the enclosing blocks have already computed: places, and sines with their cosines."""
        self._fresh = 0
        self._statements = [*program.body.all_statements()]
        self._by_value = by_value
        calls = [s.program for s in self._statements if isinstance(s, Call)]
        self._shares_ports = sum(p.input_size + p.output_size for p in calls) * self._width > target.stack
        self._shared: dict[int, int] = {}
        """Sizes of the memory that all calls share, by number of the port."""

    @property
    def needs_heap(self) -> bool:
        """Whether more memory is needed than the stack holds."""
        return self._layout.scratch * self._width > self._target.stack

    def text(self) -> str:
        program, V, width = self._program, self._V, self._width
        self._memory()
        self._angles()
        self._inputs()
        if program.results is None and (self._zeros or self._reads_outputs):
            for k, port in enumerate(program.outputs):
                self._clear(f"%out{k}", port.size * width)
        self._block(program.body)
        for k, results in enumerate(self._results()):
            cleared = self._zeros and sum(map(_is_zero, results)) > _FEW
            if cleared:  # one store each would take LLVM long
                self._clear(f"%out{k}", len(results) * width)
            for n, result in enumerate(results):
                if isinstance(result, int) or (self._zeros and not (cleared and _is_zero(result))):
                    self._emit(f"  %r{k}_{n} = getelementptr {V}, ptr %out{k}, i64 {n}")
                    self._access(f"  store {V} {self._value(result)}, ptr %r{k}_{n}, align {width}")
        if self.needs_heap:
            self._emit(f"  call void @give(ptr @{self._kept}, ptr %memory)\n  br label %end\nend:")
        parameters = ", ".join(self._parameters())
        for k, size in self._shared.items():
            self._entry.append(f"  %shared{k} = alloca {V}, i64 {size}, align {width}")
        body = "\n".join((*self._entry, *self._lines))
        function = f"define internal void @{self._name}({parameters}) #0 {{\n{body}\n  ret void\n}}\n"
        return "\n".join((*self._called_functions(), self._globals(), function))

    def _parameters(self) -> Iterator[str]:
        value = 0
        for k, port in enumerate(self._program.inputs):
            if k in self._by_value:
                yield from (f"{self._V} %v{n}" for n in range(value, value + port.size))
            else:
                yield f"ptr noalias %in{k}"
            value += port.size
        yield from (f"ptr noalias %out{k}" for k in range(len(self._program.outputs)))
        if self._common is not None:
            yield "i1 %is_common"

    @property
    def _reads_outputs(self) -> bool:
        inputs = len(self._program.inputs)
        outputs = range(inputs, inputs + len(self._program.outputs))
        return any(isinstance(s, Load) and s.array in outputs for s in self._statements)

    @property
    def _kept(self) -> str:
        return MEMORY if self._name == "sample" else f"{self._name}_{MEMORY}"

    @property
    def kept(self) -> list[str]:
        """Names of the places where memory is kept, of this function and of those it calls."""
        own = [self._kept] if self.needs_heap else []
        return own + [k for writer in self._writers for k in writer.kept]

    def _called_functions(self) -> Iterable[str]:
        self._writers = [
            SampleWriter(
                program,
                *(self._precision, self._target, self._lanes),
                zeros=True,
                name=name,
                by_value=by_value,
                apart=self._apart,
            )
            for program, name, by_value in self._called.values()
        ]
        return [writer.text() for writer in self._writers]

    def _globals(self) -> str:
        """Constants of every kind, as globals of the module."""
        t, lines = self._precision.type, []
        if self._constants:
            rows = ", ".join(f"{self._V} splat ({t} {literal})" for literal in self._constants)
            size = f"[{len(self._constants)} x {self._V}]"
            lines.append(f"@{self._name}_constants = internal global {size} [{rows}], align {self._width}")
        if self._layout.constants:
            numbers = self._precision.table(self._layout.constants)
            lines.append(f"@{self._name}_numbers = internal constant {numbers}")
        for k, (_, numbers) in enumerate(self._tables):
            lines.append(f"@{self._name}_table{k} = internal constant {numbers}")
        return "\n".join(lines)

    def _results(self) -> Iterable[Sequence[Argument]]:
        """The final contents of each output's buffer, if the body does not store it."""
        packed = packings(self._program) or ()
        return [[p.values[place] for place in p.places] if self._zeros else p.values for p in packed]

    # What comes before the first statement.

    def _memory(self) -> None:
        size = self._layout.scratch * self._width
        if not size:
            return
        if self.needs_heap:
            self._emit(f"  %memory = call ptr @take(ptr @{self._kept}, i64 {size})")
            self._emit("  %no_memory = icmp eq ptr %memory, null\n  br i1 %no_memory, label %end, label %work\nwork:")
        else:
            self._entry.append(f"  %memory = alloca i8, i64 {size}, align 64")
        self._clear("%memory", self._layout.cleared * self._width)

    def _clear(self, pointer: str, size: int) -> None:
        if size:
            align = self._precision.bytes
            self._emit(f"  call void @llvm.memset.p0.i64(ptr align {align} {pointer}, i8 0, i64 {size}, i1 false)")

    def _inputs(self) -> None:
        used = {a for s in self._statements for a in values_used(s) if isinstance(a, int)}
        used.update([a for a in self._program.results or () if isinstance(a, int)])
        for k, port in enumerate(self._program.inputs):
            first = len(self._names)
            values = {n: first + n for n in range(port.size) if first + n in used and k not in self._by_value}
            self._names.update((value, f"%v{value}") for value in range(first, first + port.size))
            if k == self._common:
                registers = self._either(partial(self._read_all, k, [Index(n) for n in values]))
                self._names.update(zip(values.values(), registers, strict=True))
                continue
            for n, value in values.items():
                self._emit(f"  %p{value} = getelementptr {self._V}, ptr %in{k}, i64 {n}")
                self._access(f"  %v{value} = load {self._V}, ptr %p{value}, align {self._width}")

    def _angles(self) -> None:
        """Compute the sines and cosines of inputs first and all at once, where each call costs all registers."""
        if not self._target.angles_at_once:
            return
        wanted = {s.args[0] for s in self._statements if isinstance(s, Instruction) and s.op in ("sin", "cos")}
        value, pairs = 0, 0
        calls: list[str] = []
        for k, port in enumerate(self._program.inputs):
            is_angle = [value + n in wanted and k != self._common for n in range(port.size)]
            for angles_here, run in groupby(range(port.size), is_angle.__getitem__):
                if angles_here:
                    places = list(run)
                    angles, results = self._new("angles"), self._new("pairs")
                    if k in self._by_value:
                        self._entry.append(f"  {angles} = alloca {self._V}, i64 {len(places)}, align {self._width}")
                        for n in places:
                            place = self._element(angles, n - places[0])
                            self._access(f"  store {self._V} %v{value + n}, ptr {place}, align {self._width}")
                    else:
                        calls.append(f"  {angles} = getelementptr {self._V}, ptr %in{k}, i64 {places[0]}")
                    calls += [
                        f"  {results} = getelementptr {self._V}, ptr %pairs, i64 {2 * pairs}",
                        f"  call void @sincos_all(ptr {angles}, ptr {results}, i64 {len(places)})",
                    ]
                    for n in places:
                        self._pairs[value + n] = pairs
                        pairs += 1
            value += port.size
        if pairs:
            self._entry.append(f"  %pairs = alloca {self._V}, i64 {2 * pairs}, align {self._width}")
            for line in calls:
                self._emit(line)

    # Statements.

    def _block(self, block: Block) -> None:
        self._known.append({})
        self._operations.begin_block()
        for s in block.statements:
            if isinstance(s, Instruction):
                self._instruction(s)
            elif isinstance(s, Load):
                self._load(s)
            elif isinstance(s, Store):
                pointer = self._pointer(s.array, s.at)
                self._access(f"  store {self._V} {self._value(s.value)}, ptr {pointer}, align {self._width}")
            elif isinstance(s, (Loop, Switch)):
                self._loop(s) if isinstance(s, Loop) else self._switch(s)
                self._operations.begin_block()
            else:
                self._call(s)
        self._known.pop()

    def _instruction(self, s: Instruction) -> None:
        name = self._new("v")
        if s.op in ("sin", "cos"):
            pair, V = self._sincos(s.args[0]), self._V
            self._emit(f"  {name} = extractvalue {{{V}, {V}}} {pair}, {0 if s.op == 'sin' else 1}")
        elif s.op in PHILOX:
            words = "{" + ", ".join([self._V] * 4) + "}"
            self._emit(f"  {name} = extractvalue {words} {self._random_block(s.args, words)}, {PHILOX.index(s.op)}")
        else:
            self._operations.write(name, s.op, [self._value(a) for a in s.args])
        self._names[s.name] = name

    def _sincos(self, angle: Argument) -> str:
        """Sine and cosine of one angle, computed together and only once."""
        value = self._value(angle)
        key = ("sincos", self._names[angle] if isinstance(angle, int) else repr(angle))

        def compute(name: str) -> None:
            V = self._V
            if angle not in self._pairs or not isinstance(angle, int):
                self._emit(f"  {name} = call {{{V}, {V}}} @sincos({V} {value})")
                return
            for k, part in enumerate(("s", "c")):
                place = self._element("%pairs", 2 * self._pairs[angle] + k)
                self._access(f"  {name}_{part} = load {V}, ptr {place}, align {self._width}")
            self._emit(f"  {name}_h = insertvalue {{{V}, {V}}} poison, {V} {name}_s, 0")
            self._emit(f"  {name} = insertvalue {{{V}, {V}}} {name}_h, {V} {name}_c, 1")

        return self._once(key, "pair", compute)

    def _random_block(self, args: Sequence[Argument], words: str) -> str:
        """The four random numbers of a key and a counter, computed together and only once."""
        key = ("philox", *(self._names[a] if isinstance(a, int) else repr(a) for a in args))
        given = ", ".join(f"{self._V} {self._value(a)}" for a in args)
        return self._once(key, "block", lambda name: self._emit(f"  {name} = call {words} @philox({given})"))

    def _load(self, s: Load) -> None:
        if s.array == self._common and self._reads_common is None:
            (self._names[s.name],) = self._either(partial(self._read_all, s.array, [s.at]))
        else:
            self._names[s.name] = self._read(s.array, s.at)

    def _either(self, write: Callable[[], Sequence[str]]) -> list[str]:
        """The registers that `write` gives, written for numbers that all lanes share, and for those of each lane."""
        label, both = self._new("C")[1:], []
        self._emit(f"  br i1 %is_common, label %{label}.all, label %{label}.each")
        for case, self._reads_common in (("all", True), ("each", False)):
            self._emit(f"{label}.{case}:")
            self._known.append({})
            self._operations.begin_block()
            both.append(write())
            self._known.pop()
            self._emit(f"  br label %{label}.{case}_end\n{label}.{case}_end:\n  br label %{label}.end")
        self._reads_common = None
        self._emit(f"{label}.end:")
        self._operations.begin_block()
        names = [self._new("v") for _ in both[0]]
        for name, a, b in zip(names, *both, strict=True):
            self._emit(f"  {name} = phi {self._V} [{a}, %{label}.all_end], [{b}, %{label}.each_end]")
        return names

    def _read_all(self, array: int, places: Sequence[Index]) -> list[str]:
        return [self._read(array, at) for at in places]

    def _read(self, array: int, at: Index) -> str:
        """A number from memory."""
        name, pointer = self._new("v"), self._pointer(array, at)
        if (is_constant := self._is_constant(array)) or (array == self._common and self._reads_common):
            t, n = self._precision.type, self._lanes
            number = name if n == 1 else f"{name}_x"
            kind = f"{self._precision.bytes}, !invariant.load !1" if is_constant else "1"
            self._emit(f"  {number} = load {t}, ptr {pointer}, align {kind}")
            if n > 1:
                V = self._V
                self._emit(f"  {name}_0 = insertelement {V} poison, {t} {number}, i32 0")
                self._emit(f"  {name} = shufflevector {V} {name}_0, {V} poison, <{n} x i32> zeroinitializer")
        else:
            self._access(f"  {name} = load {self._V}, ptr {pointer}, align {self._width}")
        return name

    def _unless(self, s: Loop, idle: Argument) -> None:
        """A body that runs once, unless it would change nothing in any lane."""
        before = [self._value(a) for a in s.carried]
        label, V = self._new("U")[1:], self._V
        carried = [self._new("v") for _ in s.carried]
        self._emit(f"  %{label}_idle = fcmp une {V} {self._value(idle)}, zeroinitializer")
        self._emit(f"  %{label}_all = {self._register.all_set(f'%{label}_idle')}")
        self._emit(f"  br label %{label}.entry\n{label}.entry:")
        self._emit(f"  br i1 %{label}_all, label %{label}.end, label %{label}.body\n{label}.body:")
        self._names.update(zip(s.entry, before, strict=True))
        self._counters.append("0")
        self._block(s.body)
        after = [self._value(a) for a in s.next]
        self._counters.pop()
        self._emit(f"  br label %{label}.latch\n{label}.latch:\n  br label %{label}.end\n{label}.end:")
        for name, old, new in zip(carried, before, after, strict=True):
            self._emit(f"  {name} = phi {V} [{old}, %{label}.entry], [{new}, %{label}.latch]")
        self._names.update(zip(s.defines, carried, strict=True))

    def _once_at(self, s: Loop, over: Append | Entry) -> None:
        """A body that runs once, at the entry at a place of a list, or to append an entry."""
        if isinstance(over, Entry):
            counter = self._listed(over.array, over.place + 1)
        elif over.step > 0:
            counter = self._listed(over.array, Index())
        else:
            counter = self._taken_back(over)
        self._names.update(zip(s.entry, [self._value(a) for a in s.carried], strict=True))
        self._counters.append(counter)
        self._block(s.body)
        if isinstance(over, Append) and over.step > 0 and s.until is not None:
            self._append(over, counter, self._value(s.until))
        after = [self._value(a) for a in s.next]
        self._counters.pop()
        self._names.update(zip(s.defines, after, strict=True))

    def _listed(self, array: int, at: Index) -> str:
        """A number of a list: its length, which is the first, or an entry."""
        name, pointer = self._new("n"), self._pointer(array, at)
        self._access(f"  {name}_n = load i32, ptr {pointer}, align 4")
        self._emit(f"  {name} = sext i32 {name}_n to i64")
        return name

    def _keep(self, array: int, at: Index, number: str) -> None:
        name, pointer = self._new("n"), self._pointer(array, at)
        self._emit(f"  {name} = trunc i64 {number} to i32")
        self._access(f"  store i32 {name}, ptr {pointer}, align 4")

    def _append(self, over: Append, length: str, idle: str) -> None:
        """Store an entry behind the last, and make it the last unless it is idle in all lanes."""
        name, V = self._new("a"), self._V
        array = self._program.arrays[over.array - self._program.first_array]
        room = min(self._lanes * (array.size - 2), over.most)
        self._emit(f"  {name}_idle = fcmp une {V} {idle}, zeroinitializer")
        self._emit(f"  {name}_all = {self._register.all_set(f'{name}_idle')}")
        self._emit(f"  {name}_full = icmp sge i64 {length}, {room}")
        self._emit(f"  {name}_not = or i1 {name}_all, {name}_full")
        self._emit(f"  {name}_next = add i64 {length}, 1")
        self._emit(f"  {name}_length = select i1 {name}_not, i64 {length}, i64 {name}_next")
        self._keep(over.array, Index(1, (Term(len(self._counters) - 1),)), self._index(over.entry))
        self._keep(over.array, Index(), f"{name}_length")

    def _taken_back(self, over: Append) -> str:
        """The length of a list without this entry."""
        length, name = self._listed(over.array, Index()), self._new("b")
        self._counters.append(length)
        last = self._listed(over.array, Index(0, (Term(len(self._counters) - 1),)))
        self._counters.pop()
        self._emit(f"  {name}_same = icmp eq i64 {last}, {self._index(over.entry)}")
        self._emit(f"  {name}_some = icmp ne i64 {length}, 0")
        self._emit(f"  {name}_is = and i1 {name}_same, {name}_some")
        self._emit(f"  {name}_less = sub i64 {length}, 1")
        self._emit(f"  {name} = select i1 {name}_is, i64 {name}_less, i64 {length}")
        self._keep(over.array, Index(), name)
        return name

    def _loop(self, s: Loop) -> None:
        if self._common is not None and self._reads_common is None:
            inside = [*islice(s.body.all_statements(), _TWICE + 1)]
            if len(inside) <= _TWICE and any(isinstance(x, Load) and x.array == self._common for x in inside):

                def written() -> list[str]:
                    self._loop(s)
                    return [self._names[k] for k in s.defines]

                self._names.update(zip(s.defines, self._either(written), strict=True))
                return
        if s.unless is not None:
            self._unless(s, s.unless)
            return
        if isinstance(s.over, (Append, Entry)):
            self._once_at(s, s.over)
            return
        start, stop, step = self._ends(s.over)
        before = [self._value(a) for a in s.carried]
        label, counter = self._new("L")[1:], self._new("k")
        carried = [self._new("v") for _ in s.carried]
        entry, latch, V = f"{label}.entry", f"{label}.latch", self._V
        self._emit(f"  br label %{entry}\n{entry}:\n  br label %{label}.head\n{label}.head:")
        self._emit(f"  {counter} = phi i64 [{start}, %{entry}], [{counter}_next, %{latch}]")
        for k, name in enumerate(carried):
            self._emit(f"  {name} = phi {V} [{before[k]}, %{entry}], [{name}_next, %{latch}]")
        if s.until is not None:  # a sample that has ended keeps what it carries, until all lanes have ended
            flags = self._register.flags
            self._emit(f"  {counter}_ended = phi {flags} [zeroinitializer, %{entry}], [{counter}_ends, %{latch}]")
            self._emit(f"  {counter}_open = phi i1 [true, %{entry}], [{counter}_goes, %{latch}]")
        compare = "ne" if isinstance(s.over, Walk) else "slt" if step > 0 else "sgt"
        more = f"{counter}_more"
        self._emit(f"  {more} = icmp {compare} i64 {counter}, {stop}")
        if s.until is not None:
            more = f"{counter}_open_more"
            self._emit(f"  {more} = and i1 {counter}_more, {counter}_open")
        self._emit(f"  br i1 {more}, label %{label}.body, label %{label}.end\n{label}.body:")
        self._names.update(zip(s.entry, carried, strict=True))
        self._counters.append(counter)
        self._block_with_next(s, carried, counter)
        self._emit(f"  br label %{latch}\n{latch}:")
        if isinstance(s.over, Walk):
            self._table_entry(f"{counter}_next", s.over.next, counter)
        else:
            self._emit(f"  {counter}_next = add i64 {counter}, {step}")
        self._emit(f"  br label %{label}.head\n{label}.end:")
        self._counters.pop()
        self._names.update(zip(s.defines, carried, strict=True))

    def _ends(self, over: Range | Walk | Each) -> tuple[str, str, int]:
        """Where a loop starts and stops, and its step."""
        if isinstance(over, Walk):
            return self._index(over.start), "0", 0
        if isinstance(over, Range):
            return self._index(over.start), self._index(over.stop), over.step
        length = self._listed(over.array, Index())
        if over.step > 0:
            return "0", length, 1
        self._emit(f"  {length}_last = sub i64 {length}, 1")
        return f"{length}_last", "-1", -1

    def _block_with_next(self, s: Loop, carried: Sequence[str], counter: str) -> None:
        """Write the body, and its results under the names that the loop's head already uses for the next round."""
        V, flags = self._V, self._register.flags
        self._block(s.body)
        for name, argument in zip(carried, s.next, strict=True):
            ended = "i1 false" if s.until is None else f"{flags} {counter}_ended"
            self._emit(f"  {name}_next = select {ended}, {V} {name}, {V} {self._value(argument)}")
        if s.until is not None:
            self._emit(f"  {counter}_now = fcmp une {V} {self._value(s.until)}, zeroinitializer")
            self._emit(f"  {counter}_ends = or {flags} {counter}_ended, {counter}_now")
            self._emit(f"  {counter}_all = {self._register.all_set(f'{counter}_ends')}")
            self._emit(f"  {counter}_goes = xor i1 {counter}_all, true")

    def _switch(self, s: Switch) -> None:
        label, on = self._new("S")[1:], self._index(s.on)
        cases = " ".join(f"i64 {k}, label %{label}.case{k}" for k in range(1, len(s.cases)))
        self._emit(f"  switch i64 {on}, label %{label}.case0 [{cases}]")
        for k, case in enumerate(s.cases):
            self._emit(f"{label}.case{k}:")
            self._block(case)
            self._emit(f"  br label %{label}.end")
        self._emit(f"{label}.end:")

    def _call(self, s: Call) -> None:
        function, by_value = self._function(s.program)
        arguments = iter([self._value(a) for a in s.args])
        passed: list[str] = []
        for k, port in enumerate(s.program.inputs):
            values = list(islice(arguments, port.size))
            if k in by_value:
                passed += [f"{self._V} {value}" for value in values]
                continue
            pointer = self._port(k, port.size)
            passed.append(f"ptr {pointer}")
            for n, value in enumerate(values):
                place = self._element(pointer, n)
                self._access(f"  store {self._V} {value}, ptr {place}, align {self._width}")
        outputs = [(self._port(k, port.size), port) for k, port in enumerate(s.program.outputs, len(s.program.inputs))]
        passed += [f"ptr {pointer}" for pointer, _ in outputs]
        self._emit(f"  call void {function}({', '.join(passed)})")
        later = [f"*{pointer} {n}" for pointer, port in outputs for n in range(port.size)]
        # The next call writes into shared memory, so its contents are loaded at once.
        results = map(self._loaded, later) if self._shares_ports else later
        self._names.update(zip(s.defines, results, strict=True))

    def _function(self, program: Program) -> tuple[str, frozenset[int]]:
        """A called program's function, of this module or by its address, and the inputs that it takes as numbers."""
        if self._apart is not None and program.is_shared:
            name = self._new("f")
            self._emit(f"  {name}_p = getelementptr {CALLED}, ptr @called, i64 {self._apart(program)}, i32 0")
            self._emit(f"  {name} = load atomic ptr, ptr {name}_p unordered, align 8")
            return name, frozenset()
        if id(program) not in self._called:
            self._called[id(program)] = program, f"{self._name}_{len(self._called)}", _taken_by_value(program)
        _, name, by_value = self._called[id(program)]
        return f"@{name}", by_value

    def _port(self, k: int, size: int) -> str:
        """Memory for port k of a called program: of its own, or the same for all calls, if they are many."""
        if self._shares_ports:
            self._shared[k] = max(size, self._shared.get(k, 1))
            return f"%shared{k}"
        pointer = self._new("port")
        self._entry.append(f"  {pointer} = alloca {self._V}, i64 {max(size, 1)}, align {self._width}")
        return pointer

    # Values and places.

    def _access(self, line: str) -> None:
        """A load or store of memory that changes."""
        self._emit(line)
        self._window -= 1
        if not self._window and self._target.fences:
            self._emit('  fence syncscope("singlethread") seq_cst')  # an instruction of no length
            self._window = _WINDOW

    def _new(self, prefix: str) -> str:
        self._fresh += 1
        return f"%{prefix}_{self._fresh}"

    def _value(self, argument: Argument) -> str:
        if not isinstance(argument, int):
            return self._constant(argument)
        name = self._names[argument]
        return self._loaded(name) if name[0] == "*" else name

    def _loaded(self, name: str) -> str:
        """A result of a call, by its place: loaded where it is used, so that few are in registers."""
        pointer, n = name[1:].split()
        place, value = self._element(pointer, int(n)), self._new("v")
        self._access(f"  {value} = load {self._V}, ptr {place}, align {self._width}")
        return value

    def _constant(self, x: float) -> str:
        if self._constants is None:
            return self._register.number(x)
        literal = self._precision.literal(x)
        row = self._constants.setdefault(literal, len(self._constants))
        name = self._new("c")
        self._emit(f"  {name}_p = getelementptr {self._V}, ptr @{self._name}_constants, i64 {row}")
        self._emit(f"  {name} = load {self._V}, ptr {name}_p, align {self._width}, !invariant.load !1")
        return name

    def _is_constant(self, array: int) -> bool:
        ports = len(self._program.inputs) + len(self._program.outputs)
        return array >= ports and self._program.arrays[array - ports].values is not None

    def _element(self, pointer: str, k: int) -> str:
        name = self._new("e")
        self._emit(f"  {name} = getelementptr {self._V}, ptr {pointer}, i64 {k}")
        return name

    def _pointer(self, array: int, at: Index) -> str:
        """Pointer to a number of an array: the entry that `at` names, and the array's place in it."""
        inputs, outputs = len(self._program.inputs), len(self._program.outputs)
        if array < inputs + outputs:
            base, start, stride = (f"%in{array}" if array < inputs else f"%out{array - inputs}"), 0, 1
            unit = self._precision.type if array == self._common and self._reads_common else self._V
        else:
            place = self._layout.places[array]
            start, stride = place.start, place.stride
            constant = self._is_constant(array)
            base = f"@{self._name}_numbers" if constant else "%memory"
            unit = self._precision.type if constant else self._V
        entry = base
        if at.terms:
            offset = self._index(Index(0, at.terms) * stride)
            entry = self._once(
                ("entry", base, offset),
                "e",
                lambda name: self._emit(f"  {name} = getelementptr {unit}, ptr {base}, i64 {offset}"),
            )
        name = self._new("p")
        self._emit(f"  {name} = getelementptr {unit}, ptr {entry}, i64 {start + at.base * stride}")
        return name

    def _index(self, index: Index) -> str:
        """An integer; values that this block or an enclosing one has computed are not computed again."""
        total = ""
        for t in index.terms:
            counter = self._counters[t.loop]
            value = counter
            if t.table is not None:
                value = self._looked_up(t.table, counter)
            if t.scale != 1:
                value = self._integer("mul", value, str(t.scale))
            total = self._integer("add", total, value) if total else value
        if not total:
            return str(index.base)
        return self._integer("add", total, str(index.base)) if index.base else total

    def _integer(self, op: str, a: str, b: str) -> str:
        return self._once((op, a, b), "i", lambda name: self._emit(f"  {name} = {op} i64 {a}, {b}"))

    def _looked_up(self, table: int, counter: str) -> str:
        return self._once(("table", table, counter), "t", lambda name: self._table_entry(name, table, counter))

    def _table_entry(self, name: str, table: int, counter: str) -> None:
        kind = f"i{self._tables[table][0]}"
        self._emit(f"  {name}_p = getelementptr {kind}, ptr @{self._name}_table{table}, i64 {counter}")
        self._emit(f"  {name}_n = load {kind}, ptr {name}_p, !invariant.load !1")
        self._emit(f"  {name} = sext {kind} {name}_n to i64")

    def _once(self, key: object, prefix: str, compute: Callable[[str], None]) -> str:
        for known in self._known:
            if key in known:
                return known[key]
        name = self._known[-1][key] = self._new(prefix)
        compute(name)
        return name


def port_names(program: Program) -> list[str]:
    """The parameters of `@sample`, in order."""
    return [f"in{k}" for k in range(len(program.inputs))] + [f"out{k}" for k in range(len(program.outputs))]


def _taken_by_value(program: Program) -> frozenset[int]:
    """The inputs that the statements of a program never read from memory."""
    read = {s.array for s in program.body.all_statements() if isinstance(s, Load)}
    return frozenset(range(len(program.inputs))) - read


def _is_zero(result: Argument) -> bool:
    """Whether a result is the constant zero, but not negative zero."""
    return isinstance(result, float) and result == 0.0 and math.copysign(1.0, result) > 0.0

"""A program as a function of C99: one statement per line, every value assigned once, except for those that loops carry.

It takes one array per port that has numbers, inputs before outputs, and then, if it needs memory, an array `w` of
`FunctionWriter.memory` numbers. Programs that it calls are static functions, whose ports and memory are in `w` as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.codegen.c.operations import expression, random_block
from kinetree.codegen.c.places import Places
from kinetree.codegen.c.real import INDENT, Real, wrapped
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
    Port,
    Program,
    Range,
    Store,
    Switch,
    Term,
    Walk,
    values_used,
)
from kinetree.expr.dead_code import without_dead_code

__all__ = ["FunctionWriter"]


class FunctionWriter:
    """Writes a function, and a static one for each program that is called."""

    def __init__(
        self,
        program: Program,
        real: Real,
        name: str,
        ports: Sequence[str],
        *,
        root: str | None = None,
        called: dict[int, FunctionWriter] | None = None,
        macros: set[str] | None = None,
    ) -> None:
        """
        Args:
            ports: the names of the parameters.
            root: the prefix of the names of static functions.
            called: the functions that there are, by `id` of their programs.
            macros: the names of the macros that are used, to which this function's are added.
        """
        self.name = name
        program = without_dead_code(program)
        self.program: Program = program
        self.ports: list[tuple[str, Port]] = [*zip(ports, (*program.inputs, *program.outputs), strict=True)]
        self.macros: set[str] = set() if macros is None else macros
        self._real = real
        self._root = root or name
        self._places = Places(program, real, name, self.ports)
        self._called: dict[int, FunctionWriter] = {} if called is None else called
        self._own_calls: dict[int, FunctionWriter] = {}
        self._lines: list[str] = []
        self._depth = 1
        self._fresh = 0
        self._counters: list[str] = []
        self._names: dict[int, str] = {}
        self._structs: list[dict[str, str]] = []
        """Values computed together that are known in the enclosing blocks, by the text of their call."""
        inputs = len(program.inputs)
        places = (f"{port}[{k}]" for port, p in self.ports[:inputs] for k in range(p.size))
        self._names.update(enumerate(places))
        statements = [*program.body.all_statements()]
        used = (*(program.results or ()), *(a for s in statements for a in values_used(s)))
        self._wanted = {a for a in used if isinstance(a, int)}
        sines, cosines = (
            {s.args[0] for s in statements if isinstance(s, Instruction) and s.op == op} for op in ("sin", "cos")
        )
        self._both = sines & cosines
        self._body()

    @property
    def memory(self) -> int:
        """How many numbers `w` has."""
        return self._places.scratch + max(map(_size_of_call, self._own_calls.values()), default=0)

    @property
    def callees(self) -> list[FunctionWriter]:
        """The static functions that it needs, each after those that it calls itself."""
        functions: dict[str, FunctionWriter] = {}
        for writer in self._own_calls.values():
            functions |= {inner.name: inner for inner in [*writer.callees, writer]}
        return [*functions.values()]

    def signature(self, *, memory: str = "", restrict: bool = True) -> str:
        """The function's head.

        `memory` is a name for the length of `w`; `restrict` says that results and memory are apart from all else, which
        headers cannot say to C++.
        """
        t, apart, parameters = self._real.type, "restrict " if restrict else "", []
        for k, (name, port) in enumerate(self.ports):
            is_input = k < len(self.program.inputs)
            if port.size:
                parameters.append(f"const {t} {name}[{port.size}]" if is_input else f"{t} {name}[{apart}{port.size}]")
        if self.memory:
            parameters.append(f"{t} w[{apart}{memory or self.memory}]")
        return f"void {self.name}({', '.join(parameters) or 'void'})"

    def text(self, *, static: bool = False) -> str:
        """The tables and the function."""
        unused = [name for name, port in self.ports if port.size and name not in self._places.used]
        if self.memory and "w" not in self._places.used:
            unused.append("w")
        body = [*(f"{INDENT}(void){name};" for name in unused), *self._lines]
        head = f"{'static ' if static else ''}{self.signature()}"
        return "\n".join([*self._places.tables(), *wrapped(head), "{", *body, "}", ""])

    # Statements.

    def _body(self) -> None:
        program = self.program
        if self._places.cleared:
            self._clear("w", self._places.cleared)
        outputs = self.ports[len(program.inputs) :]
        if program.results is None:
            for name, port in outputs:
                if port.size:
                    self._clear(name, port.size)
        self._block(program.body)
        if program.results is not None:
            results = iter(program.results)
            for name, port in outputs:
                self._places.used.add(name)
                for k in range(port.size):
                    self._emit(f"{name}[{k}] = {self._value(next(results))};")

    def _clear(self, name: str, count: int) -> None:
        self._places.used.add(name)
        self._emit(f"for (int32_t i = 0; i < {count}; ++i) {{")
        self._emit(f"{INDENT}{name}[i] = {self._real.literal(0.0)};")
        self._emit("}")

    def _block(self, block: Block) -> None:
        self._structs.append({})
        for s in block.statements:
            if isinstance(s, Loop):
                self._loop(s)
            elif isinstance(s, Switch):
                self._switch(s)
            elif isinstance(s, Store):
                self._emit(f"{self._places.at(s.array, s.at, self._counters)} = {self._value(s.value)};")
            elif isinstance(s, Call):
                self._call(s)
            elif isinstance(s, Load):
                self._define(s.name, self._places.at(s.array, s.at, self._counters))
            else:
                self._define(s.name, self._computed(s))
        self._structs.pop()

    def _computed(self, s: Instruction) -> str:
        if s.op in ("sin", "cos") and s.args[0] in self._both:
            macro = f"KT_SINCOS{self._real.suffix.upper()}"
            pair = self._together("angle", f"{macro}({self._value(s.args[0])})", macro)
            return f"{pair}.{'sine' if s.op == 'sin' else 'cosine'}"
        args = s.args[:1] if s.op == "slopes_of" else s.args  # the second has no effect on the value
        values = [self._value(a) for a in args]
        if s.op in PHILOX:
            return f"{self._together('block', *random_block(values, self._real))}.word[{PHILOX.index(s.op)}]"
        text, macro = expression(s.op, values, self._real)
        if macro:
            self.macros.add(macro)
        return text

    def _together(self, kind: str, call: str, macro: str) -> str:
        """Values that a macro computes together, and once: sine and cosine of an angle, a block of random numbers."""
        for known in self._structs:
            if call in known:
                return known[call]
        name = self._structs[-1][call] = f"a{self._fresh}"
        self._fresh += 1
        self.macros.add(macro)
        self._emit(f"const kt_{kind}{self._real.suffix} {name} = {call};")
        return name

    def _define(self, value: int, text: str) -> None:
        self._names[value] = f"v{value}"
        self._emit(f"const {self._real.type} v{value} = {text};")

    def _loop(self, s: Loop) -> None:
        for entry, given, after in zip(s.entry, s.carried, s.defines, strict=True):
            self._emit(f"{self._real.type} v{entry} = {self._value(given)};")
            self._names[entry] = self._names[after] = f"v{entry}"
        if s.unless is not None:
            self._emit(f"if ({self._value(s.unless)} == {self._real.literal(0.0)}) {{")
            counter = "0"
        elif isinstance(s.over, (Append, Entry)):  # once
            counter = f"k{len(self._counters)}"
            self._emit(f"for (int32_t {counter} = {self._place(s.over)}, o{counter} = 1; o{counter}; --o{counter}) {{")
            self._emit(f"{INDENT}(void){counter};")
        else:
            counter = f"k{len(self._counters)}"
            self._emit(self._head(s.over, counter))
        self._counters.append(counter)
        self._depth += 1
        self._block(s.body)
        if isinstance(s.over, Append) and s.until is not None:
            self._append(s.over, counter, s.until)
        self._carry(s)
        self._depth -= 1
        self._counters.pop()
        self._emit("}")

    def _head(self, over: Range | Walk | Each, counter: str) -> str:
        """The beginning of a loop."""
        places, counters = self._places, self._counters
        if isinstance(over, Each):
            length = self._listed(over.array, Index())
            if over.step > 0:
                return f"for (int32_t {counter} = 0; {counter} < {length}; ++{counter}) {{"
            return f"for (int32_t {counter} = {length} - 1; {counter} >= 0; --{counter}) {{"
        start = places.index(over.start, counters)
        if isinstance(over, Walk):
            following = places.looked_up(over.next, counter)
            return f"for (int32_t {counter} = {start}; {counter} != 0; {counter} = {following}) {{"
        sign, stop = "<" if over.step > 0 else ">", places.index(over.stop, counters)
        return f"for (int32_t {counter} = {start}; {counter} {sign} {stop}; {counter} += {over.step}) {{"

    def _listed(self, array: int, at: Index) -> str:
        """A number of a list, whose length is the first."""
        return f"(int32_t){self._places.at(array, at, self._counters)}"

    def _place(self, over: Append | Entry) -> str:
        """The entry at a place of a list, or the place of a new one; backward, that of this one, if it is the last."""
        if isinstance(over, Entry):
            return self._listed(over.array, over.place + 1)
        length = self._places.at(over.array, Index(), self._counters)
        if over.step < 0:
            last = self._places.at(
                over.array, Index(0, (Term(len(self._counters)),)), [*self._counters, f"(int32_t){length}"]
            )
            entry = self._places.index(over.entry, self._counters)
            self._emit(f"if ({length} > 0 && {last} == {entry}) {{")
            self._emit(f"{INDENT}{length} -= 1;")
            self._emit("}")
        return f"(int32_t){length}"

    def _append(self, over: Append, length: str, idle: Argument) -> None:
        """Make an entry the last one of a list, unless it is idle."""
        if over.step > 0:
            number, places = self._real.type, self._places
            last = places.at(over.array, Index(1, (Term(len(self._counters) - 1),)), self._counters)
            room = self.program.size_of(over.array) - 2
            self._emit(f"if ({self._value(idle)} == {self._real.literal(0.0)} && {length} < {room}) {{")
            self._emit(f"{INDENT}{last} = ({number})({places.index(over.entry, self._counters)});")
            self._emit(f"{INDENT}{places.at(over.array, Index(), self._counters)} = ({number})({length} + 1);")
            self._emit("}")

    def _carry(self, s: Loop) -> None:
        """Assign the carried values, all at once, and end the loop on its condition."""
        own = {self._names[entry] for entry in s.entry}
        changed = [
            (self._names[entry], self._value(a))
            for entry, a in zip(s.entry, s.next, strict=True)
            if self._value(a) != self._names[entry]
        ]
        until = None if s.until is None or isinstance(s.over, Append) else self._value(s.until)
        if until in own:
            self._emit(f"const {self._real.type} until = {until};")
            until = "until"
        kept: dict[str, str] = {}
        for k, (_, value) in enumerate(changed):
            if value in own and value in {name for name, _ in changed[:k]}:  # overwritten before it is read
                kept[value] = f"{value}_now"
        for value, name in kept.items():
            self._emit(f"const {self._real.type} {name} = {value};")
        for name, value in changed:
            self._emit(f"{name} = {kept.get(value, value)};")
        if until is not None:
            self._emit(f"if ({until} != {self._real.literal(0.0)}) {{")
            self._emit(f"{INDENT}break;")
            self._emit("}")

    def _switch(self, s: Switch) -> None:
        self._emit(f"switch ({self._places.index(s.on, self._counters)}) {{")
        for k, case in [*enumerate(s.cases)][1:]:
            self._case(f"case {k}:", case)
        self._case("default:", s.cases[0])
        self._emit("}")

    def _case(self, label: str, block: Block) -> None:
        self._emit(f"{label} {{")
        self._depth += 1
        self._block(block)
        self._emit("break;")
        self._depth -= 1
        self._emit("}")

    def _call(self, s: Call) -> None:
        """Ports of the callee are in `w`, after this function's own memory; its memory follows them."""
        writer = self._function(s.program)
        self._places.used.add("w")
        at, pointers, values = self._places.scratch, [], iter(s.args)
        for port in s.program.inputs:
            if port.size:
                pointers.append(f"&w[{at}]")
            for k in range(port.size):
                self._emit(f"w[{at + k}] = {self._value(next(values))};")
            at += port.size
        first = at
        for port in s.program.outputs:
            if port.size:
                pointers.append(f"&w[{at}]")
            at += port.size
        if writer.memory:
            pointers.append(f"&w[{at}]")
        self._emit(f"{writer.name}({', '.join(pointers)});")
        for k, value in enumerate(s.defines):
            if value in self._wanted:
                self._define(value, f"w[{first + k}]")

    def _function(self, program: Program) -> FunctionWriter:
        if id(program) not in self._called:
            inputs, outputs = (range(len(ports)) for ports in (program.inputs, program.outputs))
            ports = [*(f"in{k}" for k in inputs), *(f"out{k}" for k in outputs)]
            name = f"{self._root}_f{len(self._called)}"
            self._called[id(program)] = self  # so that its name is taken before those of what it calls itself
            self._called[id(program)] = FunctionWriter(
                program, self._real, name, ports, root=self._root, called=self._called, macros=self.macros
            )
        writer = self._own_calls[id(program)] = self._called[id(program)]
        return writer

    # Values and places.

    def _emit(self, line: str) -> None:
        self._lines.append(INDENT * self._depth + line)

    def _value(self, a: Argument) -> str:
        if not isinstance(a, int):
            return self._real.literal(a)
        name = self._names[a]
        self._places.used.add(name.partition("[")[0])
        return name


def _size_of_call(writer: FunctionWriter) -> int:
    return writer.program.input_size + writer.program.output_size + writer.memory

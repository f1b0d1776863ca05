"""From a program to LLVM's language: straight-line vector code, one sample a lane.

`@kernel(args, dimensions, steps, data)` has the signature of a NumPy ufunc's inner loop. It walks the batch a
group of lanes at a time: gather the inputs, `@sample` on registers, scatter the outputs. A last group that is not
full runs through the same code, so a sample's result does not depend on where in the batch it stands.
"""

from __future__ import annotations

from kinetree.codegen.elementary import sincos
from kinetree.codegen.lanes import lane_copies
from kinetree.codegen.precision import Precision
from kinetree.codegen.target import Target
from kinetree.expr import Instruction, Port, Program

__all__ = ["LIBM", "emit"]

LIBM = {"exp": "exp", "log": "log", "tanh": "tanh", "atan2": "atan2"}
"""Operations done a lane at a time by the C library (docs/decisions/0004-elementary-functions.md)."""

_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARISONS = {"lt": "olt", "le": "ole", "eq": "oeq"}
_INTRINSICS = {"sqrt": "sqrt", "abs": "fabs"}


def emit(program: Program, precision: Precision, target: Target) -> str:
    """A module, as text, that holds `@kernel` for this program."""
    lanes = target.lanes(precision)
    sample = _Sample(program, precision, target).text()
    parts = [
        f'target triple = "{target.triple}"',
        _declarations(lanes, precision),
        lane_copies(lanes, precision),
        sincos(lanes, precision) if "@sincos" in sample else "",
        sample,
        _kernel(program, precision, lanes),
        'attributes #1 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }',
        # Spilled registers stand aligned: on the stack's usual 16 bytes every other one would cross a cache line.
        f"attributes #0 = {{ nounwind alignstack={lanes * precision.bytes} "
        f'"prefer-vector-width"="512" "min-legal-vector-width"="512" }}',
    ]
    return "\n".join(parts)


class _Sample:
    """Writes `@sample(in, out)`: from lane buffer to lane buffer."""

    def __init__(self, program: Program, precision: Precision, target: Target) -> None:
        self._program = program
        self._precision = precision
        self._lanes = lanes = target.lanes(precision)
        self._fma = target.fma
        # With 256-bit registers an instruction can take a whole register from memory, but not one number for all
        # its lanes: constants stand in a table, a register each. Wider and narrower ones need no help.
        self._constants: dict[str, int] | None = {} if target.vector_bits == 256 else None
        self._V = f"<{lanes} x {precision.type}>"
        self._overload = f"v{lanes}{precision.suffix}"
        self._lines: list[str] = []
        self._pairs: dict[str, int] = {}

    def text(self) -> str:
        program, V = self._program, self._V
        width = self._lanes * self._precision.bytes
        used = {a for s in program.body.statements for a in s.args if isinstance(a, int)}
        used.update(a for a in program.results if isinstance(a, int))
        for k in range(program.input_size):
            if k in used:
                self._lines.append(f"  %in{k} = getelementptr {V}, ptr %in, i64 {k}")
                self._lines.append(f"  %v{k} = load {V}, ptr %in{k}, align {width}")
        for number, statement in enumerate(program.body.statements, program.input_size):
            self._statement(number, statement)
        for k, result in enumerate(program.results):
            if result == 0.0 and isinstance(result, float):
                continue  # the kernel clears the lanes once, before the first group
            self._lines.append(f"  %out{k} = getelementptr {V}, ptr %out, i64 {k}")
            self._lines.append(f"  store {V} {self._value(result)}, ptr %out{k}, align {width}")
        body = "\n".join(self._lines)
        function = f"define internal void @sample(ptr noalias %in, ptr noalias %out) #0 {{\n{body}\n  ret void\n}}\n"
        return self._constant_table(width) + function

    def _constant_table(self, width: int) -> str:
        if not self._constants:
            return ""
        rows = ", ".join(f"{self._V} splat ({self._precision.type} {literal})" for literal in self._constants)
        return (
            f"@constants = internal global [{len(self._constants)} x {self._V}] [{rows}], align {width}\n!1 = !{{}}\n"
        )

    def _value(self, argument: int | float) -> str:
        return f"%v{argument}" if isinstance(argument, int) else self._constant(argument)

    def _constant(self, x: float) -> str:
        literal = self._precision.literal(x)
        if self._constants is None:
            return f"splat ({self._precision.type} {literal})"
        row = self._constants.setdefault(literal, len(self._constants))
        name = f"%c{len(self._lines)}"
        self._lines.append(f"  {name}_p = getelementptr {self._V}, ptr @constants, i64 {row}")
        width = self._lanes * self._precision.bytes
        self._lines.append(f"  {name} = load {self._V}, ptr {name}_p, align {width}, !invariant.load !1")
        return name

    def _statement(self, number: int, statement: Instruction) -> None:
        op, V = statement.op, self._V
        name, args = f"%v{number}", [self._value(a) for a in statement.args]
        emit = self._lines.append
        if op in _ARITHMETIC:
            emit(f"  {name} = {_ARITHMETIC[op]} {V} {args[0]}, {args[1]}")
        elif op == "neg":
            emit(f"  {name} = fneg {V} {args[0]}")
        elif op in ("fma", "fms", "fnma"):
            self._multiply_add(name, op, *args)
        elif op in ("sin", "cos"):
            pair = self._sincos(number, statement.args[0])
            emit(f"  {name} = extractvalue {{{V}, {V}}} %pair{pair}, {0 if op == 'sin' else 1}")
        elif op in _INTRINSICS:
            emit(f"  {name} = call {V} @llvm.{_INTRINSICS[op]}.{self._overload}({V} {args[0]})")
        elif op in _COMPARISONS:
            emit(f"  {name}_c = fcmp {_COMPARISONS[op]} {V} {args[0]}, {args[1]}")
            self._choose(name, self._constant(1.0), self._constant(0.0))
        elif op == "select":
            emit(f"  {name}_c = fcmp une {V} {args[0]}, {self._constant(0.0)}")
            self._choose(name, args[1], args[2])
        elif op in ("min", "max"):
            self._extremum(name, "olt" if op == "min" else "ogt", *args)
        elif op in LIBM:
            self._lane_by_lane(name, LIBM[op], args)
        else:
            raise NotImplementedError(f"the LLVM backend has no rule for {op!r}")

    def _multiply_add(self, name: str, op: str, a: str, b: str, c: str) -> None:
        V, emit = self._V, self._lines.append
        if not self._fma:
            emit(f"  {name}_p = fmul {V} {a}, {b}")
            left, right = (c, f"{name}_p") if op == "fnma" else (f"{name}_p", c)
            emit(f"  {name} = {'fadd' if op == 'fma' else 'fsub'} {V} {left}, {right}")
            return
        if op == "fnma":
            emit(f"  {name}_n = fneg {V} {a}")
            a = f"{name}_n"
        elif op == "fms":
            emit(f"  {name}_n = fneg {V} {c}")
            c = f"{name}_n"
        emit(f"  {name} = call {V} @llvm.fma.{self._overload}({V} {a}, {V} {b}, {V} {c})")

    def _sincos(self, number: int, angle: int | float) -> int:
        """Sine and cosine of one angle are computed together, once."""
        key = repr(angle)  # value 3 and the constant 3.0 are different angles
        if key not in self._pairs:
            V = self._V
            self._lines.append(f"  %pair{number} = call {{{V}, {V}}} @sincos({V} {self._value(angle)})")
            self._pairs[key] = number
        return self._pairs[key]

    def _choose(self, name: str, a: str, b: str) -> None:
        V = self._V
        self._lines.append(f"  {name} = select <{self._lanes} x i1> {name}_c, {V} {a}, {V} {b}")

    def _extremum(self, name: str, predicate: str, a: str, b: str) -> None:
        """The smaller or larger; a sum, which is NaN, where either is NaN."""
        V, n, emit = self._V, self._lanes, self._lines.append
        emit(f"  {name}_o = fcmp {predicate} {V} {a}, {b}")
        emit(f"  {name}_m = select <{n} x i1> {name}_o, {V} {a}, {V} {b}")
        emit(f"  {name}_c = fcmp uno {V} {a}, {b}")
        emit(f"  {name}_s = fadd {V} {a}, {b}")
        self._choose(name, f"{name}_s", f"{name}_m")

    def _lane_by_lane(self, name: str, function: str, args: list[str]) -> None:
        V, t, emit = self._V, self._precision.type, self._lines.append
        total = "poison"
        for lane in range(self._lanes):
            doubles = []
            for k, a in enumerate(args):
                emit(f"  {name}_{lane}_{k} = extractelement {V} {a}, i32 {lane}")
                doubles.append(f"{name}_{lane}_{k}")
                if t == "float":
                    emit(f"  {name}_{lane}_{k}w = fpext float {name}_{lane}_{k} to double")
                    doubles[-1] += "w"
            emit(f"  {name}_{lane}_r = call double @{function}({', '.join(f'double {d}' for d in doubles)})")
            result = f"{name}_{lane}_r"
            if t == "float":
                emit(f"  {result}n = fptrunc double {result} to float")
                result += "n"
            target = name if lane == self._lanes - 1 else f"{name}_{lane}"
            emit(f"  {target} = insertelement {V} {total}, {t} {result}, i32 {lane}")
            total = target


def _declarations(lanes: int, precision: Precision) -> str:
    V, overload = f"<{lanes} x {precision.type}>", f"v{lanes}{precision.suffix}"
    return f"""\
declare {V} @llvm.fma.{overload}({V}, {V}, {V})
declare {V} @llvm.sqrt.{overload}({V})
declare {V} @llvm.fabs.{overload}({V})
declare double @llvm.fma.f64(double, double, double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare double @exp(double)
declare double @log(double)
declare double @tanh(double)
declare double @atan2(double, double)
"""


def _kernel(program: Program, precision: Precision, lanes: int) -> str:
    width = lanes * precision.bytes
    V = f"<{lanes} x {precision.type}>"
    ports = [*program.inputs, *program.outputs]
    head: list[str] = []
    gathers: list[str] = []
    scatters: list[str] = []
    step = len(ports)  # the steps of the core axes follow those of the batch
    lane_start = 0
    for k, port in enumerate(ports):
        is_input = k < len(program.inputs)
        if k == len(program.inputs):
            lane_start = 0
        head += [
            f"  %a{k}_p = getelementptr ptr, ptr %args, i64 {k}",
            f"  %a{k} = load ptr, ptr %a{k}_p",
            f"  %s{k}_p = getelementptr i64, ptr %steps, i64 {k}",
            f"  %s{k} = load i64, ptr %s{k}_p",
        ]
        copies = gathers if is_input else scatters
        copies += [f"  %b{k}_o = mul i64 %sample, %s{k}", f"  %b{k} = getelementptr i8, ptr %a{k}, i64 %b{k}_o"]
        copies += _copies("gather" if is_input else "scatter", k, port, step, lane_start, head, V)
        step += len(port.shape)
        lane_start += port.size
    new_line = "\n"
    return f"""
define void @kernel(ptr %args, ptr %dimensions, ptr %steps, ptr %data) #0 {{
start:
  %in = alloca {V}, i64 {max(program.input_size, 1)}, align {width}
  %out = alloca {V}, i64 {max(program.output_size, 1)}, align {width}
  call void @llvm.memset.p0.i64(ptr align {width} %out, i8 0, i64 {max(program.output_size, 1) * width}, i1 false)
  %count = load i64, ptr %dimensions
{new_line.join(head)}
  br label %loop
loop:
  %sample = phi i64 [0, %start], [%next, %group]
  %more = icmp slt i64 %sample, %count
  br i1 %more, label %group, label %end
group:
  %left = sub i64 %count, %sample
  %is_last = icmp slt i64 %left, {lanes}
  %rows = select i1 %is_last, i64 %left, i64 {lanes}
{new_line.join(gathers)}
  call void @sample(ptr %in, ptr %out)
{new_line.join(scatters)}
  %next = add i64 %sample, {lanes}
  br label %loop
end:
  ret void
}}
"""


def _copies(function: str, k: int, port: Port, step: int, lane_start: int, head: list[str], V: str) -> list[str]:
    """The calls that move one port: a call for each row of its last axis."""
    buffer = "%in" if function == "gather" else "%out"
    for axis in range(len(port.shape)):
        head += [
            f"  %s{k}_{axis}_p = getelementptr i64, ptr %steps, i64 {step + axis}",
            f"  %s{k}_{axis} = load i64, ptr %s{k}_{axis}_p",
        ]
    columns = port.shape[-1] if port.shape else 1
    column_stride = f"%s{k}_{len(port.shape) - 1}" if port.shape else "0"
    lines = []
    for row in range(port.size // columns if columns else 0):
        base, rest = f"%b{k}", row
        for axis in reversed(range(len(port.shape) - 1)):
            rest, index = divmod(rest, port.shape[axis])
            if index:
                lines.append(f"  %o{k}_{row}_{axis} = mul i64 %s{k}_{axis}, {index}")
                lines.append(f"  %p{k}_{row}_{axis} = getelementptr i8, ptr {base}, i64 %o{k}_{row}_{axis}")
                base = f"%p{k}_{row}_{axis}"
        lines.append(f"  %l{k}_{row} = getelementptr {V}, ptr {buffer}, i64 {lane_start + row * columns}")
        lines.append(
            f"  call void @{function}(ptr {base}, i64 %s{k}, i64 {column_stride}, i64 {columns}, "
            f"i64 %rows, ptr %l{k}_{row})"
        )
    return lines

"""One sample's arithmetic in LLVM's language: a program as `@sample`, on registers that hold a sample a lane.

`@sample` takes a pointer a port. Number k of a port stands at register k from there; with one lane that is an
ordinary array of numbers.
"""

from __future__ import annotations

from kinetree.codegen.precision import Precision
from kinetree.codegen.target import Target
from kinetree.expr import Instruction, Program

__all__ = ["LIBM", "SampleWriter", "port_names"]

LIBM = {"exp": "exp", "log": "log", "tanh": "tanh", "atan2": "atan2"}
"""Operations done a lane at a time by the C library (docs/decisions/0004-elementary-functions.md)."""

_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARISONS = {"lt": "olt", "le": "ole", "eq": "oeq"}
_INTRINSICS = {"sqrt": "sqrt", "abs": "fabs"}


class SampleWriter:
    """Writes `@sample`."""

    def __init__(self, program: Program, precision: Precision, target: Target, lanes: int, *, zeros: bool) -> None:
        """`zeros`: whether results that are always zero are stored too, or whoever calls has cleared them before."""
        self._program = program
        self._precision = precision
        self._lanes = lanes
        self._zeros = zeros
        self._fma = target.fma
        # With 256-bit registers an instruction can take a whole register from memory, but not one number for all
        # its lanes: constants stand in a table, a register each. Wider and narrower ones need no help.
        self._constants: dict[str, int] | None = {} if lanes * precision.bits == 256 else None
        self._V = f"<{lanes} x {precision.type}>"
        self._overload = f"v{lanes}{precision.suffix}"
        self._lines: list[str] = []
        self._pairs: dict[str, int] = {}

    def text(self) -> str:
        program, V = self._program, self._V
        width = self._lanes * self._precision.bytes
        used = {a for s in program.body.statements for a in s.args if isinstance(a, int)}
        used.update(a for a in program.results if isinstance(a, int))
        number = 0
        for k, port in enumerate(program.inputs):
            for n in range(port.size):
                if number in used:
                    self._lines.append(f"  %p{number} = getelementptr {V}, ptr %in{k}, i64 {n}")
                    self._lines.append(f"  %v{number} = load {V}, ptr %p{number}, align {width}")
                number += 1
        for number, statement in enumerate(program.body.statements, program.input_size):
            self._statement(number, statement)
        results = iter(program.results)
        for k, port in enumerate(program.outputs):
            for n in range(port.size):
                result = next(results)
                if result == 0.0 and isinstance(result, float) and not self._zeros:
                    continue
                self._lines.append(f"  %r{k}_{n} = getelementptr {V}, ptr %out{k}, i64 {n}")
                self._lines.append(f"  store {V} {self._value(result)}, ptr %r{k}_{n}, align {width}")
        body = "\n".join(self._lines)
        pointers = ", ".join(f"ptr noalias %{name}" for name in port_names(program))
        function = f"define internal void @sample({pointers}) #0 {{\n{body}\n  ret void\n}}\n"
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


def port_names(program: Program) -> list[str]:
    """The parameters of `@sample`, in order."""
    return [f"in{k}" for k in range(len(program.inputs))] + [f"out{k}" for k in range(len(program.outputs))]

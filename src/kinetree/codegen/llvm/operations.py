"""The rule of each operation in LLVM IR, on registers that hold one sample per lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.codegen.llvm.precision import F64, Lanes
from kinetree.codegen.llvm.target import Target

__all__ = ["LIBM", "Operations", "declarations"]

LIBM = {"log": "log"}
"""Operations that the C library does lane by lane (decision 0004)."""

_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARISONS = {"lt": "olt", "le": "ole", "eq": "oeq"}
_INTRINSICS = {"sqrt": "sqrt", "abs": "fabs"}
_FUNCTIONS = {"atan2": "arc_tangent", "exp": "exponential", "tanh": "hyperbolic_tangent"}


def declarations(lanes: Lanes) -> str:
    """The intrinsics of a module, of its registers and of doubles."""
    declared = [
        "void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
        f"i1 @llvm.vector.reduce.and.v{lanes.count}i1(<{lanes.count} x i1>)",
    ]
    for kind in (lanes, Lanes(1, F64)):
        V, suffix = kind.numbers, kind.suffix
        declared.append(f"{V} @llvm.fma.{suffix}({V}, {V}, {V})")
        declared += [f"{V} @llvm.{name}.{suffix}({V})" for name in ("sqrt", "fabs", "floor", "arithmetic.fence")]
        declared.append(f"{V} @llvm.copysign.{suffix}({V}, {V})")
    return "\n".join(f"declare {line}" for line in dict.fromkeys(declared))


class Operations:
    """Writes instructions, each as one line of text, through `emit`. Sine and cosine are not among them."""

    def __init__(
        self,
        lanes: Lanes,
        target: Target,
        constant: Callable[[float], str],
        emit: Callable[[str], None],
    ) -> None:
        self._lanes = lanes
        self._fma = target.fma
        self._rounds = target.rounds
        self._constant = constant
        self._emit = emit
        self._V, self._flags, self._suffix = lanes.numbers, lanes.flags, lanes.suffix
        self._neutral = {lanes.number(x) for x in (1.0, 0.0, -0.0)}
        self._found: dict[tuple[str, str], str] = {}
        """Flags and negated numbers of this basic block, by their instruction and the register they are of."""

    def begin_block(self) -> None:
        """Compute flags and negated numbers again from here on: a flag that lives longer takes a register."""
        self._found.clear()

    def write(self, name: str, op: str, args: Sequence[str]) -> None:
        """Write name = op(args)."""
        V, emit = self._V, self._emit
        if op in _ARITHMETIC:
            emit(f"  {name} = {_ARITHMETIC[op]} {V} {args[0]}, {args[1]}")
        elif op == "neg":
            self._found["fneg", args[0]] = name
            emit(f"  {name} = fneg {V} {args[0]}")
        elif op in ("fma", "fms", "fnma"):
            self._multiply_add(name, op, *args)
        elif op in _INTRINSICS:
            emit(f"  {name} = call {V} @llvm.{_INTRINSICS[op]}.{self._suffix}({V} {args[0]})")
        elif op in _COMPARISONS:
            self._found["flag", name] = flag = f"{name}_c"
            emit(f"  {flag} = fcmp {_COMPARISONS[op]} {V} {args[0]}, {args[1]}")
            self._choose(name, flag, self._constant(1.0), self._constant(0.0))
        elif op == "select":
            self._select(name, *args)
        elif op in ("settled", "slopes_of"):
            emit(f"  {name} = select i1 true, {V} {args[0]}, {V} {args[0]}")
        elif op in ("min", "max"):
            self._extremum(name, "olt" if op == "min" else "ogt", *args)
        elif op == "floor":
            self._floor(name, *args)
        elif op in _FUNCTIONS:
            emit(f"  {name} = call {V} @{_FUNCTIONS[op]}({', '.join(f'{V} {a}' for a in args)})")
        elif op in LIBM:
            self._lane_by_lane(name, LIBM[op], args)
        else:
            raise NotImplementedError(f"the LLVM backend has no rule for {op!r}")

    def _multiply_add(self, name: str, op: str, a: str, b: str, c: str) -> None:
        V, emit = self._V, self._emit
        if not self._fma:
            emit(f"  {name}_p = fmul {V} {a}, {b}")
            left, right = (c, f"{name}_p") if op == "fnma" else (f"{name}_p", c)
            emit(f"  {name} = {'fadd' if op == 'fma' else 'fsub'} {V} {left}, {right}")
            return
        if op == "fnma":
            a = self._negated(a, name)
        elif op == "fms":
            c = self._negated(c, name)
        emit(f"  {name} = call {V} @llvm.fma.{self._suffix}({V} {a}, {V} {b}, {V} {c})")

    def _negated(self, x: str, name: str) -> str:
        if ("fneg", x) not in self._found:
            self._found["fneg", x] = f"{name}_n"
            self._emit(f"  {name}_n = fneg {self._V} {x}")
        return self._found["fneg", x]

    def _flag(self, x: str, name: str) -> str:
        """Whether a number is not zero: found again with several lanes, for which there are few registers of flags."""
        if ("flag", x) not in self._found or self._lanes.count > 1:
            self._found["flag", x] = f"{name}_c"
            self._emit(f"  {name}_c = fcmp une {self._V} {x}, {self._constant(0.0)}")
        return self._found["flag", x]

    def _choose(self, name: str, flag: str, a: str, b: str) -> None:
        self._emit(f"  {name} = select {self._flags} {flag}, {self._V} {a}, {self._V} {b}")

    def _select(self, name: str, condition: str, a: str, b: str) -> None:
        """A choice; one between a value and a neutral number is fenced off.

        Of x / select(c, y, 1) LLVM would make select(c, x / y, x), and 0 / 0 there raises a flag that the program does
        not mean.
        """
        flag = self._flag(condition, name)
        if a not in self._neutral and b not in self._neutral:
            self._choose(name, flag, a, b)
            return
        self._choose(f"{name}_s", flag, a, b)
        self._emit(f"  {name} = call {self._V} @llvm.arithmetic.fence.{self._suffix}({self._V} {name}_s)")

    def _extremum(self, name: str, predicate: str, a: str, b: str) -> None:
        """The smaller or larger value; NaN (from a sum) if either is NaN."""
        V, emit = self._V, self._emit
        emit(f"  {name}_o = fcmp {predicate} {V} {a}, {b}")
        emit(f"  {name}_m = select {self._flags} {name}_o, {V} {a}, {V} {b}")
        emit(f"  {name}_c = fcmp uno {V} {a}, {b}")
        emit(f"  {name}_s = fadd {V} {a}, {b}")
        self._choose(name, f"{name}_c", f"{name}_s", f"{name}_m")

    def _floor(self, name: str, x: str) -> None:
        """One instruction, or else a sum with 2⁵² (2²³), which rounds; rounding up is corrected."""
        V, emit = self._V, self._emit
        if self._rounds:
            emit(f"  {name} = call {V} @llvm.floor.{self._suffix}({V} {x})")
            return
        rounding = self._constant(2.0**52 if self._lanes.precision.bits == 64 else 2.0**23)
        emit(f"  {name}_b = call {V} @llvm.copysign.{self._suffix}({V} {rounding}, {V} {x})")
        emit(f"  {name}_s = fadd {V} {x}, {name}_b")
        emit(f"  {name}_n = fsub {V} {name}_s, {name}_b")
        emit(f"  {name}_d = fsub {V} {name}_n, {self._constant(1.0)}")
        emit(f"  {name}_u = fcmp ogt {V} {name}_n, {x}")
        emit(f"  {name}_f = select {self._flags} {name}_u, {V} {name}_d, {V} {name}_n")
        emit(f"  {name}_z = call {V} @llvm.copysign.{self._suffix}({V} {name}_f, {V} {x})")
        emit(f"  {name}_a = call {V} @llvm.fabs.{self._suffix}({V} {x})")
        emit(f"  {name}_c = fcmp uge {V} {name}_a, {rounding}")
        self._choose(name, f"{name}_c", x, f"{name}_z")

    def _lane_by_lane(self, name: str, function: str, args: Sequence[str]) -> None:
        lanes, t, emit = self._lanes, self._lanes.precision.type, self._emit
        total = "poison"
        for lane in range(lanes.count):
            doubles = []
            for k, a in enumerate(args):
                emit(f"  {name}_{lane}_{k} = {lanes.of(a, lane, t)}")
                doubles.append(f"{name}_{lane}_{k}")
                if t == "float":
                    emit(f"  {name}_{lane}_{k}w = fpext float {name}_{lane}_{k} to double")
                    doubles[-1] += "w"
            emit(f"  {name}_{lane}_r = call double @{function}({', '.join(f'double {d}' for d in doubles)})")
            result = f"{name}_{lane}_r"
            if t == "float":
                emit(f"  {result}n = fptrunc double {result} to float")
                result += "n"
            target = name if lane == lanes.count - 1 else f"{name}_{lane}"
            emit(f"  {target} = {lanes.with_lane(total, lane, t, result)}")
            total = target

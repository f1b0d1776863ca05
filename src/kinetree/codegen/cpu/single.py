"""The call for a single sample, in LLVM IR: `@call`, a C function for a Python builtin (`builtin.py`).

It checks that the arguments are ordinary arrays of one sample, and runs `@sample` on their numbers in place. Any other
call goes, unchanged, to the general function. Nothing here allocates except for the result. `@one(places)` is for other
callers, who have checked the arrays themselves; it answers 1, without a result, where a quaternion may lack a
direction, and otherwise 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.codegen.cpu.batch import FEW_QUATERNIONS, by_port, directions, has_direction
from kinetree.codegen.cpu.call import C_CONTIGUOUS, POINTER, WRITEABLE, CallWriter, are_moderate
from kinetree.codegen.cpu.module import Apart, sample_module
from kinetree.codegen.llvm.precision import Lanes, Precision
from kinetree.codegen.llvm.target import Target
from kinetree.expr import Port, Program

__all__ = ["emit_single"]


def emit_single(
    program: Program,
    precision: Precision,
    target: Target,
    quaternions: Sequence[tuple[int, int]] = (),
    optional: range = range(0),
    *,
    declines_huge: bool = False,
    apart: Apart | None = None,
) -> str:
    """A module, as text, that holds `@call`, the C function of a builtin, and `@context`, which it reads; and `@one`,
    if there is one result.

    `quaternions` are pairs (port, start) that locate four numbers of an input that need a direction: where their
    squared length is not well inside the range of normal numbers, the general function decides, and raises the error.
    `declines_huge`: so it does where not all numbers of a result are moderate (`are_moderate`). `optional` is as for
    `CallWriter`, and `apart` as for `sample_module`.

    >>> from kinetree.codegen.llvm.precision import F64

    >>> from kinetree.codegen.llvm.target import host
    >>> from kinetree.expr import trace
    >>> double = trace(lambda x: [[2.0 * x[0]]], [Port("x", (1,))], [Port("y", (1,))], "double")
    >>> "define ptr @call" in emit_single(double, F64, host())
    True
    """
    sample = sample_module(program, precision, target, 1, zeros=True, apart=apart)
    lanes = Lanes(1, precision)
    many = {k: starts for k, starts in by_port(quaternions).items() if len(starts) > FEW_QUATERNIONS}
    parts = [sample, *(directions(f"{k}", starts, lanes) for k, starts in many.items())]
    parts += [_SingleWriter(program, precision, quaternions, optional, declines_huge).text()]
    if len(program.outputs) == 1:
        parts.append(_SingleWriter(program, precision, quaternions, range(0), declines_huge).at_places())
    return "\n".join(parts)


class _SingleWriter(CallWriter):
    """Writes `@call`."""

    def __init__(
        self,
        program: Program,
        precision: Precision,
        quaternions: Sequence[tuple[int, int]],
        optional: range,
        declines_huge: bool,
    ) -> None:
        super().__init__(program, precision, optional)
        self._quaternions = quaternions
        self._declines_huge = declines_huge and len(self._outputs) == 1 and self._outputs[0].shape != ()

    def text(self) -> str:
        emit = self._lines.append
        for k, port in enumerate(self._outputs):
            if not port.shape:
                emit(f"  %result{k} = alloca {self._precision.type}")
        self._keywords()
        for k, port in enumerate(self._inputs):
            given = self._load("ptr", self._offset("%args", k * POINTER))
            if not port.shape:
                self._number_or_array(k, given, port)
                continue
            self._check(given, port)
            emit(f"  %in{k} = load ptr, ptr {self._field(given, 'data')}")
        for k in by_port(self._quaternions):
            self._check_quaternions(f"%in{k}", k)
        emit("  %is_new = icmp eq ptr %given, null")
        emit(f"  br i1 %is_new, label %new, label %{'into' if len(self._outputs) == 1 else 'general'}")
        if len(self._outputs) == 1:
            emit("into:")
            self._into_given(*self._outputs)
            emit("new:")
            self._into_new(*self._outputs)
        else:
            emit("new:")
            self._into_tuple()
        moderate = [are_moderate(self._precision)] if self._declines_huge else []
        return "\n".join((*self._shapes(), *moderate, self._function()))

    def at_places(self) -> str:
        """`@one`: a sample whose numbers are at the places in a table, the inputs' and then that of the result."""
        count = len(self._inputs) + 1
        places = ", ".join(f"ptr {self._load('ptr', self._offset('%places', k * POINTER))}" for k in range(count))
        for k in by_port(self._quaternions):
            self._check_quaternions(self._load("ptr", self._offset("%places", k * POINTER)), k)
        self._lines += [f"  call void @sample({places})", "  ret i64 0"]
        if self._quaternions:
            self._lines += ["general:", "  ret i64 1"]
        return "\n".join(("define i64 @one(ptr %places) nounwind {", *self._lines, "}\n"))

    def _shapes(self) -> list[str]:
        return [
            f"@shape{k} = internal constant [{len(port.shape)} x i64] [{', '.join(f'i64 {n}' for n in port.shape)}]"
            for k, port in enumerate(self._outputs)
            if port.shape
        ]

    def _check(self, array: str, port: Port, flags: int = C_CONTIGUOUS) -> None:
        """Go on only if an object is an array of this shape that can be read or written in place."""
        self._check_type(array)
        for condition in self._is_usable(array, flags):
            self._require(condition)
        self._require(f"icmp eq i32 {self._load('i32', self._field(array, 'nd'))}, {len(port.shape)}")
        if port.shape:
            dimensions = self._load("ptr", self._field(array, "dimensions"))
            for axis, n in enumerate(port.shape):
                self._require(f"icmp eq i64 {self._load('i64', self._offset(dimensions, axis * POINTER))}, {n}")

    def _number_or_array(self, k: int, given: str, port: Port) -> None:
        """Write `%in{k}`: where the number of an argument without axes is, in an array or in a number's own object."""
        emit = self._lines.append
        type_of = self._type(given)
        matches = []
        for field in ("number", "scalar"):
            matches.append(self._name())
            emit(f"  {matches[-1]} = icmp eq ptr {type_of}, {self._context(field)}")
        emit(f"  %is_number{k} = or i1 {matches[0]}, {matches[1]}")
        emit(f"  br i1 %is_number{k}, label %number{k}, label %no_number{k}\nnumber{k}:")
        emit(f"  %place{k} = getelementptr i8, ptr {given}, i64 {object.__basicsize__}")
        emit(f"  br label %taken{k}\nno_number{k}:")
        self._check(given, port)
        emit(f"  %data{k} = load ptr, ptr {self._field(given, 'data')}")
        emit(f"  br label %array{k}\narray{k}:\n  br label %taken{k}\ntaken{k}:")
        emit(f"  %in{k} = phi ptr [%place{k}, %number{k}], [%data{k}, %array{k}]")

    def _check_quaternions(self, numbers: str, k: int) -> None:
        """Go on only if all quaternions of an input certainly have a direction."""
        starts = by_port(self._quaternions)[k]
        if len(starts) > FEW_QUATERNIONS:
            self._require(f"call i1 @have_directions_{k}(ptr {numbers})")
            return
        for start in starts:
            self._check_quaternion(numbers, start)

    def _check_quaternion(self, numbers: str, start: int) -> None:
        """Go on only if four numbers certainly have a direction."""
        lanes = Lanes(1, self._precision)
        places = [self._offset(numbers, k * self._precision.bytes) for k in range(start, start + 4)]
        lines, condition = has_direction(
            [self._load(lanes.numbers, place) for place in places], lanes, self._name()[1:]
        )
        self._lines += lines
        self._require(condition)

    def _into_given(self, port: Port) -> None:
        self._check("%given", port, C_CONTIGUOUS | WRITEABLE)
        data = self._load("ptr", self._field("%given", "data"))
        for k, source in enumerate(self._inputs):
            if source.size and port.size:
                self._require(self._is_apart(data, self._bytes(port), f"%in{k}", self._bytes(source)))
        self._lines.append(f"  call void @sample({self._with_outputs([data])})")
        if self._declines_huge:
            self._require(f"call i1 @are_moderate(ptr {data}, i64 {port.size})")
        self._lines.append(f"  %result = call ptr {self._context('new_reference')}(ptr %given)")
        self._lines.append("  ret ptr %result")

    def _into_new(self, port: Port) -> None:
        if not port.shape:
            self._lines.append(f"  call void @sample({self._with_outputs(['%result0'])})")
            self._lines.append(f"  ret ptr {self._new_scalar(0)}")
            return
        array = self._new_array(0)
        self._unless_null(array)
        data = self._load("ptr", self._field(array, "data"))
        self._lines.append(f"  call void @sample({self._with_outputs([data])})")
        if self._declines_huge:
            self._require(f"call i1 @are_moderate(ptr {data}, i64 {port.size})", otherwise="huge")
        self._lines.append(f"  ret ptr {array}")
        if self._declines_huge:
            self._lines.append("huge:")
            self._lines.append(f"  call void {self._context('release')}(ptr {array})\n  br label %general")

    def _into_tuple(self) -> None:
        """Return several results. The tuple owns each from the start, so that releasing it is enough if one fails."""
        self._lines.append(f"  %tuple = call ptr {self._context('new_tuple')}(i64 {len(self._outputs)})")
        self._unless_null("%tuple")
        data = []
        for k, port in enumerate(self._outputs):
            data.append(f"%result{k}")
            if port.shape:
                array = self._new_array(k)
                self._put(k, array)
                data[-1] = self._load("ptr", self._field(array, "data"))
        self._lines.append(f"  call void @sample({self._with_outputs(data)})")
        for k, port in enumerate(self._outputs):
            if not port.shape:
                self._put(k, self._new_scalar(k))
        self._lines.append("  ret ptr %tuple\nfailed:")
        self._lines.append(f"  call void {self._context('release')}(ptr %tuple)\n  ret ptr null")

    def _put(self, k: int, item: str) -> None:
        self._unless_null(item, failed="failed")
        self._lines.append(f"  {self._name()} = call i32 {self._context('set_item')}(ptr %tuple, i64 {k}, ptr {item})")

    def _new_array(self, k: int) -> str:
        return self._new(len(self._outputs[k].shape), f"@shape{k}")

    def _new_scalar(self, k: int) -> str:
        """A NumPy scalar, as ufuncs return it for results without axes."""
        scalar = self._name()
        descr, create = self._context("descr"), self._context("new_scalar")
        self._lines.append(f"  {scalar} = call ptr {create}(ptr %result{k}, ptr {descr}, ptr null)")
        return scalar

    def _with_outputs(self, data: Sequence[str]) -> str:
        inputs = [f"%in{k}" for k in range(len(self._inputs))]
        return ", ".join(f"ptr {pointer}" for pointer in (*inputs, *data))

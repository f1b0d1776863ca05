"""The call of a single sample, in LLVM's language: `@call`, a C function for a Python builtin (`builtin.py`).

It looks whether the arguments are ordinary arrays of one sample, and runs `@sample` on their numbers where they stand.
Whatever else comes goes, as it came, to the general function. Nothing here allocates but the result.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from kinetree.codegen.builtin import ArrayObject, Context
from kinetree.codegen.llvm import sample_module
from kinetree.codegen.precision import Precision
from kinetree.codegen.target import Target
from kinetree.expr import Port, Program

__all__ = ["emit_single"]

_HEAD = "define ptr @call(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) nounwind {\nstart:"

_POINTER = ctypes.sizeof(ctypes.c_void_p)
_TYPE, _LENGTH = _POINTER, 2 * _POINTER  # where any object has its type, and a tuple its number of items
_C_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x0001, 0x0100, 0x0400  # NPY_ARRAY_…


def emit_single(
    program: Program, precision: Precision, target: Target, quaternions: Sequence[tuple[int, int]] = ()
) -> str:
    """A module, as text, that holds `@call`, the C function of a builtin, and `@context`, which it reads.

    `quaternions` are pairs (port, start) of four numbers of an input that need a direction: where their squared
    length is not well inside the range of normal numbers, the general function shall judge, and say what is wrong.

    >>> from kinetree.codegen import F64, host
    >>> from kinetree.expr import trace
    >>> double = trace(lambda x: [[2.0 * x[0]]], [Port("x", (1,))], [Port("y", (1,))], "double")
    >>> "define ptr @call" in emit_single(double, F64, host())
    True
    """
    sample = sample_module(program, precision, target, 1, zeros=True)
    return f"{sample}\n{_CallWriter(program, precision, quaternions).text()}"


class _CallWriter:
    """Writes `@call`."""

    def __init__(self, program: Program, precision: Precision, quaternions: Sequence[tuple[int, int]]) -> None:
        self._inputs, self._outputs = program.inputs, program.outputs
        self._precision = precision
        self._quaternions = quaternions
        self._lines: list[str] = []
        self._count = 0

    def text(self) -> str:
        emit = self._lines.append
        for k, port in enumerate(self._outputs):
            if not port.shape:
                emit(f"  %number{k} = alloca {self._precision.type}")
        self._keywords()
        for k, port in enumerate(self._inputs):
            array = self._load("ptr", self._offset("%args", k * _POINTER))
            self._check(array, port, _C_CONTIGUOUS | _ALIGNED)
            emit(f"  %in{k} = load ptr, ptr {self._field(array, 'data')}")
        for k, start in self._quaternions:
            self._check_quaternion(f"%in{k}", start)
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
        emit("general:")
        general, call = self._context("general"), self._context("vectorcall")
        emit(f"  %answer = call ptr {call}(ptr {general}, ptr %args, i64 %nargs, ptr %kwnames)")
        emit("  ret ptr %answer\nnothing:\n  ret ptr null")
        return "\n".join((*self._globals(), _HEAD, *self._lines, "}\n"))

    def _globals(self) -> list[str]:
        context = f"@context = dso_local global [{ctypes.sizeof(Context)} x i8] zeroinitializer, align {_POINTER}"
        shapes = [
            f"@shape{k} = internal constant [{len(port.shape)} x i64] [{', '.join(f'i64 {n}' for n in port.shape)}]"
            for k, port in enumerate(self._outputs)
            if port.shape
        ]
        return [context, *shapes]

    def _keywords(self) -> None:
        """The number of arguments, and `%given`: what came as out=, null if nothing or None."""
        n, emit = len(self._inputs), self._lines.append
        emit(f"  %fits = icmp eq i64 %nargs, {n}\n  br i1 %fits, label %counted, label %general\ncounted:")
        emit("  %is_plain = icmp eq ptr %kwnames, null\n  br i1 %is_plain, label %arguments, label %named\nnamed:")
        self._require(f"icmp eq i64 {self._load('i64', self._offset('%kwnames', _LENGTH))}, 1")
        emit(f"  %items = getelementptr i8, ptr %kwnames, i64 {self._context('tuple_items', 'i64')}")
        # Names in a program's text are interned: another object is another name, or a rare way of calling.
        self._require(f"icmp eq ptr {self._load('ptr', '%items')}, {self._context('out')}")
        value = self._load("ptr", self._offset("%args", n * _POINTER))
        emit(f"  %is_none = icmp eq ptr {value}, {self._context('none')}")
        emit(f"  %value = select i1 %is_none, ptr null, ptr {value}")
        emit("  br label %chosen\nchosen:\n  br label %arguments\narguments:")
        emit("  %given = phi ptr [null, %counted], [%value, %chosen]")

    def _check(self, array: str, port: Port, flags: int) -> None:
        """Go on only if an object is an array of this shape, to be read or written in place."""
        self._require(f"icmp eq ptr {self._load('ptr', self._offset(array, _TYPE))}, {self._context('array_type')}")
        self._require(f"icmp eq ptr {self._load('ptr', self._field(array, 'descr'))}, {self._context('descr')}")
        self._require(f"icmp eq i32 {self._load('i32', self._field(array, 'nd'))}, {len(port.shape)}")
        has = self._name()
        self._lines.append(f"  {has} = and i32 {self._load('i32', self._field(array, 'flags'))}, {flags}")
        self._require(f"icmp eq i32 {has}, {flags}")
        if port.shape:
            dimensions = self._load("ptr", self._field(array, "dimensions"))
            for axis, n in enumerate(port.shape):
                self._require(f"icmp eq i64 {self._load('i64', self._offset(dimensions, axis * _POINTER))}, {n}")

    def _check_quaternion(self, numbers: str, start: int) -> None:
        """Go on only if four numbers have a direction beyond doubt."""
        precision, t = self._precision, self._precision.type
        squares = []
        for k in range(start, start + 4):
            x, square = self._load(t, self._offset(numbers, k * precision.bytes)), self._name()
            self._lines.append(f"  {square} = fmul {t} {x}, {x}")
            squares.append(square)
        total = squares[0]
        for square in squares[1:]:
            so_far, total = total, self._name()
            self._lines.append(f"  {total} = fadd {t} {so_far}, {square}")
        # A factor of two from the ends, so that how the sum is rounded decides nothing.
        limits = np.finfo(precision.char)
        self._require(f"fcmp oge {t} {total}, {precision.literal(2.0 * float(limits.tiny))}")
        self._require(f"fcmp ole {t} {total}, {precision.literal(0.5 * float(limits.max))}")

    def _into_given(self, port: Port) -> None:
        self._check("%given", port, _C_CONTIGUOUS | _ALIGNED | _WRITEABLE)
        data = self._load("ptr", self._field("%given", "data"))
        for k, source in enumerate(self._inputs):
            if source.size and port.size:
                self._check_apart(data, self._bytes(port), f"%in{k}", self._bytes(source))
        self._lines.append(f"  call void @sample({self._with_outputs([data])})")
        self._lines.append(f"  %result = call ptr {self._context('new_reference')}(ptr %given)")
        self._lines.append("  ret ptr %result")

    def _check_apart(self, a: str, a_size: int, b: str, b_size: int) -> None:
        """Go on only if two pieces of memory have no byte in common."""
        before, after = self._name(), self._name()
        a_end, b_end = self._offset(a, a_size), self._offset(b, b_size)
        self._lines.append(f"  {before} = icmp ule ptr {a_end}, {b}")
        self._lines.append(f"  {after} = icmp ule ptr {b_end}, {a}")
        self._require(f"or i1 {before}, {after}")

    def _into_new(self, port: Port) -> None:
        if not port.shape:
            self._lines.append(f"  call void @sample({self._with_outputs(['%number0'])})")
            self._lines.append(f"  ret ptr {self._new_scalar(0)}")
            return
        array = self._new_array(0)
        self._unless_null(array)
        data = self._load("ptr", self._field(array, "data"))
        self._lines.append(f"  call void @sample({self._with_outputs([data])})")
        self._lines.append(f"  ret ptr {array}")

    def _into_tuple(self) -> None:
        """Several results. The tuple owns each from the start, so that letting go of it is enough if one fails."""
        self._lines.append(f"  %tuple = call ptr {self._context('new_tuple')}(i64 {len(self._outputs)})")
        self._unless_null("%tuple")
        data = []
        for k, port in enumerate(self._outputs):
            data.append(f"%number{k}")
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
        array, shape = self._name(), self._outputs[k].shape
        rank, number = len(shape), np.dtype(self._precision.char).num
        self._lines.append(
            f"  {array} = call ptr {self._context('new_array')}(ptr {self._context('array_type')}, i32 {rank}, "
            f"ptr @shape{k}, i32 {number}, ptr null, ptr null, i32 0, i32 0, ptr null)"
        )
        return array

    def _new_scalar(self, k: int) -> str:
        """A NumPy scalar, which is what ufuncs return for results without axes."""
        scalar = self._name()
        descr, create = self._context("descr"), self._context("new_scalar")
        self._lines.append(f"  {scalar} = call ptr {create}(ptr %number{k}, ptr {descr}, ptr null)")
        return scalar

    def _with_outputs(self, data: Sequence[str]) -> str:
        inputs = [f"%in{k}" for k in range(len(self._inputs))]
        return ", ".join(f"ptr {pointer}" for pointer in (*inputs, *data))

    def _bytes(self, port: Port) -> int:
        return port.size * self._precision.bytes

    def _require(self, condition: str, otherwise: str = "general") -> None:
        """Go on only if the condition holds."""
        holds = self._name()
        label = holds[1:] + "_yes"
        self._lines += [f"  {holds} = {condition}", f"  br i1 {holds}, label %{label}, label %{otherwise}", f"{label}:"]

    def _unless_null(self, pointer: str, failed: str = "nothing") -> None:
        """Go on only if a new object is there; the exception is set where it is not."""
        self._require(f"icmp ne ptr {pointer}, null", failed)

    def _context(self, field: str, t: str = "ptr") -> str:
        return self._load(t, self._offset("@context", getattr(Context, field).offset))

    def _field(self, array: str, field: str) -> str:
        return self._offset(array, getattr(ArrayObject, field).offset)

    def _offset(self, pointer: str, offset: int) -> str:
        name = self._name()
        self._lines.append(f"  {name} = getelementptr i8, ptr {pointer}, i64 {offset}")
        return name

    def _load(self, t: str, pointer: str) -> str:
        name = self._name()
        self._lines.append(f"  {name} = load {t}, ptr {pointer}")
        return name

    def _name(self) -> str:
        self._count += 1
        return f"%t{self._count}"

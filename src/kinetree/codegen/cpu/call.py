"""A C function for a Python builtin (`builtin.py`), in LLVM IR: common parts of one sample and a batch.

It reads the fields of Python's and NumPy's objects in place, and passes every call it does not accept, unchanged, to
the next module or the general function.
"""

from __future__ import annotations

import ctypes

import numpy as np

from kinetree.codegen.backend import HUGE
from kinetree.codegen.cpu.builtin import ArrayObject, Context
from kinetree.codegen.llvm.precision import Precision
from kinetree.expr import Port, Program

__all__ = ["C_CONTIGUOUS", "POINTER", "WRITEABLE", "CallWriter", "are_moderate"]

POINTER = ctypes.sizeof(ctypes.c_void_p)
_TYPE, _LENGTH = POINTER, 2 * POINTER  # offsets of any object's type and of a tuple's number of items
C_CONTIGUOUS, WRITEABLE = 0x0001 | 0x0100, 0x0400  # NPY_ARRAY_…, with NPY_ARRAY_ALIGNED


def are_moderate(precision: Precision) -> str:
    """`@are_moderate`: whether all numbers of an array are smaller than `HUGE`, so that none is NaN."""
    t = precision.type
    return f"""\
define internal i1 @are_moderate(ptr %x, i64 %count) nounwind {{
start:
  br label %loop
loop:
  %k = phi i64 [0, %start], [%next, %test]
  %so_far = phi i1 [true, %start], [%all, %test]
  %is_more = icmp slt i64 %k, %count
  br i1 %is_more, label %test, label %end
test:
  %place = getelementptr {t}, ptr %x, i64 %k
  %number = load {t}, ptr %place
  %is_below = fcmp olt {t} %number, {precision.literal(HUGE)}
  %is_above = fcmp ogt {t} %number, {precision.literal(-HUGE)}
  %is_moderate = and i1 %is_below, %is_above
  %all = and i1 %so_far, %is_moderate
  %next = add i64 %k, 1
  br label %loop
end:
  ret i1 %so_far
}}
"""


class CallWriter:
    """Writes `@call`, line by line."""

    def __init__(self, program: Program, precision: Precision, optional: range = range(0)) -> None:
        """`optional`: the inputs whose last few may be omitted in calls; the context has their substitutes."""
        self._inputs, self._outputs = program.inputs, program.outputs
        self._precision = precision
        self._optional = optional
        self._lines: list[str] = []
        self._count = 0

    def _function(self) -> str:
        """Everything written, as `@call`, ending with the block that passes on calls not accepted (`%general`)."""
        self._lines.append("general:")
        following = self._context("next")
        self._lines += [
            f"  %is_last = icmp eq ptr {following}, null",
            "  br i1 %is_last, label %last, label %onward",
            "onward:",
            f"  %next_answer = tail call ptr {following}(ptr %self, ptr %given_args, i64 %nargs, ptr %kwnames)",
            "  ret ptr %next_answer",
            "last:",
        ]
        general, call = self._context("general"), self._context("vectorcall")
        self._lines += [
            f"  %answer = call ptr {call}(ptr {general}, ptr %given_args, i64 %nargs, ptr %kwnames)",
            "  ret ptr %answer",
            "nothing:",
            "  ret ptr null",
        ]
        context = f"@context = dso_local global [{ctypes.sizeof(Context)} x i8] zeroinitializer, align {POINTER}"
        head = "define ptr @call(ptr %self, ptr %given_args, i64 %nargs, ptr %kwnames) nounwind {\nstart:"
        return "\n".join((context, head, *self._lines, "}\n"))

    def _keywords(self) -> None:
        """Write the argument count check, `%args`: all arguments, and then the value of out= if it is given, and
        `%given`: this value, null if it is missing or None."""
        n, emit = len(self._inputs), self._lines.append
        emit("  %is_plain = icmp eq ptr %kwnames, null")
        left_out = range(1, len(self._optional) + 1)
        if left_out:
            emit(f"  %filled = alloca [{n + 1} x ptr]")
        cases = " ".join([f"i64 {n}, label %counted", *(f"i64 {n - k}, label %fewer{k}" for k in left_out)])
        emit(f"  switch i64 %nargs, label %general [{cases}]")
        for k in left_out:
            self._fill(k)
        filled = ", ".join(["[%given_args, %start]", *(f"[%filled, %fewer{k}]" for k in left_out)])
        emit(f"counted:\n  %args = phi ptr {filled}\n  br i1 %is_plain, label %arguments, label %named\nnamed:")
        self._require(f"icmp eq i64 {self._load('i64', self._offset('%kwnames', _LENGTH))}, 1")
        emit(f"  %items = getelementptr i8, ptr %kwnames, i64 {self._context('tuple_items', 'i64')}")
        # Names in a program's text are interned: another object is another name, or a rare way of calling.
        self._require(f"icmp eq ptr {self._load('ptr', '%items')}, {self._context('out')}")
        value = self._load("ptr", self._offset("%args", n * POINTER))
        emit(f"  %is_none = icmp eq ptr {value}, {self._context('none')}")
        emit(f"  %value = select i1 %is_none, ptr null, ptr {value}")
        emit("  br label %chosen\nchosen:\n  br label %arguments\narguments:")
        emit("  %given = phi ptr [null, %counted], [%value, %chosen]")

    def _fill(self, left_out: int) -> None:
        """Write the block for a call that leaves out so many arguments."""
        n, place = len(self._inputs), self._optional.stop - left_out
        self._lines.append(f"fewer{left_out}:")
        values = self._context("left_out")
        sources = [self._offset("%given_args", k * POINTER) for k in range(n - left_out)]
        first = len(self._optional) - left_out
        sources[place:place] = [self._offset(values, (first + k) * POINTER) for k in range(left_out)]
        last, valid = self._name(), self._offset("%given_args", (n - left_out) * POINTER)
        self._lines.append(f"  {last} = select i1 %is_plain, ptr {values}, ptr {valid}")
        for k, source in enumerate([*sources, last]):
            self._lines.append(f"  store ptr {self._load('ptr', source)}, ptr {self._offset('%filled', k * POINTER)}")
        self._lines.append("  br label %counted")

    def _check_type(self, *objects: str) -> None:
        """Go on only if all are arrays, not of a subclass."""
        array_type = self._context("array_type")
        self._require(*(f"icmp eq ptr {self._type(x)}, {array_type}" for x in objects))

    def _type(self, given: str) -> str:
        """An object's type."""
        return self._load("ptr", self._offset(given, _TYPE))

    def _is_usable(self, array: str, flags: int) -> tuple[str, str]:
        """The conditions that an array has the right dtype and can be read or written in place."""
        has = self._name()
        self._lines.append(f"  {has} = and i32 {self._load('i32', self._field(array, 'flags'))}, {flags}")
        descr = self._load("ptr", self._field(array, "descr"))
        return f"icmp eq i32 {has}, {flags}", f"icmp eq ptr {descr}, {self._context('descr')}"

    def _is_apart(self, a: str, a_size: int | str, b: str, b_size: int | str) -> str:
        """The condition that two pieces of memory do not overlap."""
        before, after = self._name(), self._name()
        a_end, b_end = self._offset(a, a_size), self._offset(b, b_size)
        self._lines.append(f"  {before} = icmp ule ptr {a_end}, {b}")
        self._lines.append(f"  {after} = icmp ule ptr {b_end}, {a}")
        return f"or i1 {before}, {after}"

    def _new(self, rank: int | str, shape: str) -> str:
        """A new array of results."""
        array, number = self._name(), np.dtype(self._precision.char).num
        self._lines.append(
            f"  {array} = call ptr {self._context('new_array')}(ptr {self._context('array_type')}, i32 {rank}, "
            f"ptr {shape}, i32 {number}, ptr null, ptr null, i32 0, i32 0, ptr null)"
        )
        return array

    def _bytes(self, port: Port) -> int:
        return port.size * self._precision.bytes

    def _require(self, *conditions: str, otherwise: str = "general") -> None:
        """Go on only if all conditions hold. One branch for several compiles faster."""
        holds = ""
        for condition in conditions:
            holds, so_far = self._name(), holds
            self._lines.append(f"  {holds} = {condition}")
            if so_far:
                both = self._name()
                self._lines.append(f"  {both} = and i1 {so_far}, {holds}")
                holds = both
        label = holds[1:] + "_yes"
        self._lines += [f"  br i1 {holds}, label %{label}, label %{otherwise}", f"{label}:"]

    def _unless_null(self, pointer: str, failed: str = "nothing") -> None:
        """Go on only if a new object was created; otherwise the exception is already set."""
        self._require(f"icmp ne ptr {pointer}, null", otherwise=failed)

    def _context(self, field: str, t: str = "ptr") -> str:
        return self._load(t, self._offset("@context", getattr(Context, field).offset))

    def _field(self, array: str, field: str) -> str:
        return self._offset(array, getattr(ArrayObject, field).offset)

    def _offset(self, pointer: str, offset: int | str) -> str:
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

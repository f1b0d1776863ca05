"""The call for a batch too small for threads, in LLVM IR: `@call`, as `single.py` has it for one sample.

Ordinary arrays with the same leading axes, or with none where one sample serves all, go to `@kernel` at once. The steps
of NumPy around a ufunc's loop are done here: the result is allocated, the interpreter's lock is released for longer
batches, and floating-point errors are checked. If there were any, or a quaternion may have no direction, the general
function computes the batch once more and raises the error.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.codegen.cpu.call import C_CONTIGUOUS, POINTER, WRITEABLE, CallWriter, are_moderate
from kinetree.codegen.cpu.module import Apart, emit
from kinetree.codegen.cpu.views import COPY, PRODUCT, SAME
from kinetree.codegen.llvm.precision import Precision
from kinetree.codegen.llvm.target import Target
from kinetree.expr import Port, Program

__all__ = ["emit_batch"]

_MOST_AXES = 8
"""Maximum number of leading axes; arrays with more are rare."""


def emit_batch(
    program: Program,
    precision: Precision,
    target: Target,
    quaternions: Sequence[tuple[int, int]] = (),
    optional: range = range(0),
    *,
    declines_huge: bool = False,
    apart: Apart | None = None,
) -> str:
    """The module of `emit` for a program with one result, plus `@call`, the C function of a builtin.

    >>> from kinetree.codegen.llvm.precision import F64

    >>> from kinetree.codegen.llvm.target import host
    >>> from kinetree.expr import trace
    >>> double = trace(lambda x: [[2.0 * x[0]]], [Port("x", (1,))], [Port("y", (1,))], "double")
    >>> "define ptr @call" in emit_batch(double, F64, host())
    True
    """
    kernel = emit(program, precision, target, quaternions, apart=apart)
    writer = _BatchWriter(program, precision, optional, looks=bool(quaternions), declines_huge=declines_huge)
    return f"{kernel}\n{SAME}{PRODUCT}{COPY}\n{are_moderate(precision) if declines_huge else ''}{writer.text()}"


class _BatchWriter(CallWriter):
    """Writes `@call`."""

    def __init__(
        self, program: Program, precision: Precision, optional: range, *, looks: bool, declines_huge: bool
    ) -> None:
        """`looks`: whether the kernel checks quaternions. `declines_huge`: as for `emit_single`."""
        super().__init__(program, precision, optional)
        (self._output,) = program.outputs
        self._looks = looks
        self._declines_huge = declines_huge
        self._flags = "null"

    def text(self) -> str:
        emit, ports = self._lines.append, [*self._inputs, self._output]
        emit(f"  %pointers = alloca [{len(ports)} x ptr]")
        emit(f"  %steps = alloca [{len(ports) + sum(len(port.shape) for port in ports)} x i64]")
        emit(f"  %shape = alloca [{_MOST_AXES + len(self._output.shape)} x i64]")
        emit("  %dimensions = alloca i64")
        self._keywords()
        if self._looks:
            self._flags = self._context("flags")
            self._check_no_doubt()
        for k in range(len(self._inputs)):
            emit(f"  %array{k} = load ptr, ptr {self._offset('%args', k * POINTER)}")
        self._check_type(*(f"%array{k}" for k in range(len(self._inputs))))
        for k, port in enumerate(self._inputs):
            self._check_sample(f"%array{k}", port, k)
        self._batch_shape()
        for k, port in enumerate(self._inputs):
            self._input_steps(k, port)
        self._result()
        self._core_steps(ports)
        self._run()
        return self._function()

    def _check_sample(self, array: str, port: Port, k: int | str, flags: int = C_CONTIGUOUS) -> None:
        """Go on only if an array can hold samples; define `%lead…`, the number of leading axes, and `%extents…`."""
        emit = self._lines.append
        emit(f"  %extents{k} = load ptr, ptr {self._field(array, 'dimensions')}")
        emit(f"  %axes{k} = load i32, ptr {self._field(array, 'nd')}")
        emit(f"  %all{k} = sext i32 %axes{k} to i64\n  %lead{k} = sub i64 %all{k}, {len(port.shape)}")
        self._require(*self._is_usable(array, flags), f"icmp sge i64 %lead{k}, 0")
        if port.shape:
            emit(f"  %core{k} = getelementptr i64, ptr %extents{k}, i64 %lead{k}")
            extents = [self._load("i64", self._offset(f"%core{k}", axis * POINTER)) for axis in range(len(port.shape))]
            self._require(*(f"icmp eq i64 {x}, {n}" for x, n in zip(extents, port.shape, strict=True)))

    def _batch_shape(self) -> None:
        """Define `%lead` leading axes of `%extents`, from the first argument that has any, and `%count` samples."""
        emit, lead, extents = self._lines.append, "%lead0", "%extents0"
        for k in range(1, len(self._inputs)):
            emit(f"  %none{k} = icmp eq i64 {lead}, 0")
            emit(f"  %lead_to{k} = select i1 %none{k}, i64 %lead{k}, i64 {lead}")
            emit(f"  %extents_to{k} = select i1 %none{k}, ptr %extents{k}, ptr {extents}")
            lead, extents = f"%lead_to{k}", f"%extents_to{k}"
        emit(f"  %lead = add i64 {lead}, 0\n  %extents = getelementptr i8, ptr {extents}, i64 0")
        self._require("icmp sge i64 %lead, 1", f"icmp sle i64 %lead, {_MOST_AXES}")
        emit("  call void @copy(ptr %extents, ptr %shape, i64 %lead)")
        emit("  %count = call i64 @product(ptr %extents, i64 %lead)")
        most = self._context("most", "i64")
        self._require("icmp sge i64 %count, 1", f"icmp sle i64 %count, {most}")

    def _input_steps(self, k: int, port: Port) -> None:
        """Go on only if an argument is a batch of this shape, or one sample; store its place, step and `%bytes…`."""
        emit, size = self._lines.append, self._bytes(port)
        emit(f"  %one{k} = icmp eq i64 %lead{k}, 0\n  %many{k} = icmp eq i64 %lead{k}, %lead")
        self._require(f"or i1 %one{k}, %many{k}")
        self._require(f"call i1 @same(ptr %extents{k}, ptr %extents, i64 %lead{k})")
        emit(f"  %step{k} = select i1 %one{k}, i64 0, i64 {size}")
        emit(f"  %samples{k} = select i1 %one{k}, i64 1, i64 %count\n  %bytes{k} = mul i64 %samples{k}, {size}")
        emit(f"  %data{k} = load ptr, ptr {self._field(f'%array{k}', 'data')}")
        self._store("ptr", f"%data{k}", "%pointers", k)
        self._store("i64", f"%step{k}", "%steps", k)

    def _result(self) -> None:
        """Define `%result`: the array given as out= if it fits and overlaps no argument, or a new array."""
        emit, port, size = self._lines.append, self._output, self._bytes(self._output)
        emit("  %is_new = icmp eq ptr %given, null\n  br i1 %is_new, label %new, label %into\ninto:")
        self._check_type("%given")
        self._check_sample("%given", port, "_out", C_CONTIGUOUS | WRITEABLE)
        self._require("icmp eq i64 %lead_out, %lead")
        self._require("call i1 @same(ptr %extents_out, ptr %extents, i64 %lead)")
        emit(f"  %data_out = load ptr, ptr {self._field('%given', 'data')}\n  %bytes_out = mul i64 %count, {size}")
        read = [k for k, source in enumerate(self._inputs) if source.size]
        if read:
            self._require(*(self._is_apart("%data_out", "%bytes_out", f"%data{k}", f"%bytes{k}") for k in read))
        emit("  br label %into_given\ninto_given:\n  br label %work\nnew:")
        if port.shape:
            emit("  %core_shape = getelementptr i64, ptr %shape, i64 %lead")
        for axis, n in enumerate(port.shape):
            self._store("i64", n, "%core_shape", axis)
        emit(f"  %rank_64 = add i64 %lead, {len(port.shape)}\n  %rank = trunc i64 %rank_64 to i32")
        array = self._new("%rank", "%shape")
        self._unless_null(array)
        emit("  br label %into_new\ninto_new:\n  br label %work\nwork:")
        emit(f"  %result = phi ptr [%given, %into_given], [{array}, %into_new]")
        emit(f"  %data = load ptr, ptr {self._field('%result', 'data')}")
        self._store("ptr", "%data", "%pointers", len(self._inputs))
        self._store("i64", size, "%steps", len(self._inputs))

    def _core_steps(self, ports: Sequence[Port]) -> None:
        """Store the steps of contiguous core axes, after the steps from sample to sample."""
        place = len(ports)
        for port in ports:
            step = self._bytes(port)
            for n in port.shape:
                step //= max(n, 1)
                self._store("i64", step, "%steps", place)
                place += 1

    def _run(self) -> None:
        emit = self._lines.append
        emit("  store i64 %count, ptr %dimensions")
        emit(f"  call void {self._context('clear_errors')}()")
        emit(f"  %is_long = icmp sge i64 %count, {self._context('release_from', 'i64')}")
        emit("  br i1 %is_long, label %release, label %run\nrelease:")
        emit(f"  %released = call ptr {self._context('release_lock')}()\n  br label %run\nrun:")
        emit("  %thread = phi ptr [null, %work], [%released, %release]")
        emit(f"  call void @kernel(ptr %pointers, ptr %dimensions, ptr %steps, ptr {self._flags})")
        emit("  br i1 %is_long, label %take, label %ran\ntake:")
        emit(f"  call void {self._context('take_lock')}(ptr %thread)\n  br label %ran\nran:")
        emit(f"  %errors = call i32 {self._context('get_errors')}()")
        emit(f"  %exception = call ptr {self._context('exception')}()")
        self._require("icmp eq ptr %exception, null", otherwise="failed")
        self._require("icmp eq i32 %errors, 0", otherwise="odd")
        if self._looks:
            self._check_no_doubt("odd")
        if self._declines_huge:
            emit(f"  %numbers = mul i64 %count, {self._output.size}")
            self._require("call i1 @are_moderate(ptr %data, i64 %numbers)", otherwise="odd")
        emit("  br i1 %is_new, label %done, label %counted_once\ncounted_once:")
        emit(f"  call ptr {self._context('new_reference')}(ptr %given)\n  br label %done\ndone:\n  ret ptr %result")
        for label, then in ("odd", "general"), ("failed", "nothing"):
            emit(f"{label}:\n  br i1 %is_new, label %{label}_new, label %{then}\n{label}_new:")
            emit(f"  call void {self._context('release')}(ptr %result)\n  br label %{then}")

    def _check_no_doubt(self, otherwise: str = "general") -> None:
        """Go on only if no kernel has found a quaternion that may lack a direction: the first flag (batch.py)."""
        self._require(f"icmp eq i64 {self._load('i64', self._flags)}, 0", otherwise=otherwise)

    def _store(self, t: str, value: str | int, array: str, k: int) -> None:
        self._lines.append(f"  store {t} {value}, ptr {self._offset(array, k * POINTER)}")

"""Code that LLVM has not optimised has the bits of the code that takes its place."""

from __future__ import annotations

import dataclasses
import os
import shutil
import struct
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.codegen.cpu.builtin import Batches, chain, make_builtin
from kinetree.codegen.cpu.jit import MachineCode, compile_module
from kinetree.codegen.cpu.loader import Image, has_loader
from kinetree.codegen.cpu.module import emit
from kinetree.codegen.cpu.single import emit_single
from kinetree.codegen.cpu.small_batch import emit_batch
from kinetree.codegen.cpu.ufunc import make_ufunc
from kinetree.codegen.llvm.precision import F32, F64, Precision
from kinetree.codegen.llvm.target import Target, host
from kinetree.expr import OPS, Block, Instruction, Port, Program, trace
from tests import functions
from tests.c_code import built, needs
from tests.quick_code import AS_OPTIMIZED, optimized_code, quick_code, takes_quick_code
from tests.random_programs import N, random_program
from tests.robots import group_of_joints

Array = np.ndarray[Any, Any]
PRECISIONS = pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])
WIDTHS = (1, 2, 4, 8, 16)
ARM = Target("aarch64-unknown-linux-gnu", "generic", "", 128, True)


def every_operation() -> Program:
    """One result for each row of the table of operations, of the first of three numbers."""
    statements = tuple(
        Instruction(op.name, tuple(n % 3 for n in range(op.arity)), k) for k, op in enumerate(OPS.values(), 3)
    )
    outputs = Port("y", (len(statements),))
    return Program("operations", (Port("x", (3,)),), (outputs,), Block(statements), tuple(range(3, 3 + len(OPS))))


def samples(precision: Precision) -> Array:
    """Ordinary numbers, special ones, and angles that take the long way."""
    rng, dtype = np.random.default_rng(5), np.dtype(precision.char)
    limits = np.finfo(dtype)
    special = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, limits.tiny / 8, limits.tiny, limits.max, 1e5, -3e7]
    grid = np.stack(np.meshgrid(special, special, special), axis=-1).reshape(-1, 3)
    drawn = rng.normal(size=(300, 3)) * 10.0 ** rng.integers(-3, 9, size=(300, 3))
    return np.concatenate([grid, drawn]).astype(dtype)


def with_lanes(lanes: int, precision: Precision) -> Target:
    """This processor with other registers; LLVM makes several instructions of wider ones."""
    return dataclasses.replace(host(), vector_bits=lanes * precision.bits)


def computed(program: Program, precision: Precision, target: Target, *arrays: Array, optimized: bool) -> list[Array]:
    """The results of a batch."""
    code = MachineCode(compile_module(emit(program, precision, target), target, optimized=optimized), target)
    if has_loader():
        assert isinstance(code._engine, Image)  # without LLVM's loader
    made = make_ufunc(code, program.name, program.inputs, program.outputs, precision)
    with np.errstate(all="ignore"):
        results = made(*arrays)
    return [*results] if isinstance(results, tuple) else [results]


def assert_same_bits(first: Sequence[Array], second: Sequence[Array]) -> None:
    """Equal, signs of zeros included. NaN is NaN: which of several it is depends on the order of operands."""
    for a, b in zip(first, second, strict=True):
        number = np.dtype(f"i{a.dtype.itemsize}")
        same = (a.view(number) == b.view(number)) | (np.isnan(a) & np.isnan(b))
        assert same.all(), np.argwhere(~same)


@PRECISIONS
@pytest.mark.parametrize("lanes", WIDTHS)
def test_every_operation_has_the_same_bits(lanes: int, precision: Precision) -> None:
    target, x = with_lanes(lanes, precision), samples(precision)
    (quick,) = computed(every_operation(), precision, target, x, optimized=False)
    assert_same_bits([quick], computed(every_operation(), precision, target, x, optimized=True))
    assert (~np.isnan(quick)).any(axis=0).all()


@given(st.integers(0, 10**6), st.sampled_from(WIDTHS), st.sampled_from([F64, F32]))
def test_programs_with_loops_calls_switches_and_memory_have_the_same_bits(
    seed: int, lanes: int, precision: Precision
) -> None:
    program, rng = random_program(Random(seed)), np.random.default_rng(seed)
    x, z = rng.normal(scale=3.0, size=(2, 19, N)).astype(precision.char)
    target = with_lanes(lanes, precision)
    quick = computed(program, precision, target, x, z, optimized=False)
    assert_same_bits(quick, computed(program, precision, target, x, z, optimized=True))


FUNCTIONS = [kt.aba, kt.crba, kt.dynamics.passive_forces, kt.difference, kt.dynamics.aba_derivatives]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_have_the_same_bits_for_one_sample_and_for_many(function: Any, dtype: str) -> None:
    def results() -> list[Array]:
        robot = group_of_joints("turns of bodies")
        batch = [100.0 * x.astype(dtype) for x in functions.samples(robot, function, 20, np.random.default_rng(3))]
        batch[0][0] *= 1e4  # angles that take the long way
        kernel = kt.compile(robot, function, dtype=dtype)
        made = [kernel(*(x[0] for x in batch)), kernel(*batch)]
        were_optimized.append(kernel.__self__.optimized)
        return made

    were_optimized: list[bool] = []
    with quick_code(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("KINETREE_CACHE", "off")  # where there may be optimised code
        quick = results()
    shipped = results()
    assert were_optimized == [False, True]
    assert_same_bits(quick, shipped)
    assert all(np.isfinite(x).all() for x in quick)


def test_tests_about_code_compile_it_as_users_end_up_with_it() -> None:
    assert os.environ["KINETREE_OPTIMIZE"] == "now"
    places = [Path(__file__).parents[2] / place for place in AS_OPTIMIZED]
    assert all(place.exists() and not takes_quick_code(place) for place in places)
    assert takes_quick_code(Path(__file__).parents[2] / "laws" / "test_dynamics.py")


# -- AArch64, emulated

_DRIVER = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
void kernel(char **, int64_t *, int64_t *, void *);
int PyGILState_Ensure(void) { return 0; }
void PyGILState_Release(int state) { (void)state; }
void *PyErr_NoMemory(void) { abort(); }
static void in(void *to, size_t bytes) { if (fread(to, 1, bytes, stdin) != bytes) abort(); }
int main(void) {
    int64_t head[4];
    in(head, sizeof head); /* samples, arguments, results, steps */
    int64_t *steps = malloc(8 * head[3]);
    in(steps, 8 * head[3]);
    char *arrays[16];
    for (int k = 0; k < head[1] + head[2]; k++) {
        arrays[k] = malloc(steps[k] * head[0]);
        if (k < head[1]) in(arrays[k], steps[k] * head[0]);
    }
    kernel(arrays, head, steps, 0);
    for (int k = head[1]; k < head[1] + head[2]; k++) fwrite(arrays[k], 1, steps[k] * head[0], stdout);
    return 0;
}
"""


def emulated(
    folder: Path, program: Program, precision: Precision, target: Target, *arrays: Array, optimized: bool
) -> list[Array]:
    """The results of a batch on an emulated AArch64."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    place = folder / f"{program.name} {precision.char} {target.vector_bits} {optimized}"
    place.mkdir()
    (place / "kernel.o").write_bytes(compile_module(emit(program, precision, target), target, optimized=optimized))
    (place / "driver.c").write_text(_DRIVER)
    sources = [place / "driver.c", place / "kernel.o"]
    executable = built(place, "aarch64-linux-gnu-gcc", sources, "-static", "-O1")
    ports, size = [*program.inputs, *program.outputs], precision.bytes
    steps = [size * port.size for port in ports]
    core = [size * int(np.prod(port.shape[axis + 1 :])) for port in ports for axis in range(len(port.shape))]
    count = len(arrays[0])
    head = struct.pack(f"<{4 + len(steps) + len(core)}q", count, len(program.inputs), len(program.outputs),
                       len(steps) + len(core), *steps, *core)  # fmt: skip
    done = subprocess.run(
        ["qemu-aarch64", executable],
        input=head + b"".join(x.tobytes() for x in arrays),
        capture_output=True,
        check=True,
    )
    shapes = [(count, *port.shape) for port in program.outputs]
    flat = np.frombuffer(done.stdout, np.dtype(precision.char))
    parts = np.split(flat, np.cumsum([np.prod(shape) for shape in shapes])[:-1])
    return [x.reshape(shape) for x, shape in zip(parts, shapes, strict=True)]


@needs("aarch64-linux-gnu-gcc", "qemu-aarch64")
@PRECISIONS
@pytest.mark.parametrize("bits", [64, 128])
def test_on_aarch64_too(bits: int, precision: Precision, tmp_path: Path) -> None:
    target = dataclasses.replace(ARM, vector_bits=bits)
    programs = [every_operation(), *(random_program(Random(seed)) for seed in range(2))]
    for number, program in enumerate(programs):
        rng = np.random.default_rng(number)
        arrays = [samples(precision)] if number == 0 else [*rng.normal(size=(2, 19, N)).astype(precision.char)]
        quick, slow = (
            emulated(tmp_path, program, precision, target, *arrays, optimized=optimized) for optimized in (False, True)
        )
        assert_same_bits(quick, slow)
        if number == 0 and precision is F64:
            (here,) = computed(program, precision, host(), *arrays, optimized=False)
            exact = [k for k, op in enumerate(OPS) if op != "log"]  # of the C library
            assert_same_bits([here[:, exact]], [quick[0][:, exact]])
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()


# -- one code takes the place of the other


def chaotic() -> Program:
    """A function whose results show any mistake."""

    def function(x: list[Any]) -> list[list[Any]]:
        a, b, c = x
        for _ in range(12):
            a, b, c = a * 1.7 - b * c, (a + 0.3) * b - 0.01 * c, 0.9 * c + a * b
        return [[a, b, c]]

    return trace(function, [Port("x", (3,))], [Port("y", (3,))], "chaotic")


class Both:
    """The builtin of single calls and of small batches, and the ufunc, whose code is replaced again and again."""

    def __init__(self) -> None:
        program = chaotic()
        texts = [emit_single(program, F64, host()), emit_batch(program, F64, host())]
        self.objects = [[compile_module(text, optimized=optimized) for optimized in (False, True)] for text in texts]
        self.codes = [MachineCode(quick, optimized=False) for quick, _ in self.objects]
        single, batch = self.codes
        self.ufunc = make_ufunc(batch, "chaotic", program.inputs, program.outputs, F64)

        class Owner:
            pass

        owner = Owner()
        self.call, self.of_batches = (
            make_builtin(code, "chaotic", "", owner, self.general, program.inputs, F64, batches)
            for code, batches in ((single, None), (batch, Batches(100, 50)))
        )
        chain(single, batch)
        self.general_calls = 0

    def general(self, *arrays: Any, out: Any = None) -> Any:
        self.general_calls += 1
        return self.ufunc(*arrays, out=out)

    def replace(self, turn: int) -> None:
        for code, objects in zip(self.codes, self.objects, strict=True):
            code.optimized = False  # so that it can be replaced again
            code.replace(objects[turn % 2])


@pytest.mark.deep
def test_calls_in_threads_have_the_same_results_while_code_is_replaced_hundreds_of_times() -> None:
    both = Both()
    x = np.random.default_rng(2).uniform(-0.5, 0.5, size=(60, 3))
    expected = both.ufunc(x)
    assert both.call is not None
    is_over, wrong = threading.Event(), []
    call: Callable[..., Any] = both.call
    calls: list[Callable[[], bool]] = [
        lambda: np.array_equal(call(x[0]), expected[0]),
        lambda: np.array_equal(call(x[:7]), expected[:7]),
        lambda: np.array_equal(call(x), expected),  # releases the interpreter's lock
        lambda: np.array_equal(both.ufunc(x), expected),
        lambda: np.array_equal(call([[*x[3]], [*x[4]]]), expected[3:5]),  # by the general function
    ]
    counts = [0] * len(calls)

    def work(k: int) -> None:
        while not is_over.is_set():
            if not calls[k]():
                wrong.append(k)
            counts[k] += 1

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(calls))]
    for thread in threads:
        thread.start()
    for turn in range(300):
        both.replace(turn)
    is_over.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert min(counts) > 10
    assert both.general_calls == counts[-1]


def test_replaced_code_has_all_that_was_filled_in() -> None:
    """Every way into the code goes to what is there last; the builtins know each other and the general function."""
    both, x = Both(), np.random.default_rng(2).uniform(-0.5, 0.5, size=(60, 3))
    before = [code.address("call") for code in both.codes]
    expected = both.ufunc(x)
    both.replace(1)
    single, batch = both.codes
    assert [code.address("call") for code in both.codes] != before
    assert single.optimized
    assert batch.optimized
    assert both.call is not None
    for result, meant in ((both.call(x[0]), expected[0]), (both.call(x), expected), (both.ufunc(x), expected)):
        np.testing.assert_array_equal(result, meant)
    assert both.general_calls == 0
    batch.optimized = False
    batch.replace(both.objects[1][0])  # also seen from the other builtin
    np.testing.assert_array_equal(both.call(x), expected)
    assert both.general_calls == 0
    out = np.empty((60, 3))
    assert both.call(x, out=out) is out


def test_optimised_code_is_not_replaced() -> None:
    code = MachineCode(compile_module("define i32 @one() { ret i32 1 }"))
    before = code.address("one")
    code.replace(compile_module("define i32 @one() { ret i32 2 }"))
    assert code.address("one") == before


def test_both_kinds_of_code_have_names_of_their_own_on_the_disk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("kinetree.codegen.cpu.backend.toolchain", lambda *_: bytes(32))
    monkeypatch.setattr("kinetree.codegen.cpu.modules.assembler", lambda how, *_: how.encode().ljust(32))
    with quick_code():
        quick = kt.compile(kt.zoo.load("arm6"), kt.gravity_forces)
    assert len(list(tmp_path.glob("*.code"))) == 1
    with optimized_code():
        shipped = kt.compile(kt.zoo.load("arm6"), kt.gravity_forces)
    assert len(list(tmp_path.glob("*.code"))) == 2
    assert (quick.__self__.optimized, shipped.__self__.optimized) == (False, True)
    with quick_code():  # takes what is there
        assert kt.compile(kt.zoo.load("arm6"), kt.gravity_forces).__self__.optimized

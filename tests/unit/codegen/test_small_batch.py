"""Small batches in ordinary arrays are computed by a builtin; every other call reaches the general function."""

from __future__ import annotations

import ctypes
import functools
import gc
import sys
import threading
import tracemalloc
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.cpu.builtin import Batches, chain, layout_is_known, make_builtin
from kinetree.codegen.cpu.jit import MachineCode, assemble, compile_module
from kinetree.codegen.cpu.single import emit_single
from kinetree.codegen.cpu.small_batch import emit_batch
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F32, F64, Precision
from kinetree.codegen.llvm.target import Target, host
from kinetree.expr import Port, Program, trace
from tests.unit.codegen.test_single import OTHER_ARRAYS, PAIR, RANKS, Owner, chosen, reaches_general, refuse

pytestmark = pytest.mark.skipif(not layout_is_known(), reason="builtins are for CPython with its usual objects")

both_precisions = pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])
MOST = 50
Array = np.ndarray[Any, Any]


def builtin(
    program: Program,
    precision: Precision = F64,
    general: Callable[..., Any] | None = None,
    batches: Batches | None = None,
    quaternions: Sequence[tuple[int, int]] = (),
) -> Callable[..., Any]:
    owner, batches = Owner(), batches or Batches(MOST, 20)
    code = MachineCode(compiled(program, precision, tuple(quaternions)))
    answering = general or owner.general
    function = make_builtin(code, program.name, "", owner, answering, program.inputs, precision, batches)
    assert function is not None
    return function


@functools.cache
def compiled(program: Program, precision: Precision, quaternions: tuple[tuple[int, int], ...]) -> bytes:
    return compile_module(emit_batch(program, precision, host(), quaternions))


gufunc = functools.cache(batch_function)


def pairs(*leading: int, dtype: str = "d") -> tuple[Array, Array]:
    rng = np.random.default_rng(8)
    return rng.normal(size=(*leading, 2)).astype(dtype), rng.normal(size=(*leading, 2, 2)).astype(dtype)


# -- what it computes


@both_precisions
@pytest.mark.parametrize(
    "leading", [(1,), (2,), (7,), (8,), (9,), (19,), (20,), (50,), (1, 1), (5, 3), (2, 1, 4), (1,) * 8], ids=str
)
def test_every_shape_of_a_batch_gives_what_the_gufunc_gives(leading: tuple[int, ...], precision: Precision) -> None:
    f, slow = builtin(PAIR, precision, refuse), gufunc(PAIR, precision)
    x, m = pairs(*leading, dtype=precision.char)
    one_x, one_m = (a[(0,) * len(leading)].copy() for a in (x, m))
    for given in ((x, m), (one_x, m), (x, one_m)):
        expected, result = slow(*given), f(*given)
        assert (type(result), result.shape, result.dtype) == (np.ndarray, expected.shape, expected.dtype)
        assert result.flags.c_contiguous
        assert result.flags.owndata
        assert result.tobytes() == expected.tobytes()
        out = np.full_like(expected, np.nan)
        assert f(*given, out=out) is out
        assert out.tobytes() == expected.tobytes()
        assert f(*given, out=None).tobytes() == expected.tobytes()


@both_precisions
@pytest.mark.parametrize("k", range(len(RANKS.outputs)))
def test_results_and_arguments_of_every_rank(k: int, precision: Precision) -> None:
    program = chosen(RANKS, k)
    f, slow = builtin(program, precision, refuse), gufunc(program, precision)
    a, b = (np.random.default_rng(k).normal(size=(11, *shape)).astype(precision.char) for shape in ((), (2, 3)))
    for given in ((a, b), (a[3:4].reshape(()), b), (a, b[2].copy())):
        expected = slow(*given)
        assert f(*given).shape == expected.shape
        assert f(*given).tobytes() == expected.tobytes()
        out = np.zeros_like(expected)
        assert f(*given, out=out).tobytes() == expected.tobytes()


def test_read_only_arguments_and_one_array_twice_are_taken() -> None:
    add = trace(lambda x, y: [[x[0] + y[0]]], [Port("x", (1,)), Port("y", (1,))], [Port("z", (1,))], "add")
    x = np.arange(5.0)[:, None]
    x.flags.writeable = False
    assert builtin(add, F64, refuse)(x, x).ravel().tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


def test_an_out_next_to_the_arguments_does_not_overlap() -> None:
    f, (x, m) = builtin(PAIR, F64, refuse), pairs(3)
    memory = np.zeros(24)
    memory[6:12], memory[12:] = x.ravel(), m.ravel()
    result = f(memory[6:12].reshape(3, 2), memory[12:].reshape(3, 2, 2), out=memory[:6].reshape(3, 2))
    assert (result == gufunc(PAIR)(x, m)).all()


# -- what it leaves


@pytest.mark.parametrize("kind", OTHER_ARRAYS)
def test_other_arguments_reach_the_general_function(kind: str) -> None:
    f, other = builtin(PAIR), OTHER_ARRAYS[kind]
    (x, m), out = pairs(3), np.zeros((3, 2))
    for given in ((other(x), m), (x, other(m))):
        reaches_general(f, *given)
        reaches_general(f, *given, out=out)
    assert (out == 0.0).all()
    if kind != "None":
        other_out = other(np.full((3, 2), 5.0))
        reaches_general(f, x, m, out=other_out)
        assert (np.asarray(other_out) == other(np.full((3, 2), 5.0))).all()


@pytest.mark.parametrize(
    ("of_x", "of_m"),
    [((), ()), ((0,), (0,)), ((MOST + 1,), (MOST + 1,)), ((3,), (4,)), ((3,), (1,)), ((1,), (3,)), ((2, 3), (3,)),
     ((3,), (2, 3)), ((2, 3), (3, 2)), ((3, 0), (3, 0)), ((8, 8), (8, 8)), ((), (51,)), ((1,) * 9, (1,) * 9)],
    ids=str,
)  # fmt: skip
def test_other_shapes_reach_the_general_function(of_x: tuple[int, ...], of_m: tuple[int, ...]) -> None:
    reaches_general(builtin(PAIR), pairs(*of_x)[0], pairs(*of_m)[1])


@pytest.mark.parametrize("shape", [(3, 3), (2, 2), (4, 2), (1, 3, 2), (3, 1, 2), (2,), (6,)], ids=str)
def test_an_out_of_another_shape_reaches_the_general_function(shape: tuple[int, ...]) -> None:
    out = np.zeros(shape)
    reaches_general(builtin(PAIR), *pairs(3), out=out)
    assert (out == 0.0).all()


@pytest.mark.parametrize("start", range(1, 18))
def test_an_out_that_overlaps_an_argument_reaches_the_general_function(start: int) -> None:
    memory = np.zeros(24)
    x, m = memory[6:12].reshape(3, 2), memory[12:].reshape(3, 2, 2)
    reaches_general(builtin(PAIR), x, m, out=memory[start : start + 6].reshape(3, 2))
    one = memory[12:14]
    reaches_general(builtin(PAIR), one, m, out=memory[11:17].reshape(3, 2))


def test_other_keywords_and_a_read_only_out_reach_the_general_function() -> None:
    f, (x, m), out = builtin(PAIR), pairs(3), np.zeros((3, 2))
    reaches_general(f, x, m, threads=2)
    reaches_general(f, x, m, out=out, threads=1)
    reaches_general(f, x)
    reaches_general(f, x, m, m)
    out.flags.writeable = False
    reaches_general(f, x, m, out=out)


@pytest.mark.parametrize("release_from", [1, 100])
def test_floating_point_errors_are_reported_by_the_general_function(release_from: int) -> None:
    f = builtin(PAIR, batches=Batches(MOST, release_from))
    x, m = pairs(9)
    for value in (np.inf, 1e308, 1e-308):
        odd, out = m.copy(), np.zeros((9, 2))
        odd[4] = [[value, -value], [value / 3, value]]
        of_x = x.copy()
        of_x[4] = [1e9, 1e9] if value > 1.0 else [1e-9, 1e-9]
        reaches_general(f, of_x, odd)
        reaches_general(f, of_x, odd, out=out)
    assert isinstance(f(x, m), np.ndarray)  # errors of one call are not reported by the next


@pytest.mark.skipif(sys.platform != "linux", reason="it is the C library that raises them")
def test_floating_point_errors_of_others_are_not_its_own() -> None:
    f, (x, m) = builtin(PAIR, F64, refuse), pairs(9)
    libm, invalid_and_overflow = ctypes.CDLL("libm.so.6"), 1 | 8
    for _ in range(3):
        libm.feraiseexcept(invalid_and_overflow)
        assert f(x, m).shape == (9, 2)


@both_precisions
@pytest.mark.parametrize("release_from", [1, 100])
def test_quaternions_in_doubt_are_left_to_the_general_function(precision: Precision, release_from: int) -> None:
    program = trace(lambda q, r: [[q[1], r[0]]], [Port("q", (6,)), Port("r", (4,))], [Port("y", (2,))], "part")
    flags = (ctypes.c_int64 * 2)()
    f = builtin(program, precision, None, Batches(MOST, release_from, flags), [(0, 1), (1, 0)])
    q, r = np.ones((9, 6), precision.char), np.ones((9, 4), precision.char)
    assert f(q, r).shape == (9, 2)
    for bad in ((q * [0, 0, 0, 0, 0, 1], r), (q, r * 0.0), (q, r[0] * 0.0)):
        given = [x.astype(precision.char) for x in bad]
        reaches_general(f, *given)
        assert list(flags) == [1, 0]
        reaches_general(f, q, r)  # all are judged from now on
        flags[0] = 0
        flags[1] = 1
        assert f(*given).shape == (9, 2)
        flags[1] = 0


# -- around it


def test_modules_are_tried_one_after_the_other() -> None:
    owner = Owner()
    codes = [MachineCode(compile_module(emit(PAIR, F64, host()))) for emit in (emit_single, emit_batch)]
    general = owner.general
    single, batch = (
        make_builtin(code, "pair", "", owner, general, PAIR.inputs, F64, batches)
        for code, batches in zip(codes, (None, Batches(MOST, 1)), strict=True)
    )
    assert single is not None
    assert batch is not None
    reaches_general(single, *pairs(3))
    chain(*codes)
    x, m = pairs(3)
    assert (single(x, m) == gufunc(PAIR)(x, m)).all()
    assert (single(x[0], m[0]) == single(x, m)[0]).all()
    reaches_general(single, x[:2], m)
    del batch, codes
    gc.collect()
    assert (single(x, m) == gufunc(PAIR)(x, m)).all()


@pytest.mark.parametrize("release_from", [1, 100])
def test_calls_leave_no_reference_and_no_memory_behind(release_from: int) -> None:
    flags = (ctypes.c_int64 * 2)()
    f = builtin(PAIR, F64, None, Batches(MOST, release_from, flags), [(1, 0)])
    (x, m), out = pairs(5), np.zeros((5, 2))
    odd = m * [[1e308, 1e308], [1.0, 1.0]]
    owner: Owner = f.__self__  # type: ignore[attr-defined]
    objects = (x, m, out, None, owner, owner.general, f, x.dtype, np.ndarray)

    def many(count: int) -> None:
        for _ in range(count):
            f(x, m)
            f(x, m, out=out)
            f(x, m[:2])
            f(x, odd)
            f(x, odd, out=out)
            owner.calls.clear()

    many(100)
    gc.collect()
    tracemalloc.start()
    try:
        counts, memory = [sys.getrefcount(y) for y in objects], tracemalloc.get_traced_memory()[0]
        many(5_000)
        assert abs(tracemalloc.get_traced_memory()[0] - memory) < 10_000
    finally:
        tracemalloc.stop()
    assert all(abs(sys.getrefcount(y) - before) < 100 for y, before in zip(objects, counts, strict=True))


@pytest.mark.parametrize("release_from", [1, 100])
def test_many_threads_may_call_at_once(release_from: int) -> None:
    f = builtin(PAIR, batches=Batches(MOST, release_from))
    (x, m), start = pairs(9), threading.Barrier(6)
    expected = gufunc(PAIR)(x, m)

    def work(k: int) -> bool:
        mine, out = 2.0**k * x, np.zeros((9, 2))
        start.wait()
        for _ in range(500):
            f(mine, m, out=out)
            if (f(mine, m) != 2.0**k * expected).any() or (out != 2.0**k * expected).any():
                return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(6)))


@both_precisions
def test_llvm_finds_the_text_well_formed(precision: Precision) -> None:
    for program in (PAIR, *(chosen(RANKS, k) for k in range(len(RANKS.outputs)))):
        llvm.parse_assembly(emit_batch(program, precision, host())).verify()
    llvm.parse_assembly(emit_batch(PAIR, precision, host(), [(1, 0)])).verify()
    target = Target("aarch64-unknown-linux-gnu", "", "", 128, True)
    assert "call:" in assemble(emit_batch(PAIR, precision, target), target)


def test_a_kernel_without_memory_raises_and_lets_go() -> None:
    """As a kernel does that found none: it sets the exception and comes back."""
    text = emit_batch(PAIR, F64, host())
    head = "define void @kernel(ptr %args, ptr %dimensions, ptr %steps, ptr %data) #0 {\nstart:\n"
    assert text.count(head) == 1
    failing = text.replace(head, f"{head}  %e = call ptr @PyErr_NoMemory()\n  ret void\nunreached:\n")
    code = MachineCode(compile_module(f"{failing}\ndeclare ptr @PyErr_NoMemory()\n"))
    f = make_builtin(code, "pair", "", Owner(), refuse, PAIR.inputs, F64, Batches(MOST, 100))
    assert f is not None
    (x, m), out = pairs(3), np.zeros((3, 2))
    count = sys.getrefcount(out)
    for _ in range(3):
        with pytest.raises(MemoryError):
            f(x, m)
        with pytest.raises(MemoryError):
            f(x, m, out=out)
    assert sys.getrefcount(out) == count


# -- behind the public functions


ARM = kt.zoo.load("arm6")


def test_public_functions_of_small_batches_take_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether batches or one sample came first."""
    q, v, tau = np.random.default_rng(0).normal(size=(3, 33, 6))
    for first in (slice(None), 0):
        robot = kt.zoo.load("arm6")
        expected = kt.aba(robot, q, v, tau)
        kt.aba(robot, q[first], v[first], tau[first])
        with monkeypatch.context() as patch:
            patch.setattr("kinetree.compiler.arguments.Arguments.prepared", refuse)
            assert (kt.aba(robot, q, v, tau) == expected).all()
            assert (kt.aba(robot, q, v[0], tau) == kt.compile(robot, kt.aba)(q, v[0], tau)).all()
            assert (kt.aba(robot, q.reshape(11, 3, 6), v.reshape(11, 3, 6), tau[1])[2, 1] == kt.aba(
                robot, q[7], v[7], tau[1])).all()  # fmt: skip
            if first == 0:
                assert (kt.aba(robot, q[4], v[4], tau[4]) == expected[4]).all()


def test_warnings_of_small_batches_are_numpys() -> None:
    q, v, tau = np.zeros((3, 4, 6))
    kt.aba(ARM, q, v, tau)
    tau[2, 1], v[1, 0] = np.inf, 1e200
    for f in (kt.compile(ARM, kt.aba), lambda *given: kt.aba(ARM, *given)):
        with pytest.warns(RuntimeWarning, match="encountered in aba"):
            f(q, v, tau)
        with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="encountered in aba"):
            f(q, v, tau)
        with np.errstate(all="ignore"):
            assert not np.isfinite(f(q, v, tau)[1:3]).all()

"""One sample in ordinary arrays is computed by a builtin; every other call reaches the general function as it came."""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
import threading
import tracemalloc
import warnings
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.cpu import builtin as builtin_module
from kinetree.codegen.cpu.builtin import layout_is_known, make_builtin
from kinetree.codegen.cpu.jit import MachineCode, assemble, compile_module
from kinetree.codegen.cpu.single import emit_single
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F32, F64, Precision
from kinetree.codegen.llvm.target import Target, host
from kinetree.expr import Port, Program, trace

pytestmark = pytest.mark.skipif(not layout_is_known(), reason="single calls are for CPython with its usual objects")

both_precisions = pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])


class Owner:
    """Stands for the object a builtin belongs to; remembers the calls that came to the general function."""

    def __init__(self) -> None:
        self.calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def general(self, *args: Any, **keywords: Any) -> str:
        self.calls.append((args, keywords))
        return "general"


def refuse(*_args: Any, **_keywords: Any) -> None:
    raise AssertionError("this call should not reach the general function")


def builtin(
    program: Program,
    precision: Precision = F64,
    general: Callable[..., Any] | None = None,
    quaternions: Sequence[tuple[int, int]] = (),
    owner: Any = None,
) -> Callable[..., Any]:
    owner = owner or Owner()
    code = MachineCode(compile_module(emit_single(program, precision, host(), quaternions)))
    function = make_builtin(code, program.name, "Its text.", owner, general or owner.general, program.inputs, precision)
    assert function is not None
    return function


PAIR = trace(
    lambda x, m: [[m[0] * x[0] + m[1] * x[1], m[2] * x[0] + m[3] * x[1]]],
    [Port("x", (2,)), Port("m", (2, 2))],
    [Port("y", (2,))],
    "apply",
)
"""A matrix times a vector."""

RANKS = trace(
    lambda a, b: [
        [a[0] + b[0]],
        [b[k] for k in (3, 4, 5)],
        [b[k] * a[0] for k in range(6)],
        [0.0, *b, *b, 1.0, 2.0, 3.0, 4.0, 5.0],
    ],
    [Port("a", ()), Port("b", (2, 3))],
    [Port("r0", ()), Port("r1", (3,)), Port("r2", (3, 2)), Port("r3", (3, 2, 3))],
    "ranks",
)
"""Results of every rank."""


def x_and_m(dtype: str = "d") -> tuple[np.ndarray, np.ndarray]:
    return np.array([1.0, 2.0], dtype), np.array([[1.0, 10.0], [100.0, 1000.0]], dtype)


EXPECTED = [21.0, 2100.0]


def chosen(program: Program, k: int) -> Program:
    """The program with only its result number k."""
    start = sum(port.size for port in program.outputs[:k])
    results = program.results[start : start + program.outputs[k].size]
    return Program(program.name, program.inputs, (program.outputs[k],), program.body, results)


@both_precisions
@pytest.mark.parametrize("robot", ["arm7", pytest.param("humanoid", marks=pytest.mark.deep)])
def test_a_single_call_gives_the_same_bits_as_the_batch(robot: str, precision: Precision) -> None:
    model = kt.zoo.load(robot)
    program = kt.compile(model, kt.aba).__self__.program
    batch, rng = batch_function(program, precision), np.random.default_rng(3)
    single = builtin(program, precision, refuse)
    for _ in range(20):
        q, v, tau = model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
        sample = [x.astype(precision.char) for x in (q, v, tau)]
        result = single(*sample)
        assert result.dtype == precision.char
        assert result.tobytes() == batch(*sample).tobytes()
        out = np.full_like(result, np.nan)
        assert single(*sample, out=out) is out
        assert out.tobytes() == result.tobytes()


@both_precisions
def test_results_of_every_rank_are_as_the_gufunc_returns_them(precision: Precision) -> None:
    a = np.array(2.0, precision.char)
    b = np.arange(6, dtype=precision.char).reshape(2, 3)
    expected = batch_function(RANKS, precision)(a, b)
    together = builtin(RANKS, precision, refuse)(a, b)
    assert type(together) is tuple
    alone = [builtin(chosen(RANKS, k), precision, refuse)(a, b) for k in range(len(RANKS.outputs))]
    for k, port in enumerate(RANKS.outputs):
        for result in (together[k], alone[k]):
            assert type(result) is type(expected[k])
            assert (result.shape, result.dtype) == (port.shape, expected[k].dtype)
            assert result.tobytes() == expected[k].tobytes()


@pytest.mark.parametrize("k", range(len(RANKS.outputs)))
def test_an_out_of_every_rank_is_filled_and_returned(k: int) -> None:
    program = chosen(RANKS, k)
    a, b = np.array(2.0), np.arange(6.0).reshape(2, 3)
    out = np.full(program.outputs[0].shape, np.nan)
    assert builtin(program, F64, refuse)(a, b, out=out) is out
    assert (out == batch_function(program)(a, b)).all()


def test_a_new_result_is_an_array_of_its_own() -> None:
    f, (x, m) = builtin(PAIR, F64, refuse), x_and_m()
    first, second = f(x, m), f(x, m)
    assert first.flags.owndata
    assert first.flags.writeable
    first[:] = 0.0
    assert second.tolist() == EXPECTED


def test_an_out_of_none_is_no_out() -> None:
    f, (x, m) = builtin(PAIR, F64, refuse), x_and_m()
    assert f(x, m, out=None).tolist() == EXPECTED
    assert len(builtin(RANKS, F64, refuse)(np.array(1.0), np.ones((2, 3)), out=None)) == 4


def test_one_array_may_be_several_arguments_and_read_only() -> None:
    add = trace(lambda x, y: [[x[0] + y[0], x[1] + y[1]]], [Port("x", (2,)), Port("y", (2,))], [Port("z", (2,))], "add")
    x = np.array([1.0, 2.0])
    x.flags.writeable = False
    assert builtin(add, F64, refuse)(x, x).tolist() == [2.0, 4.0]


def test_an_out_next_to_the_arguments_does_not_overlap() -> None:
    f, (x, m) = builtin(PAIR, F64, refuse), x_and_m()
    memory = np.zeros(8)
    memory[2:4], memory[4:] = x, m.ravel()
    assert f(memory[2:4], memory[4:].reshape(2, 2), out=memory[:2]).tolist() == EXPECTED


class Subclass(np.ndarray):
    pass


def unaligned(x: np.ndarray) -> np.ndarray:
    memory = np.zeros(x.nbytes + 1, np.uint8)
    view = memory[1:].view(x.dtype).reshape(x.shape)
    view[...] = x
    return view


OTHER_ARRAYS: dict[str, Callable[[np.ndarray], Any]] = {
    "a list": lambda x: x.tolist(),
    "None": lambda _: None,
    "a number": lambda _: 1.0,
    "another float": lambda x: x.astype("f"),
    "integers": lambda x: x.astype(int),
    "objects": lambda x: x.astype(object),
    "bytes swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "a subclass": lambda x: x.view(Subclass),
    "one number more": lambda x: np.ones((*x.shape[:-1], x.shape[-1] + 1)),
    "one number less": lambda x: x[..., :-1].copy(),
    "a batch": lambda x: x[None],
    "no axes": lambda _: np.array(1.0),
    "columns apart": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "reversed": lambda x: x[..., ::-1],
    "broadcast": lambda x: np.broadcast_to(x[..., :1], x.shape),
    "unaligned": unaligned,
}


def reaches_general(f: Callable[..., Any], *args: Any, **keywords: Any) -> None:
    """The call goes to the general function with the very same objects, and its answer comes back."""
    owner: Owner = f.__self__  # type: ignore[attr-defined]
    owner.calls.clear()
    assert f(*args, **keywords) == "general"
    ((came, named),) = owner.calls
    assert [id(x) for x in came] == [id(x) for x in args]
    assert {k: id(x) for k, x in named.items()} == {k: id(x) for k, x in keywords.items()}


@pytest.mark.parametrize("kind", OTHER_ARRAYS)
def test_other_arguments_reach_the_general_function(kind: str) -> None:
    f, (x, m), other = builtin(PAIR), x_and_m(), OTHER_ARRAYS[kind]
    reaches_general(f, other(x), m)
    reaches_general(f, x, other(m))
    reaches_general(f, x, other(m), out=np.zeros(2))


@pytest.mark.parametrize("kind", [kind for kind in OTHER_ARRAYS if kind != "None"])
def test_another_out_reaches_the_general_function_untouched(kind: str) -> None:
    f, (x, m) = builtin(PAIR), x_and_m()
    out = OTHER_ARRAYS[kind](np.array([5.0, 5.0]))
    before = np.array(out, copy=True)
    reaches_general(f, x, m, out=out)
    assert (np.asarray(out) == before).all()


def test_a_read_only_out_reaches_the_general_function() -> None:
    f, (x, m), out = builtin(PAIR), x_and_m(), np.zeros(2)
    out.flags.writeable = False
    reaches_general(f, x, m, out=out)


def test_matrices_column_by_column_reach_the_general_function() -> None:
    f, (x, m) = builtin(PAIR), x_and_m()
    reaches_general(f, x, np.asfortranarray(m))


@pytest.mark.parametrize("start", range(1, 8))
def test_an_out_that_overlaps_an_argument_reaches_the_general_function(start: int) -> None:
    f, (x, m) = builtin(PAIR), x_and_m()
    memory = np.zeros(10)
    memory[2:4], memory[4:8] = x, m.ravel()
    reaches_general(f, memory[2:4], memory[4:8].reshape(2, 2), out=memory[start : start + 2])


def test_too_few_too_many_and_unknown_arguments_reach_the_general_function() -> None:
    f, (x, m) = builtin(PAIR), x_and_m()
    reaches_general(f)
    reaches_general(f, x)
    reaches_general(f, x, m, x)
    reaches_general(f, x, m, m, out=x)
    reaches_general(f, x, m=m)
    reaches_general(f, x, out=np.zeros(2))
    reaches_general(f, x, m, into=np.zeros(2))
    reaches_general(f, x, m, out=np.zeros(2), where=True)


def test_a_keyword_made_at_run_time_reaches_the_general_function() -> None:
    f, (x, m) = builtin(PAIR), x_and_m()
    name, interned = "".join(["o", "ut"]), "out"
    assert name is not interned
    reaches_general(f, x, m, **{name: np.zeros(2)})


def test_an_out_for_several_results_reaches_the_general_function() -> None:
    a, b = np.array(1.0), np.ones((2, 3))
    reaches_general(builtin(RANKS), a, b, out=tuple(np.zeros(port.shape) for port in RANKS.outputs))
    reaches_general(builtin(RANKS), a, b, out=np.zeros(2))


def test_what_the_general_function_raises_is_raised() -> None:
    def general(*_args: Any, **_keywords: Any) -> None:
        raise kt.errors.ShapeError("not this")

    with pytest.raises(kt.errors.ShapeError, match="not this"):
        builtin(PAIR, F64, general)([1.0], [2.0])


@both_precisions
@pytest.mark.parametrize("number", [0.0, -0.0, 1.5])
@pytest.mark.parametrize("count", [1, 8, 9, 12])
def test_constant_results_keep_their_sign_however_many_there_are(
    count: int, number: float, precision: Precision
) -> None:
    """Many zeros are cleared at once, and minus zero is another number."""
    outputs = [Port("y", (2 * count + 1,))]
    program = trace(lambda x: [[*[number] * count, x[0], *[0.0] * count]], [Port("x", (1,))], outputs, "constants")
    x = np.array([2.0], precision.char)
    out = np.full(2 * count + 1, np.nan, precision.char)
    builtin(program, precision, refuse)(x, out=out)
    assert out.tobytes() == np.array([*[number] * count, 2.0, *[0.0] * count], precision.char).tobytes()
    assert batch_function(program, precision)(np.stack([x] * 9))[3].tobytes() == out.tobytes()


@both_precisions
@pytest.mark.parametrize(
    ("length", "in_place"),
    [(1.0, True), (1e-15, True), (1e15, True), (0.0, False), (-1.0, True), (np.inf, False), (np.nan, False)],
)
def test_quaternions_without_a_direction_are_left_to_the_general_function(
    precision: Precision, length: float, in_place: bool
) -> None:
    program = trace(lambda q: [[q[k] for k in range(1, 5)]], [Port("q", (6,))], [Port("r", (4,))], "part")
    f = builtin(program, precision, quaternions=[(0, 1)])
    q = np.array([0.0, 0.5, 0.1, -0.7, 0.3, 0.0], precision.char)
    q[1:5] *= np.array(length, precision.char)
    if in_place:
        assert (f(q) == q[1:5]).all()
    else:
        reaches_general(f, q)


@both_precisions
def test_lengths_that_cannot_be_squared_are_left_to_the_general_function(precision: Precision) -> None:
    program = trace(lambda q: [list(q)], [Port("q", (4,))], [Port("r", (4,))], "same")
    f, limits = builtin(program, precision, quaternions=[(0, 0)]), np.finfo(precision.char)
    for x in (limits.tiny, np.sqrt(limits.tiny) / 2, np.sqrt(limits.max), limits.max):
        reaches_general(f, np.array([0.0, 0.0, 0.0, x], precision.char))
    for x in (np.sqrt(limits.tiny) * 2, np.sqrt(limits.max) / 2):
        assert f(np.array([0.0, x, 0.0, 0.0], precision.char))[1] == precision_of(x, precision)


def precision_of(x: Any, precision: Precision) -> Any:
    return np.dtype(precision.char).type(x)


def test_a_result_that_is_not_finite_warns_of_nothing_now_or_later() -> None:
    f, (x, m) = builtin(PAIR, F64, refuse), x_and_m()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(f(np.array([np.inf, np.nan]), m)).all()
        assert f(np.array([1e308, 1e308]), m)[0] == np.inf
        assert np.add(x, x).tolist() == [2.0, 4.0]


def test_it_presents_itself_as_a_method_of_its_owner() -> None:
    owner = Owner()
    f = builtin(PAIR, owner=owner)
    assert f.__name__ == "apply"
    assert f.__doc__ == "Its text."
    assert f.__self__ is owner  # type: ignore[attr-defined]
    assert repr(f).startswith("<built-in method apply of Owner object")
    assert str(inspect.signature(f)) == "(x, m, /, *, out=None)"
    assert inspect.getmodule(f) is kt


def test_names_that_are_no_parameters_are_made_ones() -> None:
    inputs = [Port(name, (1,)) for name in ("q", "f_ext['the tool']", 'f_ext["the tool"]', "lambda", "out", "'")]
    program = trace(lambda *x: [[sum((y[0] for y in x[1:]), x[0][0])]], inputs, [Port("y", (1,))], "names")
    signature = inspect.signature(builtin(program))
    assert list(signature.parameters) == ["q", "f_ext_the_tool", *(f"argument_{k}" for k in (2, 3, 4, 5)), "out"]


def test_code_that_has_a_builtin_is_refused() -> None:
    code = MachineCode(compile_module(emit_single(PAIR, F64, host())))
    first = make_builtin(code, "first", "", Owner(), refuse, PAIR.inputs, F64)
    with pytest.raises(ValueError, match="'second'"):
        make_builtin(code, "second", "", Owner(), refuse, PAIR.inputs, F64)
    assert first is not None
    assert first(*x_and_m()).tolist() == EXPECTED


def test_without_a_known_layout_there_is_no_builtin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtin_module, "layout_is_known", lambda: False)
    code = MachineCode(compile_module(emit_single(PAIR, F64, host())))
    assert make_builtin(code, "none", "", Owner(), refuse, PAIR.inputs, F64) is None


@pytest.mark.parametrize("change", ["implementation", "debug", "free threads", "array fields", "numpy"])
def test_other_interpreters_are_recognised(monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    if change == "implementation":
        monkeypatch.setattr(builtin_module.sys.implementation, "name", "pypy")
    elif change == "debug":
        monkeypatch.setattr(builtin_module.sys, "gettotalrefcount", lambda: 0, raising=False)
    elif change == "free threads":
        monkeypatch.setattr(builtin_module.sys, "version", "3.13.1 experimental free-threading build")
    elif change == "array fields":
        monkeypatch.setattr(builtin_module, "_array_is_known", lambda _: False)
    else:
        monkeypatch.setattr(builtin_module, "_NUMPY_2", 0x03000000)
    assert not layout_is_known.__wrapped__()


def test_calls_leave_no_reference_and_no_memory_behind() -> None:
    f, several, scalar = builtin(PAIR), builtin(RANKS), builtin(chosen(RANKS, 0))
    (x, m), out, a, b = x_and_m(), np.zeros(2), np.array(1.0), np.ones((2, 3))
    owner: Owner = f.__self__  # type: ignore[attr-defined]
    objects = (x, m, out, a, b, None, owner, owner.general, f, x.dtype, np.ndarray)

    def many(count: int) -> None:
        for _ in range(count):
            f(x, m)
            f(x, m, out=out)
            f(x, m, out=None)
            f(x, m, x)
            several(a, b)
            scalar(a, b)
            owner.calls.clear()

    many(100)
    gc.collect()
    tracemalloc.start()
    try:
        counts, memory, number = count_all(objects), tracemalloc.get_traced_memory()[0], len(gc.get_objects())
        many(10_000)
        assert abs(tracemalloc.get_traced_memory()[0] - memory) < 10_000
    finally:
        tracemalloc.stop()
    assert abs(len(gc.get_objects()) - number) < 100
    assert all(abs(now - before) < 100 for now, before in zip(count_all(objects), counts, strict=True))


def count_all(objects: Sequence[object]) -> list[int]:
    return [sys.getrefcount(x) for x in objects]


def test_many_threads_may_call_at_once() -> None:
    f, (x, m) = builtin(PAIR), x_and_m()
    start = threading.Barrier(8)

    def work(k: int) -> bool:
        mine, out = k * x, np.zeros(2)
        start.wait()
        for _ in range(3000):
            f(mine, m, out=out)
            if f(mine, m).tolist() != out.tolist() or out.tolist() != [k * y for y in EXPECTED]:
                return False
            if f([1.0], m) != "general":
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_it_keeps_its_code_alive_and_lets_go_of_all() -> None:
    code = MachineCode(compile_module(emit_single(PAIR, F64, host())))
    owner, (x, m) = Owner(), x_and_m()
    function = make_builtin(code, "apply", "", owner, owner.general, PAIR.inputs, F64)
    assert function is not None
    gone = [weakref.ref(y) for y in (code, owner, function)]
    del code, owner
    gc.collect()
    assert function(x, m).tolist() == EXPECTED
    assert function(x) == "general"
    del function
    gc.collect()
    assert [y() for y in gone] == [None, None, None]


def test_a_cycle_through_its_owner_is_collected() -> None:
    code = MachineCode(compile_module(emit_single(PAIR, F64, host())))
    owner: Any = Owner()
    owner.function = make_builtin(code, "apply", "", owner, owner.general, PAIR.inputs, F64)
    owner.also = [owner.function]
    gone = [weakref.ref(y) for y in (code, owner, owner.function)]
    del code, owner
    gc.collect()
    assert [y() for y in gone] == [None, None, None]


def test_it_can_be_called_while_its_cycle_is_collected() -> None:
    answers: list[Any] = []

    class Last:
        function: Any

        def __del__(self) -> None:
            answers.append(self.function(*x_and_m()).tolist())

    for _ in range(3):
        owner: Any = Owner()
        owner.last, owner.function = Last(), builtin(PAIR, owner=owner)
        owner.last.function, owner.last.owner = owner.function, owner
        del owner
        gc.collect()
    assert answers == [EXPECTED] * 3


def test_the_name_of_its_module_may_be_assigned_to() -> None:
    f, (x, m) = builtin(PAIR), x_and_m()
    f.__module__ = "elsewhere"
    gc.collect()
    assert f(x, m).tolist() == EXPECTED
    reaches_general(f, x)


@both_precisions
def test_llvm_finds_the_text_well_formed(precision: Precision) -> None:
    for program in (PAIR, RANKS, *(chosen(RANKS, k) for k in range(len(RANKS.outputs)))):
        llvm.parse_assembly(emit_single(program, precision, host())).verify()
    llvm.parse_assembly(emit_single(PAIR, precision, host(), [(1, 0)])).verify()


def test_object_code_made_in_another_process_works_here(tmp_path: Path) -> None:
    path = tmp_path / "double.o"
    program = "trace(lambda x: [[2.0 * x[0], x[1]]], [Port('x', (2,))], [Port('y', (2,))], 'double')"
    script = f"""
from pathlib import Path
from kinetree.codegen.cpu.jit import compile_module
from kinetree.codegen.llvm.precision import F64
from kinetree.codegen.llvm.target import host
from kinetree.codegen.cpu.single import emit_single
from kinetree.expr import Port, trace
Path({str(path)!r}).write_bytes(compile_module(emit_single({program}, F64, host())))
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    f = make_builtin(MachineCode(path.read_bytes()), "double", "", Owner(), refuse, (Port("x", (2,)),), F64)
    assert f is not None
    assert f(np.array([1.0, 2.0])).tolist() == [2.0, 2.0]


@both_precisions
def test_code_for_aarch64_is_made_anywhere(precision: Precision) -> None:
    target = Target("aarch64-unknown-linux-gnu", "", "", 128, True)
    for program in (PAIR, RANKS, chosen(RANKS, 0)):
        text = assemble(emit_single(program, precision, target), target)
        assert "call:" in text
        assert "sample:" in text


SCALED = trace(
    lambda gain, x: [[gain[0] * x[0], gain[0] * x[1]]], [Port("gain", ()), Port("x", (2,))], [Port("y", (2,))], "scaled"
)


@both_precisions
def test_a_number_may_come_in_place_of_an_array_without_axes(precision: Precision) -> None:
    scaled, x = builtin(SCALED, precision, refuse), np.array([1.0, 2.0], precision.char)
    number = np.dtype(precision.char).type
    assert scaled(number(1.5), x).tolist() == [1.5, 3.0]
    assert scaled(np.array(1.5, precision.char), x).tolist() == [1.5, 3.0]
    out = np.zeros(2, precision.char)
    assert scaled(number(-2.0), x, out=out) is out
    assert out.tolist() == [-2.0, -4.0]


def test_a_python_float_may_come_in_double_precision() -> None:
    scaled, x = builtin(SCALED, F64, refuse), np.array([1.0, 2.0])
    gains = [0.5, -0.0, float("nan"), 1e300]
    for gain in gains:
        assert np.array_equal(scaled(gain, x), gain * x, equal_nan=True)
    before = sys.getrefcount(gains[3])
    scaled(gains[3], x)
    after = sys.getrefcount(gains[3])
    assert after == before


class OwnFloat(float):
    """A number whose value may be anywhere."""


@pytest.mark.parametrize(
    "gain", [2, True, np.float32(2.0), np.int64(2), np.bool_(True), OwnFloat(2.0), "2.0", None, [2.0], np.array([2.0])]
)
def test_other_numbers_go_to_the_general_function(gain: Any) -> None:
    assert builtin(SCALED)(gain, np.array([1.0, 2.0])) == "general"


def test_a_python_float_goes_to_the_general_function_in_single_precision() -> None:
    assert builtin(SCALED, F32)(2.0, np.array([1.0, 2.0], np.float32)) == "general"

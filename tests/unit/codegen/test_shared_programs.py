"""Shared programs have modules of their own, and all results have the bits that they have with one module for all."""

from __future__ import annotations

import ctypes
import dataclasses
import gc
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinetree as kt
from kinetree.algorithms import dependent_rows
from kinetree.codegen.cpu import background, jit, loader, modules
from kinetree.codegen.cpu.jit import MachineCode, compile_module
from kinetree.codegen.cpu.loader import UnknownObjectError
from kinetree.codegen.cpu.module import Apart, Written, emit
from kinetree.codegen.cpu.ufunc import make_ufunc
from kinetree.codegen.llvm.precision import F32, F64, Precision
from kinetree.codegen.llvm.target import Target, host
from kinetree.expr import Block, Call, Instruction, Port, Program
from tests.quick_code import optimized_code, quick_code
from tests.random_programs import N, random_program
from tests.unit.codegen.test_tiers import assert_same_bits, with_lanes

Array = np.ndarray[Any, Any]


# -- programs of every kind


def callers(random: Random) -> list[Program]:
    """Two programs that call the same one, and one of them another one, which calls it, too."""
    shared = replaced(random_program(random), is_shared=True)
    outer = replaced(caller("outer", (shared, 0.5)), is_shared=True)
    return [caller("one", (shared, 1.0), (shared, 2.0)), caller("other", (outer, -1.0), (shared, 0.25))]


def replaced(program: Program, **fields: Any) -> Program:
    made: Program = dataclasses.replace(program, **fields)
    return made


def caller(name: str, *calls: tuple[Program, float]) -> Program:
    """Calls programs with multiples of the inputs, and adds up the results."""
    called, _ = calls[0]
    size, found, fresh = called.input_size, called.output_size, called.input_size
    body: list[Any] = []
    totals: list[int | float] = [0.0] * found
    for called, factor in calls:
        arguments = [*range(fresh, fresh + size)]
        body += [Instruction("mul", (k, factor), name) for k, name in enumerate(arguments)]
        results = tuple(range(fresh + size, fresh + size + found))
        body.append(Call(called, tuple(arguments), results))
        sums = [*range(results[-1] + 1, results[-1] + 1 + found)]
        body += [Instruction("add", (a, b), c) for a, b, c in zip(totals, results, sums, strict=True)]
        totals, fresh = [*sums], sums[-1] + 1
    return Program(name, called.inputs, (Port("y", (found,)),), Block(tuple(body)), tuple(totals))


def linked(written: Written, target: Target, *, optimized: bool, known: dict[bytes, MachineCode]) -> MachineCode:
    """The code of a module and of those that it calls."""

    def find(text: bytes) -> MachineCode:
        if text not in known:
            known[text] = linked(written.called[text](), target, optimized=optimized, known=known)
        return known[text]

    made = MachineCode(compile_module(written.text, target, optimized=optimized), target, optimized=optimized)
    made.link(find)
    return made


def outputs(code: MachineCode, program: Program, precision: Precision, arrays: Sequence[Array]) -> list[Array]:
    with np.errstate(all="ignore"):
        results = make_ufunc(code, program.name, program.inputs, program.outputs, precision)(*arrays)
    return [*results] if isinstance(results, tuple) else [results]


@settings(max_examples=5)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 4, 8]), st.sampled_from([F64, F32]))
def test_calls_of_other_modules_have_the_bits_of_calls_inside(seed: int, lanes: int, precision: Precision) -> None:
    check_calls(seed, lanes, precision)


def test_also_where_llvm_loads_them() -> None:
    """In a process of its own: in one that has mapped gigabytes LLVM's loader may find no room within the reach of 32
    bits, and aborts."""
    check = (
        f"from {__name__} import F32, F64, check_calls\n"
        "for k, lanes in enumerate((1, 8)):\n    check_calls(k, lanes, (F64, F32)[k], llvm_loads=True)"
    )
    root = str(Path(__file__).parents[3])
    process = subprocess.run([sys.executable, "-c", check], cwd=root, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr


def check_calls(seed: int, lanes: int, precision: Precision, *, llvm_loads: bool = False) -> None:
    rng, target, known = np.random.default_rng(seed), with_lanes(lanes, precision), dict[bytes, MachineCode]()
    x, z = rng.normal(scale=3.0, size=(2, 19, N)).astype(precision.char)
    with pytest.MonkeyPatch.context() as patch:
        if llvm_loads:
            patch.setattr(loader, "load", unknown)
        for program in callers(Random(seed)):
            inside = MachineCode(compile_module(emit(program, precision, target), target), target)
            expected = outputs(inside, program, precision, (x, z))
            apart = Apart()
            text = emit(program, precision, target, apart=apart)
            for optimized in (False, True):
                made = linked(Written(text, apart.modules), target, optimized=optimized, known=known)
                assert_same_bits(outputs(made, program, precision, (x, z)), expected)
                known = {}
    assert np.isfinite(expected[0]).any()


def unknown(*_: object) -> None:
    raise UnknownObjectError("as on another processor")


def test_a_text_names_the_texts_that_it_calls() -> None:
    """So a module is another one as soon as something that it calls is."""
    random = random_program(Random(1))
    texts = set()
    for program in (random, replaced(random, name="renamed"), random_program(Random(2))):
        apart = Apart()
        emit(caller("caller", (replaced(program, is_shared=True), 1.0)), F64, host(), apart=apart)
        texts.add(apart.table())
    assert len(texts) == 2


# -- functions

ROBOT = "arm6"


def held_point(robot: kt.Model) -> list[kt.constraints.Contact]:
    return [kt.constraints.Contact(next(name for name in robot.frames if name.endswith(("tool", "foot"))), "fixed")]


def functions(robot: kt.Model, count: int) -> dict[str, Array]:
    """Results of functions that have a program in common, for one sample or for several."""
    rng, held = np.random.default_rng(1), held_point(robot)
    q = robot.neutral() if count == 0 else np.tile(robot.neutral(), (count, 1))
    v, tau = 0.1 * rng.normal(size=(2, *q.shape[:-1], robot.nv))
    return {
        "dynamics": kt.constraints.constrained_dynamics(robot, q, v, tau, constraints=held).qdd,
        "forces": kt.constraints.constraint_forces(robot, q, v, tau, constraints=held),
        "velocity": kt.constraints.nearest_velocity(robot, q, v, held),
    }


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, as in a process in which nothing has been called; small systems are shared, too."""
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr("kinetree.codegen.cpu.backend.toolchain", lambda *_: bytes(32))
    monkeypatch.setattr("kinetree.codegen.cpu.modules.assembler", lambda how, *_: how.encode().ljust(32))
    monkeypatch.setattr(dependent_rows, "_WRITTEN_OUT", 0)
    gc.collect()
    modules._known.clear()
    yield tmp_path / "kept"
    modules._known.clear()


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts as they are compiled."""
    found: list[str] = []
    real = jit.compile_module

    def compiled(text: str, *given: Any, **options: Any) -> bytes:
        found.append(text)
        return real(text, *given, **options)

    monkeypatch.setattr(modules, "compile_module", compiled)
    return found


def is_shared(text: str) -> bool:
    return "define void @shared(" in text


def test_functions_of_one_robot_compile_once_what_they_share(texts: list[str]) -> None:
    robot = kt.zoo.load(ROBOT)
    with quick_code():
        functions(robot, 0)
        one = len(texts)
        assert [is_shared(text) for text in texts].count(True) == 1
        assert all("@called = global" in text for text in texts if not is_shared(text))
        assert max(map(len, texts)) == next(len(text) for text in texts if is_shared(text))
        functions(robot, 5)
        assert [is_shared(text) for text in texts[one:]].count(True) == 1  # with more lanes


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_functions_have_the_bits_of_one_module(dtype: str) -> None:
    robot, count = kt.zoo.load("quadruped"), 11  # whose quaternion is checked
    q = np.tile(robot.neutral(), (count, 1)).astype(dtype)
    v = np.random.default_rng(2).normal(size=(count, robot.nv)).astype(dtype)
    with quick_code():
        compiled = kt.compile(
            robot, kt.constraints.nearest_velocity, dtype=dtype, constraints=held_point(robot)
        ).__self__
        kernels = compiled._kernels
        alone = MachineCode(compile_module(kernels.text(), optimized=False))
        assert not alone.data_address("called_count")
        assert kernels.batch_code().data_address("called_count")
        kernel, flags = kernels._kernel, (ctypes.c_int64 * 2)()
        whole = make_ufunc(alone, kernel.name, kernel.inputs, kernel.outputs, kernels._precision, flags)
        expected = whole(q, v)
        assert_same_bits([compiled(q, v)], [expected])
        assert_same_bits([compiled(*x) for x in zip(q, v, strict=True)], [*expected])


def test_optimised_code_takes_the_calls_of_code_that_is_not(texts: list[str]) -> None:
    robot = kt.zoo.load(ROBOT)
    with quick_code():
        before = functions(robot, 0)
        dynamics = kt.compile(robot, kt.constraints.constrained_dynamics, constraints=held_point(robot)).__self__
    (shared,) = modules._known.values()
    quick = shared.code.address("shared")
    (own,) = dynamics._kernels._codes.values()

    def called() -> int:
        return jit._Row.from_address(own.data_address("called")).address or 0

    assert called() == quick
    assert not dynamics.optimized
    shared.waiting[0].optimize_now()
    assert called() == shared.code.address("shared") != quick
    place = own.data_address("called")
    assert_same_bits([*functions(robot, 0).values()], [*before.values()])
    dynamics.optimize("now")
    assert dynamics.optimized
    assert own.data_address("called") != place
    assert called() == shared.code.address("shared")
    assert_same_bits([*functions(robot, 0).values()], [*before.values()])
    assert [is_shared(text) for text in texts].count(True) == 1  # the other time by `Waiting`
    with optimized_code():  # finds the shared program optimised
        assert_same_bits([*functions(kt.zoo.load(ROBOT), 0).values()], [*before.values()])


@pytest.mark.deep
def test_what_is_missing_on_the_disk_is_made_again(kept: Path, texts: list[str]) -> None:
    def results() -> dict[str, Array]:
        gc.collect()
        modules._known.clear()  # as in another process
        return functions(kt.zoo.load(ROBOT), 0)

    with quick_code():
        expected, compiled = results(), len(texts)
        entries = sorted(kept.glob("*.code"))
        texts.clear()
        assert_same_bits([*results().values()], [*expected.values()])
        assert texts == []
        for entry in entries:
            before = entry.read_bytes()
            entry.unlink()
            assert_same_bits([*results().values()], [*expected.values()])
            assert entry.read_bytes() == before
        assert len(texts) == len(entries) == compiled


@pytest.mark.deep
def test_code_of_another_text_is_not_taken(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Should one request be answered by two texts, then nothing of the first is needed."""
    with quick_code():
        expected = functions(kt.zoo.load(ROBOT), 0)
        for entry in kept.glob("*.code"):
            if b"shared" in entry.read_bytes() and b"called" not in entry.read_bytes():
                entry.unlink()
        gc.collect()
        modules._known.clear()
        monkeypatch.setattr(dependent_rows._Solver, "__call__", renamed(dependent_rows._Solver.__call__))
        assert_same_bits([*functions(kt.zoo.load(ROBOT), 0).values()], [*expected.values()])


def renamed(solve: Any) -> Any:
    """The same solver by a program of another text."""
    return lambda self, grid, numbers: [*solve(self, lambda m, n, **how: grid(m + 1, n, **how), numbers)]


@pytest.mark.deep
def test_damaged_shared_programs_are_compiled_again(kept: Path, texts: list[str]) -> None:
    with quick_code():
        expected = functions(kt.zoo.load(ROBOT), 0)
        for entry in kept.glob("*.code"):
            entry.write_bytes(entry.read_bytes()[:-1] + b"?")
        texts.clear()
        gc.collect()
        modules._known.clear()
        assert_same_bits([*functions(kt.zoo.load(ROBOT), 0).values()], [*expected.values()])
    assert [is_shared(text) for text in texts].count(True) == 1


def test_programs_go_when_nothing_calls_them() -> None:
    robot = kt.zoo.load(ROBOT)
    with quick_code():
        functions(robot, 0)
    assert len(modules._known) == 1
    del robot
    gc.collect()
    assert len(modules._known) == 0


@pytest.mark.deep
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_has_what_its_parent_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETREE_OPTIMIZE", "background")
    monkeypatch.setattr(background.Waiting, "optimize_later", lambda _: None)
    robot = kt.zoo.load(ROBOT)
    before = functions(robot, 0)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            (shared,) = modules._known.values()
            for waiting in shared.waiting:
                waiting.optimize_now()
            assert_same_bits([*functions(robot, 0).values()], [*before.values()])
            assert_same_bits([*functions(kt.zoo.load(ROBOT), 0).values()], [*before.values()])
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    (shared,) = modules._known.values()
    assert not shared.code.optimized
    assert_same_bits([*functions(robot, 0).values()], [*before.values()])


def test_what_is_shared_is_the_same_for_one_sample_and_for_many() -> None:
    robot = kt.zoo.load(ROBOT)
    q, v = robot.neutral(), np.full(robot.nv, 0.1)
    with quick_code():
        one = kt.constraints.nearest_velocity(robot, q, v, held_point(robot))
        many = kt.constraints.nearest_velocity(robot, np.tile(q, (13, 1)), np.tile(v, (13, 1)), held_point(robot))
    assert_same_bits([*many], [one] * 13)

"""Lists of entries that only some samples need."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinetree.codegen.c.function import FunctionWriter
from kinetree.codegen.c.preamble import preamble
from kinetree.codegen.c.real import REALS
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F32, F64
from kinetree.codegen.llvm.target import host
from kinetree.expr import (
    Each,
    Entry,
    Grid,
    Index,
    Joined,
    Port,
    Program,
    Range,
    Recorder,
    forward_derivative,
    in_pieces,
    interpret,
    less,
    less_equal,
    maximum,
    reverse_derivative,
    run_on,
    select,
    trace_memory,
    unless,
)
from kinetree.expr.verify import verify

N, CAPACITY = 9, 4
STIFFNESS = [1.0 + 0.5 * k for k in range(N)]
X, Y = Port("x", (N,)), Port("y", (4,))


def walls(x: Any, grid: Callable[..., Grid], capacity: int = CAPACITY) -> Sequence[Any]:
    """Springs of which those act whose xₖ is negative, at most `capacity` of them: the sum of forces and of energies,
    how many are negative, and a sum over pairs."""
    found = grid(1, 1, clear=False).index_list(capacity, N)
    pressed, idle, force = found.grid(2, 1), found.grid(1, 1), found.grid(1, 1)

    def look(k: Any, state: Sequence[Any]) -> Sequence[Any]:
        is_far = less(1.0, x[k])

        def near(state: Sequence[Any]) -> Sequence[Any]:
            def keep(place: Any, now: Sequence[Any]) -> tuple[Sequence[Any], Any]:
                is_open = maximum(is_far, less_equal(0.0, x[k]))
                is_open = maximum(is_open, less_equal(float(capacity), now[0]))
                pressed[2 * place, 0], pressed[2 * place + 1, 0] = -x[k], x[k] * x[k]
                idle[place, 0] = is_open
                return [now[0] + select(less_equal(0.0, x[k]), 0.0, 1.0)], is_open

            return found.append(k, state, keep)

        return unless(is_far, state, near)

    (count,) = force.fold(0, N, [0.0 * x[0]], look)

    def push(place: Any, k: Any, sums: Sequence[Any]) -> Sequence[Any]:
        def act(sums: Sequence[Any]) -> Sequence[Any]:
            one, two = (select(idle[place, 0], 0.0, pressed[2 * place + n, 0]) for n in range(2))
            force[place, 0] = one * force.constant(STIFFNESS, k)
            return [sums[0] + select(idle[place, 0], 0.0, force[place, 0]), sums[1] + two]

        return unless(idle[place, 0], sums, act)

    sums = found.fold([0.0 * x[0], 0.0 * x[0]], push)

    def across(place: Any, _: Any, total: Sequence[Any]) -> Sequence[Any]:
        def add(other: Any, _: Any, total: Sequence[Any]) -> Sequence[Any]:
            both = maximum(idle[place, 0], idle[other, 0])
            return unless(
                both, total, lambda total: [total[0] + select(both, 0.0, force[place, 0] * pressed[2 * other, 0])]
            )

        return found.fold(total, add)

    return [*sums, count, *found.fold([0.0 * x[0]], across)]


def program_of(capacity: int = CAPACITY) -> Program:
    def record(r: Recorder) -> None:
        for k, value in enumerate(walls(r.inputs[0], partial(Grid, recorder=r), capacity)):
            r.outputs[0][k] = value

    return trace_memory(record, [X], [Y], "walls")


def plainly(x: Sequence[float], capacity: int = CAPACITY) -> list[float]:
    """The same without a list."""
    acting = [k for k in range(N) if x[k] < 0.0]
    kept = acting[:capacity]
    forces = [-x[k] * STIFFNESS[k] for k in kept]
    return [sum(forces), sum(x[k] ** 2 for k in kept), float(len(acting)), sum(f * -x[k] for f in forces for k in kept)]


RNG = np.random.default_rng(0)
SAMPLES = RNG.normal(size=(37, N)) + np.linspace(-0.5, 2.5, 37)[:, None]


def test_samples_differ_in_what_they_need() -> None:
    counts = (SAMPLES < 0.0).sum(axis=1)
    assert counts.min() == 0
    assert counts.max() > CAPACITY


@pytest.mark.parametrize("capacity", [1, CAPACITY, N])
def test_floats_program_and_machine_code_are_one_function(capacity: int) -> None:
    program = program_of(capacity)
    verify(program)
    wide = batch_function(program)(SAMPLES)
    for x, y in zip(SAMPLES, wide, strict=True):
        np.testing.assert_allclose(plainly(x.tolist(), capacity), y, rtol=1e-13)
        np.testing.assert_allclose(walls(x.tolist(), Grid, capacity), y, rtol=1e-13)
        np.testing.assert_allclose(interpret(program, x.tolist())[0], y, rtol=1e-13)
    single = batch_function(program, F32)(SAMPLES.astype(np.float32))
    np.testing.assert_allclose(single, wide, rtol=1e-4, atol=1e-4)


def test_a_sample_does_not_depend_on_its_neighbours() -> None:
    run = batch_function(program_of())
    wide = run(SAMPLES)
    for k in range(len(SAMPLES)):
        np.testing.assert_array_equal(run(SAMPLES[k : k + 1])[0], wide[k])
    np.testing.assert_array_equal(run(SAMPLES[::-1]), wide[::-1])
    np.testing.assert_array_equal(run(SAMPLES[:7]), wide[:7])
    narrow = replace(host(), vector_bits=128)
    np.testing.assert_array_equal(batch_function(program_of(), F64, narrow)(SAMPLES), wide)


def test_a_sample_of_nan_harms_no_other() -> None:
    run = batch_function(program_of())
    spoiled = SAMPLES.copy()
    spoiled[3] = np.nan
    with np.errstate(invalid="ignore"):
        found = run(spoiled)
    np.testing.assert_array_equal(np.delete(found, 3, axis=0), np.delete(run(SAMPLES), 3, axis=0))


def test_in_pieces_and_on_other_numbers_it_is_the_same() -> None:
    program = program_of()
    cut = in_pieces(program, long=2, piece=2)
    operations: dict[str, Callable[..., Any]] = {
        "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "sub": lambda a, b: a - b, "neg": lambda a: -a,
        "lt": lambda a, b: float(a < b), "le": lambda a, b: float(a <= b), "max": max,
        "select": lambda c, a, b: a if c else b, "fma": lambda a, b, c: a * b + c,
    }  # fmt: skip
    for x in SAMPLES[::6].tolist():
        assert interpret(cut, x) == interpret(program, x)
        np.testing.assert_allclose(run_on(program, operations, x)[0], interpret(program, x)[0], rtol=1e-13)


def test_joined_programs_have_their_own_lists() -> None:
    whole = Joined("twice", [Port("x", (2, N))], [Port("y", (2, 4))])
    with whole.rounds(2) as k:
        whole.run(program_of(), [whole.inputs[0] + k * N], [whole.outputs[0] + k * 4])
    twice = whole.program()
    verify(twice)
    for x in SAMPLES[:-1:6]:
        (found,) = interpret(twice, [*x, *SAMPLES[-1]])
        assert found == [*interpret(program_of(), x.tolist())[0], *interpret(program_of(), SAMPLES[-1].tolist())[0]]


def test_the_text_names_lists() -> None:
    text = str(program_of())
    assert "for k0 in list, " in text
    assert "for each place of list, " in text
    assert "for the entry at k0 of list, " in text
    assert program_of().operation_counts()["lt"] == N


def test_a_list_nobody_reads_is_not_made() -> None:
    def record(r: Recorder) -> None:
        sums = walls(r.inputs[0], partial(Grid, recorder=r))
        r.outputs[0][0] = sums[which]

    which = 2
    program = trace_memory(record, [X], [Port("y", (1,))], "counted")
    assert [array.name for array in program.arrays] == ["list"]
    for x in SAMPLES[::5].tolist():
        assert interpret(program, x) == ([plainly(x)[2]],)

    def unread(r: Recorder) -> None:
        Grid(1, 1, r).index_list(1, 3).append(0, [], lambda _place, _: ([], less(0.0, r.inputs[0][0])))

    assert not trace_memory(unread, [X], [Y], "f").arrays


def test_derivatives_agree_with_differences() -> None:
    program = program_of(N)
    forward, backward = forward_derivative(program), reverse_derivative(program)
    second = forward_derivative(backward)
    for made in (forward, backward, second):
        verify(made)
    fast, back = batch_function(forward), batch_function(backward)
    some = SAMPLES[::5]
    assert ((some < 0.0).sum(axis=1) > 1).any()
    for x in some:
        d = 1e-6
        J = np.array([
            (np.subtract(plainly(x + d * unit, N), plainly(x - d * unit, N))) / (2.0 * d) for unit in np.eye(N)
        ]).T  # fmt: skip
        for k, unit in enumerate(np.eye(N)):
            np.testing.assert_allclose(np.array(interpret(forward, x.tolist(), unit.tolist())[1]), J[:, k], atol=1e-6)
        for n, bar in enumerate(np.eye(4)):
            np.testing.assert_allclose(np.array(interpret(backward, x.tolist(), bar.tolist())[1]), J[n], atol=1e-6)
    along, bars = RNG.normal(size=some.shape), RNG.normal(size=(len(some), 4))
    tangents, adjoints = fast(some, along)[1], back(some, bars)[1]
    np.testing.assert_allclose((tangents * bars).sum(axis=1), (adjoints * along).sum(axis=1), rtol=1e-12)
    for k in range(len(some)):
        np.testing.assert_array_equal(back(some[k : k + 1], bars[k : k + 1])[1][0], adjoints[k])
        np.testing.assert_allclose(interpret(backward, some[k].tolist(), bars[k].tolist())[1], adjoints[k], rtol=1e-12)
    with pytest.raises(NotImplementedError, match="backward once"):
        reverse_derivative(backward)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("make", [lambda: program_of(), lambda: reverse_derivative(program_of(N))])
def test_in_c_it_is_the_same(make: Callable[[], Program], tmp_path: Path) -> None:
    program = make()
    names = [f"p{k}" for k in range(len(program.inputs) + len(program.outputs))]
    writer = FunctionWriter(program, REALS["float64"], "walls", names)
    source, library = tmp_path / "walls.c", tmp_path / "walls.so"
    text = writer.text()
    source.write_text("\n".join([preamble(writer.macros, REALS["float64"]), text]))
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-shared", "-fPIC", "-ffp-contract=off"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library), "-lm"], check=True)
    function = ctypes.CDLL(str(library)).walls
    for x in SAMPLES[::4]:
        given = [x, *(np.ones(port.size) for port in program.inputs[1:])]
        made = [np.zeros(port.size) for port in program.outputs]
        memory = np.full(writer.memory, np.nan)
        function(*(a.ctypes.data_as(ctypes.c_void_p) for a in (*given, *made, memory)))
        for one, other in zip(made, interpret(program, *(a.tolist() for a in given)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def listed(r: Recorder, capacity: int, entry: Index, place: Index | None = None) -> None:
    found = Grid(1, 1, r).index_list(capacity, 3)
    kept = found.grid(1, 1)

    def keep(at: Any, _: Sequence[Any]) -> tuple[list[Any], Any]:
        kept[at, 0] = r.inputs[0][0]
        return [], r.inputs[0][1]

    found.append(entry, [], keep)
    with r.loop(Each(found._array, 3)) as k, r.loop(Entry(found._array, k if place is None else place, 3)) as e:
        r.outputs[0][e] = kept[k, 0]


def test_places_and_entries_stay_within_their_bounds() -> None:
    def made(*given: Any) -> Program:
        return trace_memory(lambda r: listed(r, *given), [X], [Port("y", (3,))], "f")

    assert interpret(made(1, Index(2)), [5.0, 0.0, *[0.0] * (N - 2)]) == ([0.0, 0.0, 5.0],)
    assert interpret(made(1, Index(2)), [5.0, 1.0, *[0.0] * (N - 2)]) == ([0.0, 0.0, 0.0],)
    with pytest.raises(IndexError, match="place 3 of the entries of a list, which has 3"):
        made(1, Index(3))
    with pytest.raises(IndexError, match="place 3 of a list"):
        made(1, Index(2), Index(3))


def test_a_list_that_is_full_takes_no_more() -> None:
    def record(r: Recorder) -> None:
        found = Grid(1, 1, r).index_list(1, N)
        with r.loop(Range(Index(0), Index(N))) as k:
            found.append(k, [], lambda _place, _: ([], less(0.0, r.inputs[0][k])))

        def mark(_place: Any, k: Any, _: Any) -> list[Any]:
            r.outputs[0][k] = 1.0
            return []

        found.fold([], mark)

    program = trace_memory(record, [X], [Port("y", (N,))], "f")
    with pytest.raises(IndexError, match="entry 1 of a list that has room for 1"):
        interpret(program, [-1.0] * N)
    lanes = host().lanes(F64)
    found = batch_function(program)(np.full((8 * lanes, N), -1.0))
    assert (found.sum(axis=1) <= lanes).all()


def test_a_list_is_an_array_of_a_length_and_room() -> None:
    program = program_of()
    arrays = tuple(replace(one, size=1) if one.name == "list" else one for one in program.arrays)
    with pytest.raises(ValueError, match="is not a list of up to 9 entries"):
        verify(replace(program, arrays=arrays))

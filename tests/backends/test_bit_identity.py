"""A sample's result has the same bits whatever surrounds it and however it is computed.

At any batch size and position, in any layout of memory, on any number of threads, alone through the builtin, and on
processors with fewer lanes.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.codegen.cpu.jit import assemble
from kinetree.codegen.cpu.module import emit
from kinetree.codegen.cpu.single import emit_single
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F32, F64, Precision
from kinetree.codegen.llvm.target import Target, host
from kinetree.compiler import batch_pieces
from kinetree.expr import Program, interpret
from tests.robots import stork
from tests.strategies import State, law, states, trees

Array = np.ndarray[Any, Any]
Function = Callable[..., Array]

SAMPLES = 1000
SIZES = (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 999, 1000)


class Case(NamedTuple):
    """A function and what it is compiled with."""

    function: Function
    options: Mapping[str, Any]

    def compiled(self, model: kt.Model) -> Function:
        return kt.compile(model, self.function, **self.options)


CASES = {
    "aba in float32": Case(kt.aba, {"dtype": "float32"}),
    "rnea": Case(kt.rnea, {}),
    "aba in loops": Case(kt.aba, {"unroll": False}),
    "crba": Case(kt.crba, {}),
    "rollout": Case(kt.rollout, {"steps": 3}),
    "forward_kinematics": Case(kt.forward_kinematics, {}),
    "aba": Case(kt.aba, {}),
    "frame_jacobian": Case(kt.frame_jacobian, {"frame": "tool", "expressed_in": "world"}),
}

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def assert_same_bits(actual: Array, expected: Array) -> None:
    """Equal, signs of zeros and NaNs included."""
    integers = np.dtype(f"i{expected.dtype.itemsize}")
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(
        np.ascontiguousarray(actual).view(integers), np.ascontiguousarray(expected).view(integers)
    )


def batch_of(model: kt.Model, function: Function, count: int) -> list[Array]:
    """Arguments of a compiled function for many samples."""
    rng = np.random.default_rng(1)
    compiled: Any = function.__self__  # type: ignore[attr-defined]
    values = {"q": lambda _: [model.random(rng) for _ in range(count)], "dt": lambda _: rng.uniform(0.0, 0.01, count)}
    made = [
        values.get(port.name, lambda shape: rng.normal(scale=3.0, size=(count, *shape)))(port.shape)
        for port in compiled.program.inputs
    ]
    return [np.array(x).astype(compiled.dtype) for x in made]


Problem = tuple[kt.Model, list[State]]


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """A random tree, and states with zeros and large angles among them."""
    model = draw(trees(max_joints=5))
    return model, [draw(states(model)) for _ in range(3)]


def solved(case: Case, problem: Problem) -> tuple[Function, list[Array], Array]:
    """The compiled function, arguments for many samples, and the results of each sample by itself."""
    model, special = problem
    f = case.compiled(model)
    batch = batch_of(model, f, SAMPLES)
    for k, state in enumerate(special * 3):  # one in eleven, so that it stands in every lane
        batch[0][11 * k] = state.q
        if len(batch) > 1:
            batch[1][11 * k] = state.v
    alone = f.__self__.__call__  # type: ignore[attr-defined]
    return f, batch, np.concatenate([alone(*(x[k : k + 1] for x in batch)) for k in range(SAMPLES)])


def in_every_batch_size_and_position(f: Function, batch: list[Array], expected: Array) -> None:
    for size in SIZES:
        assert_same_bits(f(*(x[:size] for x in batch)), expected[:size])
        assert_same_bits(f(*(x[SAMPLES - size :] for x in batch)), expected[SAMPLES - size :])
    for start in range(34):  # every sample from 33 to 66 at every position of a batch
        part = slice(start, start + 67)
        assert_same_bits(f(*(x[part] for x in batch)), expected[part])


def alone(f: Function, batch: list[Array], expected: Array) -> None:
    out = np.empty_like(expected[0])
    for k in range(0, SAMPLES, 7):
        sample = [np.array(x[k]) for x in batch]
        assert_same_bits(f(*sample), expected[k])
        f(*sample, out=out)
        assert_same_bits(out, expected[k])
    assert_same_bits(f(*(x[5].tolist() for x in batch)), expected[5])


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "in C order": np.ascontiguousarray,
    "in Fortran order": np.asfortranarray,
    "every other sample": lambda x: np.repeat(x, 2, axis=0)[::2],
    "every third number": lambda x: np.repeat(x, 3, axis=-1)[..., ::3],
    "within something wider": lambda x: np.stack([x, x, x], axis=1)[:, 1],
    "backwards": lambda x: np.flip(np.flip(x).copy()),
    "unaligned": lambda x: np.frombuffer(bytearray(b"\0" + x.tobytes()), x.dtype, x.size, 1).reshape(x.shape),
}


def in_every_layout_of_arguments_and_results(f: Function, batch: list[Array], expected: Array) -> None:
    for make, count in itertools.product(LAYOUTS.values(), (5, 16, 67)):
        part = [x[:count] for x in batch]
        laid_out = [make(x) for x in part]
        assert_same_bits(f(*laid_out), expected[:count])
        out = make(np.zeros_like(expected[:count]))
        assert f(*laid_out, out=out) is out
        assert_same_bits(out, expected[:count])


def broadcast_or_repeated(f: Function, batch: list[Array], _: Array) -> None:
    for fixed in range(len(batch)):
        one = [x[:1] if k == fixed else x[:37] for k, x in enumerate(batch)]
        single = [x[0] if k == fixed else x[:37] for k, x in enumerate(batch)]
        count = 37 if len(batch) > 1 else 1
        repeated = f(*(np.repeat(x, count // len(x), axis=0) for x in one))
        assert_same_bits(f(*one), repeated)
        assert_same_bits(f(*single) if count > 1 else f(*single)[None], repeated)
        assert_same_bits(f(*(np.broadcast_to(x, (count, *x.shape[1:])) for x in one)), repeated)


@contextmanager
def small_pieces() -> Iterator[list[int]]:
    """Batches are cut as if a sample took long; yields how many pieces the calls were cut into."""
    counts: list[int] = []
    real = batch_pieces._cut

    def counted(*arguments: Any) -> list[slice]:
        pieces = real(*arguments)
        counts.append(len(pieces))
        return pieces

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_pieces, "_PIECE", 1e-9)
        patch.setattr(batch_pieces, "_cut", counted)
        yield counts


def on_every_number_of_threads(f: Function, batch: list[Array], expected: Array) -> None:
    grid = [x.reshape(8, 125, *x.shape[1:]) for x in batch]
    with small_pieces() as counts:
        for count in (1, 2, 3, 4):
            for size in (7, 100, 1000):
                assert_same_bits(f(*(x[:size] for x in batch), threads=count), expected[:size])
            backwards = [x[::-1] for x in batch]
            out = np.zeros((SAMPLES, 2, *expected.shape[1:]), expected.dtype)[:, 1]
            f(*backwards, threads=count, out=out)
            assert_same_bits(out, expected[::-1])
            assert_same_bits(f(*grid, threads=count), expected.reshape(8, 125, *expected.shape[1:]))
    assert len(counts) == 3 * 5
    assert min(counts) > 1


@every_case
@law(2)
@given(problems())
def test_a_sample_has_the_same_bits_however_it_is_computed(case: Case, problem: Problem) -> None:
    """A robot is compiled once for all the ways."""
    found = solved(case, problem)
    in_every_batch_size_and_position(*found)
    alone(*found)
    in_every_layout_of_arguments_and_results(*found)
    broadcast_or_repeated(*found)
    on_every_number_of_threads(*found)


# -- other processors

ROBOT = stork()
PROGRAMS = {
    "aba": Case(kt.aba, {"unroll": True}),
    "aba in loops": Case(kt.aba, {"unroll": False}),
    "rollout": Case(kt.rollout, {"steps": 2, "unroll": True}),
    "rollout in loops": Case(kt.rollout, {"steps": 2, "unroll": False}),
}
every_program = pytest.mark.parametrize("case", PROGRAMS.values(), ids=PROGRAMS)
x86 = pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="runs x86 code of narrower processors")


def narrow(bits: int, features: str, fma: bool) -> Target:
    return dataclasses.replace(host(), cpu="x86-64", features=features, vector_bits=bits, fma=fma)


@x86
@every_program
@pytest.mark.parametrize("bits", [128, 256])
def test_narrow_processors_compute_what_the_program_means(case: Case, bits: int) -> None:
    if bits == 256 and not host().fma:
        pytest.skip("needs a processor with AVX2 and fused multiply-add")
    f = case.compiled(ROBOT)
    program: Program = f.__self__.program  # type: ignore[attr-defined]
    batch = batch_of(ROBOT, f, 9)
    meant = []
    for k in range(9):
        (values,) = interpret(program, *(x[k].ravel().tolist() for x in batch))
        meant.append(np.reshape(values, program.outputs[0].shape))
    target = narrow(256, "+avx2,+fma", True) if bits == 256 else narrow(128, "", False)
    kernel = batch_function(program, F64, target)
    scale = np.max(np.abs(meant), initial=1.0)
    np.testing.assert_allclose(kernel(*batch), meant, rtol=1e-11, atol=1e-11 * scale)
    if target.fma:
        assert_same_bits(kernel(*batch), f(*batch))


@x86
@pytest.mark.skipif(not host().fma, reason="needs a processor with fused multiply-add")
@pytest.mark.parametrize("bits", sorted({128, 256, host().vector_bits}))
@pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])
@law(2)
@given(trees(max_joints=5), st.booleans())
def test_the_number_of_lanes_changes_no_bit(bits: int, precision: Precision, model: kt.Model, unroll: bool) -> None:
    f = kt.compile(model, kt.aba, unroll=unroll, dtype=np.dtype(precision.char))
    batch = batch_of(model, f, 19)
    kernel = batch_function(f.__self__.program, precision, narrow(bits, "+avx2,+fma", True))  # type: ignore[attr-defined]
    assert_same_bits(kernel(*batch), f(*batch))


@every_program
@pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])
def test_code_for_aarch64_is_made_anywhere(case: Case, precision: Precision) -> None:
    target = Target("aarch64-unknown-linux-gnu", "generic", "", 128, True)
    program: Program = case.compiled(ROBOT).__self__.program  # type: ignore[attr-defined]
    batch = assemble(emit(program, precision, target), target)
    single = assemble(emit_single(program, precision, target, [(0, 3)]), target)
    assert "kernel:" in batch
    assert "call:" in single
    assert "fmla" in batch
    assert "fmadd" in single

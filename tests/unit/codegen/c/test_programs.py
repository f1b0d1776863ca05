"""Programs in C have the values of programs: every kind of statement, every operation, both precisions."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path

import numpy as np
import pytest

from kinetree.codegen.c.function import FunctionWriter
from kinetree.codegen.c.names import identifier
from kinetree.codegen.c.operations import ANGLES, LIBRARY, expression
from kinetree.codegen.c.real import REALS
from kinetree.codegen.c.unit import texts
from kinetree.expr import OPS, PHILOX, Block, Index, Instruction, Port, Program, Range, interpret, trace_memory
from kinetree.expr.recording import Recorder
from tests.c_code import STRICT, called, library, needs
from tests.random_programs import random_program

BUILDS = [
    pytest.param("gcc", ("-O0", "-fsanitize=undefined", "-fno-sanitize-recover"), marks=needs("gcc"), id="gcc -O0"),
    pytest.param("gcc", ("-O2",), marks=needs("gcc"), id="gcc -O2"),
    pytest.param("clang", ("-O0",), marks=needs("clang"), id="clang -O0"),
    pytest.param("clang", ("-O2",), marks=needs("clang"), id="clang -O2"),
]


def writer_of(program: Program, name: str, dtype: str = "float64") -> FunctionWriter:
    ports = [identifier(port.name) for port in (*program.inputs, *program.outputs)]
    return FunctionWriter(program, REALS[dtype], name, ports)


def saved(folder: Path, writers: list[FunctionWriter], dtype: str = "float64") -> Path:
    source, header = texts("unit", writers, REALS[dtype], ["a test"])
    (folder / "unit.h").write_text(header)
    (folder / "unit.c").write_text(source)
    return folder / "unit.c"


@pytest.mark.parametrize(("compiler", "flags"), BUILDS)
def test_random_programs(compiler: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    programs = [random_program(random.Random(seed)) for seed in range(8)]
    writers = [writer_of(program, f"f{k}") for k, program in enumerate(programs)]
    loaded = library(tmp_path, compiler, [saved(tmp_path, writers)], *STRICT, *flags)
    rng = np.random.default_rng(1)
    for program, writer in zip(programs, writers, strict=True):
        given = [rng.normal(size=port.size) for port in program.inputs]
        found = called(getattr(loaded, writer.name), given, [port.size for port in program.outputs], writer.memory)
        for x, expected in zip(found, interpret(program, *given), strict=True):
            np.testing.assert_allclose(x, expected, rtol=1e-11, atol=1e-11)


@needs("gcc")
@pytest.mark.parametrize("dtype", REALS)
def test_every_operation_on_every_kind_of_number(dtype: str, tmp_path: Path) -> None:
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, math.inf, -math.inf, math.nan]
    writers = []
    for name, op in OPS.items():
        ports = tuple(Port(f"x{k}", ()) for k in range(op.arity))
        body = Block((Instruction(name, tuple(range(op.arity)), op.arity),))
        program = Program(name, ports, (Port("y", ()),), body, (op.arity,))
        writers.append(writer_of(program, f"op_{name}", dtype))
    loaded = library(tmp_path, "gcc", [saved(tmp_path, writers, dtype)], *STRICT, "-O1")
    for writer, (name, op) in zip(writers, OPS.items(), strict=True):
        for given in itertools.product(values if op.arity < 4 else [-0.0, 7.0, 0.5, math.inf], repeat=op.arity):
            ((found,),) = called(getattr(loaded, writer.name), given, [1], 0, dtype)
            expected = float(np.array(op.evaluate(*given), dtype))
            if name in PHILOX and dtype == "float32":
                expected = float(np.floor(op.evaluate(*given) * 2.0**24)) * 2.0**-24
            rounding = 4 * float(np.finfo(dtype).eps) if name in {*LIBRARY, *ANGLES} else 0.0
            assert math.isclose(found, expected, rel_tol=rounding) or (np.isnan(found) and np.isnan(expected)), given
            assert found != 0.0 or math.copysign(1.0, found) == math.copysign(1.0, expected), (name, given)


def test_every_operation_has_a_rule() -> None:
    for name, op in OPS.items():
        assert expression(name, ["a", "b", "c", "d", "e", "f"][: op.arity], REALS["float32"])[0]
    with pytest.raises(NotImplementedError, match="the C backend has no rule for 'erf'"):
        expression("erf", ["a"], REALS["float64"])


def test_constants() -> None:
    double, single = REALS["float64"], REALS["float32"]
    assert [double.literal(x) for x in (0.1, -2.0, 1e300, math.inf)] == ["0.1", "(-2.0)", "1e+300", "INFINITY"]
    assert [single.literal(x) for x in (0.1, -2.0, 1e300, math.nan)] == ["0.100000001f", "(-2.0f)", "INFINITY", "NAN"]


@needs("gcc")
def test_what_loops_carry_is_assigned_all_at_once(tmp_path: Path) -> None:
    """Fibonacci's numbers, with a loop that ends by what it carries."""

    def write(recorder: Recorder) -> None:
        end, start = recorder.inputs[0][0], recorder.inputs[0][1]

        def step(_: Index, state: list) -> list:
            return [state[1], state[0] + state[1], state[2] + 1.0]

        a, b, n = recorder.fold(Range(Index(0), Index(10)), [start, start + 1.0, end], step)
        for k, x in enumerate((a, b, n)):
            recorder.outputs[0][k] = x

    program = trace_memory(write, [Port("x", (2,))], [Port("y", (3,))], "fibonacci")
    writer = writer_of(program, "fibonacci")
    loaded = library(tmp_path, "gcc", [saved(tmp_path, [writer])], *STRICT, "-O1")
    (found,) = called(loaded.fibonacci, [[0.0, 0.0]], [3], writer.memory)
    assert found.tolist() == [55.0, 89.0, 10.0]

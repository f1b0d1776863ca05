"""Kernels for graphics processors, run by the threads of a block on this computer, give the bits of kinetree's own."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.llvm.precision import F32, F64, Precision
from kinetree.codegen.ptx.backend import MOST_LOCAL, PtxKernel, assembly, gpu, module
from kinetree.expr import (
    OPS,
    PHILOX,
    Array,
    Block,
    Index,
    Instruction,
    Load,
    Loop,
    Port,
    Program,
    Range,
    Store,
    Switch,
    Term,
    interpret,
)
from kinetree.interop.node import Node
from kinetree.interop.subject import Subject
from tests.functions import FIXED, options_of
from tests.ptx_threads import GraphicsProcessor
from tests.robots import stork

THREADS = 32
BOTH = pytest.mark.parametrize("dtype", ["float64", "float32"])
STORK = stork()


def arguments(node: Node, robot: kt.Model, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    q = robot.integrate(robot.neutral(), rng.normal(size=(count, robot.nv)))
    rest = [rng.normal(size=(count, port.size)) for port in node.inputs[1:]]
    return [x.astype(node.dtype) for x in (q, *rest)]


def found(node: Node, arrays: list[np.ndarray], count: int) -> np.ndarray:
    """What threads give, in blocks of a warp."""
    made = PtxKernel(node.kernel, THREADS)
    result = np.full((count, node.outputs[0].size), np.nan, node.dtype)
    GraphicsProcessor(made.module(), THREADS).run(arrays, made.sizes[:-1], result)
    return result.reshape(count, *node.outputs[0].shape)


def agree(node: Node, arrays: list[np.ndarray], count: int) -> None:
    shaped = [x.reshape(count, *port.shape) for x, port in zip(arrays, node.inputs, strict=True)]
    np.testing.assert_array_equal(found(node, arrays, count), node.kernels.batch().call(*shaped))


@BOTH
def test_straight_lines(dtype: str) -> None:
    """An incomplete last block, and a free base."""
    node = Subject(STORK, kt.aba).node(dtype)
    agree(node, arguments(node, STORK, 75), 75)


@BOTH
def test_loops_over_bodies(dtype: str) -> None:
    node = Subject(STORK, kt.aba, unroll=False).node(dtype)
    assert not node.program.is_straight
    agree(node, arguments(node, STORK, 40), 40)


def test_rows_longer_than_a_line_and_one_sample_for_all() -> None:
    node = Subject(STORK, kt.crba).node("float64")
    agree(node, arguments(node, STORK, 33), 33)
    q = arguments(node, STORK, 1)[0][0]
    assert q.ndim == 1
    result = found(node, [q], 35)
    np.testing.assert_array_equal(result, np.broadcast_to(kt.crba(STORK, q), result.shape))


def test_a_loop_over_time() -> None:
    robot = kt.zoo.load("double_pendulum")
    node = Subject(robot, kt.rollout, options={"steps": 5}).node("float64")
    q, v, forces, _ = arguments(node, robot, 6)
    agree(node, [q, v, forces, np.full((6, 1), 0.01)], 6)


def test_derivatives_with_several_outputs() -> None:
    robot = kt.zoo.load("double_pendulum")
    node = Subject(robot, kt.aba).node("float64").reverse([0, 2])
    given, made = arguments(node, robot, 5), PtxKernel(node.kernel, THREADS)
    results = [np.full((5, 2), np.nan) for _ in node.outputs]
    parameters = [x for array in given for x in (array.ctypes.data, 2)]
    processor = GraphicsProcessor(made.module(), THREADS)
    processor.launch(1, [*parameters, *(y.ctypes.data for y in results), 5])
    np.testing.assert_array_equal(results, node.kernels.batch().call(*given))


def test_long_rows_stay_where_they_are() -> None:
    program = running_sums(600)
    x = np.random.default_rng(0).normal(size=(40, 600))
    result = np.full((40, 600), np.nan)
    GraphicsProcessor(module(program, F64, gpu(), "sums", block=THREADS), THREADS).run([x], [600], result)
    np.testing.assert_array_equal(result, np.cumsum(x, axis=1))


def running_sums(size: int) -> Program:
    """y[k] = x[0] + … + x[k], through memory."""
    k = Index(0, (Term(0),))
    total, x, following, last = range(size, size + 4)  # after the inputs
    body = Block((Load(0, k, x), Instruction("add", (total, x), following), Store(1, k, following)))
    loop = Loop(Range(Index(0), Index(size)), body, (total,), (0.0,), (following,), (last,))
    return Program("sums", (Port("x", (size,)),), (Port("y", (size,)),), Block((loop,)), None)


def test_switches_and_scratch_memory() -> None:
    """y is x if the place is even, and -x if it is odd, by way of an array that is cleared first."""
    k = Index(0, (Term(0),))
    cases = (Block((Store(2, k, 4),)), Block((Instruction("neg", (4,), 5), Store(2, k, 5))))
    first = Loop(Range(Index(0), Index(4)), Block((Load(0, k, 4), Switch(Index(0, (Term(0, 1, 0),)), cases))))
    second = Loop(Range(Index(0), Index(4)), Block((Load(2, k, 6), Store(1, k, 6))))
    program = Program(
        "turned",
        (Port("x", (4,)),),
        (Port("y", (4,)),),
        Block((first, second)),
        None,
        (Array("turned", 4, clear=True),),
        ((0, 1, 0, 1),),
    )
    x = np.arange(8.0).reshape(2, 4)
    result = np.full((2, 4), np.nan)
    GraphicsProcessor(module(program, F64, gpu(), "turned", block=2), 2).run([x], [4], result)
    np.testing.assert_array_equal(result, x * [1, -1, 1, -1])


def test_loops_end_and_are_left_out_sample_by_sample() -> None:
    """Each thread ends its own loop: x is doubled until it is above 100, and then halved unless it was below 1."""
    doubled = Block((Instruction("add", (2, 2), 3), Instruction("lt", (100.0, 3), 4)))
    halved = Block((Instruction("mul", (7, 0.5), 8), Instruction("select", (1, 7, 8), 9)))
    body = (
        Instruction("lt", (0, 1.0), 1),
        Loop(Range(Index(0), Index(20)), doubled, (2,), (0,), (3,), (5,), until=4),
        Instruction("add", (5, 0.0), 6),
        Loop(Range(Index(0), Index(1)), halved, (7,), (6,), (9,), (10,), unless=1),
    )
    program = Program("ended", (Port("x", (1,)),), (Port("y", (1,)),), Block(body), (10,))
    x = np.array([[0.5], [3.0], [90.0], [-1.0], [np.nan]])
    result = np.full((5, 1), 7.0)
    GraphicsProcessor(module(program, F64, gpu(), "ended", block=8), 8).run([x], [1], result)
    np.testing.assert_array_equal(result, [interpret(program, row)[0] for row in x.tolist()])


@pytest.mark.parametrize("name", FIXED)
def test_every_function_becomes_ptx(name: str) -> None:
    robot = kt.zoo.load("double_pendulum")
    options = options_of(FIXED[name], list(robot.frames)[-1])
    text = Subject(robot, FIXED[name], options=options).node("float64").ptx.text()
    assert ".extern" not in text
    assert ".approx" not in text


VALUES = [0.0, -0.0, 1.0, -2.25, 0.5, 1e-300, 3e7, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("precision", [F64, F32], ids=["float64", "float32"])
def test_every_operation(precision: Precision) -> None:
    """All in one program; sine and cosine of large angles and of NaN too."""
    body, results, inputs = [], [], 3
    for op in OPS.values():
        results.append(inputs + len(body))
        body.append(Instruction(op.name, tuple(k % 3 for k in range(op.arity)), results[-1]))
    program = Program("all", (Port("x", (3,)),), (Port("y", (len(OPS),)),), Block(tuple(body)), tuple(results))
    x = np.array([[a, b, c] for a in VALUES for b in VALUES for c in (0.75, -0.0)], precision.char)
    with np.errstate(all="ignore"):
        x = x.astype(precision.char)
    result = np.full((len(x), len(OPS)), np.nan, precision.char)
    with np.errstate(all="ignore"):
        GraphicsProcessor(module(program, precision, gpu(), "all", block=THREADS), THREADS).run([x], [3], result)
    for k, op in enumerate(OPS.values()):
        for row, y in zip(x.astype(float).tolist(), result[:, k].tolist(), strict=True):
            with np.errstate(all="ignore"):
                meant = float(np.array(op.evaluate(*(row * 2)[: op.arity]), precision.char))
            if op.name in PHILOX and precision is F32 and max(row) >= 2.0**24:
                meant = math.nan
            assert math.isnan(y) == math.isnan(meant), (op.name, row)
            if not math.isnan(y):
                near = 2.0**-24 if op.name in PHILOX and precision is F32 else 0.0
                rel = 3 * 2.0 ** (-52 if precision is F64 else -23)
                assert y == meant or y == pytest.approx(meant, rel=rel, abs=near), op
                assert math.copysign(1.0, y) == math.copysign(1.0, meant), (op.name, row)


def test_a_quaternion_without_direction_is_nan_in_its_sample_alone() -> None:
    node = Subject(STORK, kt.gravity_forces).node("float64")
    (q,) = arguments(node, STORK, 5)
    expected = kt.gravity_forces(STORK, q)
    q[2, 3:7] = 0.0
    result = found(node, [q], 5)
    assert np.isnan(result[2]).any()
    np.testing.assert_array_equal(np.delete(result, 2, 0), np.delete(expected, 2, 0))


def test_every_rounding_is_written_down() -> None:
    """Without `.rn` the driver may fuse a product and a sum, or divide approximately."""
    text = Subject(STORK, kt.aba).node("float32").ptx.text()
    arithmetic = {
        word
        for line in text.splitlines()
        for word in line.split()[:1]
        if word.endswith(("f32", "f64")) and word.split(".")[0] in ("add", "sub", "mul", "div", "fma", "sqrt", "mad")
    }
    assert arithmetic
    assert all(".rn" in word for word in arithmetic), arithmetic


def test_a_kernel_has_a_name_that_profilers_show() -> None:
    node = Subject(STORK, kt.aba).node("float64")
    assert node.ptx.entry == "kinetree_aba"
    assert ".entry kinetree_aba(" in node.ptx.text()
    assert ".maxntid 128" in node.ptx.text()


def test_more_memory_than_a_thread_can_have() -> None:
    size = MOST_LOCAL // 8 + 1
    scratch = Array("scratch", size)
    body = Block((Store(2, Index(0), 0), Load(2, Index(0), 1), Store(1, Index(0), 1)))
    program = Program("large", (Port("x", (1,)),), (Port("y", (1,)),), body, None, (scratch,))
    with pytest.raises(kt.errors.OptionError, match="large needs 524,296 bytes of memory for one sample"):
        module(program, F64, gpu(), "large")


def test_parts_are_those_of_one_module() -> None:
    """Nothing is left to another library."""
    text = assembly(module(running_sums(3), F64, gpu(), "sums"), gpu())
    assert ".extern" not in text

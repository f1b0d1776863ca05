"""Derivatives of programs: each operation, each kind of statement, random programs, and real robots."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.expr import (
    OPS,
    PHILOX,
    Array,
    Block,
    Call,
    Index,
    Instruction,
    Load,
    Loop,
    Port,
    Program,
    Range,
    Recorder,
    Store,
    Switch,
    Term,
    Walk,
    absolute,
    forward_derivative,
    interpret,
    less,
    less_equal,
    log,
    maximum,
    minimum,
    operations_along,
    reverse_derivative,
    select,
    sin,
    slopes_of,
    sqrt,
    trace,
    trace_memory,
    without_slopes,
)
from kinetree.expr.dead_code import without_dead_code
from kinetree.expr.derivatives.rules import RULES
from tests.kernels import compiled_late
from tests.oracles.pinocchio_oracle import PinocchioOracle
from tests.random_programs import random_line, random_program
from tests.robots import load_robot, robot_path

Numbers = NDArray[np.float64]


def flat(ports: Any) -> Numbers:
    return np.array([x for port in ports for x in port], float)


def split(program: Program, x: Numbers) -> list[list[float]]:
    """Flat numbers as the program's inputs."""
    ends = np.cumsum([port.size for port in program.inputs])[:-1]
    return [list(map(float, part)) for part in np.split(x, ends)]


def along(program: Program, x: Numbers, dx: Numbers) -> tuple[Numbers, Numbers]:
    """The outputs and their derivative along dx, by forward differentiation."""
    out = interpret(forward_derivative(program), *split(program, x), *split(program, dx))
    n = len(program.outputs)
    return flat(out[:n]), flat(out[n:])


def back(program: Program, x: Numbers, bar: Numbers) -> tuple[Numbers, Numbers]:
    """The outputs and the derivative of barᵀ outputs, by reverse differentiation."""
    ends = np.cumsum([port.size for port in program.outputs])[:-1]
    out = interpret(reverse_derivative(program), *split(program, x), *np.split(bar, ends))
    n = len(program.outputs)
    return flat(out[:n]), flat(out[n:])


def by_differences(program: Program, x: Numbers, dx: Numbers) -> Numbers:
    """Central differences, with one step of Richardson."""

    def central(h: float) -> Numbers:
        return (flat(interpret(program, *split(program, x + h * dx))) - flat(there(-h))) / (2.0 * h)

    def there(h: float) -> Any:
        return interpret(program, *split(program, x + h * dx))

    return (4.0 * central(1e-4) - central(2e-4)) / 3.0


def is_smooth(program: Program, x: Numbers, dx: Numbers) -> bool:
    """Whether differences mean anything here: no select, min or abs takes another arm within their steps."""
    values = np.array([flat(interpret(program, *split(program, x + k * 1e-4 * dx))) for k in range(-2, 3)])
    fourth = np.array([1.0, -4.0, 6.0, -4.0, 1.0]) @ values
    return bool(np.all(np.abs(fourth) <= 1e-9 * (1.0 + np.abs(values).max(axis=0))))


def check(program: Program, seed: int = 0, scale: float = 1.2) -> None:
    """Outputs stay as they are; forward agrees with differences, and reverse with forward."""
    rng = np.random.default_rng(seed)
    x, dx = rng.uniform(-scale, scale, size=(2, program.input_size))
    bar = rng.normal(size=program.output_size)
    if not is_smooth(program, x, dx):
        reject()  # a test of a program that is given fails here
    y = flat(interpret(program, *split(program, x)))
    y_forward, dy = along(program, x, dx)
    y_reverse, bar_x = back(program, x, bar)
    np.testing.assert_allclose(y_forward, y, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(y_reverse, y, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(dy, by_differences(program, x, dx), rtol=0.0, atol=1e-7 * (1.0 + np.abs(dy).max()))
    terms = np.concatenate([bar * dy, -bar_x * dx])
    assert abs(terms.sum()) <= 1e-12 * np.abs(terms).sum()


def of_one_operation(op: str) -> Program:
    n = OPS[op].arity
    line = Block((Instruction(op, tuple(range(n)), n),))
    return Program(op, (Port("x", (n,)),), (Port("y", ()),), line, (n,))


def line_of(function: Callable[..., Any], n: int) -> Program:
    return trace(lambda x: [[function(*x)]], [Port("x", (n,))], [Port("y", ())], "f")


def program_of(robot: kt.Model, function: Any) -> Program:
    """The program of a public function; for a single call, compiled functions are wrapped in a quicker one."""
    compiled: Any = compiled_late(robot, function)
    program = getattr(compiled, "__self__", compiled).program
    assert isinstance(program, Program)
    return program


def gradients(function: Callable[..., Any], *x: float) -> tuple[list[float], list[float]]:
    """The gradient by forward and by reverse differentiation."""
    program = line_of(function, len(x))
    forward = [float(along(program, np.array(x), e)[1][0]) for e in np.eye(len(x))]
    return forward, list(back(program, np.array(x), np.ones(1))[1])


# -- operations


OF_SOLUTIONS = {"settled", "slopes_of"}
"""Those whose derivatives are not of what they compute; test_repeat.py has them."""


def test_every_operation_has_a_rule_that_names_its_arguments() -> None:
    assert set(RULES) == set(OPS)
    for name, rule in RULES.items():
        assert set(rule.passes) <= set(range(OPS[name].arity)), name


def test_a_value_is_computed_alike_whatever_its_slopes_are() -> None:
    def of(mark: Callable[[Any, Any], Any]) -> Program:
        def compute(x: Any) -> list[list[Any]]:
            slow = (x[0] * x[1]) / x[2]
            return [[x[3] + mark(-x[0] * x[1], slow * slow) * x[2] + mark(x[2] * x[1], slow) * x[3]]]

        return without_slopes(trace(compute, [Port("x", (4,))], [Port("y", ())], "sum"))

    def marked(x: Any, slopes: Any) -> Any:
        return slopes_of(x, slopes)

    assert str(of(marked)) == str(of(lambda x, _: slopes_of(x, x)))
    assert "neg" not in str(of(marked))


@pytest.mark.parametrize("op", sorted(set(OPS) - OF_SOLUTIONS - {*PHILOX}))
def test_each_operation_has_the_derivative_that_differences_find(op: str) -> None:
    program = of_one_operation(op)
    rng = np.random.default_rng(1)
    for _ in range(20):
        x = rng.uniform(0.1, 2.0, size=OPS[op].arity)
        if op not in ("log", "sqrt"):
            x *= rng.choice([-1.0, 1.0], size=len(x))
        for dx in np.eye(len(x)):
            expected = by_differences(program, x, dx)
            y, dy = along(program, x, dx)
            np.testing.assert_allclose(dy, expected, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(back(program, x, np.ones(1))[1] @ dx, expected[0], rtol=1e-9, atol=1e-9)
            assert y == interpret(program, list(x))[0]


@pytest.mark.parametrize("op", sorted(op for op in set(OPS) - OF_SOLUTIONS if OPS[op].arity > 1))
@pytest.mark.parametrize("constant", [0.0, 1.0, -1.0, 0.7])
def test_constant_arguments_fold_to_the_same_derivative(op: str, constant: float) -> None:
    x = np.array([0.83, -0.45, 0.61, 0.3, 0.9, -0.7])[: OPS[op].arity]
    whole = of_one_operation(op)
    for k in range(len(x)):
        if op == "div" and k == 1 and constant == 0.0:
            continue
        args = tuple(constant if n == k else n for n in range(len(x)))
        program = Program(op, whole.inputs, whole.outputs, Block((Instruction(op, args, len(x)),)), whole.results)
        at = np.where(np.arange(len(x)) == k, constant, x)
        for dx in np.delete(np.eye(len(x)), k, axis=0):
            expected = along(whole, at, dx)
            np.testing.assert_allclose(along(program, x, dx), expected, rtol=1e-14)
            np.testing.assert_allclose(back(program, x, np.ones(1))[1] @ dx, expected[1][0], rtol=1e-14)


def test_at_a_corner_the_argument_that_evaluation_takes_is_differentiated() -> None:
    assert gradients(minimum, 0.5, 0.5) == ([0.0, 1.0], [0.0, 1.0])
    assert gradients(maximum, 0.5, 0.5) == ([0.0, 1.0], [0.0, 1.0])
    assert gradients(absolute, 0.0) == ([0.0], [0.0])
    assert gradients(absolute, -2.0) == ([-1.0], [-1.0])
    assert gradients(lambda a, b: select(less_equal(a, b), 3.0 * a, 5.0 * b), 0.5, 0.5) == ([3.0, 0.0], [3.0, 0.0])


def test_at_a_pole_the_derivative_is_infinite() -> None:
    assert gradients(sqrt, 0.0) == ([math.inf], [math.inf])
    assert gradients(log, 0.0) == ([math.inf], [math.inf])


@pytest.mark.parametrize("x", [0.0, -1.0])
def test_what_an_arm_that_is_not_taken_would_give_never_leaks(x: float) -> None:
    def safe_root(a: Any) -> Any:
        return select(less_equal(a, 0.0), 2.0 * a, 3.0 * sqrt(a) * log(a))

    def twice(a: Any) -> Any:
        root = sqrt(a)  # needed in two arms that both are not taken
        return select(less(0.0, a), select(less(a, 1.0), root, 1.0 / root), 5.0 * a) + a

    def smaller(a: Any) -> Any:
        return minimum(a, a * a / (a * a) + 7.0) if x else maximum(-1.0 / a, 3.0 * a)

    assert gradients(safe_root, x) == ([2.0], [2.0])
    assert gradients(twice, x) == ([6.0], [6.0])
    if x:
        assert gradients(smaller, x) == ([1.0], [1.0])


def test_a_value_that_is_needed_outside_an_arm_too_keeps_its_derivative() -> None:
    def function(a: Any) -> Any:
        root = sqrt(a)
        return select(less(a, 1.0), root * a, root) + 2.0 * root

    for x in (0.25, 4.0):
        expected = (1.5 * math.sqrt(x) if x < 1.0 else 0.5 / math.sqrt(x)) + 1.0 / math.sqrt(x)
        forward, reverse = gradients(function, x)
        assert forward == pytest.approx([expected])
        assert reverse == pytest.approx([expected])


# -- programs


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_random_lines_agree_with_differences_and_both_ways_with_each_other(random: Random) -> None:
    check(random_line(random, 12), random.randrange(100))


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_random_programs_agree_with_differences_and_both_ways_with_each_other(random: Random) -> None:
    program = random_program(random)
    if program.operation_counts().total() < 2000:
        check(program, random.randrange(100))


@settings(deadline=None)
@given(st.integers(0, 300))
def test_second_derivatives_are_symmetric_and_agree_with_differences(seed: int) -> None:
    program = random_program(Random(seed))
    if program.operation_counts().total() > 300:
        return
    gradient = reverse_derivative(program)
    hessian = forward_derivative(gradient, range(len(program.inputs)))
    rng = np.random.default_rng(seed)
    n, m = program.input_size, program.output_size
    x, u, w = rng.uniform(-1.2, 1.2, size=(3, n))
    bar = rng.normal(size=m)

    def times(d: Numbers) -> Numbers:
        out = interpret(hessian, *split(gradient, np.concatenate([x, bar])), *split(program, d))
        return flat(out[-len(program.inputs) :])

    H_u, H_w = times(u), times(w)
    scale = 1.0 + np.abs(w * H_u).sum() + np.abs(u * H_w).sum()
    assert abs(w @ H_u - u @ H_w) <= 1e-11 * scale

    if not is_smooth(gradient, np.concatenate([x, bar]), np.concatenate([u, 0.0 * bar])):
        reject()

    def slope(h: float) -> Numbers:
        return (back(program, x + h * u, bar)[1] - back(program, x - h * u, bar)[1]) / (2.0 * h)

    differences = (4.0 * slope(1e-4) - slope(2e-4)) / 3.0
    np.testing.assert_allclose(H_u, differences, rtol=0.0, atol=1e-5 * (1.0 + np.abs(H_u).max()))


def test_reverse_twice_is_the_transpose_of_the_forward_derivative() -> None:
    program = random_line(Random(3), 10)
    rng = np.random.default_rng(0)
    x, u = rng.uniform(-1.0, 1.0, size=(2, 3))
    bar = rng.normal(size=2)
    twice = reverse_derivative(reverse_derivative(program), [1])
    # bar_x = Jᵀ bar_y is linear in bar_y: the derivative of uᵀ bar_x by bar_y is J u
    out = interpret(twice, list(x), list(bar), [0.0, 0.0], list(u))
    np.testing.assert_allclose(out[-1], along(program, x, u)[1], rtol=1e-12)


def cholesky(recorder: Recorder) -> None:
    """y = b L⁻ᵀ L⁻¹ for A = L Lᵀ = 4 + x xᵀ, in place, with nested triangular loops."""
    n = 4
    A, b = recorder.array("A", n * n), recorder.outputs[0]
    x = recorder.inputs[0]
    with recorder.loop(Range(Index(0), Index(n))) as i:
        b[i] = recorder.inputs[1][i]
        with recorder.loop(Range(Index(0), i + 1)) as j:
            A[i * n + j] = x[i] * x[j]
        A[i * (n + 1)] = A[i * (n + 1)] + 4.0
    with recorder.loop(Range(Index(0), Index(n))) as k:
        A[k * (n + 1)] = sqrt(A[k * (n + 1)])
        with recorder.loop(Range(k + 1, Index(n))) as i:
            A[i * n + k] = A[i * n + k] / A[k * (n + 1)]
        with recorder.loop(Range(k + 1, Index(n))) as j, recorder.loop(Range(j, Index(n))) as i:
            A[i * n + j] = A[i * n + j] - A[i * n + k] * A[j * n + k]
    with recorder.loop(Range(Index(0), Index(n))) as i:
        with recorder.loop(Range(Index(0), i)) as j:
            b[i] = b[i] - A[i * n + j] * b[j]
        b[i] = b[i] / A[i * (n + 1)]
    with recorder.loop(Range(Index(n - 1), Index(-1), -1)) as i:
        with recorder.loop(Range(i + 1, Index(n))) as j:
            b[i] = b[i] - A[j * n + i] * b[j]
        b[i] = b[i] / A[i * (n + 1)]


CHOLESKY = trace_memory(cholesky, [Port("x", (4,)), Port("b", (4,))], [Port("y", (4,))], "solve")


def test_a_factorisation_in_place_has_the_derivative_of_the_solution() -> None:
    check(CHOLESKY)
    rng = np.random.default_rng(5)
    x, b, dx = rng.normal(size=(3, 4))
    A, dA = 4.0 * np.eye(4) + np.outer(x, x), np.outer(dx, x) + np.outer(x, dx)
    y, dy = along(CHOLESKY, np.concatenate([x, b]), np.concatenate([dx, np.zeros(4)]))
    np.testing.assert_allclose(y, np.linalg.solve(A, b), rtol=1e-13)
    np.testing.assert_allclose(dy, -np.linalg.solve(A, dA @ y), rtol=1e-12)


PARENTS = (0, 0, 1, 1, 3, 4, 3)


def to_the_root(recorder: Recorder) -> None:
    """Each body passes a product of what lies between it and the root on to its parent, in place."""
    x, y, n = recorder.inputs[0], recorder.outputs[0], len(PARENTS)
    parents = recorder.table(PARENTS)
    with recorder.loop(Range(Index(n - 1), Index(0), -1)) as i, recorder.loop(Walk(i, parents)) as j:
        y[j] = y[j] * x[i] + sin(x[j])
        parent = recorder.look_up(PARENTS, j)
        with recorder.loop(Walk(parent, parents)) as k:
            y[recorder.look_up(PARENTS, k)] = y[k] * x[j]


def test_walks_run_backward() -> None:
    ports = [Port("x", (len(PARENTS),))], [Port("y", (len(PARENTS),))]
    check(trace_memory(to_the_root, *ports, "walks"), scale=0.9)


def test_ranges_of_larger_steps_run_backward() -> None:
    def steps(recorder: Recorder) -> None:
        x, y = recorder.inputs[0], recorder.outputs[0]
        with recorder.loop(Range(Index(8), Index(0), -3)) as i:
            with recorder.loop(Range(Index(0), i, 2)) as j:
                y[i] = y[i] * x[j] + x[i]
            with recorder.loop(Range(i, i + 3, 2)) as j:
                y[j - 1] = y[j - 1] * x[i] + x[j - 2]

    check(trace_memory(steps, [Port("x", (10,))], [Port("y", (11,))], "steps"))


def test_carried_values_and_calls_inside_a_loop() -> None:
    product = line_of(lambda a, b: a * sin(b), 2)
    body = Block((Load(0, K0, 9), Call(product, (5, 9), (10,)), Instruction("add", (6, 10), 11), Store(1, K0, 4)))
    loop = Loop(Range(Index(0), Index(4)), body, (5, 6), (0, 0.5), (11, 10), (7, 8))
    statements = (Instruction("mul", (1, 2), 4), loop, Store(1, Index(0), 7), Store(1, Index(1), 8))
    program = Program("carry", (Port("x", (4,)),), (Port("y", (5,)),), Block(statements), None)
    check(program)


K0 = Index(0, (Term(0),))


def test_a_value_from_outside_collects_from_all_rounds_and_cases() -> None:
    # w = x0 x1 outside; y[k] += w in the rounds of kind 0, and w² in the others
    add = (Load(1, K0, 4), Instruction("add", (3, 4), 5), Store(1, K0, 5))
    square = (Instruction("mul", (3, 3), 6), Store(1, K0, 6))
    kinds = ((0, 1, 1, 0),)
    switch = Switch(Index(0, (Term(0, 1, 0),)), (Block(add), Block(square)))
    statements = (Instruction("mul", (0, 1), 3), Loop(Range(Index(0), Index(4)), Block((switch,))))
    program = Program("cases", (Port("x", (3,)),), (Port("y", (4,)),), Block(statements), None, (), kinds)
    check(program)
    y, bar_x = back(program, np.array([2.0, 3.0, 0.0]), np.ones(4))
    assert list(y) == [6.0, 36.0, 36.0, 6.0]
    assert list(bar_x) == [3.0 * 26.0, 2.0 * 26.0, 0.0]


def test_results_are_given_back_although_an_input_is_read_as_an_array() -> None:
    body = Block((Load(0, K0, 5), Instruction("mul", (3, 5), 6)))
    loop = Loop(Range(Index(0), Index(3)), body, (3,), (1.0,), (6,), (4,))
    program = Program("product", (Port("x", (3,)),), (Port("y", (2,)),), Block((loop,)), (4, 0))
    check(program)
    y, bar_x = back(program, np.array([2.0, 3.0, 5.0]), np.array([1.0, 10.0]))
    assert list(y) == [30.0, 2.0]
    assert list(bar_x) == [25.0, 10.0, 6.0]


def test_only_the_chosen_inputs_are_differentiated_in_their_order() -> None:
    def product(a: Any, b: Any, c: Any) -> Any:
        return [[a[0] * b[0] * c[0]]]

    program = trace(product, [Port(name, ()) for name in "abc"], [Port("y", ())], "product")
    forward, reverse = forward_derivative(program, [2, 0]), reverse_derivative(program, [2, 0])
    assert [port.name for port in forward.inputs] == ["a", "b", "c", "d_c", "d_a"]
    assert [port.name for port in reverse.outputs] == ["y", "bar_c", "bar_a"]
    assert interpret(forward, [2.0], [3.0], [5.0], [1.0], [10.0]) == ([30.0], [156.0])
    assert interpret(reverse, [2.0], [3.0], [5.0], [1.0]) == ([30.0], [6.0], [15.0])


def test_a_wrong_input_is_refused_by_name() -> None:
    program = of_one_operation("mul")
    for derivative in (forward_derivative, reverse_derivative):
        with pytest.raises(ValueError, match=r"mul has no input 1 to differentiate by; its inputs are 0 \(x\)"):
            derivative(program, [1])
        with pytest.raises(ValueError, match="one input twice"):
            derivative(program, [0, 0])


def test_a_program_that_changes_its_input_is_refused() -> None:
    body = Block((Store(0, Index(0), 1.0),))
    program = Program("forgetful", (Port("x", (1,)),), (Port("y", ()),), body, (0,))
    for derivative in (forward_derivative, reverse_derivative):
        with pytest.raises(ValueError, match="forgetful stores into its input x"):
            derivative(program)


# -- dead code


def test_dead_code_goes_and_what_is_left_means_the_same() -> None:
    body = Block(
        (
            Load(0, K0, 6),
            Instruction("sin", (6,), 7),  # stored where nobody reads
            Store(2, K0, 7),
            Instruction("add", (4, 6), 8),
            Instruction("mul", (5, 6), 9),  # only its own next round uses it
            Store(3, K0, 6),
        )
    )
    loop = Loop(Range(Index(0), Index(3)), body, (4, 5), (1.0, 2.0), (8, 9), (10, 11))
    empty = Loop(Range(Index(0), Index(3)), Block((Instruction("cos", (0,), 12),)))
    statements = (Instruction("exp", (0,), 3), loop, empty, Load(3, Index(1), 13), Instruction("add", (10, 13), 14))
    arrays = (Array("unread", 3), Array("read", 3))
    program = Program("f", (Port("x", (3,)),), (Port("y", ()),), Block(statements), (14,), arrays, ((1, 2),))
    lean = without_dead_code(program)
    assert interpret(lean, [2.0, 3.0, 5.0]) == interpret(program, [2.0, 3.0, 5.0]) == ([14.0],)
    assert lean.operation_counts() == {"add": 4}
    assert [array.name for array in lean.arrays] == ["read"]
    assert lean.tables == ()
    assert without_dead_code(lean) == lean


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_nothing_that_changes_an_output_is_dead(random: Random) -> None:
    program = random_program(random)
    x = split(program, np.random.default_rng(0).uniform(-1.0, 1.0, program.input_size))
    np.testing.assert_array_equal(flat(interpret(without_dead_code(program), *x)), flat(interpret(program, *x)))


# -- robots


@pytest.mark.parametrize("function", [kt.aba, kt.rnea])
@pytest.mark.parametrize("name", ["arm7", "humanoid"])
def test_derivatives_cost_at_most_three_times_the_function(name: str, function: Any) -> None:
    program = compiled_late(kt.zoo.load(name), function).__self__.program
    cost = program.operation_counts().total()
    assert forward_derivative(program).operation_counts().total() < 3.0 * cost
    assert reverse_derivative(program).operation_counts().total() < 3.0 * cost


@pytest.mark.parametrize("name", ["panda", "solo12"])
def test_derivatives_of_the_dynamics_are_those_of_pinocchio(name: str) -> None:
    robot = load_robot(name)
    oracle = PinocchioOracle(robot_path(name), robot)
    model, data, order = oracle.model, oracle.data, np.ix_(oracle._order, oracle._order)
    assert model.nq == model.nv, "the derivative by q is that by its numbers only where q has a number a velocity"
    rng = np.random.default_rng(0)
    n = robot.nv
    q, v, u = rng.uniform(-1.0, 1.0, size=(3, n))
    there = oracle._q(q), oracle._v(v), oracle._v(u)
    forward_dynamics = [part[order] for part in pin.computeABADerivatives(model, data, *there)]
    inverse_dynamics = [part[order] for part in pin.computeRNEADerivatives(model, data, *there)]
    for function, expected in ((kt.aba, forward_dynamics), (kt.rnea, inverse_dynamics)):
        program = compiled_late(robot, function).__self__.program
        samples = (np.tile(q, (n, 1)), np.tile(v, (n, 1)), np.tile(u, (n, 1)), np.eye(n))
        _, *transposed = batch_function(reverse_derivative(program))(*samples)
        for wrt, (J, Jt) in enumerate(zip(expected, transposed, strict=True)):
            if wrt == 2:  # pinocchio fills the upper triangle
                J = np.triu(J) + np.triu(J, 1).T if np.allclose(np.tril(J, -1), 0.0) else J
            _, J_T = batch_function(forward_derivative(program, [wrt]))(*samples[:3], np.eye(n))
            np.testing.assert_allclose(Jt, J, rtol=1e-8, atol=1e-8 * np.abs(J).max())
            np.testing.assert_allclose(J_T.T, J, rtol=1e-8, atol=1e-8 * np.abs(J).max())


@pytest.mark.parametrize("derivative", [forward_derivative, reverse_derivative])
@pytest.mark.parametrize(
    "program",
    [
        compiled_late(kt.zoo.load("arm6"), kt.aba).__self__.program,
        random_line(Random(5), 30),
        CHOLESKY,
        random_program(Random(1)),
        random_program(Random(8)),
    ],
    ids=lambda program: program.name if isinstance(program, Program) else "",
)
def test_compiled_derivatives_are_what_they_mean(derivative: Any, program: Program) -> None:
    derived = derivative(program)
    rng = np.random.default_rng(2)
    x = rng.uniform(-1.0, 1.0, size=(9, derived.input_size))
    starts = np.cumsum([port.size for port in derived.inputs])[:-1]
    arrays = [
        np.reshape(part, (len(x), *port.shape))
        for part, port in zip(np.split(x, starts, axis=1), derived.inputs, strict=True)
    ]
    found = np.concatenate([np.reshape(part, (len(x), -1)) for part in batch_function(derived)(*arrays)], axis=1)
    expected = np.array([flat(interpret(derived, *split(derived, sample))) for sample in x])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def test_operations_of_a_jacobian_are_counted_where_they_are_not_zero() -> None:
    """Of y = (sin x₀, x₀ x₁, x₁ < x₂), with a direction that changes both x₀ and x₁."""

    def function(x: Any) -> Any:
        return [[sin(x[0]), x[0] * x[1], less(x[1], x[2])]]

    program = trace(function, [Port("x", (3,))], [Port("y", (3,))])
    assert operations_along(program, [0b001, 0b010, 0b100]) == 3
    assert operations_along(program, [0b101, 0b110, 0b000]) == 5
    assert operations_along(program, [0, 0, 0b111]) == 0

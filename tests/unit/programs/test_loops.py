"""Loops of programs: what `kt.programs.fori` and `kt.programs.scan` compute and record, in any form of arrays, nested,
with robots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import kinetree as kt
from kinetree.expr import Loop
from tests.unit.programs.looping import assert_differentiable, assert_same

RNG = np.random.default_rng(0)


def statements(program: kt.programs.Program) -> int:
    return sum(1 for _ in program.traced().program.body.all_statements())


def loops(program: kt.programs.Program) -> int:
    return sum(isinstance(s, Loop) for s in program.traced().program.body.all_statements())


class Filter(NamedTuple):
    P: Any
    x: Any


@dataclass
class Motion:
    q: Any
    v: Any


@kt.program(x=())
def root(x: Any) -> Any:
    return kt.programs.fori(6, lambda k, y: 0.5 * (y + x / y), 1.0)


@kt.program(A=(12, 12), x=12)
def powers(A: Any, x: Any) -> Any:
    def body(k: Any, s: Filter) -> Filter:
        P = s.P @ A * 0.1 + np.eye(12)
        return Filter(P, np.exp(-((P @ s.x) ** 2)) + k)

    return kt.programs.fori(5, body, Filter(np.eye(12), x))


@kt.program(x=100, y=100)
def swapped(x: Any, y: Any) -> Any:
    def body(k: Any, s: Any) -> Any:
        a, b = s
        return b, np.concatenate([a[1:], a[:1] * 2.0])

    return kt.programs.fori(7, body, (x, y))


@kt.program(x=(30, 4), y=4)
def nested(x: Any, y: Any) -> Any:
    def outer(s: Any, row: Any) -> Any:
        def inner(t: Any, r: Any) -> Any:
            return t * 0.5 + r * row, t + y

        s, collected = kt.programs.scan(inner, s, x[:10])
        z = kt.programs.fori(3, lambda k, a: a + collected[k] * collected[k + 1] + x[k] + s[k], s)
        return z * 0.1, {"all": collected, "sum": z.sum()}

    return kt.programs.scan(outer, y, x)


@kt.program(x=(30, 4))
def indexed(x: Any) -> Any:
    def rows(i: Any, s: Any) -> Any:
        def columns(j: Any, t: Any) -> Any:
            t = t + x[i + j + 1] * x[2 * i - j + 5] - x[-1 - i] * (i + 2 * j)
            return t + x[(i + 1) % 3, 2] * x.T[j, 3] + x[i, 1:3].sum() + x[i - 5, ...]

        return kt.programs.fori(range(4), columns, s)

    return kt.programs.fori(range(1, 9, 2), rows, np.zeros(4))


@kt.program(x=(40, 3), x0=3, b=40)
def collected(x: Any, x0: Any, b: Any) -> Any:
    _, (states, sums) = kt.programs.scan(lambda s, r: (0.9 * s + r, (s, s.sum())), x0, x)
    z = kt.programs.scan(lambda s, r: (s + r[0][0], s * 2.0 + r[1] + r[2]), 0.0, (states[::-1], np.arange(40), b))[1]
    return {"states": states, "part": states[3:, :2], "with first": np.concatenate([x0[None], states]), "z": (z, sums)}


@kt.program(x=3)
def no_steps(x: Any) -> Any:
    last, none = kt.programs.scan(lambda s, r: (s + r, {"u": s[:2], "v": r.sum()}), x, np.zeros((0, 3)))
    return last, none, kt.programs.fori(0, lambda k, s: s * x[k] + x[k + 1], x)


@kt.program(x=3)
def few_steps(x: Any) -> Any:
    count, nothing = kt.programs.scan(lambda s, r: (s + 1, None), x, length=4)
    assert nothing is None
    _, d = kt.programs.scan(lambda s, r: (s, x * r[0]), (), (np.arange(50),))
    one = kt.programs.fori(1, lambda k, s: [s[0] * s[0]], [x])
    return count, d, np.stack([d, 2.0 * d])[:, :3], one


@kt.program(x=3, n=int, up=bool)
def kinds(x: Any, n: Any, up: Any) -> Any:
    def body(k: Any, s: Any) -> Any:
        m, flag, y = s["m"], s["flag"], s["y"]
        return {"y": np.where(flag, y + m, y * x), "m": m + 2, "flag": np.logical_not(flag)}

    return kt.programs.fori(5, body, {"m": n, "flag": up, "y": np.zeros(3, int)})


CASES: list[tuple[kt.programs.Program, tuple[Any, ...]]] = [
    (root, (2.0,)),
    (powers, (RNG.normal(size=(12, 12)), RNG.normal(size=12))),
    (swapped, (RNG.normal(size=100), RNG.normal(size=100))),
    (nested, (RNG.normal(size=(30, 4)), RNG.normal(size=4))),
    (indexed, (RNG.normal(size=(30, 4)),)),
    (collected, (RNG.normal(size=(40, 3)), RNG.normal(size=3), RNG.normal(size=40))),
    (no_steps, (RNG.normal(size=3),)),
    (few_steps, (RNG.normal(size=3),)),
    (kinds, (RNG.normal(size=3), 4, True)),
]
NAMED = [pytest.param(*case, id=case[0].name) for case in CASES]


@pytest.mark.parametrize(("program", "arguments"), NAMED)
def test_the_plain_run_the_meaning_and_the_machine_code_agree(
    program: kt.programs.Program, arguments: tuple[Any, ...]
) -> None:
    assert_same(program, *arguments)


@pytest.mark.parametrize(("program", "arguments"), NAMED[:-1])
def test_derivatives(program: kt.programs.Program, arguments: tuple[Any, ...]) -> None:
    assert_differentiable(program, *arguments)


def test_a_batch_gives_what_samples_give() -> None:
    x, x0, b = RNG.normal(size=(9, 40, 3)), RNG.normal(size=(9, 3)), RNG.normal(size=(9, 40))
    whole = collected(x, x0, b)
    for k in range(9):
        one = collected(x[k], x0[k], b[k])
        np.testing.assert_array_equal(whole["part"][k], one["part"])
        np.testing.assert_array_equal(whole["z"][0][k], one["z"][0])


def test_single_precision() -> None:
    x = RNG.normal(size=(30, 4)).astype(np.float32)
    found = indexed(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, indexed.function(x.astype(float)), rtol=1e-4)


def test_the_body_is_recorded_once() -> None:
    assert (statements(root), loops(root)) == (4, 1)
    assert root.operation_counts()["div"] == 6


def test_integers_and_booleans_stay_what_they_are() -> None:
    found = kinds(np.ones(3), 4, True)
    assert [found[name].dtype.kind for name in ("y", "m", "flag")] == ["f", "i", "b"]
    assert found["m"] == 14


def test_large_states_and_results_are_not_written_out() -> None:
    assert statements(swapped) < 50
    assert statements(collected) < 80


def test_rows_of_an_argument_are_read_where_they_are() -> None:
    @kt.program(x=(1000, 2))
    def total(x: Any) -> Any:
        return kt.programs.scan(lambda s, r: (s + r[0] * r[1], None), 0.0, x[::-1])[0]

    program = total.traced().program
    assert not program.arrays
    assert statements(total) < 10
    assert total.operation_counts().total() == 1000


def test_what_depends_on_the_surroundings_alone_is_computed_once() -> None:
    @kt.program(x=3)
    def twice(x: Any) -> Any:
        return kt.programs.fori(100, lambda k, s: s + np.exp(x), x)

    assert twice.operation_counts()["exp"] == 3


def test_operations_of_loops_inside_loops_are_counted_at_once() -> None:
    @kt.program(x=())
    def thirds(x: Any) -> Any:
        return kt.programs.fori(1_000_000, lambda k, s: kt.programs.fori(3, lambda j, t: t / 3.0, s), x)

    assert thirds.operation_counts().total() == 3_000_000


def test_a_part_that_is_not_used_is_not_computed() -> None:
    @kt.program(x=3)
    def last(x: Any) -> Any:
        end, (a, _) = kt.programs.scan(lambda s, r: (s * 0.5 + x, (s * s, np.exp(s))), x, length=100)
        return end, a[99, 0]

    assert last.operation_counts()["exp"] == 0
    assert statements(last) < 20


def test_rollout_of_a_robot() -> None:
    robot = kt.zoo.load("double_pendulum")

    @kt.program(q=robot, v=robot.nv, u=(20, robot.nv))
    def motion(q: Any, v: Any, u: Any) -> Any:
        def step(s: Motion, tau: Any) -> Any:
            v = s.v + 0.01 * kt.aba(robot, s.q, s.v, tau)
            q = s.q + 0.01 * v
            return Motion(q, v), (q, kt.frame_placement(robot, q, "tip")[:3, 3])

        return kt.programs.scan(step, Motion(q, v), u)

    arguments = RNG.normal(size=2), RNG.normal(size=2), RNG.normal(size=(20, 2))
    assert_same(motion, *arguments, exact=False)
    assert_differentiable(motion, *arguments)


def test_calls_of_programs_with_loops_and_of_other_programs_in_a_body() -> None:
    robot = kt.zoo.load("double_pendulum")
    looped = kt.program(x=(), n=2)(lambda x, n: kt.programs.fori(3, lambda k, y: 0.5 * (y + x / y) + n[k % 2], 1.0))

    @kt.program(q=robot, v=robot.nv, tau=robot.nv)
    def held(q: Any, v: Any, tau: Any) -> Any:
        def step(k: Any, s: Any) -> Any:
            q, v = s
            end = kt.rollout(robot, q, v, np.stack([tau, tau, 0.5 * tau]), 0.01)
            return end[-1, :2], np.linalg.solve(kt.mass_matrix(robot, q), v) * looped(1.0 + v @ v, v)

        return kt.programs.fori(2, step, (q, v))

    arguments = RNG.normal(size=2), RNG.normal(size=2), RNG.normal(size=2)
    assert_same(held, *arguments, exact=False)
    assert_differentiable(held, *arguments)

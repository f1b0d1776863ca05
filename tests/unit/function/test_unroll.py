"""`unroll=`: every body's arithmetic in a straight line, or loops over the bodies; the same function either way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.expr import Block, Loop, Switch
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3
from tests import functions
from tests.kernels import compiled_late

RNG = np.random.default_rng(21)
FUNCTIONS = [*functions.LOOPING.values(), kt.rollout]


def statements(block: Block) -> Iterator[Any]:
    for s in block.statements:
        yield s
        for inner in (s.body,) if isinstance(s, Loop) else s.cases if isinstance(s, Switch) else ():
            yield from statements(inner)


def loops(f: Callable[..., Any]) -> int:
    return sum(isinstance(s, Loop) for s in statements(f.__self__.program.body))  # type: ignore[attr-defined]


def chain(links: int) -> kt.Model:
    """Pendulums, one below the other."""
    builder = kt.ModelBuilder(f"chain of {links}")
    builder.add_body("body0")
    for k in range(1, links + 1):
        builder.add_body(f"body{k}", Inertia.from_com(1.0, Vec3(0.0, 0.0, -0.1), Sym3.scalar(0.01)))
        place = Transform(Mat3.identity(), Vec3(0.0, 0.0, -0.2))
        axis = [[1, 0, 0], [0, 1, 0]][k % 2]
        builder.add_joint(f"joint{k}", kt.Revolute(axis), f"body{k - 1}", f"body{k}", place)
    return builder.build()


def arguments(f: Callable[..., Any], robot: kt.Model, count: int) -> list[np.ndarray]:
    inputs = f.__self__.program.inputs  # type: ignore[attr-defined]
    values = [RNG.normal(size=(count, *port.shape)) for port in inputs]
    qs = [k for k, port in enumerate(inputs) if port.name in ("q", "q0", "q1")]
    for k in qs:
        values[k] = np.stack([robot.random(RNG) for _ in range(count)])
    return [0.01 * abs(x) if port.name == "dt" else x for port, x in zip(inputs, values, strict=True)]


def biped() -> kt.Model:
    """Two legs of two hinges each, below a trunk that floats."""
    builder = kt.ModelBuilder("biped")
    builder.add_body("trunk", kt.solids.box(0.2, 0.3, 0.4, mass=8.0))
    for side, y in (("left", 0.1), ("right", -0.1)):
        builder.add_body(
            f"{side}_thigh", kt.solids.box(0.1, 0.08, 0.3, mass=2.0, placement=kt.lie.placement([0, 0, -0.15]))
        )
        builder.add_body(
            f"{side}_shin", kt.solids.box(0.06, 0.05, 0.3, mass=1.0, placement=kt.lie.placement([0, 0, -0.15]))
        )
        hip, knee = kt.lie.placement([0.0, y, -0.2]), kt.lie.placement([0.0, 0.0, -0.3])
        builder.add_joint(f"{side}_hip", kt.Revolute([1, 0, 0]), "trunk", f"{side}_thigh", hip, damping=[0.1])
        builder.add_joint(
            f"{side}_knee", kt.Revolute([0, 1, 0]), f"{side}_thigh", f"{side}_shin", knee, armature=[0.02]
        )
        builder.add_frame(f"{side}_foot", f"{side}_shin", kt.lie.placement([0.05, 0.0, -0.3]))
    return builder.build(floating_base=True)


ROBOT = biped()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_is_the_same_in_loops(function: Any) -> None:
    options = functions.options_of(function, "left_foot", "local_world_aligned", "classical")
    if function is kt.rollout:
        options = {"integrator": "rk4", "steps": 2}
    rolled = compiled_late(ROBOT, function, unroll=False, **options)
    straight = compiled_late(ROBOT, function, unroll=True, **options)
    given = arguments(straight, ROBOT, 11)
    expected = straight(*given)
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(rolled(*given), expected, rtol=1e-9, atol=1e-11 * scale)
    if FUNCTIONS.index(function) % 9 == 0:  # code for single samples is compiled by itself, which takes long
        single = [np.array(x[3]) for x in given]
        assert np.array_equal(rolled(*single), rolled(*given)[3])
    assert loops(rolled) > 0
    # Steps and their stages are loops in any case.
    assert loops(straight) == 0 or (function is kt.rollout and loops(straight) < loops(rolled))


@pytest.mark.parametrize("function", [kt.aba, kt.rnea, kt.gravity_forces])
def test_forces_and_parameters_are_taken_in_loops(function: Any) -> None:
    named: dict[str, Any] = {"parameters": ["gravity", "body.trunk.mass"]}
    if function.definition.takes_forces:
        named["f_ext"] = ["left_foot", "trunk"]
    straight, rolled = (compiled_late(ROBOT, function, unroll=unroll, **named) for unroll in (True, False))
    given = arguments(straight, ROBOT, 5)
    given[-1] = abs(given[-1])
    expected = straight(*given)
    np.testing.assert_allclose(rolled(*given), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_float32_stays_float32_in_loops() -> None:
    f = compiled_late(ROBOT, kt.aba, unroll=False, dtype="float32")
    given = arguments(f, ROBOT, 5)
    result = f(*(x.astype(np.float32) for x in given))
    assert result.dtype == np.float32
    expected = kt.aba(ROBOT, *given)
    np.testing.assert_allclose(result, expected, rtol=2e-2, atol=2e-3 * np.abs(expected).max())


def test_the_size_of_the_robot_decides_where_nothing_is_said() -> None:
    small, large = chain(5), chain(170)
    assert loops(compiled_late(small, kt.rnea)) == 0
    assert loops(compiled_late(large, kt.rnea)) > 0
    q, v, a = RNG.normal(size=(3, 4, 170))
    tau = kt.rnea(large, q, v, a)
    np.testing.assert_allclose(kt.aba(large, q, v, tau), a, rtol=1e-5, atol=1e-5 * np.abs(a).max())


def test_a_large_robot_has_no_longer_a_program_than_one_half_its_size() -> None:
    lengths = [
        sum(1 for _ in statements(compiled_late(chain(n), kt.aba, unroll=False).__self__.program.body))
        for n in (40, 80)
    ]
    assert lengths[0] == lengths[1] < 2000


def test_the_two_ways_are_two_functions_and_each_is_compiled_once() -> None:
    robot = chain(3)
    straight, rolled = (kt.compile(robot, kt.aba, unroll=unroll) for unroll in (True, False))
    assert straight is not rolled
    assert kt.compile(robot, kt.aba, unroll=False) is rolled
    assert kt.compile(robot, kt.aba, unroll=True) is straight
    assert kt.compile(robot, kt.aba) is kt.compile(robot, kt.aba, unroll=None)


@pytest.mark.parametrize("value", [0, 1, "yes", 1.0, [True], np.ones(2), "auto"])
def test_anything_but_yes_no_or_nothing_is_refused(value: Any) -> None:
    robot = chain(1)
    for unroll in (True, False):
        compiled_late(robot, kt.crba, unroll=unroll)
    with pytest.raises(kt.errors.OptionError, match="unroll must be True, False or None, not "):
        kt.compile(robot, kt.crba, unroll=value)


@pytest.mark.parametrize("unroll", [True, False])
def test_a_robot_of_one_joint_or_of_none_is_taken(unroll: bool) -> None:
    one = chain(1)
    assert np.isfinite(compiled_late(one, kt.aba, unroll=unroll)([0.3], [0.1], [0.2])).all()
    builder = kt.ModelBuilder("rock")
    builder.add_body("rock", Inertia.from_com(2.0, Vec3(0.0, 0.0, 1.0), Sym3.scalar(1.0)))
    rock = builder.build()
    nothing = np.zeros((3, 0))
    assert compiled_late(rock, kt.aba, unroll=unroll)(nothing, nothing, nothing).shape == (3, 0)
    assert compiled_late(rock, kt.center_of_mass, unroll=unroll)(nothing).tolist() == [[0.0, 0.0, 1.0]] * 3

"""Programs: what a user's function becomes, how it is called, and what it says about itself."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import kinetree as kt
from kinetree.expr import interpret
from tests.functions import PUBLIC
from tests.robots import load_robot

ARM = kt.zoo.load("arm7")
RNG = np.random.default_rng(15)


@kt.program(q=ARM, v=ARM.nv, target=(7,), gain=())
def impedance(q, v, target, gain):  # type: ignore[no-untyped-def]
    """Springs at the hand."""
    J = kt.frame_jacobian(ARM, q, "hand", expressed_in="local_world_aligned")
    x = kt.frame_placement(ARM, q, "hand")
    force = gain * (target[:3] - x[:3, 3])
    return J[:3].T @ force + kt.bias_forces(ARM, q, v)


def arguments(*batch: int) -> tuple[Any, ...]:
    return ARM.random(RNG), RNG.normal(size=(*batch, 7)), RNG.normal(size=7), 300.0


def test_a_program_gives_what_its_function_gives() -> None:
    for _ in range(5):
        given = arguments()
        np.testing.assert_allclose(impedance(*given), impedance.function(*given), rtol=0, atol=1e-12)


def test_arrays_broadcast_and_samples_do_not_depend_on_the_batch() -> None:
    q, v, target, gain = arguments(50)
    many = impedance(q, v, target, gain)
    assert many.shape == (50, 7)
    alone = np.array([impedance(q, row, target, gain) for row in v])
    assert np.array_equal(many, alone)
    assert np.array_equal(impedance(q, v[:, None], target, np.array([[gain]])), many[:, None])
    gains = impedance(q, v[0], target, np.array([1.0, 2.0, gain]))
    assert np.array_equal(gains[2], many[0])


def test_names_out_and_threads() -> None:
    q, v, target, gain = arguments(4)
    expected = impedance(q, v, target, gain)
    assert np.array_equal(impedance(gain=gain, target=target, v=v, q=q), expected)
    assert np.array_equal(impedance(q, v, gain=gain, target=target, threads=2), expected)
    out = np.zeros((4, 7))
    assert impedance(q, v, target, gain, out=out) is out
    assert np.array_equal(out, expected)
    out = np.zeros(7)
    assert impedance(q, v[0], target, gain, out=out) is out
    assert np.array_equal(out, expected[0])


def test_all_arrays_of_single_precision_make_a_result_of_it() -> None:
    q, v, target, gain = arguments(4)
    single = impedance(*(np.asarray(x, np.float32) for x in (q, v, target, gain)))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, impedance(q, v, target, gain), rtol=2e-4, atol=2e-3)
    assert impedance(q.astype(np.float32), v, target, gain).dtype == np.float64


def test_the_bare_function_is_a_builtin_and_gives_the_same_bits() -> None:
    given = arguments()
    bare = impedance.compile()
    assert inspect.isbuiltin(bare)
    assert np.array_equal(bare(*given), impedance(*given))
    assert np.array_equal(bare(*given[:3], np.array(given[3])), impedance(*given))
    assert impedance.compile(dtype="float32")(*given).dtype == np.float32
    with pytest.raises(kt.errors.OptionError, match="float64 or float32"):
        impedance.compile(dtype="int64")


class Motion(NamedTuple):
    mass: Any
    forces: Any


@dataclass
class Place:
    point: Any
    is_low: Any


def _two(q: Any) -> tuple[Any, Any]:
    return kt.crba(ARM, q), kt.center_of_mass(ARM, q)


def _list(q: Any) -> list[Any]:
    return [q[0], 2.0, np.arange(3)]


def _dict(q: Any) -> dict[str, Any]:
    return {"M": kt.crba(ARM, q), "nested": {"c": kt.center_of_mass(ARM, q), "both": (q[0], q[1:3])}}


def _named(q: Any) -> Motion:
    return Motion(kt.crba(ARM, q), kt.gravity_forces(ARM, q))


def _dataclass(q: Any) -> Place:
    point = kt.frame_placement(ARM, q, "hand")[:3, 3]
    return Place(point, point[2] < 0.5)


def leaves(x: Any) -> list[Any]:
    if isinstance(x, dict):
        return [y for part in x.values() for y in leaves(part)]
    if isinstance(x, tuple | list):
        return [y for part in x for y in leaves(part)]
    if isinstance(x, Place):
        return [x.point, x.is_low]
    return [x]


@pytest.mark.parametrize("function", [_two, _list, _dict, _named, _dataclass])
@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
def test_several_results_come_in_the_form_of_the_function(function: Any, batch: tuple[int, ...]) -> None:
    program = kt.program(function, q=ARM)
    q = RNG.normal(size=(*batch, 7))
    found, form = program(q), function(q[(0,) * len(batch)])
    assert type(found) is type(form)
    for sample in np.ndindex(batch):
        for x, expected in zip(leaves(found), leaves(function(q[sample])), strict=True):
            np.testing.assert_allclose(np.asarray(x)[sample], expected, rtol=0, atol=1e-13)
            assert np.asarray(x).dtype == np.asarray(expected).dtype


def test_several_results_are_views_of_one_array() -> None:
    program = kt.program(_two, q=ARM)
    q, whole = RNG.normal(size=(6, 7)), np.zeros((6, 52))
    M, c = program(q, out=whole)
    assert np.shares_memory(M, whole)
    assert np.array_equal(whole[:, 49:], c)
    assert np.array_equal(program.compile()(q), whole)


def test_common_work_is_done_once() -> None:
    calls = {
        "M": lambda q, _: kt.crba(ARM, q),
        "h": lambda q, v: kt.bias_forces(ARM, q, v),
        "x": lambda q, _: kt.frame_placement(ARM, q, "hand"),
        "J": lambda q, _: kt.frame_jacobian(ARM, q, "hand", expressed_in="world"),
    }
    counts = [
        kt.program(f, **dict.fromkeys(inspect.signature(f).parameters, 7)).operation_counts() for f in calls.values()
    ]
    both = kt.program(lambda q, v: {key: f(q, v) for key, f in calls.items()}, q=ARM, v=7).operation_counts()
    assert both.total() < 0.9 * sum(c.total() for c in counts)
    assert both["sin"] == both["cos"] == 7
    twice = kt.program(lambda q: [kt.crba(ARM, q), kt.crba(ARM, q) + 0.0], q=ARM)
    assert twice.operation_counts() == counts[0]


@pytest.mark.parametrize("name", ["aba", "rnea", "crba", "bias_forces", "center_of_mass_jacobian"])
@pytest.mark.parametrize("robot", ["arm7", "quadruped"])
def test_a_program_of_one_call_is_that_functions_kernel(robot: str, name: str) -> None:
    model, function = kt.zoo.load(robot), PUBLIC[name]
    shapes = {"q": model, "v": model.nv, "tau": model.nv, "qdd": model.nv}
    inputs = {x: shapes[x] for x, _ in function.definition.inputs}
    text = f"lambda {', '.join(inputs)}: function(model, {', '.join(inputs)})"
    program = kt.program(eval(text, {"function": function, "model": model}), **inputs)
    alone = kt.compile(model, function).__self__.program  # type: ignore[attr-defined]
    assert program.operation_counts() == alone.operation_counts()


def test_two_robots_and_a_program_in_a_program() -> None:
    other = kt.zoo.load("double_pendulum")

    @kt.program(q=ARM, p=other)
    def distance(q, p):  # type: ignore[no-untyped-def]
        hand = kt.frame_placement(ARM, q, "hand")[:3, 3]
        return np.linalg.norm(hand - kt.frame_placement(other, p, list(other.frames)[-1])[:3, 3])

    @kt.program(q=ARM, p=(3, other.nq))
    def nearest(q, p):  # type: ignore[no-untyped-def]
        return np.min(distance(q, p))

    q, p = ARM.random(RNG), RNG.normal(size=(3, 2))
    assert abs(nearest(q, p) - min(distance.function(q, row) for row in p)) < 1e-14


def test_booleans_and_whole_numbers() -> None:
    @kt.program(x=3, mask=kt.programs.Argument(3, bool), on=bool, count=int)
    def kept(x, mask, on, count):  # type: ignore[no-untyped-def]
        return np.where(mask & on, x, -1.0) * count, mask.any(), count + 1

    x = np.array([1.0, 2.0, 3.0])
    values, some, more = kept(x, [True, False, True], True, 2)
    assert values.tolist() == [2.0, -2.0, 6.0]
    assert (bool(some), some.dtype, more.dtype, int(more)) == (True, np.bool_, np.int64, 3)
    assert kept(x, [True, False, True], np.array([True, False]), 1)[0].tolist() == [[1.0, -1.0, 3.0], [-1.0] * 3]
    with pytest.raises(kt.errors.DTypeError, match=r"kept: mask holds booleans, and 0.5 is none"):
        kept(x, [1.0, 0.5, 0.0], True, 1)
    with pytest.raises(kt.errors.DTypeError, match="count holds whole numbers"):
        kept(x, [True] * 3, True, 1.5)


def test_defaults_are_constants_unless_they_are_declared() -> None:
    def scaled(x, factor=3.0, offset=1.0):  # type: ignore[no-untyped-def]
        return factor * x + offset

    assert list(kt.program(scaled, x=()).arguments) == ["x"]
    program = kt.program(scaled, factor=(), x=())
    assert list(program.arguments) == ["x", "factor"]
    assert (program(2.0), program(2.0, 5.0), program(2.0, factor=0.0)) == (7.0, 11.0, 1.0)


def test_constants_are_copied_when_the_function_is_traced() -> None:
    weights = np.array([1.0, 2.0])
    program = kt.program(lambda x: weights * x, x=2)
    assert program([1.0, 1.0]).tolist() == [1.0, 2.0]
    weights[:] = 0.0
    assert program([1.0, 1.0]).tolist() == [1.0, 2.0]


def test_a_configuration_is_checked() -> None:
    quadruped = kt.zoo.load("quadruped")
    program = kt.program(lambda q: kt.center_of_mass(quadruped, q), q=quadruped)
    q = quadruped.neutral()
    assert np.isfinite(program(q)).all()
    q[quadruped.quaternions.popitem()[1] if isinstance(quadruped.quaternions, dict) else slice(3, 7)] = 0.0
    with pytest.raises(kt.errors.ConfigurationError, match="quaternion"):
        program(q)


def test_what_a_program_says_about_itself() -> None:
    assert repr(impedance) == "<program impedance(q[7], v[7], target[7], gain[])>"
    assert impedance.__doc__ == "Springs at the hand."
    assert [*inspect.signature(impedance).parameters] == ["q", "v", "target", "gain", "out", "threads"]
    text = str(impedance)
    assert "a configuration of 'arm7'" in text
    assert f"{impedance.operation_counts().total()} operations per sample" in text


def test_a_profile_says_which_lines_the_operations_come_from() -> None:
    profile = impedance.profile()
    assert profile.total == impedance.operation_counts().total()
    assert [row.text.split()[0] for row in profile] == ["J", "force", "return"]
    assert all(row.file == __file__ for row in profile)
    lines, first = inspect.getsourcelines(impedance.function)
    assert {row.line for row in profile} <= set(range(first, first + len(lines)))
    assert "force = gain * (target[:3] - x[:3, 3])" in repr(profile)


def test_programs_are_pickled_by_their_names() -> None:
    assert pickle.loads(pickle.dumps(impedance)) is impedance
    bare = impedance.compile()
    assert pickle.loads(pickle.dumps(bare)) is bare


def test_the_program_means_what_the_machine_code_computes() -> None:
    given = arguments()
    program = impedance.traced().program
    (values,) = interpret(program, *(np.ravel(x).tolist() for x in given))
    np.testing.assert_allclose(impedance(*given), values, rtol=0, atol=1e-12)


def test_a_humanoid() -> None:
    robot = load_robot("talos_reduced", floating_base=True)

    @kt.program(q=robot, v=robot.nv, tau=robot.nv)
    def power(q, v, tau):  # type: ignore[no-untyped-def]
        return v @ kt.crba(robot, q) @ kt.aba(robot, q, v, tau)

    q, v, tau = robot.random(RNG), RNG.normal(size=robot.nv), RNG.normal(size=robot.nv)
    expected = power.function(q, v, tau)
    assert abs(power(q, v, tau) - expected) < 1e-10 * abs(expected)


def test_calls_of_several_results_in_every_way_of_giving_arguments() -> None:
    program = kt.program(lambda q, v: {"M": kt.crba(ARM, q), "h": kt.bias_forces(ARM, q, v), "t": q[0]}, q=ARM, v=7)
    q, v = ARM.random(RNG), RNG.normal(size=7)
    expected = program.function(q, v)
    ways = [program(q, v), program(q.tolist(), v), program(q, v.tolist()), program(q=q, v=v), program(q, v=v)]
    ways += [program(q, v, threads=2), program(q, v, out=np.zeros(57)), program(q[::-1][::-1], v)]
    for found in ways:
        for name, x in expected.items():
            np.testing.assert_allclose(found[name], x, rtol=0, atol=1e-12)
    with pytest.raises(kt.errors.ShapeError, match=r"v has shape \(6,\)"):
        program(q, v[:6])
    with pytest.raises(kt.errors.DTypeError, match="takes 2 arrays"):
        program(q, v, v)


def test_machine_code_is_compiled_for_what_is_called() -> None:
    program = kt.program(lambda q: kt.gravity_forces(ARM, q) + 0.125, q=ARM)
    q = RNG.normal(size=(300, 7))
    many = program(q)
    compiled = program.compiled("float64")
    assert compiled._single is None
    assert np.array_equal(program(q[7]), many[7])
    assert compiled._single is not None
    assert inspect.isbuiltin(type(program).__call__)
    assert np.array_equal(program(q=q[:5]), many[:5])
    assert program(q[3].astype(np.float32)).dtype == np.float32

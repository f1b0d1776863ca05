"""Places, lengths, gains and weights are inputs of a call: others compile nothing anew, and samples have their own."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.calls import _kernels
from kinetree.compiler.reference import on_numbers
from tests import functions

ARM = kt.zoo.load("arm6")
"""Equal copies of it have kernels of their own."""
TOOL, ELBOW = "tool", list(ARM.frames)[3]
Numbers = dict[str, Any]
CONSTRAINED = {
    name: function
    for name, function in functions.EVERY.items()
    if "constraints" in function.definition.options  # type: ignore[attr-defined]
}


def fresh() -> kt.Model:
    """An arm for which nothing is compiled yet."""
    return kt.ModelBuilder.of(ARM).build()


def held(at: Any, corner: Any, length: Any, gains: Any) -> list[kt.constraints.Contact | kt.constraints.Loop]:
    """One of each kind: a whole frame, a point, and a rod."""
    return [
        kt.constraints.Contact(TOOL, "fixed", at=at, position_gain=gains, velocity_gain=0.5 * gains),
        kt.constraints.Contact(ELBOW, at=corner, axes="local", position_gain=2.0 * gains),
        kt.constraints.Loop(ARM.root, TOOL, "distance", length=length, position_gain=3.0, velocity_gain=gains),
    ]


def place(seed: int) -> Any:
    return kt.frame_placement(ARM, ARM.random(seed), TOOL)


FIRST = held(place(1), [0.1, 0.2, 0.3], 0.7, 10.0)
OTHER = held(place(2), [0.3, -0.2, 0.5], 0.4, 25.0)


def kernels(robot: kt.Model) -> int:
    return len(set(_kernels.get(id(robot), {}).values()))


def state(name: str, seed: int = 3) -> list[Any]:
    rng = np.random.default_rng(seed)
    definition = CONSTRAINED[name].definition  # type: ignore[attr-defined]
    options = {
        option: check(ARM, FIRST if option == "constraints" else None) for option, check in definition.options.items()
    }
    return [0.5 * rng.normal(size=definition.width(size, ARM, options)) for _, size in definition.inputs]


def called(name: str, robot: kt.Model, arguments: list[Any], constraints: Any, **more: Any) -> Any:
    """A public function's result as one array."""
    own = {"constrained_dynamics": "acceleration", "constraint_forces": "acceleration", "impact": "restitution"}
    named = {own[name]: arguments[-1]} if name in own else {}
    if name == "impact":
        named["restitution"] = np.abs(arguments[-1]) / 10.0
    if name == "constrained_inverse_dynamics":
        more["on_impossible"] = "least_squares"
    result = CONSTRAINED[name](
        robot, *arguments[: len(arguments) - len(named)], constraints=constraints, **named, **more
    )
    return np.concatenate(result, axis=-1) if isinstance(result, tuple) else result


# -- nothing is compiled anew


@pytest.mark.parametrize("name", CONSTRAINED)
def test_other_numbers_compile_nothing_and_count(name: str) -> None:
    robot, arguments = fresh(), state(name)
    first = called(name, robot, arguments, FIRST)
    count = kernels(robot)
    other = called(name, robot, arguments, OTHER)
    assert kernels(robot) == count == 1
    if name == "impact":
        arguments[-1] = np.abs(arguments[-1]) / 10.0
    for result, constraints in ((first, FIRST), (other, OTHER)):
        expected = on_numbers(CONSTRAINED[name].definition, robot, arguments, constraints=constraints)  # type: ignore[attr-defined]
        size = 1.0 + np.abs(expected).max()
        np.testing.assert_allclose(np.ravel(result), expected, rtol=0.0, atol=1e-9 * size)
    needs = name in ("constrained_dynamics", "constraint_forces", "constraint_errors")
    assert needs == (not np.array_equal(first, other))


@pytest.mark.parametrize("name", ["constraint_jacobian", "constraint_bias", "impact", "operational_space_inertia"])
def test_what_needs_no_numbers_has_one_kernel_for_any(name: str) -> None:
    robot, arguments = fresh(), state(name)
    bare = [
        kt.constraints.Contact(TOOL, "fixed"),
        kt.constraints.Contact(ELBOW, axes="local"),
        kt.constraints.Loop(ARM.root, TOOL, "distance", length=1.0),
    ]
    assert np.array_equal(called(name, robot, arguments, FIRST), called(name, robot, arguments, bare))
    assert kernels(robot) == 1


def test_places_without_gains_do_not_reach_the_dynamics() -> None:
    robot, arguments = fresh(), state("constrained_dynamics")
    resting = [kt.constraints.Contact(TOOL, at=[0.1, 0.2, 0.3])]
    arguments[-1] = np.zeros(3)
    first = called("constrained_dynamics", robot, arguments, resting)
    assert np.array_equal(first, called("constrained_dynamics", robot, arguments, [kt.constraints.Contact(TOOL)]))
    assert kernels(robot) == 1
    program = kt.compile(robot, kt.constraints.constrained_dynamics, constraints=resting).__self__.program  # type: ignore[attr-defined]
    assert [port.name for port in program.inputs] == ["q", "v", "tau", "acceleration"]


def test_a_leg_placed_elsewhere_compiles_nothing() -> None:
    """Assembling, at places that each sample has for itself."""
    robot = fresh()
    goals = kt.frame_placement(ARM, np.array([[0.1, 0.4, 0.5, 0.1, 0.2, 0.3], [0.2, 0.5, 0.4, 0.1, 0.1, 0.2]]), TOOL)
    start = [0.0, 0.5, 0.5, 0.0, 0.0, 0.0]
    each = [
        kt.constraints.nearest_configuration(robot, start, [kt.constraints.Contact(TOOL, "fixed", at=goal)])
        for goal in goals
    ]
    steps = {made for key, made in _kernels[id(robot)].items() if key[0].name == "nearest_configuration"}  # type: ignore[attr-defined]
    assert len(steps) == 1
    both = kt.constraints.nearest_configuration(robot, start, [kt.constraints.Contact(TOOL, "fixed", at=goals)])
    assert np.array_equal(both.q, [one.q for one in each])
    np.testing.assert_allclose(kt.frame_placement(ARM, both.q, TOOL), goals, atol=1e-11)


@pytest.mark.parametrize("name", ["constrained_dynamics", "constraint_forces", "operational_space_inertia"])
def test_another_damping_compiles_nothing(name: str) -> None:
    robot, held = fresh(), [kt.constraints.Contact(TOOL, velocity_gain=3.0)]
    q, *rest = state(name)
    arguments = [q, *rest[:-1], rest[-1][:3]] if rest else [q]
    definition = CONSTRAINED[name].definition  # type: ignore[attr-defined]
    for damping in (0.5, 2, np.float32(3.0)):
        expected = on_numbers(definition, robot, arguments, constraints=held, damping=damping)
        found = called(name, robot, arguments, held, damping=damping)
        np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-10, atol=1e-10)
    assert kernels(robot) == 1
    slope = kt.jacobian(robot, CONSTRAINED[name], arguments, wrt="damping", constraints=held, damping=2.0)
    after, before = (called(name, robot, arguments, held, damping=2.0 + s * 1e-5) for s in (1, -1))
    np.testing.assert_allclose(slope, (after - before) / 2e-5, atol=1e-6)


def test_impacts_take_any_damping() -> None:
    robot, v = fresh(), np.ones(6)
    soft, hard = (
        kt.constraints.impact(robot, np.zeros(6), v, kt.constraints.Contact(TOOL), damping=x).impulses
        for x in (5.0, 0.1)
    )
    assert kernels(robot) == 1
    assert np.linalg.norm(soft) < np.linalg.norm(hard)


# -- numbers of each sample


@pytest.mark.parametrize("name", ["constrained_dynamics", "constraint_forces", "constraint_errors"])
def test_samples_have_numbers_of_their_own(name: str) -> None:
    rng = np.random.default_rng(0)
    count = 11
    places = kt.frame_placement(ARM, rng.normal(size=(count, 6)), TOOL)
    corners, lengths, gains = rng.normal(size=(count, 3)), rng.uniform(0.5, 1.0, count), rng.uniform(1.0, 9.0, count)
    arguments = state(name)
    batch = called(name, ARM, arguments, held(places, corners, lengths, gains))
    each = [called(name, ARM, arguments, held(*x)) for x in zip(places, corners, lengths, gains.tolist(), strict=True)]
    assert batch.shape == (count, *np.shape(each[0]))
    assert np.array_equal(batch, each)
    arguments[0] = rng.normal(size=(count, 6))  # and the configurations as well
    moved = called(name, ARM, arguments, held(places, corners, 0.7, 5.0))
    alone = [
        called(name, ARM, [q, *arguments[1:]], held(at, c, 0.7, 5.0))
        for q, at, c in zip(arguments[0], places, corners, strict=True)
    ]
    assert np.array_equal(moved, alone)
    table = called(name, ARM, [arguments[0][:, None], *arguments[1:]], held(place(1), corners, 0.7, 5.0))
    assert table.shape[:2] == (count, count)  # they broadcast
    assert np.array_equal(
        table[4, 7], called(name, ARM, [arguments[0][4], *arguments[1:]], held(place(1), corners[7], 0.7, 5.0))
    )


def test_the_dtype_is_that_of_the_motion() -> None:
    arguments = [x.astype("f4") for x in state("constrained_dynamics")]
    single = called("constrained_dynamics", ARM, arguments, FIRST)
    assert single.dtype == np.float32
    np.testing.assert_allclose(
        single,
        called("constrained_dynamics", ARM, state("constrained_dynamics"), FIRST),
        rtol=0,
        atol=0.05 * np.abs(single).max(),
    )
    errors = kt.constraints.constraint_errors(ARM, arguments[0], FIRST)
    assert errors.dtype == np.float32
    np.testing.assert_allclose(
        errors, kt.constraints.constraint_errors(ARM, state("constraint_errors")[0], FIRST), atol=1e-5
    )


def test_threads_and_out_are_as_everywhere() -> None:
    rng = np.random.default_rng(0)
    q, corners = rng.normal(size=(30000, 6)), rng.normal(size=(30000, 3))
    constraints = kt.constraints.Contact(TOOL, at=corners)
    out = np.empty((30000, 3))
    assert kt.constraints.constraint_errors(ARM, q, constraints, out=out, threads=2) is out
    assert np.array_equal(out, kt.constraints.constraint_errors(ARM, q, constraints, threads=1))
    np.testing.assert_allclose(out, kt.frame_placement(ARM, q, TOOL)[:, :3, 3] - corners, atol=1e-12)
    with pytest.raises(
        kt.errors.ShapeError, match=r"leading axes do not broadcast together: q \(30000, 6\), constraints.0.at"
    ):
        kt.constraints.constraint_errors(ARM, q, kt.constraints.Contact(TOOL, at=corners[:7]))


# -- compiled


def test_a_compiled_function_takes_other_numbers_or_those_it_was_given() -> None:
    robot = fresh()
    q, v, tau, a = state("constrained_dynamics")
    f = kt.compile(robot, kt.constraints.constrained_dynamics, constraints=FIRST)
    g = kt.compile(robot, kt.constraints.constrained_dynamics, constraints=OTHER)
    assert kernels(robot) == 1
    assert f.__self__ is g.__self__  # type: ignore[attr-defined]
    names = [port.name for port in f.__self__.program.inputs]  # type: ignore[attr-defined]
    assert names[4:] == ["constraints.0.at", "constraints.1.at", "constraints.lengths", "constraints.gains"]
    first, other = (called("constrained_dynamics", robot, [q, v, tau, a], x) for x in (FIRST, OTHER))
    numbers = (place(2), [0.3, -0.2, 0.5], [0.4], [25.0, 12.5, 50.0, 3.0, 25.0])
    assert np.array_equal(f(q, v, tau, a), first)
    assert np.array_equal(g(q, v, tau, a), other)
    assert np.array_equal(f(q, v, tau, a, *numbers), other)
    assert np.array_equal(f(q, v, tau), called("constrained_dynamics", robot, [q, v, tau, 0.0 * a], FIRST))
    out = np.empty_like(first)
    assert f(q, v, tau, a, out=out) is out
    assert np.array_equal(out, first)
    assert np.array_equal(f(np.stack([q, q]), v, tau, a, *numbers)[1], other)
    with pytest.raises(
        kt.errors.DTypeError, match=r"takes 8 arrays \(q, v, tau, acceleration, constraints.0.at, .*gains"
    ):
        f(q, v, tau, a, *numbers, q)
    with pytest.raises(kt.errors.ShapeError, match=r"constraints.0.at has shape \(3,\), but 'arm6' needs \(…, 4, 4\)"):
        f(q, v, tau, a, [0.1, 0.2, 0.3], *numbers[1:])


def test_numbers_stand_before_forces_and_parameters() -> None:
    q, v, tau, a = state("constrained_dynamics")
    push, gravity = np.array([1.0, 0.0, 2.0, 0.0, 0.1, 0.0]), np.array([0.0, 0.0, -1.6])
    f = kt.compile(ARM, kt.constraints.constrained_dynamics, constraints=FIRST, f_ext=[TOOL], parameters=["gravity"])
    expected = called(
        "constrained_dynamics", ARM, [q, v, tau, a], OTHER, f_ext={TOOL: push}, parameters={"gravity": gravity}
    )
    g = kt.compile(ARM, kt.constraints.constrained_dynamics, constraints=OTHER, f_ext=[TOOL], parameters=["gravity"])
    assert np.array_equal(g(q, v, tau, a, push, gravity), expected)
    numbers = (place(2), [0.3, -0.2, 0.5], [0.4], [25.0, 12.5, 50.0, 3.0, 25.0])
    assert np.array_equal(f(q, v, tau, a, *numbers, push, gravity), expected)
    assert np.array_equal(
        f(q, v, tau, push, gravity),
        called(
            "constrained_dynamics",
            ARM,
            [q, v, tau, 0.0 * a],
            FIRST,
            f_ext={TOOL: push},
            parameters={"gravity": gravity},
        ),
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_it_comes_through_a_pickle_with_its_numbers(dtype: str) -> None:
    q = state("constraint_errors")[0].astype(dtype)
    f, g = (kt.compile(ARM, kt.constraints.constraint_errors, constraints=x, dtype=dtype) for x in (FIRST, OTHER))
    again = [pickle.loads(pickle.dumps(one)) for one in (f, g)]
    assert [one(q).tolist() for one in again] == [one(q).tolist() for one in (f, g)]
    assert again[0].__self__ is again[1].__self__
    assert not np.array_equal(f(q), g(q))


def test_numbers_of_samples_come_through_compiling_too() -> None:
    q, corners = state("constraint_errors")[0], np.random.default_rng(0).normal(size=(5, 3))
    contact = kt.constraints.Contact(TOOL, at=corners)
    expected = kt.constraints.constraint_errors(ARM, q, contact)
    assert np.array_equal(kt.compile(ARM, kt.constraints.constraint_errors, constraints=contact)(q), expected)
    numbers = on_numbers(kt.constraints.constraint_errors.definition, ARM, [q], constraints=[contact])  # type: ignore[attr-defined]
    np.testing.assert_allclose(np.stack(np.broadcast_arrays(*numbers), axis=-1), expected, atol=1e-13)


# -- derivatives


def test_derivatives_by_places_lengths_and_gains() -> None:
    robot = fresh()
    q, v, tau, a = state("constrained_dynamics")
    arguments = (q, v, tau, a)
    rng = np.random.default_rng(0)
    turn = np.zeros((4, 4))
    turn[:3] = rng.normal(size=(3, 4))
    turn[:3, :3] -= turn[:3, :3].T  # a displacement of the frame in its own axes
    change = {
        "constraints.0.at": place(1) @ turn, "constraints.1.at": rng.normal(size=3),
        "constraints.lengths": rng.normal(size=1), "constraints.gains": rng.normal(size=5),
    }  # fmt: skip
    f = kt.compile(robot, kt.constraints.constrained_dynamics, constraints=FIRST)
    numbers = (place(1), np.array([0.1, 0.2, 0.3]), np.array([0.7]), np.array([10.0, 5.0, 20.0, 3.0, 10.0]))
    h = 1e-6
    after, before = (
        f(*arguments, *(x + s * h * d for x, d in zip(numbers, change.values(), strict=True))) for s in (1, -1)
    )
    value, along = kt.jvp(robot, kt.constraints.constrained_dynamics, arguments, change, constraints=FIRST)
    np.testing.assert_allclose(value, f(*arguments), rtol=1e-9, atol=1e-9 * np.abs(value).max())
    np.testing.assert_allclose(along, (after - before) / (2.0 * h), atol=1e-6 * np.abs(along).max())
    weights = rng.normal(size=value.shape)
    _, gradient = kt.vjp(robot, kt.constraints.constrained_dynamics, arguments, weights, constraints=FIRST)
    assert list(gradient) == ["q", "v", "tau", "acceleration", *change]
    total = sum(np.vdot(gradient[name], x) for name, x in change.items())
    np.testing.assert_allclose(total, weights @ along, rtol=1e-7)
    by_place = kt.jacobian(
        robot, kt.constraints.constrained_dynamics, arguments, wrt="constraints.0.at", constraints=FIRST
    )
    assert by_place.shape == (*value.shape, 4, 4)
    count = kernels(robot)
    kt.jacobian(robot, kt.constraints.constrained_dynamics, arguments, wrt="constraints.0.at", constraints=OTHER)
    assert kernels(robot) == count
    with pytest.raises(
        kt.errors.NameNotFoundError, match=r"it has q, v, tau, acceleration, constraints.0.at, constraints.1.at"
    ):
        kt.jacobian(robot, kt.constraints.constrained_dynamics, arguments, wrt="at", constraints=FIRST)


def test_a_place_moves_its_error_by_as_much() -> None:
    q, corners = state("constraint_errors")[0], np.random.default_rng(0).normal(size=(5, 3))
    by_place = kt.jacobian(
        ARM,
        kt.constraints.constraint_errors,
        (q,),
        wrt="constraints.0.at",
        constraints=kt.constraints.Contact(TOOL, at=corners),
    )
    assert by_place.shape == (5, 3, 3)
    assert np.array_equal(by_place, -np.broadcast_to(np.eye(3), (5, 3, 3)))


def test_an_assembled_configuration_follows_its_target() -> None:
    q, target, h = np.array([0.0, 0.5, 0.5, 0.0, 0.2, 0.0]), np.array([0.5, 0.1, 0.6]), 1e-6
    found = kt.jacobian(
        ARM,
        kt.constraints.nearest_configuration,
        (q,),
        wrt="constraints.0.at",
        constraints=kt.constraints.Contact(TOOL, at=target),
    )
    steps = target + h * np.array([np.eye(3), -np.eye(3)])
    after, before = kt.constraints.nearest_configuration(ARM, q, kt.constraints.Contact(TOOL, at=steps)).q
    np.testing.assert_allclose(found, ((after - before) / (2.0 * h)).T, rtol=0.0, atol=1e-7)


# -- records


def test_records_with_numbers_of_samples_print_readably() -> None:
    contact = kt.constraints.Contact("foot", at=[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], position_gain=[1.0, 2.0])
    text = "Contact('foot', at=[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], position_gain=[1.0, 2.0])"
    assert repr(contact) == text
    assert eval(text, vars(kt.constraints)) == contact
    assert (
        repr(kt.constraints.Contact("foot", at=np.zeros((500, 3)))) == "Contact('foot', at=<array of shape (500, 3)>)"
    )


def test_poses_in_single_precision_are_the_nearest_rotations() -> None:
    poses = kt.frame_placement(ARM, np.random.default_rng(0).normal(size=(4, 6)), TOOL)
    held = kt.constraints.Contact(TOOL, "fixed", at=poses.astype("f4"))
    assert np.abs(held.at - poses).max() < 1e-6
    R = held.at[:, :3, :3]
    np.testing.assert_allclose(R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), (4, 3, 3)), atol=1e-14)


def test_records_with_numbers_of_samples_are_values_too() -> None:
    corners = np.arange(6.0).reshape(2, 3)
    contact = kt.constraints.Contact("foot", at=corners, position_gain=[1.0, 2.0])
    corners[:] = 0.0  # theirs stay as they were given
    same = kt.constraints.Contact("foot", at=[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], position_gain=np.array([1.0, 2.0]))
    assert contact == same
    assert hash(contact) == hash(same)
    assert contact != kt.constraints.Contact("foot", at=[0.0, 1.0, 2.0], position_gain=[1.0, 2.0])
    assert contact != kt.constraints.Contact("foot", at=corners, position_gain=[1.0, 2.0])
    assert kt.constraints.Loop("a", "b", "distance", length=[1.0, 2.0]) != kt.constraints.Loop(
        "a", "b", "distance", length=1.0
    )
    assert kt.constraints.Contact("foot") != kt.constraints.Loop("foot", "hand")
    kt.constraints.constraint_errors(ARM, np.zeros(6), kt.constraints.Contact(TOOL, at=[0.0, 1.0, 2.0]))
    for again in (pickle.loads(pickle.dumps(contact)), copy.copy(contact), copy.deepcopy(contact)):
        assert again == contact
    with pytest.raises(ValueError, match="read-only"):
        contact.at[0] = 1.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"at": np.ones((2, 4, 4))}, r"at\[0\]: the last row of a pose is 0, 0, 0, 1, not 1, 1, 1, 1"),
        ({"at": np.array([np.eye(4), np.diag([2.0, 2.0, 2.0, 1.0])])}, r"at\[1\]: the rotation matrix is not"),
        ({"at": np.array([np.eye(4), np.diag([1.0, 1.0, -1.0, 1.0])])}, r"at\[1\]: the rotation matrix is left-handed"),
        ({"at": np.array([[np.eye(4)], [np.eye(4)[[0, 1, 2, 2]]]])}, r"at\[1, 0\]: the last row"),
        ({"at": np.ones((2, 3))}, r"holds the orientation as well, .* not an array of shape \(2, 3\)"),
        ({"at": np.ones((4, 2))}, r"not an array of shape \(4, 2\)"),
        ({"velocity_gain": [1.0, -2.0]}, "velocity_gain is -2; it must be finite and not negative"),
        ({"velocity_gain": ["much"]}, "velocity_gain must be a number"),
        ({"position_gain": [0.0, 1.0]}, "needs that place: give at="),
    ],
)  # fmt: skip
def test_wrong_numbers_of_samples_are_refused_in_words(given: Numbers, message: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=message):
        kt.constraints.Contact("foot", "fixed", **given)
    with pytest.raises(kt.errors.OptionError, match="length is 0; it must be positive"):
        kt.constraints.Loop("a", "b", "distance", length=[1.0, 0.0])


def test_numbers_that_do_not_fit_together_are_refused_in_words() -> None:
    contact = kt.constraints.Contact(TOOL, position_gain=[1.0, 2.0], velocity_gain=[1.0, 2.0, 3.0], at=[0.0, 0.0, 0.0])
    with pytest.raises(
        kt.errors.ShapeError, match=r"gains of the constraints do not broadcast together: \(2,\), \(3,\)"
    ):
        kt.constraints.constrained_dynamics(ARM, *np.zeros((3, 6)), contact)


# -- weights of forces


def test_weights_are_inputs() -> None:
    robot, feet = fresh(), [kt.constraints.Contact(TOOL), kt.constraints.Contact(ELBOW, [0, 0, 1])]
    q, rest = robot.random(3), np.zeros(robot.nv)
    rng = np.random.default_rng(0)
    w_f, w_tau = rng.uniform(0.5, 2.0, (3, 4)), rng.uniform(0.5, 2.0, (3, robot.nv))
    call = kt.constraints.constrained_inverse_dynamics
    options: Numbers = {"smallest": "both"}
    each = [
        call(robot, q, rest, rest, feet, force_weights=a, torque_weights=b.tolist(), **options)
        for a, b in zip(w_f, w_tau, strict=True)
    ]
    assert kernels(robot) == 1
    batch = call(robot, q, rest, rest, feet, force_weights=w_f, torque_weights=w_tau, **options)
    assert np.array_equal(batch.forces, [one.forces for one in each])
    assert not np.allclose(each[0].forces, each[1].forces)
    f = kt.compile(robot, call, constraints=feet, force_weights=w_f[0], torque_weights=w_tau[0], **options)
    assert np.array_equal(f(q, rest, rest)[6:10], each[0].forces)
    assert np.array_equal(f(q, rest, rest, w_tau[1], w_f[1])[6:10], each[1].forces)
    with pytest.raises(kt.errors.ShapeError, match=r"force_weights has shape \(2,\), but \(…, 4\) is needed"):
        kt.compile(robot, call, constraints=feet, force_weights=[1.0, 2.0])
    h = 1e-6
    by_weights = kt.jacobian(
        robot, call, (q, rest, rest), wrt="force_weights", constraints=feet, force_weights=w_f[0],
        torque_weights=w_tau[0], **options,
    )  # fmt: skip
    d = rng.normal(size=4)
    after, before = (f(q, rest, rest, w_tau[0], w_f[0] + s * h * d) for s in (1, -1))
    np.testing.assert_allclose(by_weights @ d, (after - before) / (2.0 * h), atol=1e-5)

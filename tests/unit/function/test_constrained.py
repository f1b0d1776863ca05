"""Contacts and loops as records, what the functions return, and what they say about wrong input."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.expr import forward_derivative, interpret, reverse_derivative
from kinetree.model.fingerprint import digest

TIP = kt.constraints.Contact("tip", [0, 0, 1])


@pytest.fixture
def robot() -> kt.Model:
    return kt.zoo.load("double_pendulum")


# -- records


def test_constraints_are_equal_if_they_say_the_same() -> None:
    a, b = (
        kt.constraints.Contact("foot", [0, 0, 2], at=[1, 2, 3]),
        kt.constraints.Contact("foot", np.array([0.0, 0.0, 1.0]), at=(1.0, 2.0, 3.0)),
    )
    assert a == b
    assert hash(a) == hash(b)
    assert a != kt.constraints.Contact("foot", [0, 0, 1], at=[1, 2, 3.5])
    assert pickle.loads(pickle.dumps(a)) == a
    assert kt.constraints.Loop("a", "b") == kt.constraints.Loop("a", "b", "point")
    assert kt.constraints.Loop("a", "b") != kt.constraints.Loop("b", "a")


def test_constraints_have_as_many_rows_as_they_hold_directions() -> None:
    assert kt.constraints.Contact("foot").size == 3
    assert kt.constraints.Contact("foot", "fixed").size == 6
    assert kt.constraints.Contact("foot", [[1, 0, 0], [0, 1, 0]]).size == 2
    assert kt.constraints.Loop("a", "b", "distance", length=1.0).size == 1
    assert kt.constraints.Loop("a", "b", [3, 4, 0]).directions == ((0.6, 0.8, 0.0),)


def test_a_place_may_be_given_in_several_ways() -> None:
    placed = kt.lie.placement([1, 2, 3], rpy=[0.1, 0.2, 0.3])
    matrix = np.array(placed.homogeneous()).reshape(4, 4)
    assert kt.constraints.Contact("hand", "fixed", at=placed) == kt.constraints.Contact("hand", "fixed", at=matrix)
    assert kt.constraints.Contact("hand", at=[1, 2, 3]).at.r.components() == (1.0, 2.0, 3.0)


def test_constraints_are_known_to_the_disk() -> None:
    """Code that is compiled for them is kept under what they say."""
    first = digest(
        kt.constraints.Contact("foot", "fixed", at=kt.lie.placement([1, 2, 3])),
        kt.constraints.Loop("a", "b", position_gain=3.0),
    )
    again = digest(
        kt.constraints.Contact("foot", "fixed", at=kt.lie.placement([1, 2, 3])),
        kt.constraints.Loop("a", "b", position_gain=3),
    )
    other = digest(
        kt.constraints.Contact("foot", "fixed", at=kt.lie.placement([1, 2, 4])),
        kt.constraints.Loop("a", "b", position_gain=3.0),
    )
    assert first is not None
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kt.constraints.Contact(3), r"Contact: frame must be the name of a frame, not 3"),
        (
            lambda: kt.constraints.Contact("foot", "line"),
            r"Contact\('foot'\): directions must be 'point', 'fixed', one direction",
        ),
        (lambda: kt.constraints.Contact("foot", "distance"), r"directions must be 'point', 'fixed', one direction"),
        (lambda: kt.constraints.Contact("foot", [0, 0, 0]), r"direction 0 is zero and points nowhere"),
        (lambda: kt.constraints.Contact("foot", [[1, 0, 0], [0, 0, 0]]), r"direction 1 is zero"),
        (lambda: kt.constraints.Contact("foot", [[1, 0, 0], [1, 1, 0]]), r"must be at right angles to each other"),
        (lambda: kt.constraints.Contact("foot", [1, 0]), r"one direction \(3,\) or up to three"),
        (lambda: kt.constraints.Contact("foot", [["x", 0, 1]]), r"one direction \(3,\) or up to three"),
        (lambda: kt.constraints.Contact("foot", [np.nan, 0, 1]), r"its directions must be finite"),
        (lambda: kt.constraints.Contact("foot", axes="body"), r"axes must be 'world' or 'local', not 'body'"),
        (
            lambda: kt.constraints.Contact("foot", at=[1, 2]),
            r"at must be a place \(3,\), a placement by kt.lie.placement, or a matrix",
        ),
        (lambda: kt.constraints.Contact("foot", at="there"), r"at must be a place"),
        (lambda: kt.constraints.Contact("foot", at=[1, 2, np.inf]), r"at must be finite"),
        (lambda: kt.constraints.Contact("foot", at=[1j, 0, 0]), r"at must be a place"),
        (lambda: kt.constraints.Contact("foot", at=["1", "2", "3"]), r"at must be a place"),
        (lambda: kt.constraints.Contact("foot", [1j, 0, 0]), r"one direction \(3,\) or up to three"),
        (lambda: kt.constraints.Contact("foot", ["1", "0", "0"]), r"one direction \(3,\) or up to three"),
        (
            lambda: kt.constraints.Contact("foot", velocity_gain=10**400),
            r"velocity_gain must be finite, and is a whole number",
        ),
        (lambda: kt.constraints.Contact("foot", at=2.0 * np.eye(4)), r"the last row of a pose is 0, 0, 0, 1"),
        (
            lambda: kt.constraints.Contact("foot", at=np.diag([1.0, 1.0, -1.0, 1.0])),
            r"at: the rotation matrix is left-handed",
        ),
        (
            lambda: kt.constraints.Contact("foot", at=np.diag([2.0, 2.0, 2.0, 1.0])),
            r"not orthogonal: .* length 2 and should have 1",
        ),
        (
            lambda: kt.constraints.Contact("foot", "fixed", at=[1, 2, 3]),
            r"holds the orientation as well, so at must be one with it",
        ),
        (
            lambda: kt.constraints.Contact("foot", position_gain=1.0),
            r"needs that place: give at=, or leave position_gain out",
        ),
        (
            lambda: kt.constraints.Contact("foot", velocity_gain=-1.0),
            r"velocity_gain is -1; it must be finite and not negative",
        ),
        (lambda: kt.constraints.Contact("foot", velocity_gain="much"), r"velocity_gain must be a number, not 'much'"),
        (lambda: kt.constraints.Contact("foot", velocity_gain=True), r"velocity_gain must be a number, not True"),
        (
            lambda: kt.constraints.Loop("a", "a"),
            r"Loop\('a', 'a'\) holds a frame to itself, which it never leaves; name two frames",
        ),
        (lambda: kt.constraints.Loop("a", None), r"Loop: frame_b must be the name of a frame, not None"),
        (lambda: kt.constraints.Loop(None, "b"), r"Loop: frame_a must be the name of a frame, not None"),
        (lambda: kt.constraints.Loop("a", "b", "distance"), r"directions='distance' and a length belong together"),
        (lambda: kt.constraints.Loop("a", "b", length=1.0), r"directions='distance' and a length belong together"),
        (lambda: kt.constraints.Loop("a", "b", "distance", length=0.0), r"length is 0; it must be positive and finite"),
        (lambda: kt.constraints.Loop("a", "b", "distance", length="long"), r"length must be a number, not 'long'"),
    ],
    ids=lambda x: None if callable(x) else "",
)
def test_wrong_constraints_are_refused_in_words(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=message):
        make()


# -- functions


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            [],
            r"constraints must be a list of kt.constraints.Contact and kt.constraints.Loop with at least one of "
            r"them; .* use kt.aba",
        ),
        (None, r"constraints must be a list of kt.constraints.Contact and kt.constraints.Loop, not None"),
        ("tip", r"constraints must be a list of kt.constraints.Contact and kt.constraints.Loop, not 'tip'"),
        (["tip"], r"such as kt.constraints.Contact\('tip'\), but constraint 0 is 'tip'"),
        ([TIP, 3], r"constraint 1 is 3"),
    ],
    ids=["none of them", "None", "a name", "a list of names", "a number"],
)
def test_wrong_lists_of_constraints_are_refused_in_words(robot: kt.Model, given: Any, message: str) -> None:
    zero = np.zeros(2)
    with pytest.raises(kt.errors.OptionError, match=message):
        kt.constraints.constrained_dynamics(robot, zero, zero, zero, given)
    with pytest.raises(kt.errors.OptionError, match=message):
        kt.compile(robot, kt.constraints.constraint_jacobian, constraints=given)


def test_a_wrong_frame_is_answered_with_the_nearest(robot: kt.Model) -> None:
    zero = np.zeros(2)
    with pytest.raises(kt.errors.NameNotFoundError, match="no frame 'tipp': did you mean 'tip'"):
        kt.constraints.constraint_forces(robot, zero, zero, zero, kt.constraints.Contact("tipp"))
    with pytest.raises(kt.errors.NameNotFoundError, match="no frame 'rod'"):
        kt.constraints.constraint_jacobian(robot, zero, kt.constraints.Loop("tip", "rod"))
    with pytest.raises(kt.errors.NameNotFoundError, match="no frame 'hand'"):
        kt.constraints.operational_space_inertia(robot, zero, "hand")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "lagrange"}, r"method must be 'kkt' or 'operational_space', not 'lagrange'"),
        ({"damping": -1.0}, r"damping must be finite and not negative, not -1"),
        ({"damping": "some"}, r"damping must be a number, not 'some'"),
        ({"damping": 10**400}, r"damping must be finite and not negative, not a whole number beyond all floats"),
        ({"tolerance": 1.0}, r"tolerance must be between 0 and 1, not 1"),
        ({"tolerance": True}, r"tolerance must be a number, not True"),
        ({"passive": "damping"}, r"passive must be True, False or a list"),
    ],
    ids=lambda x: "-".join(x) if isinstance(x, dict) else "",
)
def test_wrong_options_are_refused_in_words(robot: kt.Model, options: dict[str, Any], message: str) -> None:
    zero = np.zeros(2)
    with pytest.raises(kt.errors.OptionError, match=message):
        kt.constraints.constrained_dynamics(robot, zero, zero, zero, [TIP], **options)


@pytest.mark.parametrize("method", ["kkt", "operational_space"])
def test_rows_that_can_never_be_independent_are_refused_where_all_are_said_to_be(robot: kt.Model, method: str) -> None:
    zero = np.zeros(2)
    message = r"tolerance=0 takes all rows of the constraints to be independent, but .* leave tolerance as it is"
    with pytest.raises(kt.errors.OptionError, match=message):  # across the plane in which it swings
        kt.constraints.constrained_dynamics(
            robot, zero, zero, zero, kt.constraints.Contact("tip"), tolerance=0, method=method
        )
    with pytest.raises(kt.errors.OptionError, match=message):
        kt.constraints.constraint_forces(
            robot, zero, zero, zero, kt.constraints.Contact("tip"), tolerance=0, method=method
        )
    with pytest.raises(kt.errors.OptionError, match=message):
        kt.constraints.impact(robot, zero, zero, kt.constraints.Contact(robot.root), tolerance=0, method=method)
    with pytest.raises(kt.errors.OptionError, match=message):
        kt.constraints.operational_space_inertia(
            robot, zero, kt.constraints.Loop("lower_rod", "tip"), tolerance=0, method=method
        )


@pytest.mark.parametrize(
    ("restitution", "message"),
    [
        (1.5, r"restitution must be between 0 .* and 1 .*, not 1.5"),
        ("high", r"restitution must be an array of real numbers of shape \(…, 3\)"),
        ([0.1, 0.2], r"the constraints have 3 rows, but restitution has 2 numbers"),
    ],
    ids=["large", "a word", "two"],
)
def test_wrong_restitutions_are_refused_in_words(robot: kt.Model, restitution: Any, message: str) -> None:
    with pytest.raises(kt.KinetreeError, match=message):
        kt.constraints.impact(robot, np.zeros(2), np.zeros(2), kt.constraints.Contact("tip"), restitution=restitution)


def test_a_robot_without_inertia_has_no_dynamics_but_kinematics() -> None:
    builder = kt.ModelBuilder("massless")
    builder.add_body("base")
    builder.add_body("ghost")
    builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "ghost")
    builder.add_frame("end", "ghost", kt.lie.placement([0, 0, 1]))
    ghost = builder.build()
    zero, end = np.zeros(1), [kt.constraints.Contact("end")]
    assert kt.constraints.constraint_jacobian(ghost, zero, end).tolist() == [[1.0], [0.0], [0.0]]
    for call in (
        lambda: kt.constraints.constrained_dynamics(ghost, zero, zero, zero, end),
        lambda: kt.constraints.constraint_forces(ghost, zero, zero, zero, end),
        lambda: kt.constraints.impact(ghost, zero, zero, end),
        lambda: kt.constraints.operational_space_inertia(ghost, zero, end),
    ):
        with pytest.raises(kt.errors.SingularModelError, match="joint 'hinge' of 'massless' moves nothing"):
            call()


def test_results_are_parts_of_one_array(robot: kt.Model) -> None:
    rng = np.random.default_rng(0)
    q, v, tau = rng.normal(size=(3, 4, 5, 2))
    out = np.empty((4, 5, 3))
    result = kt.constraints.constrained_dynamics(robot, q, v, tau, TIP, out=out)
    assert result.qdd.base is out
    assert result.qdd.shape == (4, 5, 2)
    assert result.forces.shape == (4, 5, 1)
    assert (result.forces == kt.constraints.constraint_forces(robot, q, v, tau, TIP)).all()
    assert (
        kt.compile(robot, kt.constraints.constrained_dynamics, constraints=[TIP])(q, v, tau, np.zeros(TIP.size)) == out
    ).all()
    struck = kt.constraints.impact(robot, q, v, TIP, restitution=[0.5])
    assert struck.v.shape == (4, 5, 2)
    np.testing.assert_allclose(
        kt.constraints.constraint_jacobian(robot, q, TIP) @ struck.v[..., None],
        -0.5 * kt.constraints.constraint_jacobian(robot, q, TIP) @ v[..., None],
        atol=1e-12,
    )


def test_restitution_may_differ_from_row_to_row(robot: kt.Model) -> None:
    both = [kt.constraints.Contact("tip", [1, 0, 0]), TIP]
    q, v = np.array([0.3, 0.7]), np.array([1.0, -2.0])
    J = kt.constraints.constraint_jacobian(robot, q, both)
    after = kt.constraints.impact(robot, q, v, both, restitution=[1.0, 0.0]).v
    np.testing.assert_allclose(J @ after, [-(J @ v)[0], 0.0], atol=1e-13)


def test_nothing_that_is_not_finite_leaves_its_sample(robot: kt.Model) -> None:
    q = np.array([[0.3, 0.4], [np.nan, 0.1], [0.5, 0.6]])
    with np.errstate(invalid="ignore"):
        qdd, forces = kt.constraints.constrained_dynamics(
            robot, q, np.ones(2), np.ones(2), kt.constraints.Contact("tip")
        )
    alone = kt.constraints.constrained_dynamics(robot, q[2], np.ones(2), np.ones(2), kt.constraints.Contact("tip"))
    assert np.isnan(qdd[1]).all()
    assert np.isnan(forces[1]).any()
    assert (qdd[2] == alone.qdd).all()
    assert (forces[2] == alone.forces).all()


def test_single_precision_answers_to_its_rounding() -> None:
    """Redundant rows, too: the default tolerance is above that rounding."""
    robot = kt.zoo.load("quadruped")
    rng = np.random.default_rng(2)
    feet = [kt.constraints.Contact(name) for name in robot.frames if name.endswith("foot")][:2]
    q, v, tau = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    single = [x.astype(np.float32) for x in (q, v, tau)]
    for constraints in (feet, [*feet, feet[0]]):
        expected = kt.constraints.constrained_dynamics(robot, q, v, tau, constraints)
        result = kt.constraints.constrained_dynamics(robot, *single, constraints)
        assert result.qdd.dtype == np.float32
        np.testing.assert_allclose(result.qdd, expected.qdd, atol=2e-4 * np.abs(expected.qdd).max())
        np.testing.assert_allclose(result.forces, expected.forces, atol=2e-4 * np.abs(expected.forces).max())


def test_the_default_tolerance_goes_by_the_dtype(robot: kt.Model) -> None:
    """1e-10 in float64 and 1e-7 in float32, for derivatives as well; one that is given is the same in both."""
    both = [kt.constraints.Contact("tip", [1, 0, 0]), kt.constraints.Contact("tip", [0, 0, 1])]
    bend = 1e-4  # rad from stretched: the second row moves 1e-4 times as far as it would alone, 1e-8 in squares
    q, single = np.array([0.3, bend]), np.array([0.3, bend], dtype=np.float32)

    def is_kept(at: Any, **options: Any) -> bool:
        return bool(np.abs(kt.constraints.operational_space_inertia(robot, at, both, **options)).max() > 1e4)

    assert is_kept(q)
    assert is_kept(q, tolerance=1e-10)
    assert not is_kept(q, tolerance=1e-7)
    assert not is_kept(single)
    assert is_kept(single, tolerance=1e-10)
    assert (
        kt.compile(robot, kt.constraints.impact, constraints=both, dtype="float32").__self__.source.options["tolerance"]
        == 1e-7
    )
    inertia, change = kt.jvp(
        robot, kt.constraints.operational_space_inertia, (single,), {"q": single}, constraints=both
    )
    assert inertia.dtype == np.float32
    np.testing.assert_allclose(inertia, kt.constraints.operational_space_inertia(robot, single, both), rtol=1e-5)
    assert np.isfinite(change).all()


def test_parameters_and_forces_are_inputs(robot: kt.Model) -> None:
    q, v, tau = np.array([0.3, 0.7]), np.array([1.0, -2.0]), np.array([0.1, 0.2])
    name = "body.lower_rod.mass"
    heavier = 2.0 * robot.parameter(name)
    f_ext = {"tip": [1.0, 0.0, 2.0, 0.0, 0.0, 0.0]}
    result = kt.constraints.constrained_dynamics(robot, q, v, tau, TIP, f_ext, parameters={name: heavier})
    M = kt.crba(robot, q, parameters={name: heavier})
    C = kt.bias_forces(robot, q, v, f_ext, parameters={name: heavier})
    J = kt.constraints.constraint_jacobian(robot, q, TIP)
    np.testing.assert_allclose(M @ result.qdd + C, tau + J.T @ result.forces, atol=1e-12)


def test_derivatives_pass_rows_that_are_left_out(robot: kt.Model) -> None:
    """The tip cannot leave the plane and the row is said twice: both arms of each choice have finite derivatives."""
    program = kt.compile(
        robot,
        kt.constraints.constrained_dynamics,
        constraints=[kt.constraints.Contact("tip"), kt.constraints.Contact("tip", [0, 1, 0])],
        tolerance=1e-10,
    ).__self__.program
    q, v, tau, a = [0.3, 0.9], [0.5, -0.4], [0.2, 0.1], [0.0] * 4
    (value,) = interpret(program, q, v, tau, a)
    assert np.isfinite(value).all()
    forward = forward_derivative(program, [0])
    reverse = reverse_derivative(program, [0])
    for k in range(2):
        seed = [float(j == k) for j in range(2)]
        tangent = np.array(interpret(forward, q, v, tau, a, seed)[-1]).ravel()
        h = 1e-6
        (after,), (before,) = (
            interpret(program, list(np.array(q) + s * h * np.array(seed)), v, tau, a) for s in (1, -1)
        )
        np.testing.assert_allclose(tangent, (np.array(after) - np.array(before)) / (2 * h), atol=1e-6)
    weights = list(np.random.default_rng(0).normal(size=len(value)))
    gradient = np.array(interpret(reverse, q, v, tau, a, weights)[-1]).ravel()
    columns = [
        np.array(interpret(forward, q, v, tau, a, [float(j == k) for j in range(2)])[-1]).ravel() for k in range(2)
    ]
    np.testing.assert_allclose(gradient, [np.dot(weights, column) for column in columns], atol=1e-10)

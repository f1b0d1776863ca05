"""The regressors and the vector of inertial parameters, called rightly and wrongly."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.kernels import compiled_late

ARM = kt.zoo.load("double_pendulum")
QUADRUPED = kt.zoo.load("quadruped")
Q, V, QDD = np.random.default_rng(4).normal(size=(3, 2))
PI = kt.identification.inertial_parameters(ARM)
BODIES = list(ARM.bodies)


def test_batches_out_and_float32() -> None:
    q, v, qdd = np.random.default_rng(5).normal(size=(3, 7, 2))
    Y = kt.dynamics.joint_torque_regressor(ARM, q, v, qdd)
    assert Y.shape == (7, 2, 10 * len(BODIES))
    out = np.empty_like(Y)
    assert kt.dynamics.joint_torque_regressor(ARM, q, v, qdd, out=out) is out
    assert out.tolist() == Y.tolist()
    single = kt.dynamics.joint_torque_regressor(ARM, *(x.astype(np.float32) for x in (q, v, qdd)))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, Y, rtol=0.0, atol=1e-4)


def test_bodies_in_the_order_asked_for() -> None:
    Y = kt.dynamics.joint_torque_regressor(ARM, Q, V, QDD)
    some = kt.dynamics.joint_torque_regressor(ARM, Q, V, QDD, bodies=[BODIES[2], BODIES[1]])
    np.testing.assert_allclose(some, np.hstack([Y[:, 20:30], Y[:, 10:20]]), rtol=0.0, atol=1e-12)
    bare = compiled_late(ARM, kt.dynamics.joint_torque_regressor, bodies=[BODIES[2], BODIES[1]])
    assert bare(Q, V, QDD).tolist() == some.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bodies": BODIES[1]}, f"bodies must be a list of names, such as [{BODIES[1]!r}], or None for all, not"),
        ({"bodies": 3}, "bodies must be a list of names, or None for all, not 3"),
        ({"bodies": []}, "bodies is empty, so the regressor would have no columns; name at least one, or leave it out"),
        ({"bodies": [BODIES[1], BODIES[1]]}, f"body {BODIES[1]!r} is named twice in bodies; name each once"),
        ({"drives": 1}, "drives must be True or False, not 1"),
    ],
    ids=["one name", "a number", "none", "twice", "drives"],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=re.escape(message)):
        kt.dynamics.joint_torque_regressor(ARM, Q, V, QDD, **options)
    with pytest.raises(kt.errors.OptionError, match=re.escape(message)):
        compiled_late(ARM, kt.dynamics.joint_torque_regressor, **options)


def test_wrong_names_are_answered_with_right_ones() -> None:
    with pytest.raises(kt.errors.NameNotFoundError, match=r"no body 'uper_rod'.*upper_rod"):
        kt.dynamics.joint_torque_regressor(ARM, Q, V, QDD, bodies=["uper_rod"])
    with pytest.raises(kt.errors.NameNotFoundError, match=r"'uper_rod'.*upper_rod"):
        kt.dynamics.body_wrench_regressor(ARM, Q, V, QDD, "uper_rod")


# -- the vector


def test_the_vector_is_that_of_the_file_body_by_body() -> None:
    robot = kt.ModelBuilder("one")
    robot.add_body(
        "base", kt.model.Inertia.from_com(2.0, kt.lie.placement([1.0, 0.0, 0.0]).r, kt.solids.sphere(1.0, mass=1.0).I)
    )
    pi = kt.identification.inertial_parameters(robot.build())
    np.testing.assert_allclose(pi, [2.0, 2.0, 0.0, 0.0, 0.4, 0.0, 2.4, 0.0, 0.0, 2.4], atol=1e-15)


def test_a_floating_base_has_no_drive() -> None:
    n = QUADRUPED.nv - 6
    pi = kt.identification.inertial_parameters(QUADRUPED, drives=True)
    assert pi.shape == (10 * len(QUADRUPED.bodies) + 3 * n,)
    Y = kt.dynamics.joint_torque_regressor(
        QUADRUPED, QUADRUPED.neutral(), np.ones(n + 6), np.ones(n + 6), bodies=[QUADRUPED.root], drives=True
    )
    assert Y.shape == (n + 6, 10 + 3 * n)
    assert not Y[:6, 10:].any()
    assert Y[6:, 10:].astype(bool).tolist() == np.kron(np.eye(n, dtype=bool), np.ones((1, 3), dtype=bool)).tolist()


def test_other_parameters_make_another_robot() -> None:
    other = kt.identification.with_inertial_parameters(ARM, 3.0 * PI)
    assert kt.identification.inertial_parameters(other).tolist() == (3.0 * PI).tolist()
    assert other.notes[0] == "other inertial parameters: the inertias of all bodies were given as numbers"
    assert kt.identification.inertial_parameters(ARM).tolist() == PI.tolist()
    driven = kt.identification.inertial_parameters(ARM, drives=True)
    driven[-3:] = 0.5, 0.25, 0.125
    elbow = list(kt.identification.with_inertial_parameters(ARM, driven, drives=True).joints.values())[-1]
    assert (elbow.armature, elbow.damping, elbow.friction) == ((0.5,), (0.25,), (0.125,))


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (10, -1.0, "body 'upper_rod' has the negative mass -1 kg; a mass is positive or zero"),
        (10, 0.0, "body 'upper_rod' has a first moment of mass but no mass"),
        (16, -5.0, "body 'upper_rod' has an inertia with the negative principal moment"),
        (11, np.inf, "parameters[11], h_x(upper_rod), is inf; give finite numbers"),
        (40, -0.1, "joint 'shoulder' has the negative armature -0.1; a rotor's inertia is positive"),
    ],
)
def test_impossible_numbers_are_refused_in_words(place: int, value: float, message: str) -> None:
    pi = kt.identification.inertial_parameters(ARM, drives=True)
    pi[place] = value
    with pytest.raises(kt.errors.ModelError, match=re.escape(message)):
        kt.identification.with_inertial_parameters(ARM, pi, drives=True)


def test_suspicious_ones_are_warned_of() -> None:
    pi = PI.copy()
    pi[19] += 50.0
    with pytest.warns(kt.errors.ModelWarning, match="violate the triangle inequality"):
        kt.identification.with_inertial_parameters(ARM, pi)


def test_a_vector_of_another_length_is_refused() -> None:
    message = "parameters has shape (39,), but 'double_pendulum' needs (40,): ten for each of its 4 bodies"
    with pytest.raises(kt.errors.ShapeError, match=re.escape(message)):
        kt.identification.with_inertial_parameters(ARM, PI[1:])
    message = "needs (46,): ten for each of its 4 bodies, and three for each of 2 degrees of freedom"
    with pytest.raises(kt.errors.ShapeError, match=re.escape(message)):
        kt.identification.with_inertial_parameters(ARM, PI, drives=True)
    with pytest.raises(kt.errors.DTypeError, match=r"parameters must be an array of real numbers of shape \(40,\)"):
        kt.identification.with_inertial_parameters(ARM, "heavy")  # type: ignore[arg-type]


@pytest.mark.parametrize("drives", ["damping", 1, np.ones(2)], ids=["a word", "a number", "an array"])
def test_drives_of_the_vector_are_asked_for_by_true_or_false(drives: Any) -> None:
    with pytest.raises(kt.errors.OptionError, match="drives must be True or False, not"):
        kt.identification.inertial_parameters(ARM, drives=drives)
    with pytest.raises(kt.errors.OptionError, match="drives must be True or False, not"):
        kt.identification.with_inertial_parameters(ARM, PI, drives=drives)


@pytest.mark.parametrize(
    "given", ["x", object(), [[1], [2, 3]], 1j * PI], ids=["a word", "an object", "rows", "complex"]
)
def test_base_parameters_are_those_of_real_numbers(given: Any) -> None:
    base = kt.identification.base_parameters(kt.zoo.load("double_pendulum"))
    with pytest.raises(
        kt.errors.DTypeError, match=r"inertial_parameters must be an array of real numbers of shape \(…, 40\)"
    ):
        base.of(given)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"rng": "x"},
            kt.errors.OptionError,
            "rng must be a NumPy generator or a whole number that is not negative, not 'x'",
        ),
        ({"rng": -1}, kt.errors.OptionError, "not negative, not -1"),
        (
            {"parameters": 3},
            kt.errors.DTypeError,
            "parameters must be a dict from names of parameters to numbers, not int",
        ),
        (
            {"parameters": {"gravity": "up"}},
            kt.errors.DTypeError,
            r"gravity must be an array of real numbers of shape \(3,\)",
        ),
        ({"parameters": {"gravity": np.zeros((2, 3))}}, kt.errors.ShapeError, "gravity takes 3 numbers, not 6"),
        ({"parameters": {"gravty": np.zeros(3)}}, kt.errors.NameNotFoundError, "did you mean 'gravity'"),
    ],
    ids=["a seed that is a word", "a negative seed", "no dict", "a word", "a batch", "a wrong name"],
)
def test_wrong_options_of_base_parameters_are_refused(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        kt.identification.base_parameters(kt.zoo.load("double_pendulum"), **options)

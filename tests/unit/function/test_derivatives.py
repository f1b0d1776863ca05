"""What the derivatives of public functions refuse, and with which words; what they leave alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import kinetree as kt

ROBOT = kt.zoo.load("double_pendulum")
Q, V, TAU = [0.3, 0.1], [0.0, 1.0], [2.0, 0.5]
ARGUMENTS = (Q, V, TAU)


def jvp(function: Any = kt.aba, arguments: Any = ARGUMENTS, tangents: Any = None, **rest: Any) -> Any:
    return kt.jvp(ROBOT, function, arguments, {"q": V} if tangents is None else tangents, **rest)


def vjp(weights: Any = V, **rest: Any) -> Any:
    return kt.vjp(ROBOT, kt.aba, ARGUMENTS, weights, **rest)


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a tangent of nothing": (
        lambda: jvp(tangents={"qdd": V}), kt.errors.NameNotFoundError,
        "aba cannot be differentiated by 'qdd': did you mean 'q'? (it has q, v, tau; external forces and parameters "
        "must be given in f_ext= and parameters=)",
    ),
    "a force that does not act": (
        lambda: jvp(tangents={"f_ext.tip": np.zeros(6)}), kt.errors.NameNotFoundError,
        "aba cannot be differentiated by 'f_ext.tip'",
    ),
    "a parameter that is not given": (
        lambda: vjp(wrt="gravity"), kt.errors.NameNotFoundError, "aba cannot be differentiated by 'gravity'",
    ),
    "a tangent too long": (
        lambda: jvp(tangents={"q": [1.0, 2.0, 3.0]}), kt.errors.ShapeError,
        "jvp of aba: d_q has shape (3,), but 'double_pendulum' needs (…, 2)",
    ),
    "a tangent of complex numbers": (
        lambda: jvp(tangents={"q": [1j, 0.0]}), kt.errors.DTypeError,
            "d_q must be an array of real numbers of shape (…, 2)",
    ),
    "no tangent": (
        lambda: jvp(tangents={}), kt.errors.DTypeError,
        "jvp: tangents must be a dict from names of arguments to arrays, such as {'q': …}, not {}",
    ),
    "tangents in a list": (lambda: jvp(tangents=[V]), kt.errors.DTypeError, "jvp: tangents must be a dict"),
    "no tangent of a gradient": (
        lambda: kt.hvp(ROBOT, kt.aba, ARGUMENTS, V, {}), kt.errors.DTypeError, "hvp: tangents must be a dict",
    ),
    "tangents of a gradient in a list": (
        lambda: kt.hvp(ROBOT, kt.aba, ARGUMENTS, V, [V]), kt.errors.DTypeError, "hvp: tangents must be a dict",  # type: ignore[arg-type]
    ),
    "weights too long": (
        lambda: vjp([1.0, 2.0, 3.0]), kt.errors.ShapeError, "aba: weights have shape (3,), but its value has (…, 2)",
    ),
    "one weight for several numbers": (
        lambda: vjp(1.0), kt.errors.ShapeError, "aba: weights have shape (), but its value has (…, 2)",
    ),
    "weights of no shape": (
        lambda: vjp([[1.0], [1.0, 2.0]]), kt.errors.DTypeError,
            "weights must be an array of real numbers of shape (…, 2)",
    ),
    "a function of others": (
        lambda: jvp(np.sin), kt.errors.OptionError,
        "<ufunc 'sin'> is not one of kinetree's functions; pass kt.aba, kt.rnea, …",
    ),
    "a function by its name": (lambda: jvp("aba"), kt.errors.OptionError, "'aba' is not one of kinetree's functions"),
    "something that is not a robot": (
        lambda: kt.jvp("arm", kt.aba, ARGUMENTS, {"q": V}),  # type: ignore[arg-type]
        kt.errors.DTypeError, "the first argument must be a robot (from kt.load or kt.zoo), not str",
    ),
    "an option that is none": (
        lambda: jvp(frame="tip"), kt.errors.OptionError, "aba has no option 'frame'; it has: passive, limits",
    ),
    "an option that is none, of a recursion": (
        lambda: kt.jacobian(ROBOT, kt.aba, ARGUMENTS, wrt="q", integrator="rk4"), kt.errors.OptionError,
        "aba has no option 'integrator'; it has: passive, limits",
    ),
    "an option that is missing": (
        lambda: jvp(kt.frame_placement, (Q,)), kt.errors.OptionError, "frame must be a name, such as 'base', not None",
    ),
    "a frame that is none": (
        lambda: jvp(kt.frame_placement, (Q,), frame="tipp"), kt.errors.NameNotFoundError,
        "this robot has no frame 'tipp': did you mean 'tip'?",
    ),
    "an argument named twice": (
        lambda: vjp(wrt=["q", "q"]), kt.errors.OptionError,
        "aba: wrt must name each argument once, and one at least: ('q', 'q')",
    ),
    "no argument named": (
        lambda: vjp(wrt=[]), kt.errors.OptionError, "aba: wrt must name each argument once, and one at least",
    ),
    "an argument by its number": (
        lambda: vjp(wrt=3), kt.errors.OptionError, "aba: wrt must be a name or a list of names, not 3",
    ),
    "a matrix by nothing": (
        lambda: kt.jacobian(ROBOT, kt.aba, ARGUMENTS, wrt=None),  # type: ignore[call-overload]
        kt.errors.OptionError, "jacobian: wrt must be a name or a list of names, not None",
    ),
    "a matrix by the same twice": (
        lambda: kt.jacobian(ROBOT, kt.aba, ARGUMENTS, wrt=["q", "q"]),
        kt.errors.OptionError, "aba: wrt must name each argument once",
    ),
    "arguments in one array": (
        lambda: jvp(arguments=np.zeros((3, 2))), kt.errors.DTypeError,
        "aba: arguments must be a tuple of its own (q, v, tau), not one array",
    ),
    "no arguments": (
        lambda: jvp(arguments=None), kt.errors.DTypeError,
        "aba: arguments must be a tuple of its own (q, v, tau), not NoneType",
    ),
    "arrays as names": (
        lambda: vjp(wrt=[np.ones(3)]), kt.errors.NameNotFoundError,
            "aba cannot be differentiated by array([1., 1., 1.])",
    ),
    "an argument without its tuple": (
        lambda: jvp(kt.center_of_mass, Q), kt.errors.DTypeError,
        "center_of_mass: arguments must be its own, (q,), and are 2 instead",
    ),
    "too few arguments": (
        lambda: jvp(arguments=(Q, V)), kt.errors.DTypeError,
            "aba: arguments must be its own, (q, v, tau), and are 2 instead",
    ),
    "an argument too short": (
        lambda: jvp(arguments=(Q, [1.0], TAU)), kt.errors.ShapeError,
        "jvp of aba: v has shape (1,), but 'double_pendulum' needs (…, 2)",
    ),
    "batches that do not fit": (
        lambda: jvp(tangents={"q": np.zeros((3, 2)), "v": np.zeros((4, 2))}), kt.errors.ShapeError,
        "jvp of aba: the leading axes do not broadcast together: q (2,), v (2,), tau (2,), d_q (3, 2), d_v (4, 2)",
    ),
    "forces in a list": (
        lambda: jvp(f_ext=[np.zeros(6)]), kt.errors.DTypeError,
        "aba: f_ext must be a dict from names of frames to arrays, not list",
    ),
    "forces on what takes none": (
        lambda: jvp(kt.crba, (Q,), f_ext={"tip": np.zeros(6)}), kt.errors.OptionError, "crba takes no external forces",
    ),
    "parameters in a list": (
        lambda: jvp(parameters=["gravity"]), kt.errors.DTypeError,
        "aba: parameters must be a dict from names of parameters to arrays, not list",
    ),
    "a parameter that is none": (
        lambda: jvp(parameters={"gravty": np.zeros(3)}), kt.errors.NameNotFoundError,
        "'double_pendulum' has no parameter 'gravty': did you mean 'gravity'?",
    ),
    "parameters of what has none": (
        lambda: jvp(kt.integrate, (Q, V), parameters={"gravity": np.zeros(3)}), kt.errors.OptionError,
        "integrate does not depend on any of the robot's parameters; leave them out",
    ),
    "a motion without rows": (
        lambda: jvp(kt.rollout, (Q, V, TAU, 0.1)), kt.errors.ShapeError,
        "rollout: tau has shape (2,), but 'double_pendulum' needs (…, T, 2), one row per step and at least one",
    ),
    "a motion of no steps": (
        lambda: jvp(kt.rollout, (Q, V, np.zeros((0, 2)), 0.1)), kt.errors.ShapeError, "rollout: tau has shape (0, 2)",
    ),
    "a motion without a step's length": (
        lambda: jvp(kt.rollout, (Q, V, [TAU])), kt.errors.DTypeError,
        "rollout: arguments must be its own, (q, v, tau, dt), and are 3 instead",
    ),
    "a passive force that is none": (
        lambda: kt.dynamics.aba_derivatives(ROBOT, Q, V, TAU, passive=["dmping"]), kt.errors.OptionError,
        "passive: there is no passive force 'dmping'",
    ),
    "a torque too short": (
        lambda: kt.dynamics.aba_derivatives(ROBOT, Q, V, [1.0]), kt.errors.ShapeError,
        "aba_derivatives: tau has shape (1,), but 'double_pendulum' needs (…, 2)",
    ),
    "an array of the wrong shape to write into": (
        lambda: kt.dynamics.rnea_derivatives(ROBOT, Q, V, TAU, out=np.zeros((2, 2))), kt.errors.ShapeError,
        "rnea_derivatives: out has shape (2, 2), but the result has (3, 2, 2)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name: str) -> None:
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=re.escape(message)):
        call()


# -- robots without accelerations, without inertia, without motion


def massless() -> kt.Model:
    """What slides at the end has no mass."""
    builder = kt.ModelBuilder("ghost")
    builder.add_body("base")
    builder.add_body("arm", kt.solids.sphere(0.1, mass=1.0))
    builder.add_body("slide")
    builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "arm")
    builder.add_joint("slider", kt.Prismatic([0, 1, 0]), "arm", "slide")
    return builder.build()


@pytest.mark.parametrize(
    "call",
    [
        lambda robot, *x: kt.dynamics.aba_derivatives(robot, *x),
        lambda robot, *x: kt.jacobian(robot, kt.aba, x, wrt="q"),
        lambda robot, *x: kt.jvp(robot, kt.aba, x, {"q": x[0]}),
        lambda robot, *x: kt.vjp(robot, kt.aba, x, x[0]),
        lambda robot, *x: kt.hvp(robot, kt.aba, x, x[0], {"v": x[0]}),
    ],
    ids=["aba_derivatives", "jacobian", "jvp", "vjp", "hvp"],
)
def test_a_robot_whose_acceleration_is_not_defined_has_no_derivatives_of_it(call: Callable[..., Any]) -> None:
    zero = np.zeros(2)
    with pytest.raises(kt.errors.SingularModelError, match="joint 'slider' of 'ghost' moves nothing that has mass"):
        call(massless(), zero, zero, zero)


def test_inverse_dynamics_of_such_a_robot_has_its_derivatives() -> None:
    zero = np.zeros(2)
    d = kt.dynamics.rnea_derivatives(massless(), zero, zero, zero)
    np.testing.assert_allclose(d.by_qdd, [[0.004, 0.0], [0.0, 0.0]], atol=1e-15)


@pytest.mark.parametrize("mode", ["aba_derivatives", "jvp", "vjp", "hvp", "jacobian"])
def test_a_mass_of_zero_in_one_sample_is_felt_there_only(mode: str) -> None:
    """It has infinities or NaN, and the others the bits they have without it."""
    robot, x = massless(), ([0.1, 0.2], [0.3, 0.1], [0.1, 1.0])
    name = "body.slide.mass"

    def call(masses: list[float]) -> list[np.ndarray]:
        parameters: dict[str, Any] = {name: np.array(masses)}
        if mode == "aba_derivatives":
            return [np.stack(kt.dynamics.aba_derivatives(robot, *x, parameters=parameters), axis=1)]
        if mode == "jvp":
            return [kt.jvp(robot, kt.aba, x, {"tau": [1.0, 1.0], name: 0.5}, parameters=parameters)[1]]
        if mode == "vjp":
            return [kt.vjp(robot, kt.aba, x, [1.0, 1.0], parameters=parameters)[1][name]]
        if mode == "hvp":
            return [kt.hvp(robot, kt.aba, x, [1.0, 1.0], {"tau": [1.0, 1.0]}, wrt=name, parameters=parameters)[name]]
        return [kt.jacobian(robot, kt.aba, x, wrt=name, parameters=parameters)]

    with np.errstate(all="ignore"):
        (with_zero,) = call([1.0, 0.0, 2.0])
    (without,) = call([1.0, 1.5, 2.0])
    assert not np.isfinite(with_zero[1]).all()
    assert np.isfinite(without).all()
    np.testing.assert_array_equal(with_zero[[0, 2]], without[[0, 2]])


def test_nan_in_one_sample_stays_there() -> None:
    q = np.array([Q, [np.nan, 0.0], Q])
    with np.errstate(invalid="ignore"):
        d = kt.dynamics.aba_derivatives(ROBOT, q, V, TAU)
        _, along = kt.jvp(ROBOT, kt.aba, (q, V, TAU), {"q": V})
    assert np.isnan(d.by_q[1]).any()
    assert np.isnan(along[1]).any()
    np.testing.assert_array_equal(d.by_q[[0, 2]], [kt.dynamics.aba_derivatives(ROBOT, Q, V, TAU).by_q] * 2)
    np.testing.assert_array_equal(along[[0, 2]], [jvp()[1]] * 2)


def test_a_quaternion_of_zero_is_refused_wherever_it_stands_among_the_arrays() -> None:
    robot = kt.zoo.load("quadruped")
    zero = np.zeros(robot.nq)
    with pytest.raises(kt.errors.ConfigurationError, match="q"):
        kt.jvp(robot, kt.center_of_mass, (zero,), {"q": np.ones(robot.nv)})
    name = f"joint.{list(ROBOT.joints)[-1]}.placement"
    with pytest.raises(kt.errors.ConfigurationError, match=re.escape(name)):
        jvp(kt.center_of_mass, (Q,), parameters={name: np.zeros(7)})


def test_a_robot_that_cannot_move_has_derivatives_by_its_parameters() -> None:
    builder = kt.ModelBuilder("rock")
    builder.add_body("rock", kt.solids.sphere(0.1, mass=2.0, placement=kt.lie.placement([0.0, 0.0, 0.5])))
    rock, nothing = builder.build(), np.zeros(0)
    assert kt.dynamics.aba_derivatives(rock, nothing, nothing, nothing).by_q.shape == (0, 0)
    assert kt.jacobian(rock, kt.center_of_mass, (nothing,), wrt="q").shape == (3, 0)
    gravity = {"gravity": np.array([0.0, 0.0, -9.0])}
    _, change = kt.jvp(rock, kt.potential_energy, (nothing,), {"gravity": [0.0, 0.0, 1.0]}, parameters=gravity)
    assert change == pytest.approx(-1.0)
    _, gradients = kt.vjp(rock, kt.potential_energy, (nothing,), 1.0, parameters=gravity)
    assert gradients["q"].shape == (0,)
    np.testing.assert_allclose(gradients["gravity"], [0.0, 0.0, -1.0], atol=1e-15)


# -- what is given is not changed, and what is asked for twice is made once


def test_options_are_as_in_the_functions_own_signature() -> None:
    """`frame_acceleration` is spatial unless requested otherwise, and `passive_forces` are all of them."""
    options: dict[str, Any] = {"frame": "tip", "expressed_in": "world"}
    value, _ = kt.jvp(ROBOT, kt.kinematics.frame_acceleration, (Q, V, TAU), {"q": V}, **options)
    np.testing.assert_array_equal(value, kt.kinematics.frame_acceleration(ROBOT, Q, V, TAU, **options))
    value, _ = kt.jvp(ROBOT, kt.dynamics.passive_forces, (Q, V), {"v": V})
    np.testing.assert_array_equal(value, kt.dynamics.passive_forces(ROBOT, Q, V))


def test_an_alias_is_the_same_function() -> None:
    for name, other in ((kt.aba, kt.forward_dynamics), (kt.rnea, kt.inverse_dynamics)):
        np.testing.assert_array_equal(jvp(name)[1], jvp(other)[1])
        ours, theirs = (kt.jacobian(ROBOT, f, ARGUMENTS, wrt="q") for f in (name, other))
        np.testing.assert_array_equal(ours, theirs)


def test_arrays_that_are_given_stay_as_they_are() -> None:
    q, v, tau, d = (np.array(x) for x in (*ARGUMENTS, [1.0, 2.0]))
    before = [x.copy() for x in (q, v, tau, d)]
    for x in (q, v, tau, d):
        x.flags.writeable = False
    value, change = kt.jvp(ROBOT, kt.aba, (q, v, tau), {"q": d})
    _, gradients = kt.vjp(ROBOT, kt.aba, (q, v, tau), d)
    for array in (value, change, *gradients.values()):
        array += 1.0  # results are the caller's own
    for x, y in zip((q, v, tau, d), before, strict=True):
        np.testing.assert_array_equal(x, y)
    np.testing.assert_array_equal(kt.jvp(ROBOT, kt.aba, (q, v, tau), {"q": d})[1], change - 1.0)


def test_an_empty_batch_has_empty_derivatives() -> None:
    none = np.zeros((0, 2))
    assert kt.dynamics.aba_derivatives(ROBOT, none, none, none).by_q.shape == (0, 2, 2)
    value, change = kt.jvp(ROBOT, kt.aba, (none, none, none), {"q": none})
    assert value.shape == change.shape == (0, 2)
    assert kt.vjp(ROBOT, kt.aba, (none, none, none), none)[1]["tau"].shape == (0, 2)


def test_motions_of_a_robot_without_joints_have_derivatives_of_no_size() -> None:
    builder = kt.ModelBuilder("stone")
    builder.add_body("stone", kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    robot, none, steps = builder.build(), np.zeros(0), np.zeros((3, 0))
    for value in kt.jvp(robot, kt.rollout, (none, none, steps, 0.1), {"q": none, "dt": 1.0}):
        assert value.shape == (3, 0)
    _, gradients = kt.vjp(robot, kt.rollout, (none, none, steps, 0.1), steps)
    assert {name: x.shape for name, x in gradients.items()} == {"q": (0,), "v": (0,), "tau": (3, 0), "dt": ()}
    assert gradients["dt"] == 0.0
    changes = kt.hvp(robot, kt.rollout, (none, none, steps, 0.1), steps, {"dt": 1.0})
    assert changes["dt"] == 0.0


def test_an_option_called_like_an_argument_comes_with_the_function() -> None:
    robot = kt.zoo.load("quadruped")
    q, v = robot.random(0), np.random.default_rng(0).normal(size=robot.nv)
    by_v = partial(kt.kinematics.integrate_jacobian, wrt="v")
    value, change = kt.jvp(robot, by_v, (q, v), {"v": v})
    np.testing.assert_array_equal(value, kt.kinematics.integrate_jacobian(robot, q, v, wrt="v"))
    np.testing.assert_allclose(kt.jacobian(robot, by_v, (q, v), wrt="v") @ v, change, atol=1e-12)
    weights = np.ones((robot.nv, robot.nv))
    _, gradients = kt.vjp(robot, by_v, (q, v), weights, wrt="v")
    np.testing.assert_allclose(gradients["v"] @ v, (weights * change).sum(), atol=1e-12)
    np.testing.assert_array_equal(kt.compile(robot, by_v)(q, v), value)
    with pytest.raises(kt.errors.OptionError, match="wrt must be 'q' or 'v', not 'tau'"):
        kt.jacobian(robot, partial(by_v, wrt="tau"), (q, v), wrt="v")


def test_jacobians_by_several_names_are_those_by_each() -> None:
    found = kt.jacobian(ROBOT, kt.kinematics.center_of_mass_velocity, ARGUMENTS[:2], wrt=("q", "v"))
    assert list(found) == ["q", "v"]
    for name, J in found.items():
        np.testing.assert_array_equal(
            J, kt.jacobian(ROBOT, kt.kinematics.center_of_mass_velocity, ARGUMENTS[:2], wrt=name)
        )
    assert list(kt.jacobian(ROBOT, kt.aba, ARGUMENTS, wrt=["tau"])) == ["tau"]

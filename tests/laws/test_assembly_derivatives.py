"""Derivatives of the nearest configuration: those of an implicit function, whatever steps led to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.laws.test_assembly import FEET, ROBOT, four_bar

Array = NDArray[Any]
NEAREST: Any = kt.constraints.nearest_configuration
ARM = kt.zoo.load("arm6")
Q_ARM = np.array([0.1, 0.4, -1.2, 0.1, 0.5, 0.3])
PLACE = kt.frame_placement(ARM, Q_ARM + np.array([0.2, 0.1, 0.3, 0.1, -0.2, 0.1]), "tool")[:3, 3]
LINK = list(ARM.bodies)[2]


class Case(NamedTuple):
    robot: kt.Model
    q: Array
    options: dict[str, Any]


def _arm(**options: Any) -> Case:
    return Case(ARM, Q_ARM, {"constraints": [kt.constraints.Contact("tool", at=PLACE)], **options})


def _linkage(**options: Any) -> Case:
    robot, loop = four_bar()
    return Case(robot, np.array([1.0, -0.6, 1.7]), {"constraints": loop, **options})


def _standing() -> Case:
    """One foot is lifted; the others and the trunk stay where they are at the start."""
    q = ROBOT.integrate(ROBOT.neutral(), 0.1 * np.random.default_rng(0).normal(size=ROBOT.nv))
    lifted = kt.frame_placement(ROBOT, q, FEET[0])[:3, 3] + [0.0, 0.01, 0.03]
    stay = [kt.constraints.Contact(foot) for foot in FEET[1:]]
    return Case(
        ROBOT, q, {"constraints": [kt.constraints.Contact(FEET[0], at=lifted), *stay], "held_bodies": ["trunk"]}
    )


def _ball_jointed() -> Case:
    """Ball joints, a joint that follows another, and a string of given length."""
    builder = kt.ModelBuilder("ball_jointed")
    for name in ("ground", "upper", "lower", "hand"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    builder.add_joint("shoulder", kt.joints.Spherical(), "ground", "upper")
    builder.add_joint("elbow", kt.Revolute([0, 1, 0]), "upper", "lower", kt.lie.placement((0.5, 0.0, 0.0)))
    mimic = kt.model.Mimic("elbow", multiplier=0.5)
    builder.add_joint("wrist", kt.Revolute([0, 1, 0]), "lower", "hand", kt.lie.placement((0.4, 0.0, 0.0)), mimic=mimic)
    builder.add_frame("tip", "hand", kt.lie.placement((0.1, 0.0, 0.1)))
    builder.add_frame("hook", "ground", kt.lie.placement((0.2, 0.3, 0.5)))
    robot = builder.build()
    q = robot.integrate(robot.neutral(), np.array([0.2, 0.3, -0.1, 0.4]))
    string = kt.constraints.Loop("tip", "hook", "distance", length=0.9)
    return Case(
        robot, q, {"constraints": [string, kt.constraints.Contact("tip", [0.0, 0.0, 1.0], at=[0.0, 0.0, -0.3])]}
    )


CASES: dict[str, Callable[[], Case]] = {
    "a point placed": _arm,
    "the same point placed twice": lambda: _arm(constraints=[kt.constraints.Contact("tool", at=PLACE)] * 2),
    "with a joint held": lambda: _arm(held_joints=[list(ARM.joints)[1]]),
    "with a height held where it is": lambda: _arm(
        constraints=[
            kt.constraints.Contact("tool", [1.0, 0.0, 0.0], at=PLACE),
            kt.constraints.Contact(LINK, [0.0, 0.0, 1.0]),
        ]
    ),
    "a linkage": _linkage,
    "a linkage by its crank": lambda: _linkage(held_joints=["drive"]),
    "ball joints": _ball_jointed,
    "a robot on its feet": _standing,
}
MOVE_WITH_THE_START = ("with a height held where it is", "a robot on its feet")
"""Those with a place that is the start's."""


@cache
def case_of(name: str) -> Case:
    return CASES[name]()


def differences(case: Case, h: float = 1e-6) -> Array:
    """Central differences along each displacement of the start."""

    def moved(d: Array) -> Array:
        q: Array = NEAREST(case.robot, case.robot.integrate(case.q, d), **case.options).q
        return q

    return np.stack([(moved(h * e) - moved(-h * e)) / (2 * h) for e in np.eye(case.robot.nv)], axis=-1)


def displacements(robot: kt.Model, q: Array, entries: Array) -> Array:
    """The displacements (nv, n) of q at which its entries change so."""
    rates = np.stack([kt.kinematics.coordinate_rates(robot, q, e) for e in np.eye(robot.nv)], axis=-1)
    return np.linalg.lstsq(rates, entries)[0]


@pytest.mark.parametrize("name", CASES)
def test_the_jacobian_is_the_limit_of_differences(name: str) -> None:
    robot, q, options = case_of(name)
    J = kt.jacobian(robot, NEAREST, (q,), wrt="q", **options)
    assert J.shape == (robot.nq, robot.nv)
    np.testing.assert_allclose(J, differences(case_of(name)), atol=3e-7)
    if name in MOVE_WITH_THE_START:
        return
    found = NEAREST(robot, q, **options).q
    rows = kt.constraints.constraint_jacobian(robot, found, options["constraints"])
    np.testing.assert_allclose(rows @ displacements(robot, found, J), 0.0, atol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_forward_and_reverse_mode_are_the_jacobian_and_its_transpose(name: str) -> None:
    robot, q, options = case_of(name)
    rng = np.random.default_rng(1)
    d, w = rng.normal(size=robot.nv), rng.normal(size=robot.nq)
    J = kt.jacobian(robot, NEAREST, (q,), wrt="q", **options)
    value, change = kt.jvp(robot, NEAREST, (q,), {"q": d}, **options)
    assert (value == NEAREST(robot, q, **options).q).all()
    np.testing.assert_allclose(change, J @ d, atol=1e-11)
    value, gradient = kt.vjp(robot, NEAREST, (q,), w, **options)
    assert (value == NEAREST(robot, q, **options).q).all()
    np.testing.assert_allclose(gradient["q"], w @ J, atol=1e-11)


def test_places_held_where_they_are_move_with_the_start() -> None:
    """The trunk of the standing robot stays at the start's: its displacement is that of the start."""
    robot, q, options = case_of("a robot on its feet")
    J = displacements(robot, NEAREST(robot, q, **options).q, kt.jacobian(robot, NEAREST, (q,), wrt="q", **options))
    expected = np.eye(robot.nv)[:6]
    np.testing.assert_allclose(J[:6], expected, atol=1e-10)


def test_where_the_constraints_are_met_it_is_the_projection_on_what_they_allow() -> None:
    robot, loop = four_bar()
    q = NEAREST(robot, [1.0, -0.6, 1.7], loop).q
    P = np.stack([kt.constraints.nearest_velocity(robot, q, e, loop) for e in np.eye(3)], axis=-1)
    np.testing.assert_allclose(kt.jacobian(robot, NEAREST, (q,), wrt="q", constraints=loop), P, atol=1e-9)


def test_batches_of_starts_directions_and_parameters_broadcast() -> None:
    robot, q, options = case_of("a point placed")
    rng = np.random.default_rng(2)
    many = q + 0.05 * rng.normal(size=(2, 3, 6))
    J = kt.jacobian(robot, NEAREST, (many,), wrt="q", **options)
    assert J.shape == (2, 3, 6, 6)
    np.testing.assert_allclose(J[1, 2], kt.jacobian(robot, NEAREST, (many[1, 2],), wrt="q", **options), atol=1e-13)
    d = rng.normal(size=(4, 1, 1, 6))
    value, change = kt.jvp(robot, NEAREST, (many,), {"q": d}, **options)
    assert value.shape == change.shape == (4, 2, 3, 6)
    np.testing.assert_allclose(change[3, 1, 2], J[1, 2] @ d[3, 0, 0], atol=1e-12)
    value, gradient = kt.vjp(robot, NEAREST, (q,), rng.normal(size=(5, 6)), **options)
    assert value.shape == gradient["q"].shape == (5, 6)


def test_parameters_are_differentiated_by_too() -> None:
    robot, q, options = case_of("a point placed")
    name = f"joint.{list(ARM.joints)[2]}.placement"
    own, h = ARM.parameter(name), 1e-6
    given = np.stack([own, own + np.array([0.01, 0.0, 0.02, 0.0, 0.0, 0.0, 0.0])])
    J = kt.jacobian(robot, NEAREST, (q,), wrt=name, parameters={name: given}, **options)
    assert J.shape == (2, 6, 7)
    for k in range(3):
        there, back = (NEAREST(robot, q, parameters={name: given + s * h * np.eye(7)[k]}, **options).q for s in (1, -1))
        np.testing.assert_allclose(J[..., k], (there - back) / (2 * h), atol=1e-8)
    w = np.arange(6.0)
    _, gradient = kt.vjp(robot, NEAREST, (q,), w, parameters={name: given}, **options)
    assert list(gradient) == ["q", "constraints.0.at", name]
    np.testing.assert_allclose(gradient[name], np.einsum("i,kij->kj", w, J), atol=1e-12)
    direction = np.eye(7)[0]
    _, change = kt.jvp(robot, NEAREST, (q,), {name: direction}, parameters={name: given}, **options)
    np.testing.assert_allclose(change, J[..., 0], atol=1e-12)


def test_targets_are_differentiated_by_too() -> None:
    """Also where two constraints, a place and a rod, pull at different frames of a batch."""
    rod = kt.constraints.Loop(
        ARM.root, LINK, "distance", length=float(np.linalg.norm(kt.frame_placement(ARM, Q_ARM, LINK)[:3, 3]))
    )
    options: dict[str, Any] = {"constraints": [kt.constraints.Contact("tool", at=PLACE), rod]}
    h = 1e-6
    q = Q_ARM + np.array([[0.0], [0.02]])
    J = kt.jacobian(ARM, NEAREST, (q,), wrt="constraints.0.at", **options)
    assert J.shape == (2, 6, 3)
    for k, e in enumerate(np.eye(3)):
        there, back = (NEAREST(ARM, q, [kt.constraints.Contact("tool", at=PLACE + s * h * e), rod]).q for s in (1, -1))
        np.testing.assert_allclose(J[..., k], (there - back) / (2 * h), atol=1e-7)
    w = np.arange(6.0)
    _, gradient = kt.vjp(ARM, NEAREST, (q,), w, wrt="constraints.0.at", **options)
    np.testing.assert_allclose(gradient["constraints.0.at"], np.einsum("i,kij->kj", w, J), atol=1e-11)


def test_single_precision_has_its_derivatives() -> None:
    robot, q, options = case_of("the same point placed twice")
    J = kt.jacobian(robot, NEAREST, (q.astype(np.float32),), wrt="q", **options)
    assert J.dtype == np.float32
    np.testing.assert_allclose(J, kt.jacobian(robot, NEAREST, (q,), wrt="q", **options), atol=2e-3)
    w = np.ones(6, np.float32)
    value, gradient = kt.vjp(robot, NEAREST, (q.astype(np.float32),), w, **options)
    assert value.dtype == gradient["q"].dtype == np.float32
    np.testing.assert_allclose(gradient["q"], w @ J, atol=1e-5)


def test_where_the_nearest_configuration_is_not_unique_there_is_no_derivative() -> None:
    """A point in a plane, tied by a string to where it starts: all points of a circle are equally near."""
    builder = kt.ModelBuilder("point")
    for name in ("ground", "slide", "bead"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    builder.add_joint("x", kt.Prismatic([1, 0, 0]), "ground", "slide")
    builder.add_joint("y", kt.Prismatic([0, 1, 0]), "slide", "bead")
    robot = builder.build()
    string = kt.constraints.Loop("bead", "ground", "distance", length=1.0)
    off = kt.jacobian(robot, NEAREST, ([0.5, 0.0],), wrt="q", constraints=string)
    np.testing.assert_allclose(off, [[0.0, 0.0], [0.0, 2.0]], atol=1e-12)  # half as far from the centre as the circle
    with pytest.raises(
        kt.errors.ConfigurationError, match="no derivative here: the nearest configuration is not unique"
    ):
        kt.jacobian(robot, NEAREST, ([1e-20, 0.0],), wrt="q", constraints=string)


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "second derivatives": (
        lambda: kt.hvp(ARM, NEAREST, (Q_ARM,), np.ones(6), {"q": np.ones(6)}, **_arm().options),
        kt.errors.OptionError, "nearest_configuration has first derivatives only",
    ),
    "constraints that are not met": (
        lambda: kt.jacobian(ARM, NEAREST, (Q_ARM,), wrt="q", on_impossible="least_squares", **_arm().options),
        kt.errors.OptionError, "derivatives only where the constraints are met",
    ),
    "constraints that cannot be met": (
        lambda: kt.jacobian(ARM, NEAREST, (Q_ARM,), wrt="q", constraints=kt.constraints.Contact("tool", at=[9.0, 0.0,
            0.0])),
        kt.errors.ConfigurationError, "cannot be met from the configuration",
    ),
    "no constraints": (
        lambda: kt.jacobian(ARM, NEAREST, (Q_ARM,), wrt="q"), kt.errors.OptionError, "constraints must be a list",
    ),
    "constraints among the arguments": (
        lambda: kt.jacobian(ARM, NEAREST, (Q_ARM, [kt.constraints.Contact("tool")]), wrt="q"),  # type: ignore[arg-type]
        kt.errors.DTypeError, r"arguments must be its own, \(q,\); the constraints are an option",
    ),
    "an option that is none": (
        lambda: kt.jacobian(ARM, NEAREST, (Q_ARM,), wrt="q", frame="tool", **_arm().options),
        kt.errors.OptionError, "nearest_configuration has no option 'frame'; it has: constraints, held_joints",
    ),
    "a name that is none": (
        lambda: kt.jacobian(ARM, NEAREST, (Q_ARM,), wrt="solution", **_arm().options),
        kt.errors.NameNotFoundError, "cannot be differentiated by 'solution'.*it has q, constraints.0.at;",
    ),
    "a name that is a number": (
        lambda: kt.jacobian(ARM, NEAREST, (Q_ARM,), wrt=3, **_arm().options),  # type: ignore[call-overload]
        kt.errors.OptionError, "wrt must be a name or a list of names, not 3",
    ),
    "weights too long": (
        lambda: kt.vjp(ARM, NEAREST, (Q_ARM,), np.ones(7), **_arm().options),
        kt.errors.ShapeError, r"weights have shape \(7,\), but its value has \(…, 6\)",
    ),
    "forces": (
        lambda: kt.vjp(ARM, NEAREST, (Q_ARM,), np.ones(6), f_ext={"tool": np.zeros(6)}, **_arm().options),
        kt.KinetreeError, "nearest_configuration",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_derivative_is_refused_in_words(name: str) -> None:
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        call()

"""Friction, springs, limits and rotors of joints: what is kept, what is refused, what is suspicious."""

from __future__ import annotations

import math
from typing import Any

import pytest

import kinetree as kt
from tests.unit.model.bodies import ball


def robot(kind: kt.model.JointKind | None = None, **options: Any) -> kt.Model:
    builder = kt.ModelBuilder("robot")
    builder.add_body("base")
    builder.add_body("arm", ball())
    builder.add_joint("j", kind or kt.Revolute([0, 0, 1]), "base", "arm", **options)
    return builder.build()


def test_what_is_given_is_kept() -> None:
    joint = robot(
        damping=[0.1],
        friction=[0.2],
        friction_speed=[0.3],
        stiffness=[0.4],
        rest=[0.5],
        rotor=kt.model.Rotor(1e-4, 50.0),
    ).joints["j"]
    assert (joint.damping, joint.friction, joint.friction_speed) == ((0.1,), (0.2,), (0.3,))
    assert (joint.stiffness, joint.rest, joint.rotor) == ((0.4,), (0.5,), kt.model.Rotor(1e-4, 50.0))


def test_without_a_rest_position_a_spring_is_at_rest_where_its_joint_is_neutral() -> None:
    assert robot(kt.joints.Spherical(), stiffness=[1, 2, 3]).joints["j"].rest == (0.0, 0.0, 0.0, 1.0)


def test_a_geared_rotor_is_seen_at_the_joint_by_the_square_of_its_ratio() -> None:
    H = kt.crba(robot(rotor=kt.model.Rotor(2e-4, -50.0), armature=[0.3]), [0.0])
    assert H[0, 0] - kt.crba(robot(), [0.0])[0, 0] == pytest.approx(0.3 + 2e-4 * 2500.0, rel=1e-12)


ROTORS = {
    "a negative inertia": (
        kt.model.Rotor(-1e-4, 50.0),
        "has a rotor with the negative inertia -0.0001; no body has one",
    ),
    "an inertia that is NaN": (
        kt.model.Rotor(math.nan, 50.0),
        "has a rotor whose inertia is nan; give a finite number",
    ),
    "an infinite ratio": (kt.model.Rotor(1e-4, math.inf), "has a rotor whose ratio is inf; give a finite number"),
    "a ratio that is text": (kt.model.Rotor(1e-4, "50"), "has a rotor whose ratio is '50'"),  # type: ignore[arg-type]
    "an axis that is too long": (kt.model.Rotor(1e-4, 50.0, (0.0, 0.0, 2.0)), "give three numbers of length one"),
    "an axis of two numbers": (kt.model.Rotor(1e-4, 50.0, (0.0, 1.0)), "give three numbers of length one"),  # type: ignore[arg-type]
    "an axis that is NaN": (kt.model.Rotor(1e-4, 50.0, (math.nan, 0.0, 1.0)), "give three numbers of length one"),
    "an axis that is a letter": (kt.model.Rotor(1e-4, 50.0, "z"), "give three numbers of length one"),  # type: ignore[arg-type]
    "an axis that is a number": (kt.model.Rotor(1e-4, 50.0, 1.0), "give three numbers of length one"),  # type: ignore[arg-type]
    "an axis of text": (kt.model.Rotor(1e-4, 50.0, ("0", "0", "1")), "give three numbers of length one"),  # type: ignore[arg-type]
    "a number": (1e-4, r"has 0.0001 as its rotor; give a Rotor\(inertia, ratio\)"),
}


@pytest.mark.parametrize(("rotor", "message"), ROTORS.values(), ids=ROTORS.keys())
def test_rotors_that_cannot_be_are_refused_with_the_joint_s_name(rotor: Any, message: str) -> None:
    with pytest.raises(kt.errors.ModelError, match=f"joint 'j' .*{message}"):
        robot(rotor=rotor)


@pytest.mark.parametrize("kind", [kt.joints.Spherical(), kt.Free(), kt.Fixed()], ids=repr)
def test_a_rotor_drives_a_joint_of_one_degree_of_freedom(kind: kt.model.JointKind) -> None:
    with pytest.raises(
        kt.errors.ModelError, match=r"joint 'j' has a rotor, but \d degrees of freedom; rotors drive joints of"
    ):
        robot(kind, rotor=kt.model.Rotor(1e-4, 50.0, (0.0, 0.0, 1.0)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"friction_speed": [0.0]}, "has the friction speed 0; it must be positive and finite"),
        ({"friction_speed": [math.inf]}, "has the friction speed inf"),
        ({"friction_speed": [0.1, 0.1]}, "needs 1 values of friction speed .*, not 2"),
        ({"stiffness": [math.inf]}, "has stiffness that is not finite"),
        ({"stiffness": [1.0, 2.0]}, "needs 1 values of stiffness .*, not 2"),
        ({"rest": [math.inf]}, "has a rest position that is not finite"),
        ({"rest": [0.0, 0.0]}, "needs 1 values of rest position .*, not 2"),
        ({"damping": [math.nan]}, "has nan among its damping; give numbers"),
    ],
)
def test_numbers_that_cannot_be_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.errors.ModelError, match=f"joint 'j' {message}"):
        robot(**options)


@pytest.mark.parametrize("name", ["damping", "friction", "stiffness"])
def test_what_feeds_energy_in_is_suspicious(name: str) -> None:
    with pytest.warns(kt.errors.ModelWarning, match=f"joint 'j' has negative {name}, which feeds energy in"):
        suspicious = robot(**{name: [-1.0]})
    force = kt.dynamics.passive_forces(suspicious, [0.5], [0.5])[0]
    assert force > 0.0


def test_limits_may_be_whole_numbers() -> None:
    driven = robot(limits=kt.model.Limits((-1,), (1,), (2,), (3,)))
    for unroll in (True, False):
        assert kt.compile(driven, kt.dynamics.limited_forces, unroll=unroll)([5.0], [0.0])[0] == 3.0

"""Equality constraints and pairs of shapes of a changed robot are the original's, between what is there instead."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.model import Geometry
from kinetree.model.extras import ContactPair, ContactParameters, Equality, Extras, ShapeSettings, Site

Array = NDArray[np.float64]
SOFT: dict[str, Any] = {"solimp": (0.9, 0.9, 0.001, 0.5, 2.0)}
TURN = (0.1, -0.2, 0.3, (1.0 - 0.14) ** 0.5)
SILENT = ContactParameters(contype=0, conaffinity=0)
SHAPE = Geometry("collision", "sphere", (0.1,), kt.lie.placement(), contact=SILENT)
HELD = (
    Equality("pin", "connect", "body", "arm", "hand", anchor=(0.1, 0.02, -0.3), **SOFT),
    Equality("post", "connect", "body", "arm", "base", anchor=(0.1, 0.03, -0.3), **SOFT),
    Equality(
        "clamp", "weld", "body", "arm", "hand", anchor=(0.1, 0.02, 0.0), relative_position=(0.0, 0.1, -0.5),
        relative_rotation=TURN, torque_scale=0.4, **SOFT,
    ),
    Equality("string", "connect", "site", "arm", "tip", **SOFT),
    Equality("gear", "joint", "joint", "slide", "hinge", coefficients=(0.02, 0.3, 0.2, -0.1, 0.05), **SOFT),
    Equality("stop", "joint", "joint", "slide", coefficients=(0.02, 0.0, 0.0, 0.0, 0.0), **SOFT),
)  # fmt: skip


def robot(*held: Equality) -> kt.Model:
    """A hinge and a slide; the site of the arm has the name of its body, so its frame has another one."""
    builder = kt.ModelBuilder("two")
    for name, at in (("base", 0.0), ("arm", 0.1), ("hand", 0.2)):
        builder.add_body(name, kt.solids.box(0.1, 0.2, 0.3, mass=1.0, placement=kt.lie.placement((at, 0.05, 0.1))))
    builder.add_joint("hinge", kt.Revolute([0.2, 1.0, 0.3]), "base", "arm")
    builder.add_joint("slide", kt.Prismatic([0.1, 0.4, 1.0]), "arm", "hand", kt.lie.placement((0.0, 0.0, -0.5)))
    builder.add_frame("arm_site", "arm", kt.lie.placement((0.0, 0.1, 0.1)))
    builder.add_frame("tip", "hand", kt.lie.placement((0.0, 0.0, 0.2)))
    sites = Site("arm", "arm", "arm_site"), Site("tip", "hand", "tip")
    builder.extras = Extras(equalities=held, sites=sites)
    return builder.build()


Q, V, TAU = np.array([0.3, 0.1]), np.array([0.5, -0.2]), np.array([0.4, 1.0])


def accelerations(model: kt.Model, q: Array, v: Array, tau: Array) -> Array:
    found: Array = kt.contact_dynamics(model, q, v, tau, contact=True).qdd
    return found


@pytest.mark.parametrize("held", HELD, ids=lambda one: one.name)
def test_scaled_and_mirrored_robots_are_held_as_the_original(held: Equality) -> None:
    own = robot(held)
    found = accelerations(own, Q, V, TAU)
    assert not np.allclose(found, kt.forward_dynamics(own, Q, V, TAU))
    np.testing.assert_allclose(accelerations(own.mirrored("y"), Q, V, TAU), found, rtol=1e-9)
    # Lengths and gravity twice as large, masses as they were: so are linear accelerations, and angular ones stay.
    long = [1.0, 2.0]
    scaled = own.scaled(2.0, mass=1.0).with_gravity((0.0, 0.0, -2.0 * 9.81))
    if held.name == "gear":  # how soft it is depends on the sum of two inertias of different units, as in MuJoCo
        (other,) = scaled.extras.equalities
        x = np.linspace(-1.0, 1.0, 5)
        polynomials = [np.polynomial.Polynomial(one.coefficients)(x) for one in (held, other)]
        np.testing.assert_allclose(polynomials[1], 2.0 * polynomials[0])
        return
    np.testing.assert_allclose(accelerations(scaled, Q * long, V * long, TAU * [4.0, 2.0]), found * long, rtol=1e-9)


def test_what_is_attached_keeps_its_equalities_whatever_its_sites_are_called() -> None:
    both = kt.zoo.load("cart_pole").attach(robot(*HELD), "tip", prefix="x_")
    assert both.extras.equalities.names == [f"x_{one.name}" for one in HELD]
    assert (both.extras.equalities["x_string"].first, both.extras.sites["x_arm"].frame) == ("x_arm", "x_arm_site")
    assert not any("dropped" in note for note in both.notes)
    kt.contact.soft_constraints(both)


def test_shapes_of_two_copies_have_their_own_names_so_pairs_are_between_those_of_each() -> None:
    ball = replace(SHAPE, name="a")
    builder = kt.ModelBuilder.of(robot())
    builder.add_body("other", kt.solids.sphere(0.1, mass=1.0), geometry=[ball])
    builder.add_body("third", kt.solids.sphere(0.1, mass=1.0), geometry=[replace(SHAPE, name="hand")])
    builder.add_joint("swings", kt.Revolute([0, 1, 0]), "hand", "other")
    builder.add_joint("turns", kt.Revolute([0, 1, 0]), "base", "third")
    builder.extras = Extras(contact_pairs=(ContactPair("a", "hand"),), shapes=(ShapeSettings("other", 0, "a", 2),))
    one = builder.build()
    two = kt.model.merge([one, one], name="two", prefixes=["l_", "r_"])
    assert two.extras.contact_pairs == (ContactPair("l_a", "l_hand"), ContactPair("r_a", "r_hand"))
    assert [one.name for one in two.extras.shapes] == ["l_a", "r_a"]
    explicit = [(touch.first.body, touch.second.body) for touch in kt.contact.soft_constraints(two).touches]
    assert sorted(map(sorted, explicit)) == [["l_other", "l_third"], ["r_other", "r_third"]]
    image = one.mirrored(rename=lambda name: f"m_{name}")
    assert [shape.name for link in image.parts.links for shape in link.geometry] == ["m_a", "m_hand"]


def test_what_cannot_follow_is_dropped_with_a_note() -> None:
    own = robot(*HELD)
    assert own.lock("slide").extras.equalities.names == ["pin", "post", "clamp", "string"]
    axes = own.in_principal_axes()
    assert axes.extras.equalities.names == ["string", "gear", "stop"]
    assert any("dropped: equalities: 'pin', 'post', 'clamp'" in note for note in axes.notes)
    rest = own.remove("hand")
    assert rest.extras.equalities.names == ["post"]


def test_sites_grow_with_their_robot() -> None:
    builder = kt.ModelBuilder.of(robot())
    builder.extras = replace(builder.extras, sites=(Site("tip", "hand", "tip", size=(0.01, 0.02, 0.03)),))
    assert builder.build().scaled(2.0).extras.sites["tip"].size == (0.02, 0.04, 0.06)
    assert builder.build().mirrored().extras.sites["tip"].size == (0.01, 0.02, 0.03)


def test_a_connection_with_the_world_of_a_robot_without_one_is_refused() -> None:
    with pytest.raises(
        kt.errors.ModelError, match="equality constraint 'post' holds body 'arm' to 'world', but 'two' has no "
    ):
        kt.contact.soft_constraints(robot(Equality("post", "connect", "body", "arm")))

"""Mass, centre of mass and rotational inertia of a body by its name: its own, and with all that is fixed to it."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.spatial import Inertia, Sym3, Vec3


def test_a_body_has_the_numbers_it_was_made_from() -> None:
    builder = kt.ModelBuilder("one")
    builder.add_body("body", Inertia.from_com(2.0, Vec3(0.1, -0.2, 0.3), Sym3(1.0, 2.0, 2.5, 0.1, -0.2, 0.3)))
    body = builder.build().bodies["body"]
    assert body.mass == 2.0
    assert np.allclose(body.center_of_mass, [0.1, -0.2, 0.3], rtol=1e-15)
    assert np.allclose(body.rotational_inertia, [[1.0, 0.1, -0.2], [0.1, 2.0, 0.3], [-0.2, 0.3, 2.5]], rtol=1e-14)
    assert (body.rotational_inertia == body.rotational_inertia.T).all()


def test_a_body_without_mass_has_no_center_of_mass() -> None:
    builder = kt.ModelBuilder("none")
    builder.add_body("frame only")
    body = builder.build().bodies["frame only"]
    assert body.mass == 0.0
    assert np.isnan(body.center_of_mass).all()
    assert not body.rotational_inertia.any()


def test_what_is_fixed_to_a_body_is_in_its_rigid_inertia_and_not_in_its_own() -> None:
    builder = kt.ModelBuilder("two")
    builder.add_body("base")
    builder.add_body("arm", kt.solids.sphere(0.1, mass=1.0))
    builder.add_body("hand", kt.solids.sphere(0.1, mass=3.0))
    builder.add_joint("hinge", kt.Revolute([0, 0, 1]), "base", "arm", kt.lie.placement([5.0, 0.0, 0.0]))
    turned = kt.lie.placement([0.0, 1.0, 0.0], rpy=[0.0, 0.0, np.pi / 2])
    builder.add_joint("weld", kt.Fixed(), "arm", "hand", turned)
    robot = builder.build()
    assert (robot.bodies["arm"].mass, robot.bodies["hand"].mass) == (1.0, 3.0)
    by_arm, by_hand = robot.rigid_inertia("arm"), robot.rigid_inertia("hand")
    assert by_arm.mass == by_hand.mass == 4.0
    assert np.allclose(by_arm.center_of_mass, [0.0, 0.75, 0.0])
    assert np.allclose(by_hand.center_of_mass, [-0.25, 0.0, 0.0])  # its x axis is the arm's y axis
    ball = 0.4 * 0.1**2
    about = np.diag([4 * ball + 0.75, 4 * ball, 4 * ball + 0.75])  # two point masses a metre apart
    assert np.allclose(by_arm.about_center_of_mass, about, rtol=1e-14)
    assert np.allclose(by_hand.about_center_of_mass, about[np.ix_([1, 0, 2], [1, 0, 2])], atol=1e-15)
    assert robot.rigid_inertia("base").mass == 0.0
    assert np.isclose(robot.mass, sum(body.mass for body in robot.bodies.values()))


def test_a_wrong_name_is_reported() -> None:
    with pytest.raises(kt.errors.NameNotFoundError, match="no body 'hnd'"):
        kt.zoo.load("arm6").rigid_inertia("hnd")

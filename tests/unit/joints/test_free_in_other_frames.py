"""Steps of a free joint between placements, or as a part of a composite: those of the joint itself."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import JointKind
from kinetree.spatial import Inertia

NOWHERE = kt.lie.placement((0.0, 0.0, 0.0))
WAYS = {
    "placed": kt.joints.Placed(kt.Free(), NOWHERE),
    "composite": kt.joints.Composite([kt.Free()]),
    "composite of one that is placed": kt.joints.Composite([(kt.joints.Placed(kt.Free(), NOWHERE), NOWHERE)]),
}
Q = np.array([0.1, 0.2, 0.3, 0.1, -0.2, 0.3, 0.9])
V = np.array([1.0, 0.5, 0.0, 3.0, 2.0, 1.0])


def plank(kind: JointKind) -> kt.Model:
    builder = kt.ModelBuilder("plank")
    builder.add_body("world")
    builder.add_body("plank", Inertia.from_com(2.0, [0.1, 0.05, 0.02], np.diag([0.1, 0.2, 0.25])))
    builder.add_joint("flies", kind, "world", "plank")
    return builder.build()


@pytest.mark.parametrize("kind", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4", "midpoint"])
def test_steps_are_the_same(kind: JointKind, integrator: str) -> None:
    expected, found = (
        kt.rollout(plank(one), Q, V, np.zeros((20, 6)), 0.01, integrator=integrator)  # type: ignore[call-overload]
        for one in (kt.Free(), kind)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicitfast"])
def test_a_robot_in_principal_axes_takes_the_same_steps(integrator: str) -> None:
    robot = plank(kt.Free())
    turned = robot.in_principal_axes()
    assert isinstance(turned.joints["flies"].kind, kt.joints.Placed)
    found, expected = (
        kt.rollout(one, Q, V, np.zeros((20, 6)), 0.01, integrator=integrator)  # type: ignore[call-overload]
        for one in (turned, robot)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)

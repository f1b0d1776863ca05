"""Limits of joints with several coordinates: each coordinate beyond its own is pushed back, and no other."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree import algorithms
from kinetree.functions.contact_options import soft
from kinetree.joints import JointKind
from kinetree.spatial import Inertia, Sym3, Vec3


def limited(kind: JointKind, coordinate: int, upper: float) -> kt.Model:
    """An arm with a joint that has a limit of one coordinate."""
    builder = kt.ModelBuilder("arm")
    builder.add_body("base")
    inertia = Inertia.from_com(1.5, Vec3(0.1, 0.2, 0.3), Sym3.scalar(0.1))
    for k in range(2):
        builder.add_body(f"body{k}", inertia)
    bounds = [math.inf] * kind.nq
    bounds[coordinate] = upper
    limits = replace(kt.model.Limits.none(kind), upper=tuple(bounds))
    builder.add_joint("joint", kind, "base", "body0", limits=limits)
    builder.add_joint("hinge", kt.Revolute([1, 2, 0]), "body0", "body1", kt.lie.placement([0.2, 0.0, 0.3]))
    return builder.build()


@pytest.mark.parametrize(
    ("kind", "coordinate"),
    [
        (kt.joints.Planar(), 1),
        (kt.joints.Universal([1, 0, 0], [0, 1, 0]), 1),
        (kt.joints.Cylindrical([0, 1, 1]), 0),
        (kt.joints.Translation(), 2),
        (kt.Free(), 1),
        (kt.joints.FloatingBase(), 0),
        (kt.joints.Composite([kt.joints.Spherical(), kt.Prismatic([1, 0, 0])]), 4),
    ],
)
def test_a_coordinate_beyond_its_limit_is_pushed_back(kind: JointKind, coordinate: int) -> None:
    """f R = a_ref - q̈ of that coordinate, with the force f from its power."""
    rng = np.random.default_rng(7)
    robot = limited(kind, coordinate, 0.3)
    found = kt.contact.soft_constraints(robot)
    (limit,) = found.limits
    assert (limit.joint, limit.coordinate, limit.upper) == ("joint", coordinate, 0.3)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    q[coordinate] = 0.305
    v *= np.sign(kind.rates(q[: kind.nq].tolist(), v[: kind.nv].tolist())[coordinate])  # farther
    tree = robot.tree
    rows = soft(robot, found, (), written_out=True)
    assert rows is not None
    state = tree.split(q.tolist(), "nq"), tree.split(v.tolist(), "nv")
    blocks, _ = rows(tree, *state, 0.0)
    solved = algorithms.contact_dynamics(tree, *state, tree.split([0.0] * robot.nv, "forces"), blocks)
    a, push = np.array(solved.acceleration), np.array(solved.push(blocks))

    def rates(h: float) -> Any:
        there = kind.integrate(q[: kind.nq].tolist(), (h * v + 0.5 * h * h * a)[: kind.nv].tolist())
        return np.array(kind.rates(there, (v + h * a)[: kind.nv].tolist()))

    h = 1e-5
    moves, second = rates(0.0)[coordinate], ((rates(h) - rates(-h)) / (2.0 * h))[coordinate]
    force, r, soft_one = push @ v / moves, 0.3 - 0.305, limit.softness
    d = soft_one.at(r)
    wanted = soft_one.acceleration(-moves, d, r)  # of the distance to the limit
    assert force < 0.0
    np.testing.assert_allclose(-force * soft_one.regularisation(d), wanted + second, rtol=1e-6)


def test_limits_of_a_chart_that_ends_are_refused() -> None:
    robot = limited(kt.joints.ExponentialMap(), 1, 0.3)
    (unsupported,) = kt.contact.soft_constraints(robot).unsupported
    assert (unsupported.what, unsupported.name) == ("limit", "joint")
    assert "end" in unsupported.reason
    assert "several joints" in unsupported.reason

"""What ball joints cost: a joint of three degrees of freedom takes fewer operations than three joints."""

from __future__ import annotations

import pytest

import kinetree as kt
from kinetree.joints import JointKind
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3
from tests.kernels import compiled_late

X, Y, Z = kt.Revolute([1, 0, 0]), kt.Revolute([0, 1, 0]), kt.Revolute([0, 0, 1])
BODY = Inertia.from_com(1.0, Vec3(0.1, 0.2, 0.3), Sym3(0.1, 0.12, 0.13, 0.01, 0.02, 0.03))


def chain(*kinds: JointKind) -> kt.Model:
    """Four bodies, each on these joints with massless bodies between."""
    builder = kt.ModelBuilder("chain")
    builder.add_body("base")
    parent = "base"
    for k in range(4):
        for j, kind in enumerate(kinds, 1):
            name = f"body {k}.{j}"
            builder.add_body(name, BODY if j == len(kinds) else None)
            place = Transform(Mat3.identity(), Vec3(0.1, 0.0, 0.4)) if j == 1 else None
            builder.add_joint(f"joint {k}.{j}", kind, parent, name, place)
            parent = name
    return builder.build()


def operations(function: object, *kinds: JointKind) -> int:
    return int(compiled_late(chain(*kinds), function).__self__.program.operation_counts().total())  # type: ignore[arg-type]


COUNTS = {"three revolute joints": (1289, 610, 665), "spherical": (962, 547, 606), "Euler": (1252, 600, 825)}


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("three revolute joints", (Z, Y, X)),
        ("spherical", (kt.joints.Spherical(),)),
        ("Euler", (kt.joints.Euler("ZYX"),)),
    ],
    ids=lambda x: str(x)[:9],
)
def test_a_chain_of_ball_joints_costs_what_it_did(name: str, kinds: tuple[JointKind, ...]) -> None:
    assert tuple(operations(function, *kinds) for function in (kt.aba, kt.rnea, kt.crba)) == COUNTS[name]


@pytest.mark.parametrize("function", [kt.aba, kt.rnea, kt.crba])
def test_a_ball_joint_costs_less_than_three_revolute_ones(function: object) -> None:
    assert operations(function, kt.joints.Spherical()) < operations(function, Z, Y, X)


@pytest.mark.parametrize("function", [kt.aba, kt.rnea])
def test_euler_angles_cost_less_than_three_revolute_joints(function: object) -> None:
    assert operations(function, kt.joints.Euler("ZYX")) < operations(function, Z, Y, X)

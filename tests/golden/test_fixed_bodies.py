"""Bodies on fixed joints cost nothing: the kernels are those of a robot whose bodies had their mass from the start."""

from __future__ import annotations

from typing import Any

import pytest

import kinetree as kt
from tests.kernels import compiled_late


def robot(*, as_bodies: bool) -> kt.Model:
    """Two links, with a camera and a lamp on a bracket; fixed to the second one, or part of it."""
    bracket, lamp = kt.lie.placement([0.1, 0.0, 0.3], rpy=[0.1, 0.2, 0.3]), kt.lie.placement([0.0, 0.05, 0.1])
    parts = {
        "bracket": (kt.solids.box(0.1, 0.02, 0.02, mass=0.2), "fore", bracket),
        "camera": (kt.solids.box(0.05, 0.1, 0.04, mass=0.4), "bracket", kt.lie.placement([0.05, 0.0, 0.02])),
        "lamp": (kt.solids.sphere(0.03, mass=0.1), "bracket", lamp),
    }
    link = kt.solids.capsule(0.04, 0.3, mass=2.0, placement=kt.lie.placement([0.01, 0.02, 0.15]))
    fore = link
    if not as_bodies:
        for name, (inertia, parent, place) in parts.items():
            whole = place if parent == "fore" else place @ bracket
            assert name
            fore = fore + whole.back(inertia)
    builder = kt.ModelBuilder("arm")
    builder.add_body("base")
    builder.add_body("upper", link)
    builder.add_body("fore", fore)
    builder.add_joint("shoulder", kt.joints.Spherical(), "base", "upper", kt.lie.placement([0, 0, 0.5]))
    builder.add_joint("elbow", kt.Revolute([0, 1, 0]), "upper", "fore", kt.lie.placement([0, 0, 0.4]))
    if as_bodies:
        for name, (inertia, parent, place) in parts.items():
            builder.add_body(name, inertia)
            builder.add_joint(f"{name} mount", kt.Fixed(), parent, name, place)
    return builder.build()


@pytest.mark.parametrize("function", [kt.aba, kt.rnea, kt.crba, kt.kinetic_energy, kt.potential_energy])
def test_a_fixed_body_costs_no_operation(function: Any) -> None:
    with_camera, without = (robot(as_bodies=x) for x in (True, False))
    counts = [compiled_late(x, function).__self__.program.operation_counts() for x in (with_camera, without)]
    assert counts[0] == counts[1]


def test_a_fixed_body_keeps_its_name_its_frame_and_its_inertia() -> None:
    arm = robot(as_bodies=True)
    camera = arm.bodies["camera"]
    assert camera.is_fixed
    assert not arm.bodies["fore"].is_fixed
    assert camera.inertia == kt.solids.box(0.05, 0.1, 0.04, mass=0.4)
    assert kt.frame_placement(arm, arm.neutral(), "camera").shape == (4, 4)
    assert "camera" not in arm.joints
    assert "camera" in repr(arm)

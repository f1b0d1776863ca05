"""Robots that we did not make."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from tests.robots import REFUSED, each_robot_file, load_robot, robot_path


@pytest.mark.parametrize("floating_base", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("file", each_robot_file())
def test_a_real_robot_is_read(file: str, floating_base: bool) -> None:
    model = load_robot(file, floating_base=floating_base, mimic=True)
    q = model.random(0)
    assert np.isfinite(q).all()
    model.check_configuration(model.integrate(q, np.ones(model.nv)))
    assert model.nv == sum(joint.kind.nv for joint in model.joints.values() if joint.mimic is None)
    assert model.mass == pytest.approx(sum(float(body.inertia.mass) for body in model.bodies.values()))
    assert all(name in model.frames for name in model.bodies)
    assert repr(model).startswith(f"Model {model.name!r}: ")


@pytest.mark.parametrize(("file", "reason"), REFUSED.items())
def test_a_file_that_is_no_robot_is_refused(file: str, reason: str) -> None:
    with pytest.raises(kt.errors.ModelError) as caught:
        load_robot(file, mimic=True)
    assert reason in str(caught.value)


@pytest.mark.parametrize("name", ["panda", "talos_full_v2", "go1", "tiago_dual", "pr2"])
def test_the_meshes_of_a_real_robot_are_found(name: str) -> None:
    model = load_robot(name)
    meshes = [shape for body in model.bodies.values() for shape in body.geometry if shape.shape == "mesh"]
    assert meshes
    assert all(shape.mesh_path is not None and shape.mesh_path.is_file() for shape in meshes)


@pytest.mark.parametrize(
    ("file", "link"),
    [
        ("anymal_b_simple_description/robots/anymal.urdf", "base"),
        ("go1_description/urdf/go1.urdf", "base"),
        ("hyq_description/robots/hyq_no_sensors.urdf", "base_link"),
    ],
)
def test_the_singular_inertia_of_a_real_base_is_warned_of(file: str, link: str) -> None:
    model, messages = _load_and_listen(file)
    assert any(f"body '{link}' has an inertia that is singular" in message for message in messages)
    assert model.bodies[link].inertia.I.xy == 1e-6


def test_the_massless_feet_of_bolt_are_warned_of() -> None:
    _, messages = _load_and_listen("bolt")
    assert [message.split(": ")[2] for message in messages] == [
        "body 'FL_FOOT' has inertia but no mass; it is loaded as written",
        "body 'FR_FOOT' has inertia but no mass; it is loaded as written",
    ]


def test_a_real_robot_with_massless_fingers_names_their_joints() -> None:
    singular = load_robot("romeo").singular_joints
    assert "LFinger12" in singular
    assert "LElbowYaw" not in singular


def test_the_file_that_was_read_is_the_source() -> None:
    assert Path(load_robot("panda").source) == robot_path("panda")


def _load_and_listen(name: str) -> tuple[kt.Model, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = kt.load(robot_path(name))
    assert {warning.category for warning in caught} == {kt.errors.ModelWarning}
    return model, [str(warning.message) for warning in caught]


def test_a_file_that_only_loads_without_mimic_says_so() -> None:
    path = robot_path("alex_psyonic_hands")
    with pytest.raises(
        kt.errors.ModelError, match=r"no such joint: .*\(the file loads with mimic=False, or --no-mimic on the"
    ):
        kt.load(path)
    assert load_robot("alex_psyonic_hands").nv == 39
    for name in ("romeo_laas_small", "ur3.urdf"):
        with pytest.raises(kt.errors.ModelError) as caught:
            kt.load(robot_path(next(file for file in REFUSED if name in file)))
        assert "mimic=False" not in str(caught.value)
    with pytest.raises(kt.errors.ModelError, match=r"package_roots: .* is not a folder$"):
        kt.load(robot_path("panda"), package_roots="/nowhere")

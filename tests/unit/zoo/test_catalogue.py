"""The robots of the zoo: they load, and are what their opening comments say."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree import zoo
from kinetree.errors import NameNotFoundError
from kinetree.model import Body

ROBOTS = {
    # name: (degrees of freedom with its natural base, total mass, floats)
    "arm6": (6, 22.0, False),
    "arm7": (7, 17.0, False),
    "cart_pole": (2, 6.1, False),
    "double_pendulum": (2, 4.0, False),
    "humanoid": (6 + 26, 70.0, True),
    "quadruped": (6 + 12, 14.0, True),
    "ragdoll": (6 + 6 * 3 + 6, 70.0, True),
}


def test_names_are_the_files_sorted() -> None:
    assert zoo.names() == sorted(ROBOTS)


@pytest.mark.parametrize("name", ROBOTS)
def test_size_mass_and_natural_base(name: str) -> None:
    robot = zoo.load(name)
    nv, mass, floats = ROBOTS[name]
    assert (robot.nv, robot.floating_base) == (nv, floats)
    assert robot.mass == pytest.approx(mass, rel=1e-12)
    assert robot.name == name
    assert robot.singular_joints == ()


@pytest.mark.parametrize("floating_base", [False, True])
def test_base_can_be_chosen(floating_base: bool) -> None:
    assert zoo.load("humanoid", floating_base=floating_base).floating_base is floating_base
    assert zoo.load("arm6", floating_base=floating_base).floating_base is floating_base


def test_wrong_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(NameNotFoundError, match="the zoo has no robot 'humanoids': did you mean 'humanoid'"):
        zoo.load("humanoids")
    with pytest.raises(NameNotFoundError, match="available: 'arm6', 'arm7', 'cart_pole'"):
        zoo.path("../errors")


URDF = [name for name in ROBOTS if name != "ragdoll"]


@pytest.mark.parametrize("name", URDF)
def test_each_file_opens_with_a_comment(name: str) -> None:
    head = zoo.path(name).read_text(encoding="utf-8").splitlines()[1]
    assert head == "<!--"


def test_a_robot_in_text_is_described_in_its_notes() -> None:
    assert "limp adult" in zoo.load("ragdoll").notes[0]


@pytest.mark.parametrize("name", ROBOTS)
def test_random_states_lie_within_the_limits(name: str) -> None:
    robot = zoo.load(name)
    for seed in range(5):
        q = robot.random(seed)
        robot.check_configuration(q)
        for joint in robot.joints.values():
            assert (np.array(joint.limits.lower) <= q[joint.q_slice]).all()
            assert (q[joint.q_slice] <= np.array(joint.limits.upper)).all()


@pytest.mark.parametrize("name", ["arm6", "arm7", "quadruped", "humanoid"])
def test_revolute_joints_have_limits_damping_and_straight_zero_within(name: str) -> None:
    for joint in zoo.load(name).joints.values():
        if joint.kind.nv > 1:
            continue
        (low,), (high,) = joint.limits.lower, joint.limits.upper
        assert -2 * np.pi < low <= 0.0 <= high < 2 * np.pi
        assert 0.0 < joint.limits.effort[0] < 1e3
        assert 0.0 < joint.limits.velocity[0] < 1e2
        assert joint.damping[0] > 0.0


def test_the_ragdolls_inertias_are_those_of_the_solids_drawn_and_its_sides_mirror() -> None:
    robot = zoo.load("ragdoll")
    for body in robot.bodies.values():
        (shape,) = [shape for shape in body.geometry if shape.role == "collision"]
        solid = getattr(kt.solids, shape.shape)(*shape.size, mass=body.inertia.mass, placement=shape.placement)
        np.testing.assert_allclose(solid.h.components(), body.inertia.h.components(), atol=1e-15)
        np.testing.assert_allclose(solid.I.components(), body.inertia.I.components(), rtol=1e-14, atol=1e-15)
        twin = robot.bodies[body.name.replace("left", "right")]
        assert twin.inertia == body.inertia
    for joint in robot.joints.values():
        twin_place = robot.joints[joint.name.replace("left", "right")].placement.r
        sign = 1.0 if "left" not in joint.name else -1.0
        assert twin_place.components() == (joint.placement.r.x, sign * joint.placement.r.y, joint.placement.r.z)


@pytest.mark.parametrize("name", URDF)
def test_inertias_are_those_of_the_solids_drawn(name: str) -> None:
    """Mass, centre and inertia of each link are those of its shapes at one density."""
    links = 0
    for link in ElementTree.parse(zoo.path(name)).getroot().iter("link"):
        inertial = link.find("inertial")
        if inertial is None:
            assert link.find("visual") is None
            continue
        links += 1
        mass = float(inertial.find("mass").attrib["value"])  # type: ignore[union-attr]
        center, about_center = _solid(link, mass)
        np.testing.assert_allclose(_origin(inertial)[0], center, rtol=1e-5, atol=1e-9)
        i = {k: float(x) for k, x in inertial.find("inertia").attrib.items()}  # type: ignore[union-attr]
        written = np.array(
            [[i["ixx"], i["ixy"], i["ixz"]], [i["ixy"], i["iyy"], i["iyz"]], [i["ixz"], i["iyz"], i["izz"]]]
        )
        np.testing.assert_allclose(written, about_center, rtol=1e-5, atol=1e-5 * np.abs(about_center).max())
    assert links >= 3


def _solid(link: ElementTree.Element, mass: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centre of mass and inertia about it of a link's collision shapes, together of the given mass."""
    shapes = list(_shapes(link))
    density = mass / sum(volume for volume, *_ in shapes)
    center = sum(density * volume * place for volume, place, *_ in shapes) / mass
    inertia = np.zeros((3, 3))
    for volume, place, turn, unit in shapes:
        d = place - center
        inertia += density * volume * (turn @ unit @ turn.T + d @ d * np.eye(3) - np.outer(d, d))
    return center, inertia


def _shapes(
    link: ElementTree.Element,
) -> Iterator[tuple[float, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]:
    """(volume, centre, rotation, inertia a unit of mass) of each shape."""
    for collision in link.iter("collision"):
        place, turn = _origin(collision)
        (shape,) = collision.find("geometry")  # type: ignore[misc]
        if shape.tag == "box":
            x, y, z = map(float, shape.attrib["size"].split())
            yield x * y * z, place, turn, np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) / 12
        elif shape.tag == "cylinder":
            r, h = float(shape.attrib["radius"]), float(shape.attrib["length"])
            across = r * r / 4 + h * h / 12
            yield np.pi * r * r * h, place, turn, np.diag([across, across, r * r / 2])
        else:
            assert shape.tag == "sphere"
            r = float(shape.attrib["radius"])
            yield 4 / 3 * np.pi * r**3, place, turn, 0.4 * r * r * np.eye(3)


def _origin(element: ElementTree.Element) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    origin = element.find("origin")
    attributes = {} if origin is None else origin.attrib
    place = np.array([float(x) for x in attributes.get("xyz", "0 0 0").split()])
    a, b, c = (float(x) for x in attributes.get("rpy", "0 0 0").split())
    roll = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    pitch = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    yaw = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    return place, yaw @ pitch @ roll


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_left_and_right_are_mirror_images(name: str) -> None:
    """Bodies mirror in the plane y = 0, and joints move so that equal angles keep the mirror."""
    robot = zoo.load(name)
    pairs = [body for body in robot.bodies.values() if "left" in body.name]
    assert len(pairs) >= 8
    flip = np.diag([1.0, -1.0, 1.0])
    for left in pairs:
        right = robot.bodies[left.name.replace("left", "right")]
        assert right.inertia.mass == left.inertia.mass
        np.testing.assert_allclose(right.inertia.h.components(), flip @ left.inertia.h.components(), atol=1e-15)
        np.testing.assert_allclose(_moments(right), flip @ _moments(left) @ flip, atol=1e-15)
    for left_joint in robot.joints.values():
        if "left" not in left_joint.name:
            continue
        right_joint = robot.joints[left_joint.name.replace("left", "right")]
        # An axis of rotation mirrors with the opposite sign.
        np.testing.assert_array_equal(
            right_joint.kind.axis.components(),  # type: ignore[attr-defined]
            -flip @ left_joint.kind.axis.components(),  # type: ignore[attr-defined]
        )
        np.testing.assert_array_equal(right_joint.placement.r.components(), flip @ left_joint.placement.r.components())
        assert right_joint.limits == left_joint.limits
        assert (right_joint.damping, right_joint.friction) == (left_joint.damping, left_joint.friction)


def _moments(body: Body) -> NDArray[np.float64]:
    """The rotational inertia about the body's own origin."""
    i = body.inertia.I
    return np.array([[i.xx, i.xy, i.xz], [i.xy, i.yy, i.yz], [i.xz, i.yz, i.zz]])

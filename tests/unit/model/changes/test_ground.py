"""Robots on a ground: a plane in the world, which everything may touch."""

from __future__ import annotations

import pickle
from pathlib import Path

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.contact_model import soft_constraints
from kinetree.model import Geometry
from kinetree.model.extras import ContactParameters
from kinetree.spatial import Inertia, Sym3, Transform, Vec3
from tests.laws.reference import close, reference

BALL = Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(0.1))


def ball(*, contact: ContactParameters | None = None, name: str = "ball") -> kt.Model:
    builder = kt.ModelBuilder(name)
    builder.add_body(
        name, BALL, geometry=[Geometry("collision", "sphere", (0.5,), Transform.identity(), contact=contact)]
    )
    return builder.build(floating_base=True)


def plane_of(robot: kt.Model) -> Geometry:
    (found,) = [shape for shape in robot.bodies[robot.root].geometry if shape.name == "ground"]
    return found


def test_a_floating_base_is_joined_to_the_world_and_moves_as_before() -> None:
    dog = kt.zoo.load("quadruped")
    scene = dog.on_ground()
    assert (scene.root, scene.floating_base) == ("world", False)
    assert (scene.q_names, scene.v_names, [*scene.joints]) == (dog.q_names, dog.v_names, [*dog.joints])
    assert (scene.actuated == dog.actuated).all()
    assert scene.extras == dog.extras
    assert (
        scene.notes[0]
        == "put on the ground 'ground', a plane on the new root 'world'; joint 'root_joint' joins 'trunk' to it"
    )
    rng = np.random.default_rng(0)
    q, v, tau = dog.random(0), rng.normal(size=dog.nv), rng.normal(size=dog.nv)
    assert (reference(kt.aba, scene, q, v, tau) == reference(kt.aba, dog, q, v, tau)).all()


def test_a_fixed_robot_has_the_ground_on_its_root() -> None:
    arm = kt.zoo.load("arm6")
    scene = arm.on_ground(-0.1)
    assert (scene.root, scene.q_names) == (arm.root, arm.q_names)
    assert plane_of(scene).placement.r == Vec3(0.0, 0.0, -0.1)
    assert scene.parts.joints == arm.parts.joints


@pytest.mark.parametrize("make", [lambda: ball(), lambda: kt.zoo.load("arm6")], ids=["floating", "fixed"])
def test_texts_and_pickles_keep_it(make: object) -> None:
    scene = make().on_ground(0.2, normal=(0.1, 0.2, 1.0), friction=(0.5, 0.01))  # type: ignore[operator]
    assert kt.from_text(kt.to_text(scene)) == scene
    assert pickle.loads(pickle.dumps(scene)) == scene


def test_mujoco_reads_it(tmp_path: Path) -> None:
    scene = ball().on_ground(0.3, normal=(0, 1, 1), friction=0.4)
    kt.save(scene, tmp_path / "scene.xml", lossy=True)
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "scene.xml"))
    d = mujoco.MjData(m)
    d.qpos[:3] = 0.0, 0.0, 0.3
    mujoco.mj_forward(m, d)
    assert d.ncon == 1
    np.testing.assert_allclose(d.contact[0].dist, -0.5, atol=1e-12)
    np.testing.assert_allclose(d.contact[0].friction[0], 0.4)


@pytest.mark.parametrize(
    "normal", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (-3, 0, 0), (0, 5, 0), (-1, 0, 2), (0.3, -0.2, 0.1)]
)
def test_its_frame_is_a_rotation_with_the_normal_as_z(normal: tuple[float, ...]) -> None:
    placement = plane_of(ball().on_ground(0.4, normal=normal)).placement
    T = placement.matrix
    close(T[:3, 2], np.divide(normal, np.linalg.norm(normal)))
    close(T[:3, :3].T @ T[:3, :3], np.eye(3))
    close(np.linalg.det(T[:3, :3]), 1.0)
    close(T[:3, 3], [0.0, 0.0, 0.4])
    if normal == (0, 0, 1):
        assert (T[:3, :3] == np.eye(3)).all()


def test_everything_that_touches_anything_touches_it() -> None:
    for contact in (None, ContactParameters(contype=4, conaffinity=0), ContactParameters(contype=0, conaffinity=8)):
        (touch,) = soft_constraints(ball(contact=contact).on_ground()).touches
        assert {touch.first.name, touch.second.name} == {"ground", "ball[0]"}
    assert not soft_constraints(ball(contact=ContactParameters(contype=0, conaffinity=0)).on_ground()).touches


def test_friction_of_the_ground_holds_whatever_shapes_say() -> None:
    slippery = ContactParameters(friction=(2.0, 0.3, 0.2), condim=6, priority=3)
    for friction, dimension, expected in [
        (0.3, 3, (0.3, 0.3)),
        ((0.3, 0.02), 4, (0.3, 0.3, 0.02)),
        ((0.3, 0.02, 0.01), 6, (0.3, 0.3, 0.02, 0.01, 0.01)),
        (0.0, 1, ()),
    ]:
        for contact in (None, slippery):
            (touch,) = soft_constraints(ball(contact=contact).on_ground(friction=friction)).touches
            assert touch.dimension == dimension
            assert touch.friction[: dimension - 1] == expected
    (touch,) = soft_constraints(ball().on_ground()).touches
    assert touch.friction[0] == 1.0
    (touch,) = soft_constraints(ball(contact=slippery).on_ground()).touches
    assert (touch.dimension, touch.friction[0]) == (6, 2.0)


def test_several_robots_share_it_and_a_second_plane_makes_a_corner() -> None:
    pair = kt.model.merge([ball(), ball()], name="two", prefixes=["", "other_"]).on_ground()
    assert (pair.root, pair.nq) == ("world", 14)
    assert len(soft_constraints(pair).touches) == 3
    corner = ball().on_ground().on_ground(normal=(1, 0, 0), name="wall")
    assert [shape.name for shape in corner.bodies["world"].geometry] == ["ground", "wall"]
    assert len(soft_constraints(corner).touches) == 2


def test_a_robot_that_has_a_body_world_gets_another_root() -> None:
    scene = ball(name="world").on_ground()
    assert scene.root == "world_"


def test_a_ground_alone_does_not_make_a_file_of_mujoco() -> None:
    sledge = kt.ModelBuilder("sledge")
    sledge.add_body("rail")
    sledge.add_body("sledge", BALL)
    sledge.add_joint(
        "slide",
        kt.Prismatic([1, 0, 0]),
        "rail",
        "sledge",
        armature=[3.0],
        limits=kt.model.Limits((-1.0,), (1.0,), (9.0,), (9.0,)),
    )
    robot = sledge.build()
    assert soft_constraints(robot.on_ground()).limits == soft_constraints(robot).limits


@pytest.mark.parametrize("friction", [-0.1, np.nan, np.inf, (1, 2, 3, 4), (), [[1.0]], (0.5, -1.0)])
def test_impossible_friction_is_refused(friction: object) -> None:
    with pytest.raises(
        kt.errors.ModelError, match="friction must be a coefficient of at least 0, or up to three of them"
    ):
        ball().on_ground(friction=friction)  # type: ignore[arg-type]


@pytest.mark.parametrize("normal", [(0, 0, 0), (1, 2), (0, 0, np.inf), (0, np.nan, 1), 1.0])
def test_what_is_no_direction_is_refused(normal: object) -> None:
    with pytest.raises(kt.errors.ModelError, match="normal must be a direction"):
        ball().on_ground(normal=normal)  # type: ignore[arg-type]


def test_other_wrong_arguments_are_reported() -> None:
    with pytest.raises(kt.errors.ModelError, match="height must be a number of metres, not inf"):
        ball().on_ground(np.inf)
    with pytest.raises(kt.errors.DTypeError, match="friction must be an array of real numbers"):
        ball().on_ground(friction="ice")  # type: ignore[arg-type]
    with pytest.raises(kt.errors.ModelError, match="the ground's name must be a string"):
        ball().on_ground(name="")
    with pytest.raises(
        kt.errors.ModelError, match="has a shape named 'ground' already, on 'world'; give another name="
    ):
        ball().on_ground().on_ground()

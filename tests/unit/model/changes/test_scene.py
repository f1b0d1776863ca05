"""Scenes: slopes, several robots, free bodies, obstacles, and bodies that are moved from outside."""

from __future__ import annotations

import copy
import pickle
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.contact_model import soft_constraints
from kinetree.model import building, model
from kinetree.model.changes.terrain import hills
from kinetree.model.fingerprint import fingerprint
from kinetree.spatial import Mat3, Transform, Vec3
from tests.calls import calls_of
from tests.laws.reference import close, reference

UP = kt.lie.placement((0.0, 0.0, 0.5))


def test_a_slope_is_a_ground_with_the_normal_of_its_angles() -> None:
    dog = kt.zoo.load("quadruped")
    assert dog.on_slope(0.0) == dog.on_ground()
    steep = dog.on_slope(0.3, toward=np.pi / 2, height=0.1, friction=0.4)
    normal = steep.bodies["world"].geometry[0].placement.E.z
    close(normal.components(), (0.0, np.sin(0.3), np.cos(0.3)))
    assert steep.notes[0].startswith("put on the ground 'ground'")


@pytest.mark.parametrize("angle", [np.pi / 2, 20.0, np.nan, (0.1, 0.2)])
def test_what_is_no_slope_is_refused(angle: object) -> None:
    with pytest.raises(kt.errors.ModelError, match="angle must be"):
        kt.zoo.load("quadruped").on_slope(angle)  # type: ignore[arg-type]


def test_robots_beside_each_other_move_as_they_do_alone() -> None:
    arm, dog = kt.zoo.load("arm6"), kt.zoo.load("quadruped")
    rng = np.random.default_rng(0)
    q = [arm.random(0), dog.random(0)]
    v, tau = ([rng.normal(size=robot.nv) for robot in (arm, dog)] for _ in range(2))
    for first, second in ((0, 1), (1, 0)):
        robots = (arm, dog)
        scene = robots[first].beside(robots[second], kt.lie.placement((1.0, 0.0, 0.0)))
        assert scene.q_names == robots[first].q_names + robots[second].q_names
        assert not scene.floating_base
        found = reference(kt.aba, scene, *(np.concatenate([x[first], x[second]]) for x in (q, v, tau)))
        alone = [reference(kt.aba, robots[k], q[k], v[k], tau[k]) for k in (first, second)]
        close(found, np.concatenate(alone))
    assert scene.root == "world"
    assert scene.notes[0] == (
        "put robot 'arm6' beside it: joint 'world_to_base' joins 'base' to 'world'; "
        "joint 'root_joint' joins 'trunk' to it"
    )


def test_names_of_both_need_a_prefix_and_prefixes_go_before_all_names() -> None:
    dog = kt.zoo.load("quadruped")
    with pytest.raises(kt.errors.ModelError, match="give a prefix"):
        dog.beside(dog)
    pair = dog.beside(dog, prefix="other_").on_ground()
    assert (pair.nq, pair.root) == (38, "world")
    assert list(pair.joints)[13] == "other_root_joint"
    assert pair.actuated.sum() == 24
    three = pair.beside(pair, prefix="more_")
    assert three.root == "world"
    assert three.bodies["more_world"].is_fixed


def test_a_free_body_is_a_solid_on_a_free_joint_that_touches_the_rest() -> None:
    scene = kt.zoo.load("arm6").on_ground().with_free_body("box", (0.1, 0.2, 0.3), UP, density=100.0, name="crate")
    assert scene.q_names[-7:-4] == ["crate_joint.x", "crate_joint.y", "crate_joint.z"]
    body = scene.bodies["crate"]
    assert body.inertia == kt.solids.box(0.1, 0.2, 0.3, density=100.0)
    close(reference(kt.frame_placement, scene, scene.neutral(), frame="crate").reshape(4, 4)[:3, 3], [0, 0, 0.5])
    assert not scene.actuated[-6:].any()
    pairs = [{touch.first.name, touch.second.name} for touch in soft_constraints(scene).touches]
    assert {"ground", "crate"} in pairs
    assert any("crate" in pair and "ground" not in pair for pair in pairs)


def test_things_touch_by_their_own_friction() -> None:
    scene = kt.zoo.load("cart_pole").on_ground(-2.0, friction=0.9).with_free_body("sphere", 0.1, mass=1.0, friction=0.2)
    (touch,) = [
        one for one in soft_constraints(scene).touches if {one.first.name, one.second.name} == {"ground", "object"}
    ]
    assert touch.friction[0] == 0.2  # what was added last


def test_obstacles_are_shapes_of_the_root() -> None:
    dog = kt.zoo.load("quadruped")
    scene = dog.with_obstacle("cylinder", (0.2, 0.4), UP)
    assert (scene.root, scene.q_names) == ("world", dog.q_names)
    twice = scene.with_obstacle("sphere", 0.3, name="ball")
    assert [(s.name, s.shape, s.size) for s in twice.bodies["world"].geometry] == [
        ("obstacle", "cylinder", (0.2, 0.4)),
        ("ball", "sphere", (0.3,)),
    ]
    assert kt.from_text(kt.to_text(twice)) == twice


@pytest.mark.parametrize(
    ("shape", "size", "message"),
    [
        ("cube", 1.0, "can be no 'cube'"),
        (3, 1.0, "can be no 3"),
        ("box", 1.0, "the size of a box is its edges along x, y and z"),
        ("sphere", -1.0, "the size of a sphere is its radius"),
        ("capsule", (0.1, np.inf), "the size of a capsule is its radius, and the length between"),
    ],
)
def test_impossible_shapes_are_reported(shape: object, size: object, message: str) -> None:
    robot = kt.zoo.load("double_pendulum")
    with pytest.raises(kt.errors.ModelError, match=message):
        robot.with_obstacle(shape, size)  # type: ignore[arg-type]
    with pytest.raises(kt.errors.ModelError, match=message):
        robot.with_free_body(shape, size, mass=1.0)  # type: ignore[arg-type]


def test_names_already_used_are_reported() -> None:
    robot = kt.zoo.load("double_pendulum")
    crate = robot.with_free_body("sphere", 0.1, mass=1.0)
    with pytest.raises(kt.errors.ModelError, match="has a shape named 'object' already"):
        crate.with_free_body("sphere", 0.1, mass=1.0)
    with pytest.raises(kt.errors.ModelError, match="has a body or frame 'base' already"):
        robot.with_free_body("sphere", 0.1, mass=1.0, name=robot.root)
    with pytest.raises(kt.errors.OptionError, match="mass"):
        robot.with_free_body("sphere", 0.1)


def random_things(seed: int, *, at_once: bool) -> kt.Model:
    """A robot with random things in its world; assembled after each, or at the end."""
    rng = np.random.default_rng(seed)
    scene = kt.zoo.load(str(rng.choice(["cart_pole", "quadruped", "ragdoll"])))
    if rng.integers(2):
        scene = scene.on_ground(friction=0.7)
    for k in range(int(rng.integers(1, 8))):
        shape, size = (("sphere", 0.1), ("box", (0.1, 0.2, 0.3)))[int(rng.integers(2))]
        place = kt.lie.placement(tuple(rng.normal(size=3)))
        friction = 0.1 * k if rng.integers(2) else None
        if rng.integers(3):
            scene = scene.with_free_body(shape, size, place, mass=1.0 + k, friction=friction, name=f"thing{k}")
        else:
            scene = scene.with_obstacle(shape, size, place, friction=friction, name=f"thing{k}")
        if rng.integers(4) == 0 or at_once:
            assert scene.nq
    return scene


def test_a_scene_that_is_assembled_at_the_end_is_the_one_that_is_assembled_step_by_step() -> None:
    for seed in range(20):
        assert_alike(seed)


def assert_alike(seed: int) -> None:
    later, step_by_step = random_things(seed, at_once=False), random_things(seed, at_once=True)
    assert later == step_by_step
    assert later.notes == step_by_step.notes
    assert repr(later) == repr(step_by_step)
    assert list(later.joints) == list(step_by_step.joints)
    assert [body.geometry for body in later.bodies.values()] == [body.geometry for body in step_by_step.bodies.values()]
    assert fingerprint(later) == fingerprint(step_by_step)


def balls(scene: kt.Model, *numbers: int) -> kt.Model:
    for k in numbers:
        scene = scene.with_free_body("sphere", 0.1, mass=1.0, name=f"ball{k}")
    return scene


def test_scenes_that_begin_alike_have_their_own_things() -> None:
    trunk = balls(kt.zoo.load("cart_pole"), 0, 1)
    one = balls(trunk, 2)
    other = balls(trunk, 3, 2)
    third = balls(one, 3)
    assert [[name for name in robot.bodies if "ball" in name] for robot in (trunk, one, other, third)] == [
        ["ball0", "ball1"],
        ["ball0", "ball1", "ball2"],
        ["ball0", "ball1", "ball3", "ball2"],
        ["ball0", "ball1", "ball2", "ball3"],
    ]
    assert balls(trunk, 2) == one


def test_hundreds_of_things_are_put_together_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bodies that are assembled, one by one and together, are proportional to the number of calls."""
    assembled = []
    build = building.build
    monkeypatch.setattr(
        model, "build", lambda parts, **more: assembled.append(len(parts.links)) or build(parts, **more)
    )
    scene = balls(kt.zoo.load("cart_pole").on_ground(), *range(150))
    assert scene.nq == 2 + 7 * 150
    on_ground, *alone, whole = assembled
    assert (on_ground, alone, whole) == (4, [2] * 150, 154)
    calls = []
    for count in (50, 100, 200):
        begin = kt.zoo.load("cart_pole").on_ground()
        calls.append(calls_of(lambda: balls(begin, *range(count)).nq))  # noqa: B023
    assert calls[2] - calls[1] < 2.1 * (calls[1] - calls[0])


def test_mistakes_are_reported_where_they_are_made() -> None:
    """Although the robot is assembled later."""
    robot = balls(kt.zoo.load("cart_pole"), 0, 1)
    for name, what in (("ball1", "shape named"), ("cart", "body or frame"), ("wall", "shape named")):
        with pytest.raises(kt.errors.ModelError, match=f"has a {what} '{name}' already"):
            robot.with_obstacle("sphere", 0.1, name="wall").with_free_body("sphere", 0.1, mass=1.0, name=name)
    with pytest.raises(kt.errors.ModelError, match="has a shape named 'ball0' already, on 'ball0'"):
        robot.with_obstacle("sphere", 0.1, name="ball0")
    with pytest.raises(kt.errors.ModelError, match="characters that control the output"):
        robot.with_free_body("sphere", 0.1, mass=1.0, name="ball\n")
    skewed = Transform(Mat3(Vec3(1.001, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)), Vec3.zero())
    with pytest.raises(kt.errors.ModelError, match="the E of its placement is not a rotation matrix"):
        robot.with_free_body("sphere", 0.1, skewed, mass=1.0)
    with pytest.raises(kt.errors.ModelError, match="1e\\+100 m or more away"):
        robot.with_free_body("sphere", 0.1, kt.lie.placement((1e101, 0.0, 0.0)), mass=1.0)
    with pytest.raises(kt.errors.ModelError, match="overflow"):
        robot.with_free_body("sphere", 0.1, mass=1e101)
    with pytest.raises(kt.errors.OptionError, match="mass"):
        robot.with_free_body("sphere", 0.1, mass=-1.0)


def test_a_coordinate_name_already_used_is_reported_where_it_is_made() -> None:
    builder = kt.ModelBuilder.of(kt.zoo.load("cart_pole"))
    builder.add_body("extra", kt.solids.sphere(0.1, mass=1.0))
    builder.add_joint("ball_joint.x", kt.Revolute([0, 0, 1]), "cart", "extra")
    robot = balls(builder.build(), 0)
    with pytest.raises(kt.errors.ModelError, match=r"both have coordinates named 'ball_joint\.x'"):
        robot.with_free_body("sphere", 0.1, mass=1.0, name="ball")
    assert robot.with_free_body("sphere", 0.1, mass=1.0, name="ball1").nq == 17


def test_a_joint_whose_name_is_taken_gets_another() -> None:
    builder = kt.ModelBuilder.of(kt.zoo.load("cart_pole"))
    builder.add_body("extra", kt.solids.sphere(0.1, mass=1.0))
    builder.add_joint("ball0_joint", kt.Fixed(), "cart", "extra")
    assert list(balls(builder.build(), 1, 0).joints)[-2:] == ["ball1_joint", "ball0_joint_"]


def test_an_assembled_scene_does_not_keep_the_robot_that_it_was_made_from() -> None:
    ground = kt.zoo.load("cart_pole").on_ground()
    known, scene = weakref.ref(ground), balls(ground, 0, 1)
    del ground
    assert known() is not None
    assert scene.nq == 16
    assert known() is None


def test_threads_that_ask_first_get_one_robot() -> None:
    for _ in range(20):
        scene = balls(kt.zoo.load("cart_pole"), *range(5))
        with ThreadPoolExecutor(8) as pool:
            trees = [*pool.map(lambda _: scene.tree, range(8))]  # noqa: B023
        assert all(tree is scene.tree for tree in trees)


def test_a_robot_that_is_not_assembled_yet_goes_into_pickles_and_copies() -> None:
    assert pickle.loads(pickle.dumps(balls(kt.zoo.load("cart_pole"), 0))) == balls(kt.zoo.load("cart_pole"), 0)
    assert copy.deepcopy(balls(kt.zoo.load("cart_pole"), 0)) == balls(kt.zoo.load("cart_pole"), 0)
    assert hash(balls(kt.zoo.load("cart_pole"), 0)) == hash(balls(kt.zoo.load("cart_pole"), 0))
    with pytest.raises(AttributeError, match="no attribute 'tre'"):
        balls(kt.zoo.load("cart_pole"), 0).tre  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(kt.errors.FrozenError):
        balls(kt.zoo.load("cart_pole"), 0).name = "other"  # type: ignore[misc]


def test_a_thing_that_cannot_exist_is_warned_of_once_where_it_is_put() -> None:
    robot = kt.zoo.load("cart_pole")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        thin = robot.with_free_body("cylinder", (1e-9, 1.0), mass=1.0)
        count = len(warned)
        assert thin.nq == 9
        assert [str(one.message) for one in warned[count:]] == []
    assert thin.singular_joints == balls(robot, 0).with_free_body("cylinder", (1e-9, 1.0), mass=1.0).singular_joints


MOVED = """<mujoco><worldbody>
  <body name="hand" mocap="true" pos="1 2 3" quat="1 1 0 0"><geom name="hand" size="0.1"/>
    <body name="flap" pos="0 0.3 0"><joint name="hinge" axis="1 0 0"/><geom size="0.05" pos="0 0.2 0"/></body></body>
  <body name="tray" mocap="true"><geom name="tray" type="box" size="0.1 0.1 0.1"/></body>
</worldbody><keyframe><key name="there" mpos="0.1 0.2 0.3 0 0 1" mquat="1 0 0 0 1 0 2 0"/></keyframe></mujoco>"""


@pytest.fixture
def moved(tmp_path: Path) -> kt.Model:
    (tmp_path / "moved.xml").write_text(MOVED)
    return kt.load(tmp_path / "moved.xml")


def test_mocap_bodies_are_where_mujoco_has_them(moved: kt.Model) -> None:
    m = mujoco.MjModel.from_xml_string(MOVED)
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    d.qpos[:] = 0.7
    mujoco.mj_forward(m, d)
    there = moved.with_mocap("there")
    for name in ("hand", "flap", "tray"):
        T = reference(kt.frame_placement, there, np.array([0.7]), frame=name).reshape(4, 4)
        close(T[:3, 3], d.body(name).xpos)
        close(T[:3, :3], d.body(name).xmat.reshape(3, 3))
    assert there.notes[0] == "mocap bodies put elsewhere: as in the keyframe 'there'"
    hand = kt.lie.placement((0.1, 0.2, 0.3))
    assert moved.with_mocap({"hand": hand}).with_mocap({"tray": T}) == there
    assert (moved.nq, there.nq) == (1, 1)


def test_poses_of_what_is_no_mocap_body_are_refused(moved: kt.Model) -> None:
    with pytest.raises(kt.errors.NameNotFoundError, match="has no mocap body 'flap'"):
        moved.with_mocap({"flap": np.eye(4)})
    with pytest.raises(kt.errors.NameNotFoundError, match="has no keyframe 'home'"):
        moved.with_mocap("home")
    with pytest.raises(kt.errors.ModelError, match="with_mocap takes poses by body"):
        moved.with_mocap([np.eye(4)])  # type: ignore[arg-type]
    with pytest.raises(kt.errors.ModelError, match="the pose of 'hand'"):
        moved.with_mocap({"hand": np.zeros(3)})
    with pytest.raises(kt.errors.ModelError, match="has no bodies that are moved from outside"):
        kt.zoo.load("arm6").with_mocap({})


def test_mujoco_has_the_heights_of_a_terrain(tmp_path: Path) -> None:
    heights = [[0.0, 0.1, 0.3, 0.2], [-0.2, 0.0, 0.1, 0.5], [0.4, 0.1, 0.2, 0.0]]  # y = -1, 0, 1; x = -1.5 … 1.5
    scene = kt.zoo.load("ragdoll").on_terrain(heights, size=(3.0, 2.0))
    kt.save(scene, tmp_path / "scene.xml")
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "scene.xml"))
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    for row, y in zip(heights, (-1.0, 0.0, 1.0), strict=True):
        for z, x in zip(row, (-1.5, -0.5, 0.5, 1.5), strict=True):
            above = np.array([0.999 * x, 0.999 * y, 9.0])
            down = mujoco.mj_ray(m, d, above, np.array([0.0, 0.0, -1.0]), None, 1, -1, np.zeros(1, np.int32))
            assert 9.0 - down == pytest.approx(z, abs=2e-3)


def test_hills_have_the_steepness_that_is_asked_for() -> None:
    rough = [hills(12.0, 9.0, 0.1, 0.2, seed) for seed in range(20)]
    slopes = [np.concatenate([x.ravel() for x in np.gradient(h[:-1, :-1], 0.1)]) for h in rough]
    assert np.sqrt(2.0 * np.mean(np.square(slopes))) == pytest.approx(0.2, rel=0.1)
    assert rough[0].shape == (91, 121)
    assert rough[0][45, 60] == 0.0
    assert not np.allclose(rough[0], rough[1])
    dog = kt.zoo.load("quadruped")
    assert dog.on_terrain(seed=2) == dog.on_terrain(seed=2)
    assert dog.on_terrain(seed=2) != dog.on_terrain(seed=3)
    arm = kt.zoo.load("arm6").on_terrain(np.zeros((2, 2)))
    assert (arm.root, arm.bodies[arm.root].geometry[-1].shape) == ("base", "heightfield")
    assert kt.from_text(kt.to_text(arm)) == arm


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"heights": [[1.0, 2.0]]},
            r"heights must have the shape \(rows, columns\), at least 2 x 2 of them, not \(1, 2\)",
        ),
        ({"heights": [[1.0, np.nan], [0.0, 0.0]]}, r"heights\[0, 1\] is nan: heights are finite numbers of metres"),
        ({"size": (1.0, 0.0)}, "size must be the lengths along x and y"),
        ({"spacing": 0.0}, "spacing must be a positive number"),
        ({"steepness": np.inf}, "steepness must be a positive number"),
        ({"seed": -1}, "seed must be a whole number from 0 on"),
        ({"name": ""}, "the terrain's name must be a string"),
    ],
)
def test_impossible_terrains_are_reported(given: dict[str, object], message: str) -> None:
    with pytest.raises((kt.errors.ModelError, kt.errors.OptionError), match=message):
        kt.zoo.load("quadruped").on_terrain(**given)  # type: ignore[arg-type]

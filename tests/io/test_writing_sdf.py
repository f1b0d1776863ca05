"""SDF files that kinetree writes: what comes back of them, what they look like, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import kinetree as kt
from kinetree.io.texts import written
from kinetree.joints import JointKind
from kinetree.model import Geometry, Limits, Mimic, Rotor
from kinetree.spatial import Inertia, Sym3, Vec3
from tests.io.round_trips import BY_ANGLES, came_back, differences, sdf_robots
from tests.laws.reference import reference
from tests.robots import load_robot
from tests.strategies import law, trees

BODY = Inertia.from_com(1.0, Vec3(0.1, 0.2, 0.3), Sym3(0.2, 0.25, 0.3, 0.01, 0.02, 0.03))
TURNED = kt.lie.placement((0.1, -0.2, 0.3), rpy=(0.1, 0.2, 0.3))


def one_joint(kind: JointKind, *, root: str = "world", **options: Any) -> kt.Model:
    builder = kt.ModelBuilder("one joint", gravity=options.pop("gravity", (0, 0, -9.81)))
    builder.add_body(root)
    builder.add_body("tip", options.pop("inertia", BODY), geometry=options.pop("geometry", ()))
    builder.add_joint(options.pop("name", "j"), kind, root, "tip", options.pop("placement", TURNED), **options)
    return builder.build()


def losses_of(robot: kt.Model) -> list[str]:
    return written(robot, "sdf")[1].lost


@law(12)
@given(sdf_robots())
def test_a_robot_that_sdf_can_hold_comes_back(robot: kt.Model) -> None:
    text, losses = written(robot, "sdf")
    assert (losses.lost, losses.changed, losses.impossible) == ([], [], [])
    again = came_back(robot, ".sdf")
    error, where = differences(robot, again)
    assert error <= BY_ANGLES, where
    assert text.count("<link ") == len(robot.bodies) - (robot.root == "world")


@law(12)
@given(trees())
def test_any_robot_comes_back_or_a_loss_is_reported(robot: kt.Model) -> None:
    _, losses = written(robot, "sdf")
    if not (losses.lost or losses.changed or losses.impossible):
        assert differences(robot, came_back(robot, ".sdf"))[0] <= BY_ANGLES
    elif not (losses.lost or losses.impossible):
        again = came_back(robot, ".sdf")
        assert differences(again, came_back(again, ".sdf"))[0] <= BY_ANGLES
        q = robot.random(1)
        if again.nq == robot.nq and not robot.quaternions:
            assert np.allclose(kt.crba(again, q), kt.crba(robot, q), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["panda", "solo12", "ur5_robot"])
def test_a_real_robot_has_the_same_equations(name: str) -> None:
    robot = load_robot(name, mimic=True)
    _, losses = written(robot, "sdf")
    again = came_back(robot, ".sdf", lossy=True)
    moving = [joint for joint in losses.lost if joint.startswith("joint")]
    assert moving == []
    rng = np.random.default_rng(1)
    q, v, qdd = robot.random(2), *rng.normal(size=(2, robot.nv))
    assert np.allclose(kt.crba(again, q), kt.crba(robot, q), rtol=1e-12, atol=1e-12)
    assert np.allclose(kt.rnea(again, q, v, qdd), kt.rnea(robot, q, v, qdd), rtol=1e-11, atol=1e-11)


def test_the_text_is_short_and_readable() -> None:
    limits = Limits((-1.0,), (math.inf,), (2.0,), (math.inf,))
    skin = Geometry(
        "visual", "cylinder", (0.1, 1.0), kt.lie.placement((0, 0, -0.5)), "skin", color=(1.0, 0.5, 0.0, 1.0)
    )
    inertia = Inertia.from_com(2.0, Vec3(0.0, 0.0, -1.0), Sym3.scalar(0.008))
    kind = kt.joints.Placed(kt.Revolute([0, 1, 0]), kt.lie.placement((0.0, 0.0, -0.25)))
    robot = one_joint(
        kind, limits=limits, damping=[0.1], stiffness=[3.0], armature=[0.5], inertia=inertia, geometry=[skin]
    )
    assert (
        kt.to_text(robot, "sdf")
        == """\
<?xml version="1.0" encoding="utf-8"?>
<sdf version="1.11" xmlns:drake="http://drake.mit.edu">
  <model name="one joint">
    <link name="tip">
      <pose relative_to="j">0 0 -0.25 0 0 0</pose>
      <inertial>
        <pose>0 0 -1 0 0 0</pose>
        <mass>2</mass>
        <inertia>
          <ixx>0.008</ixx>
          <ixy>0</ixy>
          <ixz>0</ixz>
          <iyy>0.008</iyy>
          <iyz>0</iyz>
          <izz>0.008</izz>
        </inertia>
      </inertial>
      <visual name="skin">
        <pose>0 0 -0.5 0 0 0</pose>
        <geometry>
          <cylinder>
            <radius>0.1</radius>
            <length>1</length>
          </cylinder>
        </geometry>
        <material>
          <ambient>1 0.5 0 1</ambient>
          <diffuse>1 0.5 0 1</diffuse>
        </material>
      </visual>
    </link>
    <joint name="j" type="revolute">
      <pose relative_to="__model__">0.1 -0.2 0.3 0.1 0.2 0.3</pose>
      <parent>world</parent>
      <child>tip</child>
      <axis>
        <xyz>0 1 0</xyz>
        <limit>
          <lower>-1</lower>
          <velocity>2</velocity>
        </limit>
        <dynamics>
          <damping>0.1</damping>
          <spring_stiffness>3</spring_stiffness>
        </dynamics>
      </axis>
      <drake:rotor_inertia>0.5</drake:rotor_inertia>
    </joint>
  </model>
</sdf>
"""
    )


TURN = kt.Revolute([0, 0, 1])
IMPOSSIBLE = Inertia(1.0, Vec3.zero(), Sym3(1.0, 1.0, 3.0, 0.0, 0.0, 0.0))
MASSLESS = Inertia(0.0, Vec3.zero(), Sym3.scalar(1.0))
RED = Geometry("collision", "sphere", (1.0,), TURNED, "s", color=(1.0, 0.0, 0.0, 1.0))
ENDLESS = Geometry("visual", "plane", (math.inf, 1.0), TURNED, "s")
LOSSES: dict[str, tuple[JointKind, dict[str, Any], str]] = {
    "gravity": (TURN, {"gravity": (0, 0, -1.62)}, "gravity is (0, 0, -1.62), which is a world's"),
    "friction speed": (TURN, {"friction_speed": [3.0]}, "has a speed within which friction is smoothed"),
    "rotor": (TURN, {"rotor": Rotor(0.1, 50.0)}, "has a rotor"),
    "no motor": (TURN, {"actuated": False}, "has a motor or none other than SDF would say"),
    "effort zero": (TURN, {"limits": Limits((-1.0,), (1.0,), (1.0,), (0.0,))}, "has a motor or none other"),
    "large limit": (TURN, {"limits": Limits((-1.0,), (1.0,), (2e16,), (1.0,))}, "has a limit of 1e16 or more"),
    "armature of a ball": (kt.joints.Spherical(), {"armature": [1.0] * 3}, "has armature"),
    "spring of a ball": (kt.joints.Spherical(), {"stiffness": [1.0] * 3}, "has a spring"),
    "limits of a ball": (kt.joints.Spherical(), {"limits": Limits((-1.0,) * 4, (1.0,) * 4, (1.0,) * 3, (1.0,) * 3)},
        "limits"),
    "damping of a ball": (kt.joints.Spherical(), {"damping": [1.0, 2.0, 3.0]}, "has damping or friction that differs"),
    "stops": (kt.joints.Continuous([0, 0, 1]), {"limits": Limits((-1.0,), (1.0,), (1.0,), (1.0,))},
        "is continuous, but"),
    "planar": (kt.joints.Planar(), {}, "(planar across z) has no word in SDF"),
    "invalid inertia": (TURN, {"inertia": IMPOSSIBLE}, "which SDF calls invalid: its principal moments"),
    "inertia alone": (TURN, {"inertia": MASSLESS}, "has inertia but no mass; SDF calls that invalid"),
    "names": (TURN, {"name": "tip"}, "joint 'tip' has the name of a body or frame, so in SDF it is called 'tip_joint'"),
    "blanks": (TURN, {"name": " j "}, "the name of joint ' j ' begins or ends with blanks"),
    "endless plane": (TURN, {"geometry": [ENDLESS]}, "without bounds"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
@pytest.mark.parametrize("what", LOSSES)
def test_what_sdf_cannot_hold_is_refused(what: str) -> None:
    kind, options, message = LOSSES[what]
    robot = one_joint(kind, **options)
    assert len(losses_of(robot)) == 1
    assert message in losses_of(robot)[0]
    with pytest.raises(kt.errors.ModelError, match="cannot be written as SDF without loss:\n"):
        kt.to_text(robot, "sdf")


def test_the_colour_of_a_collision_shape_is_left_out_with_a_warning() -> None:
    with pytest.warns(
        kt.errors.ModelWarning, match=r"SDF computes with:\n  colours of collision shapes \(1\): 's' of 'tip'$"
    ):
        kt.to_text(one_joint(TURN, geometry=[RED]), "sdf")


@pytest.mark.parametrize("kind", [kt.joints.Ellipsoid([1, 2, 3]), kt.joints.ExponentialMap()], ids=repr)
def test_kinds_without_a_substitute_are_refused_even_with_losses(kind: JointKind) -> None:
    with pytest.raises(kt.errors.ModelError, match="has neither a word in SDF nor a substitute"):
        kt.to_text(one_joint(kind, root="base"), "sdf", lossy=True)


def test_a_free_body_on_one_that_moves_is_refused() -> None:
    builder = kt.ModelBuilder("carrier")
    for name in ("base", "arm", "box"):
        builder.add_body(name, BODY)
    builder.add_joint("j", TURN, "base", "arm", TURNED)
    builder.add_joint("loose", kt.Free(), "arm", "box")
    with pytest.raises(
        kt.errors.ModelError, match=r"'loose' \(free\) has neither a word in SDF .* except on a body at rest"
    ):
        kt.to_text(builder.build(), "sdf", lossy=True)


@pytest.mark.parametrize("name", ["a::b", "__model__", "world"])
def test_reserved_names_are_refused(name: str) -> None:
    with pytest.raises(kt.errors.ModelError, match=f"the name of joint '{name}' has another meaning in SDF; rename it"):
        kt.to_text(one_joint(TURN, name=name), "sdf", lossy=True)


SPOILED = [
    Inertia(
        1.1e9,
        Vec3(1.446e9, -1877644885042580.8, 256340705998889.9),
        Sym3(
            *(3.264782610856214e21, 5.973687050906178e19, 3.205045740353147e21),
            *(2468241906273065.5, -336969354277813.5, 4.375607413304975e20),
        ),
    ),
    Inertia(
        1.89,
        Vec3(10818103737.826, 2125553540.8951988, 1890013041586994.0),
        Sym3(
            *(1.8900260835444602e30, 1.8900260834914224e30, 3.2757309900817695e20),
            *(-3.2151424109893726e19, -1.0818100008893964e25, -2.1255076838577293e24),
        ),
    ),
]


@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
@pytest.mark.parametrize("inertia", SPOILED, ids=["a rod", "points"])
def test_an_inertia_that_is_mostly_rounding_is_read_again(inertia: Inertia, tmp_path: Path) -> None:
    """The file has the entries about the centre of mass, which are far smaller than those about the frame."""
    robot = one_joint(TURN, inertia=inertia)
    assert kt.load(kt.save(robot, tmp_path / "robot.sdf", lossy=True)).mass == inertia.mass


@pytest.mark.parametrize(
    ("robot", "body", "message"),
    [
        ("world", "b", "the name of robot 'world' has another meaning in SDF"),
        ("r", "b" * 5000, "is 5,000 characters long; the limit is 4,096"),
        ("r", " base ", "the name of body ' base ' is another part's without blanks around it"),
        ("r", "world", "the name of body 'world' has another meaning in SDF"),
    ],
)
def test_names_that_sdf_has_no_place_for_are_refused(robot: str, body: str, message: str) -> None:
    builder = kt.ModelBuilder(robot)
    builder.add_body("base", BODY)
    builder.add_body(body, BODY)
    builder.add_joint("j", kt.Free(), "base", body)
    with pytest.raises(kt.errors.ModelError, match=message):
        kt.to_text(builder.build(), "sdf", lossy=True)


def test_changes_of_form_are_reported_and_written() -> None:
    shapes = [Geometry("visual", "box", (1.0, 2.0, 3.0), TURNED, name) for name in ("", "a", "a", "visual")]
    robot = one_joint(kt.joints.Placed(TURN, TURNED, TURNED), root="base", geometry=shapes)
    changed = written(robot, "sdf")[1].changed
    assert sorted(sentence.split("'")[1] for sentence in changed) == ["base", "j", "tip", "tip"]
    again = came_back(robot, ".sdf")
    assert [shape.name for shape in again.bodies["tip"].geometry] == ["visual_2", "a", "a_2", "visual"]
    assert again.root == "world"
    q = np.array([0.3])
    assert np.allclose(kt.frame_placement(again, q, "tip"), kt.frame_placement(robot, q, "tip"), atol=1e-15)
    assert np.allclose(kt.crba(again, q), kt.crba(robot, q), rtol=1e-13)


def test_one_free_joint_on_the_world_is_a_floating_base() -> None:
    robot = one_joint(kt.Free(), placement=None)
    again = came_back(robot, ".sdf")
    assert again.floating_base
    assert "base floats" in written(robot, "sdf")[1].changed[0]


@pytest.mark.parametrize("root", ["world", "base"])
def test_a_free_body_on_a_body_at_rest_floats(root: str) -> None:
    builder = kt.ModelBuilder("scene")
    for name in (root, "shelf", "box"):
        builder.add_body(name, BODY if name != root else None)
    builder.add_joint("fixed", kt.Fixed(), root, "shelf", TURNED)
    builder.add_joint("box_joint", kt.Free(), "shelf", "box", kt.lie.placement((0.1, 0.2, 0.3)))
    robot = builder.build()
    lost = "robot.extras.reference_configuration (one record) has no place in SDF"
    assert losses_of(robot) == [lost]
    again = came_back(robot, ".sdf", lossy=True)
    position = kt.frame_placement(robot, robot.neutral(), "box")
    q = np.concatenate([position[:3, 3], kt.spatial.Transform.from_matrix(position).quaternion])
    assert np.allclose(kt.frame_placement(again, q, "box"), position, atol=1e-14)
    assert np.allclose(kt.frame_placement(again, q, "shelf"), kt.frame_placement(robot, robot.neutral(), "shelf"))


FLOOR = Geometry("collision", "plane", (1.0, 1.0), TURNED)


def test_what_is_on_the_world_is_lost_in_words() -> None:
    builder = kt.ModelBuilder("scene")
    builder.add_body("world", kt.solids.sphere(0.1, mass=1.0), geometry=[FLOOR])
    builder.add_body("ball", BODY)
    builder.add_joint("free", kt.Free(), "world", "ball")
    builder.add_frame("camera", "world", TURNED)
    robot = builder.build()
    for words in ("shapes of the world (a plane)", "frame 'camera' is on the world", "body 'world' has mass"):
        assert any(words in loss for loss in losses_of(robot))
    again = came_back(robot, ".sdf", lossy=True)
    assert again.floating_base
    assert list(again.bodies) == ["ball"]


def test_a_world_without_links_is_refused() -> None:
    builder = kt.ModelBuilder("nothing")
    builder.add_body("world")
    with pytest.raises(
        kt.errors.ModelError, match="the robot has no body but the world, and a model in SDF needs a link"
    ):
        kt.to_text(builder.build(), "sdf", lossy=True)


def test_two_free_joints_on_the_world_come_back() -> None:
    builder = kt.ModelBuilder("two")
    builder.add_body("world")
    for name in ("a", "b"):
        builder.add_body(name, BODY)
        builder.add_joint(f"{name}_joint", kt.Free(), "world", name)
    assert came_back(builder.build(), ".sdf") == builder.build()


def test_followers_follow() -> None:
    builder = kt.ModelBuilder("gripper")
    for name in ("world", "a", "b"):
        builder.add_body(name, BODY if name != "world" else None)
    builder.add_joint("left", kt.joints.Helical([1, 0, 0], 0.1), "world", "a")
    builder.add_joint("right", kt.joints.Continuous([0, 0, 1]), "world", "b", mimic=Mimic("left", -1.5, 0.1))
    assert came_back(builder.build(), ".sdf") == builder.build()


@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
@pytest.mark.parametrize("name", ["go1", "icub", "tiago", "pr2", "romeo_small"])
def test_what_is_written_with_losses_is_read_again(name: str) -> None:
    """Inertias that SDF calls invalid become part of those of bodies around, or the nearest that are none."""
    robot = load_robot(name, mimic=True)
    again = came_back(robot, ".sdf", lossy=True)
    _, losses = written(robot, "sdf")
    changed = [loss for loss in losses.lost if "moves differently" in loss]
    q = robot.random(0)
    M = reference(kt.crba, robot, q)
    assert (np.abs(reference(kt.crba, again, q) - M).max() < 1e-9 * M.max()) == (not changed)
    assert [loss.split("'")[1] for loss in changed] == (
        ["RShoulderYawLink", "RElbowYawLink"] if name == "romeo_small" else []
    )


def test_a_joint_away_from_its_link_comes_back_exactly() -> None:
    after = kt.lie.placement((1.485, 1.491, -0.972), rpy=(1.988, 0.0, 0.0))
    robot = one_joint(kt.joints.Placed(kt.joints.Helical([-0.99, 0.02, 0.125], 0.12), after), placement=TURNED)
    kind = came_back(robot, ".sdf").joints["j"].kind
    assert isinstance(kind, kt.joints.Placed)
    assert kind.after == after


TREES = {
    "both on one body": ("a", "b", "a", "c"),
    "both on bodies that are fixed together": ("base", "b", "a", "c"),
    "the second on the first": ("a", "b", "b", "c"),
    "the first on the second": ("b", "c", "a", "b"),
}


def gears(tree: tuple[str, str, str, str], *, root: str = "base", **options: Any) -> kt.Model:
    """Two hinges between the bodies of `tree`: parent and child of the first, then of the second."""
    first, one, second, other = tree
    builder = kt.ModelBuilder("gears")
    builder.add_body(root, BODY if root != "world" else None)
    for name in "abc":
        builder.add_body(name, BODY)
    builder.add_joint("base_a", kt.Fixed(), root, "a", TURNED)
    hinge = kt.joints.Placed(kt.Revolute([0, 1, 0]), kt.lie.placement((0, 0, 0.2)))
    builder.add_joint("j1", options.pop("kind", hinge), root if first == "base" else first, one, TURNED)
    builder.add_joint("j2", kt.joints.Continuous([0, 0.6, 0.8]), root if second == "base" else second, other, TURNED)
    matrix, names = options.pop("matrix", [[1.0], [-2.5]]), options.pop("coordinates", ["angle"])
    builder.add_coupling("gears", ["j1", "j2"], matrix, coordinates=names, **options)
    return builder.build(floating_base=root == "base")


@pytest.mark.parametrize("root", ["base", "world"])
@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_a_coupling_of_two_hinges_is_a_gearbox(tree: tuple[str, str, str, str], root: str) -> None:
    robot = gears(tree, root=root)
    text, losses = written(robot, "sdf")
    if root == "world" and "base" in tree:
        assert "two hinges on one body that is not the world" in losses.lost[0]
        return
    assert (losses.lost, losses.impossible) == ([], [])
    assert text.count('type="gearbox"') == 1
    again = came_back(robot, ".sdf")
    assert differences(robot, again)[0] <= 1e-15
    q = robot.random(1)
    np.testing.assert_allclose(kt.crba(again, q), kt.crba(robot, q), rtol=1e-12, atol=1e-12)


NO_GEARS: dict[str, tuple[dict[str, Any], str]] = {
    "an offset": ({"offset": [0.1, 0.0]}, "has offsets"),
    "another coordinate": ({"matrix": [[2.0], [1.0]]}, "another coordinate than the first hinge's angle"),
    "another name": ({"coordinates": ["turn"]}, "is called \"angle\", and not 'turn'"),
    "no motor": ({"actuated": False}, "has no motor"),
    "a slide": ({"kind": kt.Prismatic([1, 0, 0])}, "these are not two hinges"),
}


@pytest.mark.parametrize("what", NO_GEARS)
def test_couplings_that_no_gearbox_is_are_lost(what: str) -> None:
    options, message = NO_GEARS[what]
    (lost,) = losses_of(gears(TREES["both on one body"], **options))
    assert "coupling 'gears'" in lost
    assert message in lost

"""MJCF files that kinetree writes: what MuJoCo computes of them, what comes back, what they look like."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import kinetree as kt
from kinetree.io.texts import written
from kinetree.joints import JointKind
from kinetree.model import Geometry, Limits, Mimic, Rotor
from kinetree.model.extras import (
    ContactParameters,
    Extras,
    JointState,
    Keyframe,
    SimulationFlags,
    SimulationOptions,
    Unused,
)
from kinetree.model.extras.bodies import Site
from kinetree.model.extras.contacts import ContactExclusion, ContactPair
from kinetree.model.extras.joints import Calibration
from kinetree.model.reference import reference_configuration
from kinetree.spatial import Inertia, Sym3, Vec3
from tests.io.round_trips import BY_QUATERNION, came_back, differences, mjcf_robots
from tests.robots import load_robot
from tests.strategies import law

mujoco = pytest.importorskip("mujoco")

BODY = Inertia.from_com(1.0, Vec3(0.1, 0.2, 0.3), Sym3(0.2, 0.25, 0.3, 0.01, 0.02, 0.03))
TURNED = kt.lie.placement((0.1, -0.2, 0.3), rpy=(0.1, 0.2, 0.3))
TURN = kt.Revolute([0, 0, 1])
SOLID = ContactParameters(friction=(0.5, 0.005, 0.0001))


def one_joint(kind: JointKind, *, root: str = "world", floating_base: bool = False, **options: Any) -> kt.Model:
    builder = kt.ModelBuilder("one joint")
    builder.add_body(root, BODY if floating_base else None)
    builder.add_body("tip", options.pop("inertia", BODY), geometry=options.pop("geometry", ()))
    builder.add_joint("j", kind, root, "tip", options.pop("placement", TURNED), **options)
    return builder.build(floating_base=floating_base)


def equations(robot: kt.Model, text: str) -> tuple[float, float]:
    """The largest differences of M(q) and of the bias forces from MuJoCo's, relative to the largest entries."""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    q, v = robot.random(0), np.random.default_rng(0).normal(size=robot.nv)
    P = np.zeros((model.nv, robot.nv))
    names = [name for joint in robot.joints.values() for name in ([joint.name] if joint.kind.nq in (1, 4) else [])]
    coordinates = dict(zip(robot.q_names, q, strict=True))
    for k in range(model.njnt):
        joint = model.joint(k)
        if joint.name in names and robot.joints[joint.name].kind.nq == 4:
            own = robot.joints[joint.name]
            x, y, z, w = q[own.q_slice]
            data.qpos[joint.qposadr[0] : joint.qposadr[0] + 4] = w, x, y, z
            P[joint.dofadr[0] : joint.dofadr[0] + 3, own.v_slice] = np.eye(3)
        else:
            data.qpos[joint.qposadr[0]] = coordinates[joint.name]
            P[joint.dofadr[0], robot.v_names.index(joint.name)] = 1.0
    data.qvel[:] = P @ v
    mujoco.mj_forward(model, data)
    M = np.array([_column(model, data, P[:, k]) for k in range(robot.nv)]) @ P
    expected, bias = kt.crba(robot, q), kt.rnea(robot, q, v, np.zeros(robot.nv))
    return (
        float(np.abs(M - expected).max() / np.abs(expected).max()),
        float(np.abs(P.T @ data.qfrc_bias - bias).max() / max(1.0, np.abs(bias).max())),
    )


def _column(model: Any, data: Any, direction: Any) -> Any:
    column = np.zeros(model.nv)
    mujoco.mj_mulM(model, data, column, direction)
    return column


@pytest.mark.parametrize("name", ["arm6", "arm7", "cart_pole", "double_pendulum"])
def test_mujoco_computes_the_same_of_a_robot_of_the_zoo(name: str) -> None:
    robot = kt.zoo.load(name)
    text, losses = written(robot, "mjcf")
    assert losses.impossible == []
    assert max(equations(robot, text)) < 1e-12


@pytest.mark.parametrize("name", ["panda", "ur5_robot", "solo12"])
def test_mujoco_computes_the_same_of_a_real_robot(name: str) -> None:
    robot = load_robot(name)
    text, losses = written(robot, "mjcf")
    assert losses.impossible == []
    assert max(equations(robot, text)) < 1e-9


@law(10)
@given(mjcf_robots())
def test_mujoco_takes_every_robot_that_mjcf_can_hold(robot: kt.Model) -> None:
    text, losses = written(robot, "mjcf")
    assert (losses.lost, losses.changed, losses.impossible) == ([], [], [])
    bare = "".join(line for line in text.splitlines(keepends=True) if "<geom" not in line and "<mesh" not in line)
    model = mujoco.MjModel.from_xml_string(bare)
    assert (model.nq, model.nv) == (robot.nq, robot.nv)
    if not any(joint.kind.nq == 7 for joint in robot.joints.values()):
        assert robot.nv == 0 or max(equations(robot, bare)) < 1e-9


KINDS: list[JointKind] = [
    kt.joints.Universal([1, 0, 0], [0, 1, 1]),
    kt.joints.Cylindrical([1, 1, 0]),
    kt.joints.Planar([0, 1, 1]),
    kt.joints.Euler("ZYX"),
    kt.joints.Euler("XZX", signs=(1, -1, 1), inverse=True),
    kt.joints.Composite([kt.Revolute([1, 2, 3]), (kt.Fixed(), TURNED), kt.joints.Composite([kt.Prismatic([0, 1, 3])])]),
    kt.joints.Placed(kt.Revolute([1, 2, 3]), TURNED, TURNED),
    kt.joints.Placed(kt.joints.Spherical(), TURNED),
    kt.joints.Screw(angular=[0, 0, 1], linear=[0, -0.5, 0]),
    kt.joints.Continuous([0, 1, 0]),
]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_other_kinds_are_several_joints_of_one_body(kind: JointKind) -> None:
    robot = one_joint(kind)
    text, losses = written(robot, "mjcf")
    assert (losses.lost, losses.impossible) == ([], [])
    assert len(losses.changed) == 1
    assert text.count("<body ") == 1
    if robot.q_names[0] in text:
        assert max(equations(robot, text)) < 1e-12


def test_the_text_is_short_and_readable() -> None:
    builder = kt.ModelBuilder("finger", gravity=(0, 0, -1.62))
    builder.add_body("world")
    builder.add_body("base", Inertia.from_com(2.0, Vec3(0.0, 0.0, 0.5), Sym3(0.1, 0.2, 0.25, 0.0, 0.0, 0.0)))
    builder.add_body("tip:bend")
    shape = Geometry(
        "collision", "capsule", (0.1, 1.0), kt.lie.placement((0, 0, 0.5)), "skin", color=(1, 0.5, 0, 1), contact=SOLID
    )
    builder.add_body("tip", BODY, geometry=[shape])
    builder.add_joint("base", kt.Fixed(), "world", "base", kt.lie.placement((0, 0, 1), quaternion=(0, 0, 1, 0)))
    limits = Limits((-1.0,), (1.0,), (math.inf,), (5.0,))
    builder.add_joint(
        "bend", kt.Revolute([0, 1, 0]), "base", "tip:bend", kt.lie.placement((0, 0, 0.5)), limits=limits, damping=[0.1]
    )
    builder.add_joint(
        "slide", kt.Prismatic([0, 0, 1]), "tip:bend", "tip", stiffness=[100.0], rest=[0.25], armature=[0.5]
    )
    builder.add_frame("nail", "tip", kt.lie.placement((0, 0, 1)))
    robot = builder.build()
    assert (
        kt.to_text(robot, "mjcf")
        == """\
<?xml version="1.0" encoding="utf-8"?>
<mujoco model="finger">
  <compiler angle="radian" autolimits="true" inertiafromgeom="false"/>
  <option gravity="0 0 -1.62"/>
  <worldbody>
    <body name="base" pos="0 0 1" quat="0 0 0 1">
      <inertial pos="0 0 0.5" mass="2" diaginertia="0.1 0.2 0.25"/>
      <body name="tip" pos="0 0 0.5">
        <inertial pos="0.1 0.2 0.3" mass="1" fullinertia="0.2 0.25 0.3 0.01 0.02 0.03"/>
        <joint name="bend" type="hinge" axis="0 1 0" range="-1 1" actuatorfrcrange="-5 5" damping="0.1"/>
        <joint name="slide" type="slide" axis="0 0 1" stiffness="100" springref="0.25" armature="0.5"/>
        <geom name="skin" type="capsule" size="0.1 0.5" pos="0 0 0.5" friction="0.5 0.005 0.0001" rgba="1 0.5 0 1"/>
        <site name="nail" pos="0 0 1"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
    )
    assert max(equations(robot, kt.to_text(robot, "mjcf"))) < 1e-14


MESH = Geometry("collision", "mesh", (1.0,) * 3, TURNED, mesh="package://a/b.dae")
GROUND = Geometry("collision", "heightfield", (1.0, 1.0, 0.5, 0.0), TURNED, mesh="ground.png")
LOSSES: dict[str, tuple[JointKind, dict[str, Any], str]] = {
    "no effort": (TURN, {"limits": Limits((-1.0,), (1.0,), (math.inf,), (0.0,))}, "has an effort limit of zero"),
    "one limit": (TURN, {"limits": Limits((-1.0,), (math.inf,), (math.inf,), (1.0,))}, "has one position limit"),
    "limits far away": (TURN, {"limits": Limits((2e10,), (math.inf,), (math.inf,), (1.0,))}, "the range 2e+10 to inf"),
    "no range": (TURN, {"limits": Limits((1.0,), (1.0,), (math.inf,), (1.0,))}, "has the range 1 to 1"),
    "friction speed": (TURN, {"friction_speed": [3.0]}, "has a speed within which friction is smoothed"),
    "rotor": (TURN, {"rotor": Rotor(0.1, 50.0)}, "has a rotor"),
    "motor": (TURN, {"actuated": False}, "has its own choice of motors"),
    "damping of a ball": (kt.joints.Spherical(), {"damping": [1.0, 2.0, 3.0]}, "its damping is negative or differs"),
    "armature of a free joint": (kt.Free(), {"armature": [1.0] * 6, "placement": None}, "act along the world's axes"),
    "floating base": (kt.joints.FloatingBase(), {"placement": None}, "is read as kt.Free"),
    "mesh": (TURN, {"geometry": [MESH]}, "opens only"),
    "cone": (TURN, {"geometry": [Geometry("collision", "cone", (1.0, 1.0), TURNED)]}, "is of kind 'cone'"),
    "ground of no depth": (TURN, {"geometry": [GROUND]}, "is of kind 'heightfield' and the size (1.0, 1.0, 0.5, 0.0)"),
    "plane of no width": (kt.Fixed(), {"geometry": [replace(GROUND, shape="plane", size=(0.0, 1.0))]}, "kind 'plane'"),
    "unbalanced": (TURN, {"inertia": Inertia(1.0, Vec3.zero(), Sym3(1.0, 1.0, 3.0, 0.0, 0.0, 0.0))}, "become 1.5"),
    "massless": (TURN, {"inertia": Inertia.zero()}, "neither it nor a part fixed to it has"),
    "point": (TURN, {"inertia": Inertia.from_com(1.0, Vec3(0.0, 0.3, 0.1), Sym3.zero())}, "it would have at least"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
@pytest.mark.parametrize("what", LOSSES)
def test_what_mjcf_cannot_hold_is_refused(what: str) -> None:
    kind, options, message = LOSSES[what]
    robot = one_joint(kind, **options)
    text, losses = written(robot, "mjcf")
    assert losses.impossible == []
    assert len(losses.lost) == 1
    assert message in losses.lost[0]
    with pytest.raises(kt.errors.ModelError, match="cannot be written as MJCF without loss:\n"):
        kt.to_text(robot, "mjcf")
    mujoco.MjModel.from_xml_string(text)


def test_half_lengths_of_shapes_that_differ_along_each_axis() -> None:
    field, box = replace(GROUND, size=(2.0, 3.0, 0.5, 0.1)), Geometry("collision", "box", (1.0, 2.0, 3.0), TURNED)
    text, losses = written(one_joint(TURN, geometry=[field, box]), "mjcf")
    assert losses.lost == []
    assert '<hfield name="hfield_1" file="ground.png" size="1 1.5 0.5 0.1"/>' in text
    assert '<geom type="box" size="0.5 1 1.5"' in text


UNNEEDED: dict[str, tuple[dict[str, Any], str]] = {
    "velocity": (
        {"limits": Limits((-1.0,), (1.0,), (1.0,), (1.0,))},
        "velocity limits of joints (1): 'j'",
    ),
    "mesh": (
        {"geometry": [replace(MESH, role="visual")]},
        "visual shapes in files that MuJoCo does not open (1): 'b.dae'",
    ),
    "cone": (
        {"geometry": [Geometry("visual", "cone", (1.0, 1.0), TURNED)]},
        "visual shapes of kinds that MJCF does not have (1): cone of 'tip'",
    ),
}
UNNEEDED_RECORDS = {
    "raw parts": (Extras(unused=(Unused("gazebo"),)), "parts of files of other formats (1): <gazebo>"),
    "limits of controllers": (
        Extras(calibrations=(Calibration("j", rising=0.5),)),
        "robot.extras.calibrations (1): 'j'",
    ),
}


@pytest.mark.parametrize("what", UNNEEDED)
def test_a_warning_lists_parts_that_no_simulation_of_mjcf_needs(what: str) -> None:
    options, sentence = UNNEEDED[what]
    robot = one_joint(TURN, **options)
    with pytest.warns(kt.errors.ModelWarning, match="without what no simulation of MJCF computes with") as warned:
        text = kt.to_text(robot, "mjcf")
    assert [str(one.message).splitlines()[1:] for one in warned] == [[f"  {sentence}"]]
    assert max(equations(robot, text)) < 1e-12


@pytest.mark.parametrize("what", UNNEEDED_RECORDS)
def test_records_that_no_simulation_needs_are_left_out(what: str) -> None:
    extras, sentence = UNNEEDED_RECORDS[what]
    builder = kt.ModelBuilder("arm")
    builder.add_body("world")
    builder.add_body("tip", BODY)
    builder.add_joint("j", TURN, "world", "tip")
    builder.extras = extras
    _, losses = written(builder.build(), "mjcf")
    assert (losses.lost, losses.impossible, losses.left_out()) == ([], [], [sentence])


def test_most_real_robots_can_be_written(tmp_path: Path) -> None:
    """Meshes at addresses of packages are named by their paths, which MuJoCo opens."""
    names = ["ur5_robot", "solo12", "talos_full_v2"]
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kt.errors.ModelWarning)
            path = kt.save(load_robot(name), tmp_path / f"{name}.xml")
        model = mujoco.MjModel.from_xml_path(str(path))
        touching = [x for body in load_robot(name).bodies.values() for x in body.geometry if x.role == "collision"]
        assert model.ngeom >= len(touching) > 0


@pytest.mark.parametrize("root", ["world", "base"])
def test_a_free_body_on_a_root_at_rest_is_on_the_world(root: str, tmp_path: Path) -> None:
    """Wherever its joint is placed; its coordinates are relative to the world then, also in keyframes."""
    builder = kt.ModelBuilder("scene")
    builder.add_body(root)
    builder.add_body("shelf", BODY)
    builder.add_body("box", BODY)
    builder.add_body("arm", BODY)
    builder.add_joint("shelf", kt.Fixed(), root, "shelf", TURNED)
    builder.add_joint("loose", kt.Free(), "shelf", "box", kt.lie.placement((0.1, 0.2, 0.3), rpy=(0.3, -0.2, 0.1)))
    builder.add_joint("j", TURN, root, "arm", TURNED)
    rng = np.random.default_rng(0)
    state = JointState("loose", (*rng.normal(size=3), 0.5, -0.5, 0.5, 0.5), tuple(rng.normal(size=6)))
    builder.extras = Extras(keyframes=(Keyframe("k", (state, JointState("j", (0.2,), (1.0,)))),))
    robot = builder.build()
    _, losses = written(robot, "mjcf")
    assert (losses.lost, losses.impossible, losses.left_out()) == ([], [], [])
    again = kt.load(kt.save(robot, tmp_path / "scene.xml"))
    key, back = robot.extras.keyframes["k"], again.extras.keyframes["k"]
    for q, q2 in ((robot.neutral(), reference_configuration(again)), (key.q(robot), back.q(again))):
        for name in ("box", "arm"):
            expected = kt.frame_placement(robot, q, name)
            np.testing.assert_allclose(kt.frame_placement(again, q2, name), expected, atol=1e-14)
    np.testing.assert_allclose(
        kt.kinematics.frame_velocity(again, back.q(again), back.v(again), "box", expressed_in="local"),
        kt.kinematics.frame_velocity(robot, key.q(robot), key.v(robot), "box", expressed_in="local"),
        atol=1e-14,
    )
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "scene.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.body("box").xpos, kt.frame_placement(robot, key.q(robot), "box")[:3, 3], atol=1e-14)


@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
@pytest.mark.parametrize(("mass", "x"), [(1e3, 0.3), (1e9, 1e-9)])
def test_a_heavy_rod_far_from_its_joint_is_read_again(mass: float, x: float, tmp_path: Path) -> None:
    """One of its moments is next to nothing, but there, as MuJoCo demands."""
    robot = one_joint(TURN, inertia=Inertia.from_com(mass, Vec3(x, 0.0, 1.0), Sym3(1.0, 1.0, 0.0, 0.0, 0.0, 0.0)))
    again = kt.load(kt.save(robot, tmp_path / "robot.xml", lossy=True))
    assert again.mass == mass


IMPOSSIBLE: dict[str, tuple[JointKind, dict[str, Any], str]] = {
    "screw": (kt.joints.Helical([0, 0, 1], 0.1), {}, "has neither a word in MJCF nor a substitute"),
    "ellipsoid": (kt.joints.Ellipsoid([1, 2, 3]), {}, "has neither a word in MJCF nor a substitute"),
    "free elsewhere": (
        kt.Free(),
        {"root": "base", "floating_base": True},
        "has a free joint that is not its only one, not on the world, or has a placement",
    ),
}


@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_what_mujoco_refuses_is_refused_even_with_losses(what: str) -> None:
    kind, options, message = IMPOSSIBLE[what]
    with pytest.raises(kt.errors.ModelError, match=message):
        kt.to_text(one_joint(kind, **options), "mjcf", lossy=True)


@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
def test_an_inertia_that_mujoco_refuses_moves_to_what_the_body_is_fixed_to() -> None:
    builder = kt.ModelBuilder("r")
    builder.add_body("world")
    builder.add_body("arm", BODY)
    builder.add_body("sensor", Inertia(0.1, Vec3.zero(), Sym3(0.001, -0.001, 0.001, 0.0, 0.0, 0.0)))
    builder.add_joint("j", TURN, "world", "arm", TURNED)
    builder.add_joint("sensor", kt.Fixed(), "arm", "sensor", TURNED)
    robot = builder.build()
    text, losses = written(robot, "mjcf")
    assert len(losses.lost) == 1
    assert "body 'sensor' has an inertia that no body can have" in losses.lost[0]
    assert max(equations(robot, text)) < 1e-12


@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
def test_an_inertia_that_mujoco_refuses_moves_to_what_is_fixed_to_the_body() -> None:
    builder = kt.ModelBuilder("r")
    builder.add_body("base", Inertia(1e-6, Vec3.zero(), Sym3(0.0, 0.0, 3e-6, 0.0, 0.0, 0.0)))
    builder.add_body("trunk", BODY)
    builder.add_joint("trunk", kt.Fixed(), "base", "trunk", TURNED)
    text, losses = written(builder.build(floating_base=True), "mjcf")
    assert "it would become part of that of 'trunk', to which it is fixed" in losses.lost[0]
    assert mujoco.MjModel.from_xml_string(text).nv == 6


@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
def test_inertias_that_only_all_bodies_of_a_group_make_up_for_are_gathered() -> None:
    builder = kt.ModelBuilder("r")
    builder.add_body("world")
    long = Inertia(0.1, Vec3.zero(), Sym3(0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    for name, inertia in (("arm", long), ("x", Inertia(1.0, Vec3.zero(), Sym3(0.6, 0.0, 0.0, 0.0, 0.0, 0.0)))):
        builder.add_body(name, inertia)
    builder.add_body("y", Inertia(1.0, Vec3.zero(), Sym3(0.0, 0.6, 0.0, 0.0, 0.0, 0.0)))
    builder.add_joint("j", TURN, "world", "arm", TURNED)
    for name in ("x", "y"):
        builder.add_joint(name, kt.Fixed(), "arm", name)
    robot = builder.build()
    text, losses = written(robot, "mjcf")
    assert "those of all bodies that are fixed to it would become part of it" in losses.lost[0]
    assert max(equations(robot, text)) < 1e-12


@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
def test_an_inertia_that_mujoco_refuses_is_left_out_where_nothing_moves() -> None:
    builder = kt.ModelBuilder("r")
    builder.add_body("base", Inertia(1.0, Vec3.zero(), Sym3(0.0, 0.0, 1.0, 0.0, 0.0, 0.0)))
    builder.add_body("arm", BODY)
    builder.add_joint("j", TURN, "base", "arm", TURNED)
    robot = builder.build()
    text, losses = written(robot, "mjcf")
    assert "as it does not move, it would have none" in losses.lost[0]
    assert max(equations(robot, text)) < 1e-12


def test_a_flat_plate_is_taken_though_rounding_makes_one_moment_too_large() -> None:
    turned = kt.lie.placement(rpy=(0.3, 0.7, -1.1))
    for k in range(4):
        plate = Inertia(1.0, Vec3.zero(), Sym3(0.1, 0.01 * k + 0.013, 0.1 + 0.01 * k + 0.013, 0.0, 0.0, 0.0))
        robot = one_joint(TURN, inertia=turned.back(plate))
        text, losses = written(robot, "mjcf")
        assert losses.lost == []
        assert max(equations(robot, text)) < 1e-12


def test_a_moving_body_called_world_gets_another_name() -> None:
    robot = one_joint(TURN, floating_base=True)
    text, losses = written(robot, "mjcf")
    assert losses.impossible == []
    assert "the name of body 'world' has another meaning in MJCF: it would be 'world_2'" in losses.lost
    assert '<body name="world_2">' in text
    assert mujoco.MjModel.from_xml_string(text).nv == 7


def test_a_flat_mesh_is_taken(tmp_path: Path) -> None:
    (tmp_path / "sheet.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\nf 1 3 2\nf 2 3 4\n")
    sheet = Geometry("visual", "mesh", (1.0,) * 3, TURNED, mesh="sheet.obj")
    path = kt.save(one_joint(TURN, geometry=[sheet]), tmp_path / "r.xml")
    assert mujoco.MjModel.from_xml_path(str(path)).nmesh == 1


def test_followers_are_held_softly() -> None:
    builder = kt.ModelBuilder("gripper")
    for name in ("world", "a", "b"):
        builder.add_body(name, BODY if name != "world" else None)
    builder.add_joint("left", kt.Revolute([1, 0, 0]), "world", "a")
    builder.add_joint("right", kt.Revolute([0, 0, 1]), "world", "b", mimic=Mimic("left", -1.5, 0.1))
    text, losses = written(builder.build(), "mjcf")
    assert "by a soft constraint" in losses.lost[0]
    assert '<joint joint1="right" joint2="left" polycoef="0.1 -1.5 0 0 0"/>' in text
    assert mujoco.MjModel.from_xml_string(text).neq == 1


def test_a_very_deep_robot_is_written() -> None:
    builder = kt.ModelBuilder("chain")
    builder.add_body("world")
    for k in range(1, 1500):
        builder.add_body(str(k), BODY)
        builder.add_joint(f"j{k}", TURN, str(k - 1) if k > 1 else "world", str(k))
    assert kt.to_text(builder.build(), "mjcf").count("<joint") == 1499


@law(10)
@given(mjcf_robots())
def test_a_robot_that_mjcf_can_hold_comes_back(robot: kt.Model) -> None:
    error, where = differences(robot, came_back(robot, ".xml"))
    assert error <= BY_QUATERNION, where


def test_options_contacts_and_sites_come_back() -> None:
    builder = kt.ModelBuilder("r", gravity=(0, 0, -1))
    builder.add_body("world")
    for name in ("a", "b"):
        shape = Geometry("collision", "sphere", (0.1,), TURNED, f"{name} ball", color=(1, 0, 0, 1), contact=SOLID)
        builder.add_body(name, BODY, geometry=[shape])
        builder.add_joint(f"{name}_joint", TURN, "world", name)
    builder.add_frame("spot", "a", TURNED)
    flags = SimulationFlags(contact=False, energy=True)
    builder.extras = Extras(
        options=SimulationOptions(0.001, (0.0, 0.0, -1.0), integrator="RK4", override_margin=0.5, flags=flags),
        contact_pairs=(ContactPair("a ball", "b ball", condim=1, margin=0.01),),
        contact_exclusions=(ContactExclusion("a", "b", "apart"),),
        sites=(Site("spot", "a", "spot", "box", (0.1, 0.2, 0.3), group=3),),
    )
    robot = builder.build()
    again = came_back(robot, ".xml")
    for name in ("options", "contact_pairs", "contact_exclusions", "sites"):
        assert getattr(again.extras, name) == getattr(robot.extras, name)
    assert differences(again, robot)[0] <= 1e-15
    assert mujoco.MjModel.from_xml_string(kt.to_text(robot, "mjcf")).opt.timestep == 0.001

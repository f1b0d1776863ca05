"""Whole robots: which shapes are seen, where they are, and what is said of those that are not."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.appearance import Looks, bounds_of, ground_of, looks_of, placements_of
from kinetree.errors import ModelWarning, OptionError
from kinetree.pictures.scene import Scene
from kinetree.spatial import Inertia, Sym3, Vec3
from tests.unit.appearance.files import FACES, write_obj, write_png, write_stl

URDF = """<robot name="r"><link name="base"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>{shapes}</link>
<link name="arm"><inertial><mass value="1"/><origin xyz="0 0 0.5"/>
<inertia ixx="0.02" iyy="0.02" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>{arm}</link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/>
<limit effort="1" velocity="1" lower="-2" upper="2"/></joint></robot>"""


def robot_of(folder: Path, shapes: str = "", arm: str = "") -> kt.Model:
    path = folder / "r.urdf"
    path.write_text(URDF.format(shapes=shapes, arm=arm))
    return kt.load(path)


def visual(geometry: str, more: str = "") -> str:
    return f"<visual><geometry>{geometry}</geometry>{more}</visual>"


def test_a_part_is_where_its_frame_is() -> None:
    robot = kt.zoo.load("arm6")
    q = robot.random(np.random.default_rng(0), 3)
    looks = looks_of(robot)
    placements = placements_of(robot, looks, q)
    assert placements.shape == (3, len(looks.parts), 4, 4)
    for k, part in enumerate(looks.parts):
        expected = kt.frame_placement(robot, q, part.body) @ part.placement
        assert placements[:, k] == pytest.approx(expected, abs=1e-12)
    assert looks_of(robot) is looks


def test_bounds_hold_all_vertices_but_those_of_the_ground() -> None:
    robot = kt.zoo.load("quadruped").on_ground(-0.5)
    looks = looks_of(robot)
    placements = placements_of(robot, looks, robot.neutral())
    low, high = bounds_of(looks, placements)
    for part, X in zip(looks.parts, placements, strict=True):
        points = part.surface.vertices @ X[:3, :3].T + X[:3, 3]
        assert part.is_ground or ((points > low - 0.01).all() and (points < high + 0.01).all())
    assert np.linalg.norm(high - low) < 2.0
    ground = ground_of(robot, looks)
    assert ground is not None
    assert ground.height == -0.5
    assert ground.part in {part.name for part in looks.parts}
    assert ground_of(robot, Looks(())) is None
    rest = looks.without(ground.part)
    assert [part.name for part in looks.parts if part not in rest.parts] == [ground.part]
    assert [part.name for part in Scene(robot).looks.parts] == [part.name for part in rest.parts]
    low, high = bounds_of(Looks(()), np.zeros((0, 4, 4)))
    assert low.tolist() == high.tolist() == [0.0, 0.0, 0.0]


def test_a_slope_has_a_normal() -> None:
    ground = ground_of(kt.zoo.load("quadruped").on_slope(0.3, height=0.2))
    assert ground is not None
    assert ground.normal == pytest.approx([math.sin(0.3), 0.0, math.cos(0.3)])
    assert ground.height == pytest.approx(0.2)
    assert ground_of(kt.zoo.load("quadruped")) is None


def test_what_cannot_be_read_is_listed_and_the_rest_is_drawn(tmp_path: Path) -> None:
    write_stl(tmp_path / "good.stl")
    (tmp_path / "bad.stl").write_bytes(b"junk")
    meshes = "".join(visual(f'<mesh filename="{name}"/>') for name in ("good.stl", "bad.stl", "gone.stl", "../up.stl"))
    robot = robot_of(tmp_path, meshes + visual('<box size="1 1 1"/>'), visual('<mesh filename="bad.stl"/>'))
    looks = looks_of(robot)
    assert [part.name for part in looks.parts if part.role == "visual"] == ["base[0]", "base[4]"]
    assert [one.part for one in looks.unseen] == ["base[1]", "base[2]", "base[3]", "arm[0]"]
    assert "not an STL file" in looks.unseen[0].reason
    assert "'gone.stl' was not found inside the folders given" in looks.unseen[1].reason
    assert [(part.role, part.body) for part in looks.parts[2:]] == [("stand_in", "arm")]
    with pytest.warns(ModelWarning, match=r"not everything is drawn; .*base\[2\]: .*gone\.stl.* and 1 more") as caught:
        kt.render(robot, size=(64, 36))
    assert [warning.filename for warning in caught] == [__file__]


def test_a_scale_mirrors_a_mesh_with_its_faces(tmp_path: Path) -> None:
    write_stl(tmp_path / "cube.stl")
    robot = robot_of(tmp_path, visual('<mesh filename="cube.stl" scale="-2 1 1"/>'))
    (part,) = looks_of(robot).parts
    surface = part.surface
    a, b, c = (surface.vertices[surface.faces[:, k]].astype(float) for k in range(3))
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0 == pytest.approx(2.0)
    assert np.einsum("ij,ij->i", np.cross(b - a, c - a), surface.normals[surface.faces[:, 0]]).min() > 0.0
    assert surface.vertices[:, 0].min() == -2.0


def test_colours_are_the_file_s_the_material_s_or_those_of_bodies(tmp_path: Path) -> None:
    write_stl(tmp_path / "cube.stl")
    write_obj(tmp_path / "cube.obj")
    blue = '<material name="b"><color rgba="0 0 1 0.5"/></material>'
    shapes = [visual(f'<mesh filename="{name}"/>', blue) for name in ("cube.stl", "cube.obj")]
    parts = looks_of(robot_of(tmp_path, "".join(shapes) + visual('<sphere radius="1"/>'))).parts
    assert (parts[0].surface.colors == (0, 0, 255, 128)).all()
    assert (parts[1].surface.colors[:, 2] == 0).all()  # a mesh's own colours come first, as in ROS
    assert parts[2].surface.colors[0, 3] == 255


def test_a_robot_without_visual_shapes_shows_those_for_collisions(tmp_path: Path) -> None:
    robot = robot_of(tmp_path, '<collision><geometry><box size="1 1 1"/></geometry></collision>')
    assert [part.role for part in looks_of(robot).parts] == ["visual"]
    assert [part.role for part in looks_of(robot, ["collision"]).parts] == ["collision"]
    both = looks_of(robot, ["visual", "collision", "stand_in"])
    assert [part.name for part in both.parts][:2] == ["base[0]", "base[0] (collision)"]
    assert len({part.name for part in both.parts}) == len(both.parts)


def test_loose_things_are_seen_beside_a_robot_with_visual_shapes() -> None:
    scene = kt.zoo.load("arm6").with_free_body("box", (0.1, 0.1, 0.1), mass=0.5, name="crate")
    parts = [part for part in looks_of(scene).parts if part.body == "crate"]
    assert [(part.name, part.role) for part in parts] == [("crate", "visual")]


def test_a_robot_without_shapes_is_drawn_from_its_inertia(tmp_path: Path) -> None:
    robot = robot_of(tmp_path)
    parts = looks_of(robot).parts
    assert {part.body for part in parts} == {"base", "arm"}
    assert {part.role for part in parts} == {"stand_in"}
    arm = next(part for part in parts if part.body == "arm")
    assert arm.placement[:3, 3].tolist() == [0.0, 0.0, 0.5]
    assert np.abs(arm.surface.vertices).max() == pytest.approx(math.sqrt(2.5 * (0.02 + 0.02 - 0.001)), rel=1e-5)


def test_strange_inertias_have_stand_ins_of_the_robot_s_size() -> None:
    builder = kt.ModelBuilder("strange")
    builder.add_body("a")
    builder.add_body("b", Inertia.from_com(1e-3, Vec3(0.0, 0.0, 0.1), Sym3(100.0, 100.0, 100.0, 0.0, 0.0, 0.0)))
    builder.add_joint("j", kt.Revolute([0.0, 1.0, 0.0]), "a", "b", kt.Transform.identity())
    builder.add_body("c", Inertia.from_com(1.0, Vec3(0.0, 0.0, 1.0), Sym3(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
    builder.add_joint("k", kt.Revolute([0.0, 1.0, 0.0]), "b", "c", kt.Transform.identity())
    for part in looks_of(builder.build()).parts:
        assert 0.01 < np.abs(part.surface.vertices).max() < 2.0


MJCF = """<mujoco><asset><texture name="t" type="2d" file="half.png"/><texture name="c" builtin="flat" rgb1="1 0 0"/>
<texture name="gone" type="2d" file="gone.png"/>
<material name="m" texture="t" texrepeat="2 1"/><material name="red" texture="c" rgba="0.5 1 1 1"/>
<material name="bad" texture="gone"/>
<mesh name="cube" file="cube.stl" scale="2 1 1" refpos="1 0 0" refquat="0.7071067811865476 0 0 0.7071067811865476"/>
<mesh name="tetra" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
<worldbody><geom name="floor" type="plane" size="0 0 1" material="m"/>
<body name="b"><joint/><geom name="cube" type="mesh" mesh="cube" contype="0" conaffinity="0" material="red" group="1"/>
<geom name="hull" type="box" size="1 1 1"/><geom name="odd" type="mesh" mesh="tetra" group="1"
contype="0" conaffinity="0"/>
<geom name="hidden" size="1" group="3"/></body>
<body name="c"><joint/><geom name="ball" size="0.1" material="bad"/></body></worldbody></mujoco>"""


def test_mjcf_has_its_groups_frames_materials_and_textures(tmp_path: Path) -> None:
    write_stl(tmp_path / "cube.stl")
    write_png(tmp_path / "half.png")
    (tmp_path / "r.xml").write_text(MJCF)
    looks = looks_of(kt.load(tmp_path / "r.xml"))
    parts = {part.name: part for part in looks.parts}
    assert set(parts) == {"floor", "cube", "odd", "ball"}  # "hull" is behind the shapes for show
    floor = parts["floor"].surface
    assert parts["floor"].is_ground
    assert floor.texture is not None
    assert floor.uv is not None
    cube = parts["cube"].surface
    assert (cube.colors == (128, 0, 0, 255)).all()
    # refpos moves (0..1)³ to x in -1..0; the inverse of refquat takes y to x; then x is doubled.
    assert cube.vertices.min(axis=0) == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)
    assert cube.vertices.max(axis=0) == pytest.approx([2.0, 1.0, 1.0], abs=1e-6)
    assert len(parts["odd"].surface.faces) == 4
    assert [one.part for one in looks.unseen] == ["ball"]
    assert "its file 'gone.png' was not found" in looks.unseen[0].reason


def test_collisions_see_hulls(tmp_path: Path) -> None:
    path = write_stl(tmp_path / "cube.stl", faces=FACES[:-1])
    shape = f'<collision><geometry><mesh filename="{path.name}"/></geometry></collision>'
    looks = looks_of(robot_of(tmp_path, shape, shape.replace("cube.stl", "gone.stl")), ["collision"])
    (part,) = looks.parts
    assert len(part.surface.faces) == 12  # the hull has no hole
    assert part.surface.vertices.min(axis=0) + part.placement[:3, 3] == pytest.approx([0.0, 0.0, 0.0])
    assert [one.part for one in looks.unseen] == ["arm[0]"]


def test_a_texture_of_urdf_gives_a_shape_its_mean_colour(tmp_path: Path) -> None:
    write_png(tmp_path / "half.png")
    materials = [
        f'<material name="{name}"><texture filename="{name}"/></material>' for name in ("half.png", "gone.png")
    ]
    looks = looks_of(robot_of(tmp_path, "".join(visual('<box size="1 1 1"/>', one) for one in materials)))
    hue = looks.parts[0].surface.colors[0]
    assert hue[0] == hue[2] > 0
    assert hue[1] == 0
    assert "its file 'gone.png' was not found inside the folders" in looks.unseen[0].reason


def test_a_wrong_role_is_said() -> None:
    with pytest.raises(OptionError, match="roles are among 'visual', 'collision', 'stand_in', not 'visuals'"):
        looks_of(kt.zoo.load("arm6"), ["visuals"])  # type: ignore[list-item]

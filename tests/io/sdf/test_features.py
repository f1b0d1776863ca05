"""What single features of SDF mean: by closed forms, and by robots built in Python."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.io.sdf.random_models import random_model
from tests.io.sdf.robots import (
    BASE,
    BOX,
    INNER,
    PLACED,
    SKEW,
    TETRAHEDRON,
    A,
    B,
    C,
    axis,
    joint,
    link,
    model,
    sdf,
)
from tests.io.sdf.written import read, written
from tests.laws.reference import reference

Array = NDArray[np.float64]
POSE_B = kt.lie.placement((0.1, 0.2, 0.3), rpy=(0.4, -0.5, 0.6))
POSE_J = kt.lie.placement((0.05, 0.1, -0.2), rpy=(0.3, 0.1, -0.4))


def placement(robot: kt.Model, q: Any, frame: str) -> Array:
    return reference(kt.frame_placement, robot, np.asarray(q, dtype=float), frame=frame)


def alike(one: kt.Model, other: kt.Model) -> None:
    """Assert that both move alike."""
    assert (one.nq, one.nv) == (other.nq, other.nv)
    rng = np.random.default_rng(3)
    q, v = one.random(rng), rng.normal(size=one.nv)
    for function, given in ((kt.mass_matrix, (q,)), (kt.bias_forces, (q, v))):
        np.testing.assert_allclose(
            reference(function, one, *given), reference(function, other, *given), rtol=0.0, atol=1e-12
        )


def one(type_: str, more: str, version: str = "1.9") -> str:
    return sdf(model(BASE + A + B + joint("j", type_, "a", "b", more)), version)


def test_a_hinge_is_where_the_builder_would_put_it(tmp_path: Path) -> None:
    robot = read(tmp_path, one("revolute", PLACED + SKEW))
    builder = kt.ModelBuilder("same", gravity=(0, 0, -9.81))
    builder.add_body("world")
    for name in "ab":
        builder.add_body(name, robot.bodies[name].inertia)
    builder.add_joint("base", kt.Fixed(), "world", "a")
    X = POSE_B.matrix @ POSE_J.matrix
    kind = kt.joints.Placed(kt.Revolute([0.2, -0.7, 0.5]), np.linalg.inv(POSE_J.matrix))
    builder.add_joint("j", kind, "a", "b", X)
    same = builder.build()
    alike(robot, same)
    for q in (0.0, 0.7):
        np.testing.assert_allclose(placement(robot, [q], "b"), placement(same, [q], "b"), atol=1e-15)
    np.testing.assert_allclose(placement(robot, [0.0], "b"), POSE_B.matrix, atol=1e-15)


def test_inertia_of_a_link_is_about_its_center_of_mass_in_the_axes_of_its_pose(tmp_path: Path) -> None:
    text = (
        '<link name="a"><inertial><pose>0.1 0.2 0.3 0 0 1.5707963267948966</pose><mass>2</mass><inertia><ixx>1</ixx>'
        "<iyy>2</iyy><izz>2.5</izz><ixy>0.1</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial></link>"
    )
    body = read(tmp_path, sdf(model(text))).bodies["a"]
    np.testing.assert_allclose(body.center_of_mass, [0.1, 0.2, 0.3], atol=1e-15)
    np.testing.assert_allclose(body.rotational_inertia, [[2, -0.1, 0], [-0.1, 1, 0], [0, 0, 2.5]], atol=1e-14)


@pytest.mark.parametrize(
    ("words", "advance"),
    [
        ("<screw_thread_pitch>0.3</screw_thread_pitch>", 0.3),
        ("<screw_thread_pitch>-0.3</screw_thread_pitch>", -0.3),
        ("<thread_pitch>4</thread_pitch>", -2.0 * math.pi / 4.0),
        ("<screw_thread_pitch>0.3</screw_thread_pitch><thread_pitch>4</thread_pitch>", 0.3),
        ("", 1.0),
    ],
)
def test_a_screw_advances_by_its_pitch_each_turn(words: str, advance: float, tmp_path: Path) -> None:
    robot = read(tmp_path, one("screw", axis("0 0 2") + words))
    before, after = placement(robot, [0.0], "b"), placement(robot, [2.0 * math.pi], "b")
    moved = np.linalg.inv(before) @ after
    np.testing.assert_allclose(moved[:3, 3], [0.0, 0.0, advance], atol=1e-14)
    quarter = np.linalg.inv(before) @ placement(robot, [math.pi / 2], "b")
    np.testing.assert_allclose(quarter[:3, 0], [0.0, 1.0, 0.0], atol=1e-14)


@pytest.mark.parametrize("type_", ["revolute2", "universal"])
def test_two_axes_turn_one_after_the_other(type_: str, tmp_path: Path) -> None:
    """The first is fixed on the parent and the second on the child, whatever the angle between them."""
    robot = read(tmp_path, one(type_, PLACED + axis("1 0 0") + axis("0.5 0.8 0.1", tag="axis2")))
    massless = "<inertial><mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia></inertial>"
    middle = f'<link name="m"><pose relative_to="j"/>{massless}</link>'
    chain = read(
        tmp_path,
        sdf(
            model(
                BASE + A + middle + B
                + joint("j", "revolute", "a", "m", '<pose relative_to="k"/>' + axis("1 0 0"))
                + joint("k", "revolute", "m", "b", PLACED + axis("0.5 0.8 0.1"))
            )
        ),
    )  # fmt: skip
    alike(robot, chain)
    np.testing.assert_allclose(placement(robot, [0.4, 1.1], "b"), placement(chain, [0.4, 1.1], "b"), atol=1e-14)


GEARS = (
    BASE + A + B + C
    + joint("p", "revolute", "a", "b", axis("0 0 1", attributes=' expressed_in="a"'))
    + joint("r", "continuous", "a", "c", axis("0 0 -1", attributes=' expressed_in="a"'))
)  # fmt: skip


def gearbox(first: str, second: str, ratio: str = "<gearbox_ratio>3</gearbox_ratio>", name: str = "gears") -> str:
    in_a = ' expressed_in="a"'
    more = f"<gearbox_reference_body>a</gearbox_reference_body>{ratio}"
    return joint(name, "gearbox", "b", "c", axis(first, "", "axis", in_a) + axis(second, "", "axis2", in_a) + more)


def _turned(robot: kt.Model, q: list[float], body: str) -> float:
    """The angle by which a body turned about z of the first link."""
    R = placement(robot, q, body)[:3, :3] @ placement(robot, [0.0], body)[:3, :3].T
    return float(np.arctan2(R[1, 0], R[0, 0]))


@pytest.mark.parametrize("first", ["0 0 1", "0 0 -1"])
@pytest.mark.parametrize("second", ["0 0 2", "0 0 -1"])
def test_a_gearbox_couples_two_hinges(first: str, second: str, tmp_path: Path) -> None:
    robot = read(tmp_path, sdf(model(GEARS + gearbox(first, second))))
    assert (robot.nq, robot.nv, list(robot.couplings)) == (1, 1, ["gears"])
    theta1 = _turned(robot, [0.2], "b") * (1.0 if first == "0 0 1" else -1.0)
    theta2 = _turned(robot, [0.2], "c") * (1.0 if second == "0 0 2" else -1.0)
    assert theta2 == pytest.approx(-3.0 * theta1, abs=1e-12)
    assert abs(theta1) == pytest.approx(0.2)


def test_a_gearbox_in_which_the_reference_hangs_on_the_parent(tmp_path: Path) -> None:
    """The hinge between reference body and parent then counts backwards."""
    text = GEARS.replace("<parent>a</parent><child>b</child>", "<parent>b</parent><child>a</child>").replace(BASE, "")
    robot = read(tmp_path, sdf(model(joint("base", "fixed", "world", "b", "") + text + gearbox("0 0 1", "0 0 1"))))
    angles = []
    for body in "bc":
        seen = [np.linalg.inv(placement(robot, [q], "a")) @ placement(robot, [q], body) for q in (0.0, 0.1)]
        R = seen[1][:3, :3] @ seen[0][:3, :3].T
        angles.append(float(np.arctan2(R[1, 0], R[0, 0])))
        np.testing.assert_allclose(R[2], [0.0, 0.0, 1.0], atol=1e-14)
    assert abs(angles[0]) == pytest.approx(0.1)
    assert angles[1] == pytest.approx(-3.0 * angles[0])


def test_gears_move_on_their_own_without_followers(tmp_path: Path) -> None:
    assert read(tmp_path, sdf(model(GEARS + gearbox("0 0 1", "0 0 1"))), mimic=False).nq == 2


def test_a_follower(tmp_path: Path) -> None:
    """q = multiplier (q_leader - reference) + offset."""
    follows = '<mimic joint="p"><multiplier>2</multiplier><offset>0.1</offset><reference>0.3</reference></mimic>'
    text = sdf(model(GEARS.replace('<xyz expressed_in="a">0 0 -1</xyz>', f"<xyz>0 0 1</xyz>{follows}")), "1.11")
    robot = read(tmp_path, text)
    assert robot.nq == 1
    mimic = robot.joints["r"].mimic
    assert mimic == kt.model.Mimic("p", 2.0, 0.1 - 2.0 * 0.3)
    own = read(tmp_path, text, mimic=False)
    np.testing.assert_allclose(
        placement(robot, [0.7], "c"), placement(own, [0.7, 2 * (0.7 - 0.3) + 0.1], "c"), atol=1e-14
    )


LIMITED = """<limit><lower>-1.5</lower><upper>1e16</upper><effort>-1</effort><velocity>3</velocity>
<stiffness>1e5</stiffness><dissipation>2</dissipation></limit><dynamics><damping>0.1</damping><friction>0.2</friction>
<spring_reference>0.3</spring_reference><spring_stiffness>40</spring_stiffness></dynamics>"""


def test_limits_friction_and_springs(tmp_path: Path) -> None:
    robot = read(tmp_path, one("revolute", axis("0 0 1", LIMITED)))
    hinge = robot.joints["j"]
    inf = math.inf
    assert hinge.limits == kt.model.Limits((-1.5,), (inf,), (3.0,), (inf,))
    assert (hinge.damping, hinge.friction, hinge.stiffness, hinge.rest) == ((0.1,), (0.2,), (40.0,), (0.3,))
    assert hinge.actuated == (True,)
    (kept,) = robot.extras.unused
    stop = kept.children[0].children[0].children[0].children[0]
    assert [part.tag for part in (kept, kept.children[0], kept.children[0].children[0])] == ["sdf", "model", "joint"]
    assert [(part.tag, part.text) for part in stop.children] == [("stiffness", "1e5"), ("dissipation", "2")]


@pytest.mark.parametrize("written_", ["inf", "1e16", "1.7e308", "+Infinity"])
def test_no_limit(written_: str, tmp_path: Path) -> None:
    more = f"<limit><lower>-{written_.lstrip('+')}</lower><upper>{written_}</upper></limit>"
    assert read(tmp_path, one("revolute", axis("0 0 1", more))).joints["j"].limits == kt.model.Limits.none(
        kt.Revolute([0, 0, 1])
    )


def test_limits_of_two_axes(tmp_path: Path) -> None:
    more = axis("1 0 0", "<limit><lower>-1</lower><upper>1</upper><effort>5</effort></limit>") + axis(
        "0 1 0", "<limit><lower>-2</lower><upper>2</upper></limit><dynamics><damping>3</damping></dynamics>", "axis2"
    )
    hinge = read(tmp_path, one("universal", more)).joints["j"]
    assert (hinge.limits.lower, hinge.limits.upper) == ((-1.0, -2.0), (1.0, 2.0))
    assert (hinge.limits.effort, hinge.damping) == ((5.0, math.inf), (0.0, 3.0))


def test_an_effort_of_zero_means_no_motor(tmp_path: Path) -> None:
    robot = read(tmp_path, one("revolute", axis("0 0 1", "<limit><effort>0</effort></limit>")))
    assert robot.joints["j"].actuated == (False,)


def test_damping_of_a_ball(tmp_path: Path) -> None:
    robot = read(tmp_path, one("ball", axis("0 0 1", "<dynamics><damping>2</damping></dynamics>")))
    assert robot.joints["j"].damping == (2.0, 2.0, 2.0)


def test_an_inertia_may_be_placed_in_another_frame(tmp_path: Path) -> None:
    """Before SDF 1.8."""
    text = one("revolute", PLACED + SKEW, "1.7")
    start = text.index('<link name="b">')
    moved = text[:start] + text[start:].replace("<inertial><pose>", '<inertial><pose relative_to="a">', 1)
    alone, other = (read(tmp_path, t).bodies["b"].inertia for t in (text, moved))
    back = kt.Transform.from_matrix(np.linalg.inv(POSE_B.matrix)).back(alone)
    assert other.mass == alone.mass
    np.testing.assert_allclose(other.h.components(), back.h.components(), atol=1e-15)
    np.testing.assert_allclose(other.I.components(), back.I.components(), atol=1e-15)


def test_a_frame_on_a_joint_is_in_its_axes(tmp_path: Path) -> None:
    text = one("revolute", PLACED + SKEW).replace(
        "</model>", '<frame name="f" attached_to="j"><pose>0.1 0 0 0 0 1</pose></frame></model>'
    )
    robot = read(tmp_path, text)
    assert robot.frames["f"].body == "b"
    expected = placement(robot, [0.8], "b") @ POSE_J.matrix @ kt.lie.placement((0.1, 0, 0), rpy=(0, 0, 1)).matrix
    np.testing.assert_allclose(placement(robot, [0.8], "f"), expected, atol=1e-14)


def test_frames_may_be_attached_to_later_ones_and_to_those_of_other_models(tmp_path: Path) -> None:
    pose = "<pose>0.1 0.2 0.3 0.4 0.5 0.6</pose>"
    frames = (
        f'<frame name="f" attached_to="g">{pose}</frame><frame name="g" attached_to="inner::h">{pose}</frame>'
        f'<frame name="k" attached_to="g">{pose}</frame>'
    )
    arm = A + B + joint("j", "revolute", "a", "b", SKEW) + f'<frame name="h" attached_to="j">{pose}</frame>'
    robot = read(tmp_path, sdf(model(model(arm + BASE, "inner") + frames)))
    X = kt.lie.placement((0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6)).matrix
    at = {name: placement(robot, [0.8], name) for name in ("inner::b", "inner::h", "g", "f", "k")}
    for name, base in (("inner::h", "inner::b"), ("g", "inner::h"), ("f", "g"), ("k", "g")):
        assert robot.frames[name].body == "inner::b"
        np.testing.assert_allclose(at[name], at[base] @ X, atol=1e-14)


def test_a_joint_of_an_old_file_may_have_the_name_of_a_link(tmp_path: Path) -> None:
    old = read(tmp_path, sdf(model(BASE + A + B + joint("b", "revolute", "a", "b", PLACED + SKEW)), "1.6"))
    alike(old, read(tmp_path, one("revolute", PLACED + SKEW)))
    assert list(old.joints) == ["b"]


def test_names_with_colons_in_a_file_of_1_7(tmp_path: Path) -> None:
    text = one("revolute", PLACED + SKEW, "1.7")
    for name in "abj":
        text = text.replace(f'name="{name}"', f'name="m::{name}"').replace(f">{name}<", f">m::{name}<")
    flat = read(tmp_path, text)
    assert list(flat.joints) == ["m::j"]
    alike(flat, read(tmp_path, one("revolute", PLACED + SKEW)))


# Inertia from shapes


def shaped(shape: str, attributes: str = "<density>700</density>") -> str:
    body = f'<inertial auto="true"/><collision name="s">{attributes}<geometry>{shape}</geometry></collision>'
    return sdf(model(f'<link name="a">{body}</link>'), "1.12")


def test_the_inertia_of_a_cone(tmp_path: Path) -> None:
    """Against a stack of thin disks; its tip is up and its frame at half its height."""
    robot = read(tmp_path, shaped("<cone><radius>0.2</radius><length>0.6</length></cone>"))
    total = kt.model.Inertia.zero()
    n = 2000
    for k in range(n):
        z = (k + 0.5) / n
        disk = kt.solids.cylinder(
            0.2 * (1 - z), 0.6 / n, density=700.0, placement=kt.lie.placement((0, 0, 0.6 * (z - 0.5)))
        )
        total = total + disk
    inertia = robot.bodies["a"].inertia
    for mine, other in zip(
        (inertia.mass, *inertia.h.components(), *inertia.I.components()),
        (total.mass, *total.h.components(), *total.I.components()),
        strict=True,
    ):
        assert mine == pytest.approx(other, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("scale", ["1 1 1", "0.5 1.5 2", "-1 1 3", "2 2 2"])
def test_the_inertia_of_a_mesh(scale: str, tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    robot = read(tmp_path, shaped(f"<mesh><uri>tetrahedron.obj</uri><scale>{scale}</scale></mesh>"))
    rows = [line.split()[1:] for line in TETRAHEDRON.splitlines() if line]
    vertices = np.array(rows[:4], dtype=float) * np.array(scale.split(), dtype=float)
    faces = np.array(rows[4:], dtype=int) - 1
    faces = faces[:, ::-1] if scale.startswith("-") else faces
    expected = kt.solids.mesh(vertices, faces, density=700.0)
    mine = robot.bodies["a"].inertia
    for a, b in zip(
        (mine.mass, *mine.h.components(), *mine.I.components()),
        (expected.mass, *expected.h.components(), *expected.I.components()),
        strict=True,
    ):
        assert a == pytest.approx(b, rel=1e-12, abs=1e-15)


# The base


FLOATING = sdf(model("<pose>1 2 3 0 0 0.5</pose>" + A + B + joint("j", "revolute", "a", "b", SKEW)))


def test_a_model_floats_unless_it_is_fixed(tmp_path: Path) -> None:
    robot = read(tmp_path, FLOATING)
    assert (robot.nq, robot.nv, robot.root, robot.floating_base) == (8, 7, "a", True)
    start = "(1, 2, 3, 0, 0, 0.247403959, 0.968912422) of root_joint"
    assert any(start in note for note in robot.notes), robot.notes
    assert read(tmp_path, FLOATING, floating_base=True) == robot


def test_a_floating_model_can_be_fixed_where_it_is(tmp_path: Path) -> None:
    robot = read(tmp_path, FLOATING, floating_base=False)
    assert (robot.nq, robot.root, robot.floating_base) == (1, "world", False)
    expected = kt.lie.placement((1, 2, 3), rpy=(0, 0, 0.5)).matrix
    np.testing.assert_allclose(placement(robot, [0.3], "a"), expected, atol=1e-15)


def test_a_static_model_stands(tmp_path: Path) -> None:
    robot = read(tmp_path, FLOATING.replace("<pose>1", "<static>true</static><pose>1", 1))
    assert (robot.nq, list(robot.joints), list(robot.bodies)) == (0, [], ["world", "a", "b"])
    assert any("static models do not move" in note for note in robot.notes)
    assert read(tmp_path, FLOATING.replace("<pose>1", "<static>0</static><pose>1", 1)).nq == 8


def test_trees_that_hang_together_nowhere_float_one_by_one(tmp_path: Path) -> None:
    robot = read(tmp_path, sdf(model(A + B + C + joint("j", "revolute", "a", "b", SKEW))))
    assert [(j.name, j.kind.description) for j in robot.joints.values()][:2] == [
        ("a_joint", "free"),
        ("c_joint", "free"),
    ]
    assert read(tmp_path, sdf(model(A + C)), floating_base=False).nq == 0


def test_a_world_is_one_robot(tmp_path: Path) -> None:
    world = sdf(
        '<world name="w">' + model(A, "one") + model("<static>1</static>" + A, "two")
        + model("<pose>0 0 1 0 0 0</pose>" + A + joint("h", "revolute", "world", "a", SKEW), "three") + "</world>"
    )  # fmt: skip
    robot = read(tmp_path, world)
    assert list(robot.bodies) == ["world", "one::a", "two::a", "three::a"]
    assert list(robot.joints) == ["one::a_joint", "three::h"]
    assert robot.gravity == (0.0, 0.0, -9.8)
    assert any("-9.8), SDF's default" in note for note in robot.notes)
    assert read(tmp_path, world, floating_base=False).nq == 1


@pytest.mark.parametrize("seed", range(8))
def test_a_model_moves_alike_in_a_world_alone_and_included(seed: int, tmp_path: Path) -> None:
    text = random_model(seed)
    alone = read(tmp_path, text)
    (tmp_path / "alone.sdf").write_text(text, encoding="utf-8")
    inside = text[text.index("<model") : text.index("</sdf>")]
    for content in (inside, "<include><uri>alone.sdf</uri></include>"):
        alike(alone, read(tmp_path, sdf(f'<world name="w"><gravity>0 0 -9.81</gravity>{content}</world>')))
    nested = read(tmp_path, sdf(model("<include><uri>alone.sdf</uri></include>")))
    merged = read(tmp_path, sdf(model('<include merge="true"><uri>alone.sdf</uri></include>')))
    alike(alone, nested)
    alike(alone, merged)
    assert [name.removeprefix("top::") for name in nested.bodies] == list(alone.bodies) == list(merged.bodies)


def test_gravity_of_worlds(tmp_path: Path) -> None:
    content = model(A, "one")
    new = sdf(f'<world name="w"><gravity>0 1 -2</gravity>{content}</world>')
    old = sdf(f'<world name="w"><physics type="ode"><gravity>0 1 -2</gravity></physics>{content}</world>', "1.5")
    assert read(tmp_path, new).gravity == read(tmp_path, old).gravity == (0.0, 1.0, -2.0)
    assert read(tmp_path, new, gravity=(0, 0, -1)).gravity == (0.0, 0.0, -1.0)
    assert read(tmp_path, sdf(content)).gravity == (0.0, 0.0, -9.81)


# Other files


@pytest.mark.parametrize(
    "uri", ["arms/inner.sdf", "model://arms/inner.sdf", "model://gripper", "gripper", "gripper/", "package://gripper"]
)
def test_included_files_are_as_if_they_were_written_out(uri: str, tmp_path: Path) -> None:
    inside = INNER[INNER.index("<model") : INNER.index("</sdf>")]
    alike(read(tmp_path, sdf(model(f"<include><uri>{uri}</uri></include>"))), read(tmp_path, sdf(model(inside))))


def test_an_absolute_path_is_included(tmp_path: Path) -> None:
    path = written(tmp_path, "")
    uri = f"file://{path.parent}/arms/inner.sdf"
    assert read(tmp_path, sdf(model(f"<include><uri>{uri}</uri></include>"))).nq == 8


def test_models_are_looked_for_in_package_roots(tmp_path: Path) -> None:
    for name in ("here", "elsewhere"):
        (tmp_path / name).mkdir()
    written(tmp_path / "elsewhere", "")
    text = sdf(model("<include><uri>model://gripper</uri></include>"))
    path = written(tmp_path / "here", text, {})
    with pytest.raises(kt.errors.ModelError, match="name the folder that holds it in package_roots"):
        kt.load(path)
    assert kt.load(path, package_roots=[tmp_path / "elsewhere"]).nq == 8
    assert kt.load(path, package_roots=tmp_path / "elsewhere" / "gripper").nq == 8


def test_addresses_in_an_included_file_are_relative_to_it(tmp_path: Path) -> None:
    seen = '<visual name="v"><geometry><mesh><uri>skin.obj</uri></mesh></geometry></visual>'
    beside = {
        "arms/outer.sdf": sdf(model("<include><uri>more/inner.sdf</uri></include>" + link("o"), "outer")),
        "arms/more/inner.sdf": sdf(model(link("a", more=seen), "inner")),
        "arms/more/skin.obj": TETRAHEDRON,
    }
    path = written(tmp_path, sdf(model("<include><uri>arms/outer.sdf</uri></include>")), beside)
    robot = kt.load(path)
    (shape,) = robot.bodies["outer::inner::a"].geometry
    assert shape.mesh_path == tmp_path / "arms/more/skin.obj"
    assert list(robot.joints) == ["outer::inner::a_joint", "outer::o_joint"]


def test_an_include_may_make_a_model_static_or_free(tmp_path: Path) -> None:
    include = "<include><uri>arms/inner.sdf</uri><static>true</static></include>"
    robot = read(tmp_path, sdf('<world name="w">' + include + "</world>"))
    assert (robot.nq, list(robot.bodies)) == (0, ["world", "arm::a", "arm::b"])


# What is not used


def test_everything_that_is_not_used_is_kept_and_listed(tmp_path: Path) -> None:
    plugin = '<plugin name="p" filename="lib.so"><gain kind="x">3 4</gain></plugin>'
    contact = "<surface><friction><ode><mu>0.7</mu></ode></friction></surface>"
    shape = f'<collision name="s"><geometry>{BOX}</geometry>{contact}</collision>'
    text = sdf(
        model(
            plugin + link("a", more=shape + '<sensor name="eye" type="camera"/><velocity_decay/>')
            + '<drake:collision_filter_group name="x"/><self_collide>true</self_collide>'
        ).replace("<model", '<model xmlns:drake="d"')
    )  # fmt: skip
    robot = kt.load(written(tmp_path, text))
    ((kept,),) = (part.children for part in robot.extras.unused)
    tags = [part.tag for part in kept.children]
    assert tags == ["plugin", "link", "drake:collision_filter_group", "self_collide"]
    (gain,) = kept.children[0].children
    assert (gain.tag, gain.attributes, gain.text) == ("gain", (("kind", "x"),), "3 4")
    assert [part.tag for part in kept.children[1].children] == ["collision", "sensor", "velocity_decay"]
    note = next(note for note in robot.notes if "were not used" in note)
    for what in (
        "model/plugin",
        "collision/surface",
        "link/sensor",
        "model/drake:collision_filter_group",
        "model/self_collide",
    ):
        assert f"{what} (1)" in note


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (sdf(model(link("a", more="<gravity>false</gravity>"))), "<gravity>false</gravity>, but gravity acts on every"),
        (sdf(model(link("a", more="<kinematic>1</kinematic>"))), "<kinematic>true</kinematic>, but forces move every"),
        (sdf(model('<link name="a"/>')), "has no <inertial>, which in SDF means 1 kg and 1 kg·m² about each axis"),
        (sdf(model('<link name="a"><inertial/></link>')), "has no <mass>, which in SDF means 1 kg"),
        (sdf(model(A.replace("inertial", "intertial"))), "SDF has no element <intertial> in <link>"),
        (sdf(model(A.replace("<mass>", '<mass unit="g">'))), 'SDF has no attribute "unit" of <mass>'),
        (
            sdf(model(A + '<drake:joint name="j" type="planar"/>').replace("<model", '<model xmlns:drake="d"')),
            "<drake:joint> acts on the motion in Drake, but has no effect in kinetree",
        ),
        (
            sdf(model(A.replace("</inertial>", "<fluid_added_mass><xx>1</xx></fluid_added_mass></inertial>")), "1.10"),
            "has <fluid_added_mass>, which is kept in robot.extras.unused",
        ),
    ],
)
def test_what_may_be_a_mistake_is_warned_of(text: str, warning: str, tmp_path: Path) -> None:
    with pytest.warns(kt.errors.ModelWarning) as caught:
        kt.load(written(tmp_path, text))
    assert any(warning in str(one.message) for one in caught), [str(one.message) for one in caught]


def test_a_sound_file_is_not_warned_of(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    kt.load(written(tmp_path, sdf(model(BASE + '<link name="a"/>' + B + joint("j", "revolute", "a", "b", SKEW)))))
    assert not [one for one in recwarn if issubclass(one.category, kt.errors.ModelWarning)]


def test_shapes_for_viewers(tmp_path: Path) -> None:
    shapes = {
        "box": ("<box><size>1 2 3</size></box>", (1.0, 2.0, 3.0)),
        "cylinder": ("<cylinder><radius>1</radius><length>2</length></cylinder>", (1.0, 2.0)),
        "capsule": ("<capsule><radius>1</radius><length>2</length></capsule>", (1.0, 2.0)),
        "cone": ("<cone><radius>1</radius><length>2</length></cone>", (1.0, 2.0)),
        "sphere": ("<sphere><radius>2</radius></sphere>", (2.0,)),
        "ellipsoid": ("<ellipsoid><radii>1 2 3</radii></ellipsoid>", (1.0, 2.0, 3.0)),
        "plane": ("<plane><normal>1 0 0</normal><size>4 5</size></plane>", (4.0, 5.0)),
        "mesh": ("<mesh><uri>model://arms/x.dae</uri><scale>1 2 3</scale></mesh>", (1.0, 2.0, 3.0)),
        "heightfield": ("<heightmap><uri>ground.png</uri><size>9 8 7</size></heightmap>", (9.0, 8.0, 7.0, 0.0)),
    }
    parts = "".join(
        f'<visual name="{name}"><pose>1 2 3 0 0 0</pose><geometry>{shape}</geometry>'
        "<material><diffuse>0.1 0.2 0.3 0.4</diffuse></material></visual>"
        for name, (shape, _) in shapes.items()
    )
    more = '<visual name="empty"><geometry><empty/></geometry></visual>'
    robot = read(tmp_path, sdf(model(link("a", more=parts + more))))
    found = {shape.name: shape for shape in robot.bodies["a"].geometry}
    assert {name: (shape.shape, shape.size) for name, shape in found.items()} == {
        name: (name, size) for name, (_, size) in shapes.items()
    }
    assert all(shape.color == (0.1, 0.2, 0.3, 0.4) for shape in found.values())
    np.testing.assert_allclose(found["plane"].placement.rotation[:, 2], [1.0, 0.0, 0.0], atol=1e-15)
    assert found["mesh"].mesh == "model://arms/x.dae"


def test_the_text_form_holds_everything(tmp_path: Path) -> None:
    shapes = '<collision name="p"><geometry><plane/></geometry></collision>'
    shapes += f'<visual name="b"><geometry>{BOX}</geometry></visual>'
    text = sdf(model(BASE + GEARS.replace(BASE, "") + gearbox("0 0 1", "0 0 1") + "<plugin><a>1</a></plugin>"))
    text = text.replace("</inertial></link>", f"</inertial>{shapes}</link>", 1)
    robot = read(tmp_path, text)
    kt.save(robot, tmp_path / "robot.kt")
    again = kt.load(tmp_path / "robot.kt")
    assert again == robot
    assert again.extras == robot.extras
    assert again.bodies["a"].geometry == robot.bodies["a"].geometry
    assert robot.bodies["a"].geometry[0].size == (math.inf, math.inf)


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    text = one("revolute", axis("0 0 0")).replace("<mass>0.7</mass>", "<mass>-1</mass>")
    with pytest.raises(kt.errors.ModelError, match=r"there are \d problems that cannot be mended") as caught:
        read(tmp_path, text, repair=True)
    assert {found.code for found in caught.value.problems} >= {"bad-axis", "negative-mass"}


def test_gearboxes_that_cannot_be_coupled_can_be_left_out(tmp_path: Path) -> None:
    """They are recognised as gearboxes by their elements, not by the text of the message."""
    twice = sdf(model(GEARS + gearbox("0 0 1", "0 0 1") + gearbox("0 0 1", "0 0 1", name="more")))
    with pytest.raises(
        kt.errors.ModelError, match=r"couples 'p', which 'gears' couples already; .*loads with mimic=False"
    ) as e:
        read(tmp_path, twice)
    assert [found.code for found in e.value.problems] == ["bad-coupling"]
    wrong = sdf(model(GEARS + gearbox("0 0 1", "0 0 1", "<gearbox_ratio>three</gearbox_ratio>")))
    with pytest.raises(kt.errors.ModelError, match=r"'three' is not a number.*loads with mimic=False") as e:
        read(tmp_path, wrong)
    assert [found.code for found in e.value.problems] == ["bad-coupling"]

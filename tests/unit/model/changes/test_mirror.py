"""The mirror image of a robot moves as a mirror shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.errors import ConfigurationError, DTypeError, ModelError, OptionError, ShapeError
from kinetree.joints import JointKind, JointMotion
from kinetree.model import Geometry, Rotor
from tests.laws.reference import close, reference
from tests.strategies import State, law, moving_trees, trees
from tests.unit.model.bodies import ball, shift

Array = NDArray[np.float64]
NORMALS = st.sampled_from("xyz")


def reflection(normal: str) -> Array:
    return np.diag([-1.0 if axis == normal else 1.0 for axis in "xyz"])


def homogeneous(normal: str) -> Array:
    M = np.eye(4)
    M[:3, :3] = reflection(normal)
    return M


@given(moving_trees(max_joints=5), NORMALS)
@law(30)
def test_every_frame_of_the_mirror_image_is_where_the_mirror_shows_it(
    case: tuple[kt.Model, State], normal: str
) -> None:
    robot, s = case
    mirror, M = robot.mirrored(normal), homogeneous(normal)
    q = robot.mirrored_configuration(s.q, normal)
    for name in robot.frames:
        there = reference(kt.frame_placement, mirror, q, frame=name)
        here = reference(kt.frame_placement, robot, s.q, frame=name)
        close(there, M @ here @ M, scale=1.0 + float(np.abs(here).max()), tolerance=1e-12)


@given(moving_trees(max_joints=5), NORMALS)
@law(30)
def test_the_dynamics_are_those_of_the_mirror_image_once_gravity_is_mirrored_too(
    case: tuple[kt.Model, State], normal: str
) -> None:
    robot, s = case
    mirror = robot.mirrored(normal)
    assert mirror.gravity == robot.gravity
    gravity = tuple(map(float, reflection(normal) @ robot.gravity))
    mirror = kt.ModelBuilder.of(replace(mirror.parts, gravity=gravity)).build()
    q = robot.mirrored_configuration(s.q, normal)
    v, qdd, tau = (robot.mirrored_velocity(x, normal) for x in (s.v, s.qdd, s.tau))
    forces = reference(kt.rnea, robot, s.q, s.v, s.qdd)
    H, C = reference(kt.crba, robot, s.q), reference(kt.bias_forces, robot, s.q, s.v)
    scale = 1.0 + float((np.abs(H) @ np.abs(s.qdd)).max() + np.abs(C).max())
    close(reference(kt.rnea, mirror, q, v, qdd), robot.mirrored_velocity(forces, normal), scale=scale)
    close(reference(kt.kinetic_energy, mirror, q, v), reference(kt.kinetic_energy, robot, s.q, s.v))
    moved = reference(kt.aba, mirror, q, v, tau)
    back = mirror.mirrored_velocity(moved, normal)  # the mirror image of the mirror image
    scale = 1.0 + float((np.abs(H) @ np.abs(back)).max() + np.abs(C).max() + np.abs(s.tau).max())
    close(H @ back + C, s.tau, scale=scale, tolerance=1e-10)


@given(trees(max_joints=5), NORMALS)
@law(20)
def test_the_mirror_image_of_the_mirror_image_is_the_robot(robot: kt.Model, normal: str) -> None:
    """Kinds are compared by where they lead: that of a mirror image may be put together from others."""
    twice = robot.mirrored(normal).mirrored(normal).parts
    for there, here in zip(twice.joints, robot.parts.joints, strict=True):
        infinite = (np.inf,) * here.kind.nq
        q = here.kind.random(np.random.default_rng(0), [-x for x in infinite], infinite)
        X, Y = (spec.kind.calc(q, (0.0,) * spec.kind.nv).X_J for spec in (there, here))
        close(X.homogeneous(), Y.homogeneous(), scale=10.0, tolerance=1e-14)
        there.kind = here.kind
    assert twice == robot.parts


@given(moving_trees(max_joints=5), NORMALS)
@law(20)
def test_a_mirrored_configuration_is_mirrored_back(case: tuple[kt.Model, State], normal: str) -> None:
    robot, s = case
    mirror = robot.mirrored(normal)
    batch = np.stack([s.q, robot.neutral()])
    there = robot.mirrored_configuration(batch, normal)
    assert there.shape == batch.shape
    back = mirror.mirrored_configuration(there, normal)
    close(robot.difference(batch, back), np.zeros((2, robot.nv)), scale=1.0 + float(np.abs(batch).max()))
    np.testing.assert_array_equal(mirror.mirrored_velocity(robot.mirrored_velocity(s.v, normal), normal), s.v)


def two_arms() -> kt.ModelBuilder:
    """A left and a right arm that hang on a base, coupled; springs, limits and shapes on them."""
    builder = kt.ModelBuilder("two arms")
    builder.add_body("base", ball(3.0))
    for k, side in enumerate(("left", "right")):
        builder.add_body(f"{side}_arm", ball(1.0 + k, com=(0.1, 0.2, 0.3)))
        builder.add_joint(
            f"{side}_shoulder", kt.Revolute([1, 2, 3]), "base", f"{side}_arm", shift(0.0, 0.3 - 0.6 * k),
            limits=kt.model.Limits((-1.0,), (2.0,), (3.0,), (4.0,)), stiffness=[5.0], rest=[0.5],
        )  # fmt: skip
    builder.add_frame("left_tip", "left_arm", shift(0.0, 0.0, 1.0))
    return builder


def test_two_words_are_exchanged_in_all_names() -> None:
    builder = two_arms()
    builder.add_body("left_hand", ball())
    builder.add_body("right_hand", ball())
    builder.add_joint("left_wrist", kt.Revolute([0, 0, 1]), "left_arm", "left_hand")
    mimic = kt.model.Mimic("left_wrist", -1.0, 0.1)
    builder.add_joint("right_wrist", kt.Revolute([0, 0, 1]), "right_arm", "right_hand", mimic=mimic)
    both = ["left_shoulder", "right_shoulder"]
    builder.add_coupling("left_right", both, [[1, 1], [1, -1]], coordinates=["left", "rest"])
    robot = builder.build()
    mirror = robot.mirrored("y", rename=("left", "right"))
    assert list(mirror.bodies) == ["base", "right_arm", "left_arm", "right_hand", "left_hand"]
    assert list(mirror.joints) == ["right_shoulder", "left_shoulder", "right_wrist", "left_wrist"]
    assert mirror.joints["left_wrist"].mimic == kt.model.Mimic("right_wrist", -1.0, 0.1)
    assert mirror.couplings["right_left"].joints == ("right_shoulder", "left_shoulder")
    assert mirror.couplings["right_left"].coordinates == ("right", "rest")
    assert mirror.frames["right_tip"].body == "right_arm"
    assert mirror.bodies["right_arm"].inertia.mass == robot.bodies["left_arm"].inertia.mass
    q, M = robot.random(0), homogeneous("y")
    there = kt.frame_placement(mirror, q, "right_tip")
    np.testing.assert_allclose(there, M @ kt.frame_placement(robot, q, "left_tip") @ M, atol=1e-14)


def test_names_go_through_a_function() -> None:
    mirror = two_arms().build().mirrored("y", rename=lambda name: name.upper())
    assert list(mirror.joints) == ["LEFT_SHOULDER", "RIGHT_SHOULDER"]


def test_the_longer_of_two_words_is_looked_for_first() -> None:
    builder = kt.ModelBuilder("robot")
    builder.add_body("arm")
    builder.add_frame("arm2", "arm", shift())
    mirror = builder.build().mirrored("x", rename=("arm", "arm2"))
    assert list(mirror.frames) == ["arm2", "arm"]


def test_limits_springs_and_drives_stay() -> None:
    robot = two_arms().build()
    mirror = robot.mirrored("x")
    for name, joint in robot.joints.items():
        image = mirror.joints[name]
        assert (image.limits, image.rest, image.stiffness) == (joint.limits, joint.rest, joint.stiffness)
    q = robot.random(3)
    np.testing.assert_array_equal(robot.mirrored_configuration(q, "x"), q)


def test_limits_and_springs_of_a_free_joint_are_mirrored_with_its_position() -> None:
    builder = kt.ModelBuilder("robot")
    builder.add_body("base")
    builder.add_body("ball", ball())
    inf = np.inf
    limits = kt.model.Limits((-1, -2, -inf, *[-inf] * 4), (3, 4, 5, *[inf] * 4), (1, 2, 3, 4, 5, 6), (inf,) * 6)
    rest = (0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5)
    builder.add_joint("float", kt.Free(), "base", "ball", limits=limits, stiffness=(1.0,) * 6, rest=rest)
    image = builder.build().mirrored("x").joints["float"]
    assert image.limits == kt.model.Limits(
        (-3, -2, -inf, *[-inf] * 4), (1, 4, 5, *[inf] * 4), (1, 2, 3, 4, 5, 6), (inf,) * 6
    )
    # The turn by the rotation vector (1, 1, 1) becomes one by (1, -1, -1).
    np.testing.assert_allclose(image.rest, (-0.1, 0.2, 0.3, 0.5, -0.5, -0.5, 0.5), atol=1e-15)


def test_the_rotors_of_hinges_and_slides_spin_the_other_way() -> None:
    builder = kt.ModelBuilder("robot")
    builder.add_body("base", ball())
    kinds: Sequence[tuple[JointKind, Rotor]] = [
        (kt.Revolute([1, 2, 2]), Rotor(0.1, 10.0)),
        (kt.Prismatic([1, 2, 2]), Rotor(0.1, 10.0)),
        (kt.Prismatic([1, 0, 0]), Rotor(0.1, 10.0, (0.6, 0.8, 0.0))),
    ]
    for k, (kind, rotor) in enumerate(kinds):
        builder.add_body(f"b{k}", ball())
        builder.add_joint(f"j{k}", kind, "base", f"b{k}", rotor=rotor)
    robot = builder.build(floating_base=True)
    mirror = robot.mirrored("x")
    assert mirror.joints["j0"].rotor == Rotor(0.1, 10.0)
    assert mirror.joints["j1"].rotor == Rotor(0.1, 10.0, (1 / 3, -2 / 3, -2 / 3))
    assert mirror.joints["j2"].rotor == Rotor(0.1, 10.0, (0.6, -0.8, 0.0))
    mirrored_gravity = kt.ModelBuilder.of(replace(mirror.parts, gravity=(0.0, 0.0, -9.81))).build()
    q, v = robot.random(1), np.random.default_rng(2).normal(size=robot.nv)
    there = kt.bias_forces(mirrored_gravity, robot.mirrored_configuration(q, "x"), robot.mirrored_velocity(v, "x"))
    np.testing.assert_allclose(there, robot.mirrored_velocity(kt.bias_forces(robot, q, v), "x"), atol=1e-11)


def test_shapes_are_mirrored_and_meshes_by_their_scale() -> None:
    placement = kt.lie.placement((0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6))
    box = Geometry("visual", "box", (1.0, 2.0, 3.0), placement)
    mesh = Geometry("collision", "mesh", (0.001, 0.002, 0.003), placement, mesh="hand.stl")
    builder = kt.ModelBuilder("robot")
    builder.add_body("hand", ball(), geometry=[box, mesh])
    image_box, image_mesh = (mirror := builder.build().mirrored("z")).bodies["hand"].geometry
    assert (image_box.size, image_mesh.size, image_mesh.mesh) == ((1, 2, 3), (0.001, 0.002, -0.003), "hand.stl")
    assert "meshes by a negative scale" in mirror.notes[0]
    M = homogeneous("z")
    there = np.array(image_mesh.placement.homogeneous()).reshape(4, 4) @ np.diag([*image_mesh.size, 1.0])
    here = np.array(placement.homogeneous()).reshape(4, 4) @ np.diag([*mesh.size, 1.0])
    np.testing.assert_allclose(there, M @ here, atol=1e-15)  # each point of the mesh is where the mirror shows it


class OneSided(JointKind):
    """A hinge that has no mirror image."""

    nq = nv = 1

    def calc(self, q: Any, v: Any) -> JointMotion:
        return kt.Revolute([0, 0, 1]).calc(q, v)


def test_a_joint_without_a_mirror_image_is_named() -> None:
    builder = two_arms()
    builder.add_body("tail")
    builder.add_joint("wag", OneSided(), "base", "tail")
    with pytest.raises(ModelError, match=r"joint 'wag' \(OneSided\) has no mirror image: OneSided.mirrored gives none"):
        builder.build().mirrored("y")


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("w",), {}, OptionError, 'normal must be "x", "y" or "z"'),
        ((1,), {}, OptionError, "not 1"),
        (("y",), {"rename": "left"}, OptionError, "a function, or two words"),
        (("y",), {"rename": ("left", "left")}, OptionError, "exchanges 'left' with itself"),
        (("y",), {"rename": lambda _: None}, ModelError, "it must return a name"),
        (
            ("y",),
            {"rename": lambda name: name.replace("left_", "").replace("right_", "")},
            ModelError,
            "two bodies or frames, 'left_arm' and 'right_arm', the name 'arm'",
        ),
    ],
)
def test_bad_arguments_are_refused(
    arguments: tuple[Any, ...], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        two_arms().build().mirrored(*arguments, **options)


@pytest.mark.parametrize(
    ("q", "error", "message"),
    [
        ([0.0, 0.0, 0.0], ShapeError, r"q has shape \(3,\)"),
        (["a", "b"], DTypeError, "q must be an array of real numbers"),
        ([0.0, np.nan], ConfigurationError, "a configuration is finite"),
    ],
)
def test_what_is_no_configuration_has_no_mirror_image(q: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        two_arms().build().mirrored_configuration(q)

"""Poses as arrays wherever a placement is taken, and what is wrong with arrays that are not poses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.model.elements import Geometry
from kinetree.spatial import Motion, Vec3
from tests.strategies import law, roundings, transforms

Array = NDArray[np.float64]

X = kt.lie.placement((0.1, -0.2, 0.3), rpy=(0.4, 0.5, 0.6))
T = X.matrix
HINGE, BALL = kt.Revolute([0, 0, 1]), kt.solids.sphere(0.1, mass=1.0)
ARM = kt.zoo.load("double_pendulum")


def built(add: Callable[[kt.ModelBuilder, Any], None], pose: Any) -> kt.Model:
    builder = kt.ModelBuilder("one")
    builder.add_body("base")
    builder.add_body("arm", BALL)
    add(builder, pose)
    if not builder._joints:
        builder.add_joint("hinge", HINGE, "base", "arm")
    return builder.build()


TAKERS: dict[str, Callable[[Any], Any]] = {
    "add_joint": lambda P: built(lambda b, P: b.add_joint("hinge", HINGE, "base", "arm", P), P),
    "add_frame": lambda P: built(lambda b, P: b.add_frame("tip", "arm", P), P),
    "a shape": lambda P: built(lambda b, P: b.add_body("c", geometry=[Geometry("visual", "box", (1.0,) * 3, P)])
                               or b.add_joint("j", HINGE, "base", "arm") or b.add_joint("k", HINGE, "arm", "c"), P),
    "attach_body": lambda P: ARM.attach_body("load", BALL, ARM.root, P),
    "attach_body on a frame": lambda P: kt.zoo.load("arm6").attach_body("load", BALL, "tool", P, joint=HINGE),
    "attach": lambda P: ARM.attach(ARM, ARM.root, P, prefix="second "),
    "merge": lambda P: kt.model.merge([ARM, ARM], name="two", prefixes=["a ", "b "], placements=[P, None]),
    "solids": lambda P: kt.solids.box(1.0, 2.0, 3.0, mass=1.0, placement=P),
    "Placed": lambda P: kt.joints.Placed(HINGE, P, P),
    "Composite": lambda P: kt.joints.Composite([(HINGE, P), HINGE]),
    "Contact": lambda P: kt.constraints.Contact("foot", "fixed", at=P),
}  # fmt: skip
EVERY = pytest.mark.parametrize("take", TAKERS.values(), ids=TAKERS)


@EVERY
def test_a_pose_as_an_array_is_the_same_as_a_transform(take: Callable[[Any], Any]) -> None:
    expected = take(X)
    assert take(T) == expected
    assert take(T.tolist()) == expected
    assert take(np.asfortranarray(T)) == expected


@EVERY
def test_a_rotation_of_scipy_has_its_origin_at_zero(take: Callable[[Any], Any]) -> None:
    rotation = Rotation.from_euler("ZYX", [0.6, 0.5, 0.4])
    assert take(rotation) == take(kt.lie.placement(rotation=rotation))


WRONG: dict[str, tuple[Any, list[str]]] = {
    "a transpose": (T.T, ["the last row of a pose is 0, 0, 0, 1, not 0.1, -0.2, 0.3, 1", "it looks transposed"]),
    "another last row": (T + np.diag([0, 0, 0, 1.0]), ["the last row of a pose is 0, 0, 0, 1, not 0, 0, 0, 2"]),
    "left-handed": (T @ np.diag([1, 1, -1.0, 1]), ["the rotation matrix is left-handed", "mirrors"]),
    "scaled": (T @ np.diag([2, 2, 2.0, 1]), ["is not orthogonal: R Rᵀ differs from 1 by 3", "have the length 2"]),
    "sheared": (T + 0.5 * np.eye(4, k=1) * [[1], [0], [0], [0]], ["is not orthogonal", "have the lengths"]),
    "rounded": (T.round(4), ["is not orthogonal", "if it has been rounded, U, _, V = numpy.linalg.svd(R)"]),
    "NaN": (np.where(np.eye(4, k=3), np.nan, T), ["must be finite"]),
    "a rotation matrix": (T[:3, :3], ["must be", "(3, 3)"]),
    "words": ("here", ["must be", "not 'here'"]),
    "a number": (3.0, ["must be"]),
    "complex numbers": (1j * T, ["must be", "not array"]),
}


@EVERY
@pytest.mark.parametrize(("value", "words"), WRONG.values(), ids=WRONG)
def test_faults_of_an_array_are_reported(take: Callable[[Any], Any], value: Any, words: list[str]) -> None:
    with pytest.raises(kt.KinetreeError) as caught:
        take(value)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("name", sorted(set(TAKERS) - {"Contact"}))
def test_one_pose_is_wanted_but_for_contacts(name: str) -> None:
    with pytest.raises(kt.KinetreeError, match=r"not an array of shape \(2, 4, 4\)"):
        TAKERS[name](np.stack([T, T]))
    assert TAKERS["Contact"](np.stack([T, T])).at.shape == (2, 4, 4)


def test_the_message_names_the_part_and_the_way_out() -> None:
    with pytest.raises(
        kt.errors.ModelError, match=r"joint 'hinge': its placement must be .* kinetree.lie.placement makes a pose"
    ):
        TAKERS["add_joint"]([0, 0, 1])
    with pytest.raises(
        kt.errors.ModelError, match=r"frame 'tip': .*\(3, 3\); kinetree.lie.placement\(position, rotation=R\)"
    ):
        TAKERS["add_frame"](np.eye(3))
    with pytest.raises(kt.errors.ModelError, match=r"give one pose of the batch"):
        TAKERS["attach_body"](np.stack([T, T]))
    with pytest.raises(kt.errors.ModelError, match=r"kinetree.lie.placement\(position, quaternion=\(x, y, z, w\)\)"):
        TAKERS["add_frame"]([0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0])


@EVERY
def test_a_pose_in_single_precision_becomes_an_exact_rotation(take: Callable[[Any], Any]) -> None:
    """What `frame_placement` returns for float32 differs from a rotation by more than a robot's checks allow."""
    take(T.astype(np.float32))
    R = kt.Transform.from_matrix(T.astype(np.float32)).rotation
    assert np.abs(R @ R.T - np.eye(3)).max() < 1e-15
    assert np.abs(R - T[:3, :3]).max() < 1e-6


def test_a_frame_put_where_another_is_stays_with_it() -> None:
    """The round trip that a user makes first: the pose of one frame given to another."""
    arm = kt.zoo.load("arm6")
    link = list(arm.joints.values())[2].child
    q = arm.random(0)
    seen = kt.kinematics.relative_placement(arm, q, "tool", relative_to=link)
    loaded = arm.attach_body("ghost", kt.solids.sphere(0.1, mass=1.0), link, seen)
    assert np.allclose(kt.frame_placement(loaded, q, "ghost"), kt.frame_placement(arm, q, "tool"), atol=1e-14)


@given(transforms())
@law(30)
def test_transforms_go_to_arrays_and_back(Y: kt.Transform) -> None:
    assert kt.Transform.from_matrix(Y.matrix) == Y.plain()
    assert (np.asarray(Y) == Y.matrix).all()
    assert np.array_equal(np.block([[Y.rotation, Y.position[:, None]], [np.eye(4)[3:]]]), Y.matrix)
    again = kt.lie.placement(Y.position, quaternion=Y.quaternion)
    assert np.allclose(again.matrix, Y.matrix, atol=1e-12)
    found = kt.lie.convert(Y.rotation, "matrix", "quaternion")
    # Components off by 4 roundings of the length, which divides them: a sum of squares, a root and a quotient, 5.
    assert np.allclose(Y.quaternion, found, rtol=0.0, atol=roundings(2 * 9))
    assert np.allclose(kt.lie.placement(Y.position, rotation=Y.rotation).matrix, Y.matrix, atol=0.0)
    assert np.allclose(Y.to_scipy().as_matrix(), Y.rotation, atol=1e-12)
    assert np.allclose(kt.lie.placement(Y.position, rotation=Y.to_scipy()).matrix, Y.matrix, atol=1e-12)
    assert np.allclose((Y @ X).matrix, X.matrix @ Y.matrix, atol=1e-12)
    assert np.allclose(Y.inverse.matrix @ Y.matrix, np.eye(4), atol=1e-12)


def test_rigid_transforms_of_scipy_are_poses() -> None:
    class RigidTransform:
        """What SciPy has from 1.16 on: only this method is used."""

        def as_matrix(self) -> Array:
            return T

    assert kt.Transform.from_matrix(RigidTransform()) == X  # type: ignore[arg-type]


def test_operators_of_numpy_are_refused_for_transforms() -> None:
    """`X @ T` would compose in the other order than `X @ Y`; only motions and transforms have a meaning there."""
    for product in (lambda: X @ T, lambda: T @ X, lambda: T + X):
        with pytest.raises(TypeError):
            product()  # type: ignore[no-untyped-call]
    assert isinstance(X @ Motion(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)), Motion)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rotation": np.eye(3), "rpy": (0, 0, 0)}, "rpy or rotation, not both"),
        ({"rotation": np.eye(3), "quaternion": (0, 0, 0, 1)}, "quaternion or rotation, not both"),
        ({"rotation": 2 * np.eye(3)}, "rotation: the rotation matrix is not orthogonal"),
        ({"rotation": -np.eye(3)}, "rotation: the rotation matrix is left-handed"),
        ({"rotation": np.eye(4)}, r"rotation must be a rotation matrix \(3, 3\)"),
        ({"rotation": "up"}, "rotation must be a rotation matrix"),
        ({"rotation": Rotation.from_euler("Z", [[0.1], [0.2]])}, r"not an array of shape \(2, 3, 3\)"),
    ],
)
def test_placement_refuses_other_rotations(options: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=message):
        kt.lie.placement((0, 0, 0), **options)


def test_known_inertias_take_axes_of_scipy() -> None:
    axes = Rotation.from_euler("ZYX", [0.1, 0.2, 0.3])
    given = (1.0, (0, 0, 0), (1.0, 2.0, 2.5, 0, 0, 0))
    assert kt.solids.inertia(*given, axes=axes) == kt.solids.inertia(*given, axes=axes.as_matrix())


def test_parameters_take_the_numbers_of_a_pose_and_say_how() -> None:
    arm = kt.zoo.load("arm6")
    name = "joint.elbow_pitch.placement"
    with pytest.raises(kt.errors.ShapeError, match=r"needs \(…, 7\); of a pose T, .* \[\*X.position, \*X.quaternion\]"):
        kt.crba(arm, arm.neutral(), parameters={name: T})
    H = kt.crba(arm, arm.neutral(), parameters={name: [*X.position, *X.quaternion]})
    assert not np.allclose(H, kt.crba(arm, arm.neutral()))
    own = arm.joints["elbow_pitch"].placement
    same = kt.crba(arm, arm.neutral(), parameters={name: [*own.position, *own.quaternion]})
    assert np.allclose(same, kt.crba(arm, arm.neutral()))

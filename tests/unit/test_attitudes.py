"""Conversions of attitudes: there and back, against joints and each other, at the edges, and their derivatives."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.lie import convert, jacobian
from kinetree.spatial.euler_angles import ORDERS
from tests.strategies import law

Array = NDArray[np.float64]

NAMES = ["matrix", "quaternion", "quaternion_wxyz", "rotation_vector", "ZYX", "XYZ", "ZXZ", "YXY"]
ALL = [*NAMES[:4], *ORDERS]
SHAPES = {"matrix": (3, 3), "quaternion": (4,), "quaternion_wxyz": (4,)}
PAIRS = pytest.mark.parametrize(("source", "target"), list(itertools.product(NAMES, NAMES)))


def random(name: str, count: int = 20, seed: int = 0) -> Array:
    """Attitudes, all equally likely; quaternions of any length, angles and vectors beyond their normal range."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(count, 4))
    if name.startswith("quaternion"):
        return q
    if name == "matrix":
        return convert(q, "quaternion", "matrix")
    return rng.uniform(-4.0, 4.0, size=(count, 3))


def matrix_of(x: Array, name: str) -> Array:
    """The rotation matrix by other means: those of the joints."""
    if name == "matrix":
        return x
    kind = {"quaternion": kt.joints.Spherical(), "rotation_vector": kt.joints.ExponentialMap()}.get(name)
    if name == "quaternion_wxyz":
        kind, x = kt.joints.Spherical(), x[..., [1, 2, 3, 0]]
    builder = kt.ModelBuilder("ball")
    builder.add_body("base")
    builder.add_body("ball", kt.solids.sphere(0.1, mass=1.0))
    builder.add_joint("joint", kind or kt.joints.Euler(name), "base", "ball")
    return kt.frame_placement(builder.build(), x, "ball")[..., :3, :3]


def turned(x: Array, name: str, displacement: Array) -> Array:
    """R exp([δ]) in the same representation, continuous with x where that is a matrix or a quaternion."""
    R = convert(x, name, "matrix") @ convert(displacement, "rotation_vector", "matrix")
    return convert(R, "matrix", name)


@pytest.mark.parametrize("target", ALL)
@pytest.mark.parametrize("source", ALL)
def test_every_pair_gives_the_rotation_of_the_joint_with_these_coordinates(source: str, target: str) -> None:
    x = random(source)
    y = convert(x, source, target)
    assert y.shape == (len(x), *SHAPES.get(target, (3,)))
    assert np.allclose(convert(y, target, "matrix"), convert(x, source, "matrix"), atol=1e-14)
    if source == target or target == "matrix":
        assert np.allclose(matrix_of(y, target), matrix_of(x, source), atol=1e-14)


@pytest.mark.parametrize("name", ALL)
def test_numbers_in_normal_form_come_back(name: str) -> None:
    normal = convert(random("matrix"), "matrix", name)
    for target in ALL:
        again = convert(convert(normal, name, target), target, name)
        if name.startswith("quaternion"):
            again *= np.sign(np.sum(again * normal, axis=-1, keepdims=True))
        assert np.allclose(again, normal, atol=2e-13), target


@given(order=st.sampled_from(ORDERS), seed=st.integers(0, 2**32 - 1))
@law(30)
def test_angles_are_within_the_ranges_that_are_stated(order: str, seed: int) -> None:
    first, second, third = convert(random("matrix", 50, seed), "matrix", order).T
    assert (np.abs([first, third]) <= np.pi).all()
    low, high = (0.0, np.pi) if order[0] == order[2] else (-np.pi / 2, np.pi / 2)
    assert ((low <= second) & (second <= high)).all()
    assert (
        np.linalg.norm(convert(random("quaternion", 50, seed), "quaternion", "rotation_vector"), axis=-1) <= 3.15
    ).all()


def test_small_angles_keep_all_their_digits() -> None:
    for size in (1e-3, 1e-9, 1e-100, 1e-300):
        vector = np.array([1.0, -2.0, 3.0]) * size
        q = convert(vector, "rotation_vector", "quaternion")
        assert np.allclose(q[:3], vector / 2, rtol=1e-6 if size == 1e-3 else 1e-15, atol=0.0)
        assert np.allclose(convert(q, "quaternion", "rotation_vector"), vector, rtol=1e-15, atol=0.0)
    assert convert([0.0, 1e-12, 0.0], "ZYX", "quaternion")[1] == 5e-13
    assert np.isclose(convert([0.0, 1e-12, 0.0], "rotation_vector", "ZYX")[1], 1e-12, rtol=1e-15, atol=0.0)


def test_no_rotation_and_quarter_turns_are_exact() -> None:
    for order in ORDERS:
        assert convert(np.eye(3), "matrix", order).tolist() == [0.0, 0.0, 0.0]
    assert convert(np.eye(3), "matrix", "rotation_vector").tolist() == [0.0, 0.0, 0.0]
    assert convert(np.eye(3), "matrix", "quaternion").tolist() == [0.0, 0.0, 0.0, 1.0]
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert np.array_equal(convert([0.0, 0.0, 1.0, 1.0], "quaternion", "matrix"), quarter)
    assert np.allclose(convert(quarter, "matrix", "ZYX"), [np.pi / 2, 0.0, 0.0], atol=1e-16)


def test_half_turns_have_the_axis_of_the_quaternion_that_is_stated() -> None:
    for k, sign in itertools.product(range(3), (1.0, -1.0)):
        axis = np.eye(3)[k]
        half = 2.0 * np.outer(axis, axis) - np.eye(3)
        assert convert(half, "matrix", "quaternion").tolist() == [*axis, 0.0]
        assert convert(half, "matrix", "rotation_vector").tolist() == (np.pi * axis).tolist()
        vector = convert([*(sign * axis), 0.0], "quaternion", "rotation_vector")
        assert vector.tolist() == (sign * np.pi * axis).tolist()
    axis = np.array([1.0, -2.0, 2.0]) / 3.0
    found = convert(2.0 * np.outer(axis, axis) - np.eye(3), "matrix", "quaternion")
    assert np.allclose(found * np.sign(found @ [*axis, 0.0]), [*axis, 0.0], atol=1e-15)
    near = np.array([0.6, 0.0, -0.8]) * (np.pi - 1e-9)
    assert np.allclose(
        convert(convert(near, "rotation_vector", "matrix"), "matrix", "rotation_vector"), near, atol=1e-14
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ORDERS)
def test_at_gimbal_lock_the_third_angle_is_zero_and_the_rotation_right(order: str, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    locks = (0.0, np.pi) if order[0] == order[2] else (np.pi / 2, -np.pi / 2)
    eps = float(np.finfo(dtype).eps)
    for second in locks:
        angles = rng.uniform(-3.0, 3.0, size=(50, 3))
        angles[:, 1] = second
        for source in ("matrix", "quaternion"):
            x = convert(angles, order, source).astype(dtype)
            found = convert(x, source, order)
            assert found.dtype == dtype
            assert (found[:, 2] == 0.0).all()
            error = convert(found.astype(np.float64), order, "matrix") - convert(angles, order, "matrix")
            assert np.abs(error).max() < 60 * eps
            assert np.isnan(jacobian(x, source, order, wrt="displacement")).all()


def test_a_small_matrix_error_is_taken_out() -> None:
    R = random("matrix")
    rough = R + np.random.default_rng(2).uniform(-1e-7, 1e-7, size=R.shape)
    found = convert(rough, "matrix", "matrix")
    assert np.allclose(found @ np.swapaxes(found, -1, -2), np.eye(3), atol=1e-15)
    assert np.allclose(found, R, atol=1e-6)


# -- Derivatives


@PAIRS
def test_the_derivative_by_a_displacement_is_that_of_differences(source: str, target: str) -> None:
    x, h = random(source, 6, seed=3), 1e-5
    J = jacobian(x, source, target, wrt="displacement")
    q = convert(x, source, "quaternion")
    steps = [convert(s * h * np.eye(3), "rotation_vector", "quaternion") for s in (1.0, -1.0)]
    for k in range(3):
        after, before = (convert(product(q, step[k]), "quaternion", target) for step in steps)
        assert np.allclose(J[..., k], (after - before) / (2 * h), atol=2e-7), k


@PAIRS
def test_the_derivative_by_coordinates_is_that_of_differences(source: str, target: str) -> None:
    """A matrix moves among rotations only, so its own are tested along those."""
    x, h = random(source, 6, seed=4), 1e-5
    J = jacobian(x, source, target, wrt="coordinates")
    assert J.shape == (6, *SHAPES.get(target, (3,)), *SHAPES.get(source, (3,)))
    if source == "matrix":
        by_displacement = jacobian(x, source, target, wrt="displacement")
        moves = jacobian(x, source, "matrix", wrt="displacement")
        assert np.allclose(np.einsum("n...ij,nijk->n...k", J, moves), by_displacement, atol=1e-13)
        symmetric = x @ np.array([[1.0, 0.2, 0.3], [0.2, -2.0, 0.4], [0.3, 0.4, 0.5]])
        assert np.allclose(np.einsum("n...ij,nij->n...", J, symmetric), 0.0, atol=1e-13)
        return
    for k, e in enumerate(np.eye(x.shape[-1])):
        difference = (convert(x + h * e, source, target) - convert(x - h * e, source, target)) / (2 * h)
        assert np.allclose(J[..., k], difference, atol=5e-7), k


def product(p: Array, q: Array) -> Array:
    vector = p[..., 3:] * q[:3] + q[3] * p[..., :3] + np.cross(p[..., :3], q[:3])
    return np.concatenate([vector, p[..., 3:] * q[3] - p[..., :3] @ q[:3, None]], axis=-1)


@pytest.mark.parametrize("name", ALL)
def test_rates_and_angular_velocities_are_inverse(name: str) -> None:
    x = random(name, 8, seed=5)
    normal = convert(x, name, name)
    rates = jacobian(normal, name, name, wrt="displacement").reshape(8, -1, 3)
    velocity = jacobian(normal, name, "displacement", wrt="coordinates").reshape(8, 3, -1)
    assert np.allclose(velocity @ rates, np.eye(3), atol=1e-12)


@pytest.mark.parametrize(
    ("name", "kind"), [("rotation_vector", kt.joints.ExponentialMap()), *((o, kt.joints.Euler(o)) for o in ORDERS)]
)
def test_angular_velocities_are_those_of_the_joints(name: str, kind: kt.joints.JointKind) -> None:
    q, v = random(name, 4, seed=6), np.random.default_rng(7).normal(size=3)
    for k in range(4):
        twist = kind.calc([float(x) for x in q[k]], [float(x) for x in v]).v_J
        found = jacobian(q[k], name, "displacement", wrt="coordinates") @ v
        assert np.allclose(found, twist.angular.components(), atol=1e-14)


def test_derivatives_near_no_rotation_and_at_half_a_turn() -> None:
    for size in (0.0, 1e-300, 1e-8):
        J = jacobian([size, 0.0, 0.0], "rotation_vector", "rotation_vector", wrt="displacement")
        assert np.allclose(J, np.eye(3), atol=1e-8)
    half = jacobian([1.0, 0.0, 0.0, 0.0], "quaternion", "rotation_vector", wrt="displacement")
    assert np.allclose(half, [[1.0, 0.0, 0.0], [0.0, 0.0, -np.pi / 2], [0.0, np.pi / 2, 0.0]], atol=1e-15)


# -- Arrays


def test_leading_axes_and_types() -> None:
    q = random("quaternion", 24).reshape(2, 3, 4, 4)
    whole = convert(q, "quaternion", "matrix")
    assert whole.shape == (2, 3, 4, 3, 3)
    assert np.array_equal(whole[1, 2, 3], convert(q[1, 2, 3], "quaternion", "matrix"))
    assert jacobian(q, "quaternion", "matrix", wrt="coordinates").shape == (2, 3, 4, 3, 3, 4)
    for name in NAMES:
        single = convert(q.astype(np.float32), "quaternion", name)
        assert single.dtype == np.float32
        again = convert(single, name, "matrix")
        assert again.dtype == np.float32
        assert np.allclose(again, whole, atol=2e-6)
    assert convert([0, 0, 0, 2], "quaternion", "matrix").tolist() == np.eye(3).tolist()
    assert convert(np.zeros((0, 3, 3)), "matrix", "quaternion").shape == (0, 4)
    assert jacobian(np.zeros((0, 5, 3)), "ZYX", "matrix", wrt="displacement").shape == (0, 5, 3, 3, 3)


@pytest.mark.parametrize("source", NAMES)
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_what_is_not_finite_stays_in_its_sample(source: str, number: float) -> None:
    x = random(source, 3)
    for place in range(math.prod(x.shape[1:])):
        wrong = x.copy()
        wrong[1].flat[place] = number
        for target in NAMES:
            found = convert(wrong, source, target)
            assert np.isnan(found[1]).all(), (place, target)
            assert np.array_equal(found[[0, 2]], convert(x, source, target)[[0, 2]])


def test_wrong_arguments_are_answered_with_what_was_expected() -> None:
    with pytest.raises(
        kt.errors.OptionError, match="source is not a representation of attitudes: 'quaternions'; did you mean"
    ):
        convert([0, 0, 0, 1], "quaternions", "matrix")
    with pytest.raises(
        kt.errors.OptionError, match=r"target is not a representation of attitudes: 'zyx'; .* give 'XYZ' and the"
    ):
        convert([0, 0, 0, 1], "quaternion", "zyx")
    with pytest.raises(kt.errors.OptionError, match="source is not a representation of attitudes: 3"):
        convert([0, 0, 0, 1], 3, "matrix")  # type: ignore[arg-type]
    with pytest.raises(kt.errors.OptionError, match="wrt must be 'displacement' or 'coordinates', not 'q'"):
        jacobian([0, 0, 0, 1], "quaternion", "matrix", wrt="q")
    with pytest.raises(kt.errors.OptionError, match="target is not a representation of attitudes: 'displacement'"):
        convert([0, 0, 0, 1], "quaternion", "displacement")
    with pytest.raises(kt.errors.ShapeError, match=r"ZYX has shape \(4,\), but the Euler angles ZYX needs \(…, 3\)"):
        convert([0, 0, 0, 1], "ZYX", "matrix")
    with pytest.raises(
        kt.errors.ShapeError, match=r"matrix has shape \(4, 4\), .* of a placement T give T\[\.\.\., :3, :3\]"
    ):
        convert(np.eye(4), "matrix", "ZYX")
    with pytest.raises(kt.errors.ShapeError, match=r"matrix has shape \(3,\)"):
        convert(np.ones(3), "matrix", "ZYX")
    with pytest.raises(kt.errors.ShapeError, match=r"quaternion has shape \(\)"):
        convert(1.0, "quaternion", "ZYX")
    with pytest.raises(kt.errors.DTypeError, match="quaternion must be an array of real numbers"):
        convert(["a"] * 4, "quaternion", "ZYX")


def test_numbers_that_are_no_attitude_are_refused_by_sample() -> None:
    q = np.ones((2, 3, 4))
    q[1, 2] = 0.0
    with pytest.raises(
        kt.errors.ConfigurationError, match=r"^quaternion\[1\]\[2\] is zero, which is not an orientation"
    ):
        convert(q, "quaternion", "ZYX")
    with pytest.raises(kt.errors.ConfigurationError, match=r"quaternion_wxyz is too large or too small"):
        convert([1e200, 0, 0, 0], "quaternion_wxyz", "ZYX")
    R = random("matrix", 3)
    R[2, 0] *= 1.01
    with pytest.raises(
        kt.errors.ConfigurationError, match=r"^matrix\[2\] is not a rotation: R Rᵀ differs from 1 by 0\.02; its"
    ):
        jacobian(R, "matrix", "ZYX", wrt="displacement")
    with pytest.raises(
        kt.errors.ConfigurationError, match="matrix is not a rotation: its determinant is -1: it mirrors"
    ):
        convert(np.diag([1.0, 1.0, -1.0]), "matrix", "ZYX")
    assert np.isfinite(convert(random("matrix").astype(np.float32), "matrix", "ZYX")).all()


# -- SciPy


class Stub:
    def as_quat(self) -> Any:
        return random("quaternion")


def test_anything_with_as_quat_is_read() -> None:
    found = kt.lie.from_scipy(Stub(), "matrix")
    assert np.array_equal(found, convert(random("quaternion"), "quaternion", "matrix"))
    with pytest.raises(
        kt.errors.DTypeError, match="from_scipy takes a Rotation of SciPy, with a method as_quat, not ndarray"
    ):
        kt.lie.from_scipy(np.zeros(4), "matrix")


def test_without_scipy_to_scipy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "scipy.spatial.transform", None)
    with pytest.raises(kt.errors.MissingPackageError, match="to_scipy needs SciPy: pip install scipy"):
        kt.lie.to_scipy([0, 0, 0, 1], "quaternion")


@pytest.mark.filterwarnings("ignore:Gimbal lock")
@pytest.mark.parametrize("name", ALL)
def test_scipy_s_rotations_are_the_same(name: str) -> None:
    """Where SciPy is installed; Euler angles in capital letters mean the same there."""
    transform = pytest.importorskip("scipy.spatial.transform")
    x = convert(random("matrix"), "matrix", name)
    rotation = kt.lie.to_scipy(x, name)
    assert np.allclose(rotation.as_matrix(), convert(x, name, "matrix"), atol=1e-14)
    found = kt.lie.from_scipy(rotation, name)
    if name.startswith("quaternion"):
        found *= np.sign(np.sum(found * x, axis=-1, keepdims=True))
    assert np.allclose(found, x, atol=1e-13)
    if name in ORDERS:
        assert np.allclose(rotation.as_euler(name), x, atol=1e-12)
        fixed = transform.Rotation.from_euler(name.lower()[::-1], x[:, ::-1])
        assert np.allclose(fixed.as_matrix(), rotation.as_matrix(), atol=1e-14)
    elif name == "rotation_vector":
        assert np.allclose(rotation.as_rotvec(), x, atol=1e-13)
    assert kt.lie.to_scipy(x[0], name).single

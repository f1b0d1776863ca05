"""Attitudes as Pinocchio and MuJoCo convert them, and exponential maps of rotations and poses as Pinocchio has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import kinetree as kt

Array = NDArray[np.float64]

Q = np.random.default_rng(0).normal(size=(20, 4))
Q /= np.linalg.norm(Q, axis=-1, keepdims=True)
Q *= np.copysign(1.0, Q[:, 3:])  # MuJoCo's vectors are those of w >= 0


def converted(function: Callable[..., None], x: Array, size: int) -> Array:
    """MuJoCo writes its result into its first argument."""
    result = np.empty(size)
    function(result, x)
    return result


def from_rpy(angles: Array) -> Array:
    matrix: Array = pin.rpy.rpyToMatrix(angles[::-1])
    return matrix


CONVERSIONS: dict[str, tuple[str, str, Callable[[Array], Any]]] = {
    "exp3": ("rotation_vector", "matrix", pin.exp3),
    "log3": ("matrix", "rotation_vector", pin.log3),
    "Quaternion": ("matrix", "quaternion", lambda R: pin.Quaternion(R).coeffs()),
    "toRotationMatrix": ("quaternion", "matrix", lambda q: pin.Quaternion(q).toRotationMatrix()),
    "rpyToMatrix": ("ZYX", "matrix", from_rpy),
    "matrixToRpy": ("matrix", "ZYX", lambda R: pin.rpy.matrixToRpy(R)[::-1]),
    "mju_quat2Mat": (
        "quaternion_wxyz",
        "matrix",
        lambda q: converted(mujoco.mju_quat2Mat, q, 9).reshape(3, 3),
    ),
    "mju_mat2Quat": ("matrix", "quaternion_wxyz", lambda R: converted(mujoco.mju_mat2Quat, R.ravel(), 4)),
    "mju_quat2Vel": (
        "quaternion_wxyz",
        "rotation_vector",
        lambda q: converted(lambda y, x: mujoco.mju_quat2Vel(y, x, 1.0), q, 3),
    ),
}


@pytest.mark.parametrize(("source", "target", "theirs"), CONVERSIONS.values(), ids=CONVERSIONS)
def test_conversions(source: str, target: str, theirs: Callable[[Array], Any]) -> None:
    x = kt.lie.convert(Q, "quaternion", source)
    found, expected = kt.lie.convert(x, source, target), np.array([theirs(sample) for sample in x])
    if target.startswith("quaternion"):
        expected *= np.sign(np.sum(found * expected, axis=-1, keepdims=True))
    assert np.allclose(found, expected, atol=1e-12)


JACOBIANS: dict[str, tuple[str, str, str, Callable[[Array], Any]]] = {
    "Jexp3": ("rotation_vector", "displacement", "coordinates", pin.Jexp3),
    "Jlog3": ("matrix", "rotation_vector", "displacement", pin.Jlog3),
    "computeRpyJacobian": (
        "ZYX",
        "displacement",
        "coordinates",
        lambda angles: pin.rpy.computeRpyJacobian(angles[::-1], pin.LOCAL)[:, ::-1],
    ),
    "computeRpyJacobianInverse": (
        "ZYX",
        "ZYX",
        "displacement",
        lambda angles: pin.rpy.computeRpyJacobianInverse(angles[::-1], pin.LOCAL)[::-1],
    ),
}


@pytest.mark.parametrize(("source", "target", "wrt", "theirs"), JACOBIANS.values(), ids=JACOBIANS)
def test_jacobians(source: str, target: str, wrt: str, theirs: Callable[[Array], Any]) -> None:
    x = kt.lie.convert(Q, "quaternion", source)
    found = kt.lie.jacobian(x, source, target, wrt=wrt)
    assert np.allclose(found, [theirs(sample) for sample in x], rtol=1e-9, atol=1e-9)


ANGLES = [0.0, 1e-9, 1e-4, 0.3, 2.0, 3.1]


def motions(angle: float) -> Array:
    xi = np.random.default_rng(1).normal(size=(10, 6))
    xi[:, 3:] *= angle / np.linalg.norm(xi[:, 3:], axis=-1, keepdims=True)
    return xi


@pytest.mark.parametrize("angle", ANGLES)
def test_maps_of_poses(angle: float) -> None:
    xi = motions(angle)
    T = kt.lie.pose_exp(xi)
    theirs = [pin.exp6(pin.Motion(x)) for x in xi]
    assert np.allclose(T, [M.homogeneous for M in theirs], rtol=0.0, atol=1e-12)
    assert np.allclose(kt.lie.pose_log(T), [pin.log6(M).vector for M in theirs], rtol=0.0, atol=1e-9)
    assert np.allclose(kt.lie.rotation_log(T[:, :3, :3]), [pin.log3(M.rotation) for M in theirs], rtol=0.0, atol=1e-9)
    assert np.allclose(kt.lie.rotation_exp(xi[:, 3:]), [pin.exp3(x) for x in xi[:, 3:]], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("angle", ANGLES)
def test_derivatives_of_maps(angle: float) -> None:
    xi = motions(angle)
    T = kt.lie.pose_exp(xi)
    places = [pin.SE3(x) for x in T]
    assert np.allclose(kt.lie.pose_exp_jacobian(xi), [pin.Jexp6(pin.Motion(x)) for x in xi], rtol=0.0, atol=1e-8)
    assert np.allclose(kt.lie.pose_log_jacobian(T), [pin.Jlog6(M) for M in places], rtol=0.0, atol=1e-6)
    assert np.allclose(kt.lie.rotation_exp_jacobian(xi[:, 3:]), [pin.Jexp3(x) for x in xi[:, 3:]], rtol=0.0, atol=1e-9)
    assert np.allclose(
        kt.lie.rotation_log_jacobian(T[:, :3, :3]), [pin.Jlog3(M.rotation) for M in places], rtol=0.0, atol=1e-6
    )

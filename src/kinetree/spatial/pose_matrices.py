"""Checks of poses and rotations given as arrays: messages about their faults."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import DTypeError, OptionError
from kinetree.inputs import real_array, refuse_symbols

__all__ = ["POSES", "pose_matrices", "pose_matrix", "rotation_matrix"]

Array = NDArray[np.float64]

POSES = (
    "a Transform has plain numbers; join a pose as an array (4, 4), with R = kt.lie.convert(x, source, "
    "'matrix'): np.block([[R, p[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])"
)
"""Advice for a program, where poses depend on arguments."""
_TOLERANCE = {np.dtype(np.float32): 1e-5}
"""How far R Rᵀ may be from 1: rounding in this type of number, else 1e-9."""
_ROUNDED = 1e-2
"""Up to this difference, a matrix is taken for a rotation with few digits, in the advice given."""
_LAST_ROW = [0.0, 0.0, 0.0, 1.0]


def pose_matrix(what: str, value: Any, error: type[Exception] = OptionError) -> Array:
    """The homogeneous matrix (4, 4) of a pose that is given as such, or as a rotation or rigid transform of SciPy.

    In single precision, the nearest rotation in double precision is returned. `what` begins the error's message.
    """
    array, tolerance = _numbers(what, value, "a pose (4, 4)", error)
    if array.shape == (3, 3) and callable(getattr(value, "as_matrix", None)):
        pose = np.eye(4)
        pose[:3, :3] = _rotation(what, array, tolerance, error)
        return pose
    if array.shape != (4, 4):
        raise error(f"{what} must be {_WANTED}, not an array of shape {array.shape}{_advice(array.shape)}")
    if array[3].tolist() != _LAST_ROW:
        turned = "; it looks transposed: give its transpose" if array[:, 3].tolist() == _LAST_ROW else ""
        raise error(f"{what}: the last row of a pose is 0, 0, 0, 1, not {_listed(array[3])}{turned}")
    pose = array.copy()
    pose[:3, :3] = _rotation(what, array[:3, :3], tolerance, error)
    return pose


def pose_matrices(what: str, array: NDArray[Any], error: type[Exception] = OptionError) -> Array:
    """Homogeneous matrices (…, 4, 4) of finite numbers, as `pose_matrix` returns each; the first wrong one is named."""
    tolerance, poses = _TOLERANCE.get(array.dtype, 1e-9), array.astype(np.float64)
    R = poses[..., :3, :3]
    difference = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(axis=(-2, -1), initial=0.0)
    wrong = ~(difference <= tolerance) | (np.linalg.det(R) < 0.0) | (poses[..., 3, :] != _LAST_ROW).any(axis=-1)
    if wrong.any():
        index = tuple(int(k) for k in np.argwhere(wrong)[0])
        pose_matrix(f"{what}[{', '.join(map(str, index))}]", array[index], error)
    if tolerance > 1e-9:
        U, _, V = np.linalg.svd(R)
        poses[..., :3, :3] = U @ V
    return poses


def rotation_matrix(what: str, value: Any, error: type[Exception] = OptionError) -> Array:
    """The matrix (3, 3) of a rotation that is given as such, or as a rotation of SciPy."""
    array, tolerance = _numbers(what, value, "a rotation matrix (3, 3)", error)
    if array.shape != (3, 3):
        expected = "a rotation matrix (3, 3) or a Rotation of SciPy"
        raise error(f"{what} must be {expected}, not an array of shape {array.shape}")
    return _rotation(what, array, tolerance, error)


_WANTED = "a Transform, such as kinetree.lie.placement((0, 0, 0.1)), or a pose, an array (4, 4)"


def _numbers(what: str, value: Any, noun: str, error: type[Exception]) -> tuple[Array, float]:
    """The array in double precision, and the tolerance that its own precision asks for."""
    as_matrix = getattr(value, "as_matrix", None)
    expected = _WANTED if noun.startswith("a pose") else f"{noun} or a Rotation of SciPy"
    try:
        array = real_array(what, as_matrix() if callable(as_matrix) else value, "(4, 4)")
    except DTypeError:
        raise error(f"{what} must be {expected}, not {value!r:.60}") from None
    refuse_symbols(what, POSES, array)
    if array.ndim == 0:
        raise error(f"{what} must be {expected}, not {value!r:.60}")
    if not np.isfinite(array).all():
        raise error(f"{what}: {noun} must be finite")
    return array.astype(np.float64), _TOLERANCE.get(array.dtype, 1e-9)


def _advice(shape: tuple[int, ...]) -> str:
    if shape == (3,):
        return "; kinetree.lie.placement makes a pose of a position"
    if shape == (3, 3):
        return "; kinetree.lie.placement(position, rotation=R) makes a pose of a rotation matrix"
    if shape in ((7,), (4,)):
        return "; kinetree.lie.placement(position, quaternion=(x, y, z, w)) makes a pose of these"
    if shape[-2:] == (4, 4):
        return "; give one pose of the batch"
    return ""


def _rotation(what: str, R: Array, tolerance: float, error: type[Exception]) -> Array:
    difference = float(np.abs(R @ R.T - np.eye(3)).max())
    if not difference <= tolerance:
        advice = (
            "; if it has been rounded, U, _, V = numpy.linalg.svd(R) gives the nearest one, U @ V"
            if difference < _ROUNDED
            else _scale(R)
        )
        raise error(f"{what}: the rotation matrix is not orthogonal: R Rᵀ differs from 1 by {difference:.2g}{advice}")
    if np.linalg.det(R) < 0.0:
        raise error(f"{what}: the rotation matrix is left-handed: its determinant is -1, so it mirrors; negate an axis")
    if tolerance > 1e-9:
        U, _, V = np.linalg.svd(R)
        return np.asarray(U @ V)
    return R


def _scale(R: Array) -> str:
    lengths = np.linalg.norm(R, axis=0)
    if np.ptp(lengths) < 1e-6 * lengths.max():
        return f"; its columns have the length {lengths[0]:.6g} and should have 1"
    return f"; its columns have the lengths {_listed(lengths)} and should have 1, at right angles"


def _listed(row: Array) -> str:
    return ", ".join(f"{x:.6g}" for x in row)

"""The exponential maps of rotations, SO(3), and of poses, SE(3), their inverses and their derivatives, on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ConfigurationError, ShapeError
from kinetree.inputs import holds_symbols, real_array, samples
from kinetree.lie.arguments import attitudes, on_numbers
from kinetree.lie.conversion import convert, jacobian
from kinetree.spatial import Mat3, Motion, Transform, Vec3
from kinetree.spatial import pose_exponential as poses
from kinetree.spatial.exponential import translation_log

__all__ = [
    "pose_exp",
    "pose_exp_jacobian",
    "pose_log",
    "pose_log_jacobian",
    "refuse_other_rows",
    "rotation_exp",
    "rotation_exp_jacobian",
    "rotation_log",
    "rotation_log_jacobian",
]

Array = NDArray[Any]


def rotation_exp(vector: ArrayLike) -> Array:
    """The rotation matrix of a rotation vector. The same as `kt.lie.convert(x, "rotation_vector", "matrix")`.

    Args:
        vector: (…, 3), rad: a rotation about it, by its length.

    Returns:
        Matrices (…, 3, 3) that take coordinates of the rotated frame to those of the fixed one.

    Raises:
        ShapeError, DTypeError: for a vector that is not an array of such numbers.

    Source: Solà, Deray and Atchuthan, arXiv:1812.01537, appendix B.

    >>> import kinetree as kt, numpy as np
    >>> kt.lie.rotation_exp([0.0, 0.0, np.pi / 2]).round(6).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return convert(vector, "rotation_vector", "matrix")


def rotation_log(rotation: ArrayLike) -> Array:
    """The rotation vector of a rotation matrix. The same as `kt.lie.convert(x, "matrix", "rotation_vector")`.

    Args:
        rotation: matrices (…, 3, 3), as the upper left of a placement.

    Returns:
        Vectors (…, 3), rad, at most π long, with all digits near 0 and near π; the same in the axes of both frames. At
        exactly half a turn, where two vectors are right, the largest component is positive.

    Raises:
        ShapeError, DTypeError: for a matrix that is not an array of such numbers.
        ConfigurationError: for a matrix that is not a rotation; the message names the sample.

    Source: Shepperd, "Quaternion from rotation matrix" (1978).

    >>> import kinetree as kt
    >>> kt.lie.rotation_log([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).round(6).tolist()
    [0.0, 0.0, 1.570796]
    """
    return convert(rotation, "matrix", "rotation_vector")


def rotation_exp_jacobian(vector: ArrayLike) -> Array:
    """The derivative of `rotation_exp` as a displacement: the right Jacobian Jᵣ of rotations.

    exp(w + ε) = exp(w) exp(Jᵣ ε) to first order. So Jᵣ ẇ is the angular velocity, in the axes of the rotated frame.

    Args:
        vector: (…, 3), rad.

    Returns:
        Jᵣ (…, 3, 3).

    Raises:
        ShapeError, DTypeError: as `rotation_exp` does.

    Source: Solà, Deray and Atchuthan, arXiv:1812.01537, appendix B.

    >>> import kinetree as kt
    >>> kt.lie.rotation_exp_jacobian([0.0, 0.0, 0.3]).round(3).tolist()
    [[0.985, 0.149, 0.0], [-0.149, 0.985, 0.0], [0.0, 0.0, 1.0]]
    """
    return jacobian(vector, "rotation_vector", "displacement", wrt="coordinates")


def rotation_log_jacobian(rotation: ArrayLike) -> Array:
    """The derivative of `rotation_log` by a displacement: Jᵣ⁻¹.

    log(R exp(δ)) = log(R) + Jᵣ⁻¹ δ to first order. So it takes the angular velocity, in the axes of the rotated frame,
    to the rate of the vector. At half a turn it is one-sided, as the vector jumps there.

    Args:
        rotation: matrices (…, 3, 3).

    Returns:
        Jᵣ⁻¹ (…, 3, 3).

    Raises:
        ShapeError, DTypeError, ConfigurationError: as `rotation_log` does.

    Source: Solà, Deray and Atchuthan, arXiv:1812.01537, appendix B.

    >>> import kinetree as kt, numpy as np
    >>> w = np.array([0.3, -0.2, 0.5])
    >>> there, back = kt.lie.rotation_exp_jacobian(w), kt.lie.rotation_log_jacobian(kt.lie.rotation_exp(w))
    >>> bool(np.allclose(back @ there, np.eye(3)))
    True
    """
    return jacobian(rotation, "matrix", "rotation_vector", wrt="displacement")


def pose_exp(motion: ArrayLike) -> Array:
    """The pose that a motion [v; ω] reaches in one unit of time, from the identity.

    Args:
        motion: a constant twist (…, 6), linear part first; m and rad. In the axes of the frame that it moves or in
            those in which the identity stands: they give the same pose.

    Returns:
        Homogeneous matrices (…, 4, 4), as `kt.frame_placement` gives them. T @ pose_exp(d) displaces a pose T by d in
        its own axes, as `kt.integrate` does a `kt.Free` joint; pose_exp(d) @ T does in the world's, about its origin.

    Raises:
        ShapeError, DTypeError: for a motion that is not an array of such numbers.

    Source: Solà, Deray and Atchuthan, arXiv:1812.01537, appendix D.

    >>> import kinetree as kt, numpy as np
    >>> kt.lie.pose_exp([np.pi / 2, 0.0, 0.0, 0.0, 0.0, np.pi / 2])[:3, 3].round(6).tolist()  # a quarter of a circle
    [1.0, 1.0, 0.0]
    """
    array, dtype = _motions(motion)
    return on_numbers(lambda x: poses.pose_exp(_motion(x)).homogeneous(), array, (6,), (4, 4), dtype)


def pose_log(pose: ArrayLike | Transform) -> Array:
    """The motion [v; ω] that reaches a pose in one unit of time, from the identity.

    Args:
        pose: homogeneous matrices (…, 4, 4), as `kt.frame_placement` gives them, or a `kt.Transform`.

    Returns:
        The shortest constant twist (…, 6), by at most half a turn; linear part first; m and rad. It is the same in the
        axes of the frame and in those in which its pose is given. All digits are kept near no turn and near half a
        turn; at exactly half a turn ω is as `rotation_log` says. The motion from a pose A to a pose B, in the axes of
        A, is pose_log(inv(A) @ B).

    Raises:
        ShapeError, DTypeError: for a pose that is not an array of such numbers.
        ConfigurationError: for a matrix that is not a pose; the message names the sample.

    Source: Solà, Deray and Atchuthan, arXiv:1812.01537, appendix D.

    >>> import kinetree as kt
    >>> kt.lie.pose_log(kt.lie.pose_exp([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])).round(12).tolist()
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    """
    numbers, dtype = _turned_and_moved(pose)
    return on_numbers(lambda x: _logarithm(x).linear_first(), numbers, (6,), (6,), dtype)


def pose_exp_jacobian(motion: ArrayLike) -> Array:
    """The derivative of `pose_exp` as a displacement: the right Jacobian J of poses.

    exp(ξ + ε) = exp(ξ) exp(J ε) to first order. So J ξ̇ is the velocity [v; ω] of the frame in its own axes, as
    `kt.kinematics.frame_velocity` with expressed_in="local" has it.

    Args:
        motion: (…, 6), linear part first.

    Returns:
        J (…, 6, 6).

    Raises:
        ShapeError, DTypeError: as `pose_exp` does.

    Source: Solà, Deray and Atchuthan, arXiv:1812.01537, appendix D.

    >>> import kinetree as kt, numpy as np
    >>> xi, eps = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), 1e-7 * np.arange(6)
    >>> moved = kt.lie.pose_exp(xi) @ kt.lie.pose_exp(kt.lie.pose_exp_jacobian(xi) @ eps)
    >>> bool(np.allclose(moved, kt.lie.pose_exp(xi + eps), rtol=0.0, atol=1e-12))
    True
    """
    array, dtype = _motions(motion)
    return on_numbers(lambda x: _blocks(*poses.pose_exp_jacobian(_motion(x))), array, (6,), (6, 6), dtype)


def pose_log_jacobian(pose: ArrayLike | Transform) -> Array:
    """The derivative of `pose_log` by a displacement: the inverse of that of `pose_exp`.

    log(T exp(δ)) = log(T) + J⁻¹ δ to first order: it takes the velocity [v; ω] of the frame in its own axes to the rate
    of the logarithm. At half a turn it is one-sided, as the logarithm jumps there.

    Args:
        pose: homogeneous matrices (…, 4, 4), or a `kt.Transform`.

    Returns:
        J⁻¹ (…, 6, 6).

    Raises:
        ShapeError, DTypeError, ConfigurationError: as `pose_log` does.

    Source: Solà, Deray and Atchuthan, arXiv:1812.01537, appendix D.

    >>> import kinetree as kt, numpy as np
    >>> xi = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> bool(np.allclose(kt.lie.pose_log_jacobian(kt.lie.pose_exp(xi)) @ kt.lie.pose_exp_jacobian(xi), np.eye(6)))
    True
    """
    numbers, dtype = _turned_and_moved(pose)
    return on_numbers(lambda x: _blocks(*poses.pose_log_jacobian(_logarithm(x))), numbers, (6,), (6, 6), dtype)


def _turned_and_moved(pose: ArrayLike | Transform) -> tuple[Array, Any]:
    """The position and the rotation vector of each pose (…, 6), in double precision, and the dtype of results."""
    given: Any = pose.matrix if isinstance(pose, Transform) else pose
    array = real_array("pose", given, "(…, 4, 4)")
    if array.shape[-2:] != (4, 4):
        hint = "; of a rotation alone, rotation_log is the logarithm" if array.shape[-2:] == (3, 3) else ""
        raise ShapeError(f"pose has shape {array.shape}, but poses are homogeneous matrices (…, 4, 4){hint}")
    R, _, dtype = attitudes(array[..., :3, :3], "matrix")
    if not holds_symbols(array):
        refuse_other_rows(array[..., 3, :])
    w = convert(R, "matrix", "rotation_vector")
    return _all_or_nothing(np.concatenate([array[..., :3, 3].astype(np.float64), w], axis=-1)), dtype


def _logarithm(numbers: Sequence[Any]) -> Motion:
    """The motion that leads to this position with this rotation vector."""
    motion = _motion(numbers)
    return Motion(motion.angular, translation_log(motion.angular, motion.linear))


def refuse_other_rows(last: Array) -> None:
    """Raise ConfigurationError if one of these last rows (…, 4) is not that of a pose; NaN is left in its sample."""
    if last.ndim == 1 and last.tolist() == [0.0, 0.0, 0.0, 1.0]:  # fast path for one
        return
    wrong = np.isfinite(last).all(axis=-1) & (last != [0.0, 0.0, 0.0, 1.0]).any(axis=-1)
    if wrong.any():
        index = tuple(int(k) for k in np.argwhere(wrong)[0])
        where = "".join(f"[{k}]" for k in index)
        raise ConfigurationError(
            f"pose{where} is not a pose: its last row must be 0, 0, 0, 1, not {last[index].tolist()}"
        )


def _motions(motion: ArrayLike) -> tuple[Array, Any]:
    """Motions (…, 6) in double precision, and the dtype of results."""
    array = samples("motion", motion, (6,), "[v; ω]", ", linear part first")
    dtype = np.dtype(np.float32 if array.dtype == np.float32 else np.float64)
    return _all_or_nothing(array.astype(np.float64)), dtype


def _all_or_nothing(x: Array) -> Array:
    """A sample with a number that is not finite as NaN alone; symbolic ones as they are."""
    if holds_symbols(x):
        return x
    return np.where(np.isfinite(x).all(axis=-1, keepdims=True), x, np.nan)


def _motion(numbers: Sequence[Any]) -> Motion:
    """The motion of six numbers [v; w]."""
    return Motion(Vec3(*numbers[3:]), Vec3(*numbers[:3]))


def _blocks(diagonal: Mat3, right: Mat3) -> list[Any]:
    """The entries of [diagonal, right; 0, diagonal], row by row."""
    rows = [(m.x, m.y, m.z) for m in (diagonal, right)]
    upper = [x for a, b in zip(*rows, strict=True) for x in (*a.components(), *b.components())]
    return upper + [x for a in rows[0] for x in (0.0, 0.0, 0.0, *a.components())]
